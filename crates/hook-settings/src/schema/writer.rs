//! Writes tables of fields as JSON Schema, draft 2020-12.

use serde_json::{Map, Value, json};

use super::{Field, Kind};

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
    pub fn object(self, fields: &[Field], open: bool) -> Value {
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
        schema["additionalProperties"] = json!(open);
        schema
    }

    fn field(self, field: &Field) -> Value {
        let mut schema = json!({"description": field.about});
        let mut kind = self.kind(&field.kind);
        if !field.required && self != Self::Written {
            or_null(&mut kind);
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
    pub fn kind(self, kind: &Kind) -> Value {
        match *kind {
            Kind::Any => json!({}),
            Kind::Text => json!({"type": "string"}),
            // The host's own values are not limited.
            Kind::ShortText(_) if self == Self::Written => json!({"type": "string"}),
            // JSON Schema counts characters, of which there are no more than bytes.
            Kind::TextUpTo(most) => json!({"type": "string", "maxLength": most}),
            Kind::ShortText(most) => {
                json!({"type": "string", "maxLength": most, "pattern": "^[^\\u0000]*$"})
            }
            Kind::NonEmpty(None) => json!({"type": "string", "minLength": 1}),
            Kind::NonEmpty(Some(most)) => {
                json!({"type": "string", "minLength": 1, "maxLength": most})
            }
            Kind::NotBlank => json!({"type": "string", "pattern": "\\S"}),
            Kind::Word(word) => json!({"const": word}),
            Kind::Words(words) => json!({"enum": words}),
            Kind::Bool => json!({"type": "boolean"}),
            Kind::Number => json!({"type": "number"}),
            Kind::Integer(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Kind::Whole(least, None) => json!({"type": "integer", "minimum": least}),
            Kind::Whole(least, Some(most)) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Kind::List => json!({"type": "array"}),
            Kind::ListOf(kind) => json!({"type": "array", "items": self.kind(kind)}),
            Kind::OneOrMore => json!({"anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 256},
            ]}),
            Kind::TextOr(fields) => {
                json!({"anyOf": [{"type": "string"}, self.object(fields, false)]})
            }
            Kind::AnyObject => json!({"type": "object"}),
            Kind::Closed(fields) => self.object(fields, false),
            Kind::Open(fields) => self.object(fields, true),
            Kind::Map(names, fields) => json!({
                "type": "object",
                "propertyNames": {"pattern": names},
                "additionalProperties": self.object(fields, false),
            }),
            Kind::Variables => json!({
                "type": "object",
                "propertyNames": {"pattern": "^[^=\\u0000]+$"},
                "additionalProperties":
                    {"type": self.or_null_type("string"), "pattern": "^[^\\u0000]*$"},
            }),
            Kind::Model(_) if self == Self::ReadFromCaller => json!({"type": "object"}),
            Kind::Defined(name) | Kind::Model(name) => json!({"$ref": reference(name)}),
        }
    }

    fn or_null_type(self, name: &str) -> Value {
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
fn or_null(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(Value::String(name)) = fields.get("type") {
        let either = json!([name, "null"]);
        fields.insert("type".to_owned(), either);
    } else if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.push(Value::Null);
    } else if let Some(word) = fields.remove("const") {
        fields.insert("enum".to_owned(), json!([word, null]));
    } else if let Some(Value::Array(kinds)) = fields.get_mut("anyOf") {
        kinds.push(json!({"type": "null"}));
    } else if fields.contains_key("$ref") {
        let either = json!([Value::Object(std::mem::take(fields)), {"type": "null"}]);
        fields.insert("anyOf".to_owned(), either);
    }
}
