//! An alternative of a response, and a hook's changes to it.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::{LlmCandidate, LlmRole, SafetyRating};

use super::parts::Parts;
use crate::alternatives::Alternative;
use crate::distribute::{Piece, Portion};
use crate::{Warning, json};

/// An element of a response's `candidates`.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    fields: JsonObject,
    content: JsonObject,
    parts: Parts,
    ratings: Vec<JsonObject>,
    shown: LlmCandidate,
}

impl Candidate {
    /// Reads an element of `candidates`. `path` is the element's path.
    pub(super) fn read(raw: &RawJson, path: impl Fn() -> String) -> Result<Self, ShapeError> {
        let fields =
            raw.to_object().map_err(|_| ShapeError::new(path(), "an object", raw.kind()))?;
        Self::read_fields(fields).map_err(|error| error.within(&path()))
    }

    fn read_fields(fields: JsonObject) -> Result<Self, ShapeError> {
        let mut reader = FieldReader::new(fields.clone());
        let content = reader.object("content")?.map(|content| content.fields()).unwrap_or_default();
        let parts = content.get("parts").map(|parts| Parts::read(&mut parts.walk())).transpose();
        let parts = parts.map_err(|error| error.within("content.parts"))?.unwrap_or_default();
        let (ratings, shown_ratings) = match reader.items("safetyRatings")? {
            Some(ratings) => read_ratings(&ratings).map(|(all, shown)| (all, Some(shown)))?,
            None => (Vec::new(), None),
        };
        let shown = LlmCandidate {
            parts: Some(parts.texts()),
            finish_reason: reader.text("finishReason")?,
            index: reader.number("index")?,
            safety_ratings: shown_ratings,
        };
        Ok(Self { fields, content, parts, ratings, shown })
    }

    /// Returns a candidate for a hook's candidate.
    pub(super) fn from_hook(given: &LlmCandidate) -> RawJson {
        let mut fields = JsonObject::new();
        if let Some(texts) = &given.parts {
            let parts = Parts::default().rewritten(
                texts.iter().cloned().map(Portion::New).collect(),
                "",
                &mut Vec::new(),
            );
            let role = RawJson::from_text(LlmRole::Model.as_str());
            let parts = parts.unwrap_or_else(|| RawJson::from_items([]));
            fields.insert("content", json::object([("role", role), ("parts", parts)]));
        }
        let rest = LlmCandidate { parts: None, ..given.clone() };
        fields.merge(&Self::default().changes(&rest));
        fields.to_raw().into()
    }
}

impl Alternative for Candidate {
    fn shown(&self) -> &LlmCandidate {
        &self.shown
    }

    fn has_non_text(&self) -> bool {
        self.parts.have_non_text()
    }

    fn fields(&self) -> &JsonObject {
        &self.fields
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        self.parts.pieces()
    }

    fn changes(&self, given: &LlmCandidate) -> JsonObject {
        let mut changes = JsonObject::new();
        if let Some(reason) = &given.finish_reason
            && given.finish_reason != self.shown.finish_reason
        {
            changes.insert("finishReason", RawJson::from_text(reason));
        }
        if let Some(index) = &given.index
            && given.index != self.shown.index
        {
            changes.insert("index", index.clone());
        }
        if let Some(ratings) = &given.safety_ratings
            && given.safety_ratings != self.shown.safety_ratings
        {
            let ratings: Vec<RawJson> = ratings
                .iter()
                .enumerate()
                .map(|(index, rating)| overlaid_rating(self.ratings.get(index), rating))
                .collect();
            changes.insert("safetyRatings", RawJson::from_items(&ratings));
        }
        changes
    }

    fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> (&'static str, RawObject) {
        let path = format!("{path}.content.parts");
        let parts = self.parts.rewritten(portions, &path, warnings);
        let mut content = self.content.clone();
        if json::given(&content, "role").is_none() {
            content.insert("role", RawJson::from_text(LlmRole::Model.as_str()));
        }
        content.insert("parts", parts.unwrap_or_else(|| RawJson::from_items([])));
        ("content", content.to_raw())
    }
}

fn read_ratings(items: &[RawJson]) -> Result<(Vec<JsonObject>, Vec<SafetyRating>), ShapeError> {
    let read = |(index, item): (usize, &RawJson)| {
        let path = || format!("safetyRatings[{index}]");
        let fields =
            item.to_object().map_err(|_| ShapeError::new(path(), "an object", item.kind()))?;
        let mut reader = FieldReader::new(fields.clone());
        let mut text = |name| reader.text(name).map_err(|error| error.within(&path()));
        let shown = SafetyRating {
            category: text("category")?,
            probability: text("probability")?,
            blocked: None,
        };
        Ok((fields, shown))
    };
    items.iter().enumerate().map(read).collect()
}

/// Returns a rating with a hook's changes, if both have the same category.
fn overlaid_rating(original: Option<&JsonObject>, given: &SafetyRating) -> RawJson {
    let category = |fields: &&JsonObject| fields.get("category").and_then(RawJson::to_text);
    let mut fields =
        original.filter(|fields| category(fields) == given.category).cloned().unwrap_or_default();
    for (name, text) in [("category", &given.category), ("probability", &given.probability)] {
        if let Some(text) = text {
            fields.insert(name, RawJson::from_text(text));
        }
    }
    if let Some(blocked) = given.blocked {
        fields.insert("blocked", RawJson::from_bool(blocked));
    }
    fields.to_raw().into()
}
