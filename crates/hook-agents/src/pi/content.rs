//! Conversion of a tool's response to content parts and details as modules expect them, and back to
//! the form of the response.

use hook_json::JsonKind;
use hook_json::{JsonObject, RawJson};

use crate::verdict::put;

/// The fields of a response that the model may read, in display order.
const FIELDS: [&str; 4] = ["content", "llmContent", "text", "output"];

/// The fields that may have parts.
const PARTS: [&str; 2] = ["content", "llmContent"];

/// A slot: a part of a response that the model reads, with its content parts.
struct Slot {
    /// The field; `None` for the response itself.
    field: Option<&'static str>,
    form: SlotForm,
    parts: Vec<RawJson>,
}

/// The form of a slot's parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotForm {
    /// A string.
    Text,
    /// A list.
    List,
    /// A single part.
    One,
}

impl Slot {
    /// Returns the slot for a value, if it is one.
    fn of(field: Option<&'static str>, value: &RawJson) -> Option<Self> {
        let may_have_parts = field.is_none_or(|field| PARTS.contains(&field));
        let (form, parts) = match value.kind() {
            JsonKind::String => (SlotForm::Text, vec![value.clone()]),
            JsonKind::Array if may_have_parts => (SlotForm::List, value.to_items()?),
            JsonKind::Object if may_have_parts && field.is_some() => {
                (SlotForm::One, vec![value.clone()])
            }
            _ => return None,
        };
        Some(Self { field, form, parts })
    }

    /// Returns the slots of a response; empty if none is known.
    fn all(response: &RawJson) -> Vec<Self> {
        match response.to_object() {
            Ok(fields) => FIELDS
                .iter()
                .filter_map(|field| Self::of(Some(field), fields.get(field)?))
                .collect(),
            Err(_) => Self::of(None, response).into_iter().collect(),
        }
    }

    /// Returns the slot's value with new parts, in its own form. Adds what does not fit to `lost`.
    fn value_with(&self, parts: &[RawJson], lost: &mut Vec<&'static str>) -> RawJson {
        let has_same_count = parts.len() == self.parts.len();
        match (self.form, parts) {
            (SlotForm::Text, _) => {
                let may_be_list = self.field.is_some_and(|field| PARTS.contains(&field));
                match may_be_list && !parts.iter().all(|part| part_text(part).is_some()) {
                    true => RawJson::from_items(parts),
                    false => RawJson::from_text(&joined_text(parts, lost)),
                }
            }
            (SlotForm::One, [part]) => in_form_of(self.parts.first(), part),
            (SlotForm::List, _) if has_same_count => {
                let own = self.parts.iter().map(Some);
                let parts: Vec<RawJson> =
                    own.zip(parts).map(|(original, part)| in_form_of(original, part)).collect();
                RawJson::from_items(&parts)
            }
            (SlotForm::List | SlotForm::One, _) => {
                // The first text part is the example for the others.
                let example = self.parts.iter().find(|own| has_text(own)).or(self.parts.first());
                let parts: Vec<RawJson> =
                    parts.iter().map(|part| in_form_of(example, part)).collect();
                RawJson::from_items(&parts)
            }
        }
    }
}

/// Returns a list of one text part.
pub(super) fn text_part(text: &str) -> RawJson {
    RawJson::from_items([&part(text)])
}

fn part(text: &str) -> RawJson {
    let mut part = JsonObject::new();
    put(&mut part, "type", Some("text"));
    put(&mut part, "text", Some(text));
    RawJson::from(part.to_raw())
}

/// Returns the parts of all slots of a response, or the response's JSON as a text part.
pub(super) fn parts_of(response: &RawJson) -> RawJson {
    let slots = Slot::all(response);
    if slots.is_empty() {
        return text_part(response.as_str());
    }
    let parts: Vec<RawJson> = slots.iter().flat_map(|slot| &slot.parts).map(with_type).collect();
    RawJson::from_items(&parts)
}

/// Returns the details of a response.
pub(super) fn details_of(response: &RawJson) -> Option<RawJson> {
    let fields = response.to_object().ok()?;
    fields.get(details_field(&fields)).cloned()
}

