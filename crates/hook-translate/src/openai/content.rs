//! What is said in a message: a string, or a list of parts.

use hook_core::shape::{FieldReader, ShapeError};
use hook_core::{JsonKind, JsonObject, RawJson};

use crate::json;
use crate::parts;
use crate::spread::{Piece, Portion};
use crate::{TranslateError, Warning};

/// The types of parts that are text: chat's, and those of the responses API for what is put in
/// and out.
const TEXT_TYPES: [&str; 3] = ["text", "input_text", "output_text"];

/// The `content` of a message.
#[derive(Debug, Default)]
pub(super) enum Content {
    /// None, as in a message that only calls tools.
    #[default]
    Nothing,
    /// A string.
    Text(String),
    /// A list of parts.
    Parts(Vec<Part>),
}

/// An element of a `content` that is a list.
#[derive(Debug)]
pub(super) struct Part {
    raw: RawJson,
    fields: JsonObject,
    text: Option<String>,
}

impl Content {
    /// Reads a `content`.
    pub(super) fn read(content: Option<&RawJson>) -> Result<Self, ShapeError> {
        let Some(value) = content.filter(|content| !content.is_null()) else {
            return Ok(Self::Nothing);
        };
        if let Some(text) = value.to_text() {
            return Ok(Self::Text(text));
        }
        let items = value
            .to_items()
            .ok_or_else(|| ShapeError::new("content", "a string or an array", value.kind()))?;
        let read = |(index, part)| Part::read(part, || format!("content[{index}]"));
        items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self::Parts)
    }

    /// What has text, in order.
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Text(text) => vec![Piece { text, thought: false }],
            Self::Parts(parts) => parts::pieces(parts),
        }
    }

    /// The texts, in order.
    pub(super) fn texts(&self) -> Vec<String> {
        self.pieces().into_iter().map(|piece| piece.text.to_owned()).collect()
    }

    /// Whether there is a part without text.
    pub(super) fn holds_more_than_text(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.iter().any(|part| part.text.is_none()))
    }

    /// The content with other texts, or nothing when nothing is left. A string stays a string.
    /// `path` is that of the content, `new` makes a part of a text.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        new: impl Fn(&str) -> RawJson,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let Self::Parts(parts) = self else {
            let text: String = portions.into_iter().map(|portion| self.after(portion)).collect();
            return Ok((!text.is_empty()).then(|| RawJson::from_text(&text)));
        };
        let place = |index| format!("{path}[{index}]");
        let written = parts::rewritten(parts, portions, place, new, warnings);
        if written.is_empty() {
            return Ok(None);
        }
        json::array("content", &written).map(Some)
    }

    /// The same content without any words, for a message that has to stay although all of its
    /// text is gone. A list that had a text keeps one: not everybody takes a list without parts.
    pub(super) fn emptied(&self) -> Result<RawJson, TranslateError> {
        let part = match self {
            Self::Nothing | Self::Text(_) => return Ok(RawJson::from_text("")),
            Self::Parts(parts) => parts.iter().find(|part| part.text.is_some()),
        };
        let part = part.map(|part| parts::Part::with_text(part, ""));
        json::array("content", &part)
    }

    /// The text that a string has after an edit.
    fn after(&self, portion: Portion) -> String {
        match (portion, self) {
            (Portion::Change(_, text) | Portion::New(text), _) => text,
            (Portion::Keep(_) | Portion::KeepThought(_), Self::Text(text)) => text.clone(),
            _ => String::new(),
        }
    }
}

impl Part {
    fn read(raw: &RawJson, path: impl Fn() -> String) -> Result<Self, ShapeError> {
        let fields = match raw.kind() {
            JsonKind::Null => JsonObject::new(),
            kind => raw.to_object().map_err(|_| ShapeError::new(path(), "an object", kind))?,
        };
        let text = text_of(&fields).map_err(|error| error.within(&path()))?;
        Ok(Self { raw: raw.clone(), fields, text })
    }
}

impl parts::Part for Part {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn piece(&self) -> Option<Piece<'_>> {
        Some(Piece { text: self.text.as_deref()?, thought: false })
    }

    fn says_more(&self) -> bool {
        says_more(&self.fields, &["type", "text"])
    }

    fn with_text(&self, text: &str) -> RawJson {
        let mut fields = self.fields.clone();
        fields.insert("text", RawJson::from_text(text));
        fields.to_raw().into()
    }
}

/// The text of a part, if it is of a type that is text; one without a type is, too.
fn text_of(part: &JsonObject) -> Result<Option<String>, ShapeError> {
    let mut reader = FieldReader::new(part.clone());
    match reader.text("type")? {
        Some(other) if !TEXT_TYPES.contains(&other.as_str()) => Ok(None),
        _ => reader.text("text"),
    }
}

/// Whether an object says anything beside these fields. `null` and an empty list say nothing: a
/// message that the API once gave has `"refusal": null` and `"annotations": []`.
pub(super) fn says_more(fields: &JsonObject, known: &[&str]) -> bool {
    let says_nothing =
        |value: &RawJson| value.is_null() || value.to_items().is_some_and(|items| items.is_empty());
    fields.iter().any(|(name, value)| !known.contains(&name) && !says_nothing(value))
}
