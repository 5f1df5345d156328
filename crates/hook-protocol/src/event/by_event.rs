//! A map from events to values.

use super::row::HookEventName;

/// A value for each event, by the event's index in the table. Built-in events always have one.
#[derive(Debug)]
pub struct ByEvent<T>(Vec<T>);

impl<T: Default> Default for ByEvent<T> {
    fn default() -> Self {
        Self(std::iter::repeat_with(T::default).take(HookEventName::COUNT).collect())
    }
}

impl<T> ByEvent<T> {
    /// Returns the value of an event; `None` for a declared event that has none.
    pub fn get(&self, event: HookEventName) -> Option<&T> {
        self.0.get(event.index())
    }

    /// Applies `make` to each value.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> ByEvent<U> {
        ByEvent(self.0.into_iter().map(make).collect())
    }
}

impl<T: Default> ByEvent<T> {
    /// Returns the value of an event, which is created if it is missing.
    pub fn get_or_default(&mut self, event: HookEventName) -> &mut T {
        let index = event.index();
        if self.0.len() <= index {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }
}
