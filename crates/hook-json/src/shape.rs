//! Reading a JSON object into a typed value, field by field, with errors that name the field.

use std::borrow::Cow;

use crate::text::shortened;
use crate::{JsonKind, JsonObject, JsonSlice, JsonText, JsonWalk, RawJson, RawObject};

/// An error about a JSON value with the wrong shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `{path}`: expected {expected}, found {found}")]
pub struct ShapeError {
    path: String,
    expected: &'static str,
    found: String,
}

impl ShapeError {
    /// Creates an error at `path`, such as `messages[2].content`.
    pub fn new(
        path: impl Into<String>,
        expected: &'static str,
        found: impl std::fmt::Display,
    ) -> Self {
        Self { path: path.into(), expected, found: found.to_string() }
    }

    /// Returns the offending field, such as `messages[2].content`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the expected value.
    pub fn expected(&self) -> &'static str {
        self.expected
    }

    /// Returns the actual value.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the same error about another field.
    pub fn with_path(mut self, name: &str) -> Self {
        name.clone_into(&mut self.path);
        self
    }

    /// Returns the same error as seen from the value that contains the wrong one. An error about
    /// the wrong value itself has an empty path before.
    pub fn within(mut self, parent: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{parent}{separator}{}", self.path);
        self
    }
}

/// A reader that takes the known fields out of an object, and leaves the unknown ones.
///
/// `null` means absence everywhere (reference/messages.md), except in a field that can have any value.
#[derive(Debug)]
pub struct FieldReader {
    fields: JsonObject,
}

impl FieldReader {
    /// Creates a reader of an object.
    pub fn new(fields: JsonObject) -> Self {
        Self { fields }
    }

    /// Takes all remaining fields.
    pub fn take_rest(&mut self) -> JsonObject {
        std::mem::take(&mut self.fields)
    }

    /// Returns the remaining fields.
    pub fn into_rest(self) -> JsonObject {
        self.fields
    }

    /// Uses an older name for a field that is absent under its own name.
    pub fn alias(&mut self, older: &str, name: &str) {
        if self.fields.get(name).is_none_or(RawJson::is_null)
            && let Some(value) = self.fields.remove(older)
        {
            self.fields.insert(name, value);
        }
    }

    /// Takes a field with any value, including `null`.
    pub fn any(&mut self, name: &str) -> Option<RawJson> {
        self.fields.remove(name)
    }

    fn take<T>(
        &mut self,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(&RawJson) -> Option<T>,
    ) -> Result<Option<T>, ShapeError> {
        match self.fields.remove(name) {
            None => Ok(None),
            Some(value) if value.is_null() => Ok(None),
            Some(value) => match read(&value) {
                Some(read) => Ok(Some(read)),
                None => Err(ShapeError::new(name, expected, value.kind())),
            },
        }
    }

    /// Takes a string, if there is one.
    ///
    /// # Errors
    /// If the field is something else.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, ShapeError> {
        self.take(name, "a string", RawJson::to_text)
    }

    /// Takes a boolean, if there is one.
    ///
    /// # Errors
    /// If the field is something else.
    pub fn bool(&mut self, name: &str) -> Result<Option<bool>, ShapeError> {
        self.take(name, "a boolean", RawJson::to_bool)
    }

    /// Takes a number as its text, if there is one.
    ///
    /// # Errors
    /// If the field is something else.
    pub fn number(&mut self, name: &str) -> Result<Option<RawJson>, ShapeError> {
        self.of_kind(name, JsonKind::Number, "a number")
    }

    /// Takes a value of one kind as its text, if there is one.
    ///
    /// # Errors
    /// If the field is of another kind.
    pub fn of_kind(
        &mut self,
        name: &str,
        kind: JsonKind,
        expected: &'static str,
    ) -> Result<Option<RawJson>, ShapeError> {
        self.take(name, expected, |value| (value.kind() == kind).then(|| value.clone()))
    }

    /// Takes an object, if there is one.
    ///
    /// # Errors
    /// If the field is something else.
    pub fn object(&mut self, name: &str) -> Result<Option<RawObject>, ShapeError> {
        self.take(name, "an object", |value| RawObject::try_from(value.clone()).ok())
    }

    /// Takes an array, if there is one.
    ///
    /// # Errors
    /// If the field is something else.
    pub fn items(&mut self, name: &str) -> Result<Option<Vec<RawJson>>, ShapeError> {
        self.take(name, "an array", RawJson::to_items)
    }

    /// Takes an array of strings, if there is one.
    ///
    /// # Errors
    /// If the field or one of its elements is something else.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, ShapeError> {
        let Some(items) = self.items(name)? else { return Ok(None) };
        let text = |(index, item): (usize, &RawJson)| {
            item.to_text()
                .ok_or_else(|| ShapeError::new(format!("{name}[{index}]"), "a string", item.kind()))
        };
        items.iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }
}

