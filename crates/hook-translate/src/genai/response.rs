//! Responses.

use std::collections::{HashMap, HashSet};

use hook_core::model::{LlmCandidate, LlmResponse, UsageMetadata};
use hook_core::shape::{FieldReader, ShapeError};
use hook_core::{JsonObject, RawJson, RawObject};

use super::candidate::Candidate;
use crate::json;
use crate::{TranslateError, Translated, Warning};

/// A response as hooks see it.
pub(crate) fn to_stable_response(response: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(Response::read(response)?.shown().to_raw())
}

/// A stable response laid over `original`; without an original, on its own.
///
/// `candidates` that a hook gave count before `text`; `text` alone is that of the first candidate.
pub(crate) fn from_stable_response(
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = LlmResponse::read(response)?;
    let mut warnings = Vec::new();
    for (name, _) in given.extra.iter() {
        warnings.push(Warning::new(name, "not a field of a stable response; it is ignored"));
    }

    let base = original.map(Response::read).transpose()?.unwrap_or_default();
    let text = given.text.as_deref().filter(|text| *text != base.text().unwrap_or_default());
    let candidates = if json::given(&response.fields(), "candidates").is_some() {
        base.overlaid(&given.candidates, text, &mut warnings)?
    } else {
        text.map(|text| base.with_text(text, &mut warnings)).transpose()?
    };

    let mut changes = JsonObject::new();
    if original.is_none() {
        if let Some(text) = &given.text {
            changes.insert("text", RawJson::from_text(text));
        }
        let candidates = candidates.unwrap_or_default();
        changes.insert("candidates", json::array("candidates", &candidates)?);
    } else if let Some(candidates) = candidates {
        if json::given(&base.fields, "text").is_some() {
            changes.insert("text", RawJson::from_text(&text_of(&candidates)?));
        }
        changes.insert("candidates", json::array("candidates", &candidates)?);
    }
    if let Some(usage) = &given.usage_metadata
        && let Some(usage) = base.overlaid_usage(usage, original.is_none())
    {
        changes.insert("usageMetadata", usage);
    }
    let value = original.map_or_else(|| changes.to_raw(), |original| original.overlaid(&changes));
    Ok(Translated { value, warnings })
}

/// A response of the SDK.
#[derive(Debug, Default)]
struct Response {
    fields: JsonObject,
    candidates: Vec<Listed>,
    usage: Option<RawObject>,
    shown_usage: Option<UsageMetadata>,
}

/// A candidate and its JSON as it was read.
#[derive(Debug)]
struct Listed {
    raw: RawJson,
    candidate: Candidate,
}

impl Response {
    fn read(response: &RawObject) -> Result<Self, TranslateError> {
        let fields = response.fields();
        let mut reader = FieldReader::new(fields.clone());
        let candidates = reader.items("candidates")?.unwrap_or_default();
        let read = |(index, raw): (usize, &RawJson)| {
            Ok(Listed { raw: raw.clone(), candidate: Candidate::read(raw, || place(index))? })
        };
        let usage = reader.object("usageMetadata")?;
        Ok(Self {
            fields,
            candidates: candidates
                .iter()
                .enumerate()
                .map(read)
                .collect::<Result<_, ShapeError>>()?,
            shown_usage: usage.as_ref().map(read_usage).transpose()?,
            usage,
        })
    }

    fn text(&self) -> Option<String> {
        self.candidates.first()?.candidate.text()
    }

    fn shown(&self) -> LlmResponse {
        let shown = |listed: &Listed| listed.candidate.shown().clone();
        LlmResponse {
            text: self.text(),
            candidates: self.candidates.iter().map(shown).collect(),
            usage_metadata: self.shown_usage.clone(),
            extra: JsonObject::new(),
        }
    }

