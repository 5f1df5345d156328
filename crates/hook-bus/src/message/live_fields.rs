//! The fields of messages about live hooks, for their schema. They include those of workers: a
//! worker's pipes and a client's connection carry the same messages.

use hook_settings::schema::{Field, FieldKind};

use super::fields::type_field;

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

static ERROR: [Field; 3] = [
    Field::required("code", FieldKind::Text, "What went wrong, in one word."),
    Field::required("message", FieldKind::Text, "What went wrong, and how to fix it."),
    Field::optional("details", FieldKind::AnyObject, "More about it."),
];

static MATCHER_FIELDS: [Field; 9] = [
    Field::optional("kind", FieldKind::OneOrMore, "What the tool does, such as `file_write`."),
    Field::optional("tool", FieldKind::OneOrMore, "The tool's name, or several."),
    Field::optional("toolPattern", FieldKind::Text, "A pattern for the tool's name."),
    Field::optional("pathPattern", FieldKind::OneOrMore, "Globs for paths of the input."),
    Field::optional("commandPattern", FieldKind::Text, "A regular expression for its command."),
    Field::optional("agent", FieldKind::OneOrMore, "The agent that calls, or several."),
    Field::optional("subagent", FieldKind::OneOrMore, "The type of its sub-agent, or several."),
    Field::optional("permissionMode", FieldKind::OneOrMore, "Its permission mode, or several."),
    Field::optional("model", FieldKind::OneOrMore, "Its model, or several."),
];

static CONFIG: [Field; 4] = [
    Field::with_default(
        "priority",
        FieldKind::Integer(-1_000_000, 1_000_000),
        "100",
        "Lower is earlier.",
    ),
    Field::optional("timeout", FieldKind::Unsigned(1, Some(86_400_000)), "In milliseconds."),
    Field::with_default("async", FieldKind::Bool, "false", "Whether nothing waits for it."),
    Field::with_default(
        "failBehavior",
        FieldKind::OneOf(&["continue", "block"]),
        "\"continue\"",
        "What its failure means.",
    ),
];

static LISTED: [Field; 6] = [
    HOOK_ID,
    Field::required("eventName", FieldKind::Text, "The event, in the words of the vocabulary."),
    Field::required("vocabulary", FieldKind::Text, "The words that it is told and answers in."),
    MATCHER,
    Field::required("config", FieldKind::Closed(&CONFIG), "How it runs."),
    Field::required("own", FieldKind::Bool, "Whether it is the asking client's."),
];

/// Messages to the engine, from a worker or from a client with hooks.
pub(crate) static TO_ENGINE: [(&str, &[Field]); 8] = [
    (
        "client-hello",
        &[
            type_field("hook-hello"),
            Field::with_default(
                "protocol",
                FieldKind::Unsigned(1, None),
                "1",
                "The version it speaks.",
            ),
            Field::optional(
                "clientToken",
                FieldKind::Text,
                "The token that it was given over the connection that was lost.",
            ),
            Field::with_default(
                "hostServices",
                FieldKind::ListOf(&FieldKind::Text),
                "[]",
                "What it does for hooks of its own requests, as `hook-host-call` names it.",
            ),
        ],
    ),
    (
        "register",
        &[
            type_field("hook-register"),
            HOOK_ID,
            Field::required(
                "eventName",
                FieldKind::Text,
                "The event, in the words of the vocabulary.",
            ),
            Field::with_default(
                "vocabulary",
                FieldKind::Text,
                "\"native\"",
                "The words that it is told and answers in: `native`, `a3s`, or an agent's name.",
            ),
            MATCHER,
            Field::optional("config", FieldKind::Closed(&CONFIG), "How it runs."),
        ],
    ),
    ("unregister", &[type_field("hook-unregister"), HOOK_ID]),
    ("list", &[type_field("hook-list")]),
    (
        "answer",
        &[
            type_field("hook-answer"),
            CALL_ID,
            Field::optional("output", FieldKind::AnyObject, "The answer, as a script prints it."),
            Field::optional(
                "action",
                FieldKind::OneOf(&["continue", "block", "retry", "skip"]),
                "The answer in one word, in place of `output`.",
            ),
            Field::optional("reason", FieldKind::Text, "Why, with `action`."),
            Field::optional("delay", FieldKind::Unsigned(0, None), "With `retry`: milliseconds."),
            Field::optional("modified", FieldKind::AnyObject, "With `continue`, in words of A3S."),
            Field::optional(
                "error",
                FieldKind::Text,
                "That the hook failed; nothing else counts then.",
            ),
        ],
    ),
    (
        "host-call",
        &[
            type_field("hook-host-call"),
            Field::required("hostCallId", FieldKind::Any, "What tells it from others; echoed."),
            CALL_ID,
            METHOD,
            PARAMS,
        ],
    ),
    ("client-host-result", &[type_field("hook-host-result"), HOST_CALL_ID, RESULT, HOST_ERROR]),
    (
        "log",
        &[
            type_field("hook-log"),
            Field::required("level", FieldKind::Text, "`error`, `warn`, `info` or `debug`."),
            Field::required("message", FieldKind::Text, "The text."),
        ],
    ),
];

