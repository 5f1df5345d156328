//! A request to run an event's hooks.

use std::sync::Arc;
use std::time::Duration;

use hook_core::StageFailure;
use hook_json::shape::{FoundFields, ShapeError, find_fields, read_field, read_text};
use hook_json::text::shortened;
use hook_json::{JsonKind, JsonObject, JsonSlice, ObjectWriter, RawJson, RawObject};
use hook_protocol::{FailureCode, HookEventName, RequestInput};
use hook_run::HostServices;

use super::{CorrelationId, EngineCheck, kind};

/// A request to run the hooks of one event.
///
/// Any text can become a request: an invalid one holds its error, and the handler answers it like
/// any other (architecture.md, "Data flow", stage 1).
#[derive(Debug, Clone)]
pub struct HookExecutionRequest {
    correlation_id: CorrelationId,
    deadline: Option<Duration>,
    streams: bool,
    inputs: bool,
    run_token: Option<Box<str>>,
    hops: u32,
    /// The client's public key, if a fleet forwarded the request. Not in the JSON form.
    client_key: Option<Arc<str>>,
    /// The check of the engine that serves the request. Not in the JSON form.
    check: Option<Arc<dyn EngineCheck>>,
    /// The client's services for hooks. Not in the JSON form.
    host: Option<Arc<dyn HostServices>>,
    body: Body,
}

/// An event by name with its input, not validated yet.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) event_name: String,
    pub(crate) input: JsonObject,
}

/// An invalid message, with the event that it names, if any.
#[derive(Debug, Clone)]
pub(crate) struct Invalid {
    pub(crate) event_name: Option<Box<str>>,
    /// A second event that it names.
    pub(crate) other_event_name: Option<Box<str>>,
    pub(crate) failure: StageFailure,
}

/// The payload, boxed so that a request is cheap to move.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// Valid by construction.
    Typed(Box<RequestInput>),
    /// To be validated by the handler.
    Named(Box<Named>),
    /// An invalid message.
    Invalid(Box<Invalid>),
}

impl HookExecutionRequest {
    /// Creates a request with a typed payload, which is valid by construction.
    pub fn typed(input: impl Into<RequestInput>) -> Self {
        Self::with_body(Body::Typed(Box::new(input.into())))
    }

    /// Creates a request from an event name and JSON, which the handler validates.
    pub fn new(event_name: impl Into<String>, input: JsonObject) -> Self {
        Self::with_body(Body::Named(Box::new(Named { event_name: event_name.into(), input })))
    }

    /// Creates a request with any JSON as input; the handler rejects it unless it is an object.
    pub fn unchecked(event_name: &str, input: impl Into<RawJson>) -> Self {
        let mut message = JsonObject::new();
        message.insert("type", RawJson::from_text(kind::REQUEST));
        message.insert("eventName", RawJson::from_text(event_name));
        message.insert("input", input);
        Self::from_object(&message.to_raw())
    }

    fn with_body(body: Body) -> Self {
        Self {
            correlation_id: CorrelationId::generate(),
            deadline: None,
            streams: false,
            inputs: false,
            run_token: None,
            hops: 0,
            client_key: None,
            check: None,
            host: None,
            body,
        }
    }

    /// Sets the id of the response; by default a generated one.
    #[must_use]
    pub fn with_correlation_id(mut self, correlation_id: CorrelationId) -> Self {
        self.correlation_id = correlation_id;
        self
    }

    /// Sets the time limit for the answer, counted from acceptance and including queueing.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Requests each hook's standard output and error in the response's JSON form.
    #[must_use]
    pub fn with_streams(mut self) -> Self {
        self.streams = true;
        self
    }

    /// Requests each hook's input in the response; in a sequential plan inputs differ.
    #[must_use]
    pub fn with_inputs(mut self) -> Self {
        self.inputs = true;
        self
    }

