//! The parts of a content, and changes to their text.

use hook_json::shape::{ShapeError, keep_text, read_items};
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson};

use crate::parts;
use crate::spread::{Piece, Portion};
use crate::{Warning, json};

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
    answers: bool,
    /// `true` if it has fields other than the text.
    says_more: bool,
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
    pub(super) fn answer_a_call(&self) -> bool {
        self.parts.iter().any(|part| part.answers)
    }

    /// Returns `true` if there is a part without text.
    pub(super) fn hold_more_than_text(&self) -> bool {
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
        let place = |index| if self.single { path.to_owned() } else { format!("{path}[{index}]") };
        let written = parts::rewritten(&self.parts, portions, place, text_part, warnings);
        match written.as_slice() {
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
        let (mut thought, mut answers, mut says_more) = (false, false, false);
        let raw = walk.entries(|walk, name| {
            says_more |= name != "text";
            match name {
                "text" => text = Some(walk.value()),
                "thought" => thought = walk.value().to_bool() == Some(true),
                "functionResponse" => answers = !walk.value().is_null(),
                _ => {}
            }
        });
        if !matches!(raw.kind(), JsonKind::Object | JsonKind::Null) {
            return Err(ShapeError::new("", "an object", raw.kind()));
        }
        let text = keep_text("text", text)?;
        Ok(Self { raw: raw.to_raw(), text, thought, answers, says_more })
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

    fn says_more(&self) -> bool {
        self.says_more
    }

    fn with_text(&self, text: &str) -> RawJson {
        let mut fields = self.raw.to_object().unwrap_or_default();
        fields.insert("text", RawJson::from_text(text));
        fields.to_raw().into()
    }
}

/// Returns a part with only this text.
fn text_part(text: &str) -> RawJson {
    text_part_of(RawJson::from_text(text))
}

/// Returns a part with only this string.
pub(super) fn text_part_of(text: RawJson) -> RawJson {
    json::object([("text", text)]).into()
}
