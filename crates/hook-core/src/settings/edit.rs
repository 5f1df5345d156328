//! Switching hooks on and off in a settings file, and leaving every other byte of it as it is:
//! order, indentation, line ends, numbers, duplicates.
//!
//! The text is read by the engine's own reader, which knows where every value stands, and only
//! `hooksConfig.disabled` is cut or added to. What the engine does not read as JSON (comments, say)
//! is not edited either. [`switched`] is the change of a text, [`switch_in_file`] that of a file.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::source::read_regular_file;
use super::{Diagnostic, Place};
use crate::atomic::{Exclusive, Failed, NewFile, Replaced, absent_is_none};
use crate::json::{JsonKind, RawJson, locate_entries};

/// How often an edit begins anew when somebody else changes the file in between.
const ATTEMPTS: usize = 8;

/// A settings file could not be edited. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Its text is not what can be edited.
    #[error(transparent)]
    NotEditable(Box<NotEditable>),
    /// It could not be read or written.
    #[error("failed to {attempt} the settings file {}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else, such as an editor, changed it again and again.
    #[error(
        "failed to edit the settings file {}: something else keeps changing it; try again when \
         nothing does", .0.display()
    )]
    Contested(PathBuf),
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; whoever may write there can do it",
        _ => "",
    }
}

/// What in a settings text keeps it from being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEditable {
    /// Where it is.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for NotEditable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "failed to edit {}: {}; mend that first, nothing was written",
            self.place, self.message
        )
    }
}

impl std::error::Error for NotEditable {}

/// A settings file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// Its text before; empty when it was not there.
    pub before: String,
    /// Its text after.
    pub after: String,
}

impl FileChange {
    /// Whether there was anything to change.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }
}

/// Whether an edit is made or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditMode {
    /// The file is written.
    Write,
    /// Nothing is written.
    Preview,
}

/// What to do about a file that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsentFile {
    /// It is made.
    Made,
    /// It is an error.
    Refused,
}

/// Puts a hook's name on the `disabled` list of a settings file, or takes it off.
///
/// The file is replaced as a whole, under a lock that other callers of this function wait for; its
/// permissions stay, and a link to it stays a link. Who edits it without that lock at the same time
/// loses nothing either: the edit begins anew with what is there then.
///
/// # Errors
/// When the file cannot be read or written, is not JSON, or has something else where the list
/// belongs.
pub fn switch_in_file(
    path: &Path,
    name: &str,
    enabled: bool,
    absent: AbsentFile,
    mode: EditMode,
) -> Result<FileChange, EditError> {
    let io = |failed: Failed| EditError::Io {
        attempt: failed.attempt,
        path: path.to_path_buf(),
        source: failed.source,
    };
    if mode == EditMode::Preview {
        return Ok(read_and_switch(path, path, name, enabled, absent)?.1);
    }
    let file = Exclusive::wait(path).map_err(io)?;
    for _ in 0..ATTEMPTS {
        let (before, change) = read_and_switch(path, file.path(), name, enabled, absent)?;
        if !change.is_change() {
            return Ok(change);
        }
        let after = change.after.as_bytes();
        match file.replace(before.as_deref(), after, NewFile::Ordinary).map_err(io)? {
            Replaced::Done => return Ok(change),
            Replaced::ChangedMeanwhile => {}
        }
    }
    Err(EditError::Contested(path.to_path_buf()))
}

/// The file as it is, and as it is to be.
fn read_and_switch(
    path: &Path,
    real: &Path,
    name: &str,
    enabled: bool,
    absent: AbsentFile,
) -> Result<(Option<Vec<u8>>, FileChange), EditError> {
    let failed = |source| EditError::Io { attempt: "read", path: path.to_path_buf(), source };
    let bytes = match absent {
        AbsentFile::Made => absent_is_none(read_regular_file(real)),
        AbsentFile::Refused => read_regular_file(real).map(Some),
    };
    let bytes = bytes.map_err(failed)?;
    let mut change =
        FileChange { path: path.to_path_buf(), before: String::new(), after: String::new() };
    let Some(bytes) = bytes else {
        if !enabled {
            change.after = switched("{}\n", name, enabled).unwrap_or_default();
        }
        return Ok((None, change));
    };
    change.before = match String::from_utf8(bytes.clone()) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.utf8_error().valid_up_to()).unwrap_or_default();
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            let place = Place {
                file: Some(path.to_path_buf().into()),
                line,
                column: 1,
                ..Place::default()
            };
            let message = "the line is not UTF-8 text".to_owned();
            return Err(EditError::NotEditable(Box::new(NotEditable { place, message })));
        }
    };
    change.after = switched(&change.before, name, enabled).map_err(|mut problem| {
        problem.place.file = Some(path.to_path_buf().into());
        EditError::NotEditable(problem)
    })?;
    Ok((Some(bytes), change))
}

