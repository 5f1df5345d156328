//! An object read one level deep.

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::read::read_entries;
use super::{JsonError, JsonKind, ObjectWriter, RawJson, RawObject};

/// A JSON object one level deep: its fields in order, their values as text.
///
/// The last of duplicate keys wins, at the place of the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonObject {
    /// Absent while there are no fields: most objects that inputs and outputs carry are empty.
    fields: Option<Box<Fields>>,
}

#[derive(Debug, Clone, Default)]
struct Fields {
    by_name: IndexMap<String, RawJson>,
    repeated: Option<Box<str>>,
}

/// Two objects are equal if they have the same fields, however often one was written.
impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.by_name == other.by_name
    }
}

impl Eq for Fields {}

impl JsonObject {
    /// An object without fields.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn read(value: &RawJson) -> Result<Self, JsonError> {
        if value.kind() != JsonKind::Object {
            return Err(JsonError::new(format!("expected an object, found {}", value.kind())));
        }
        let mut fields = Fields::default();
        read_entries(value.as_str(), |name, range| {
            let (index, earlier) = fields.by_name.insert_full(name, value.slice(range));
            if earlier.is_some() && fields.repeated.is_none() {
                fields.repeated = fields.by_name.get_index(index).map(|(name, _)| name[..].into());
            }
        });
        Ok(Self::of(fields))
    }

    fn of(fields: Fields) -> Self {
        Self { fields: (!fields.by_name.is_empty()).then(|| Box::new(fields)) }
    }

    /// A field that the text of this object has several times, with the last value here.
    pub fn repeated(&self) -> Option<&str> {
        self.fields.as_ref()?.repeated.as_deref()
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.as_ref()?.by_name.get(name)
    }

    /// Sets a field, in its place if it is there, else at the end.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<RawJson>) {
        self.fields.get_or_insert_default().by_name.insert(name.into(), value.into());
    }

    /// Removes a field and keeps the order of the others.
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        let fields = self.fields.as_mut()?;
        let removed = fields.by_name.shift_remove(name);
        if fields.by_name.is_empty() {
            self.fields = None;
        }
        removed
    }

    /// Lays the fields of `changes` over this object.
    pub fn overlay(&mut self, changes: &JsonObject) {
        for (name, value) in changes.iter() {
            self.insert(name, value.clone());
        }
    }

    /// How many bytes of text the fields keep alive: those of the largest text that one of them is
    /// a part of, or of all names and values, whichever is more.
    pub fn retained_bytes(&self) -> usize {
        let sizes = self.iter().map(|(name, value)| (name.len() + value.as_str().len(), value));
        let (own, shared) = sizes.fold((0, 0), |(own, shared), (size, value)| {
            (own + size, value.buffer_length().max(shared))
        });
        own.max(shared)
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_none()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.as_ref().map_or(0, |fields| fields.by_name.len())
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.fields
            .iter()
            .flat_map(|fields| fields.by_name.iter())
            .map(|(name, value)| (name.as_str(), value))
    }

    /// This object as text.
    pub fn to_raw(&self) -> RawObject {
        let length: usize =
            self.iter().map(|(name, value)| name.len() + value.as_str().len() + 4).sum();
        RawObject::from_written(ObjectWriter::value(length + 2, |object| object.fields(self)))
    }
}

impl FromIterator<(String, RawJson)> for JsonObject {
    fn from_iter<T: IntoIterator<Item = (String, RawJson)>>(fields: T) -> Self {
        Self::of(Fields { by_name: fields.into_iter().collect(), repeated: None })
    }
}

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
        assert_eq!(object.repeated(), Some("a"));
    }
}