    /// The candidates with those that a hook gave over them, or nothing if that changes nothing.
    /// `text` is what the hook made of the first one's text, if it changed that.
    fn overlaid(
        &self,
        given: &[LlmCandidate],
        text: Option<&str>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Vec<RawJson>>, TranslateError> {
        let originals = self.originals_of(given);
        let mut written = Vec::with_capacity(given.len());
        let mut changed = false;
        for (given, original) in given.iter().zip(&originals) {
            let Some(index) = *original else {
                written.push(Candidate::of_hook(given)?);
                changed = true;
                continue;
            };
            let Listed { raw, candidate } = &self.candidates[index];
            let same_parts = given.parts.is_none() || given.parts == candidate.shown().parts;
            let overlaid = match text.filter(|_| index == 0 && same_parts) {
                Some(text) => candidate.overlaid_with_text(given, text, &place(index), warnings)?,
                None => candidate.overlaid(given, &place(index), warnings)?,
            };
            changed |= overlaid.is_some() || index != written.len();
            written.push(overlaid.unwrap_or_else(|| raw.clone()));
        }
        let kept: HashSet<usize> = originals.into_iter().flatten().collect();
        for index in (0..self.candidates.len()).filter(|index| !kept.contains(index)) {
            changed = true;
            if self.candidates[index].candidate.holds_more_than_text() {
                let message =
                    "the hook's response leaves out this candidate, with what it holds beside text";
                warnings.push(Warning::new(place(index), message));
            }
        }
        Ok(changed.then_some(written))
    }

    /// The candidates with another text in the first.
    fn with_text(
        &self,
        text: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<RawJson>, TranslateError> {
        let mut written: Vec<RawJson> =
            self.candidates.iter().map(|listed| listed.raw.clone()).collect();
        match self.candidates.first() {
            Some(Listed { candidate, .. }) => {
                let nothing = LlmCandidate::default();
                let first = candidate.overlaid_with_text(&nothing, text, &place(0), warnings)?;
                written.splice(..1, first);
            }
            None => {
                let parts = Some(vec![text.to_owned()]);
                written.push(Candidate::of_hook(&LlmCandidate { parts, ..Default::default() })?);
            }
        }
        Ok(written)
    }

    /// For each candidate of a hook the original one that it stands for: the one with the same
    /// `index` (at its own position, if that is one of several), else the one at its position.
    fn originals_of(&self, given: &[LlmCandidate]) -> Vec<Option<usize>> {
        let number = |listed: &Listed| listed.candidate.shown().index.clone();
        let numbers: Vec<Option<RawJson>> = self.candidates.iter().map(number).collect();
        let by_number: HashMap<&str, usize> = (0..numbers.len())
            .rev()
            .filter_map(|position| Some((numbers[position].as_ref()?.as_str(), position)))
            .collect();
        let mut free = vec![true; numbers.len()];
        let original = |(position, given): (usize, &LlmCandidate)| {
            let here = numbers.get(position).filter(|here| **here == given.index);
            let elsewhere = given.index.as_ref().and_then(|index| by_number.get(index.as_str()));
            let choices = [here.and(Some(position)), elsewhere.copied(), Some(position)];
            let found =
                choices.into_iter().flatten().find(|&choice| free.get(choice) == Some(&true));
            found.inspect(|&found| free[found] = false)
        };
        given.iter().enumerate().map(original).collect()
    }

    fn overlaid_usage(&self, given: &UsageMetadata, alone: bool) -> Option<RawObject> {
        let shown = self.shown_usage.clone().unwrap_or_default();
        let mut changes = JsonObject::new();
        for (name, given, shown) in [
            ("promptTokenCount", &given.prompt_token_count, &shown.prompt_token_count),
            ("candidatesTokenCount", &given.candidates_token_count, &shown.candidates_token_count),
            ("totalTokenCount", &given.total_token_count, &shown.total_token_count),
        ] {
            if let Some(count) = given.as_ref().filter(|_| given != shown) {
                changes.insert(name, count.clone());
            }
        }
        if changes.is_empty() && !alone {
            return None;
        }
        Some(self.usage.as_ref().map_or_else(|| changes.to_raw(), |usage| usage.overlaid(&changes)))
    }
}

fn place(index: usize) -> String {
    format!("candidates[{index}]")
}

fn text_of(candidates: &[RawJson]) -> Result<String, TranslateError> {
    let Some(first) = candidates.first() else { return Ok(String::new()) };
    Ok(Candidate::read(first, || place(0))?.text().unwrap_or_default())
}

fn read_usage(usage: &RawObject) -> Result<UsageMetadata, ShapeError> {
    let mut reader = FieldReader::new(usage.fields());
    let mut count = |name| reader.number(name).map_err(|error| error.within("usageMetadata"));
    Ok(UsageMetadata {
        prompt_token_count: count("promptTokenCount")?,
        candidates_token_count: count("candidatesTokenCount")?,
        total_token_count: count("totalTokenCount")?,
    })
}