/// A settings text with a hook's name put on the `disabled` list, or taken off it. Every byte
/// outside of the list stays; the text is the same when nothing has to change.
///
/// # Errors
/// When the text is not JSON, or something else stands where the list belongs.
pub fn switched(text: &str, name: &str, enabled: bool) -> Result<String, Box<NotEditable>> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (mark, text) = text.split_at(mark);
    let settings = Settings::read(text)?;
    let cuts = if enabled { settings.enable(name)? } else { settings.disable(name)? };
    let mut edited = mark.to_owned();
    let mut at = 0;
    for (range, replacement) in cuts {
        edited.push_str(text.get(at..range.start).unwrap_or_default());
        edited.push_str(&replacement);
        at = range.end;
    }
    edited.push_str(text.get(at..).unwrap_or_default());
    Ok(edited)
}

/// What is replaced in a text, in order.
type Cuts = Vec<(Range<usize>, String)>;

/// A settings text whose list is looked for.
struct Settings<'t> {
    text: &'t str,
    document: Document<'t>,
    root: RawJson,
}

/// How far the list is there.
enum Found {
    List(RawJson),
    /// `disabled` is `null`.
    Null(RawJson),
    /// There is a `hooksConfig`, but nothing of the list.
    Config(RawJson),
    /// `hooksConfig` is `null`.
    NullConfig(RawJson),
    Nothing,
}

impl<'t> Settings<'t> {
    fn read(text: &'t str) -> Result<Self, Box<NotEditable>> {
        let mut document = Document::new(text, None);
        let root = match document.root() {
            Ok(root) => root.value,
            Err(error) => {
                document.not_json(&error);
                let problem = document.into_diagnostics().into_iter().next();
                return Err(Box::new(not_json(text, problem, error.reason())));
            }
        };
        let settings = Self { text, document, root };
        settings.expect(&settings.root, "", JsonKind::Object, "an object")?;
        Ok(settings)
    }

    fn find(&self) -> Result<Found, Box<NotEditable>> {
        let Some(config) = self.member(&self.root, "hooksConfig") else {
            return Ok(Found::Nothing);
        };
        if config.is_null() {
            return Ok(Found::NullConfig(config));
        }
        self.expect(&config, "hooksConfig", JsonKind::Object, "an object")?;
        let Some(list) = self.member(&config, "disabled") else { return Ok(Found::Config(config)) };
        if list.is_null() {
            return Ok(Found::Null(list));
        }
        self.expect(&list, "hooksConfig.disabled", JsonKind::Array, "an array of strings")?;
        Ok(Found::List(list))
    }

    /// The last member of that name, which is the one that counts.
    fn member(&self, object: &RawJson, name: &str) -> Option<RawJson> {
        let entries = locate_entries(object.as_str()).ok()?;
        let entry = entries.into_iter().rfind(|entry| entry.key == name)?;
        Some(object.slice(entry.value))
    }

    fn expect(
        &self,
        value: &RawJson,
        path: &str,
        kind: JsonKind,
        expected: &str,
    ) -> Result<(), Box<NotEditable>> {
        if value.kind() == kind {
            return Ok(());
        }
        let place = self.document.place_at(value.range(), path.to_owned());
        let name = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let message = format!("{name}expected {expected}, found {}", value.kind());
        Err(Box::new(NotEditable { place, message }))
    }

    fn enable(&self, name: &str) -> Result<Cuts, Box<NotEditable>> {
        let Found::List(list) = self.find()? else { return Ok(Vec::new()) };
        let items = list.to_items().unwrap_or_default();
        let is_named = |item: &RawJson| item.to_text().as_deref() == Some(name);
        let Some(last_kept) = items.iter().rposition(|item| !is_named(item)) else {
            let inside = list.start() + 1..range(&list).end - 1;
            return Ok(if items.is_empty() { Vec::new() } else { vec![(inside, String::new())] });
        };
        // Each with what stands between it and the next one; at the end, with what is before it.
        let kept_and_next = items.iter().zip(items.iter().skip(1)).take(last_kept);
        let mut cuts: Cuts = kept_and_next
            .filter(|(item, _)| is_named(item))
            .map(|(item, next)| (item.start()..next.start(), String::new()))
            .collect();
        if let (Some(kept), Some(last)) = (items.get(last_kept), items.last())
            && last_kept + 1 < items.len()
        {
            cuts.push((range(kept).end..range(last).end, String::new()));
        }
        Ok(cuts)
    }

