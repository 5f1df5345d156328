//! A request to run an event's hooks.

use std::time::Duration;

use hook_core::shape::{FieldReader, ShapeError};
use hook_core::text::shortened;
use hook_core::{
    FailureCode, HookEventName, JsonObject, ObjectWriter, RawJson, RequestInput, StageFailure,
};

use super::{CorrelationId, kind};

/// A request to run the hooks of one event.
///
/// Every text that claims to be a request is one: what is wrong with it is found at the handler's
/// door, which answers it like any other (architecture.md, "Data flow", stage 1).
#[derive(Debug, Clone)]
pub struct HookExecutionRequest {
    correlation_id: CorrelationId,
    deadline: Option<Duration>,
    streams: bool,
    inputs: bool,
    run_token: Option<Box<str>>,
    body: Body,
}

/// What is asked for by name, to be checked at the door.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) event_name: String,
    pub(crate) input: JsonObject,
}

/// What is no envelope, with the event that it names if it does.
#[derive(Debug, Clone)]
pub(crate) struct Invalid {
    pub(crate) event: Option<HookEventName>,
    pub(crate) failure: StageFailure,
}

/// Boxed, so that a request is cheap to hand on.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// Valid by construction.
    Typed(Box<RequestInput>),
    /// To be checked at the door.
    Named(Box<Named>),
    /// Not an envelope.
    Invalid(Box<Invalid>),
}

impl HookExecutionRequest {
    /// A request with a payload that has been checked by being built.
    pub fn typed(input: impl Into<RequestInput>) -> Self {
        Self::with_body(Body::Typed(Box::new(input.into())))
    }

    /// A request as a component publishes it that knows names and JSON only.
    pub fn new(event_name: impl Into<String>, input: JsonObject) -> Self {
        Self::with_body(Body::Named(Box::new(Named { event_name: event_name.into(), input })))
    }

    /// A request with an input that may be anything: what is not an object is found at the door.
    pub fn unchecked(event_name: &str, input: impl Into<RawJson>) -> Self {
        let mut message = JsonObject::new();
        message.insert("type", RawJson::from_text(kind::REQUEST));
        message.insert("eventName", RawJson::from_text(event_name));
        message.insert("input", input);
        Self::from_object(message)
    }

    fn with_body(body: Body) -> Self {
        Self {
            correlation_id: CorrelationId::generate(),
            deadline: None,
            streams: false,
            inputs: false,
            run_token: None,
            body,
        }
    }

    /// Sets the id that the response will carry; without it, one was generated.
    #[must_use]
    pub fn with_correlation_id(mut self, correlation_id: CorrelationId) -> Self {
        self.correlation_id = correlation_id;
        self
    }

    /// Sets how long after its acceptance the request must be answered, queueing included.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Asks for what each hook wrote to stdout and stderr in the response's JSON form.
    #[must_use]
    pub fn with_streams(mut self) -> Self {
        self.streams = true;
        self
    }

    /// Asks for what each hook was told: in a sequential plan that is not the same for all.
    #[must_use]
    pub fn with_inputs(mut self) -> Self {
        self.inputs = true;
        self
    }

    /// Says that the request comes from inside of a hook that waits for its answer: the one with this
    /// `HOOK_RUN_TOKEN` in its environment. It then gets slots of its own (protocol.md §6).
    ///
    /// The token is for the engine that serves the request, and no part of the JSON form.
    #[must_use]
    pub fn with_run_token(mut self, token: impl Into<Box<str>>) -> Self {
        self.run_token = Some(token.into());
        self
    }

    /// Reads a request from JSON text.
    pub fn from_json(text: &str) -> Self {
        match RawJson::parse(text).and_then(|value| value.to_object()) {
            Ok(fields) => Self::from_object(fields),
            Err(error) => Self::invalid(
                FailureCode::InvalidRequest,
                format!(
                    "expected a request as one JSON object: {} at column {}",
                    error.reason(),
                    error.column()
                ),
            ),
        }
    }

