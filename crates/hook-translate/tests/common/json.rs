//! JSON as the translators take it, and as tests compare it.

use hook_json::{RawJson, RawObject};
use serde_json::Value;

pub(crate) fn object(value: &Value) -> RawObject {
    raw(&value.to_string())
}

pub(crate) fn raw(text: &str) -> RawObject {
    RawObject::try_from(RawJson::parse(text).unwrap()).unwrap()
}

pub(crate) fn value(object: &RawObject) -> Value {
    serde_json::from_str(object.as_str()).unwrap()
}