    fn disable(&self, name: &str) -> Result<Cuts, Box<NotEditable>> {
        let quoted = quoted(name);
        let list = format!("[{quoted}]");
        let cut = match self.find()? {
            Found::List(array) => {
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
            Found::Null(null) => (range(&null), list),
            Found::Config(config) => self.with_list(&config, &list),
            Found::NullConfig(null) => {
                let colon = if self.is_dense(null.start()) { ":" } else { ": " };
                (range(&null), format!("{{\"disabled\"{colon}{list}}}"))
            }
            Found::Nothing => self.with_config(&list),
        };
        Ok(vec![cut])
    }

    /// Adds the list as the last member of a `hooksConfig`, laid out like the one before it.
    fn with_list(&self, config: &RawJson, list: &str) -> (Range<usize>, String) {
        let entries = locate_entries(config.as_str()).unwrap_or_default();
        let Some(last) = entries.last() else {
            let colon = if self.is_dense(config.start()) { ":" } else { ": " };
            let inside = config.start() + 1..range(config).end - 1;
            return (inside, format!("\"disabled\"{colon}{list}"));
        };
        // Its name begins behind what separates it from the one before.
        let before = entries.len().checked_sub(2).and_then(|index| entries.get(index));
        let separator = before.map_or(config.start(), |entry| {
            let from = config.start() + entry.value.end;
            let comma = self.text.get(from..).and_then(|rest| rest.find(','));
            from + comma.unwrap_or_default()
        });
        let gap = self.blanks_after(separator + 1);
        let colon = if self.is_dense(config.start() + last.value.start) { ":" } else { ": " };
        let end = config.start() + last.value.end;
        (end..end, format!(",{gap}\"disabled\"{colon}{list}"))
    }

    /// Adds a `hooksConfig` with the list as the first member of the file.
    fn with_config(&self, list: &str) -> (Range<usize>, String) {
        let entries = locate_entries(self.root.as_str()).unwrap_or_default();
        let inside = self.root.start() + 1;
        let Some(first) = entries.first() else {
            let line = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
            let config = format!(
                "{line}  \"hooksConfig\": {{{line}    \"disabled\": {list}{line}  }}{line}"
            );
            return (inside..range(&self.root).end - 1, config);
        };
        let gap = self.blanks_after(inside);
        let colon = if self.is_dense(self.root.start() + first.value.start) { ":" } else { ": " };
        let config = match gap.rsplit_once('\n') {
            Some((line, indent)) => {
                let line = if line.ends_with('\r') { "\r\n" } else { "\n" };
                format!("{{{line}{indent}{indent}\"disabled\"{colon}{list}{line}{indent}}}")
            }
            None => format!("{{\"disabled\"{colon}{list}}}"),
        };
        let next = if gap.is_empty() && colon == ": " { " " } else { "" };
        (inside..inside, format!("{gap}\"hooksConfig\"{colon}{config},{next}"))
    }

    fn blanks_after(&self, at: usize) -> &'t str {
        let rest = self.text.get(at..).unwrap_or_default();
        let length = rest.find(|character| !is_blank(character)).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    fn blanks_before(&self, at: usize) -> &'t str {
        let before = self.text.get(..at).unwrap_or_default();
        before.get(before.trim_end_matches(is_blank).len()..).unwrap_or_default()
    }

