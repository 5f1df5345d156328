//! One event's input, shared by its hooks.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::request::EventInput;
use crate::json::RawObject;

/// One event's input, shared by all hooks that get the same; a clone is a handle.
///
/// It is serialized at most once, when the first hook needs the text.
#[derive(Clone)]
pub struct HookInput {
    shared: Arc<Shared>,
}

struct Shared {
    input: EventInput,
    json: OnceLock<Vec<u8>>,
    raw: OnceLock<RawObject>,
}

impl HookInput {
    /// Shares an input.
    #[doc(hidden)]
    pub fn new(input: EventInput) -> Self {
        Self { shared: Arc::new(Shared { input, json: OnceLock::new(), raw: OnceLock::new() }) }
    }

    /// Whether this is a handle of the same input.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The JSON that a script reads on its standard input.
    pub fn json(&self) -> &[u8] {
        self.shared.json.get_or_init(|| self.shared.input.to_json())
    }

    /// The same as a value, which all who keep it share.
    pub(crate) fn to_raw(&self) -> RawObject {
        self.shared.raw.get_or_init(|| RawObject::from_written(self.json().to_vec())).clone()
    }
}

impl Deref for HookInput {
    type Target = EventInput;

    fn deref(&self) -> &EventInput {
        &self.shared.input
    }
}

impl fmt::Debug for HookInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.input.fmt(formatter)
    }
}
