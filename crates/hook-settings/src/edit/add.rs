//! Addition of hook definitions to a settings text.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::NotEditable;
use super::text::{Replacements, Settings, edited, quoted};
use hook_json::{JsonKind, JsonObject, RawJson};

/// The depth to which values are split over lines; deeper ones stay on one line.
const MAX_DEPTH: usize = 64;

/// A definition of hooks under an event, to be added to settings.
#[derive(Debug, Clone)]
pub struct NewDefinition {
    /// The event's name as written in settings.
    pub event: String,
    /// The fields of the definition, without `hooks`.
    pub fields: JsonObject,
    /// Its hooks.
    pub hooks: Vec<RawJson>,
}

/// Returns the definitions that a settings text lacks. A hook is present if a definition with equal
/// fields contains it.
///
/// # Errors
/// Returns an error if the text is not JSON, or has another value in place of the definitions.
pub fn missing_definitions(
    text: Option<&str>,
    wanted: &[NewDefinition],
) -> Result<Vec<NewDefinition>, Box<NotEditable>> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Ok(without_duplicates(wanted, PresentHooks::new()));
    };
    let settings = Settings::read(text.trim_start_matches('\u{feff}'))?;
    let mut present = PresentHooks::new();
    if let Some(hooks) = settings.present(&settings.root, "hooks") {
        settings.expect(&hooks, "hooks", JsonKind::Object, "an object")?;
        for (event, definitions) in hooks.to_object().unwrap_or_default().iter() {
            for definition in definitions.to_items().unwrap_or_default() {
                let Ok(mut fields) = definition.to_object() else { continue };
                let hooks = fields.remove("hooks").and_then(|hooks| hooks.to_items());
                let known = present.entry(key(event, &fields)).or_default();
                known.extend(hooks.unwrap_or_default().iter().map(canonical));
            }
        }
    }
    Ok(without_duplicates(wanted, present))
}

/// The hooks that are present, by event and definition fields.
type PresentHooks = HashMap<(String, String), HashSet<String>>;

fn key(event: &str, fields: &JsonObject) -> (String, String) {
    (event.to_owned(), canonical(&fields.to_raw().into()))
}

fn without_duplicates(wanted: &[NewDefinition], mut present: PresentHooks) -> Vec<NewDefinition> {
    let mut missing = wanted.to_vec();
    for definition in &mut missing {
        let known = present.entry(key(&definition.event, &definition.fields)).or_default();
        definition.hooks.retain(|hook| known.insert(canonical(hook)));
    }
    missing.retain(|definition| !definition.hooks.is_empty());
    missing
}

/// Adds definitions to a settings text, except hooks that it has already. All other bytes stay, and
/// the addition follows the text's indentation.
///
/// # Errors
/// Returns an error if the text is not JSON, or has another value in place of the definitions.
pub fn with_definitions(
    text: Option<&str>,
    wanted: &[NewDefinition],
) -> Result<String, Box<NotEditable>> {
    let missing = missing_definitions(text, wanted)?;
    let mut text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n").to_owned();
    for definition in missing {
        let layout = Layout::of(&text);
        text = edited(&text, |settings| with_definition(settings, &layout, &definition))?;
    }
    Ok(text)
}

fn with_definition(
    settings: &Settings<'_>,
    layout: &Layout,
    new: &NewDefinition,
) -> Result<Replacements, Box<NotEditable>> {
    let mut definition = new.fields.clone();
    definition.insert("hooks", RawJson::from_items(&new.hooks));
    let definition: RawJson = definition.to_raw().into();
    let list = RawJson::from_items([&definition]);
    let mut event_object = JsonObject::new();
    event_object.insert(new.event.as_str(), list.clone());
    let Some(hooks) = settings.present(&settings.root, "hooks") else {
        let events = event_object.to_raw().into();
        return Ok(layout.with_member(settings, &settings.root, "hooks", &events, 1));
    };
    settings.expect(&hooks, "hooks", JsonKind::Object, "an object")?;
    let Some(found) = settings.present(&hooks, &new.event) else {
        return Ok(layout.with_member(settings, &hooks, &new.event, &list, 2));
    };
    let path = format!("hooks.{}", new.event);
    settings.expect(&found, &path, JsonKind::Array, "an array of definitions")?;
    let value = format!("{}{}", layout.line(3), layout.value(&definition, 3));
    Ok(match found.to_items().unwrap_or_default().last() {
        Some(last) => settings.appended(last.range().end, &value),
        None => settings.filled(&found, &format!("{value}{}", layout.line(2))),
    })
}

/// The formatting of a text.
struct Layout {
    /// The indentation of one level; `None` if the text is on one line.
    indent: Option<String>,
    newline: &'static str,
}

