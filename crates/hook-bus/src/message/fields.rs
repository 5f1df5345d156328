//! The fields of each message, for its schema.

use hook_protocol::event::DEFINITION_FIELDS;
use hook_run::HookKind;
use hook_run::WorkerStatus;
use hook_settings::AuditLevel;
use hook_settings::language::NAMES;
use hook_settings::schema::{Field, Kind};

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

const CORRELATION_ID: Kind = Kind::TextUpTo(MAX_LENGTH);
const EVENT_NAME: Field = Field::required("eventName", Kind::Defined(defined::EVENT), "The event.");
const ECHOED_ID: Field = Field::required("correlationId", CORRELATION_ID, "The id of the request.");
const WARNINGS: Field =
    Field::required("warnings", Kind::ListOf(&Kind::Text), "Texts for the hook's author.");

pub(super) const fn type_of(word: &'static str) -> Field {
    Field::required("type", Kind::Word(word), "What message it is.")
}

/// A request, except `input`, which depends on the event.
pub(crate) static REQUEST: [Field; 7] = [
    type_of(kind::REQUEST),
    Field::required("eventName", Kind::Text, "The event."),
    Field::optional(
        "correlationId",
        CORRELATION_ID,
        "An id that the response will have; without one, one is made.",
    ),
    Field::optional(
        "deadlineMs",
        Kind::Whole(0, None),
        "How long after its acceptance the request must be answered, in milliseconds.",
    ),
    Field::optional(
        "streams",
        Kind::Bool,
        "Asks for what each hook wrote to standard output and standard error.",
    ),
    Field::optional("inputs", Kind::Bool, "Asks for what each hook was told."),
    Field::optional(
        "runToken",
        Kind::Text,
        "The HOOK_RUN_TOKEN of the hook that waits for the answer, if one does.",
    ),
];

/// The other messages of clients, by name.
pub(crate) static CONTROL: [(&str, &[Field]); 8] = [
    ("subscribe", &[type_of("hook-subscribe")]),
    ("status", &[type_of("hook-status")]),
    ("tail", &[type_of("hook-tail")]),
    (
        "audit",
        &[
            type_of(kind::AUDIT),
            Field::required("level", Kind::Words(&AuditLevel::NAMES), "How much to tell."),
        ],
    ),
    (
        "cancel",
        &[
            type_of("hook-cancel"),
            Field::required("correlationId", CORRELATION_ID, "The id of the requests to cancel."),
        ],
    ),
    (
        "define-event",
        &[
            type_of("hook-define-event"),
            Field::optional("correlationId", CORRELATION_ID, "The id of the reply."),
            Field::required("eventName", Kind::Text, "The name of the event."),
            DEFINITION_FIELDS[0],
            DEFINITION_FIELDS[1],
            DEFINITION_FIELDS[2],
        ],
    ),
    ("reload", &[type_of("hook-reload")]),
    (
        "bridge",
        &[
            type_of("hook-bridge"),
            Field::optional("correlationId", CORRELATION_ID, "The id of the reply."),
            Field::required("agent", Kind::Words(&NAMES), "The agent that asks."),
            Field::optional(
                "event",
                Kind::Text,
                "What the agent calls the event; without it, what it says itself.",
            ),
            Field::required("said", Kind::Text, "What the agent wrote, as JSON in a string."),
            Field::optional(
                "deadlineMs",
                Kind::Number,
                "How long after its acceptance it must be answered.",
            ),
        ],
    ),
];

pub(crate) static RESPONSE: [Field; 11] = [
    type_of(kind::RESPONSE),
    ECHOED_ID,
    Field::optional(
        "eventName",
        Kind::Defined(defined::EVENT),
        "The event; absent if the request named none that is known.",
    ),
    Field::required(
        "success",
        Kind::Bool,
        "Whether every stage was completed; what hooks did there does not matter.",
    ),
    Field::optional("output", Kind::Open(&AGGREGATED), "What the hooks answered, merged."),
    Field::optional("processed", Kind::Open(&PROCESSED), "What the caller is to do."),
    Field::optional("hooks", Kind::ListOf(&Kind::Open(&HOOK)), "What each hook did."),
    Field::optional(
        "notStarted",
        Kind::ListOf(&Kind::Open(&NOT_STARTED)),
        "The hooks that were not started, because of what one of an earlier priority answered.",
    ),
    Field::optional("error", Kind::Defined(defined::ERROR), "The stage that failed, if one did."),
    Field::optional("engine", Kind::Open(&ENGINE), "Which engine of a fleet answered."),
    Field::optional(
        "warnings",
        Kind::ListOf(&Kind::Text),
        "What the caller should tell its user, such as settings that cannot be read and hooks that failed.",
    ),
];

