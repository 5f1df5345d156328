//! Applies a hook's candidates to the alternatives of an SDK's response.

use std::collections::{HashMap, HashSet};

use hook_json::shape::ShapeError;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::LlmCandidate;

use crate::Warning;
use crate::distribute::{Piece, Portion, distribute, distribute_list};

/// An alternative of an SDK's response.
pub(crate) trait Alternative {
    /// Returns the candidate that hooks see.
    fn shown(&self) -> &LlmCandidate;

    /// Returns `true` if it has content that hooks do not see.
    fn has_non_text(&self) -> bool;

    /// Returns its original fields.
    fn fields(&self) -> &JsonObject;

    /// Returns its parts with text.
    fn pieces(&self) -> Vec<Piece<'_>>;

    /// Returns the fields that `given` changes, other than the one with the text.
    fn changes(&self, given: &LlmCandidate) -> JsonObject;

    /// Returns the field with the text, and its value once the text is distributed over the parts.
    fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> (&'static str, RawObject);

    /// Returns the alternative with a hook's changes, or `None` if nothing changes. `path` is the
    /// alternative's path.
    fn overlaid(
        &self,
        given: &LlmCandidate,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawJson> {
        let texts = given.parts.as_ref().filter(|_| given.parts != self.shown().parts);
        let portions = texts.map(|texts| distribute_list(&self.pieces(), texts));
        self.changed(given, portions, path, warnings)
    }

    /// Does the same with `text` as the hook's text for all parts together.
    fn overlaid_with_text(
        &self,
        given: &LlmCandidate,
        text: &str,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawJson> {
        self.changed(given, Some(distribute(&self.pieces(), text)), path, warnings)
    }

    /// Returns the alternative with other fields, and with another text if there are portions of
    /// one.
    fn changed(
        &self,
        given: &LlmCandidate,
        portions: Option<Vec<Portion>>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawJson> {
        let mut changes = self.changes(given);
        if let Some(portions) = portions {
            let (field, value) = self.rewritten(portions, path, warnings);
            changes.insert(field, value);
        }
        if changes.is_empty() {
            return None;
        }
        let mut fields = self.fields().clone();
        fields.merge(&changes);
        Some(fields.to_raw().into())
    }

    /// Returns all its text, if it has any part with text.
    fn text(&self) -> Option<String> {
        self.shown().parts.as_ref().filter(|texts| !texts.is_empty()).map(|texts| texts.concat())
    }
}

/// The alternatives of a response.
#[derive(Debug)]
pub(crate) struct Alternatives<A> {
    /// The field of the list.
    field: &'static str,
    listed: Vec<Listed<A>>,
}

/// An alternative and its original JSON.
#[derive(Debug)]
struct Listed<A> {
    raw: RawJson,
    alternative: A,
}

impl<A: Alternative> Alternatives<A> {
    /// Reads the elements of `field`. `read` gets each element and its path.
    pub(crate) fn read(
        field: &'static str,
        items: &[RawJson],
        read: impl Fn(&RawJson, &dyn Fn() -> String) -> Result<A, ShapeError>,
    ) -> Result<Self, ShapeError> {
        let listed = |(index, raw): (usize, &RawJson)| {
            let alternative = read(raw, &|| format!("{field}[{index}]"))?;
            Ok(Listed { raw: raw.clone(), alternative })
        };
        Ok(Self { field, listed: items.iter().enumerate().map(listed).collect::<Result<_, _>>()? })
    }

    /// Returns all text of the first alternative.
    pub(crate) fn text(&self) -> Option<String> {
        self.listed.first()?.alternative.text()
    }

    /// Returns the candidates that hooks see.
    pub(crate) fn shown(&self) -> Vec<LlmCandidate> {
        self.listed.iter().map(|listed| listed.alternative.shown().clone()).collect()
    }

    /// Returns the alternatives with a hook's changes, or `None` if nothing changes. `text` is the
    /// hook's text for the first one, if it changed; `new` creates an alternative from a candidate
    /// and its position.
    pub(crate) fn overlaid(
        &self,
        given: &[LlmCandidate],
        text: Option<&str>,
        new: impl Fn(&LlmCandidate, usize) -> RawJson,
        warnings: &mut Vec<Warning>,
    ) -> Option<Vec<RawJson>> {
        let originals = self.original_indices(given);
        let mut result = Vec::with_capacity(given.len());
        let mut changed = false;
        for (position, (given, original)) in given.iter().zip(&originals).enumerate() {
            let Some(index) = *original else {
                result.push(new(given, position));
                changed = true;
                continue;
            };
            let Listed { raw, alternative } = &self.listed[index];
            let (shown, path) = (alternative.shown(), self.path_at(index));
            let same_parts = given.parts.is_none() || given.parts == shown.parts;
            let overlaid = match text.filter(|_| index == 0 && same_parts) {
                Some(text) => alternative.overlaid_with_text(given, text, &path, warnings),
                None => alternative.overlaid(given, &path, warnings),
            };
            changed |= overlaid.is_some() || index != position;
            result.push(overlaid.unwrap_or_else(|| raw.clone()));
        }
        let kept: HashSet<usize> = originals.into_iter().flatten().collect();
        for index in (0..self.listed.len()).filter(|index| !kept.contains(index)) {
            changed = true;
            if self.listed[index].alternative.has_non_text() {
                let message =
                    "the hook's response leaves out this candidate, with what it holds beside text";
                warnings.push(Warning::new(self.path_at(index), message));
            }
        }
        changed.then_some(result)
    }

    /// Returns the alternatives with another text in the first; `new` creates it if there is none.
    pub(crate) fn with_text(
        &self,
        text: &str,
        new: impl Fn(&LlmCandidate, usize) -> RawJson,
        warnings: &mut Vec<Warning>,
    ) -> Vec<RawJson> {
        let mut result: Vec<RawJson> =
            self.listed.iter().map(|listed| listed.raw.clone()).collect();
        match self.listed.first() {
            Some(Listed { alternative, .. }) => {
                let unchanged = LlmCandidate::default();
                let path = self.path_at(0);
                let first = alternative.overlaid_with_text(&unchanged, text, &path, warnings);
                result.splice(..1, first);
            }
            None => {
                let parts = Some(vec![text.to_owned()]);
                result.push(new(&LlmCandidate { parts, ..Default::default() }, 0));
            }
        }
        result
    }

    fn path_at(&self, index: usize) -> String {
        format!("{}[{index}]", self.field)
    }

    /// Returns the original index of each of a hook's candidates: the one with the same `index` (at
    /// its own position, if several have it), else the one at its position.
    fn original_indices(&self, given: &[LlmCandidate]) -> Vec<Option<usize>> {
        let number = |listed: &Listed<A>| listed.alternative.shown().index.clone();
        let numbers: Vec<Option<RawJson>> = self.listed.iter().map(number).collect();
        let by_number: HashMap<&str, usize> = (0..numbers.len())
            .rev()
            .filter_map(|position| Some((numbers[position].as_ref()?.as_str(), position)))
            .collect();
        let mut free = vec![true; numbers.len()];
        let original = |(position, given): (usize, &LlmCandidate)| {
            let same_position =
                numbers.get(position).filter(|same_position| **same_position == given.index);
            let same_index = given.index.as_ref().and_then(|index| by_number.get(index.as_str()));
            let choices = [same_position.and(Some(position)), same_index.copied(), Some(position)];
            let found =
                choices.into_iter().flatten().find(|&choice| free.get(choice) == Some(&true));
            found.inspect(|&found| free[found] = false)
        };
        given.iter().enumerate().map(original).collect()
    }
}