    /// Sets the input's `idempotencyKey`, replacing any previous one: hooks with side effects may
    /// get the same event more than once, and recognize it by this key.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: &str) -> Self {
        let named = match self.body {
            Body::Typed(input) => Named {
                event_name: input.event().as_str().to_owned(),
                input: RawObject::build(|out| input.write(out)).fields(),
            },
            Body::Named(named) => *named,
            Body::Invalid(_) => return self,
        };
        let Named { event_name, mut input } = named;
        input.insert("idempotencyKey", RawJson::from_text(key));
        self.body = Body::Named(Box::new(Named { event_name, input }));
        self
    }

    /// Marks the request as made by a running hook that waits for the answer: the one with this
    /// `HOOK_RUN_TOKEN` in its environment. The request then gets its own slots (reference/messages.md).
    ///
    /// The token is for the engine that serves the request. It is not in the JSON form.
    #[must_use]
    pub fn with_run_token(mut self, token: impl Into<Box<str>>) -> Self {
        self.run_token = Some(token.into());
        self
    }

    /// Sets the client's services for hooks that call their host. By default the host's own
    /// services are used
    /// ([`HookSystemBuilder::host_services`](crate::HookSystemBuilder::host_services)).
    ///
    /// They are for the engine that serves the request. They are not in the JSON form.
    #[must_use]
    pub fn with_host_services(mut self, services: Arc<dyn HostServices>) -> Self {
        self.host = Some(services);
        self
    }

    /// Sets the number of engines that forwarded the request; an engine uses it to detect cycles.
    ///
    /// It is for the engine that serves the request. It is not in the JSON form.
    #[must_use]
    pub fn with_hops(mut self, hops: u32) -> Self {
        self.hops = hops;
        self
    }

    /// Returns the number of engines that forwarded the request.
    pub fn hops(&self) -> u32 {
        self.hops
    }

    /// Sets the public key of the client, if a fleet forwarded the request; the response goes to
    /// that user.
    ///
    /// It is for the audit of the engine that serves the request. It is not in the JSON form.
    #[must_use]
    pub fn with_client_key(mut self, client_key: Option<Arc<str>>) -> Self {
        self.client_key = client_key;
        self
    }

    /// Sets a check of the engine that serves the request. If the check fails, the request is
    /// answered with a failure, and blocks if its event has guards.
    #[must_use]
    pub fn with_engine_check(mut self, check: Arc<dyn EngineCheck>) -> Self {
        self.check = Some(check);
        self
    }

    pub(crate) fn engine_check(&self) -> Option<&Arc<dyn EngineCheck>> {
        self.check.as_ref()
    }

    /// Returns session, tool and agent of the request; the agent only if it sent the request in its
    /// own format.
    pub(crate) fn context(&self) -> (Option<String>, Option<String>, Option<&'static str>) {
        match &self.body {
            Body::Typed(input) => {
                let payload = &input.payload;
                let tool = payload.tool_input().and_then(|_| payload.match_subject());
                let session = input.base.session_id.as_deref().map(str::to_owned);
                let agent = input.original.as_deref().map(|original| original.agent);
                (session, tool.map(str::to_owned), agent)
            }
            Body::Named(named) => {
                let text = |name: &str| named.input.get(name).and_then(RawJson::to_text);
                (text("session_id"), text("tool_name"), None)
            }
            Body::Invalid(_) => (None, None, None),
        }
    }

    /// Returns the client's public key, if a fleet forwarded the request.
    pub(crate) fn client_key(&self) -> Option<&Arc<str>> {
        self.client_key.as_ref()
    }

    pub(crate) fn host_services(&self) -> Option<&Arc<dyn HostServices>> {
        self.host.as_ref()
    }

    /// Parses a request from JSON text. An error is kept as its
    /// [`envelope_error`](Self::envelope_error).
    pub fn from_json(text: &str) -> Self {
        match RawObject::parse(text) {
            Ok(object) => Self::from_object(&object),
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

    /// Parses a request from a JSON object.
    pub fn from_object(object: &RawObject) -> Self {
        Self::from_fields(&RequestFields::find(object))
    }

    /// Parses a request from fields already found.
    pub(crate) fn from_fields(fields: &RequestFields<'_>) -> Self {
        let correlation_id = match fields.id() {
            Ok(id) => id.unwrap_or_else(CorrelationId::generate),
            Err(message) => return Self::malformed(fields, message),
        };
        if let Some(name) = fields.repeated {
            // Another parser of this request may use the first value.
            let error = ShapeError::new(name, "one value", "several");
            return Self::malformed(fields, error.to_string());
        }
        let event_name = fields.event_name.and_then(JsonSlice::text);
        match envelope(fields, event_name.as_deref()) {
            Ok(Envelope { named, deadline, streams, inputs, run_token }) => {
                let body = Body::Named(Box::new(named));
                let request = Self::with_body(body);
                Self { correlation_id, deadline, streams, inputs, run_token, ..request }
            }
            Err(message) => Self::malformed(fields, message),
        }
    }

    /// Creates a request that is answered `invalid_request`: under its own id if that is readable,
    /// and blocked if an event that it names has guards, whatever else is wrong.
    pub(crate) fn malformed(fields: &RequestFields<'_>, message: impl Into<String>) -> Self {
        let event_name = fields.event_name.and_then(JsonSlice::text);
        let first_event_name = fields.first_event_name.and_then(JsonSlice::text);
        let request = Self::with_body(Body::Invalid(Box::new(Invalid {
            event_name: event_name.as_deref().map(Box::from),
            other_event_name: first_event_name.as_deref().map(Box::from),
            failure: StageFailure::new(FailureCode::InvalidRequest, message),
        })));
        match fields.id() {
            Ok(Some(id)) => request.with_correlation_id(id),
            Ok(None) | Err(_) => request,
        }
    }

    /// Creates a request that is answered `invalid_request` for this reason, and blocked if the
    /// event that it names has guards.
    pub fn rejected(event_name: Option<&str>, reason: impl Into<String>) -> Self {
        Self::with_body(Body::Invalid(Box::new(Invalid {
            event_name: event_name.map(Box::from),
            other_event_name: None,
            failure: StageFailure::new(FailureCode::InvalidRequest, reason),
        })))
    }

    /// Creates a request that is answered with this failure.
    pub(crate) fn invalid(code: FailureCode, message: impl Into<String>) -> Self {
        let failure = StageFailure::new(code, message);
        Self::with_body(Body::Invalid(Box::new(Invalid {
            event_name: None,
            other_event_name: None,
            failure,
        })))
    }

    /// Adds a detail to the error of the envelope, if there is one.
    pub(crate) fn with_envelope_detail(
        mut self,
        name: &str,
        value: impl FnOnce() -> RawJson,
    ) -> Self {
        if let Body::Invalid(invalid) = &mut self.body {
            invalid.failure.details.insert(name, value());
        }
        self
    }

    /// Returns the id of the response.
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Returns the time limit for the answer, counted from acceptance.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Returns the event's name as given, if there is one.
    pub fn event_name(&self) -> Option<&str> {
        match &self.body {
            Body::Typed(input) => Some(input.event().as_str()),
            Body::Named(named) => Some(&named.event_name),
            Body::Invalid(invalid) => invalid.event_name.as_deref(),
        }
    }

    /// Returns the event, if it is typed or named like a built-in one.
    pub fn event(&self) -> Option<HookEventName> {
        self.event_among(HookEventName::from_name)
    }

    /// Returns the event, if `known` finds its name. A typed event may belong to a declaration that
    /// is no longer effective.
    pub(crate) fn event_among(
        &self,
        find: impl Fn(&str) -> Option<HookEventName>,
    ) -> Option<HookEventName> {
        match &self.body {
            Body::Typed(input) => {
                let event = input.event();
                let current = event.row().is_declared().then(|| find(event.as_str())).flatten();
                current.or(Some(event))
            }
            Body::Named(named) => find(&named.event_name),
            Body::Invalid(invalid) => invalid.event_name.as_deref().and_then(find),
        }
    }

    /// Returns the error of an invalid request, which will be its answer.
    pub fn envelope_error(&self) -> Option<&StageFailure> {
        match &self.body {
            Body::Invalid(invalid) => Some(&invalid.failure),
            Body::Typed(_) | Body::Named(_) => None,
        }
    }

    pub(crate) fn wants_streams(&self) -> bool {
        self.streams
    }

    pub(crate) fn wants_inputs(&self) -> bool {
        self.inputs
    }

    pub(crate) fn run_token(&self) -> Option<&str> {
        self.run_token.as_deref()
    }

    pub(crate) fn into_parts(self) -> (CorrelationId, Body) {
        (self.correlation_id, self.body)
    }

    /// Returns the request as one line of JSON for its server, without the newline, at any depth.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::value(512, |out| {
            self.write(out);
            out.optional_text("runToken", self.run_token());
        })
    }

    /// Writes the fields of the message, without the run's token, which is its server's to know.
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

    /// Returns the request's approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> usize {
        512 + match &self.body {
            Body::Typed(input) => ObjectWriter::length(|out| input.write(out)),
            // The input keeps the text alive from which it was parsed.
            Body::Named(named) => named.event_name.len() + named.input.retained_bytes(),
            Body::Invalid(invalid) => invalid.failure.message.len(),
        }
    }
}

