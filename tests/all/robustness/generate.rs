//! Bytes that nobody would write, and bytes that somebody nearly did.

use std::fmt;

use hook_tests::workspace;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

/// Bytes from outside; a failing case shows them as text.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    /// The bytes as the engine reads them.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

/// JSON as the engine passes it on: the same, but on one line.
pub(super) fn one_line(json: &str) -> String {
    json.replace(['\t', '\r', '\n'], " ")
        .replace('\u{85}', "\\u0085")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// A JSON text in parts, so that it can be changed and still be JSON.
#[derive(Clone, PartialEq)]
pub(super) enum Tree {
    /// The text of what has no parts.
    Leaf(String),
    List(Vec<Tree>),
    /// Names may occur twice.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    pub(super) fn text(text: &str) -> Self {
        Self::Leaf(Value::from(text).to_string())
    }

    pub(super) fn object<const N: usize>(fields: [(&str, Tree); N]) -> Self {
        Self::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The fields of an object; of anything else none.
    pub(super) fn fields(&self) -> &[(String, Tree)] {
        match self {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    /// The value of a field: of duplicates the last.
    pub(super) fn get(&self, name: &str) -> Option<&Tree> {
        self.fields().iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Whether a field is there several times.
    pub(super) fn repeats_a_field(&self) -> bool {
        let mut names = std::collections::HashSet::new();
        self.fields().iter().any(|(name, _)| !names.insert(name))
    }

    /// Changes the entry of a list or an object that stands at that place of the whole text.
    fn edit(&mut self, place: &mut usize, edit: &Edit) -> bool {
        match self {
            Self::Leaf(_) => false,
            Self::List(items) => edit_entries(items, |item| item, |_, _| {}, place, edit),
            Self::Object(fields) => {
                let rename = |field: &mut (String, Tree), name: &str| field.0 = name.to_owned();
                edit_entries(fields, |field| &mut field.1, rename, place, edit)
            }
        }
    }

    fn entries(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::List(items) => items.iter().map(|item| 1 + item.entries()).sum(),
            Self::Object(fields) => fields.iter().map(|(_, value)| 1 + value.entries()).sum(),
        }
    }
}

fn edit_entries<T: Clone>(
    entries: &mut Vec<T>,
    value: impl Fn(&mut T) -> &mut Tree,
    rename: impl Fn(&mut T, &str),
    place: &mut usize,
    edit: &Edit,
) -> bool {
    for index in 0..entries.len() {
        if *place == 0 {
            match edit {
                Edit::Replace(tree) => *value(&mut entries[index]) = tree.clone(),
                Edit::Remove => drop(entries.remove(index)),
                Edit::Repeat => entries.insert(index, entries[index].clone()),
                Edit::Rename(name) => rename(&mut entries[index], name),
            }
            return true;
        }
        *place -= 1;
        if value(&mut entries[index]).edit(place, edit) {
            return true;
        }
    }
    false
}

impl fmt::Display for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(text) => formatter.write_str(text),
            Self::List(items) => {
                formatter.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(formatter, "{}{item}", if index > 0 { ", " } else { "" })?;
                }
                formatter.write_str("]")
            }
            Self::Object(fields) => {
                formatter.write_str("{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index > 0 { ",\n" } else { "" };
                    write!(formatter, "{comma}{}: {value}", Value::from(name.as_str()))?;
                }
                formatter.write_str("}")
            }
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| (name.clone(), Self::from(value));
                Self::Object(fields.iter().map(field).collect())
            }
            leaf => Self::Leaf(leaf.to_string()),
        }
    }
}

/// Numbers and strings that are JSON and that a reader may stumble over.
const ODD_LEAVES: &[&str] = &[
    "0",
    "-0",
    "1",
    "5000.0",
    "5e3",
    "1.10e400",
    "-1e-400",
    "0.1e+0007",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890.0",
    "\" \"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800x\"",
    "\"\\ud83d\\ude00\"",
    "\"\u{feff}\u{85}\u{2028}😀\"",
    "\"{\\\"decision\\\":\\\"deny\\\"}\"",
    "\"\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
    "[]",
    "{}",
];

fn leaf(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(words).prop_map(|word| Value::from(word).to_string()),
        2 => select(&["null", "true", "false"][..]).prop_map(str::to_owned),
        3 => select(ODD_LEAVES).prop_map(str::to_owned),
        1 => Just("\"\"".to_owned()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => "\\PC{0,12}".prop_map(|text| Value::from(text).to_string()),
        1 => (1_000..5_000_usize).prop_map(|length| format!("\"{}\"", "x".repeat(length))),
    ]
}

fn name(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![
        12 => select(words).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
    ]
}

/// JSON whose names and strings are mostly these words.
pub(super) fn tree(words: &'static [&'static str]) -> BoxedStrategy<Tree> {
    let leaf = leaf(words).prop_map(Tree::Leaf);
    let inner = leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::List),
            3 => prop::collection::vec((name(words), inner), 0..6).prop_map(Tree::Object),
        ]
    });
    inner.boxed()
}

