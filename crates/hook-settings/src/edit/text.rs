//! Edits of a settings text that enable or disable a hook.

use std::ops::Range;

use super::NotEditable;
use crate::Diagnostic;
use crate::document::Document;
use hook_json::{JsonKind, RawJson, locate_entries};

/// Adds a hook's name to the `disabled` list of a settings text, or removes it. Every byte outside
/// of the list stays; the text is returned unchanged if there is nothing to do.
///
/// # Errors
/// Returns an error if the text is not JSON, or another value occupies the position of the list.
pub fn set_hook_enabled(text: &str, name: &str, enabled: bool) -> Result<String, Box<NotEditable>> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (bom, text) = text.split_at(mark);
    let settings = Settings::read(text)?;
    let replacements = if enabled { settings.enable(name)? } else { settings.disable(name)? };
    let mut edited = bom.to_owned();
    let mut position = 0;
    for (range, replacement) in replacements {
        edited.push_str(text.get(position..range.start).unwrap_or_default());
        edited.push_str(&replacement);
        position = range.end;
    }
    edited.push_str(text.get(position..).unwrap_or_default());
    Ok(edited)
}

/// Sets `server` in a settings text, so that `hook bridge` starts a server. A text that sets it
/// already is returned unchanged; a missing one is created.
///
/// # Errors
/// Returns an error if the text is not JSON, or another value occupies the position of the field.
pub fn with_server(text: Option<&str>) -> Result<String, Box<NotEditable>> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (mark, text) = text.split_at(mark);
    let settings = Settings::read(text)?;
    let field = ("server", "\"auto\"");
    let replacement = match settings.present(&settings.root, "hooksConfig") {
        Some(config) => {
            settings.expect(&config, "hooksConfig", JsonKind::Object, "an object")?;
            if settings.member(&config, field.0).is_some() {
                return Ok(format!("{mark}{text}"));
            }
            settings.with_field(&config, field)
        }
        None => match settings.member(&settings.root, "hooksConfig") {
            Some(null) => (range(&null), "{\"server\": \"auto\"}".to_owned()),
            None => settings.with_config(field),
        },
    };
    let mut edited = text.to_owned();
    edited.replace_range(replacement.0, &replacement.1);
    Ok(format!("{mark}{edited}"))
}

/// Replacements in a text, in order.
type Replacements = Vec<(Range<usize>, String)>;

/// A settings text to edit.
pub(super) struct Settings<'t> {
    text: &'t str,
    document: Document<'t>,
    pub(super) root: RawJson,
}

/// The deepest part of the list's path that exists.
enum DisabledList {
    List(RawJson),
    /// `disabled` is `null`.
    Null(RawJson),
    /// `hooksConfig` exists without `disabled`.
    Config(RawJson),
    /// `hooksConfig` is `null`.
    NullConfig(RawJson),
    Nothing,
}

impl<'t> Settings<'t> {
    pub(super) fn read(text: &'t str) -> Result<Self, Box<NotEditable>> {
        let mut document = Document::new(text, None);
        let root = match document.root() {
            Ok(root) => root.value,
            Err(error) => {
                document.report_not_json(&error);
                let problem = document.into_diagnostics().into_iter().next();
                return Err(Box::new(not_json(text, problem, error.reason())));
            }
        };
        let settings = Self { text, document, root };
        settings.expect(&settings.root, "", JsonKind::Object, "an object")?;
        Ok(settings)
    }

    /// Returns the last member with that name, if it is not `null`.
    pub(super) fn present(&self, object: &RawJson, name: &str) -> Option<RawJson> {
        self.member(object, name).filter(|value| !value.is_null())
    }

    fn find(&self) -> Result<DisabledList, Box<NotEditable>> {
        let Some(config) = self.member(&self.root, "hooksConfig") else {
            return Ok(DisabledList::Nothing);
        };
        if config.is_null() {
            return Ok(DisabledList::NullConfig(config));
        }
        self.expect(&config, "hooksConfig", JsonKind::Object, "an object")?;
        let Some(list) = self.member(&config, "disabled") else {
            return Ok(DisabledList::Config(config));
        };
        if list.is_null() {
            return Ok(DisabledList::Null(list));
        }
        self.expect(&list, "hooksConfig.disabled", JsonKind::Array, "an array of strings")?;
        Ok(DisabledList::List(list))
    }

    /// Returns the last member with that name, which takes precedence.
    pub(super) fn member(&self, object: &RawJson, name: &str) -> Option<RawJson> {
        let entries = locate_entries(object.as_str()).ok()?;
        let entry = entries.into_iter().rfind(|entry| entry.key == name)?;
        Some(object.slice(entry.value))
    }

    pub(super) fn expect(
        &self,
        value: &RawJson,
        path: &str,
        kind: JsonKind,
        expected: &str,
    ) -> Result<(), Box<NotEditable>> {
        if value.kind() == kind {
            return Ok(());
        }
        let location = self.document.location_at(value.range(), path.to_owned());
        let name = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let message = format!("{name}expected {expected}, found {}", value.kind());
        Err(Box::new(NotEditable { location, message }))
    }

