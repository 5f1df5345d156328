//! A JSON object, read one level deep.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::read::read_entries;
use super::{JsonError, JsonKind, ObjectWriter, RawJson, RawObject};

/// A JSON object, read one level deep: its fields in order, with their values as text.
///
/// Of duplicate keys, the last value counts, at the position of the first.
#[derive(Debug, Clone, Default)]
pub struct JsonObject {
    fields: Fields,
    duplicate_key: Option<Box<str>>,
}

/// The maximum number of fields for linear search, which is faster than hashing for so few.
const MAX_LINEAR_FIELDS: usize = 16;

#[derive(Debug, Clone)]
enum Fields {
    /// At most `FEW` fields, as in nearly all objects.
    Linear(Vec<(String, RawJson)>),
    Hashed(Box<IndexMap<String, RawJson>>),
}

impl Default for Fields {
    fn default() -> Self {
        Self::Linear(Vec::new())
    }
}

impl JsonObject {
    /// Creates an object without fields.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn read(value: &RawJson) -> Result<Self, JsonError> {
        if value.kind() != JsonKind::Object {
            return Err(JsonError::not_object(value.kind()));
        }
        let mut object = Self::new();
        read_entries(value.as_str(), |name, range| {
            if let Some(repeated) = object.set(name, value.slice(range)) {
                object.duplicate_key.get_or_insert(repeated.into());
            }
        });
        Ok(object)
    }

    /// Returns a field that the text of this object repeats. Its last value is kept.
    pub fn duplicate_key(&self) -> Option<&str> {
        self.duplicate_key.as_deref()
    }

    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        match &self.fields {
            Fields::Linear(few) => {
                few.iter().find(|(known, _)| known == name).map(|(_, value)| value)
            }
            Fields::Hashed(many) => many.get(name),
        }
    }

    /// Sets a field, at its existing position or else at the end.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<RawJson>) {
        self.set(name.into(), value.into());
    }

    /// Sets a field, and returns the name if the field existed.
    fn set(&mut self, name: String, value: RawJson) -> Option<String> {
        match &mut self.fields {
            Fields::Linear(few) => {
                if let Some((_, known)) = few.iter_mut().find(|(known, _)| *known == name) {
                    *known = value;
                    return Some(name);
                }
                if few.len() < MAX_LINEAR_FIELDS {
                    few.push((name, value));
                } else {
                    let all = few.drain(..).chain([(name, value)]).collect();
                    self.fields = Fields::Hashed(Box::new(all));
                }
            }
            Fields::Hashed(many) => {
                if let Some(known) = many.get_mut(&name) {
                    *known = value;
                    return Some(name);
                }
                many.insert(name, value);
            }
        }
        None
    }

    /// Removes a field and keeps the order of the others.
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        match &mut self.fields {
            Fields::Linear(few) => {
                let index = few.iter().position(|(known, _)| known == name)?;
                Some(few.remove(index).1)
            }
            Fields::Hashed(many) => many.shift_remove(name),
        }
    }

    /// Removes fields and keeps the order of the others.
    pub fn remove_all(&mut self, names: &HashSet<&str>) {
        match &mut self.fields {
            _ if names.is_empty() => {}
            Fields::Linear(few) => few.retain(|(name, _)| !names.contains(name.as_str())),
            Fields::Hashed(many) => many.retain(|name, _| !names.contains(name.as_str())),
        }
    }

    /// Merges the fields of `changes` into this object.
    pub fn merge(&mut self, changes: &JsonObject) {
        for (name, value) in changes.iter() {
            self.insert(name, value.clone());
        }
    }

    /// Returns the number of bytes of text that the fields keep alive: the size of the largest text
    /// that one of them is part of, or of all names and values, whichever is greater.
    pub fn retained_bytes(&self) -> usize {
        let sizes = self.iter().map(|(name, value)| (name.len() + value.as_str().len(), value));
        let (own, shared) = sizes.fold((0, 0), |(own, shared), (size, value)| {
            (own + size, value.buffer_len().max(shared))
        });
        own.max(shared)
    }

    /// Returns `true` if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        match &self.fields {
            Fields::Linear(few) => few.len(),
            Fields::Hashed(many) => many.len(),
        }
    }

    /// Returns the fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        let (few, many) = match &self.fields {
            Fields::Linear(few) => (few.as_slice(), None),
            Fields::Hashed(many) => (Default::default(), Some(many)),
        };
        let few = few.iter().map(|(name, value)| (name.as_str(), value));
        let many = many.into_iter().flat_map(|many| many.iter());
        few.chain(many.map(|(name, value)| (name.as_str(), value)))
    }

    /// Returns this object as text.
    pub fn to_raw(&self) -> RawObject {
        let length: usize =
            self.iter().map(|(name, value)| name.len() + value.as_str().len() + 4).sum();
        RawObject::from_written(ObjectWriter::value(length + 2, |object| object.fields(self)))
    }
}

impl FromIterator<(String, RawJson)> for JsonObject {
    fn from_iter<T: IntoIterator<Item = (String, RawJson)>>(fields: T) -> Self {
        let mut object = Self::new();
        for (name, value) in fields {
            object.insert(name, value);
        }
        object
    }
}

/// Ignores the order of fields, and repetitions.
impl PartialEq for JsonObject {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for JsonObject {}

impl TryFrom<&serde_json::Value> for JsonObject {
    type Error = JsonError;

    fn try_from(value: &serde_json::Value) -> Result<Self, JsonError> {
        Ok(RawObject::try_from(value)?.fields())
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_duplicate_keys_wins() {
        let object = RawJson::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap().to_object().unwrap();
        assert_eq!(object.to_raw().as_str(), r#"{"a":3,"b":2}"#);
        assert_eq!(object.duplicate_key(), Some("a"));
    }

    #[test]
    fn many_fields_are_held_as_few_are() {
        let name = |number: usize| format!("field {number}");
        for count in [1, MAX_LINEAR_FIELDS, MAX_LINEAR_FIELDS + 1, 10 * MAX_LINEAR_FIELDS] {
            let fields =
                |value: u64| (0..count).map(move |number| (name(number), RawJson::from_u64(value)));
            let mut object: JsonObject = fields(1).chain(fields(2)).collect();
            assert_eq!((object.len(), object.is_empty()), (count, false));
            assert_eq!(object, fields(2).rev().collect(), "the order makes no difference");
            assert_ne!(object, fields(1).collect());
            assert_eq!(object.remove(&name(0)).unwrap().as_str(), "2");
            assert_eq!((object.len(), object.remove(&name(0))), (count - 1, None));
            let names: Vec<&str> = object.iter().map(|(name, _)| name).collect();
            let rest: Vec<String> = (1..count).map(name).collect();
            assert_eq!(names, rest, "in their order");
        }
    }
}
