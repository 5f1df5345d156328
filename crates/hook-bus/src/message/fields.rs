//! The fields of each message, for its schema.

use hook_protocol::event::DEFINITION_FIELDS;
use hook_run::HookKind;
use hook_run::WorkerStatus;
use hook_settings::AuditLevel;
use hook_settings::schema::{Field, FieldKind};

use super::correlation::MAX_LENGTH;
use super::kind;
use crate::audit::AuditKind;

/// The names of types that the schema defines itself.
pub(crate) mod defined {
    /// The name of an event, in responses and progress.
    pub(crate) const EVENT: &str = "event";
    /// A hook's output, as read or merged.
    pub(crate) const OUTPUT: &str = "output";
    /// The error of a request that could not be served.
    pub(crate) const ERROR: &str = "error";
}

const CORRELATION_ID: FieldKind = FieldKind::TextUpTo(MAX_LENGTH);
const EVENT_NAME: Field =
    Field::required("eventName", FieldKind::Defined(defined::EVENT), "The event.");
const ECHOED_ID: Field = Field::required("correlationId", CORRELATION_ID, "The id of the request.");
const WARNINGS: Field = Field::required(
    "warnings",
    FieldKind::ListOf(&FieldKind::Text),
    "Texts for the hook's author.",
);

pub(super) const fn type_field(name: &'static str) -> Field {
    Field::required("type", FieldKind::Literal(name), "What message it is.")
}

/// A request, except `input`, which depends on the event.
pub(crate) static REQUEST: [Field; 7] = [
    type_field(kind::REQUEST),
    Field::required("eventName", FieldKind::Text, "The event."),
    Field::optional(
        "correlationId",
        CORRELATION_ID,
        "An id that the response will have; without one, one is made.",
    ),
    Field::optional(
        "deadlineMs",
        FieldKind::Unsigned(0, None),
        "How long after its acceptance the request must be answered, in milliseconds.",
    ),
    Field::optional(
        "streams",
        FieldKind::Bool,
        "Asks for what each hook wrote to standard output and standard error.",
    ),
    Field::optional("inputs", FieldKind::Bool, "Asks for what each hook was told."),
    Field::optional(
        "runToken",
        FieldKind::Text,
        "The HOOK_RUN_TOKEN of the hook that waits for the answer, if one does.",
    ),
];

/// The other messages of clients, by name.
pub(crate) static CLIENT_MESSAGES: [(&str, &[Field]); 8] = [
    ("subscribe", &[type_field("hook-subscribe")]),
    ("status", &[type_field("hook-status")]),
    ("tail", &[type_field("hook-tail")]),
    (
        "audit",
        &[
            type_field(kind::AUDIT),
            Field::required("level", FieldKind::OneOf(&AuditLevel::NAMES), "How much to tell."),
        ],
    ),
    (
        "cancel",
        &[
            type_field("hook-cancel"),
            Field::required("correlationId", CORRELATION_ID, "The id of the requests to cancel."),
        ],
    ),
    (
        "define-event",
        &[
            type_field("hook-define-event"),
            Field::optional("correlationId", CORRELATION_ID, "The id of the reply."),
            Field::required("eventName", FieldKind::Text, "The name of the event."),
            DEFINITION_FIELDS[0],
            DEFINITION_FIELDS[1],
            DEFINITION_FIELDS[2],
        ],
    ),
    ("reload", &[type_field("hook-reload")]),
    (
        "bridge",
        &[
            type_field("hook-bridge"),
            Field::optional("correlationId", CORRELATION_ID, "The id of the reply."),
            Field::required("agent", FieldKind::NonEmpty(None), "The agent that asks."),
            Field::optional(
                "event",
                FieldKind::Text,
                "What the agent calls the event; without it, what it says itself.",
            ),
            Field::required("said", FieldKind::Text, "What the agent wrote, as JSON in a string."),
            Field::optional(
                "deadlineMs",
                FieldKind::Number,
                "How long after its acceptance it must be answered.",
            ),
        ],
    ),
];