impl Layout {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().skip(1).find(|line| line.starts_with([' ', '\t']));
        let indentation_of = |line: &str| {
            let length = line.len() - line.trim_start_matches([' ', '\t']).len();
            line.get(..length).unwrap_or_default().to_owned()
        };
        let is_dense = !text.trim().contains('\n') && text.trim().len() > 2;
        let indent = indented.map_or_else(|| "  ".to_owned(), indentation_of);
        Self { indent: (!is_dense).then_some(indent), newline }
    }

    /// Returns the beginning of a line at a depth.
    fn line(&self, depth: usize) -> String {
        match &self.indent {
            Some(indent) => format!("{}{}", self.newline, indent.repeat(depth)),
            None => String::new(),
        }
    }

    /// Adds a member to an object whose members are at `depth`; replaces it if it is `null`.
    fn with_member(
        &self,
        settings: &Settings<'_>,
        object: &RawJson,
        name: &str,
        value: &RawJson,
        depth: usize,
    ) -> Replacements {
        let value = self.value(value, depth);
        if let Some(null) = settings.member(object, name) {
            return vec![(null.range(), value)];
        }
        let colon = if self.indent.is_some() { ": " } else { ":" };
        let member = format!("{}{}{colon}{value}", self.line(depth), quoted(name));
        let entries = object.to_object().unwrap_or_default();
        match entries.iter().map(|(_, value)| value.range().end).max() {
            Some(end) => settings.appended(end, &member),
            None => settings.filled(object, &format!("{member}{}", self.line(depth - 1))),
        }
    }

    /// Formats a value whose line is at `depth`.
    fn value(&self, value: &RawJson, depth: usize) -> String {
        let colon = if self.indent.is_some() { ": " } else { ":" };
        let parts: Vec<String> = match value.kind() {
            JsonKind::Object if depth < MAX_DEPTH => {
                let fields = value.to_object().unwrap_or_default();
                let field = |(name, value): (&str, &RawJson)| {
                    format!("{}{colon}{}", quoted(name), self.value(value, depth + 1))
                };
                fields.iter().map(field).collect()
            }
            JsonKind::Array if depth < MAX_DEPTH => {
                let items = value.to_items().unwrap_or_default();
                items.iter().map(|item| self.value(item, depth + 1)).collect()
            }
            _ => return value.as_str().to_owned(),
        };
        let (open, close) = match value.kind() {
            JsonKind::Object => ('{', '}'),
            _ => ('[', ']'),
        };
        if parts.is_empty() {
            return format!("{open}{close}");
        }
        let line = self.line(depth + 1);
        let parts: Vec<String> = parts.iter().map(|part| format!("{line}{part}")).collect();
        format!("{open}{}{}{close}", parts.join(","), self.line(depth))
    }
}

/// Returns a text that is equal for equal values, regardless of the order of fields.
fn canonical(value: &RawJson) -> String {
    canonical_at(value, 0)
}

fn canonical_at(value: &RawJson, depth: usize) -> String {
    match value.kind() {
        _ if depth >= MAX_DEPTH => value.as_str().to_owned(),
        JsonKind::Object => {
            let fields = value.to_object().unwrap_or_default();
            let of_field =
                |(name, value): (&str, &RawJson)| (quoted(name), canonical_at(value, depth + 1));
            let sorted: BTreeMap<String, String> = fields.iter().map(of_field).collect();
            let parts: Vec<String> =
                sorted.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
            format!("{{{}}}", parts.join(","))
        }
        JsonKind::Array => {
            let items = value.to_items().unwrap_or_default();
            let parts: Vec<String> =
                items.iter().map(|item| canonical_at(item, depth + 1)).collect();
            format!("[{}]", parts.join(","))
        }
        JsonKind::String => value.to_text().map(|text| quoted(&text)).unwrap_or_default(),
        _ => value.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(command: &str) -> NewDefinition {
        let mut fields = JsonObject::new();
        fields.insert("language", RawJson::from_text("claude"));
        let mut hook = JsonObject::new();
        hook.insert("command", RawJson::from_text(command));
        let hooks = vec![hook.to_raw().into()];
        NewDefinition { event: "PreToolUse".to_owned(), fields, hooks }
    }

    #[test]
    fn every_other_byte_stays_and_twice_is_once() {
        for text in [
            "{}",
            "{}\n",
            "{\r\n\t\"a\": [1,  2],\r\n\t\"hooks\": { }\r\n}\r\n",
            "{\"a\":1}",
            "{\"hooks\":{\"PreToolUse\":[]}}",
            "{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"hooks\": []}\n        ]\n    },\n    \"z\": 0\n}\n",
            "\u{feff}{\n  \"hooks\": null\n}",
            "// first\n{ // second\n}",
            "{\"hooks\": {\"PreToolUse\": [ /* \"z\": 0 */ ],},}",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": []}, // \"z\": 0\n    ] // second\n  }\n}",
        ] {
            let wanted = [definition("a"), definition("b"), definition("a")];
            let edited = with_definitions(Some(text), &wanted).unwrap();
            assert_eq!(with_definitions(Some(&edited), &wanted).unwrap(), edited, "{edited}");
            let read =
                crate::parse(edited.trim_start_matches('\u{feff}'), crate::HookSource::User, None);
            assert!(read.was_read, "{edited}");
            assert_eq!(edited.matches("\"command\"").count(), 2, "{edited}");
            for kept in
                ["[1,  2]", "\"z\": 0", "{\"hooks\": []}", "\u{feff}", "// first", "// second\n"]
            {
                assert_eq!(edited.contains(kept), text.contains(kept), "{edited}");
            }
        }
    }

    #[test]
    fn what_is_no_settings_text_is_left_alone() {
        for text in ["[]", "{\"hooks\": []}", "# x\n{}", "{\"hooks\":{\"PreToolUse\":{}}}"] {
            assert!(with_definitions(Some(text), &[definition("a")]).is_err(), "{text}");
        }
    }
}
