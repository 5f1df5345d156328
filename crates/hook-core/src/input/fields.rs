//! The fields of each payload. Reader and schema both go by these tables.

use super::MAX_TOOL_NAME;
use crate::field::{Field, Kind};
use crate::model;

const TOOL_NAME: Field =
    Field::required("tool_name", Kind::NonEmpty(Some(MAX_TOOL_NAME)), "The tool.");
const TOOL_INPUT: Field = Field::required("tool_input", Kind::AnyObject, "Its arguments.");
const MCP_CONTEXT: Field = Field::optional(
    "mcp_context",
    Kind::Open(&MCP_CONTEXT_FIELDS),
    "The MCP server that the tool comes from.",
);
const PROMPT: Field = Field::required("prompt", Kind::Text, "The prompt's text.");
const LLM_REQUEST: Field = Field::required(
    "llm_request",
    Kind::Model(model::REQUEST),
    "The request: an SDK's in what a caller fires, the stable form in what a hook sees.",
);

static MCP_CONTEXT_FIELDS: [Field; 2] = [
    Field::required("server_name", Kind::Text, "The server's name."),
    Field::optional("server_uri", Kind::Text, "Where the server is."),
];

pub(super) static BEFORE_TOOL: [Field; 3] = [TOOL_NAME, TOOL_INPUT, MCP_CONTEXT];

pub(super) static AFTER_TOOL: [Field; 4] = [
    TOOL_NAME,
    TOOL_INPUT,
    Field::required("tool_response", Kind::Any, "What the tool gave back; any value."),
    MCP_CONTEXT,
];

pub(super) static BEFORE_AGENT: [Field; 1] = [PROMPT];

pub(super) static AFTER_AGENT: [Field; 3] = [
    PROMPT,
    Field::required("prompt_response", Kind::Text, "The agent's answer."),
    Field::required(
        "stop_hook_active",
        Kind::Bool,
        "Whether the turn is one that an earlier AfterAgent hook asked for.",
    ),
];

pub(super) static BEFORE_MODEL: [Field; 1] = [LLM_REQUEST];

pub(super) static AFTER_MODEL: [Field; 2] = [
    LLM_REQUEST,
    Field::required(
        "llm_response",
        Kind::Model(model::RESPONSE),
        "The complete response, likewise.",
    ),
];

pub(super) static BEFORE_TOOL_SELECTION: [Field; 2] =
    [LLM_REQUEST, Field::optional("available_tools", Kind::List, "The tools there are.")];

pub(super) static NOTIFICATION: [Field; 4] = [
    Field::required("message", Kind::NonEmpty(None), "What the agent says."),
    Field::with_default(
        "notification_type",
        Kind::Text,
        "\"other\"",
        "What kind of notification it is.",
    ),
    Field::with_default("details", Kind::AnyObject, "{}", "More about it."),
    Field::optional("level", Kind::Text, "How urgent it is."),
];