pub(crate) static RESPONSE: [Field; 11] = [
    type_field(kind::RESPONSE),
    ECHOED_ID,
    Field::optional(
        "eventName",
        FieldKind::Defined(defined::EVENT),
        "The event; absent if the request named none that is known.",
    ),
    Field::required(
        "success",
        FieldKind::Bool,
        "Whether every stage was completed; what hooks did there does not matter.",
    ),
    Field::optional("output", FieldKind::Open(&AGGREGATED), "What the hooks answered, merged."),
    Field::optional("processed", FieldKind::Open(&PROCESSED), "What the caller is to do."),
    Field::optional("hooks", FieldKind::ListOf(&FieldKind::Open(&HOOK)), "What each hook did."),
    Field::optional(
        "notStarted",
        FieldKind::ListOf(&FieldKind::Open(&NOT_STARTED)),
        "The hooks that were not started, because of what one of an earlier priority answered.",
    ),
    Field::optional(
        "error",
        FieldKind::Defined(defined::ERROR),
        "The stage that failed, if one did.",
    ),
    Field::optional("engine", FieldKind::Open(&ENGINE), "Which engine of a fleet answered."),
    Field::optional(
        "warnings",
        FieldKind::ListOf(&FieldKind::Text),
        "What the caller should tell its user, such as settings that cannot be read and hooks that failed.",
    ),
];

static AGGREGATED: [Field; 5] = [
    Field::required("success", FieldKind::Bool, "Whether every hook succeeded."),
    Field::optional(
        "finalOutput",
        FieldKind::Defined(defined::OUTPUT),
        "The merged answer; absent if no hook gave one.",
    ),
    Field::required(
        "allOutputs",
        FieldKind::ListOf(&FieldKind::Defined(defined::OUTPUT)),
        "All answers, in plan order.",
    ),
    Field::required(
        "errors",
        FieldKind::ListOf(&FieldKind::Open(&ERROR_REPORT)),
        "What went wrong.",
    ),
    Field::required("totalDuration", FieldKind::Number, "The sum of durations, in milliseconds."),
];

static ENGINE: [Field; 3] = [
    Field::required("id", FieldKind::Text, "Tells it apart from others for as long as it runs."),
    Field::required("version", FieldKind::Text, "Its version."),
    Field::optional(
        "settingsHash",
        FieldKind::Text,
        "What its settings are, and what is trusted of them, where it knows.",
    ),
];

static NOT_STARTED: [Field; 5] = [
    HOOK_NAME,
    HOOK_TYPE,
    HOOK_SOURCE,
    HOOK_EXTENSION,
    Field::required("endedBy", FieldKind::Text, "The hook by whose answer it was not."),
];

static ERROR_REPORT: [Field; 3] = [
    Field::required("message", FieldKind::Text, "What went wrong."),
    Field::optional("hook", FieldKind::Text, "The hook it happened to."),
    Field::optional("stage", FieldKind::Text, "The stage it happened in."),
];

static PROCESSED: [Field; 11] = [
    Field::required(
        "decision",
        FieldKind::OneOf(&["proceed", "ask", "retry", "block", "stop"]),
        "The strongest of all answers.",
    ),
    Field::optional("reason", FieldKind::Text, "Why, unless it is `proceed`."),
    Field::optional(
        "retryAfterMs",
        FieldKind::Number,
        "How long to wait before the retry, in milliseconds.",
    ),
    Field::optional(
        "granted",
        FieldKind::Bool,
        "Whether a hook grants what the user would be asked for.",
    ),
    Field::required("suppressOutput", FieldKind::Bool, "Whether to hide the event's output."),
    Field::required("shouldStop", FieldKind::Bool, "Whether the agent should stop."),
    Field::optional("stopReason", FieldKind::Text, "Why it should."),
    Field::optional("systemMessage", FieldKind::Text, "A message for the display."),
    Field::optional("modelMessage", FieldKind::Text, "The same message for the model."),
    Field::optional("additionalContext", FieldKind::Text, "Text for the model."),
    Field::optional(
        "modified",
        FieldKind::AnyObject,
        "All changes of the tool's input, the request or the response, under its name.",
    ),
];

