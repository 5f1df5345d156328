//! JSON that the engine carries without interpreting it.
//!
//! A hook engine passes on far more JSON than it reads: tool inputs, tool responses, unknown
//! fields. [`RawJson`] is one such value as text, a slice of a shared buffer: cloning it copies no
//! text, and nothing here recurses, at any depth. [`JsonObject`] is an object read one level deep.
//! Text is parsed further only on request: a [`JsonWalk`] reads several levels in one pass and
//! gives each value as a [`JsonSlice`], and a [`JsonText`] is a string that is not decoded yet.
//!
//! This is the *one reader* of protocol.md §3: a lone surrogate becomes U+FFFD, the last of
//! duplicate keys wins, and numbers keep their digits.
//!
//! Every value has one normal form, created by [`RawJson::parse`] and kept by all writers: its text
//! contains no byte below 0x20 and no other line separator. So JSON written around it stays on one
//! line.

mod depth;
pub(crate) mod field;
mod kind;
pub(crate) mod line;
mod normal;
mod object;
mod patch;
mod raw;
pub(crate) mod read;
mod same;
pub(crate) mod scan;
#[doc(hidden)]
pub mod shape;
mod slice;
pub(crate) mod strings;
mod text;
mod typed;
mod visit;
mod walk;
pub(crate) mod write;

pub use depth::MAX_LINE_DEPTH;
pub use kind::JsonKind;
pub use object::JsonObject;
pub use patch::{MAX_OPERATIONS, Patch, PatchChange, PatchOperation, patch};
pub use raw::{RawJson, RawObject};
pub use read::JsonError;
pub use slice::JsonSlice;
pub use text::JsonText;
pub use typed::{JsonArray, JsonNumber};
pub use walk::JsonWalk;
pub use write::ObjectWriter;

pub(crate) use read::locate_entries;
pub(crate) use visit::{Standing, Visited, visit_all};
