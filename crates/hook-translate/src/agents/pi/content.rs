//! The response of a tool as modules know it, parts of content and details beside them, and what they make
//! of it in the form that the response has.

use hook_core::json::JsonKind;
use hook_core::{JsonObject, RawJson};

use crate::agents::verdict::put;

/// Fields in which a response may have its text.
const TEXTS: [&str; 4] = ["content", "text", "llmContent", "output"];

/// Fields in which a response may have its parts.
const PARTS: [&str; 2] = ["content", "llmContent"];

/// One part of text.
pub(super) fn text_part(text: &str) -> RawJson {
    RawJson::from_items([&part(text)])
}

fn part(text: &str) -> RawJson {
    let mut part = JsonObject::new();
    put(&mut part, "type", Some("text"));
    put(&mut part, "text", Some(text));
    RawJson::from(part.to_raw())
}

/// The parts of a tool's response: those that it has, or its text as one.
pub(super) fn of_response(response: &RawJson) -> RawJson {
    let fields = response.to_object().unwrap_or_default();
    let own = || PARTS.iter().find_map(|name| fields.get(name).and_then(RawJson::to_items));
    if let Some(parts) = response.to_items().or_else(own) {
        let parts: Vec<RawJson> = parts.iter().map(typed).collect();
        return RawJson::from_items(&parts);
    }
    let known = TEXTS.iter().filter_map(|name| fields.get(name));
    let text = response.to_text().or_else(|| known.filter_map(RawJson::to_text).next());
    text_part(&text.unwrap_or_else(|| response.as_str().to_owned()))
}

/// What a response has beside its content.
pub(super) fn details_of(response: &RawJson) -> Option<RawJson> {
    let fields = response.to_object().ok()?;
    fields.get(details_field(&fields)).cloned()
}

/// Where a response has its details: those of agents that tell of a tool's `llmContent` are `metadata`.
fn details_field(fields: &JsonObject) -> &'static str {
    let is_ours = fields.get("llmContent").is_some() && fields.get("details").is_none();
    if is_ours { "metadata" } else { "details" }
}

/// A response with other parts, or other details, in its own form. What has no place in it is added to
/// `lost`.
pub(super) fn laid_into(
    response: &RawJson,
    content: Option<&RawJson>,
    details: Option<&RawJson>,
    lost: &mut Vec<&'static str>,
) -> RawJson {
    let Ok(mut fields) = response.to_object() else {
        if details.is_some() {
            lost.push("`details`, since the tool's response has no place for them,");
        }
        let Some(content) = content else { return response.clone() };
        return match response.kind() {
            JsonKind::Array => like(&response.to_items().unwrap_or_default(), content),
            JsonKind::String => RawJson::from_text(&text_of_all(content, lost)),
            // A number or the like: what was shown as text is read again.
            _ => RawJson::parse(text_of_all(content, lost)).unwrap_or_else(|_| content.clone()),
        };
    };
    if let Some(content) = content {
        let of_texts = TEXTS.iter().find(|name| fields.get(name).is_some_and(is_text));
        let own_parts = PARTS.iter().find_map(|name| Some((name, fields.get(name)?.to_items()?)));
        match (of_texts, own_parts) {
            (_, Some((name, own))) => fields.insert(*name, like(&own, content)),
            (Some(name), None) if PARTS.contains(name) && !is_all_text(content) => {
                fields.insert(*name, content.clone());
            }
            (Some(name), None) => {
                fields.insert(*name, RawJson::from_text(&text_of_all(content, lost)));
            }
            (None, None) => {
                // It was shown as the text of its JSON.
                let text = text_of_all(content, &mut Vec::new());
                fields = match RawJson::parse(text).ok().and_then(|it| it.to_object().ok()) {
                    Some(read) => read,
                    None => {
                        let mut parts = JsonObject::new();
                        parts.insert("content", content.clone());
                        parts
                    }
                };
            }
        }
    }
    if let Some(details) = details {
        let name = details_field(&fields);
        match name == "metadata" && details.to_object().is_err() {
            true => lost.push("`details`, which must be an object here,"),
            false => fields.insert(name, details.clone()),
        }
    }
    fields.to_raw().into()
}

fn is_text(value: &RawJson) -> bool {
    value.kind() == JsonKind::String
}

/// The text of a part that is text.
fn text_of(part: &RawJson) -> Option<String> {
    let fields = part.to_object().ok()?;
    let kind = fields.get("type").and_then(RawJson::to_text);
    let text = fields.get("text")?.to_text();
    text.filter(|_| kind.is_none_or(|kind| kind == "text"))
}

fn is_all_text(content: &RawJson) -> bool {
    content.to_items().unwrap_or_default().iter().all(|part| text_of(part).is_some())
}

/// The text of all parts; other parts are lost.
fn text_of_all(content: &RawJson, lost: &mut Vec<&'static str>) -> String {
    let parts = content.to_items().unwrap_or_default();
    let texts: Vec<String> = parts.iter().filter_map(text_of).collect();
    if texts.len() < parts.len() {
        lost.push("parts that are no text, since the tool's response is text,");
    }
    texts.join("\n")
}

/// A part of ours, as one of text with its type where it is a text, or has nothing but one.
fn typed(own: &RawJson) -> RawJson {
    if let Some(text) = own.to_text() {
        return part(&text);
    }
    let fields = own.to_object().unwrap_or_default();
    match (fields.get("type"), fields.len(), fields.get("text").and_then(RawJson::to_text)) {
        (None, 1, Some(text)) => part(&text),
        _ => own.clone(),
    }
}

/// Parts in the form of those that were there: some have no types, and some are texts.
fn like(own: &[RawJson], content: &RawJson) -> RawJson {
    let has_type = |part: &RawJson| part.to_object().is_ok_and(|it| it.get("type").is_some());
    if own.is_empty() || own.iter().any(has_type) {
        return content.clone();
    }
    let are_texts = own.iter().all(is_text);
    let parts = content.to_items().unwrap_or_default();
    let untyped = |part: &RawJson| match text_of(part) {
        Some(text) if are_texts => RawJson::from_text(&text),
        Some(text) => {
            let mut untyped = JsonObject::new();
            put(&mut untyped, "text", Some(&text));
            untyped.to_raw().into()
        }
        None => part.clone(),
    };
    let parts: Vec<RawJson> = parts.iter().map(untyped).collect();
    RawJson::from_items(&parts)
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
                r#"{"llmContent":[{"text":"n"}]}"#,
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
            assert_eq!(of_response(&response).as_str(), shown);
            let mut lost = Vec::new();
            let laid = laid_into(&response, Some(content), None, &mut lost);
            assert_eq!((laid.as_str(), lost.len()), (expected, losses), "{}", response.as_str());
        }
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
            let laid = laid_into(&response, None, Some(&raw(details)), &mut lost);
            assert_eq!((laid.as_str(), lost.len()), (expected, losses), "{}", response.as_str());
        }
    }
}
