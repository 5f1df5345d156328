//! JSON Schemas, draft 2020-12, of what the engine reads and writes: settings, payloads, answers.
//!
//! Schemas are generated from the field tables of the readers, so they match what is read.
//! [`crate::check::check()`] finds what a schema cannot express, such as duplicate keys.
//!
//! ```
//! let schema = hook_settings::schema::settings();
//! assert_eq!(schema["properties"]["hooksConfig"]["properties"]["enabled"]["default"], true);
//! ```

mod payloads;
mod settings;
mod writer;

pub use hook_json::field::{Field, FieldKind};
pub use payloads::{event, output, payloads, request_input};
pub use settings::settings;
pub use writer::{View, reference};

use serde_json::{Value, json};

/// Returns the head of a schema document.
pub fn document(name: &str, title: &str, about: &str) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:hook:{name}"),
        "title": title,
        "description": about,
    })
}
