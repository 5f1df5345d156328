//! hook-core
pub mod json;
pub mod model;
pub mod shape;
pub use json::{JsonError, JsonKind, JsonObject, ObjectWriter, RawJson, RawObject};