static AGGREGATED: [Field; 5] = [
    Field::required("success", Kind::Bool, "Whether every hook succeeded."),
    Field::optional(
        "finalOutput",
        Kind::Defined(defined::OUTPUT),
        "The merged answer; absent if no hook gave one.",
    ),
    Field::required(
        "allOutputs",
        Kind::ListOf(&Kind::Defined(defined::OUTPUT)),
        "All answers, in plan order.",
    ),
    Field::required("errors", Kind::ListOf(&Kind::Open(&ERROR_REPORT)), "What went wrong."),
    Field::required("totalDuration", Kind::Number, "The sum of durations, in milliseconds."),
];

static ENGINE: [Field; 3] = [
    Field::required("id", Kind::Text, "Tells it apart from others for as long as it runs."),
    Field::required("version", Kind::Text, "Its version."),
    Field::optional(
        "settingsHash",
        Kind::Text,
        "What its settings are, and what is trusted of them, where it knows.",
    ),
];

static NOT_STARTED: [Field; 5] = [
    HOOK_NAME,
    HOOK_TYPE,
    HOOK_SOURCE,
    HOOK_EXTENSION,
    Field::required("endedBy", Kind::Text, "The hook by whose answer it was not."),
];

static ERROR_REPORT: [Field; 3] = [
    Field::required("message", Kind::Text, "What went wrong."),
    Field::optional("hook", Kind::Text, "The hook it happened to."),
    Field::optional("stage", Kind::Text, "The stage it happened in."),
];

static PROCESSED: [Field; 11] = [
    Field::required(
        "decision",
        Kind::Words(&["proceed", "ask", "retry", "block", "stop"]),
        "The strongest of all answers.",
    ),
    Field::optional("reason", Kind::Text, "Why, unless it is `proceed`."),
    Field::optional(
        "retryAfterMs",
        Kind::Number,
        "How long to wait before the retry, in milliseconds.",
    ),
    Field::optional(
        "granted",
        Kind::Bool,
        "Whether a hook grants what the user would be asked for.",
    ),
    Field::required("suppressOutput", Kind::Bool, "Whether to hide the event's output."),
    Field::required("shouldStop", Kind::Bool, "Whether the agent should stop."),
    Field::optional("stopReason", Kind::Text, "Why it should."),
    Field::optional("systemMessage", Kind::Text, "A message for the display."),
    Field::optional("modelMessage", Kind::Text, "The same message for the model."),
    Field::optional("additionalContext", Kind::Text, "Text for the model."),
    Field::optional(
        "modified",
        Kind::AnyObject,
        "All changes of the tool's input, the request or the response, under its name.",
    ),
];

/// The error of a request that could not be served.
pub(crate) static ERROR: [Field; 3] = [
    Field::required("code", Kind::Text, "Which stage failed."),
    Field::required("message", Kind::Text, "What went wrong, and how to fix it."),
    Field::optional("details", Kind::AnyObject, "More about it."),
];

const HOOK_NAME: Field = Field::required("name", Kind::Text, "The hook's name, else its command.");
const HOOK_TYPE: Field =
    Field::required("type", Kind::Words(&HookKind::NAMES), "What the hook is run by.");
const HOOK_SOURCE: Field = Field::required(
    "source",
    Kind::Words(&["project", "user", "system", "extension", "explicit", "client", "in-process"]),
    "Where the hook comes from.",
);
const HOOK_EXTENSION: Field =
    Field::optional("extension", Kind::Text, "The name of the extension, where it comes from one.");

const WORKER_HISTORY: [Field; 2] = [
    Field::required(
        "state",
        Kind::Words(&WorkerStatus::STATES),
        "How it is; a broken one is started no more.",
    ),
    Field::required("restarts", Kind::Whole(0, None), "How often it was started again."),
];

/// A worker, identified by the first hook in the settings that calls it.
static WORKER: [Field; 10] = [
    Field::required("eventName", Kind::Text, "The event of that hook; `*` for every one."),
    HOOK_NAME,
    HOOK_TYPE,
    Field::required("command", Kind::Text, "The beginning of its command, or its module."),
    HOOK_SOURCE,
    Field::optional("file", Kind::Text, "The settings file that it stands in."),
    Field::optional("line", Kind::Whole(0, None), "The line there."),
    Field::optional("column", Kind::Whole(0, None), "The column there."),
    Field::required("hooks", Kind::Whole(1, None), "How many hooks call it."),
    Field::required("worker", Kind::Open(&WORKER_STATUS), "How it is."),
];

