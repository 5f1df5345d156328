//! The parts of a content, and putting text back into them.

use hook_core::shape::{FieldReader, ShapeError};
use hook_core::{JsonKind, JsonObject, RawJson};

use crate::json;
use crate::parts;
use crate::spread::{Piece, Portion};
use crate::{TranslateError, Warning};

/// The parts of one content.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// Whether there was one part instead of a list.
    single: bool,
}

#[derive(Debug)]
struct Part {
    raw: RawJson,
    fields: JsonObject,
    text: Option<String>,
}

impl Parts {
    /// Reads the `parts` of a content: a list, or one part alone.
    pub(super) fn read(parts: Option<&RawJson>) -> Result<Self, ShapeError> {
        let Some(value) = parts.filter(|parts| !parts.is_null()) else {
            return Ok(Self::default());
        };
        if value.kind() == JsonKind::Object {
            return Ok(Self {
                parts: vec![Part::read(value, || "parts".to_owned())?],
                single: true,
            });
        }
        let items = value
            .to_items()
            .ok_or_else(|| ShapeError::new("parts", "an array or an object", value.kind()))?;
        let read = |(index, part)| Part::read(part, || format!("parts[{index}]"));
        let parts = items.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { parts, single: false })
    }

    /// The parts that have text, in order.
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        parts::pieces(&self.parts)
    }

    /// The texts of the parts that have one.
    pub(super) fn texts(&self) -> Vec<String> {
        self.parts.iter().filter_map(|part| part.text.clone()).collect()
    }

    /// Whether a part answers a function call; it must directly follow the content that calls.
    pub(super) fn answer_a_call(&self) -> bool {
        self.parts.iter().any(|part| json::given(&part.fields, "functionResponse").is_some())
    }

    /// Whether there is a part without text.
    pub(super) fn hold_more_than_text(&self) -> bool {
        self.parts.iter().any(|part| part.text.is_none() && !part.raw.is_null())
    }

    /// The parts with other texts, or nothing when no part is left. Parts without text stay where
    /// they are; so does what else a part with text says. `path` is that of the parts.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let place = |index| if self.single { path.to_owned() } else { format!("{path}[{index}]") };
        let written = parts::rewritten(&self.parts, portions, place, text_part, warnings);
        match written.as_slice() {
            [] => Ok(None),
            [part] if self.single => Ok(Some(part.clone())),
            parts => json::array("parts", parts).map(Some),
        }
    }
}

impl Part {
    fn read(raw: &RawJson, path: impl Fn() -> String) -> Result<Self, ShapeError> {
        let fields = match raw.kind() {
            JsonKind::Null => JsonObject::new(),
            _ => raw.to_object().map_err(|_| ShapeError::new(path(), "an object", raw.kind()))?,
        };
        let text = FieldReader::new(fields.clone()).text("text");
        let text = text.map_err(|error| error.within(&path()))?;
        Ok(Self { raw: raw.clone(), fields, text })
    }
}

impl parts::Part for Part {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn piece(&self) -> Option<Piece<'_>> {
        let thought = self.fields.get("thought").and_then(RawJson::to_bool);
        Some(Piece { text: self.text.as_deref()?, thought: thought == Some(true) })
    }

    fn says_more(&self) -> bool {
        self.fields.len() > 1
    }

    fn with_text(&self, text: &str) -> RawJson {
        let mut fields = self.fields.clone();
        fields.insert("text", RawJson::from_text(text));
        fields.to_raw().into()
    }
}

/// A part that says nothing but this.
pub(super) fn text_part(text: &str) -> RawJson {
    json::object([("text", RawJson::from_text(text))]).into()
}
