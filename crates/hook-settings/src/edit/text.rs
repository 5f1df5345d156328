//! Edits of a settings text that enable or disable a hook.

use std::borrow::Cow;
use std::ops::Range;

use super::NotEditable;
use crate::document::Document;
use hook_json::{Comments, JsonKind, RawJson, locate_entries, without_comments};

/// Adds a hook's name to the `disabled` list of a settings text, or removes it. Every byte outside
/// of the list stays, and so do comments in it; the text is returned unchanged if there is nothing
/// to do.
///
/// # Errors
/// Returns an error if the text is not JSON, or another value occupies the position of the list.
pub(crate) fn set_hook_enabled(
    text: &str,
    name: &str,
    enabled: bool,
) -> Result<String, Box<NotEditable>> {
    edited(text, |settings| if enabled { settings.enable(name) } else { settings.disable(name) })
}

/// Sets `server` in a settings text, so that `hook bridge` starts a server. A text that sets it
/// already is returned unchanged; a missing one is created.
///
/// # Errors
/// Returns an error if the text is not JSON, or another value occupies the position of the field.
pub fn with_server(text: Option<&str>) -> Result<String, Box<NotEditable>> {
    edited(text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n"), |settings| match settings
        .config()?
        .and_then(|config| settings.member(&config, "server"))
    {
        Some(_) => Ok(Vec::new()),
        None => settings.with_config(("server", "\"auto\"")),
    })
}

/// Returns a settings text with replacements. A byte order mark stays.
pub(super) fn edited(
    text: &str,
    edit: impl FnOnce(&Settings<'_>) -> Result<Replacements, Box<NotEditable>>,
) -> Result<String, Box<NotEditable>> {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let settings = Settings::read(rest)?;
    let mut edited = text.strip_suffix(rest).unwrap_or_default().to_owned();
    let mut position = 0;
    for (range, replacement) in edit(&settings)? {
        edited.push_str(rest.get(position..range.start).unwrap_or_default());
        edited.push_str(&replacement);
        position = range.end;
    }
    edited.push_str(rest.get(position..).unwrap_or_default());
    Ok(edited)
}

/// Replacements in a text, in order.
pub(super) type Replacements = Vec<(Range<usize>, String)>;

/// A settings text to edit.
pub(super) struct Settings<'t> {
    text: &'t str,
    /// The text with blanks in place of its comments.
    plain: Cow<'t, str>,
    document: Document<'t>,
    pub(super) root: RawJson,
}

impl<'t> Settings<'t> {
    pub(super) fn read(text: &'t str) -> Result<Self, Box<NotEditable>> {
        let document = Document::new(text, None);
        let root = document.root().map_err(|error| {
            let location = document.location_of(&error);
            let message = format!("it is not JSON: {}", error.reason());
            Box::new(NotEditable { location, message })
        })?;
        let plain = without_comments(text, Comments::Allowed);
        let settings = Self { text, plain, document, root: root.value };
        settings.expect(&settings.root, "", JsonKind::Object, "an object")?;
        Ok(settings)
    }

    /// Returns the last member with that name, if it is not `null`.
    pub(super) fn present(&self, object: &RawJson, name: &str) -> Option<RawJson> {
        self.member(object, name).filter(|value| !value.is_null())
    }

    /// Returns `hooksConfig`, unless it is absent or `null`.
    fn config(&self) -> Result<Option<RawJson>, Box<NotEditable>> {
        let config = self.present(&self.root, "hooksConfig");
        config.iter().try_for_each(|config| {
            self.expect(config, "hooksConfig", JsonKind::Object, "an object")
        })?;
        Ok(config)
    }

    /// Returns the `disabled` list, unless it is absent or `null`.
    fn disabled(&self) -> Result<Option<RawJson>, Box<NotEditable>> {
        let list = self.config()?.and_then(|config| self.present(&config, "disabled"));
        list.iter().try_for_each(|list| {
            self.expect(list, "hooksConfig.disabled", JsonKind::Array, "an array of strings")
        })?;
        Ok(list)
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
        let Some(list) = self.disabled()? else { return Ok(Vec::new()) };
        let items = list.to_items().unwrap_or_default();
        let is_named = |item: &RawJson| item.to_text().as_deref() == Some(name);
        let cut = |range: Range<usize>| (range.clone(), self.comments_in(range));
        let Some(last_kept) = items.iter().rposition(|item| !is_named(item)) else {
            return Ok(if items.is_empty() { Vec::new() } else { vec![cut(inside(&list))] });
        };
        // Cut each item with the separator after it; at the end, with the separator before it.
        let kept_and_next = items.iter().zip(items.iter().skip(1)).take(last_kept);
        let mut replacements: Replacements = kept_and_next
            .filter(|(item, _)| is_named(item))
            .map(|(item, next)| cut(item.start()..next.start()))
            .collect();
        if let (Some(kept), Some(last)) = (items.get(last_kept), items.last())
            && last_kept + 1 < items.len()
        {
            // A trailing comma is cut with its item.
            let (kept, last) = (kept.range().end, last.range().end);
            let range = match self.comma_after(last) {
                Some(trailing) => self.comma_after(kept).unwrap_or(kept)..trailing,
                None => kept..last,
            };
            replacements.push(cut(range));
        }
        Ok(replacements)
    }