    fn enable(&self, name: &str) -> Result<Replacements, Box<NotEditable>> {
        let DisabledList::List(list) = self.find()? else { return Ok(Vec::new()) };
        let items = list.to_items().unwrap_or_default();
        let is_named = |item: &RawJson| item.to_text().as_deref() == Some(name);
        let Some(last_kept) = items.iter().rposition(|item| !is_named(item)) else {
            let inside = list.start() + 1..range(&list).end - 1;
            return Ok(if items.is_empty() { Vec::new() } else { vec![(inside, String::new())] });
        };
        // Cut each item with the separator after it; at the end, with the separator before it.
        let kept_and_next = items.iter().zip(items.iter().skip(1)).take(last_kept);
        let mut replacements: Replacements = kept_and_next
            .filter(|(item, _)| is_named(item))
            .map(|(item, next)| (item.start()..next.start(), String::new()))
            .collect();
        if let (Some(kept), Some(last)) = (items.get(last_kept), items.last())
            && last_kept + 1 < items.len()
        {
            replacements.push((range(kept).end..range(last).end, String::new()));
        }
        Ok(replacements)
    }

    fn disable(&self, name: &str) -> Result<Replacements, Box<NotEditable>> {
        let quoted = quoted(name);
        let list = format!("[{quoted}]");
        let replacement = match self.find()? {
            DisabledList::List(array) => {
                let items = array.to_items().unwrap_or_default();
                if items.iter().any(|item| item.to_text().as_deref() == Some(name)) {
                    return Ok(Vec::new());
                }
                match items.last() {
                    None => (array.start() + 1..range(&array).end - 1, quoted),
                    Some(last) => {
                        let mut gap = self.blanks_before(last.start());
                        if items.len() == 1 && gap.is_empty() && !self.is_dense(array.start()) {
                            gap = " ";
                        }
                        let end = range(last).end;
                        (end..end, format!(",{gap}{quoted}"))
                    }
                }
            }
            DisabledList::Null(null) => (range(&null), list),
            DisabledList::Config(config) => self.with_field(&config, ("disabled", &list)),
            DisabledList::NullConfig(null) => {
                let colon = if self.is_dense(null.start()) { ":" } else { ": " };
                (range(&null), format!("{{\"disabled\"{colon}{list}}}"))
            }
            DisabledList::Nothing => self.with_config(("disabled", &list)),
        };
        Ok(vec![replacement])
    }

    /// Adds a field as the last member of a `hooksConfig`, formatted like the previous one.
    fn with_field(&self, config: &RawJson, (name, value): (&str, &str)) -> (Range<usize>, String) {
        let entries = locate_entries(config.as_str()).unwrap_or_default();
        let Some(last) = entries.last() else {
            let colon = if self.is_dense(config.start()) { ":" } else { ": " };
            let inside = config.start() + 1..range(config).end - 1;
            return (inside, format!("\"{name}\"{colon}{value}"));
        };
        // The last member's name follows the separator after the previous member.
        let before = entries.len().checked_sub(2).and_then(|index| entries.get(index));
        let separator = before.map_or(config.start(), |entry| {
            let from = config.start() + entry.value.end;
            let comma = self.text.get(from..).and_then(|rest| rest.find(','));
            from + comma.unwrap_or_default()
        });
        let gap = self.blanks_after(separator + 1);
        let colon = if self.is_dense(config.start() + last.value.start) { ":" } else { ": " };
        let end = config.start() + last.value.end;
        (end..end, format!(",{gap}\"{name}\"{colon}{value}"))
    }

    /// Adds a `hooksConfig` with a field as the first member of the file.
    fn with_config(&self, (name, value): (&str, &str)) -> (Range<usize>, String) {
        let entries = locate_entries(self.root.as_str()).unwrap_or_default();
        let inside = self.root.start() + 1;
        let Some(first) = entries.first() else {
            let line = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
            let config =
                format!("{line}  \"hooksConfig\": {{{line}    \"{name}\": {value}{line}  }}{line}");
            return (inside..range(&self.root).end - 1, config);
        };
        let gap = self.blanks_after(inside);
        let colon = if self.is_dense(self.root.start() + first.value.start) { ":" } else { ": " };
        let config = match gap.rsplit_once('\n') {
            Some((line, indent)) => {
                let line = if line.ends_with('\r') { "\r\n" } else { "\n" };
                format!("{{{line}{indent}{indent}\"{name}\"{colon}{value}{line}{indent}}}")
            }
            None => format!("{{\"{name}\"{colon}{value}}}"),
        };
        let next = if gap.is_empty() && colon == ": " { " " } else { "" };
        (inside..inside, format!("{gap}\"hooksConfig\"{colon}{config},{next}"))
    }

    fn blanks_after(&self, offset: usize) -> &'t str {
        let rest = self.text.get(offset..).unwrap_or_default();
        let length = rest.find(|character| !is_blank(character)).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    fn blanks_before(&self, offset: usize) -> &'t str {
        let before = self.text.get(..offset).unwrap_or_default();
        before.get(before.trim_end_matches(is_blank).len()..).unwrap_or_default()
    }

    /// Checks whether a value follows its colon without whitespace.
    fn is_dense(&self, value: usize) -> bool {
        self.blanks_before(value).is_empty()
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

pub(super) fn range(value: &RawJson) -> Range<usize> {
    value.start()..value.start() + value.as_str().len()
}

pub(super) fn quoted(text: &str) -> String {
    RawJson::from_text(text).as_str().to_owned()
}

/// Returns the error for invalid JSON. Comments, common in other settings files, have their own.
fn not_json(text: &str, problem: Option<Diagnostic>, reason: &str) -> NotEditable {
    let location = problem.map(|problem| problem.location).unwrap_or_default();
    let line = text.lines().nth(location.line.saturating_sub(1)).unwrap_or_default();
    let mut rest = line.chars().skip(location.column.saturating_sub(1));
    let message = match (rest.next(), rest.next()) {
        (Some('/'), Some('/' | '*')) => {
            "a comment is not JSON, and the engine does not read files with one".to_owned()
        }
        _ => format!("it is not JSON: {reason}"),
    };
    NotEditable { location, message }
}

#[cfg(test)]
mod tests;
