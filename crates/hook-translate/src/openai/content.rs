//! The content of a message: a string, or a list of parts.

use hook_json::shape::{ShapeError, read_items, read_json_text, read_text};
use hook_json::{JsonKind, JsonObject, JsonSlice, JsonText, JsonWalk, RawJson};

use crate::distribute::{Piece, Portion};
use crate::{Warning, parts};

/// The types of text parts: chat's, and those of the responses API for input and output.
const TEXT_TYPES: [&str; 3] = ["text", "input_text", "output_text"];

/// The `content` of a message.
#[derive(Debug, Default)]
pub(super) enum Content {
    /// No content, as in a message that only calls tools.
    #[default]
    Absent,
    /// A string.
    Text(JsonText),
    /// A list of parts.
    Parts(Vec<Part>),
}

/// An element of a `content` that is a list.
#[derive(Debug)]
pub(super) struct Part {
    raw: RawJson,
    text: Option<JsonText>,
}

/// The `content` of an object that is not read to its end, and may turn out not to be a message.
#[derive(Debug)]
pub(super) enum PendingContent<'v> {
    /// The content, already read.
    Parsed(Result<Content, ShapeError>),
    /// The JSON of a content that is most likely not needed.
    Deferred(JsonSlice<'v>),
}

impl Default for PendingContent<'_> {
    fn default() -> Self {
        Self::Parsed(Ok(Content::Absent))
    }
}

impl<'v> PendingContent<'v> {
    /// Steps over the next value, a `content`, and reads it if it is `likely` a message's.
    pub(super) fn read_if_likely(walk: &mut JsonWalk<'v>, likely: bool) -> Self {
        if likely { Self::Parsed(Content::read(walk)) } else { Self::Deferred(walk.value()) }
    }

    /// Reads the content, now known to be a message's.
    pub(super) fn content(self) -> Result<Content, ShapeError> {
        let content = match self {
            Self::Parsed(content) => content,
            Self::Deferred(raw) => Content::read(&mut raw.walk()),
        };
        content.map_err(|error| error.within("content"))
    }
}

impl Content {
    /// Reads the `content` of these fields.
    pub(super) fn of(fields: &JsonObject) -> Result<Self, ShapeError> {
        fields
            .get("content")
            .map_or_else(PendingContent::default, |raw| PendingContent::Deferred(raw.as_slice()))
            .content()
    }

    /// Reads the next value as `content`.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        if walk.kind() == JsonKind::Array {
            return read_items(walk, Part::read).map(Self::Parts);
        }
        match JsonText::try_from(walk.value().to_raw()) {
            Ok(text) => Ok(Self::Text(text)),
            Err(other) if other.is_null() => Ok(Self::Absent),
            Err(other) => Err(ShapeError::new("", "a string or an array", other.kind())),
        }
    }

    /// Returns the texts as pieces, in order.
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Text(text) => vec![Piece { text: text.decode(), thought: false }],
            Self::Parts(parts) => parts::pieces(parts),
        }
    }

    /// Returns the texts, in order.
    pub(super) fn texts(&self) -> Vec<String> {
        self.pieces().into_iter().map(|piece| piece.text.into_owned()).collect()
    }

    /// Returns the joined text, if there is any.
    pub(super) fn text(&self) -> Option<JsonText> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(text.clone()),
            Self::Parts(parts) => parts::text(parts),
        }
    }

    /// Returns `true` if there is a part without text.
    pub(super) fn has_non_text(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.iter().any(|part| part.text.is_none()))
    }

    /// Returns the content with other texts, or `None` if nothing is left. A string stays a string.
    /// `path` is the content's path, `new` creates a part from a text.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        new: impl Fn(&str) -> RawJson,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawJson> {
        let Self::Parts(parts) = self else {
            let text: String =
                portions.into_iter().map(|portion| self.edited_text(portion)).collect();
            return (!text.is_empty()).then(|| RawJson::from_text(&text));
        };
        let path_of = |index| format!("{path}[{index}]");
        let result = parts::rewritten(parts, portions, path_of, new, warnings);
        (!result.is_empty()).then(|| RawJson::from_items(&result))
    }

    /// Returns the content without text, for a message that must stay without its text. A list that
    /// had a text part keeps one, since not every server accepts a list without parts.
    pub(super) fn emptied(&self) -> RawJson {
        let part = match self {
            Self::Absent | Self::Text(_) => return RawJson::from_text(""),
            Self::Parts(parts) => parts.iter().find(|part| part.text.is_some()),
        };
        let part = part.map(|part| parts::Part::with_text(part, ""));
        RawJson::from_items(&part)
    }

    /// Returns the text of a string content after an edit.
    fn edited_text(&self, portion: Portion) -> String {
        match (portion, self) {
            (Portion::Change(_, text) | Portion::New(text), _) => text,
            (Portion::Keep(_) | Portion::KeepThought(_), Self::Text(text)) => {
                text.decode().into_owned()
            }
            _ => String::new(),
        }
    }
}

impl Part {
    /// Reads the next value as a part. It has text if its type is a text type or absent.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut kind, mut text) = (None, None);
        let raw = object_or_null(walk, |walk, name| match name {
            "type" => kind = Some(walk.value()),
            "text" => text = Some(walk.value()),
            _ => {}
        })?;
        let text = match read_text("type", kind)? {
            Some(other) if !TEXT_TYPES.contains(&&*other) => None,
            _ => read_json_text("text", text)?,
        };
        Ok(Self { raw: raw.to_raw(), text })
    }

    /// Returns all fields. Parsed on demand, since few edits need them.
    fn fields(&self) -> JsonObject {
        self.raw.to_object().unwrap_or_default()
    }
}

/// Steps through the next value, an object or `null`, which counts as one without fields.
pub(super) fn object_or_null<'v>(
    walk: &mut JsonWalk<'v>,
    take: impl FnMut(&mut JsonWalk<'v>, &str),
) -> Result<JsonSlice<'v>, ShapeError> {
    let raw = walk.entries(take);
    match raw.kind() {
        JsonKind::Object | JsonKind::Null => Ok(raw),
        other => Err(ShapeError::new("", "an object", other)),
    }
}

impl parts::Part for Part {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn text(&self) -> Option<&JsonText> {
        self.text.as_ref()
    }

    fn has_other_content(&self) -> bool {
        has_other_content(&self.fields(), &["type", "text"])
    }

    fn with_text(&self, text: &str) -> RawJson {
        let mut fields = self.fields();
        fields.insert("text", RawJson::from_text(text));
        fields.to_raw().into()
    }
}

/// Returns `true` if an object has other content than these fields. `null` and an empty list do not
/// count: messages of the API have `"refusal": null` and `"annotations": []`.
pub(super) fn has_other_content(fields: &JsonObject, known: &[&str]) -> bool {
    let is_empty =
        |value: &RawJson| value.is_null() || value.to_items().is_some_and(|items| items.is_empty());
    fields.iter().any(|(name, value)| !known.contains(&name) && !is_empty(value))
}