/// The error of a request that could not be served.
pub(crate) static ERROR: [Field; 3] = [
    Field::required("code", FieldKind::Text, "Which stage failed."),
    Field::required("message", FieldKind::Text, "What went wrong, and how to fix it."),
    Field::optional("details", FieldKind::AnyObject, "More about it."),
];

const HOOK_NAME: Field =
    Field::required("name", FieldKind::Text, "The hook's name, else its command.");
const HOOK_TYPE: Field =
    Field::required("type", FieldKind::OneOf(&HookKind::NAMES), "What the hook is run by.");
const HOOK_SOURCE: Field = Field::required(
    "source",
    FieldKind::OneOf(&[
        "project",
        "user",
        "system",
        "extension",
        "explicit",
        "client",
        "in-process",
    ]),
    "Where the hook comes from.",
);
const HOOK_EXTENSION: Field = Field::optional(
    "extension",
    FieldKind::Text,
    "The name of the extension, where it comes from one.",
);

const WORKER_HISTORY: [Field; 2] = [
    Field::required(
        "state",
        FieldKind::OneOf(&WorkerStatus::STATES),
        "How it is; a broken one is started no more.",
    ),
    Field::required("restarts", FieldKind::Unsigned(0, None), "How often it was started again."),
];

/// A worker, identified by the first hook in the settings that calls it.
static WORKER: [Field; 10] = [
    Field::required("eventName", FieldKind::Text, "The event of that hook; `*` for every one."),
    HOOK_NAME,
    HOOK_TYPE,
    Field::required("command", FieldKind::Text, "The beginning of its command, or its module."),
    HOOK_SOURCE,
    Field::optional("file", FieldKind::Text, "The settings file that it stands in."),
    Field::optional("line", FieldKind::Unsigned(0, None), "The line there."),
    Field::optional("column", FieldKind::Unsigned(0, None), "The column there."),
    Field::required("hooks", FieldKind::Unsigned(1, None), "How many hooks call it."),
    Field::required("worker", FieldKind::Open(&WORKER_STATUS), "How it is."),
];

static WORKER_STATUS: [Field; 5] = [
    WORKER_HISTORY[0],
    WORKER_HISTORY[1],
    Field::optional("process", FieldKind::Unsigned(1, None), "The id of its process."),
    Field::optional(
        "failure",
        FieldKind::Text,
        "Why its last process ended, of one that should not have.",
    ),
    Field::optional("droppedAnswers", FieldKind::Open(&DROPPED), "Answers that nobody waited for."),
];

static DROPPED: [Field; 2] = [
    Field::required("late", FieldKind::Unsigned(0, None), "To calls that were over."),
    Field::required("unknown", FieldKind::Unsigned(0, None), "To calls that never were."),
];

/// The result of a hook.
static HOOK: [Field; 20] = [
    HOOK_NAME,
    HOOK_TYPE,
    HOOK_SOURCE,
    HOOK_EXTENSION,
    Field::required("success", FieldKind::Bool, "Whether it exited with 0, or returned no error."),
    Field::optional("exitCode", FieldKind::Number, "How its process exited, if it did."),
    Field::optional("signal", FieldKind::Text, "The signal that ended it, such as SIGKILL."),
    Field::required("duration", FieldKind::Number, "How long it ran, in milliseconds."),
    Field::required(
        "queued",
        FieldKind::Number,
        "How long it waited for a place, in milliseconds.",
    ),
    Field::optional(
        "askedAgain",
        FieldKind::Bool,
        "Present where it ran again, on what other hooks had made of the input.",
    ),
    Field::optional("timedOut", FieldKind::Bool, "Present where its timeout ended it."),
    Field::optional(
        "leaked",
        FieldKind::Bool,
        "Present where what it started held its output open.",
    ),
    Field::optional("truncated", FieldKind::Bool, "Present where it wrote more than is kept."),
    Field::optional(
        "worker",
        FieldKind::Open(&WORKER_HISTORY),
        "Of a worker that was started again, or is broken: how it was when the call was over.",
    ),
    WARNINGS,
    Field::optional("error", FieldKind::Text, "Why it failed."),
    Field::optional(
        "decision",
        FieldKind::OneOf(&["proceed", "ask", "retry", "block", "stop"]),
        "What it decided by itself, if what it wrote was asked for and was an answer.",
    ),
    Field::optional(
        "stdout",
        FieldKind::Text,
        "What is kept of its standard output, if asked for.",
    ),
    Field::optional("stderr", FieldKind::Text, "What is kept of its standard error, if asked for."),
    Field::optional("input", FieldKind::AnyObject, "What it was told, if asked for."),
];

