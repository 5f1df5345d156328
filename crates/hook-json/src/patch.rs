//! Differences between two values, as JSON Patch (RFC 6902).

use std::fmt::Write;

use super::{JsonKind, JsonObject, RawJson};

/// The maximum number of operations in a patch.
pub const MAX_OPERATIONS: usize = 100;

/// The maximum depth for comparing values part by part; deeper ones are replaced as a whole.
const MAX_DEPTH: usize = 32;

/// The maximum length of a path's names and indexes together, in bytes. A value with a longer path
/// is replaced as a part of its parent.
const MAX_PATH: usize = 1_024;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchOperation {
    /// The names and indexes that lead to the changed value.
    pub path: Vec<String>,
    /// The change of that value.
    pub change: PatchChange,
}

/// A change of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchChange {
    /// The value was added.
    Add(RawJson),
    /// The value was replaced by this one.
    Replace(RawJson),
    /// The value was removed.
    Remove,
}

/// Changes, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// The changes.
    pub operations: Vec<PatchOperation>,
    /// `true` if there are more changes than listed.
    pub has_more: bool,
}

impl PatchOperation {
    /// Returns the path as JSON Pointer (RFC 6901).
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for part in &self.path {
            // Writing to memory cannot fail.
            let _ = write!(pointer, "/{}", part.replace('~', "~0").replace('/', "~1"));
        }
        pointer
    }
}

impl PatchChange {
    /// Returns the name of the operation.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Add(_) => "add",
            Self::Replace(_) => "replace",
            Self::Remove => "remove",
        }
    }

    /// Returns the new value, if there is one.
    pub fn value(&self) -> Option<&RawJson> {
        match self {
            Self::Add(value) | Self::Replace(value) => Some(value),
            Self::Remove => None,
        }
    }
}

/// Returns the changes from one value to another: at most [`MAX_OPERATIONS`] operations that add,
/// replace or remove. Objects are compared field by field, arrays of equal length element by
/// element, and all other values by their text.
pub fn patch(old: &RawJson, new: &RawJson) -> Patch {
    let mut patch = Patch::default();
    let mut pending = vec![ValuePair { path: Vec::new(), old: old.clone(), new: new.clone() }];
    while let Some(pair) = pending.pop() {
        if pair.old == pair.new {
            continue;
        }
        let parts = pair.entry_pairs().filter(|_| pair.path.len() < MAX_DEPTH);
        let Some(parts) = parts.filter(|parts| parts.iter().all(|part| part.fits_path(&pair.path)))
        else {
            patch.push(pair.path, PatchChange::Replace(pair.new));
            continue;
        };
        let mut children = Vec::new();
        for EntryPair { name, old, new } in parts {
            let path: Vec<String> = pair.path.iter().cloned().chain([name]).collect();
            match (old, new) {
                (Some(old), Some(new)) if old == new => {}
                (Some(old), Some(new)) => children.push(ValuePair { path, old, new }),
                (Some(_), None) => patch.push(path, PatchChange::Remove),
                (None, Some(new)) => patch.push(path, PatchChange::Add(new)),
                (None, None) => {}
            }
        }
        pending.extend(children.into_iter().rev());
        if patch.has_more {
            break;
        }
    }
    patch
}

impl Patch {
    fn push(&mut self, path: Vec<String>, change: PatchChange) {
        match self.operations.len() < MAX_OPERATIONS {
            true => self.operations.push(PatchOperation { path, change }),
            false => self.has_more = true,
        }
    }
}

/// Two values at the same path.
struct ValuePair {
    path: Vec<String>,
    old: RawJson,
    new: RawJson,
}

/// One field or element of two values.
struct EntryPair {
    name: String,
    old: Option<RawJson>,
    new: Option<RawJson>,
}

impl EntryPair {
    fn fits_path(&self, path: &[String]) -> bool {
        path.iter().map(String::len).sum::<usize>() + self.name.len() <= MAX_PATH
            || self.old == self.new
    }
}

