//! Responses, which have a single alternative: all text of the output.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmResponse};

use super::item::{Item, output_text};
use crate::conversation::Entry;
use crate::distribute::{Piece, Portion, distribute, distribute_list};
use crate::openai::finish;
use crate::openai::response::{read_given, synthetic_usage};
use crate::usage::{Usage, UsageNames};
use crate::{TranslateError, Translated, Warning, json};

const USAGE: UsageNames =
    UsageNames { field: "usage", counts: ["input_tokens", "output_tokens", "total_tokens"] };

const OUTPUT: &str = "output";

/// Translates a response into the stable form.
pub(crate) fn to_stable_response(response: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(Response::read(response)?.shown().to_raw())
}

/// Translates a stable response, applied to `original` if there is one.
///
/// The first of a hook's `candidates` takes precedence over its `text`. An empty list of candidates
/// counts as none.
pub(crate) fn from_stable_response(
    response: &RawObject,
    original: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let (given, mut warnings) = read_given(response)?;
    for index in 1..given.candidates.len() {
        let message = "a response of this sdk has one candidate; it is ignored";
        warnings.push(Warning::new(format!("candidates[{index}]"), message));
    }
    let Some(original) = original else {
        return Ok(Translated { value: synthetic(&given), warnings });
    };
    let base = Response::read(original)?;
    let candidate = given.candidates.first();
    let mut changes = base.status_changes(candidate);
    let pieces = base.pieces();
    let shown: Vec<&str> = pieces.iter().map(|piece| &*piece.text).collect();
    let parts = candidate.and_then(|candidate| candidate.parts.as_ref());
    let portions = match (parts, &given.text) {
        (Some(texts), _) if *texts != shown => Some(distribute_list(&pieces, texts)),
        (_, Some(text)) if *text != shown.concat() => Some(distribute(&pieces, text)),
        _ => None,
    };
    if let Some(portions) = portions {
        let output = RawJson::from_items(&base.rewritten(portions, &mut warnings));
        // An SDK of the API has the text a second time, for convenience.
        if json::given(&original.fields(), "output_text").is_some() {
            let text = Response::read_output(&output)?.text().unwrap_or_default();
            changes.insert("output_text", RawJson::from_text(&text));
        }
        changes.insert(OUTPUT, output);
    }
    if let Some(usage) = given.usage_metadata.and_then(|usage| base.usage.overlaid(&usage)) {
        changes.insert(USAGE.field, usage);
    }
    Ok(Translated { value: original.merged(&changes), warnings })
}

/// Returns the complete response of a hook that answers instead of the model.
fn synthetic(given: &LlmResponse) -> RawObject {
    let candidate = given.candidates.first();
    let texts = candidate.and_then(|candidate| candidate.parts.clone());
    let text = texts.map(|texts| texts.concat()).or_else(|| given.text.clone());
    let reason = candidate.and_then(|candidate| candidate.finish_reason.as_deref());
    let (status, incomplete) = finish::response_status(reason.unwrap_or("STOP"));
    let null = RawJson::null;
    let mut fields = json::object([
        ("id", RawJson::from_text("resp_hook")),
        ("object", RawJson::from_text("response")),
        ("created_at", RawJson::from_u64(0)),
        ("status", RawJson::from_text(status)),
        ("error", null()),
        ("incomplete_details", incomplete_details(incomplete)),
        ("instructions", null()),
        ("max_output_tokens", null()),
        ("model", RawJson::from_text("hook")),
        (OUTPUT, RawJson::from_items([&message(&text.unwrap_or_default(), status)])),
        ("parallel_tool_calls", RawJson::from_bool(true)),
        ("previous_response_id", null()),
        ("temperature", null()),
        ("tool_choice", RawJson::from_text("auto")),
        ("tools", RawJson::from_items([])),
        ("top_p", null()),
        ("metadata", RawObject::empty().into()),
    ])
    .fields();
    if let Some(usage) = &given.usage_metadata {
        fields.insert(USAGE.field, synthetic_usage(&USAGE, usage));
    }
    fields.to_raw()
}

/// Returns an output message with a hook's text.
fn message(text: &str, status: &str) -> RawJson {
    let status = if status == "incomplete" { status } else { "completed" };
    let none = RawJson::from_items([]);
    json::object([
        ("id", RawJson::from_text("msg_hook")),
        ("type", RawJson::from_text("message")),
        ("status", RawJson::from_text(status)),
        ("role", RawJson::from_text("assistant")),
        ("content", RawJson::from_items([&output_text(text, &none)])),
    ])
    .into()
}

