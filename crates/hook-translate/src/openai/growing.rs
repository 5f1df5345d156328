//! An object that grows with each chunk of a stream.

use std::collections::HashMap;

use hook_json::{JsonKind, JsonObject, RawJson};

use crate::TranslateError;

/// The maximum depth at which fields are joined, deeper than those of chunks.
const MAX_DEPTH: usize = 8;

/// Fields that every chunk repeats in full. All other strings of a delta are pieces of text.
const REPEATED: [&str; 4] = ["role", "id", "type", "name"];

/// Fields whose values grow. For others the last value counts.
const GROWING: [&str; 2] = ["delta", "logprobs"];

/// The fields of all chunks so far, joined.
#[derive(Debug, Default)]
pub(super) struct Growing {
    fields: Vec<(String, Value)>,
    positions: HashMap<String, usize>,
}

#[derive(Debug)]
enum Value {
    /// A string, joined from pieces.
    Text(String),
    Fields(Growing),
    Items(Items),
    /// The last value.
    Last(RawJson),
}

/// A list whose elements have an `index`, or follow each other.
#[derive(Debug, Default)]
struct Items {
    items: Vec<Item>,
    positions: HashMap<String, usize>,
}

#[derive(Debug)]
enum Item {
    Numbered(u64, Growing),
    Whole(RawJson),
}

impl Growing {
    /// Adds the fields of a chunk.
    pub(super) fn add(&mut self, fields: &JsonObject) {
        self.add_at(fields, false, 0);
    }

    fn add_at(&mut self, fields: &JsonObject, grows: bool, depth: usize) {
        for (name, value) in fields.iter() {
            let position = self.positions.get(name).copied().unwrap_or_else(|| {
                self.positions.insert(name.to_owned(), self.fields.len());
                self.fields.push((name.to_owned(), Value::Last(value.clone())));
                self.fields.len() - 1
            });
            let grows = (grows || GROWING.contains(&name)) && !REPEATED.contains(&name);
            self.fields[position].1.add(value, grows, depth);
        }
    }

    /// Returns the joined fields.
    pub(super) fn joined(self) -> Result<JsonObject, TranslateError> {
        let field = |(name, value): (String, Value)| Ok((name, value.joined()?));
        self.fields.into_iter().map(field).collect()
    }
}

impl Value {
    fn add(&mut self, value: &RawJson, grows: bool, depth: usize) {
        match value.kind() {
            // A null field of a chunk keeps the previous value.
            JsonKind::Null => {}
            JsonKind::String if grows => {
                let text = value.to_text().unwrap_or_default();
                match self {
                    Self::Text(joined) => joined.push_str(&text),
                    _ => *self = Self::Text(text),
                }
            }
            // Some servers repeat a field with an empty value.
            JsonKind::String if value.as_str() == "\"\"" => {}
            JsonKind::Object if depth < MAX_DEPTH => {
                if !matches!(self, Self::Fields(_)) {
                    *self = Self::Fields(Growing::default());
                }
                if let Self::Fields(joined) = self {
                    joined.add_at(&value.to_object().unwrap_or_default(), grows, depth + 1);
                }
            }
            JsonKind::Array if depth < MAX_DEPTH => self.add_items(value, grows, depth),
            _ => *self = Self::Last(value.clone()),
        }
    }

    fn add_items(&mut self, value: &RawJson, grows: bool, depth: usize) {
        let items = value.to_items().unwrap_or_default();
        let fields: Vec<Option<(RawJson, JsonObject)>> = items.iter().map(numbered).collect();
        if !grows && fields.iter().any(Option::is_none) {
            *self = Self::Last(value.clone());
            return;
        }
        if !matches!(self, Self::Items(_)) {
            *self = Self::Items(Items::default());
        }
        if let Self::Items(joined) = self {
            for (item, numbered) in items.into_iter().zip(fields) {
                joined.add(item, numbered, grows, depth);
            }
        }
    }

    fn joined(self) -> Result<RawJson, TranslateError> {
        Ok(match self {
            Self::Text(text) => RawJson::from_text(&text),
            Self::Fields(fields) => fields.joined()?.to_raw().into(),
            Self::Items(items) => items.joined()?,
            Self::Last(value) => value,
        })
    }
}

impl Items {
    fn add(
        &mut self,
        item: RawJson,
        numbered: Option<(RawJson, JsonObject)>,
        grows: bool,
        depth: usize,
    ) {
        let Some((number, fields)) = numbered else {
            self.items.push(Item::Whole(item));
            return;
        };
        let key = number.as_str();
        let position = self.positions.get(key).copied().unwrap_or_else(|| {
            self.positions.insert(key.to_owned(), self.items.len());
            let number = number.to_u64().unwrap_or(u64::MAX);
            self.items.push(Item::Numbered(number, Growing::default()));
            self.items.len() - 1
        });
        if let Some(Item::Numbered(_, joined)) = self.items.get_mut(position) {
            joined.add_at(&fields, grows, depth + 1);
        }
    }

    /// Returns the elements by number, those without one last.
    fn joined(mut self) -> Result<RawJson, TranslateError> {
        self.items.sort_by_key(|item| match item {
            Item::Numbered(number, _) => *number,
            Item::Whole(_) => u64::MAX,
        });
        let item = |item| match item {
            Item::Numbered(_, fields) => Ok(fields.joined()?.to_raw().into()),
            Item::Whole(item) => Ok(item),
        };
        let items = self.items.into_iter().map(item).collect::<Result<Vec<_>, TranslateError>>()?;
        Ok(RawJson::from_items(&items))
    }
}

/// Returns the `index` of an element and all its fields.
fn numbered(item: &RawJson) -> Option<(RawJson, JsonObject)> {
    let fields = item.to_object().ok()?;
    let number = fields.get("index").filter(|number| number.kind() == JsonKind::Number)?.clone();
    Some((number, fields))
}
