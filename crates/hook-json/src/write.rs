//! Writing JSON around values that are already JSON text.

use super::depth::{MAX_LINE_DEPTH, nullify_below};
use super::line::{escape_separators, has_separator, into_string};
use super::strings::is_plain;
use super::{JsonObject, JsonText, RawJson, RawObject};
use crate::text;

/// The maximum number of fields named in a warning about values that were cut.
const MAX_NAMED_FIELDS: usize = 5;

/// A writer of one JSON object, field by field. Values that are already text are copied, not
/// parsed.
///
/// It writes a [line](Self::line) that leaves the process or a value that stays in it
/// (`RawObject::build`), or computes the [length](Self::length) of either.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut Sink,
    first: bool,
}

/// The error of a message that would have to leave out what its reader decides by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "failed to write the message: {fields} would nest deeper than its {MAX_LINE_DEPTH} levels of JSON, \
     and nothing may be missing in it; send what nests less"
)]
pub struct TooDeep {
    fields: String,
}

/// The output of a writer, with the state of the whole object.
#[derive(Debug)]
struct Sink {
    bytes: Vec<u8>,
    purpose: Purpose,
    /// The number of open arrays and objects.
    depth: usize,
    /// The fields in which something nests too deep, since the last warning about them.
    cut: Vec<String>,
    /// `true` if a warning about them would not do: the message is refused.
    is_whole: bool,
}

#[derive(Debug)]
enum Purpose {
    /// A value, at any depth.
    Value,
    /// A message that leaves the process.
    Line,
    /// The approximate number of bytes, without the bytes.
    Length(usize),
}

impl ObjectWriter<'_> {
    /// Writes one message as a line of JSON, without the line break.
    ///
    /// It has at most [`MAX_LINE_DEPTH`] levels: deeper values become `null`, and a warning in the
    /// line's field `warnings` says so, unless [`warnings`](Self::warnings) did. Characters that a
    /// terminal would interpret or hide are escaped in the strings that the engine writes, but not
    /// in JSON that passes through.
    pub fn line(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Vec<u8> {
        let mut out = Sink::new(Purpose::Line, 512);
        out.object(|object| {
            write(object);
            object.warnings_if_any::<&str>(&[]);
        });
        out.bytes
    }

    /// Writes a message whose reader decides by it, as a [line](Self::line) that lacks nothing.
    ///
    /// # Errors
    /// Returns an error if it would have more than [`MAX_LINE_DEPTH`] levels.
    pub fn whole_line(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Result<Vec<u8>, TooDeep> {
        let mut out = Sink { is_whole: true, ..Sink::new(Purpose::Line, 512) };
        out.object(write);
        match out.cut.is_empty() {
            true => Ok(out.bytes),
            false => Err(TooDeep { fields: field_names(&out.cut) }),
        }
    }

    /// Like [`line`](Self::line), but returns the warning, for readers that do not know `warnings`.
    pub fn line_and_warning(
        write: impl FnOnce(&mut ObjectWriter<'_>),
    ) -> (Vec<u8>, Option<String>) {
        let mut out = Sink::new(Purpose::Line, 512);
        out.object(write);
        let warning = (!out.cut.is_empty()).then(|| depth_warning(&out.cut));
        (out.bytes, warning)
    }

    /// Writes an object as a value, at any depth.
    pub fn value(capacity: usize, write: impl FnOnce(&mut ObjectWriter<'_>)) -> Vec<u8> {
        let mut out = Sink::new(Purpose::Value, capacity);
        out.object(write);
        out.bytes
    }

    /// Returns the approximate length of an object, in bytes, without writing it.
    pub fn length(write: impl FnOnce(&mut ObjectWriter<'_>)) -> usize {
        let mut out = Sink::new(Purpose::Length(0), 0);
        out.object(write);
        match out.purpose {
            Purpose::Length(length) => length,
            Purpose::Value | Purpose::Line => out.bytes.len(),
        }
    }

    fn separate(&mut self) {
        if !self.first {
            self.out.put(b",");
        }
        self.first = false;
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.out.string(name);
        self.out.put(b":");
    }

    /// Writes a string field.
    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.out.string(value);
    }

    /// Writes a string field whose text is already in written form.
    pub fn json_text(&mut self, name: &str, value: &JsonText) {
        self.name(name);
        self.out.put(value.normal().as_bytes());
    }

    /// Writes a string field if there is a value.
    pub fn optional_text(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// Writes a boolean field.
    pub fn bool(&mut self, name: &str, value: bool) {
        self.name(name);
        self.out.put(if value { b"true" } else { b"false" });
    }

    /// Writes an integer field.
    pub fn integer(&mut self, name: &str, value: i128) {
        self.name(name);
        self.out.put(value.to_string().as_bytes());
    }

    /// Writes a duration in milliseconds, with a fraction if it has one.
    pub fn milliseconds(&mut self, name: &str, value: std::time::Duration) {
        self.name(name);
        self.out.put(value.as_millis().to_string().as_bytes());
        let fraction = value.subsec_micros() % 1_000;
        if fraction > 0 {
            let fraction = format!(".{fraction:03}");
            self.out.put(fraction.trim_end_matches('0').as_bytes());
        }
    }

    /// Writes a field whose value is JSON text.
    pub fn raw(&mut self, name: &str, value: &RawJson) {
        // Reserves room for what usually follows, so that a large value is not copied for a brace.
        self.out.reserve(value.as_str().len() + 512);
        self.name(name);
        self.out.raw(name, value.as_str());
    }

    /// Writes a field whose value is an object.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.name(name);
        self.out.nested(name, |out| out.object(write));
    }

    /// Writes a field whose value is an array of strings.
    pub fn texts<S: AsRef<str>>(&mut self, name: &str, values: &[S]) {
        self.array(name, values, |out, value| out.string(value.as_ref()));
    }

    /// Writes a field whose value is an array of objects.
    pub fn objects<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut ObjectWriter<'_>, T),
    ) {
        self.array(name, values, |out, value| {
            out.nested(name, |out| out.object(|object| write(object, value)));
        });
    }

    fn array<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Sink, T),
    ) {
        self.name(name);
        self.out.nested(name, |out| {
            out.open(b"[");
            for (index, value) in values.into_iter().enumerate() {
                if index > 0 {
                    out.put(b",");
                }
                write(out, value);
            }
            out.close(b"]");
        });
    }

    /// Writes all fields of an object.
    pub fn fields(&mut self, fields: &JsonObject) {
        for (name, value) in fields.iter() {
            self.raw(name, value);
        }
    }

    /// Writes all fields of an object that the engine wrote, unchanged.
    pub fn written_fields(&mut self, object: &RawObject) {
        let text = object.as_str();
        let fields = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            self.separate();
            self.out.put(fields.as_bytes());
        }
    }

    /// Writes the field `warnings`: these texts, and a warning about values cut so far because they
    /// nest too deep. Call it once per message, after all fields that pass JSON through.
    pub fn warnings<S: AsRef<str>>(&mut self, warnings: &[S]) {
        let cut = match self.out.is_whole {
            true => Vec::new(),
            false => std::mem::take(&mut self.out.cut),
        };
        let depth_warning = (!cut.is_empty()).then(|| depth_warning(&cut));
        let warnings = warnings.iter().map(AsRef::as_ref).chain(depth_warning.as_deref());
        self.array("warnings", warnings, |out, text| out.string(text));
    }

    /// Writes the field [`warnings`](Self::warnings), if there are any.
    pub fn warnings_if_any<S: AsRef<str>>(&mut self, warnings: &[S]) {
        if !warnings.is_empty() || !self.out.cut.is_empty() {
            self.warnings(warnings);
        }
    }
}

