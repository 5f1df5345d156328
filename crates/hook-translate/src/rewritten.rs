//! Writes the entries of a conversation back into their request.

use hook_json::{JsonObject, RawJson, RawObject};

/// The result of applying a hook's messages to a conversation.
#[derive(Debug)]
pub(crate) enum Overlaid {
    /// Another value of the field.
    Value(RawJson),
    /// Other entries of the list.
    Items(Rewritten),
}

/// The entries of a list after an edit.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// The field of the list.
    field: &'static str,
    /// Pairs of old and new entries, if no entry was inserted or removed.
    replaced: Option<Vec<(RawJson, RawJson)>>,
    entries: Vec<RawJson>,
}

impl Rewritten {
    /// Records the new entries of a field.
    pub(crate) fn of<'o>(
        field: &'static str,
        old: impl ExactSizeIterator<Item = &'o RawJson>,
        entries: Vec<RawJson>,
    ) -> Self {
        let replaced = (old.len() == entries.len()).then(|| {
            // Most entries are still the same text in memory, which is faster to check.
            let is_same = |old: &RawJson, new: &RawJson| {
                std::ptr::eq(old.as_str(), new.as_str()) || old == new
            };
            let pairs = old.zip(&entries).filter(|(old, new)| !is_same(old, new));
            pairs.map(|(old, new)| (old.clone(), new.clone())).collect()
        });
        Self { field, replaced, entries }
    }

    /// Returns the entries as a list.
    pub(crate) fn list(&self) -> RawJson {
        RawJson::from_items(&self.entries)
    }

    /// Returns the request with these entries and `changes`. If entries were only replaced,
    /// everything else is copied as a whole, since a conversation may be long.
    pub(crate) fn apply_to(&self, base: &RawObject, mut changes: JsonObject) -> RawObject {
        let pairs = self.replaced.as_ref().map(|replaced| {
            replaced.iter().map(|(old, new)| (old, new.clone())).collect::<Vec<_>>()
        });
        match pairs.and_then(|pairs| base.replaced(&pairs)) {
            Some(replaced) => replaced.merged(&changes),
            None => {
                changes.insert(self.field, self.list());
                base.merged(&changes)
            }
        }
    }
}
