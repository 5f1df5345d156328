//! The fields of messages about live hooks, for their schema. They include those of workers: a
//! worker's pipes and a client's connection carry the same messages.

use hook_settings::schema::{Field, Kind};

use super::fields::type_of;

const HOOK_ID: Field =
    Field::required("hookId", Kind::ShortText(256), "What the client calls the hook.");
const CALL_ID: Field = Field::required("callId", Kind::Text, "The call.");
const HOST_CALL_ID: Field =
    Field::required("hostCallId", Kind::Text, "What tells this from others that are asked for.");
const METHOD: Field = Field::required(
    "method",
    Kind::Text,
    "What is to be done: `ui.confirm`, `tool.execute`, `session.sendMessage`, …",
);
const PARAMS: Field = Field::optional("params", Kind::Any, "With what.");
const RESULT: Field = Field::optional("result", Kind::Any, "What came of it.");
const HOST_ERROR: Field =
    Field::optional("error", Kind::Open(&ERROR), "Why nothing came of it; without `result` then.");
const MATCHER: Field =
    Field::optional("matcher", Kind::TextOr(&MATCHER_FIELDS), "What it is for; everything.");

static ERROR: [Field; 3] = [
    Field::required("code", Kind::Text, "What went wrong, in one word."),
    Field::required("message", Kind::Text, "What went wrong, and how to fix it."),
    Field::optional("details", Kind::AnyObject, "More about it."),
];

static MATCHER_FIELDS: [Field; 5] = [
    Field::optional("kind", Kind::OneOrMore, "What the tool does, such as `file_write`."),
    Field::optional("tool", Kind::OneOrMore, "The tool's name, or several."),
    Field::optional("toolPattern", Kind::Text, "A pattern for the tool's name."),
    Field::optional("pathPattern", Kind::OneOrMore, "Globs for paths of the input."),
    Field::optional("commandPattern", Kind::Text, "A regular expression for its command."),
];

static CONFIG: [Field; 4] = [
    Field::with_default(
        "priority",
        Kind::Integer(-1_000_000, 1_000_000),
        "100",
        "Lower is earlier.",
    ),
    Field::optional("timeout", Kind::Whole(1, Some(86_400_000)), "In milliseconds."),
    Field::with_default("async", Kind::Bool, "false", "Whether nothing waits for it."),
    Field::with_default(
        "failBehavior",
        Kind::Words(&["continue", "block"]),
        "\"continue\"",
        "What its failure means.",
    ),
];

static LISTED: [Field; 6] = [
    HOOK_ID,
    Field::required("eventName", Kind::Text, "The event, in the words of the vocabulary."),
    Field::required("vocabulary", Kind::Text, "The words that it is told and answers in."),
    MATCHER,
    Field::required("config", Kind::Closed(&CONFIG), "How it runs."),
    Field::required("own", Kind::Bool, "Whether it is the asking client's."),
];