/// Returns the field of the details: `metadata` in responses that have `llmContent`.
fn details_field(fields: &JsonObject) -> &'static str {
    let is_native = fields.get("llmContent").is_some() && fields.get("details").is_none();
    if is_native { "metadata" } else { "details" }
}

/// Returns a response with new parts or details, in its own form. Adds what does not fit to `lost`.
pub(super) fn with_changes(
    response: &RawJson,
    content: Option<&RawJson>,
    details: Option<&RawJson>,
    lost: &mut Vec<&'static str>,
) -> RawJson {
    let changed = match content {
        Some(content) => with_parts(response, &content.to_items().unwrap_or_default(), lost),
        None => response.clone(),
    };
    let Some(details) = details else { return changed };
    let Ok(mut fields) = changed.to_object() else {
        lost.push("`details`, since the tool's response has no place for them,");
        return changed;
    };
    let name = details_field(&fields);
    match name == "metadata" && details.to_object().is_err() {
        true => lost.push("`details`, which must be an object here,"),
        false => fields.insert(name, details.clone()),
    }
    fields.to_raw().into()
}

/// Returns a response with new parts in its slots.
fn with_parts(response: &RawJson, content: &[RawJson], lost: &mut Vec<&'static str>) -> RawJson {
    let slots = Slot::all(response);
    let Some(first) = slots.first() else { return replace_json(response, content) };
    let count: usize = slots.iter().map(|slot| slot.parts.len()).sum();
    // The same number of parts goes back to the same slots.
    let has_same_count = count == content.len();
    if !has_same_count && slots.len() > 1 {
        lost.push("which part was where, since there are not as many any more,");
    }
    let Ok(mut fields) = response.to_object() else { return first.value_with(content, lost) };
    let mut rest = content;
    for (index, slot) in slots.iter().enumerate() {
        let taken = match (has_same_count, index) {
            (true, _) => slot.parts.len().min(rest.len()),
            (false, 0) => rest.len(),
            (false, _) => 0,
        };
        let (own, others) = rest.split_at(taken);
        rest = others;
        if let Some(field) = slot.field {
            fields.insert(field, slot.value_with(own, lost));
        }
    }
    fields.to_raw().into()
}

/// Replaces a response that was shown as JSON text.
fn replace_json(response: &RawJson, content: &[RawJson]) -> RawJson {
    let text = joined_text(content, &mut Vec::new());
    let parsed = RawJson::parse(text).ok();
    if response.kind() != JsonKind::Object {
        return parsed.unwrap_or_else(|| RawJson::from_items(content));
    }
    parsed.filter(|read| read.kind() == JsonKind::Object).unwrap_or_else(|| {
        let mut parts = JsonObject::new();
        parts.insert("content", RawJson::from_items(content));
        parts.to_raw().into()
    })
}

fn is_text(value: &RawJson) -> bool {
    value.kind() == JsonKind::String
}

/// Returns the text of a text part.
fn part_text(part: &RawJson) -> Option<String> {
    let fields = part.to_object().ok()?;
    let kind = fields.get("type").and_then(RawJson::to_text);
    let text = fields.get("text")?.to_text();
    text.filter(|_| kind.is_none_or(|kind| kind == "text"))
}

/// Joins the texts of all parts; other parts are lost.
fn joined_text(parts: &[RawJson], lost: &mut Vec<&'static str>) -> String {
    let texts: Vec<String> = parts.iter().filter_map(part_text).collect();
    if texts.len() < parts.len() {
        lost.push("parts that are no text, since the tool's response is text,");
    }
    texts.join("\n")
}

/// Checks whether a part is a string or a text part.
fn has_text(part: &RawJson) -> bool {
    is_text(part) || part_text(part).is_some()
}

/// Returns a part with its type, if it is a string or a text part without one.
fn with_type(original: &RawJson) -> RawJson {
    if let Some(text) = original.to_text() {
        return part(&text);
    }
    let fields = original.to_object().unwrap_or_default();
    if fields.get("type").is_some_and(is_text) || !fields.get("text").is_some_and(is_text) {
        return original.clone();
    }
    let mut typed = JsonObject::new();
    put(&mut typed, "type", Some("text"));
    for (name, value) in fields.iter().filter(|(name, _)| *name != "type") {
        typed.insert(name, value.clone());
    }
    typed.to_raw().into()
}

