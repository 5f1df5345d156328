//! The fields of each message, for its schema.

use hook_json::fields;
use hook_protocol::event::DEFINITION_FIELDS;
use hook_run::{HookKind, WorkerStatus};
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

/// Declares tables of messages, each with its name in the schema, its `type` if it has one of its
/// own, and its fields.
macro_rules! messages {
    ($(#[$doc:meta])* $visibility:vis $table:ident: $(
        $name:literal $($type:literal)? { $($field:tt)* }
    )+) => {
        $(#[$doc])*
        $visibility static $table: [(&str, &[Field]); [$($name),+].len()] = [
            $(($name, &fields!(@list $(..type_field($type);)? $($field)*))),+
        ];
    };
}
pub(super) use messages;

fields! {
    /// A request, except `input`, which depends on the event.
    pub(crate) REQUEST:
    ..type_field(kind::REQUEST);
    "eventName" Text, required, "The event.";
    "correlationId" CORRELATION_ID, optional,
        "An id that the response will have; without one, one is made.";
    "deadlineMs" Unsigned(0, None), optional,
        "How long after its acceptance the request must be answered, in milliseconds.";
    "streams" Bool, optional,
        "Asks for what each hook wrote to standard output and standard error.";
    "inputs" Bool, optional, "Asks for what each hook was told.";
    "runToken" Text, optional,
        "The HOOK_RUN_TOKEN of the hook that waits for the answer, if one does.";
}

messages! {
    /// The other messages of clients, by name.
    pub(crate) CLIENT_MESSAGES:
    "subscribe" "hook-subscribe" {}
    "status" "hook-status" {}
    "tail" "hook-tail" {}
    "audit" {
        ..type_field(kind::AUDIT);
        "level" OneOf(&AuditLevel::NAMES), required, "How much to tell.";
    }
    "cancel" "hook-cancel" {
        "correlationId" CORRELATION_ID, required, "The id of the requests to cancel.";
    }
    "define-event" "hook-define-event" {
        "correlationId" CORRELATION_ID, optional, "The id of the reply.";
        "eventName" Text, required, "The name of the event.";
        ..DEFINITION_FIELDS[0];
        ..DEFINITION_FIELDS[1];
        ..DEFINITION_FIELDS[2];
    }
    "reload" "hook-reload" {}
    "bridge" "hook-bridge" {
        "correlationId" CORRELATION_ID, optional, "The id of the reply.";
        "agent" NonEmpty(None), required, "The agent that asks.";
        "event" Text, optional, "What the agent calls the event; without it, what it says itself.";
        "said" Text, required, "What the agent wrote, as JSON in a string.";
        "deadlineMs" Number, optional, "How long after its acceptance it must be answered.";
    }
}

fields! {
    pub(crate) RESPONSE:
    ..type_field(kind::RESPONSE);
    ..ECHOED_ID;
    "eventName" Defined(defined::EVENT), optional,
        "The event; absent if the request named none that is known.";
    "success" Bool, required,
        "Whether every stage was completed; what hooks did there does not matter.";
    "output" Open(&AGGREGATED), optional, "What the hooks answered, merged.";
    "processed" Open(&PROCESSED), optional, "What the caller is to do.";
    "hooks" ListOf(&Open(&HOOK)), optional, "What each hook did.";
    "notStarted" ListOf(&Open(&NOT_STARTED)), optional,
        "The hooks that were not started, because of what one of an earlier priority answered.";
    "error" Defined(defined::ERROR), optional, "The stage that failed, if one did.";
    "engine" Open(&ENGINE), optional, "Which engine of a fleet answered.";
    "warnings" ListOf(&Text), optional,
        "What the caller should tell its user, such as settings that cannot be read and hooks \
         that failed.";
}

fields! {
    AGGREGATED:
    "success" Bool, required, "Whether every hook succeeded.";
    "finalOutput" Defined(defined::OUTPUT), optional,
        "The merged answer; absent if no hook gave one.";
    "allOutputs" ListOf(&Defined(defined::OUTPUT)), required, "All answers, in plan order.";
    "errors" ListOf(&Open(&ERROR_REPORT)), required, "What went wrong.";
    "totalDuration" Number, required, "The sum of durations, in milliseconds.";
}

fields! {
    ENGINE:
    "id" Text, required, "Tells it apart from others for as long as it runs.";
    "version" Text, required, "Its version.";
    "settingsHash" Text, optional,
        "What its settings are, and what is trusted of them, where it knows.";
}

fields! {
    NOT_STARTED:
    ..HOOK_NAME;
    ..HOOK_TYPE;
    ..HOOK_SOURCE;
    ..HOOK_EXTENSION;
    "endedBy" Text, required, "The hook by whose answer it was not.";
}

fields! {
    ERROR_REPORT:
    "message" Text, required, "What went wrong.";
    "hook" Text, optional, "The hook it happened to.";
    "stage" Text, optional, "The stage it happened in.";
}

fields! {
    PROCESSED:
    "decision" OneOf(&["proceed", "ask", "retry", "block", "stop"]), required,
        "The strongest of all answers.";
    "reason" Text, optional, "Why, unless it is `proceed`.";
    "retryAfterMs" Number, optional, "How long to wait before the retry, in milliseconds.";
    "granted" Bool, optional, "Whether a hook grants what the user would be asked for.";
    "suppressOutput" Bool, required, "Whether to hide the event's output.";
    "shouldStop" Bool, required, "Whether the agent should stop.";
    "stopReason" Text, optional, "Why it should.";
    "systemMessage" Text, optional, "A message for the display.";
    "modelMessage" Text, optional, "The same message for the model.";
    "additionalContext" Text, optional, "Text for the model.";
    "modified" AnyObject, optional,
        "All changes of the tool's input, the request or the response, under its name.";
}

fields! {
    /// The error of a request that could not be served.
    pub(crate) ERROR:
    "code" Text, required, "Which stage failed.";
    "message" Text, required, "What went wrong, and how to fix it.";
    "details" AnyObject, optional, "More about it.";
}

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

fields! {
    WORKER_HISTORY:
    "state" OneOf(&WorkerStatus::STATES), required, "How it is; a broken one is started no more.";
    "restarts" Unsigned(0, None), required, "How often it was started again.";
}

fields! {
    /// A worker, identified by the first hook in the settings that calls it.
    WORKER:
    "eventName" Text, required, "The event of that hook; `*` for every one.";
    ..HOOK_NAME;
    ..HOOK_TYPE;
    "command" Text, required, "The beginning of its command, or its module.";
    ..HOOK_SOURCE;
    "file" Text, optional, "The settings file that it stands in.";
    "line" Unsigned(0, None), optional, "The line there.";
    "column" Unsigned(0, None), optional, "The column there.";
    "hooks" Unsigned(1, None), required, "How many hooks call it.";
    "worker" Open(&WORKER_STATUS), required, "How it is.";
}

fields! {
    WORKER_STATUS:
    ..WORKER_HISTORY[0];
    ..WORKER_HISTORY[1];
    "process" Unsigned(1, None), optional, "The id of its process.";
    "failure" Text, optional, "Why its last process ended, of one that should not have.";
    "droppedAnswers" Open(&DROPPED), optional, "Answers that nobody waited for.";
}

fields! {
    DROPPED:
    "late" Unsigned(0, None), required, "To calls that were over.";
    "unknown" Unsigned(0, None), required, "To calls that never were.";
}

fields! {
    /// The result of a hook.
    HOOK:
    ..HOOK_NAME;
    ..HOOK_TYPE;
    ..HOOK_SOURCE;
    ..HOOK_EXTENSION;
    "success" Bool, required, "Whether it exited with 0, or returned no error.";
    "exitCode" Number, optional, "How its process exited, if it did.";
    "signal" Text, optional, "The signal that ended it, such as SIGKILL.";
    "duration" Number, required, "How long it ran, in milliseconds.";
    "queued" Number, required, "How long it waited for a place, in milliseconds.";
    "askedAgain" Bool, optional,
        "Present where it ran again, on what other hooks had made of the input.";
    "timedOut" Bool, optional, "Present where its timeout ended it.";
    "leaked" Bool, optional, "Present where what it started held its output open.";
    "truncated" Bool, optional, "Present where it wrote more than is kept.";
    "worker" Open(&WORKER_HISTORY), optional,
        "Of a worker that was started again, or is broken: how it was when the call was over.";
    ..WARNINGS;
    "error" Text, optional, "Why it failed.";
    "decision" OneOf(&["proceed", "ask", "retry", "block", "stop"]), optional,
        "What it decided by itself, if what it wrote was asked for and was an answer.";
    "stdout" Text, optional, "What is kept of its standard output, if asked for.";
    "stderr" Text, optional, "What is kept of its standard error, if asked for.";
    "input" AnyObject, optional, "What it was told, if asked for.";
}

fields! {
    STARTED_HOOK:
    ..HOOK_NAME;
    ..HOOK_TYPE;
    ..HOOK_SOURCE;
    ..HOOK_EXTENSION;
    "timeout" Number, required, "How long it may run, in milliseconds.";
}

fields! {
    /// One operation of a JSON Patch.
    CHANGE:
    "op" OneOf(&["add", "replace", "remove"]), required, "What was done.";
    "path" Text, required, "Where, as JSON Pointer.";
    "value" Any, optional, "The new value; the beginning of its text where it is cut.";
    "cut" Unsigned(0, None), optional, "How many bytes it had, where it is cut.";
}

const WITHHELD: Field = Field::optional(
    "withheld",
    FieldKind::Text,
    "Why values are left out, where it is not known what to redact.",
);

const RECORDED_AT: Field =
    Field::required("at", FieldKind::Unsigned(0, None), "Microseconds since the recording began.");

fields! {
    RECORDED_GROUP:
    "priority" Number, required, "The priority of its hooks.";
    "hooks" Unsigned(1, None), required, "How many of the response's hooks it is.";
}

messages! {
    /// The other messages of the engine, by name; the last three answer `hook-tail` and are the lines
    /// of a recording.
    pub(crate) ENGINE_MESSAGES:
    "states" "hook-states" {
        "workers" ListOf(&Open(&WORKER)), required,
            "The workers of hooks that are trusted and switched on.";
        "omitted" Unsigned(1, None), optional, "How many more there are.";
    }
    "event-defined" "hook-event-defined" {
        "correlationId" Text, optional, "That of the message, if it had one.";
        "eventName" Defined(defined::EVENT), required, "The event.";
    }
    "hello" "hook-hello" {
        "engine" Text, required, "Who speaks.";
        "version" Text, required, "The engine's version.";
        "protocol" Unsigned(1, None), required, "The version of these messages.";
        "project" Text, required, "The project's directory.";
        "clientToken" Text, required, "What gets this client's hooks back over another connection.";
        "settingsHash" Text, optional,
            "What the settings are, and what is trusted of them, where that is known.";
    }
    "bridged" "hook-bridged" {
        ..ECHOED_ID;
        "stdout" Text, required, "What the agent reads on standard output.";
        "stderr" Text, required, "What it reads on standard error.";
        "exitCode" Unsigned(0, Some(255)), required, "The exit code that it sees.";
        ..WARNINGS;
    }
    "started" {
        ..type_field(kind::STARTED);
        ..ECHOED_ID;
        ..EVENT_NAME;
        "hook" Open(&STARTED_HOOK), required, "The hook that runs now.";
    }
    "finished" {
        ..type_field(kind::FINISHED);
        ..ECHOED_ID;
        ..EVENT_NAME;
        "hook" Open(&HOOK), required, "What became of it.";
    }
    "reloaded" "hook-reloaded" {
        "success" Bool, required, "Whether the engine could be rebuilt.";
        "totalHooks" Unsigned(0, None), required, "How many hooks there are.";
        "warnings" ListOf(&Text), required, "What is wrong with settings.";
    }
    "lagged" "hook-lagged" {
        "missed" Unsigned(0, None), required, "How many messages were dropped.";
        "tooLarge" Unsigned(1, None), optional,
            "How many of them were each larger than all that may wait; absent if none was.";
    }
    "refused" "hook-refused" {
        "message" Text, required, "Why the connection ends here.";
    }
    "audited" {
        ..type_field(kind::AUDIT);
        "at" Text, required, "When, ISO 8601.";
        "kind" OneOf(&AuditKind::NAMES), required, "What happened.";
        "correlationId" CORRELATION_ID, optional, "The request it happened for.";
        "session" Text, optional, "The agent's session.";
        "agent" Text, optional, "The agent, where it asked in its own words.";
        "tool" Text, optional, "The tool.";
        "asker" Text, optional, "Who asked over a fleet: a public key.";
        "eventName" Defined(defined::EVENT), optional, "The event.";
        "hook" Text, optional, "The hook's name, else its command.";
        "reason" Text, optional, "Why.";
        "changes" ListOf(&Open(&CHANGE)), optional,
            "What was changed of the event's input, as JSON Patch.";
        "missed" Unsigned(1, None), optional, "How many entries are missing here.";
        ..WITHHELD;
    }
    "recording" "hook-recording" {
        "version" Unsigned(1, None), required, "The version of recordings.";
        "engine" Text, required, "The engine's version.";
        "startedAt" Text, required, "When it began, ISO 8601.";
        "project" Text, required, "The project's directory.";
    }
    "recorded" {
        ..RECORDED_AT;
        "request" Unsigned(0, None), required, "Which request it belongs to.";
        "groups" ListOf(&Open(&RECORDED_GROUP)), optional,
            "With a response: which of its hooks ran together, unless all did.";
        "message" AnyObject, required, "The message, as its receivers see it.";
        ..WITHHELD;
    }
    "gap" {
        ..RECORDED_AT;
        "missed" Unsigned(0, None), required, "How many lines are missing here.";
    }
}