impl Sink {
    fn new(purpose: Purpose, capacity: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(capacity),
            purpose,
            depth: 0,
            cut: Vec::new(),
            is_whole: false,
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        match &mut self.purpose {
            Purpose::Length(length) => *length += bytes.len(),
            Purpose::Value | Purpose::Line => self.bytes.extend_from_slice(bytes),
        }
    }

    fn reserve(&mut self, bytes: usize) {
        if !matches!(self.purpose, Purpose::Length(_)) {
            self.bytes.reserve(bytes);
        }
    }

    fn open(&mut self, bracket: &[u8]) {
        self.depth += 1;
        self.put(bracket);
    }

    fn close(&mut self, bracket: &[u8]) {
        self.depth -= 1;
        self.put(bracket);
    }

    fn object(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.open(b"{");
        write(&mut ObjectWriter { out: self, first: true });
        self.close(b"}");
    }

    /// Writes a value that opens a level of its own, or `null` if no level is left.
    fn nested(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        match self.purpose {
            Purpose::Line if self.depth >= MAX_LINE_DEPTH => {
                self.put(b"null");
                self.record_cut(name);
            }
            _ => write(self),
        }
    }

    fn raw(&mut self, name: &str, json: &str) {
        if matches!(self.purpose, Purpose::Line)
            && let Some(cut) = nullify_below(json, MAX_LINE_DEPTH.saturating_sub(self.depth))
        {
            self.put(cut.as_bytes());
            self.record_cut(name);
            return;
        }
        self.put(json.as_bytes());
    }

    fn record_cut(&mut self, name: &str) {
        if self.cut.len() <= MAX_NAMED_FIELDS && !self.cut.iter().any(|known| known == name) {
            self.cut.push(name.to_owned());
        }
    }

    fn string(&mut self, value: &str) {
        match &mut self.purpose {
            Purpose::Length(length) => *length += value.len() + 2,
            // Names and most other short strings.
            Purpose::Value | Purpose::Line if is_plain(value.as_bytes()) => {
                self.bytes.reserve(value.len() + 2);
                self.bytes.push(b'"');
                self.bytes.extend_from_slice(value.as_bytes());
                self.bytes.push(b'"');
            }
            Purpose::Value => write_string(&mut self.bytes, value),
            Purpose::Line => {
                let start = self.bytes.len();
                write_string(&mut self.bytes, value);
                if text::has_hidden(value) {
                    let written = into_string(self.bytes.split_off(start));
                    self.bytes.extend_from_slice(text::escaped_json(&written).as_bytes());
                }
            }
        }
    }
}

