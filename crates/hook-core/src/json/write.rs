//! Writing JSON around text that is already JSON.

use super::line::{has_separator, without_separators};
use super::{JsonObject, JsonText, RawJson};

/// Writes one JSON object field by field; values that are text already are copied, not parsed.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Writes the opening brace to `out`.
    pub fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    /// Writes the closing brace.
    pub fn end(self) {
        self.out.push(b'}');
    }

    fn name(&mut self, name: &str) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        write_string(self.out, name);
        self.out.push(b':');
    }

    /// Writes a string field.
    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        write_string(self.out, value);
    }

    /// Writes a string field whose text is written already.
    pub fn json_text(&mut self, name: &str, value: &JsonText) {
        self.name(name);
        value.write(self.out);
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
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes an integer field.
    pub fn integer(&mut self, name: &str, value: i128) {
        self.name(name);
        self.out.extend_from_slice(value.to_string().as_bytes());
    }

    /// Writes a duration in milliseconds: an integer where it is one, else with a fraction.
    pub fn milliseconds(&mut self, name: &str, value: std::time::Duration) {
        let micros = value.as_micros();
        self.name(name);
        let text = match micros % 1_000 {
            0 => (micros / 1_000).to_string(),
            fraction => format!("{}.{fraction:03}", micros / 1_000),
        };
        let text = if text.contains('.') { text.trim_end_matches('0') } else { &text };
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes a field whose value is JSON text.
    pub fn raw(&mut self, name: &str, value: &RawJson) {
        // With room for what usually follows, so that a large value is not copied for a brace.
        self.out.reserve(value.as_str().len() + 512);
        self.name(name);
        self.out.extend_from_slice(value.as_str().as_bytes());
    }

    /// Writes a field whose value is an object.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.name(name);
        let mut inner = ObjectWriter::begin(self.out);
        write(&mut inner);
        inner.end();
    }

    /// Writes a field whose value is an array of strings.
    pub fn texts<S: AsRef<str>>(&mut self, name: &str, values: &[S]) {
        self.array(name, values, |out, value| write_string(out, value.as_ref()));
    }

    /// Writes a field whose value is an array of objects.
    pub fn objects<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut ObjectWriter<'_>, T),
    ) {
        self.array(name, values, |out, value| {
            let mut inner = ObjectWriter::begin(out);
            write(&mut inner, value);
            inner.end();
        });
    }

    fn array<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.name(name);
        self.out.push(b'[');
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            write(self.out, value);
        }
        self.out.push(b']');
    }

    /// Writes all fields of an object.
    pub fn fields(&mut self, fields: &JsonObject) {
        for (name, value) in fields.iter() {
            self.raw(name, value);
        }
    }
}

/// Writes a string: quotes, backslashes and everything that ends a line are escaped.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    // Writing to memory cannot fail, and a string always has a JSON form.
    let _ = serde_json::to_writer(&mut *out, text);
    if !text.is_ascii() && has_separator(text) {
        let written = into_string(out.split_off(start));
        out.extend_from_slice(without_separators(&written).as_bytes());
    }
}

/// What the writer wrote, as text. Only ever given whole strings, it wrote valid UTF-8.
pub(super) fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn milliseconds_have_a_fraction_only_where_needed() {
        for (micros, expected) in [(0, "0"), (12_000, "12"), (1_500, "1.5"), (7, "0.007")] {
            let mut out = Vec::new();
            let mut object = ObjectWriter::begin(&mut out);
            object.milliseconds("ms", Duration::from_micros(micros));
            object.end();
            assert_eq!(into_string(out), format!("{{\"ms\":{expected}}}"));
        }
    }
}