    /// Reads a request from a JSON object.
    pub fn from_object(fields: JsonObject) -> Self {
        let repeated = fields.repeated().map(str::to_owned);
        let mut fields = FieldReader::new(fields);
        let event_name = fields.text("eventName").ok().flatten();
        // What it was meant for is known whatever else is wrong, and may have a guard.
        let event = event_name.as_deref().and_then(HookEventName::from_name);
        let invalid = |message| {
            let failure = StageFailure::new(FailureCode::InvalidRequest, message);
            Self::with_body(Body::Invalid(Box::new(Invalid { event, failure })))
        };
        let correlation_id = match correlation_id(&mut fields) {
            Ok(given) => given.unwrap_or_else(CorrelationId::generate),
            Err(message) => return invalid(message),
        };
        if let Some(name) = repeated {
            // What reads the request elsewhere may take the first value.
            let error = ShapeError::new(shortened(&name), "one value", "several");
            return invalid(error.to_string()).with_correlation_id(correlation_id);
        }
        match envelope(&mut fields, event_name) {
            Ok(Envelope { named, deadline, streams, inputs, run_token }) => {
                let body = Body::Named(Box::new(named));
                Self { correlation_id, deadline, streams, inputs, run_token, body }
            }
            Err(message) => invalid(message).with_correlation_id(correlation_id),
        }
    }

    /// A request that cannot be served, to be answered with that failure.
    pub(crate) fn invalid(code: FailureCode, message: impl Into<String>) -> Self {
        let failure = StageFailure::new(code, message);
        Self::with_body(Body::Invalid(Box::new(Invalid { event: None, failure })))
    }

    /// Adds a detail to what is wrong with the envelope, if anything is.
    pub(crate) fn with_envelope_detail(mut self, name: &str, value: RawJson) -> Self {
        if let Body::Invalid(invalid) = &mut self.body {
            invalid.failure.details.insert(name, value);
        }
        self
    }

    /// The id that the response will carry.
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// How long after its acceptance the request must be answered.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// The event's name as it was given, if there is one.
    pub fn event_name(&self) -> Option<&str> {
        match &self.body {
            Body::Typed(input) => Some(input.event().as_str()),
            Body::Named(named) => Some(&named.event_name),
            Body::Invalid(invalid) => invalid.event.map(HookEventName::as_str),
        }
    }

    /// The event, if its name is known.
    pub fn event(&self) -> Option<HookEventName> {
        match &self.body {
            Body::Typed(input) => Some(input.event()),
            Body::Named(named) => HookEventName::from_name(&named.event_name),
            Body::Invalid(invalid) => invalid.event,
        }
    }

    /// Whether it was read as a request, whatever may be wrong with it further on.
    pub(crate) fn is_envelope(&self) -> bool {
        !matches!(self.body, Body::Invalid(_))
    }

    pub(crate) fn asks_for_streams(&self) -> bool {
        self.streams
    }

    pub(crate) fn asks_for_inputs(&self) -> bool {
        self.inputs
    }

    pub(crate) fn run_token(&self) -> Option<&str> {
        self.run_token.as_deref()
    }

    pub(crate) fn into_body(self) -> Body {
        self.body
    }

    /// The request as one line of JSON, without the line's end.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out))
    }

    /// Writes the fields of the message.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("type", kind::REQUEST);
        out.optional_text("eventName", self.event_name());
        match &self.body {
            Body::Typed(input) => out.object("input", |out| input.write(out)),
            Body::Named(named) => out.object("input", |out| out.fields(&named.input)),
            Body::Invalid(_) => {}
        }
        out.text("correlationId", self.correlation_id.as_str());
        if let Some(deadline) = self.deadline {
            out.milliseconds("deadlineMs", deadline);
        }
        if self.streams {
            out.bool("streams", true);
        }
        if self.inputs {
            out.bool("inputs", true);
        }
        out.warnings_if_any::<&str>(&[]);
    }

    /// About how many bytes the request holds in memory.
    pub(crate) fn weight(&self) -> usize {
        512 + match &self.body {
            Body::Typed(input) => ObjectWriter::length(|out| input.write(out)),
            // What it holds on to is the text that it was read from.
            Body::Named(named) => named.event_name.len() + named.input.retained_bytes(),
            Body::Invalid(invalid) => invalid.failure.message.len(),
        }
    }
}