fn incomplete_details(reason: Option<&str>) -> RawJson {
    match reason {
        Some(reason) => json::object([("reason", RawJson::from_text(reason))]).into(),
        None => RawJson::null(),
    }
}

/// A response of the SDK.
#[derive(Debug)]
struct Response {
    items: Vec<Item>,
    usage: Usage,
    finish_reason: Option<String>,
}

fn read_items(output: &RawJson) -> Result<Vec<Item>, ShapeError> {
    Item::read_list(&mut output.walk()).map_err(|error| error.within(OUTPUT))
}

impl Response {
    fn read(response: &RawObject) -> Result<Self, TranslateError> {
        let mut reader = FieldReader::new(response.fields());
        let items = reader.of_kind(OUTPUT, JsonKind::Array, "an array")?;
        let usage = Usage::read(&USAGE, &mut reader)?;
        let status = reader.text("status")?;
        let details = reader.object("incomplete_details")?.map(|details| details.fields());
        let reason = details
            .map(|details| FieldReader::new(details).text("reason"))
            .transpose()
            .map_err(|error| error.within("incomplete_details"))?
            .flatten();
        let reason = reason.filter(|_| status.as_deref() == Some("incomplete")).or(status);
        Ok(Self {
            items: items.as_ref().map(read_items).transpose()?.unwrap_or_default(),
            usage,
            finish_reason: reason.map(|reason| finish::shown(&reason).to_owned()),
        })
    }

    /// Reads a response that consists only of these items.
    fn read_output(items: &RawJson) -> Result<Self, TranslateError> {
        let usage = Usage::read(&USAGE, &mut FieldReader::new(JsonObject::new()))?;
        Ok(Self { items: read_items(items)?, usage, finish_reason: None })
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let contents = self.items.iter().filter_map(Item::content);
        contents.flat_map(|content| content.pieces()).collect()
    }

    fn text(&self) -> Option<String> {
        let pieces = self.pieces();
        (!pieces.is_empty()).then(|| pieces.iter().map(|piece| &*piece.text).collect())
    }

    fn shown(&self) -> LlmResponse {
        let text = |piece: Piece<'_>| piece.text.into_owned();
        let candidate = LlmCandidate {
            parts: Some(self.pieces().into_iter().map(text).collect()),
            finish_reason: self.finish_reason.clone(),
            index: None,
            safety_ratings: None,
        };
        LlmResponse {
            text: self.text(),
            candidates: vec![candidate],
            usage_metadata: self.usage.shown(),
            extra: JsonObject::new(),
        }
    }

    /// Returns the fields for the finish reason, if a hook changes it.
    fn status_changes(&self, given: Option<&LlmCandidate>) -> JsonObject {
        let mut changes = JsonObject::new();
        let given = given.and_then(|given| given.finish_reason.as_ref());
        if let Some(reason) = given.filter(|reason| Some(*reason) != self.finish_reason.as_ref()) {
            let (status, incomplete) = finish::response_status(reason);
            changes.insert("status", RawJson::from_text(status));
            changes.insert("incomplete_details", incomplete_details(incomplete));
        }
        changes
    }

    /// Returns the output with other texts. A new text goes to the message of the text before it,
    /// else to the first message with text, else into a new message at the end.
    fn rewritten(&self, portions: Vec<Portion>, warnings: &mut Vec<Warning>) -> Vec<RawJson> {
        let counts: Vec<usize> = self
            .items
            .iter()
            .map(|item| item.content().map_or(0, |content| content.pieces().len()))
            .collect();
        let mut output: Vec<RawJson> = self.items.iter().map(|item| item.raw().clone()).collect();
        let mut portions = portions.into_iter().peekable();
        let mut first = 0;
        for (index, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let mut own = Vec::new();
            while let Some(portion) = portions
                .next_if(|portion| portion.piece().is_none_or(|piece| piece < first + count))
            {
                own.push(portion.shifted_back(first));
            }
            if own.iter().any(|portion| !matches!(portion, Portion::Keep(_))) {
                let path = format!("{OUTPUT}[{index}]");
                output[index] = self.items[index].rewritten(own, &path, warnings);
            }
            first += count;
        }
        let rest: String = portions
            .filter_map(|portion| match portion {
                Portion::New(text) => Some(text),
                _ => None,
            })
            .collect();
        if !rest.is_empty() {
            output.push(message(&rest, "completed"));
        }
        output
    }
}