static WORKER_STATUS: [Field; 5] = [
    WORKER_HISTORY[0],
    WORKER_HISTORY[1],
    Field::optional("process", Kind::Whole(1, None), "The id of its process."),
    Field::optional(
        "failure",
        Kind::Text,
        "Why its last process ended, of one that should not have.",
    ),
    Field::optional("droppedAnswers", Kind::Open(&DROPPED), "Answers that nobody waited for."),
];

static DROPPED: [Field; 2] = [
    Field::required("late", Kind::Whole(0, None), "To calls that were over."),
    Field::required("unknown", Kind::Whole(0, None), "To calls that never were."),
];

/// The result of a hook.
static HOOK: [Field; 20] = [
    HOOK_NAME,
    HOOK_TYPE,
    HOOK_SOURCE,
    HOOK_EXTENSION,
    Field::required("success", Kind::Bool, "Whether it exited with 0, or returned no error."),
    Field::optional("exitCode", Kind::Number, "How its process exited, if it did."),
    Field::optional("signal", Kind::Text, "The signal that ended it, such as SIGKILL."),
    Field::required("duration", Kind::Number, "How long it ran, in milliseconds."),
    Field::required("queued", Kind::Number, "How long it waited for a place, in milliseconds."),
    Field::optional(
        "askedAgain",
        Kind::Bool,
        "Present where it ran again, on what other hooks had made of the input.",
    ),
    Field::optional("timedOut", Kind::Bool, "Present where its timeout ended it."),
    Field::optional("leaked", Kind::Bool, "Present where what it started held its output open."),
    Field::optional("truncated", Kind::Bool, "Present where it wrote more than is kept."),
    Field::optional(
        "worker",
        Kind::Open(&WORKER_HISTORY),
        "Of a worker that was started again, or is broken: how it was when the call was over.",
    ),
    WARNINGS,
    Field::optional("error", Kind::Text, "Why it failed."),
    Field::optional(
        "decision",
        Kind::Words(&["proceed", "ask", "retry", "block", "stop"]),
        "What it decided by itself, if what it wrote was asked for and was an answer.",
    ),
    Field::optional("stdout", Kind::Text, "What is kept of its standard output, if asked for."),
    Field::optional("stderr", Kind::Text, "What is kept of its standard error, if asked for."),
    Field::optional("input", Kind::AnyObject, "What it was told, if asked for."),
];

static STARTED_HOOK: [Field; 5] = [
    HOOK_NAME,
    HOOK_TYPE,
    HOOK_SOURCE,
    HOOK_EXTENSION,
    Field::required("timeout", Kind::Number, "How long it may run, in milliseconds."),
];

/// One operation of a JSON Patch.
static CHANGE: [Field; 4] = [
    Field::required("op", Kind::Words(&["add", "replace", "remove"]), "What was done."),
    Field::required("path", Kind::Text, "Where, as JSON Pointer."),
    Field::optional(
        "value",
        Kind::Any,
        "The new value; the beginning of its text where it is cut.",
    ),
    Field::optional("cut", Kind::Whole(0, None), "How many bytes it had, where it is cut."),
];

const WITHHELD: Field = Field::optional(
    "withheld",
    Kind::Text,
    "Why values are left out, where it is not known what to redact.",
);

const RECORDED_AT: Field =
    Field::required("at", Kind::Whole(0, None), "Microseconds since the recording began.");

static RECORDED_GROUP: [Field; 2] = [
    Field::required("priority", Kind::Number, "The priority of its hooks."),
    Field::required("hooks", Kind::Whole(1, None), "How many of the response's hooks it is."),
];

