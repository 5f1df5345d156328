//! Fields and answers parsed from messages (reference/messages.md), for clients and recordings.

use std::time::Duration;

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};

use crate::event::output::{Decision, HookOutput, PolicyDecision};

/// Returns a reader for the fields of a message's object. Duplicate fields are rejected: another
/// reader may take the first where this one takes the last.
///
/// # Errors
/// Returns an error if a field is duplicated.
pub fn fields_once(object: &RawObject) -> Result<FieldReader, ShapeError> {
    of_fields(object.fields())
}

/// Like [`fields_once`], for fields that are parsed already.
///
/// # Errors
/// Returns an error if a field is duplicated.
pub fn of_fields(fields: JsonObject) -> Result<FieldReader, ShapeError> {
    match fields.duplicate_key() {
        Some(name) => Err(ShapeError::new(shortened(name), "one value", "several")),
        None => Ok(FieldReader::new(fields)),
    }
}

/// Times of at least this many microseconds (35 years) have no fraction of a millisecond.
const EXACT_MICROSECONDS: f64 = (1_u64 << 50) as f64;

/// Reads an optional time in milliseconds, as written in messages.
///
/// # Errors
/// Returns an error if the field has another type or is out of range.
pub fn read_milliseconds(
    fields: &mut FieldReader,
    name: &str,
) -> Result<Option<Duration>, ShapeError> {
    let Some(number) = fields.number(name)? else { return Ok(None) };
    let whole = || number.to_u64().map(Duration::from_millis);
    let fraction = || {
        let milliseconds: f64 = number.as_str().parse().ok()?;
        // Messages have microsecond precision, which `f64` represents exactly up to this limit.
        let microseconds = (milliseconds * 1_000.0).round();
        (0.0..EXACT_MICROSECONDS)
            .contains(&microseconds)
            .then(|| Duration::from_micros(microseconds as u64))
    };
    let Some(time) = whole().or_else(fraction) else {
        let expected = "a time in milliseconds";
        return Err(ShapeError::new(name, expected, shortened(number.as_str())));
    };
    Ok(Some(time))
}

/// Reads an array of objects; empty if the field is missing.
///
/// # Errors
/// Returns an error if the field has another type, or the error of `read` with the element's index.
pub fn read_objects<T>(
    fields: &mut FieldReader,
    name: &str,
    mut read: impl FnMut(&RawObject) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let items = fields.items(name)?.unwrap_or_default();
    let read = |(index, item): (usize, RawJson)| {
        let path = format!("{name}[{index}]");
        let kind = item.kind();
        match RawObject::try_from(item) {
            Ok(object) => read(&object).map_err(|error| error.within(&path)),
            Err(_) => Err(ShapeError::new(path, "an object", kind.to_string())),
        }
    };
    items.into_iter().enumerate().map(read).collect()
}

/// Reads a final decision.
///
/// # Errors
/// Returns an error if the decision is unknown.
pub fn decision(fields: &mut FieldReader) -> Result<Option<PolicyDecision>, ShapeError> {
    let Some(word) = fields.text("decision")? else { return Ok(None) };
    let expected = "`proceed`, `ask`, `retry`, `block` or `stop`";
    let known = PolicyDecision::from_name(&word);
    known.map(Some).ok_or_else(|| ShapeError::new("decision", expected, shortened(&word)))
}

impl HookOutput {
    /// Parses an answer from a message. Messages contain normalized answers, so nothing is
    /// corrected.
    ///
    /// # Errors
    /// Returns an error if a known field has another type, or a field is duplicated.
    pub fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        Ok(Self {
            should_continue: fields.bool("continue")?,
            stop_reason: fields.text("stopReason")?,
            suppress_output: fields.bool("suppressOutput")?,
            system_message: fields.text("systemMessage")?,
            decision: fields.text("decision")?.map(|word| Decision::from_name(&word)),
            reason: fields.text("reason")?,
            retry_after: read_milliseconds(&mut fields, "retryAfterMs")?,
            skip_remaining: fields.bool("skipRemaining")?,
            hook_specific_output: match fields.object("hookSpecificOutput")? {
                Some(specific) => {
                    let once = fields_once(&specific).map(FieldReader::into_rest);
                    Some(once.map_err(|error| error.within("hookSpecificOutput"))?)
                }
                None => None,
            },
            extra: fields.into_rest(),
        })
    }
}
