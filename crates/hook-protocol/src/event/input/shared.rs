//! One event's input, shared by its hooks.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::request::EventInput;
use crate::tool::{FileCalls, ToolFiles, file_calls, to_patch};
use hook_json::RawObject;

/// One event's input, shared by all hooks that get the same input. A clone is a handle.
///
/// It is serialized, and the files of its tool call are resolved, at most once, when first needed.
#[derive(Clone)]
pub struct HookInput {
    shared: Arc<Shared>,
}

struct Shared {
    input: EventInput,
    json: OnceLock<Vec<u8>>,
    raw: OnceLock<RawObject>,
    files: OnceLock<ToolFiles>,
    file_calls: OnceLock<FileCalls>,
    patch: OnceLock<Result<Option<RawObject>, String>>,
    derived: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl HookInput {
    /// Creates a shared input.
    pub fn new(input: EventInput) -> Self {
        let shared = Shared {
            input,
            json: OnceLock::new(),
            raw: OnceLock::new(),
            files: OnceLock::new(),
            file_calls: OnceLock::new(),
            patch: OnceLock::new(),
            derived: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns `true` if both are handles of the same input.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns the JSON that a script reads on its standard input.
    pub fn json(&self) -> &[u8] {
        self.shared.json.get_or_init(|| self.shared.input.serialize(Some(self.files())))
    }

    /// Returns the files that the tool's arguments name.
    pub fn files(&self) -> &ToolFiles {
        self.shared.files.get_or_init(|| self.shared.input.files())
    }

    /// Returns the tool call, split by file.
    pub fn file_calls(&self) -> &FileCalls {
        self.shared.file_calls.get_or_init(|| match self.tool_call() {
            Some(call) => file_calls(&call, &self.directory),
            None => FileCalls::Unchanged,
        })
    }

    /// Returns the tool call as a patch.
    pub fn as_patch(&self) -> &Result<Option<RawObject>, String> {
        self.shared.patch.get_or_init(|| match self.tool_call() {
            Some(call) => to_patch(&call, self.file_calls()),
            None => Ok(None),
        })
    }

    /// Returns what a layer above derives from the input. The first value is kept for all holders;
    /// `make` is called again for a value of another type, and where the kept one is not `usable`.
    pub fn derived<T: Any + Send + Sync>(
        &self,
        usable: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        match self.shared.derived.get().map(|kept| Arc::clone(kept).downcast::<T>()) {
            Some(Ok(kept)) if usable(&kept) => kept,
            kept => {
                let made = Arc::new(make());
                if kept.is_none() {
                    let _ =
                        self.shared.derived.set(Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
                }
                made
            }
        }
    }

    /// Returns the input's JSON as a value, which all holders share.
    pub fn to_raw(&self) -> RawObject {
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
