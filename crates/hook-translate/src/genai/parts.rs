//! The parts of a content, and putting text back into them.

use hook_core::shape::{FieldReader, ShapeError};
use hook_core::{JsonKind, JsonObject, RawJson};

use crate::json;
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
        self.parts.iter().filter_map(Part::piece).collect()
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
        let with_text: Vec<usize> =
            (0..self.parts.len()).filter(|&index| self.parts[index].text.is_some()).collect();
        let mut written = Vec::with_capacity(self.parts.len());
        let mut next = 0;
        for portion in portions {
            // A new text stands directly after the one before it; all others have their places.
            if let Some(piece) = portion.piece() {
                let index = with_text[piece];
                written.extend(self.parts[next..index].iter().map(|part| part.raw.clone()));
                next = index + 1;
                let place =
                    || if self.single { path.to_owned() } else { format!("{path}[{index}]") };
                written.extend(self.parts[index].after(&portion));
                warnings.extend(warning(&portion).map(|message| Warning::new(place(), message)));
            } else if let Portion::New(text) = portion {
                written.push(text_part(&text));
            }
        }
        written.extend(self.parts[next..].iter().map(|part| part.raw.clone()));
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

    fn piece(&self) -> Option<Piece<'_>> {
        let thought = self.fields.get("thought").and_then(RawJson::to_bool);
        Some(Piece { text: self.text.as_deref()?, thought: thought == Some(true) })
    }

    /// The part after an edit; a plain one that lost its text is gone, unless it says more.
    fn after(&self, portion: &Portion) -> Option<RawJson> {
        let text = match portion {
            Portion::Keep(_) | Portion::KeepThought(_) => return Some(self.raw.clone()),
            Portion::Drop(_) if self.fields.len() == 1 => return None,
            Portion::Change(_, text) | Portion::New(text) => text,
            Portion::Drop(_) | Portion::EmptyThought(_) => "",
        };
        let mut fields = self.fields.clone();
        fields.insert("text", RawJson::from_text(text));
        Some(fields.to_raw().into())
    }
}

/// A part that says nothing but this.
pub(super) fn text_part(text: &str) -> RawJson {
    json::object([("text", RawJson::from_text(text))]).into()
}

fn warning(portion: &Portion) -> Option<&'static str> {
    match portion {
        Portion::KeepThought(_) => {
            Some("the hook's text leaves out this thought of the model; it is kept")
        }
        Portion::EmptyThought(_) => Some(
            "the hook's edit spans this thought of the model and the text beside it; \
             it is all in that text now",
        ),
        _ => None,
    }
}
