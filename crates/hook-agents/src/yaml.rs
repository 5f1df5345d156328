//! YAML settings, as JSON: the parser's events become values. Aliases and merges are resolved, within bounds.

use std::collections::HashMap;

use hook_json::text::shortened;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

use super::edit_error::ForeignEditError;

/// The maximum depth of values, those of aliases included. Code that walks a value calls itself.
const MAX_DEPTH: usize = 100;

/// The maximum size of all anchors and aliases together, in bytes: a few lines of aliases of aliases can stand for any
/// amount of text.
const MAX_ALIASED: usize = 4 << 20;

/// Converts a document to JSON. Positions are lost.
pub(super) fn to_json(text: &str) -> Result<String, ForeignEditError> {
    let mut reader = Reader::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) =
            event.map_err(|error| mistake(text, error.marker().line(), error.info()))?;
        reader.take(event).map_err(|message| mistake(text, span.start.line(), &message))?;
    }
    match reader.document {
        None | Some(Value::Null) => Ok("{}".to_owned()),
        Some(document) => Ok(document.to_string()),
    }
}

/// Returns a mistake in a line, counted from 1.
fn mistake(text: &str, line: usize, message: &str) -> ForeignEditError {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start = lines.map(str::len).sum();
    ForeignEditError { at: start..start, message: message.to_owned() }
}

#[derive(Default)]
struct Reader {
    /// The sequences and mappings that are not complete, each with its anchor.
    open: Vec<(usize, Open)>,
    anchors: HashMap<usize, Value>,
    aliased: usize,
    document: Option<Value>,
}