fn correlation_id(fields: &mut FieldReader) -> Result<Option<CorrelationId>, String> {
    let text = fields.text("correlationId").map_err(|error| error.to_string())?;
    text.map(CorrelationId::new).transpose().map_err(|error| error.to_string())
}

struct Envelope {
    named: Named,
    deadline: Option<Duration>,
    streams: bool,
    inputs: bool,
    run_token: Option<Box<str>>,
}

fn envelope(fields: &mut FieldReader, event_name: Option<String>) -> Result<Envelope, String> {
    let text = |error: ShapeError| error.to_string();
    fields.alias("payload", "input");
    let message_type = fields.text("type").map_err(text)?;
    if message_type.as_deref() != Some(kind::REQUEST) {
        let found = message_type
            .map_or_else(|| "nothing".to_owned(), |found| format!("{:?}", shortened(&found)));
        return Err(format!("field `type`: expected {:?}, found {found}", kind::REQUEST));
    }
    let event_name =
        event_name.ok_or("field `eventName`: expected the name of an event as a string")?;
    let input = fields
        .object("input")
        .map_err(text)?
        .ok_or("field `input`: expected the event's input as an object, found nothing")?;
    let deadline = match fields.number("deadlineMs").map_err(text)? {
        None => None,
        Some(number) => Some(whole_milliseconds(&number).ok_or_else(|| {
            let found = shortened(number.as_str());
            format!("field `deadlineMs`: expected whole milliseconds, found {found}")
        })?),
    };
    let streams = fields.bool("streams").map_err(text)?.unwrap_or_default();
    let inputs = fields.bool("inputs").map_err(text)?.unwrap_or_default();
    let run_token = fields.text("runToken").map_err(text)?.map(String::into_boxed_str);
    let named = Named { event_name, input: input.fields() };
    Ok(Envelope { named, deadline, streams, inputs, run_token })
}

fn whole_milliseconds(number: &RawJson) -> Option<Duration> {
    number.to_whole_number().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_json_form() {
        let text = r#"{"type":"hook-execution-request","eventName":"BeforeTool","input":{"tool_input":{"n":1e007}},"correlationId":"c","deadlineMs":5,"streams":true,"inputs":true}"#;
        assert_eq!(HookExecutionRequest::from_json(text).to_json(), text.as_bytes());
    }

    #[test]
    fn what_is_wrong_with_an_envelope_is_said() {
        let r = r#""type":"hook-execution-request""#;
        for (text, expected) in [
            (
                "nonsense".to_owned(),
                "expected a request as one JSON object: expected ident at column 2",
            ),
            (
                "[]".to_owned(),
                "expected a request as one JSON object: expected an object, found an array at column 1",
            ),
            ("{}".to_owned(), "field `type`: expected \"hook-execution-request\", found nothing"),
            (format!("{{{r}}}"), "field `eventName`: expected the name of an event as a string"),
            (
                format!(r#"{{{r},"eventName":"X"}}"#),
                "field `input`: expected the event's input as an object, found nothing",
            ),
            (
                format!(r#"{{{r},"eventName":"X","input":[]}}"#),
                "field `input`: expected an object, found an array",
            ),
            (
                format!(r#"{{{r},"correlationId":7}}"#),
                "field `correlationId`: expected a string, found a number",
            ),
            (
                format!(r#"{{{r},"eventName":"X","payload":{{}},"deadlineMs":1.5}}"#),
                "field `deadlineMs`: expected whole milliseconds, found 1.5",
            ),
            (
                format!(r#"{{{r},"eventName":"X","input":{{}},"eventName":"Y"}}"#),
                "field `eventName`: expected one value, found several",
            ),
        ] {
            let Body::Invalid(invalid) = HookExecutionRequest::from_json(&text).into_body() else {
                panic!("{text} was taken for a request");
            };
            assert_eq!(invalid.failure.message, expected);
        }
    }
}
