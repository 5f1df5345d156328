//! Something for each event.

use super::row::HookEventName;

/// Something for each event, by its position in the table; built-in events always have theirs.
#[derive(Debug)]
pub(crate) struct ByEvent<T>(Vec<T>);

impl<T: Default> Default for ByEvent<T> {
    fn default() -> Self {
        Self(std::iter::repeat_with(T::default).take(HookEventName::COUNT).collect())
    }
}

impl<T> ByEvent<T> {
    /// What is there for an event; `None` for a declared one that nothing was set for.
    pub(crate) fn get(&self, event: HookEventName) -> Option<&T> {
        self.0.get(event.index())
    }

    /// What `make` makes of each.
    pub(crate) fn map<U>(self, make: impl FnMut(T) -> U) -> ByEvent<U> {
        ByEvent(self.0.into_iter().map(make).collect())
    }
}

impl<T: Default> ByEvent<T> {
    /// What is there for an event, made if there is nothing.
    pub(crate) fn of(&mut self, event: HookEventName) -> &mut T {
        let index = event.index();
        if self.0.len() <= index {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }
}