/// Messages from the engine, to a worker or to a client with hooks.
pub(crate) static FROM_ENGINE: [(&str, &[Field]); 11] = [
    ("registered", &[type_field("hook-registered"), HOOK_ID]),
    ("unregistered", &[type_field("hook-unregistered"), HOOK_ID]),
    (
        "resumed",
        &[
            type_field("hook-resumed"),
            Field::required("clientToken", FieldKind::Text, "The token that it goes on with."),
            Field::required(
                "hookIds",
                FieldKind::ListOf(&FieldKind::Text),
                "The hooks that it has.",
            ),
        ],
    ),
    (
        "hooks",
        &[
            type_field("hook-hooks"),
            Field::required(
                "hooks",
                FieldKind::ListOf(&FieldKind::Open(&LISTED)),
                "All that clients have.",
            ),
        ],
    ),
    (
        "live-error",
        &[
            type_field("hook-error"),
            Field::required(
                "request",
                FieldKind::Text,
                "The kind of the message that has no effect.",
            ),
            Field::optional("hookId", FieldKind::Text, "The hook that it was about."),
            Field::optional("eventName", FieldKind::Text, "The event that it was about."),
            Field::required("error", FieldKind::Open(&ERROR), "Why."),
        ],
    ),
    (
        "call",
        &[
            type_field("hook-call"),
            CALL_ID,
            HOOK_ID,
            Field::required("eventName", FieldKind::Text, "The event, in the hook's words."),
            Field::required("input", FieldKind::AnyObject, "Its input, in the hook's words."),
            Field::optional("correlationId", FieldKind::Text, "The request that it is part of."),
            Field::required("deadlineMs", FieldKind::Unsigned(0, None), "How long the hook has."),
            Field::optional(
                "hasUI",
                FieldKind::Bool,
                "Whether whoever asked for the event can ask a user something; absent where not.",
            ),
        ],
    ),
    ("call-cancelled", &[type_field("hook-call-cancelled"), CALL_ID, HOOK_ID]),
    (
        "host-result",
        &[
            type_field("hook-host-result"),
            Field::required("hostCallId", FieldKind::Any, "As the hook wrote it."),
            RESULT,
            HOST_ERROR,
        ],
    ),
    (
        "client-host-call",
        &[
            type_field("hook-host-call"),
            HOST_CALL_ID,
            Field::optional("correlationId", FieldKind::Text, "The client's request."),
            HOOK_ID,
            METHOD,
            PARAMS,
            Field::required(
                "runToken",
                FieldKind::Text,
                "For requests that are made on the way: they come from inside of the hook.",
            ),
        ],
    ),
    ("client-host-call-cancelled", &[type_field("hook-host-call-cancelled"), HOST_CALL_ID]),
    (
        "close",
        &[
            type_field("hook-close"),
            Field::required("reason", FieldKind::Text, "Why, in one word."),
        ],
    ),
];