    fn disable(&self, name: &str) -> Result<Replacements, Box<NotEditable>> {
        let quoted = quoted(name);
        let Some(list) = self.disabled()? else {
            return self.with_config(("disabled", &format!("[{quoted}]")));
        };
        let items = list.to_items().unwrap_or_default();
        if items.iter().any(|item| item.to_text().as_deref() == Some(name)) {
            return Ok(Vec::new());
        }
        let Some(last) = items.last() else { return Ok(self.filled(&list, &quoted)) };
        let mut gap = self.blanks_before(last.start());
        if items.len() == 1 && gap.is_empty() && !self.is_dense(list.start()) {
            gap = " ";
        }
        Ok(self.appended(last.range().end, &format!("{gap}{quoted}")))
    }

    /// Adds the first element or member of an empty array or object.
    pub(super) fn filled(&self, empty: &RawJson, addition: &str) -> Replacements {
        let comments = self.comments_in(inside(empty));
        vec![(inside(empty), format!("{comments}{addition}"))]
    }

    /// Adds an element or member after the last one, which ends at `end`. A trailing comma and a
    /// comment on that line stay there.
    pub(super) fn appended(&self, end: usize, addition: &str) -> Replacements {
        let (comma_end, comma, trailing) = match self.comma_after(end) {
            Some(comma_end) => (comma_end, None, ","),
            None => (end, Some((end..end, ",".to_owned())), ""),
        };
        let line = self.text.get(comma_end..).unwrap_or_default().lines().next();
        let comment = line.filter(|line| line.trim_start_matches(is_blank).starts_with("//"));
        let gap = addition.len() - addition.trim_start_matches(is_blank).len();
        let has_line = addition.get(..gap).is_some_and(|gap| gap.contains('\n'));
        let comment = comment.filter(|_| has_line).unwrap_or_default();
        let at = comma_end + comment.len();
        comma.into_iter().chain([(at..at, format!("{addition}{trailing}"))]).collect()
    }

    /// Returns the end of the comma after a value.
    fn comma_after(&self, value_end: usize) -> Option<usize> {
        let after = self.plain.get(value_end..).unwrap_or_default();
        let rest = after.trim_start_matches(is_blank).strip_prefix(',')?;
        Some(value_end + after.len() - rest.len())
    }

    /// Returns the comments in a range, with the blanks around them; nothing without comments.
    fn comments_in(&self, range: Range<usize>) -> String {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let plain = self.plain.get(range.clone()).unwrap_or_default();
        if text == plain {
            return String::new();
        }
        let kept = text.bytes().zip(plain.bytes()).filter(|(_, plain)| plain.is_ascii_whitespace());
        let kept: Vec<u8> = kept.map(|(byte, _)| byte).collect();
        let mut comments = String::from_utf8(kept).unwrap_or_default();
        let rest = self.text.get(range.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
        if rest.starts_with('\n') || rest.starts_with("\r\n") {
            comments.truncate(comments.trim_end_matches(is_blank).len());
        }
        comments
    }

    /// Adds a field as the last member of a `hooksConfig`, formatted like the previous one.
    fn with_field(&self, config: &RawJson, (name, value): (&str, &str)) -> Replacements {
        let entries = locate_entries(config.as_str()).unwrap_or_default();
        let Some(last) = entries.last() else {
            let colon = if self.is_dense(config.start()) { ":" } else { ": " };
            return self.filled(config, &format!("\"{name}\"{colon}{value}"));
        };
        let gap = last.key_start.map(|start| self.blanks_before(config.start() + start));
        let colon = if self.is_dense(config.start() + last.value.start) { ":" } else { ": " };
        let addition = format!("{}\"{name}\"{colon}{value}", gap.unwrap_or(" "));
        self.appended(config.start() + last.value.end, &addition)
    }

    /// Sets a field of `hooksConfig` that is absent or `null`.
    fn with_config(&self, field: (&str, &str)) -> Result<Replacements, Box<NotEditable>> {
        if let Some(config) = self.config()? {
            return Ok(match self.member(&config, field.0) {
                Some(null) => vec![(null.range(), field.1.to_owned())],
                None => self.with_field(&config, field),
            });
        }
        let Some(null) = self.member(&self.root, "hooksConfig") else {
            return Ok(self.with_new_config(field));
        };
        let colon = if self.is_dense(null.start()) { ":" } else { ": " };
        Ok(vec![(null.range(), format!("{{\"{}\"{colon}{}}}", field.0, field.1))])
    }

    /// Adds a `hooksConfig` with a field as the first member of the file.
    fn with_new_config(&self, (name, value): (&str, &str)) -> Replacements {
        let entries = locate_entries(self.root.as_str()).unwrap_or_default();
        let inside = self.root.start() + 1;
        let Some(first) = entries.first() else {
            let line = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
            let config =
                format!("{line}  \"hooksConfig\": {{{line}    \"{name}\": {value}{line}  }}{line}");
            return self.filled(&self.root, &config);
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
        vec![(inside..inside, format!("{gap}\"hooksConfig\"{colon}{config},{next}"))]
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

/// Returns the range between the brackets of a value.
fn inside(value: &RawJson) -> Range<usize> {
    value.start() + 1..value.range().end - 1
}

pub(super) fn quoted(text: &str) -> String {
    RawJson::from_text(text).as_str().to_owned()
}

#[cfg(test)]
mod tests;
