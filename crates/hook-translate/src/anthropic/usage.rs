//! Token counts.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::UsageMetadata;

use crate::Warning;

/// The counts of tokens that the model read: new ones, and those written to and read from a cache.
const INPUT_COUNTS: [&str; 3] =
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

/// The `usage` of a response.
#[derive(Debug, Default)]
pub(super) struct Usage {
    raw: Option<RawObject>,
    /// The number of tokens read that are not `input_tokens`.
    cached: u64,
    shown: Option<UsageMetadata>,
}

impl Usage {
    /// Reads the `usage` of a response, if there is one.
    pub(super) fn read(response: &mut FieldReader) -> Result<Self, ShapeError> {
        let Some(usage) = response.object("usage")? else { return Ok(Self::default()) };
        let mut reader = FieldReader::new(usage.fields());
        let mut count = |name| reader.number(name).map_err(|error| error.within("usage"));
        let (mut input, mut cached) = (None, 0_u64);
        for name in INPUT_COUNTS {
            let Some(count) = count(name)?.as_ref().and_then(RawJson::to_u64) else {
                continue;
            };
            input = Some(count.saturating_add(input.unwrap_or_default()));
            if name != INPUT_COUNTS[0] {
                cached = cached.saturating_add(count);
            }
        }
        let output = count("output_tokens")?;
        let total = input
            .zip(output.as_ref().and_then(RawJson::to_u64))
            .map(|(input, output)| input.saturating_add(output));
        let shown = UsageMetadata {
            prompt_token_count: input.map(RawJson::from_u64),
            candidates_token_count: output,
            total_token_count: total.map(RawJson::from_u64),
        };
        Ok(Self { raw: Some(usage), cached, shown: Some(shown) })
    }

    /// Returns the counts that hooks see.
    pub(super) fn shown(&self) -> Option<UsageMetadata> {
        self.shown.clone()
    }

    /// Returns the usage with a hook's counts, or `None` if nothing changes.
    pub(super) fn overlaid(
        &self,
        given: &UsageMetadata,
        warnings: &mut Vec<Warning>,
    ) -> Option<RawObject> {
        let shown = self.shown.clone().unwrap_or_default();
        let mut changes = JsonObject::new();
        let is_new = |given: &Option<RawJson>, shown| given.is_some() && *given != shown;
        let mut ignored = |name: &str, message| {
            warnings.push(Warning::new(format!("usageMetadata.{name}"), message));
        };
        if let Some(count) = &given.prompt_token_count
            && is_new(&given.prompt_token_count, shown.prompt_token_count)
        {
            match count.to_u64().and_then(|count| count.checked_sub(self.cached)) {
                Some(fresh) => changes.insert(INPUT_COUNTS[0], RawJson::from_u64(fresh)),
                None => ignored(
                    "promptTokenCount",
                    "less than what the response says of its cache; it is ignored",
                ),
            }
        }
        if let Some(count) = &given.candidates_token_count
            && is_new(&given.candidates_token_count, shown.candidates_token_count)
        {
            changes.insert("output_tokens", count.clone());
        }
        if changes.is_empty() && is_new(&given.total_token_count, shown.total_token_count) {
            ignored("totalTokenCount", "the sum of the other counts here; it is ignored");
        }
        if changes.is_empty() {
            return None;
        }
        Some(self.raw.as_ref().map_or_else(|| changes.to_raw(), |usage| usage.merged(&changes)))
    }
}
