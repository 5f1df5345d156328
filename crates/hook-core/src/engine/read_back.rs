//! The merged result of a request, parsed from a message (reference/messages.md).

use hook_json::RawObject;
use hook_json::shape::{Required, ShapeError};
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::FailureCode;
use hook_protocol::read_back::{decision, fields_once, read_milliseconds, read_objects};
use hook_run::HookIdentity;

use super::aggregate::{AggregatedHookResult, ErrorReport};
use super::early_end::NotStarted;
use super::processed::{ProcessedHookResult, StageFailure};

const TEXT: &str = "a string";
const BOOLEAN: &str = "a boolean";
const TIME: &str = "a time in milliseconds";

impl AggregatedHookResult {
    /// Parses the aggregated result: `output` of a message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    pub fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let output = |object: RawObject| HookOutput::read_back(&object).map(Box::new);
        let final_output = fields.object("finalOutput")?.map(output).transpose();
        let error = |object: &RawObject| {
            let mut fields = fields_once(object)?;
            Ok(ErrorReport {
                message: fields.text("message").required("message", TEXT)?,
                hook: fields.text("hook")?,
                stage: fields.text("stage")?.map(Into::into),
            })
        };
        Ok(Self {
            success: fields.bool("success").required("success", BOOLEAN)?,
            final_output: final_output.map_err(|error| error.within("finalOutput"))?,
            all_outputs: read_objects(&mut fields, "allOutputs", HookOutput::read_back)?,
            errors: read_objects(&mut fields, "errors", error)?,
            total_duration: read_milliseconds(&mut fields, "totalDuration")
                .required("totalDuration", TIME)?,
        })
    }
}

impl ProcessedHookResult {
    /// Sets all fields from `processed` of a message, except `aggregated`, `failure` and
    /// `warnings`, which are separate fields of the message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type, or if the decision is unknown,
    /// since a caller could not act on it.
    pub fn with_read_back(self, object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        Ok(Self {
            decision: decision(&mut fields).required("decision", "a decision")?,
            reason: fields.text("reason")?,
            retry_after: read_milliseconds(&mut fields, "retryAfterMs")?,
            granted: fields.bool("granted")?.unwrap_or_default(),
            suppress_output: fields.bool("suppressOutput").required("suppressOutput", BOOLEAN)?,
            should_stop: fields.bool("shouldStop").required("shouldStop", BOOLEAN)?,
            stop_reason: fields.text("stopReason")?,
            system_message: fields.text("systemMessage")?,
            model_message: fields.text("modelMessage")?,
            additional_context: fields.text("additionalContext")?,
            modified: fields.object("modified")?.map(|modified| modified.fields()),
            ..self
        })
    }
}

impl StageFailure {
    /// Parses the failure of a request: `error` of a message. An unknown code is kept as
    /// [text](Self::code_name).
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    pub fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let name = fields.text("code").required("code", TEXT)?;
        let message = fields.text("message").required("message", TEXT)?;
        let details = fields.object("details")?.map(|details| details.fields());
        let code = FailureCode::from_name(&name);
        Ok(Self {
            code: code.unwrap_or(FailureCode::Other),
            other_code: code.is_none().then(|| name.into()),
            message,
            details: details.unwrap_or_default(),
            event: None,
            correlation_id: None,
        })
    }
}

impl NotStarted {
    /// Parses a hook that was not started: an element of `notStarted` of a message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    pub fn read_back(object: &RawObject, event_name: &str) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        Ok(Self {
            hook: HookIdentity::read_back(&mut fields, event_name)?,
            ended_by: fields.text("endedBy").required("endedBy", TEXT)?.into(),
        })
    }
}