/// Converts a text part to the form of another: a string, or without a type.
fn in_form_of(original: Option<&RawJson>, part: &RawJson) -> RawJson {
    let Some(text) = part_text(part) else { return part.clone() };
    match original {
        Some(original) if is_text(original) => RawJson::from_text(&text),
        Some(original) => {
            let own = original.to_object().unwrap_or_default();
            let Ok(mut fields) = part.to_object() else { return part.clone() };
            match own.get("type") {
                Some(kind) if is_text(kind) => return part.clone(),
                Some(kind) => fields.insert("type", kind.clone()),
                None => drop(fields.remove("type")),
            }
            fields.to_raw().into()
        }
        None => part.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    #[test]
    fn an_override_goes_back_in_the_form_that_the_response_had() {
        let new = raw(r#"[{"type":"text","text":"n"}]"#);
        let picture = raw(r#"[{"type":"image","data":"x"}]"#);
        for (response, shown, content, expected, losses) in [
            (r#""o""#, r#"[{"type":"text","text":"o"}]"#, &new, r#""n""#, 0),
            (r#""o""#, r#"[{"type":"text","text":"o"}]"#, &picture, r#""""#, 1),
            (
                r#"[{"type":"text","text":"o"}]"#,
                r#"[{"type":"text","text":"o"}]"#,
                &picture,
                r#"[{"type":"image","data":"x"}]"#,
                0,
            ),
            (
                r#"{"content":[{"type":"image"}],"x":1}"#,
                r#"[{"type":"image"}]"#,
                &new,
                r#"{"content":[{"type":"text","text":"n"}],"x":1}"#,
                0,
            ),
            (
                r#"{"llmContent":"o","error":"e"}"#,
                r#"[{"type":"text","text":"o"}]"#,
                &new,
                r#"{"llmContent":"n","error":"e"}"#,
                0,
            ),
            (
                r#"{"llmContent":"o"}"#,
                r#"[{"type":"text","text":"o"}]"#,
                &picture,
                r#"{"llmContent":[{"type":"image","data":"x"}]}"#,
                0,
            ),
            (
                r#"{"llmContent":[{"text":"o"},{"inlineData":{}}]}"#,
                r#"[{"type":"text","text":"o"},{"inlineData":{}}]"#,
                &new,
                r#"{"llmContent":[{"text":"n"}]}"#,
                0,
            ),
            (
                r#"{"llmContent":["o",{"text":"p"}]}"#,
                r#"[{"type":"text","text":"o"},{"type":"text","text":"p"}]"#,
                &new,
                r#"{"llmContent":["n"]}"#,
                0,
            ),
            (r#"["o"]"#, r#"[{"type":"text","text":"o"}]"#, &new, r#"["n"]"#, 0),
            (
                r#"{"content":["o"]}"#,
                r#"[{"type":"text","text":"o"}]"#,
                &new,
                r#"{"content":["n"]}"#,
                0,
            ),
            (
                r#"{"content":"o"}"#,
                r#"[{"type":"text","text":"o"}]"#,
                &new,
                r#"{"content":"n"}"#,
                0,
            ),
            (
                r#"{"content":"o"}"#,
                r#"[{"type":"text","text":"o"}]"#,
                &picture,
                r#"{"content":[{"type":"image","data":"x"}]}"#,
                0,
            ),
            (
                r#"{"output":"o","x":1}"#,
                r#"[{"type":"text","text":"o"}]"#,
                &new,
                r#"{"output":"n","x":1}"#,
                0,
            ),
            (
                r#"{"key":"o"}"#,
                r#"[{"type":"text","text":"{\"key\":\"o\"}"}]"#,
                &new,
                r#"{"content":[{"type":"text","text":"n"}]}"#,
                0,
            ),
            (
                r#"{"key":"o"}"#,
                r#"[{"type":"text","text":"{\"key\":\"o\"}"}]"#,
                &text_part(r#"{"key":"n"}"#),
                r#"{"key":"n"}"#,
                0,
            ),
            ("1", r#"[{"type":"text","text":"1"}]"#, &text_part("2"), "2", 0),
        ] {
            let response = raw(response);
            assert_eq!(parts_of(&response).as_str(), shown);
            let mut lost = Vec::new();
            let laid = with_changes(&response, Some(content), None, &mut lost);
            assert_eq!((laid.as_str(), lost.len()), (expected, losses), "{}", response.as_str());
        }
    }

    /// Every text that the model reads is shown, and returns to its field.
    #[test]
    fn a_redaction_sees_every_text_and_keeps_everything_else() {
        for (response, expected) in [
            (
                r#"{"llmContent":[{"text":"KEY","thoughtSignature":"x"}]}"#,
                r#"{"llmContent":[{"text":"-","thoughtSignature":"x"}]}"#,
            ),
            (
                r#"{"llmContent":[{"text":"KEY","type":null},{"inlineData":{}},"KEY"]}"#,
                r#"{"llmContent":[{"type":null,"text":"-"},{"inlineData":{}},"-"]}"#,
            ),
            (r#"{"content":[],"llmContent":"KEY"}"#, r#"{"content":[],"llmContent":"-"}"#),
            (r#"{"content":"","llmContent":"KEY"}"#, r#"{"content":"","llmContent":"-"}"#),
            (r#"{"content":"ok","text":"KEY"}"#, r#"{"content":"ok","text":"-"}"#),
            (
                r#"{"content":[{"type":"text","text":"ok"}],"output":"KEY","x":1}"#,
                r#"{"content":[{"type":"text","text":"ok"}],"output":"-","x":1}"#,
            ),
            (
                r#"{"llmContent":[{"text":"KEY","functionResponse":{"id":"1"}}]}"#,
                r#"{"llmContent":[{"text":"-","functionResponse":{"id":"1"}}]}"#,
            ),
            (r#"{"llmContent":{"text":"KEY"}}"#, r#"{"llmContent":{"text":"-"}}"#),
            (
                r#"{"llmContent":{"functionResponse":{"a":1}}}"#,
                r#"{"llmContent":{"functionResponse":{"a":1}}}"#,
            ),
            (r#"["KEY",{"text":"b","cache":1}]"#, r#"["-",{"text":"b","cache":1}]"#),
        ] {
            let parts = parts_of(&raw(response)).to_items().unwrap();
            let redacted = parts.iter().map(|part| {
                let mut fields = part.to_object().unwrap();
                let is_text =
                    fields.get("type").and_then(RawJson::to_text).as_deref() == Some("text");
                if is_text
                    && fields.get("text").and_then(RawJson::to_text).as_deref() == Some("KEY")
                {
                    fields.insert("text", RawJson::from_text("-"));
                }
                fields.to_raw().into()
            });
            let redacted: Vec<RawJson> = redacted.collect();
            let mut lost = Vec::new();
            let content = RawJson::from_items(&redacted);
            let laid = with_changes(&raw(response), Some(&content), None, &mut lost);
            assert_eq!((laid.as_str(), lost.len()), (expected, 0), "{response}");
        }
    }

    #[test]
    fn where_there_are_other_parts_than_before_that_is_said() {
        let response = raw(r#"{"content":"a","output":"b"}"#);
        let mut lost = Vec::new();
        let laid = with_changes(&response, Some(&text_part("n")), None, &mut lost);
        assert_eq!((laid.as_str(), lost.len()), (r#"{"content":"n","output":""}"#, 1));
    }

    #[test]
    fn details_go_where_they_were() {
        for (response, shown, details, expected, losses) in [
            (r#"{"content":[],"details":1}"#, Some("1"), "2", r#"{"content":[],"details":2}"#, 0),
            (r#"{"content":[]}"#, None, "2", r#"{"content":[],"details":2}"#, 0),
            (
                r#"{"llmContent":"o","metadata":{"a":1}}"#,
                Some(r#"{"a":1}"#),
                r#"{"a":2}"#,
                r#"{"llmContent":"o","metadata":{"a":2}}"#,
                0,
            ),
            (r#"{"llmContent":"o"}"#, None, "2", r#"{"llmContent":"o"}"#, 1),
            (r#""o""#, None, "2", r#""o""#, 1),
        ] {
            let response = raw(response);
            assert_eq!(details_of(&response).as_ref().map(RawJson::as_str), shown);
            let mut lost = Vec::new();
            let laid = with_changes(&response, None, Some(&raw(details)), &mut lost);
            assert_eq!((laid.as_str(), lost.len()), (expected, losses), "{}", response.as_str());
        }
    }
}
