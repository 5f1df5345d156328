//! JSON Schema, draft 2020-12, of what the engine reads and writes: settings, payloads, answers.
//!
//! Schemas are made from the tables of fields that the readers themselves use, so that they say
//! what is read. What a schema cannot say, such as a key that stands twice, [`crate::check::check()`]
//! finds.
//!
//! ```
//! let schema = hook_core::schema::settings();
//! assert_eq!(schema["properties"]["hooksConfig"]["properties"]["enabled"]["default"], true);
//! ```

mod payloads;
mod settings;
mod writer;

pub use crate::json::field::{Field, Kind};
pub use payloads::{event, output, payloads, request_input};
pub use settings::settings;
pub use writer::{View, reference};

use serde_json::{Value, json};

/// The head of a document.
pub fn document(name: &str, title: &str, about: &str) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:hook:{name}"),
        "title": title,
        "description": about,
    })
}