static STARTED_HOOK: [Field; 5] = [
    HOOK_NAME,
    HOOK_TYPE,
    HOOK_SOURCE,
    HOOK_EXTENSION,
    Field::required("timeout", FieldKind::Number, "How long it may run, in milliseconds."),
];

/// One operation of a JSON Patch.
static CHANGE: [Field; 4] = [
    Field::required("op", FieldKind::OneOf(&["add", "replace", "remove"]), "What was done."),
    Field::required("path", FieldKind::Text, "Where, as JSON Pointer."),
    Field::optional(
        "value",
        FieldKind::Any,
        "The new value; the beginning of its text where it is cut.",
    ),
    Field::optional("cut", FieldKind::Unsigned(0, None), "How many bytes it had, where it is cut."),
];

const WITHHELD: Field = Field::optional(
    "withheld",
    FieldKind::Text,
    "Why values are left out, where it is not known what to redact.",
);

const RECORDED_AT: Field =
    Field::required("at", FieldKind::Unsigned(0, None), "Microseconds since the recording began.");

static RECORDED_GROUP: [Field; 2] = [
    Field::required("priority", FieldKind::Number, "The priority of its hooks."),
    Field::required(
        "hooks",
        FieldKind::Unsigned(1, None),
        "How many of the response's hooks it is.",
    ),
];

