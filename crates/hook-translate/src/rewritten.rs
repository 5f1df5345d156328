//! Putting the entries of a conversation back into their request.

use hook_core::{JsonObject, RawJson, RawObject};

/// What a hook's messages make of a conversation.
#[derive(Debug)]
pub(crate) enum Overlaid {
    /// Another value in its place.
    Value(RawJson),
    /// Other entries of the list.
    Items(Rewritten),
}

/// The entries of a list after an edit.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// The field that holds them.
    field: &'static str,
    /// What takes the place of what, if no entry came or went.
    replaced: Option<Vec<(RawJson, RawJson)>>,
    entries: Vec<RawJson>,
}

impl Rewritten {
    /// What became of the `old` entries of a field.
    pub(crate) fn of<'o>(
        field: &'static str,
        old: impl ExactSizeIterator<Item = &'o RawJson>,
        entries: Vec<RawJson>,
    ) -> Self {
        let replaced = (old.len() == entries.len()).then(|| {
            // Most entries are still the same text at the same place, which tells without a look.
            let is_same = |old: &RawJson, new: &RawJson| {
                std::ptr::eq(old.as_str(), new.as_str()) || old == new
            };
            let pairs = old.zip(&entries).filter(|(old, new)| !is_same(old, new));
            pairs.map(|(old, new)| (old.clone(), new.clone())).collect()
        });
        Self { field, replaced, entries }
    }

    /// The entries as a list.
    pub(crate) fn list(&self) -> RawJson {
        RawJson::from_items(&self.entries)
    }

    /// The request with these entries and with `changes` laid over it. Where entries only took the
    /// place of others, all else is copied as a whole: a conversation may be long.
    pub(crate) fn laid_over(&self, base: &RawObject, mut changes: JsonObject) -> RawObject {
        let pairs = self.replaced.as_ref().map(|replaced| {
            replaced.iter().map(|(old, new)| (old, new.clone())).collect::<Vec<_>>()
        });
        match pairs.and_then(|pairs| base.replaced(&pairs)) {
            Some(replaced) => replaced.overlaid(&changes),
            None => {
                changes.insert(self.field, self.list());
                base.overlaid(&changes)
            }
        }
    }
}
