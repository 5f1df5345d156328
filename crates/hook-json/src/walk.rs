//! Reading several levels of a value in one pass.

use super::read::{plain_string, read_string};
use super::scan::Scanner;
use super::{JsonKind, JsonSlice, RawJson};

/// A walk through a value, which starts before the value itself.
///
/// [`RawJson::to_object`] and [`RawJson::to_items`] read one level and skip the values inside; to
/// look into those, the text is scanned again. If the form is known several levels deep, a walk
/// reads all of it once.
#[derive(Debug)]
pub struct JsonWalk<'v> {
    whole: &'v RawJson,
    scanner: Scanner<'v>,
}

impl<'v> JsonWalk<'v> {
    /// Starts before the value at `start` of the text of `whole`.
    pub(super) fn new(whole: &'v RawJson, start: usize) -> Self {
        Self { whole, scanner: Scanner::at_value(whole.as_str(), start) }
    }

    /// Returns the kind of the value ahead.
    pub fn kind(&self) -> JsonKind {
        self.scanner.peek().map_or(JsonKind::Null, JsonKind::of_first_byte)
    }

    /// Skips the value ahead, and returns it.
    pub fn value(&mut self) -> JsonSlice<'v> {
        let start = self.scanner.at();
        let range = self.scanner.value().unwrap_or(start..start);
        JsonSlice::new(self.whole, range)
    }

    /// Walks through the object ahead. `take` gets each name, and the walk before its value, which
    /// it may skip or walk through. Any other value has no entries.
    pub fn entries(&mut self, mut take: impl FnMut(&mut Self, &str)) -> JsonSlice<'v> {
        if self.kind() != JsonKind::Object {
            return self.value();
        }
        let start = self.scanner.at();
        self.scanner.enter();
        while let Some(key) = self.scanner.next_key() {
            let ahead = self.scanner.at();
            let written = self.whole.as_str().get(key).unwrap_or_default();
            match plain_string(written) {
                Some(name) => take(self, name),
                None => take(self, &read_string(written)),
            }
            if !self.ensure_past(ahead) {
                break;
            }
        }
        self.finish(start)
    }

    /// Walks through the array ahead. `take` gets each index, and the walk before the element. Any
    /// other value has no elements.
    pub(crate) fn items(&mut self, mut take: impl FnMut(&mut Self, usize)) -> JsonSlice<'v> {
        if self.kind() != JsonKind::Array {
            return self.value();
        }
        let start = self.scanner.at();
        self.scanner.enter();
        for position in 0.. {
            if self.scanner.skip_to_entry().is_none() {
                break;
            }
            let ahead = self.scanner.at();
            take(self, position);
            if !self.ensure_past(ahead) {
                break;
            }
        }
        self.finish(start)
    }

    /// Skips the value at `ahead`, if `take` did not; `false` if there is no JSON.
    fn ensure_past(&mut self, value_start: usize) -> bool {
        self.scanner.at() > value_start || self.scanner.value().is_some()
    }

    /// Leaves the array or object that began at `start`, and returns it.
    fn finish(&mut self, start: usize) -> JsonSlice<'v> {
        self.scanner.leave();
        JsonSlice::new(self.whole, start..self.scanner.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_sees_what_reading_level_by_level_sees() {
        let text = "{ \"a\" : [ {\"b\\u0063\": \"]\"} , 1.50, [] ],\"d\":{ },\"e\" :null }";
        let value = RawJson::parse(text).unwrap();
        let mut seen = Vec::new();
        let whole = value.walk().entries(|walk, name| {
            seen.push(name.to_owned());
            if name == "a" {
                let list = walk.items(|walk, position| {
                    seen.push(format!("{position} {}", walk.kind()));
                    let item = walk.entries(|_, name| seen.push(name.to_owned()));
                    seen.push(item.as_str().to_owned());
                });
                seen.push(list.as_str().to_owned());
            }
        });
        assert_eq!(whole.as_str(), text);
        assert_eq!(
            seen,
            [
                "a",
                "0 an object",
                "bc",
                "{\"b\\u0063\": \"]\"}",
                "1 a number",
                "1.50",
                "2 an array",
                "[]",
                "[ {\"b\\u0063\": \"]\"} , 1.50, [] ]",
                "d",
                "e",
            ],
        );
    }
}
