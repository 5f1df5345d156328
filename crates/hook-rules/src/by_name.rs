//! Lists that are looked up by names.

/// Items by their names, of which several may be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByName<T> {
    /// Sorted by name.
    items: Vec<(Box<str>, T)>,
    /// A bit for each name: most names that are looked up are not there.
    bits: u64,
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self { items: Vec::new(), bits: 0 }
    }
}

impl<T> FromIterator<(Box<str>, T)> for ByName<T> {
    fn from_iter<I: IntoIterator<Item = (Box<str>, T)>>(items: I) -> Self {
        let mut items: Vec<_> = items.into_iter().collect();
        items.sort_by(|(one, _), (two, _)| one.cmp(two));
        let bits = items.iter().fold(0, |bits, (name, _)| bits | bit(name));
        Self { items, bits }
    }
}

impl<T> ByName<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the items of a name.
    pub(crate) fn get(&self, name: &str) -> &[(Box<str>, T)] {
        if self.bits & bit(name) == 0 {
            return &[];
        }
        let begin = self.items.partition_point(|(known, _)| **known < *name);
        let rest = self.items.get(begin..).unwrap_or_default();
        let length = rest.iter().take_while(|(known, _)| **known == *name).count();
        rest.get(..length).unwrap_or_default()
    }

    /// Returns all items that may have one of some names: those of the names, or all if there are too
    /// many or if they are not known.
    pub(crate) fn candidates<'i, N: AsRef<str> + 'i>(
        &'i self,
        names: impl ExactSizeIterator<Item = N> + 'i,
        are_known: bool,
    ) -> impl Iterator<Item = &'i T> {
        /// The maximum number of names that are looked up. Items are compared again for each.
        const MAX_NAMES: usize = 32;
        let are_known = are_known && names.len() <= MAX_NAMES;
        let all = if are_known { &[] } else { &*self.items };
        let known = names.take(if are_known { MAX_NAMES } else { 0 });
        let of_names = known.flat_map(|name| self.get(name.as_ref()));
        all.iter().chain(of_names).map(|(_, item)| item)
    }
}

/// Returns the bit of a name.
fn bit(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let byte = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(*byte));
    1 << ((bytes.len() * 5 + byte(bytes.first()) * 3 + byte(bytes.last())) % 64)
}