impl TooDeep {
    /// Checks a value that a message holds whole, as its field of this name.
    ///
    /// # Errors
    /// Returns an error if the message would have more than [`MAX_LINE_DEPTH`] levels.
    pub fn check(name: &str, value: &RawJson) -> Result<(), Self> {
        match nullify_below(value.as_str(), MAX_LINE_DEPTH - 1) {
            None => Ok(()),
            Some(_) => Err(Self { fields: field_names(&[name.to_owned()]) }),
        }
    }
}

/// Returns the warning about fields in which something nests too deep for a line.
fn depth_warning(fields: &[String]) -> String {
    format!(
        "more than {MAX_LINE_DEPTH} levels of JSON: what nests deeper in {} is null here",
        field_names(fields)
    )
}

/// Returns the names of the first of these fields.
fn field_names(fields: &[String]) -> String {
    let names: Vec<String> = fields
        .iter()
        .take(MAX_NAMED_FIELDS)
        .map(|name| format!("`{}`", text::shortened(name)))
        .collect();
    let more = if fields.len() > MAX_NAMED_FIELDS { " and more" } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Writes a string. Quotes, backslashes and all line breaks are escaped.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    // Writing to memory cannot fail, and every string has a JSON form.
    let _ = serde_json::to_writer(&mut *out, text);
    if !text.is_ascii() && has_separator(text) {
        let written = into_string(out.split_off(start));
        out.extend_from_slice(escape_separators(&written).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn line(write: impl FnOnce(&mut ObjectWriter<'_>)) -> String {
        into_string(ObjectWriter::line(write))
    }

    fn deep(levels: usize) -> RawJson {
        RawJson::parse(format!("{}{}", "[".repeat(levels), "]".repeat(levels))).unwrap()
    }

    #[test]
    fn milliseconds_have_a_fraction_only_where_needed() {
        for (micros, expected) in [(0, "0"), (12_000, "12"), (1_500, "1.5"), (7, "0.007")] {
            let written = line(|out| out.milliseconds("ms", Duration::from_micros(micros)));
            assert_eq!(written, format!("{{\"ms\":{expected}}}"));
        }
    }

    #[test]
    fn a_line_has_a_hundred_levels_and_says_what_it_left_out() {
        let written = line(|out| out.raw("a", &deep(99)));
        assert_eq!(written, format!("{{\"a\":{}}}", deep(99)));
        let written = line(|out| {
            out.object("b", |out| out.raw("c\n", &deep(99)));
            out.bool("d", true);
        });
        let cut = format!("{}null{}", "[".repeat(98), "]".repeat(98));
        assert_eq!(
            written,
            format!(
                "{{\"b\":{{\"c\\n\":{cut}}},\"d\":true,\"warnings\":[\"more than 100 levels of JSON: \
                 what nests deeper in `c\\\\n` is null here\"]}}"
            )
        );
    }

    #[test]
    fn a_whole_line_is_written_with_all_that_it_has_or_not_at_all() {
        let whole = |levels| {
            ObjectWriter::whole_line(|out| {
                out.raw("a", &deep(levels));
                out.warnings_if_any::<&str>(&[]);
            })
        };
        assert_eq!(into_string(whole(99).unwrap()), format!("{{\"a\":{}}}", deep(99)));
        let error = whole(100).unwrap_err();
        assert!(error.to_string().contains("`a` would nest deeper than its 100 levels"), "{error}");
        assert_eq!(TooDeep::check("a", &deep(99)), Ok(()));
        assert_eq!(TooDeep::check("a", &deep(100)), Err(error));
    }

    #[test]
    fn a_message_in_a_line_says_itself_what_it_left_out() {
        let written = line(|out| {
            out.object("message", |out| {
                out.raw("a", &deep(200));
                out.warnings(&["w"]);
            });
        });
        assert!(written.ends_with("is null here\"]}}"), "{written}");
        assert!(written.contains("\"warnings\":[\"w\",\"more than"), "{written}");
    }

    #[test]
    fn however_deep_objects_are_written_a_line_is_not_deeper() {
        fn write(out: &mut ObjectWriter<'_>, levels: usize) {
            if levels > 0 {
                out.objects("a", [()], |out, ()| write(out, levels - 1));
            }
        }
        let written = line(|out| write(out, 80));
        assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok());
        assert!(written.contains("[null]"), "{written}");
    }

    #[test]
    fn a_length_is_that_of_what_would_be_written() {
        let write = |out: &mut ObjectWriter<'_>| {
            out.text("a", "b");
            out.objects("c", [1, 2], |out, value| out.integer("d", value));
            out.raw("e", &deep(200));
        };
        assert_eq!(ObjectWriter::length(write), ObjectWriter::value(0, write).len());
    }

    #[test]
    fn what_is_hidden_in_our_own_strings_is_escaped_in_lines() {
        let text = "a\u{7f}\u{202e}\u{e0041}";
        let written = line(|out| out.text(text, text));
        let escaped = "\"a\\u007f\\u202e\\udb40\\udc41\"";
        assert_eq!(written, format!("{{{escaped}:{escaped}}}"));
    }
}