/// The other messages of the engine, by name; the last three answer `hook-tail` and are the lines
/// of a recording.
pub(crate) static NEWS: [(&str, &[Field]); 13] = [
    (
        "states",
        &[
            type_of("hook-states"),
            Field::required(
                "workers",
                Kind::ListOf(&Kind::Open(&WORKER)),
                "The workers of hooks that are trusted and switched on.",
            ),
            Field::optional("omitted", Kind::Whole(1, None), "How many more there are."),
        ],
    ),
    (
        "event-defined",
        &[
            type_of("hook-event-defined"),
            Field::optional("correlationId", Kind::Text, "That of the message, if it had one."),
            Field::required("eventName", Kind::Defined(defined::EVENT), "The event."),
        ],
    ),
    (
        "hello",
        &[
            type_of("hook-hello"),
            Field::required("engine", Kind::Text, "Who speaks."),
            Field::required("version", Kind::Text, "The engine's version."),
            Field::required("protocol", Kind::Whole(1, None), "The version of these messages."),
            Field::required("project", Kind::Text, "The project's directory."),
            Field::required(
                "clientToken",
                Kind::Text,
                "What gets this client's hooks back over another connection.",
            ),
            Field::optional(
                "settingsHash",
                Kind::Text,
                "What the settings are, and what is trusted of them, where that is known.",
            ),
        ],
    ),
    (
        "bridged",
        &[
            type_of("hook-bridged"),
            ECHOED_ID,
            Field::required("stdout", Kind::Text, "What the agent reads on standard output."),
            Field::required("stderr", Kind::Text, "What it reads on standard error."),
            Field::required("exitCode", Kind::Whole(0, Some(255)), "The exit code that it sees."),
            WARNINGS,
        ],
    ),
    (
        "started",
        &[
            type_of(kind::STARTED),
            ECHOED_ID,
            EVENT_NAME,
            Field::required("hook", Kind::Open(&STARTED_HOOK), "The hook that runs now."),
        ],
    ),
    (
        "finished",
        &[
            type_of(kind::FINISHED),
            ECHOED_ID,
            EVENT_NAME,
            Field::required("hook", Kind::Open(&HOOK), "What became of it."),
        ],
    ),
    (
        "reloaded",
        &[
            type_of("hook-reloaded"),
            Field::required("success", Kind::Bool, "Whether the engine could be rebuilt."),
            Field::required("totalHooks", Kind::Whole(0, None), "How many hooks there are."),
            Field::required("warnings", Kind::ListOf(&Kind::Text), "What is wrong with settings."),
        ],
    ),
    (
        "lagged",
        &[
            type_of("hook-lagged"),
            Field::required("missed", Kind::Whole(0, None), "How many messages were dropped."),
            Field::optional(
                "tooLarge",
                Kind::Whole(1, None),
                "How many of them were each larger than all that may wait; absent if none was.",
            ),
        ],
    ),
    (
        "refused",
        &[
            type_of("hook-refused"),
            Field::required("message", Kind::Text, "Why the connection ends here."),
        ],
    ),
    (
        "audited",
        &[
            type_of(kind::AUDIT),
            Field::required("at", Kind::Text, "When, ISO 8601."),
            Field::required("kind", Kind::Words(&AuditKind::NAMES), "What happened."),
            Field::optional("correlationId", CORRELATION_ID, "The request it happened for."),
            Field::optional("session", Kind::Text, "The agent's session."),
            Field::optional("agent", Kind::Text, "The agent, where it asked in its own words."),
            Field::optional("tool", Kind::Text, "The tool."),
            Field::optional("asker", Kind::Text, "Who asked over a fleet: a public key."),
            Field::optional("eventName", Kind::Defined(defined::EVENT), "The event."),
            Field::optional("hook", Kind::Text, "The hook's name, else its command."),
            Field::optional("reason", Kind::Text, "Why."),
            Field::optional(
                "changes",
                Kind::ListOf(&Kind::Open(&CHANGE)),
                "What was changed of the event's input, as JSON Patch.",
            ),
            Field::optional("missed", Kind::Whole(1, None), "How many entries are missing here."),
            WITHHELD,
        ],
    ),
    (
        "recording",
        &[
            type_of("hook-recording"),
            Field::required("version", Kind::Whole(1, None), "The version of recordings."),
            Field::required("engine", Kind::Text, "The engine's version."),
            Field::required("startedAt", Kind::Text, "When it began, ISO 8601."),
            Field::required("project", Kind::Text, "The project's directory."),
        ],
    ),
    (
        "recorded",
        &[
            RECORDED_AT,
            Field::required("request", Kind::Whole(0, None), "Which request it belongs to."),
            Field::optional(
                "groups",
                Kind::ListOf(&Kind::Open(&RECORDED_GROUP)),
                "With a response: which of its hooks ran together, unless all did.",
            ),
            Field::required("message", Kind::AnyObject, "The message, as its receivers see it."),
            WITHHELD,
        ],
    ),
    (
        "gap",
        &[
            RECORDED_AT,
            Field::required("missed", Kind::Whole(0, None), "How many lines are missing here."),
        ],
    ),
];