/// Two requests are equal if their JSON forms are.
impl PartialEq for HookExecutionRequest {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

/// The fields of a message that may be a request, found in one pass and not validated yet.
pub(crate) struct RequestFields<'v> {
    pub(crate) kind: Option<JsonSlice<'v>>,
    event_name: Option<JsonSlice<'v>>,
    correlation_id: Option<JsonSlice<'v>>,
    input: Option<JsonSlice<'v>>,
    deadline: Option<JsonSlice<'v>>,
    streams: Option<JsonSlice<'v>>,
    inputs: Option<JsonSlice<'v>>,
    run_token: Option<JsonSlice<'v>>,
    /// The name of a repeated field.
    pub(crate) repeated: Option<&'static str>,
    /// The first of several events that it names.
    first_event_name: Option<JsonSlice<'v>>,
}

impl<'v> RequestFields<'v> {
    pub(crate) fn find(object: &'v RawObject) -> Self {
        let names = [
            "type",
            "eventName",
            "correlationId",
            "input",
            "deadlineMs",
            "streams",
            "inputs",
            "runToken",
            // The old name of `input`.
            "payload",
        ];
        let FoundFields { values, duplicates: repeated } = find_fields(object, names);
        let [
            kind,
            event_name,
            correlation_id,
            input,
            deadline,
            streams,
            inputs,
            run_token,
            payload,
        ] = values;
        let [_, first_event_name, ..] = repeated;
        let repeated = repeated.iter().position(Option::is_some).map(|index| names[index]);
        let repeated = repeated.or((input.is_some() && payload.is_some()).then_some("input"));
        let input = input.or(payload);
        Self {
            kind,
            event_name,
            correlation_id,
            input,
            deadline,
            streams,
            inputs,
            run_token,
            repeated,
            first_event_name,
        }
    }

