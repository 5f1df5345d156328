//! The token counts of a response.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::UsageMetadata;

/// The names of an SDK's token counts.
#[derive(Debug)]
pub(crate) struct UsageNames {
    /// The field of the counts.
    pub(crate) field: &'static str,
    /// The counts of prompt, answer and total tokens.
    pub(crate) counts: [&'static str; 3],
}

/// The token counts of one response.
#[derive(Debug)]
pub(crate) struct Usage {
    names: &'static UsageNames,
    object: Option<RawObject>,
    shown: Option<UsageMetadata>,
}

impl Usage {
    /// Takes the counts out of a response's fields.
    pub(crate) fn read(
        names: &'static UsageNames,
        fields: &mut FieldReader,
    ) -> Result<Self, ShapeError> {
        let object = fields.object(names.field)?;
        let shown = |usage: &RawObject| {
            let mut fields = FieldReader::new(usage.fields());
            let mut count = |name| fields.number(name).map_err(|error| error.within(names.field));
            let [prompt, answer, total] = names.counts;
            Ok(UsageMetadata {
                prompt_token_count: count(prompt)?,
                candidates_token_count: count(answer)?,
                total_token_count: count(total)?,
            })
        };
        let shown = object.as_ref().map(shown).transpose()?;
        Ok(Self { names, object, shown })
    }

    /// Returns the counts that hooks see.
    pub(crate) fn shown(&self) -> Option<UsageMetadata> {
        self.shown.clone()
    }

    /// Returns the object with a hook's counts, or `None` if they change nothing.
    pub(crate) fn overlaid(&self, given: &UsageMetadata) -> Option<RawObject> {
        let shown = self.shown.clone().unwrap_or_default();
        let mut changes = JsonObject::new();
        for (name, (given, shown)) in self.names.counts.into_iter().zip([
            (&given.prompt_token_count, &shown.prompt_token_count),
            (&given.candidates_token_count, &shown.candidates_token_count),
            (&given.total_token_count, &shown.total_token_count),
        ]) {
            if let Some(count) = given.as_ref().filter(|_| given != shown) {
                changes.insert(name, RawJson::clone(count));
            }
        }
        if changes.is_empty() {
            return None;
        }
        Some(self.object.as_ref().map_or_else(|| changes.to_raw(), |usage| usage.merged(&changes)))
    }
}
