//! The fields of messages about live hooks and triggers, for their schema. They include those of
//! workers: a worker's pipes and a client's connection carry the same messages.

use hook_json::fields;
use hook_protocol::BASE_FIELDS;
use hook_settings::schema::{Field, FieldKind};

use super::fields::{messages, type_field};
use super::trigger_kind::TriggerKind;

const HOOK_ID: Field =
    Field::required("hookId", FieldKind::ShortText(256), "What the client calls the hook.");
const CALL_ID: Field = Field::required("callId", FieldKind::Text, "The call.");
const HOST_CALL_ID: Field = Field::required(
    "hostCallId",
    FieldKind::Text,
    "What tells this from others that are asked for.",
);
const METHOD: Field = Field::required(
    "method",
    FieldKind::Text,
    "What is to be done: `ui.confirm`, `tool.execute`, `session.sendMessage`, …",
);
const PARAMS: Field = Field::optional("params", FieldKind::Any, "With what.");
const RESULT: Field = Field::optional("result", FieldKind::Any, "What came of it.");
const HOST_ERROR: Field = Field::optional(
    "error",
    FieldKind::Open(&ERROR),
    "Why nothing came of it; without `result` then.",
);
const MATCHER: Field =
    Field::optional("matcher", FieldKind::TextOr(&MATCHER_FIELDS), "What it is for; everything.");

const TRIGGER_ID: Field =
    Field::required("triggerId", FieldKind::TextUpTo(256), "What the client calls the trigger.");

fields! {
    ERROR:
    "code" Text, required, "What went wrong, in one word.";
    "message" Text, required, "What went wrong, and how to fix it.";
    "details" AnyObject, optional, "More about it.";
}

fields! {
    MATCHER_FIELDS:
    "kind" OneOrMore, optional, "What the tool does, such as `file_write`.";
    "tool" OneOrMore, optional, "The tool's name, or several.";
    "toolPattern" Text, optional, "A pattern for the tool's name.";
    "pathPattern" OneOrMore, optional, "Globs for paths of the input.";
    "commandPattern" Text, optional, "A regular expression for its command.";
    "agent" OneOrMore, optional, "The agent that calls, or several.";
    "subagent" OneOrMore, optional, "The type of its sub-agent, or several.";
    "permissionMode" OneOrMore, optional, "Its permission mode, or several.";
    "model" OneOrMore, optional, "Its model, or several.";
}

fields! {
    CONFIG:
    "priority" Integer(-1_000_000, 1_000_000), = "100", "Lower is earlier.";
    "timeout" Unsigned(1, Some(86_400_000)), optional, "In milliseconds.";
    "async" Bool, = "false", "Whether nothing waits for it.";
    "failBehavior" OneOf(&["continue", "block"]), = "\"continue\"", "What its failure means.";
}

fields! {
    LISTED:
    ..HOOK_ID;
    "eventName" Text, required, "The event, in the words of the vocabulary.";
    "vocabulary" Text, required, "The words that it is told and answers in.";
    ..MATCHER;
    "config" Closed(&CONFIG), required, "How it runs.";
    "own" Bool, required, "Whether it is the asking client's.";
}

fields! {
    TRIGGER_SESSION:
    ..BASE_FIELDS[0];
    ..BASE_FIELDS[1];
    ..BASE_FIELDS[2];
    "maxContinuations" Unsigned(0, Some(u32::MAX as u64)), = "8",
        "How often in a row hooks may make the agent go on after a turn.";
}