    /// Whether the value there follows its colon without a blank.
    fn is_dense(&self, value: usize) -> bool {
        self.blanks_before(value).is_empty()
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn range(value: &RawJson) -> Range<usize> {
    value.start()..value.start() + value.as_str().len()
}

fn quoted(text: &str) -> String {
    RawJson::from_text(text).as_str().to_owned()
}

/// Many files of settings elsewhere have comments.
fn not_json(text: &str, problem: Option<Diagnostic>, reason: &str) -> NotEditable {
    let place = problem.map(|problem| problem.place).unwrap_or_default();
    let line = text.lines().nth(place.line.saturating_sub(1)).unwrap_or_default();
    let mut rest = line.chars().skip(place.column.saturating_sub(1));
    let message = match (rest.next(), rest.next()) {
        (Some('/'), Some('/' | '*')) => {
            "a comment is not JSON, and the engine does not read files with one".to_owned()
        }
        _ => format!("it is not JSON: {reason}"),
    };
    NotEditable { place, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{HookSource, parse};
    use proptest::prelude::*;

    #[test]
    fn the_list_is_laid_out_as_the_file_is() {
        for (before, after) in [
            ("{}", "{\n  \"hooksConfig\": {\n    \"disabled\": [\"x\"]\n  }\n}"),
            ("{\"hooks\":{}}", "{\"hooksConfig\":{\"disabled\":[\"x\"]},\"hooks\":{}}"),
            ("{\"hooks\": {}}", "{\"hooksConfig\": {\"disabled\": [\"x\"]}, \"hooks\": {}}"),
            (
                "{\r\n\t\"hooks\" : {}\r\n}\r\n",
                "{\r\n\t\"hooksConfig\": {\r\n\t\t\"disabled\": [\"x\"]\r\n\t},\r\n\t\"hooks\" : {}\r\n}\r\n",
            ),
            ("{\"hooksConfig\": null}", "{\"hooksConfig\": {\"disabled\": [\"x\"]}}"),
            ("{\"hooksConfig\":{ }}", "{\"hooksConfig\":{\"disabled\":[\"x\"]}}"),
            (
                "{\"hooksConfig\": {\"enabled\": true, \"maxConcurrent\": 1}}",
                "{\"hooksConfig\": {\"enabled\": true, \"maxConcurrent\": 1, \"disabled\": [\"x\"]}}",
            ),
            (
                "{\"hooksConfig\": {\n      \"enabled\": true\n   }}",
                "{\"hooksConfig\": {\n      \"enabled\": true,\n      \"disabled\": [\"x\"]\n   }}",
            ),
            ("{\"hooksConfig\":{\"disabled\":null}}", "{\"hooksConfig\":{\"disabled\":[\"x\"]}}"),
            ("{\"hooksConfig\":{\"disabled\":[ ]}}", "{\"hooksConfig\":{\"disabled\":[\"x\"]}}"),
            (
                "{\"hooksConfig\":{\"disabled\":[\"a\"]}}",
                "{\"hooksConfig\":{\"disabled\":[\"a\",\"x\"]}}",
            ),
            (
                "{\"hooksConfig\": {\"disabled\": [\"a\"]}}",
                "{\"hooksConfig\": {\"disabled\": [\"a\", \"x\"]}}",
            ),
            (
                "{\"hooksConfig\": {\"disabled\": [\n    7,\n      \"b\"\n  ]}}",
                "{\"hooksConfig\": {\"disabled\": [\n    7,\n      \"b\",\n      \"x\"\n  ]}}",
            ),
            // The last of duplicates is the one that counts.
            (
                "\u{feff}{\"hooksConfig\":{\"disabled\":[\"x\"],\"dis\\u0061bled\":[\"a\"]}}",
                "\u{feff}{\"hooksConfig\":{\"disabled\":[\"x\"],\"dis\\u0061bled\":[\"a\",\"x\"]}}",
            ),
        ] {
            assert_eq!(switched(before, "x", false).unwrap(), after, "{before}");
            assert_eq!(switched(after, "x", false).unwrap(), after, "once is enough");
        }
    }

    #[test]
    fn every_mention_is_taken_off_with_its_comma() {
        for (before, after) in [
            ("[]", "[]"),
            ("[ ]", "[ ]"),
            ("[\"x\"]", "[]"),
            ("[ \"x\" , \"x\" ]", "[]"),
            ("[\"a\"]", "[\"a\"]"),
            ("[\"x\", \"a\"]", "[\"a\"]"),
            ("[\"a\", \"x\", \"b\"]", "[\"a\", \"b\"]"),
            ("[\n  \"x\",\n  \"x\",\n  \"b\",\n  \"\\u0078\",\n  \"x\"\n]", "[\n  \"b\"\n]"),
        ] {
            let file = |list: &str| format!("{{ \"hooksConfig\" : {{\"disabled\" :{list} }} }}\n");
            assert_eq!(switched(&file(before), "x", true).unwrap(), file(after), "{before}");
        }
        for text in ["{}", "{\"hooksConfig\":null}", "{\"hooksConfig\":{\"disabled\":null}}"] {
            assert_eq!(switched(text, "x", true).unwrap(), text);
        }
    }

    #[test]
    fn what_cannot_be_edited_is_refused_with_its_place() {
        for (text, place, said) in [
            ("", "settings:1:1", "it is not JSON: EOF while parsing a value"),
            ("{\n  // guards\n}", "settings:2:3", "a comment is not JSON"),
            ("{\n  \"hooks\": {,}\n}", "settings:2:13", "it is not JSON: key must be a string"),
            ("[]", "settings:1:1", "expected an object, found an array"),
            (
                "{\"hooksConfig\":7}",
                "settings:1:16",
                "hooksConfig: expected an object, found a number",
            ),
            (
                "{\"hooksConfig\":{\"disabled\":\"x\"}}",
                "settings:1:28",
                "hooksConfig.disabled: expected an array of strings, found a string",
            ),
        ] {
            for enabled in [true, false] {
                let problem = switched(text, "x", enabled).unwrap_err();
                assert_eq!(problem.place.to_string(), place, "{text}");
                assert!(problem.message.starts_with(said), "{}", problem.message);
            }
        }
    }

    fn blanks() -> impl Strategy<Value = String> {
        "[ \\t\\r\\n]{0,4}"
    }

    /// A JSON text of a settings file, laid out at random.
    fn file() -> impl Strategy<Value = (String, usize)> {
        let name = prop_oneof![Just("x".to_owned()), "[a-z\\\\\"é\u{1}]{0,3}"];
        let item = (blanks(), name, blanks())
            .prop_map(|(before, name, after)| format!("{before}{}{after}", quoted(&name)));
        let list = proptest::collection::vec(item, 0..5);
        let member = |name: &'static str| {
            (blanks(), blanks(), blanks())
                .prop_map(move |(a, b, c)| (format!("{a}\"{name}\"{b}:{c}"), String::new()))
        };
        let numbers = proptest::collection::vec((blanks(), "[1-9][0-9]{0,30}"), 0..3);
        (
            member("hooksConfig"),
            member("disabled"),
            list,
            numbers,
            blanks(),
            any::<(bool, bool, bool)>(),
        )
            .prop_map(
                |((config, _), (disabled, _), list, numbers, blank, (has, first, null))| {
                    let mut members: Vec<String> = numbers
                        .iter()
                        .map(|(blank, number)| format!("{blank}\"maxConcurrent\":{number}"))
                        .collect();
                    let items = list.len();
                    if has {
                        let at = if first { 0 } else { members.len() };
                        let value =
                            if null { "null".to_owned() } else { format!("[{}]", list.join(",")) };
                        members.insert(at, format!("{disabled}{value}{blank}"));
                    }
                    let text = format!(
                        "{blank}{{{config}{{{}}},{blank}\"hooks\":{{}} }}",
                        members.join(",")
                    );
                    (text, if has && !null { items } else { 0 })
                },
            )
    }

    proptest! {
        #[test]
        fn on_and_off_change_the_list_alone((text, items) in file(), name in "[a-zé\"\\\\]{1,3}") {
            let names = |text: &str| parse(text, HookSource::User, None).config.disabled;
            let before = names(&text);
            let off = switched(&text, &name, false).unwrap();
            let mut expected = before.clone();
            if !expected.contains(&name) {
                expected.push(name.clone());
            }
            prop_assert_eq!(names(&off), expected, "{}", off);
            let on = switched(&off, &name, true).unwrap();
            let kept: Vec<String> = before.iter().filter(|known| **known != name).cloned().collect();
            prop_assert_eq!(names(&on), kept, "{}", on);
            if items > 0 && !before.contains(&name) {
                prop_assert_eq!(&on, &text);
            }
            // What was added is one piece: all of the old text is there around it.
            let front = text.bytes().zip(off.bytes()).take_while(|(one, other)| one == other).count();
            let end = text.len().saturating_sub(front);
            if items > 0 {
                prop_assert!(off.as_bytes().ends_with(&text.as_bytes()[text.len() - end..]));
            }
        }

        #[test]
        fn any_text_is_edited_or_refused(text in "[{}\\[\\]\",:a-z0-9\\\\ \n]{0,80}", name in ".{0,4}") {
            for enabled in [true, false] {
                if let Ok(edited) = switched(&text, &name, enabled) {
                    prop_assert!(RawJson::parse(edited).is_ok());
                }
            }
        }
    }
}