enum Open {
    Sequence(Vec<Value>),
    /// Members, and a key that waits for its value.
    Mapping(Map<String, Value>, Option<String>),
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_key = matches!(self.open.last(), Some((_, Open::Mapping(_, None))));
                let value = match is_key {
                    true => Value::String(text.into_owned()),
                    false => scalar(&text, style, tag.as_deref())?,
                };
                self.add(value, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(anchor, tag.as_deref(), Open::Sequence(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                self.open(anchor, tag.as_deref(), Open::Mapping(Map::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((anchor, Open::Sequence(items))) => self.add(Value::Array(items), anchor),
                Some((anchor, Open::Mapping(members, _))) => self.add(merged(members)?, anchor),
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).ok_or("an alias of what it is in")?.clone();
                self.charge(&value)?;
                self.add(value, 0)
            }
            Event::DocumentStart(_) if self.document.is_some() => {
                Err("more than one document".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, anchor: usize, tag: Option<&Tag>, open: Open) -> Result<(), String> {
        known(tag)?;
        self.open.push((anchor, open));
        check_depth(self.open.len())
    }

    /// Adds a complete value to the innermost open one, as its item, its key, or the value of its key.
    fn add(&mut self, value: Value, anchor: usize) -> Result<(), String> {
        if anchor != 0 {
            self.charge(&value)?;
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.document = Some(value),
            Some((_, Open::Sequence(items))) => items.push(value),
            Some((_, Open::Mapping(members, key))) => match (key.take(), value) {
                // As readers of YAML have it, the last of several equal keys counts.
                (Some(name), value) => drop(members.insert(name, value)),
                (None, Value::String(name)) => *key = Some(name),
                (None, _) => return Err("a key that is no text".to_owned()),
            },
        }
        Ok(())
    }

    /// Counts a value that is kept or repeated.
    fn charge(&mut self, value: &Value) -> Result<(), String> {
        let (size, depth) = measure(value);
        self.aliased = self.aliased.saturating_add(size);
        match self.aliased > MAX_ALIASED {
            true => Err(format!("its aliases stand for more than {MAX_ALIASED} bytes")),
            false => check_depth(self.open.len() + depth),
        }
    }
}

fn check_depth(depth: usize) -> Result<(), String> {
    match depth > MAX_DEPTH {
        true => Err(format!("deeper than {MAX_DEPTH} levels")),
        false => Ok(()),
    }
}

/// Returns the size of a value, in bytes of some kind, and its depth.
fn measure(value: &Value) -> (usize, usize) {
    let sum = |total: (usize, usize), (size, depth): (usize, usize)| {
        (total.0.saturating_add(size), total.1.max(depth + 1))
    };
    match value {
        Value::String(text) => (1 + text.len(), 0),
        Value::Array(items) => items.iter().map(measure).fold((1, 1), sum),
        Value::Object(members) => {
            let sized = |(name, value): (&String, &Value)| {
                let (size, depth) = measure(value);
                (size + name.len(), depth)
            };
            members.iter().map(sized).fold((1, 1), sum)
        }
        _ => (1, 0),
    }
}

/// Returns a mapping with the members of those that it merges by `<<`, unless it has them itself.
fn merged(mut members: Map<String, Value>) -> Result<Value, String> {
    let bases = match members.shift_remove("<<") {
        None => Vec::new(),
        Some(Value::Array(bases)) => bases,
        Some(base) => vec![base],
    };
    for base in bases {
        let Value::Object(base) = base else { return Err("`<<` of what is no mapping".to_owned()) };
        for (name, value) in base {
            members.entry(name).or_insert(value);
        }
    }
    Ok(Value::Object(members))
}

/// Refuses a tag that is not one of YAML's own: only programs know what it means.
fn known(tag: Option<&Tag>) -> Result<(), String> {
    match tag.filter(|tag| !tag.is_yaml_core_schema()) {
        Some(tag) => Err(format!("the tag `{}`", shortened(&tag.to_string()))),
        None => Ok(()),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    known(tag)?;
    if style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str") {
        return Ok(Value::String(text.to_owned()));
    }
    let is_number = |text: &&str| {
        text.chars().all(|character| character.is_ascii_digit() || "+-.eE".contains(character))
    };
    let number = || {
        let text = Some(text).filter(is_number)?;
        let whole = text.parse::<i64>().map(Number::from);
        whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
    };
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number().map_or_else(|| Value::String(text.to_owned()), Value::Number),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_has_the_values_that_yaml_gives_it() {
        for (text, expected) in [
            ("", "{}"),
            ("# nothing\n---\n", "{}"),
            (
                "a: [1, -2.5, 1e3, 1.2.3, ~, null, yes, true, '5', !!str 5]",
                r#"{"a":[1,-2.5,1000.0,"1.2.3",null,null,"yes",true,"5","5"]}"#,
            ),
            ("1: x\ntrue: y\n", r#"{"1":"x","true":"y"}"#),
            ("a: >-\n  b\n  c\nd: |\n  e\n  f\n", r#"{"a":"b c","d":"e\nf\n"}"#),
            ("a: 1\na: 2\n", r#"{"a":2}"#),
            (
                "x: &x {a: 1, b: 2}\ny: *x\nz: {<<: *x, b: 3}\n",
                r#"{"x":{"a":1,"b":2},"y":{"a":1,"b":2},"z":{"b":3,"a":1}}"#,
            ),
            ("z:\n  <<: [{a: 1}, {a: 2, b: 2}]\n", r#"{"z":{"a":1,"b":2}}"#),
            ("a: \"\\u00e9\\n\"\n", r#"{"a":"é\n"}"#),
        ] {
            assert_eq!(to_json(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_its_line() {
        let deep = format!("a: {}", "[".repeat(MAX_DEPTH + 1));
        for (text, line, message) in [
            ("a: 1\nb: ]\n", 1, ""),
            ("a: 1\nb: [1\n", 2, ""),
            ("a: 1\n---\nb: 2\n", 1, "more than one document"),
            ("a: 1\nb: !python/object:x {}\n", 1, "the tag `!python/object:x`"),
            ("a: 1\n? [b]\n: 2\n", 1, "a key that is no text"),
            ("a: &a [*a]\n", 0, "an alias of what it is in"),
            ("a: 1\nb: {<<: 5}\n", 1, "`<<` of what is no mapping"),
            (&deep, 0, "deeper than 100 levels"),
        ] {
            let refused = to_json(text).unwrap_err();
            assert!(refused.message.contains(message), "{text}: {}", refused.message);
            assert_eq!(
                text[..refused.at.start].matches('\n').count(),
                line,
                "{text}: {}",
                refused.message
            );
        }
    }

    #[test]
    fn aliases_of_aliases_stand_for_no_more_than_there_is_room() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        let mut tower = "a0: &a0 [x]\n".to_owned();
        for level in 1..60 {
            let below = level - 1;
            let aliases = vec![format!("*a{below}"); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
            tower.push_str(&format!("a{level}: &a{level} [[*a{below}]]\n"));
        }
        assert!(to_json(&bomb).unwrap_err().message.contains("aliases stand for"));
        assert!(to_json(&tower).unwrap_err().message.contains("deeper than"));
    }

    proptest! {
        #[test]
        fn any_text_is_json_or_a_mistake_with_a_place(text in "[a-c:?,&*!|>'\"#%@\\-\\[\\]{}<~ \t\n\u{e9}]{0,60}") {
            match to_json(&text) {
                Ok(json) => prop_assert!(serde_json::from_str::<Value>(&json).is_ok()),
                Err(mistake) => prop_assert!(mistake.at.end <= text.len() && !mistake.message.is_empty()),
            }
        }

        #[test]
        fn no_text_is_too_odd_to_be_read(text in "\\PC{0,200}") {
            let _ = to_json(&text);
        }
    }
}