/// The fields found in an object, in the order of the requested names.
#[derive(Debug)]
pub struct FoundFields<'v, const N: usize> {
    /// The values; `None` for `null`. Of a repeated field, the last value.
    pub values: [Option<JsonSlice<'v>>; N],
    /// The first values of repeated fields.
    pub duplicates: [Option<JsonSlice<'v>>; N],
}

/// Finds the fields with these names.
pub fn find_fields<'v, const N: usize>(
    object: &'v RawObject,
    names: [&str; N],
) -> FoundFields<'v, N> {
    let mut found = FoundFields { values: [None; N], duplicates: [None; N] };
    let mut firsts = [None; N];
    object.as_raw().walk().entries(|walk, field| {
        let value = walk.value();
        if let Some(index) = names.iter().position(|name| *name == field) {
            found.values[index] = (!value.is_null()).then_some(value);
            match firsts[index] {
                None => firsts[index] = Some(value),
                first => found.duplicates[index] = first,
            }
        }
    });
    found
}

/// Reads a field with `read`, if it is present.
///
/// # Errors
/// If `read` returns `None`.
pub fn read_field<'v, T>(
    name: &str,
    value: Option<JsonSlice<'v>>,
    expected: &'static str,
    read: impl FnOnce(JsonSlice<'v>) -> Option<T>,
) -> Result<Option<T>, ShapeError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    read(value).map(Some).ok_or_else(|| ShapeError::new(name, expected, value.kind()))
}

/// Returns the string in a field, if it is present.
///
/// # Errors
/// If the field is something else.
pub fn read_text<'v>(
    name: &str,
    value: Option<JsonSlice<'v>>,
) -> Result<Option<Cow<'v, str>>, ShapeError> {
    read_field(name, value, "a string", JsonSlice::text)
}

/// Returns the string in a field in its written form, if it is present.
///
/// # Errors
/// If the field is something else.
pub fn read_json_text(
    name: &str,
    value: Option<JsonSlice<'_>>,
) -> Result<Option<JsonText>, ShapeError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    JsonText::try_from(value.to_raw())
        .map(Some)
        .map_err(|other| ShapeError::new(name, "a string", other.kind()))
}

/// Reads the elements of the array ahead, and moves the walk past it in any case. An error is about
/// the first wrong element, and begins with its index.
///
/// # Errors
/// Those of `read`.
pub fn read_items<T>(
    walk: &mut JsonWalk<'_>,
    read: impl Fn(&mut JsonWalk<'_>) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let mut elements = Vec::new();
    let mut result = Ok(());
    walk.items(|walk, index| match read(walk) {
        Ok(element) => elements.push(element),
        Err(error) if result.is_ok() => result = Err(error.within(&format!("[{index}]"))),
        Err(_) => {}
    });
    result.map(|()| elements)
}

/// Like [`read_items`], but returns `None` for `null`.
///
/// # Errors
/// Those of `read`, and one without a path if something else is ahead.
pub fn read_list<T>(
    walk: &mut JsonWalk<'_>,
    read: impl Fn(&mut JsonWalk<'_>) -> Result<T, ShapeError>,
) -> Result<Option<Vec<T>>, ShapeError> {
    match walk.kind() {
        JsonKind::Array => read_items(walk, read).map(Some),
        kind => {
            walk.value();
            match kind {
                JsonKind::Null => Ok(None),
                other => Err(ShapeError::new("", "an array", other)),
            }
        }
    }
}

/// Returns the fields of an object except one, and the result of `read` for that one, if present.
pub fn split_field<T>(
    object: &RawObject,
    name: &str,
    read: impl Fn(&mut JsonWalk<'_>) -> Result<T, ShapeError>,
) -> (JsonObject, Option<Result<T, ShapeError>>) {
    let (mut fields, mut selected) = (JsonObject::new(), None);
    object.as_raw().walk().entries(|walk, field| {
        if field == name {
            // Of duplicates, the last counts.
            selected = Some(read(walk).map_err(|error| error.within(name)));
        } else {
            fields.insert(field, walk.value().to_raw());
        }
    });
    (fields, selected)
}

/// An extension that makes a field required.
pub trait Required<T> {
    /// Returns the value.
    ///
    /// # Errors
    /// Returns an error that names the field if there is no value.
    fn required(self, name: &str, expected: &'static str) -> Result<T, ShapeError>;
}

impl<T> Required<T> for Result<Option<T>, ShapeError> {
    fn required(self, name: &str, expected: &'static str) -> Result<T, ShapeError> {
        self?.ok_or_else(|| ShapeError::new(name, expected, "nothing"))
    }
}

/// Rejects a repeated field: the agent may act on its first value, and a guard sees the last.
pub fn reject_duplicate_field(fields: &JsonObject) -> Result<(), ShapeError> {
    match fields.duplicate_key() {
        Some(name) => Err(ShapeError::new(shortened(name), "one value", "several")),
        None => Ok(()),
    }
}