    /// Returns the same fields without the event.
    pub(crate) fn without_event(&self) -> Self {
        Self { event_name: None, first_event_name: None, ..*self }
    }

    /// Returns the id of the answer, if the message has one.
    ///
    /// # Errors
    /// If the id is invalid.
    pub(crate) fn id(&self) -> Result<Option<CorrelationId>, String> {
        let text = read_text("correlationId", self.correlation_id);
        let text = text.map_err(|error| error.to_string())?;
        text.map(CorrelationId::new).transpose().map_err(|error| error.to_string())
    }
}

struct Envelope {
    named: Named,
    deadline: Option<Duration>,
    streams: bool,
    inputs: bool,
    run_token: Option<Box<str>>,
}

fn envelope(fields: &RequestFields<'_>, event_name: Option<&str>) -> Result<Envelope, String> {
    let to_message = |error: ShapeError| error.to_string();
    let boolean =
        |name, value| read_field(name, value, "a boolean", JsonSlice::to_bool).map_err(to_message);
    let message_type = read_text("type", fields.kind).map_err(to_message)?;
    if message_type.as_deref() != Some(kind::REQUEST) {
        let found = message_type
            .map_or_else(|| "nothing".to_owned(), |found| format!("{:?}", shortened(&found)));
        return Err(format!("field `type`: expected {:?}, found {found}", kind::REQUEST));
    }
    let event_name =
        event_name.ok_or("field `eventName`: expected the name of an event as a string")?;
    let object = |value: JsonSlice<'_>| RawObject::try_from(value.to_raw()).ok();
    let input = read_field("input", fields.input, "an object", object)
        .map_err(to_message)?
        .ok_or("field `input`: expected the event's input as an object, found nothing")?;
    let deadline =
        fields.deadline.map(|value| read_deadline(&value.to_raw())).transpose()?.flatten();
    let streams = boolean("streams", fields.streams)?.unwrap_or_default();
    let inputs = boolean("inputs", fields.inputs)?.unwrap_or_default();
    let run_token = read_text("runToken", fields.run_token).map_err(to_message)?.map(Box::from);
    let named = Named { event_name: event_name.to_owned(), input: input.fields() };
    Ok(Envelope { named, deadline, streams, inputs, run_token })
}

/// Reads the field `deadlineMs`.
///
/// # Errors
/// Returns an error if it is not `null` or a number of whole milliseconds.
pub(crate) fn read_deadline(value: &RawJson) -> Result<Option<Duration>, String> {
    let expected = match value.kind() {
        JsonKind::Null => return Ok(None),
        JsonKind::Number => match value.to_u64() {
            Some(milliseconds) => return Ok(Some(Duration::from_millis(milliseconds))),
            None => format!("whole milliseconds, found {}", shortened(value.as_str())),
        },
        other => format!("a number, found {other}"),
    };
    Err(format!("field `deadlineMs`: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_json_form() {
        let text = r#"{"type":"hook-execution-request","eventName":"BeforeTool","input":{"tool_input":{"n":1e007}},"correlationId":"c","deadlineMs":5,"streams":true,"inputs":true,"runToken":"t"}"#;
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
            (
                format!(r#"{{{r},"eventName":"X","input":{{}},"payload":{{}}}}"#),
                "field `input`: expected one value, found several",
            ),
        ] {
            let Body::Invalid(invalid) = HookExecutionRequest::from_json(&text).body else {
                panic!("{text} was taken for a request");
            };
            assert_eq!(invalid.failure.message, expected);
        }
    }
}