impl ValuePair {
    /// Returns the parts of two objects, or of two arrays of equal length.
    fn entry_pairs(&self) -> Option<Vec<EntryPair>> {
        match (self.old.kind(), self.new.kind()) {
            (JsonKind::Object, JsonKind::Object) => {
                let object = |value: &RawJson| value.to_object().ok();
                let (mut old, new) = (object(&self.old)?, object(&self.new)?);
                Some(field_pairs(&mut old, &new))
            }
            (JsonKind::Array, JsonKind::Array) => {
                let (old, new) = (self.old.to_items()?, self.new.to_items()?);
                let entry_pair = |(index, (old, new)): (usize, (RawJson, RawJson))| EntryPair {
                    name: index.to_string(),
                    old: Some(old),
                    new: Some(new),
                };
                (old.len() == new.len())
                    .then(|| old.into_iter().zip(new).enumerate().map(entry_pair).collect())
            }
            _ => None,
        }
    }
}

fn field_pairs(old: &mut JsonObject, new: &JsonObject) -> Vec<EntryPair> {
    let existing = old.iter().map(|(name, value)| EntryPair {
        name: name.to_owned(),
        old: Some(value.clone()),
        new: new.get(name).cloned(),
    });
    let added = new.iter().filter(|(name, _)| old.get(name).is_none());
    let added = added.map(|(name, value)| EntryPair {
        name: name.to_owned(),
        old: None,
        new: Some(value.clone()),
    });
    existing.chain(added).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Applies a patch according to RFC 6902.
    fn apply(patch: &Patch, mut value: Value) -> Value {
        for operation in &patch.operations {
            let new =
                operation.change.value().map(|new| serde_json::from_str(new.as_str()).unwrap());
            let pointer = operation.pointer();
            let Some((parent, name)) = pointer.rsplit_once('/') else {
                value = new.unwrap();
                continue;
            };
            let name = name.replace("~1", "/").replace("~0", "~");
            let parent = value.pointer_mut(parent).unwrap();
            match (parent, new) {
                (Value::Object(fields), Some(new)) => {
                    let before = fields.insert(name, new);
                    assert_eq!(before.is_some(), operation.change.as_str() == "replace");
                }
                (Value::Object(fields), None) => drop(fields.remove(&name).unwrap()),
                (Value::Array(items), Some(new)) => items[name.parse::<usize>().unwrap()] = new,
                (parent, _) => panic!("{parent} has no parts"),
            }
        }
        value
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            "[a~/]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c~/]{0,2}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn raw(value: &Value) -> RawJson {
        RawJson::parse(value.to_string()).unwrap()
    }

    #[test]
    fn what_changed_is_named_and_nothing_else() {
        let old = RawJson::parse(r#"{"a":{"b/c":1,"same":[1,2]},"gone":1,"n":1.50}"#).unwrap();
        let new = RawJson::parse(r#"{"a":{"b/c":2,"same":[1,2]},"new":[],"n":1.5}"#).unwrap();
        let patch = patch(&old, &new);
        let shown: Vec<String> = patch
            .operations
            .iter()
            .map(|it| {
                let value = it.change.value().map(RawJson::as_str).unwrap_or_default();
                format!("{} {} {value}", it.change.as_str(), it.pointer())
            })
            .collect();
        assert_eq!(shown, ["remove /gone ", "add /new []", "replace /a/b~1c 2", "replace /n 1.5"]);
    }

    #[test]
    fn a_patch_is_bounded_however_much_changed() {
        let many = |text: &str| {
            let fields: Vec<String> = (0..500).map(|it| format!("\"{it}\":{text}")).collect();
            RawJson::parse(format!("{{{}}}", fields.join(","))).unwrap()
        };
        let found = patch(&many("1"), &many("2"));
        assert_eq!((found.operations.len(), found.has_more), (MAX_OPERATIONS, true));
        let deep = |text: &str| {
            RawJson::parse(format!("{}{text}{}", "[".repeat(100_000), "]".repeat(100_000))).unwrap()
        };
        let found = patch(&deep("1"), &deep("2"));
        assert_eq!(found.operations.len(), 1);
        assert_eq!(found.operations[0].path.len(), MAX_DEPTH);
        let long =
            |value: u8| RawJson::parse(format!("{{\"{}\":{value}}}", "x".repeat(9_999))).unwrap();
        assert_eq!(patch(&long(1), &long(2)).operations[0].pointer(), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_patch_makes_the_new_value_of_the_old(old in any_value(), new in any_value()) {
            let found = patch(&raw(&old), &raw(&new));
            prop_assert!(!found.has_more);
            prop_assert_eq!(found.operations.is_empty(), old == new);
            prop_assert_eq!(apply(&found, old), new);
        }
    }
}
