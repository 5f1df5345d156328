//! Writes tables of fields as JSON Schema, draft 2020-12.

use serde_json::{Map, Value, json};

use super::{Field, FieldKind};

/// The viewpoint from which tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The engine reads the value: `null` counts as absent.
    Read,
    /// The engine reads the value from a caller, who may use the form of any SDK.
    ReadFromCaller,
    /// The engine writes the value: fields with a default are always present.
    Written,
}

impl View {
    /// Returns the schema of an object with these fields.
    pub fn object(self, fields: &[Field], allows_more: bool) -> Value {
        let mut properties = Map::new();
        for field in fields {
            properties.insert(field.name.to_owned(), self.field(field));
        }
        let is_required =
            |field: &&Field| field.required || (self == Self::Written && field.default.is_some());
        let required: Vec<&str> =
            fields.iter().filter(is_required).map(|field| field.name).collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(allows_more);
        schema
    }

    fn field(self, field: &Field) -> Value {
        let mut schema = json!({"description": field.about});
        let mut kind = self.kind(&field.kind);
        if !field.required && self != Self::Written {
            allow_null(&mut kind);
        }
        if let (Value::Object(schema), Value::Object(kind)) = (&mut schema, kind) {
            schema.extend(kind);
        }
        if let Some(default) = field.default.and_then(|text| serde_json::from_str(text).ok()) {
            let default: Value = default;
            schema["default"] = default;
        }
        schema
    }

    /// Returns the schema of a value of that kind.
    pub(crate) fn kind(self, kind: &FieldKind) -> Value {
        match *kind {
            FieldKind::Any => json!({}),
            FieldKind::Text => json!({"type": "string"}),
            // The host's own values are not limited.
            FieldKind::ShortText(_) if self == Self::Written => json!({"type": "string"}),
            // JSON Schema counts characters, of which there are no more than bytes.
            FieldKind::TextUpTo(max) => json!({"type": "string", "maxLength": max}),
            FieldKind::ShortText(max) => {
                json!({"type": "string", "maxLength": max, "pattern": "^[^\\u0000]*$"})
            }
            FieldKind::NonEmpty(None) => json!({"type": "string", "minLength": 1}),
            FieldKind::NonEmpty(Some(max)) => {
                json!({"type": "string", "minLength": 1, "maxLength": max})
            }
            FieldKind::NotBlank => json!({"type": "string", "pattern": "\\S"}),
            FieldKind::Literal(literal) => json!({"const": literal}),
            FieldKind::OneOf(names) => json!({"enum": names}),
            FieldKind::Bool => json!({"type": "boolean"}),
            FieldKind::Number => json!({"type": "number"}),
            FieldKind::Integer(min, max) => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            FieldKind::Unsigned(min, None) => json!({"type": "integer", "minimum": min}),
            FieldKind::Unsigned(min, Some(max)) => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            FieldKind::List => json!({"type": "array"}),
            FieldKind::ListOf(kind) => json!({"type": "array", "items": self.kind(kind)}),
            FieldKind::OneOrMore => json!({"anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 256},
            ]}),
            FieldKind::TextOr(fields) => {
                json!({"anyOf": [{"type": "string"}, self.object(fields, false)]})
            }
            FieldKind::AnyObject => json!({"type": "object"}),
            FieldKind::Closed(fields) => self.object(fields, false),
            FieldKind::Open(fields) => self.object(fields, true),
            FieldKind::Map(names, fields) => json!({
                "type": "object",
                "propertyNames": {"pattern": names},
                "additionalProperties": self.object(fields, false),
            }),
            FieldKind::Variables => json!({
                "type": "object",
                "propertyNames": {"pattern": "^[^=\\u0000]+$"},
                "additionalProperties":
                    {"type": self.nullable_type("string"), "pattern": "^[^\\u0000]*$"},
            }),
            FieldKind::Model(_) if self == Self::ReadFromCaller => json!({"type": "object"}),
            FieldKind::Defined(name) | FieldKind::Model(name) => json!({"$ref": reference(name)}),
        }
    }

    fn nullable_type(self, name: &str) -> Value {
        match self {
            Self::Written => json!(name),
            Self::Read | Self::ReadFromCaller => json!([name, "null"]),
        }
    }
}

/// Returns the reference to a definition of the same document.
pub fn reference(name: &str) -> String {
    format!("#/$defs/{name}")
}

/// Accepts `null` for an absent field.
fn allow_null(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(Value::String(name)) = fields.get("type") {
        let alternatives = json!([name, "null"]);
        fields.insert("type".to_owned(), alternatives);
    } else if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.push(Value::Null);
    } else if let Some(value) = fields.remove("const") {
        fields.insert("enum".to_owned(), json!([value, null]));
    } else if let Some(Value::Array(kinds)) = fields.get_mut("anyOf") {
        kinds.push(json!({"type": "null"}));
    } else if fields.contains_key("$ref") {
        let alternatives = json!([Value::Object(std::mem::take(fields)), {"type": "null"}]);
        fields.insert("anyOf".to_owned(), alternatives);
    }
}
