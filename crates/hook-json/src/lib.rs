//! JSON that is carried without being interpreted, and text of unknown origin.
//!
//! A hook engine passes on far more JSON than it reads: tool inputs, tool responses, unknown
//! fields. [`RawJson`] is one such value as text, a slice of a shared buffer: cloning it copies no
//! text, and nothing here recurses, at any depth. [`JsonObject`] is an object read one level deep.
//! Text is parsed further only on request: a [`JsonWalk`] reads several levels in one pass and
//! gives each value as a [`JsonSlice`], and a [`JsonText`] is a string that is not decoded yet.
//!
//! This is the *one reader* of reference/answers.md: a lone surrogate becomes U+FFFD, the last of
//! duplicate keys wins, and numbers keep their digits.
//!
//! Every value has one normal form, created by [`RawJson::parse`] and kept by all writers: its text
//! contains no byte below 0x20 and no other line separator. So JSON written around it stays on one
//! line.
//!
//! # Example
//!
//! ```
//! use hook_json::RawObject;
//!
//! let call = RawObject::parse(r#"{"command": "ls", "timeout": 1e3}"#)?;
//! assert_eq!(call.fields().get("timeout").unwrap().as_str(), "1e3");
//! # Ok::<(), hook_json::JsonError>(())
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | `raw`, `object`, `typed` | values as text: any value, objects, arrays and numbers |
//! | `read`, `scan`, `normal`, `strings`, `depth` | the parser and the normal form |
//! | `comments` | comments and trailing commas in files that people write |
//! | `walk`, `slice`, `json_text`, `visit`, `kind` | reading several levels in one pass |
//! | `write`, `line` | writing one value on one line |
//! | `field`, `keyword` | tables of fields, and enums whose values have names |
//! | [`shape`] | reading objects into types, with errors that name the field |
//! | `equality`, `patch` | comparing values, and the edits between two of them |
//! | [`text`] | showing text of unknown origin to people and in logs |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod comments;
mod depth;
mod equality;
pub mod field;
mod json_text;
mod keyword;
mod kind;
pub mod line;
mod normal;
mod object;
mod opaque;
mod patch;
mod raw;
pub mod read;
pub mod scan;
pub mod shape;
mod slice;
pub mod strings;
pub mod text;
mod typed;
mod visit;
mod walk;
pub mod write;

pub use comments::{Comments, without_comments};
pub use depth::MAX_LINE_DEPTH;
pub use json_text::JsonText;
pub use kind::JsonKind;
pub use object::JsonObject;
pub use patch::{MAX_OPERATIONS, Patch, PatchChange, PatchOperation, patch};
pub use raw::{RawJson, RawObject};
pub use read::{JsonError, locate_entries};
pub use shape::ShapeError;
pub use slice::JsonSlice;
pub use typed::{JsonArray, JsonNumber};
pub use walk::JsonWalk;
pub use write::{ObjectWriter, TooDeep};

pub use visit::{Position, Visited, visit_all};
