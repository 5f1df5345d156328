//! The parts of a content, and changes to their text.

use hook_json::shape::{ShapeError, read_items, read_json_text};
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson};

use crate::distribute::{Piece, Portion};
use crate::{Warning, json, parts};

/// The parts of one content.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// `true` if there was one part instead of a list.
    single: bool,
}

#[derive(Debug)]
struct Part {
    raw: RawJson,
    text: Option<JsonText>,
    thought: bool,
    /// `true` if it contains a function response.
    is_function_response: bool,
    /// `true` if it has fields other than the text.
    has_other_content: bool,
}

impl Parts {
    /// Reads the `parts` of a content: a list, or one part alone.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        match walk.kind() {
            JsonKind::Null => {
                walk.value();
                Ok(Self::default())
            }
            JsonKind::Object => Ok(Self { parts: vec![Part::read(walk)?], single: true }),
            JsonKind::Array => Ok(Self { parts: read_items(walk, Part::read)?, single: false }),
            other => {
                walk.value();
                Err(ShapeError::new("", "an array or an object", other))
            }
        }
    }

    /// Returns the parts with text, in order.
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        parts::pieces(&self.parts)
    }

    /// Returns the texts of the parts that have one.
    pub(super) fn texts(&self) -> Vec<String> {
        parts::texts(&self.parts)
    }

    /// Returns the joined text, if a part has text.
    pub(super) fn text(&self) -> Option<JsonText> {
        parts::text(&self.parts)
    }

    /// Returns `true` if a part answers a function call; it must directly follow the content with
    /// the call.
    pub(super) fn have_function_response(&self) -> bool {
        self.parts.iter().any(|part| part.is_function_response)
    }

    /// Returns `true` if there is a part without text.
    pub(super) fn have_non_text(&self) -> bool {
        self.parts.iter().any(|part| part.text.is_none() && !part.raw.is_null())
    }

    /// Returns the parts with other texts, or `None` if no part is left. Parts without text, and
    /// other content of parts with text, stay. `path` is the path of the parts.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawJson> {
        let path_of =
            |index| if self.single { path.to_owned() } else { format!("{path}[{index}]") };
        let result = parts::rewritten(&self.parts, portions, path_of, text_part, warnings);
        match result.as_slice() {
            [] => None,
            [part] if self.single => Some(part.clone()),
            parts => Some(RawJson::from_items(parts)),
        }
    }
}

impl Part {
    /// Reads the next value as a part.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let mut text = None;
        let (mut thought, mut is_function_response, mut has_other_content) = (false, false, false);
        let raw = walk.entries(|walk, name| {
            has_other_content |= name != "text";
            match name {
                "text" => text = Some(walk.value()),
                "thought" => thought = walk.value().to_bool() == Some(true),
                "functionResponse" => is_function_response = !walk.value().is_null(),
                _ => {}
            }
        });
        if !matches!(raw.kind(), JsonKind::Object | JsonKind::Null) {
            return Err(ShapeError::new("", "an object", raw.kind()));
        }
        let text = read_json_text("text", text)?;
        Ok(Self { raw: raw.to_raw(), text, thought, is_function_response, has_other_content })
    }
}

impl parts::Part for Part {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn text(&self) -> Option<&JsonText> {
        self.text.as_ref()
    }

    fn is_thought(&self) -> bool {
        self.thought
    }

    fn has_other_content(&self) -> bool {
        self.has_other_content
    }

    fn with_text(&self, text: &str) -> RawJson {
        let mut fields = self.raw.to_object().unwrap_or_default();
        fields.insert("text", RawJson::from_text(text));
        fields.to_raw().into()
    }
}

/// Returns a part with only this text.
fn text_part(text: &str) -> RawJson {
    part_from_text(RawJson::from_text(text))
}

/// Returns a part with only this string.
pub(super) fn part_from_text(text: RawJson) -> RawJson {
    json::object([("text", text)]).into()
}