/// An object whose names are mostly these words.
pub(super) fn object(words: &'static [&'static str]) -> BoxedStrategy<Tree> {
    prop::collection::vec((name(words), tree(words)), 0..8).prop_map(Tree::Object).boxed()
}

#[derive(Debug, Clone)]
enum Edit {
    Replace(Tree),
    Remove,
    Repeat,
    Rename(String),
}

/// JSON that was right, with a few entries replaced, removed, repeated or renamed.
pub(super) fn altered(
    originals: Vec<Tree>,
    words: &'static [&'static str],
) -> impl Strategy<Value = Tree> {
    let edit = prop_oneof![
        3 => tree(words).prop_map(Edit::Replace),
        1 => Just(Edit::Remove),
        1 => Just(Edit::Repeat),
        1 => name(words).prop_map(Edit::Rename),
    ];
    let edits = prop::collection::vec((any::<Index>(), edit), 0..5);
    (select(originals), edits).prop_map(|(mut tree, edits)| {
        for (place, edit) in edits {
            let entries = tree.entries();
            if entries > 0 {
                tree.edit(&mut place.index(entries), &edit);
            }
        }
        tree
    })
}

/// What JSON is made of, what it must not be made of, and what is no text at all.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\u",
    b"\\ud800",
    b"\\u0000",
    b"null",
    b"true",
    b"false",
    b"-",
    b"0",
    b"1e9",
    b".",
    b" ",
    b"\n",
    b"\r\n",
    b"\t",
    b"//",
    b"'",
    b"=",
    b"/",
    b"\0",
    b"\x1b[31m",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
];

/// Any bytes, mostly pieces of JSON and these words.
pub(super) fn bytes(words: &'static [&'static str]) -> impl Strategy<Value = Bytes> {
    let piece = prop_oneof![
        6 => select(PIECES).prop_map(<[u8]>::to_vec),
        3 => select(words).prop_map(|word| Value::from(word).to_string().into_bytes()),
        1 => select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| Bytes(pieces.concat()))
}

#[derive(Debug, Clone)]
enum Damage {
    Delete(Index, Index),
    Repeat(Index, Index),
    Overwrite(Index, u8),
    Insert(Index, &'static [u8]),
    Cut(Index),
    /// What comes after one place is from after a place in another text.
    Splice(Index, Index),
}

impl Damage {
    fn apply(self, bytes: &mut Vec<u8>, other: &[u8]) {
        let place = |index: Index| index.index(bytes.len() + 1);
        let range = |one, end| {
            let (one, end): (usize, usize) = (place(one), place(end));
            // Short ones, or little of the text would be left.
            one.min(end)..one.max(end).min(one.min(end) + 40)
        };
        match self {
            Self::Delete(one, end) => drop(bytes.drain(range(one, end))),
            Self::Repeat(one, end) => {
                let range = range(one, end);
                let repeated = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, repeated);
            }
            Self::Overwrite(at, new) => {
                let at = at.index(bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = new;
                }
            }
            Self::Insert(at, piece) => {
                let at = place(at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
            Self::Splice(at, from) => {
                bytes.truncate(at.index(bytes.len() + 1));
                bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
        }
    }
}

/// Bytes that were right, with a few places damaged.
pub(super) fn damaged(originals: Vec<Vec<u8>>) -> impl Strategy<Value = Bytes> {
    let damage = prop_oneof![
        2 => any::<(Index, Index)>().prop_map(|(one, end)| Damage::Delete(one, end)),
        2 => any::<(Index, Index)>().prop_map(|(one, end)| Damage::Repeat(one, end)),
        2 => any::<(Index, u8)>().prop_map(|(at, byte)| Damage::Overwrite(at, byte)),
        4 => (any::<Index>(), select(PIECES)).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        1 => any::<Index>().prop_map(Damage::Cut),
        1 => any::<(Index, Index)>().prop_map(|(at, from)| Damage::Splice(at, from)),
    ];
    let damages = prop::collection::vec(damage, 0..5);
    (select(originals.clone()), damages, select(originals)).prop_map(
        |(mut bytes, damages, other)| {
            for damage in damages {
                damage.apply(&mut bytes, &other);
            }
            Bytes(bytes)
        },
    )
}

/// The lines of a file of the workspace, each a JSON value.
pub(super) fn lines_of(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(workspace().join(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The recorded cases with real hooks: settings, events and inputs.
pub(super) fn recorded_cases() -> Vec<Value> {
    lines_of("tests/conformance/pipeline.jsonl")
}

/// The requests of the example session, which has every event.
pub(super) fn example_requests() -> Vec<Value> {
    lines_of("docs/examples/agent-session/session.jsonl")
}