/// The other messages of the engine, by name; the last three answer `hook-tail` and are the lines
/// of a recording.
pub(crate) static ENGINE_MESSAGES: [(&str, &[Field]); 13] = [
    (
        "states",
        &[
            type_field("hook-states"),
            Field::required(
                "workers",
                FieldKind::ListOf(&FieldKind::Open(&WORKER)),
                "The workers of hooks that are trusted and switched on.",
            ),
            Field::optional("omitted", FieldKind::Unsigned(1, None), "How many more there are."),
        ],
    ),
    (
        "event-defined",
        &[
            type_field("hook-event-defined"),
            Field::optional(
                "correlationId",
                FieldKind::Text,
                "That of the message, if it had one.",
            ),
            Field::required("eventName", FieldKind::Defined(defined::EVENT), "The event."),
        ],
    ),
    (
        "hello",
        &[
            type_field("hook-hello"),
            Field::required("engine", FieldKind::Text, "Who speaks."),
            Field::required("version", FieldKind::Text, "The engine's version."),
            Field::required(
                "protocol",
                FieldKind::Unsigned(1, None),
                "The version of these messages.",
            ),
            Field::required("project", FieldKind::Text, "The project's directory."),
            Field::required(
                "clientToken",
                FieldKind::Text,
                "What gets this client's hooks back over another connection.",
            ),
            Field::optional(
                "settingsHash",
                FieldKind::Text,
                "What the settings are, and what is trusted of them, where that is known.",
            ),
        ],
    ),
    (
        "bridged",
        &[
            type_field("hook-bridged"),
            ECHOED_ID,
            Field::required("stdout", FieldKind::Text, "What the agent reads on standard output."),
            Field::required("stderr", FieldKind::Text, "What it reads on standard error."),
            Field::required(
                "exitCode",
                FieldKind::Unsigned(0, Some(255)),
                "The exit code that it sees.",
            ),
            WARNINGS,
        ],
    ),
    (
        "started",
        &[
            type_field(kind::STARTED),
            ECHOED_ID,
            EVENT_NAME,
            Field::required("hook", FieldKind::Open(&STARTED_HOOK), "The hook that runs now."),
        ],
    ),
    (
        "finished",
        &[
            type_field(kind::FINISHED),
            ECHOED_ID,
            EVENT_NAME,
            Field::required("hook", FieldKind::Open(&HOOK), "What became of it."),
        ],
    ),
    (
        "reloaded",
        &[
            type_field("hook-reloaded"),
            Field::required("success", FieldKind::Bool, "Whether the engine could be rebuilt."),
            Field::required(
                "totalHooks",
                FieldKind::Unsigned(0, None),
                "How many hooks there are.",
            ),
            Field::required(
                "warnings",
                FieldKind::ListOf(&FieldKind::Text),
                "What is wrong with settings.",
            ),
        ],
    ),
    (
        "lagged",
        &[
            type_field("hook-lagged"),
            Field::required(
                "missed",
                FieldKind::Unsigned(0, None),
                "How many messages were dropped.",
            ),
            Field::optional(
                "tooLarge",
                FieldKind::Unsigned(1, None),
                "How many of them were each larger than all that may wait; absent if none was.",
            ),
        ],
    ),
    (
        "refused",
        &[
            type_field("hook-refused"),
            Field::required("message", FieldKind::Text, "Why the connection ends here."),
        ],
    ),
    (
        "audited",
        &[
            type_field(kind::AUDIT),
            Field::required("at", FieldKind::Text, "When, ISO 8601."),
            Field::required("kind", FieldKind::OneOf(&AuditKind::NAMES), "What happened."),
            Field::optional("correlationId", CORRELATION_ID, "The request it happened for."),
            Field::optional("session", FieldKind::Text, "The agent's session."),
            Field::optional(
                "agent",
                FieldKind::Text,
                "The agent, where it asked in its own words.",
            ),
            Field::optional("tool", FieldKind::Text, "The tool."),
            Field::optional("asker", FieldKind::Text, "Who asked over a fleet: a public key."),
            Field::optional("eventName", FieldKind::Defined(defined::EVENT), "The event."),
            Field::optional("hook", FieldKind::Text, "The hook's name, else its command."),
            Field::optional("reason", FieldKind::Text, "Why."),
            Field::optional(
                "changes",
                FieldKind::ListOf(&FieldKind::Open(&CHANGE)),
                "What was changed of the event's input, as JSON Patch.",
            ),
            Field::optional(
                "missed",
                FieldKind::Unsigned(1, None),
                "How many entries are missing here.",
            ),
            WITHHELD,
        ],
    ),
    (
        "recording",
        &[
            type_field("hook-recording"),
            Field::required("version", FieldKind::Unsigned(1, None), "The version of recordings."),
            Field::required("engine", FieldKind::Text, "The engine's version."),
            Field::required("startedAt", FieldKind::Text, "When it began, ISO 8601."),
            Field::required("project", FieldKind::Text, "The project's directory."),
        ],
    ),
    (
        "recorded",
        &[
            RECORDED_AT,
            Field::required(
                "request",
                FieldKind::Unsigned(0, None),
                "Which request it belongs to.",
            ),
            Field::optional(
                "groups",
                FieldKind::ListOf(&FieldKind::Open(&RECORDED_GROUP)),
                "With a response: which of its hooks ran together, unless all did.",
            ),
            Field::required(
                "message",
                FieldKind::AnyObject,
                "The message, as its receivers see it.",
            ),
            WITHHELD,
        ],
    ),
    (
        "gap",
        &[
            RECORDED_AT,
            Field::required(
                "missed",
                FieldKind::Unsigned(0, None),
                "How many lines are missing here.",
            ),
        ],
    ),
];