messages! {
    /// Messages to the engine, from a worker or from a client with hooks.
    pub(crate) TO_ENGINE:
    "client-hello" "hook-hello" {
        "protocol" Unsigned(1, None), = "1", "The version it speaks.";
        "clientToken" Text, optional,
            "The token that it was given over the connection that was lost.";
        "hostServices" ListOf(&Text), = "[]",
            "What it does for hooks of its own requests, as `hook-host-call` names it.";
    }
    "register" "hook-register" {
        ..HOOK_ID;
        "eventName" Text, required, "The event, in the words of the vocabulary.";
        "vocabulary" Text, = "\"native\"",
            "The words that it is told and answers in: `native`, `a3s`, or an agent's name.";
        ..MATCHER;
        "config" Closed(&CONFIG), optional, "How it runs.";
    }
    "unregister" "hook-unregister" {
        ..HOOK_ID;
    }
    "list" "hook-list" {}
    "answer" "hook-answer" {
        ..CALL_ID;
        "output" AnyObject, optional, "The answer, as a script prints it.";
        "action" OneOf(&["continue", "block", "retry", "skip"]), optional,
            "The answer in one word, in place of `output`.";
        "reason" Text, optional, "Why, with `action`.";
        "delay" Unsigned(0, None), optional, "With `retry`: milliseconds.";
        "modified" AnyObject, optional, "With `continue`, in words of A3S.";
        "error" Text, optional, "That the hook failed; nothing else counts then.";
    }
    "host-call" "hook-host-call" {
        "hostCallId" Any, required, "What tells it from others; echoed.";
        ..CALL_ID;
        ..METHOD;
        ..PARAMS;
    }
    "client-host-result" "hook-host-result" {
        ..HOST_CALL_ID;
        ..RESULT;
        ..HOST_ERROR;
    }
    "trigger" "hook-trigger" {
        ..TRIGGER_ID;
        "trigger" OneOf(&TriggerKind::NAMES), required, "What the agent is about to do, or did.";
        "call" AnyObject, required, "With what: the input of the trigger's first event.";
        "session" Open(&TRIGGER_SESSION), optional, "The session that it belongs to.";
        "deadlineMs" Unsigned(0, None), optional,
            "How long after its acceptance it must be over, in milliseconds.";
        "runToken" Text, optional,
            "The HOOK_RUN_TOKEN of the hook that waits for the result, if one does.";
    }
    "trigger-answer-chunk" "hook-trigger-chunk" {
        ..TRIGGER_ID;
        "chunk" AnyObject, required, "A chunk of the answer that `model.call` asked for.";
    }
    "trigger-cancel" "hook-trigger-cancel" {
        ..TRIGGER_ID;
    }
    "log" "hook-log" {
        "level" Text, required, "`error`, `warn`, `info` or `debug`.";
        "message" Text, required, "The text.";
    }
}

messages! {
    /// Messages from the engine, to a worker or to a client with hooks.
    pub(crate) FROM_ENGINE:
    "registered" "hook-registered" {
        ..HOOK_ID;
    }
    "unregistered" "hook-unregistered" {
        ..HOOK_ID;
    }
    "resumed" "hook-resumed" {
        "clientToken" Text, required, "The token that it goes on with.";
        "hookIds" ListOf(&Text), required, "The hooks that it has.";
    }
    "hooks" "hook-hooks" {
        "hooks" ListOf(&Open(&LISTED)), required, "All that clients have.";
    }
    "live-error" "hook-error" {
        "request" Text, required, "The kind of the message that has no effect.";
        "hookId" Text, optional, "The hook that it was about.";
        "eventName" Text, optional, "The event that it was about.";
        "error" Open(&ERROR), required, "Why.";
    }
    "call" "hook-call" {
        ..CALL_ID;
        ..HOOK_ID;
        "eventName" Text, required, "The event, in the hook's words.";
        "input" AnyObject, required, "Its input, in the hook's words.";
        "correlationId" Text, optional, "The request that it is part of.";
        "deadlineMs" Unsigned(0, None), required, "How long the hook has.";
        "hasUI" Bool, optional,
            "Whether whoever asked for the event can ask a user something; absent where not.";
    }
    "call-cancelled" "hook-call-cancelled" {
        ..CALL_ID;
        ..HOOK_ID;
    }
    "host-result" "hook-host-result" {
        "hostCallId" Any, required, "As the hook wrote it.";
        ..RESULT;
        ..HOST_ERROR;
    }
    "client-host-call" "hook-host-call" {
        ..HOST_CALL_ID;
        "correlationId" Text, optional, "The client's request.";
        ..HOOK_ID;
        ..METHOD;
        ..PARAMS;
        "runToken" Text, required,
            "For requests that are made on the way: they come from inside of the hook.";
    }
    "trigger-host-call" "hook-host-call" {
        ..HOST_CALL_ID;
        ..TRIGGER_ID;
        "method" OneOf(&["tool.run", "model.call", "user.approve"]), required, "What is to be done.";
        "params" AnyObject, required, "With what.";
    }
    "trigger-chunk" "hook-trigger-chunk" {
        ..TRIGGER_ID;
        "chunk" AnyObject, optional, "A chunk of a model's answer for the display.";
        "complete" AnyObject, optional,
            "In place of `chunk`: a hook's response, instead of the rest of the answer.";
    }
    "trigger-result" "hook-trigger-result" {
        ..TRIGGER_ID;
        "result" AnyObject, optional, "The outcome.";
        "error" Open(&ERROR), optional, "In place of `result`: why there is none.";
    }
    "client-host-call-cancelled" "hook-host-call-cancelled" {
        ..HOST_CALL_ID;
    }
    "close" "hook-close" {
        "reason" Text, required, "Why, in one word.";
    }
}