/// Messages to the engine, from a worker or from a client with hooks.
pub(crate) static TO_ENGINE: [(&str, &[Field]); 8] = [
    (
        "client-hello",
        &[
            type_of("hook-hello"),
            Field::with_default("protocol", Kind::Whole(1, None), "1", "The version it speaks."),
            Field::optional(
                "clientToken",
                Kind::Text,
                "The token that it was given over the connection that was lost.",
            ),
            Field::with_default(
                "hostServices",
                Kind::ListOf(&Kind::Text),
                "[]",
                "What it does for hooks of its own requests, as `hook-host-call` names it.",
            ),
        ],
    ),
    (
        "register",
        &[
            type_of("hook-register"),
            HOOK_ID,
            Field::required("eventName", Kind::Text, "The event, in the words of the vocabulary."),
            Field::with_default(
                "vocabulary",
                Kind::Text,
                "\"native\"",
                "The words that it is told and answers in: `native`, `a3s`, or an agent's name.",
            ),
            MATCHER,
            Field::optional("config", Kind::Closed(&CONFIG), "How it runs."),
        ],
    ),
    ("unregister", &[type_of("hook-unregister"), HOOK_ID]),
    ("list", &[type_of("hook-list")]),
    (
        "answer",
        &[
            type_of("hook-answer"),
            CALL_ID,
            Field::optional("output", Kind::AnyObject, "The answer, as a script prints it."),
            Field::optional(
                "action",
                Kind::Words(&["continue", "block", "retry", "skip"]),
                "The answer in one word, in place of `output`.",
            ),
            Field::optional("reason", Kind::Text, "Why, with `action`."),
            Field::optional("delay", Kind::Whole(0, None), "With `retry`: milliseconds."),
            Field::optional("modified", Kind::AnyObject, "With `continue`, in words of A3S."),
            Field::optional("error", Kind::Text, "That the hook failed; nothing else counts then."),
        ],
    ),
    (
        "host-call",
        &[
            type_of("hook-host-call"),
            Field::required("hostCallId", Kind::Any, "What tells it from others; echoed."),
            CALL_ID,
            METHOD,
            PARAMS,
        ],
    ),
    ("client-host-result", &[type_of("hook-host-result"), HOST_CALL_ID, RESULT, HOST_ERROR]),
    (
        "log",
        &[
            type_of("hook-log"),
            Field::required("level", Kind::Text, "`error`, `warn`, `info` or `debug`."),
            Field::required("message", Kind::Text, "The text."),
        ],
    ),
];

/// Messages from the engine, to a worker or to a client with hooks.
pub(crate) static FROM_ENGINE: [(&str, &[Field]); 11] = [
    ("registered", &[type_of("hook-registered"), HOOK_ID]),
    ("unregistered", &[type_of("hook-unregistered"), HOOK_ID]),
    (
        "resumed",
        &[
            type_of("hook-resumed"),
            Field::required("clientToken", Kind::Text, "The token that it goes on with."),
            Field::required("hookIds", Kind::ListOf(&Kind::Text), "The hooks that it has."),
        ],
    ),
    (
        "hooks",
        &[
            type_of("hook-hooks"),
            Field::required("hooks", Kind::ListOf(&Kind::Open(&LISTED)), "All that clients have."),
        ],
    ),
    (
        "live-error",
        &[
            type_of("hook-error"),
            Field::required("request", Kind::Text, "The kind of the message that has no effect."),
            Field::optional("hookId", Kind::Text, "The hook that it was about."),
            Field::optional("eventName", Kind::Text, "The event that it was about."),
            Field::required("error", Kind::Open(&ERROR), "Why."),
        ],
    ),
    (
        "call",
        &[
            type_of("hook-call"),
            CALL_ID,
            HOOK_ID,
            Field::required("eventName", Kind::Text, "The event, in the hook's words."),
            Field::required("input", Kind::AnyObject, "Its input, in the hook's words."),
            Field::optional("correlationId", Kind::Text, "The request that it is part of."),
            Field::required("deadlineMs", Kind::Whole(0, None), "How long the hook has."),
            Field::optional(
                "hasUI",
                Kind::Bool,
                "Whether whoever asked for the event can ask a user something; absent where not.",
            ),
        ],
    ),
    ("call-cancelled", &[type_of("hook-call-cancelled"), CALL_ID, HOOK_ID]),
    (
        "host-result",
        &[
            type_of("hook-host-result"),
            Field::required("hostCallId", Kind::Any, "As the hook wrote it."),
            RESULT,
            HOST_ERROR,
        ],
    ),
    (
        "client-host-call",
        &[
            type_of("hook-host-call"),
            HOST_CALL_ID,
            Field::optional("correlationId", Kind::Text, "The client's request."),
            HOOK_ID,
            METHOD,
            PARAMS,
            Field::required(
                "runToken",
                Kind::Text,
                "For requests that are made on the way: they come from inside of the hook.",
            ),
        ],
    ),
    ("client-host-call-cancelled", &[type_of("hook-host-call-cancelled"), HOST_CALL_ID]),
    ("close", &[type_of("hook-close"), Field::required("reason", Kind::Text, "Why, in one word.")]),
];
