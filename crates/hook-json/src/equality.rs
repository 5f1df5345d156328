//! Equality of values, however they are written.

use serde_json::Value;

use super::raw::RawJson;

impl RawJson {
    /// Returns `true` if both values are equal, however numbers, whitespace and field order are
    /// written.
    pub fn is_same_value(&self, other: &Self) -> bool {
        let parsed = |value: &Self| serde_json::from_str::<Value>(value.as_str()).ok();
        self == other
            || parsed(self)
                .zip(parsed(other))
                .is_some_and(|(one, other)| values_equal(&one, &other))
    }
}

fn values_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one == other)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| values_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| {
                    other.get(name).is_some_and(|other_value| values_equal(one, other_value))
                })
        }
        _ => one == other,
    }
}
