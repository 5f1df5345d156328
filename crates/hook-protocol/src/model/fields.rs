//! The fields of the stable form, for its schema.

use super::LlmRole;
pub(super) use hook_json::field::{Field, FieldKind};

/// The schema name of the stable request.
pub const REQUEST: &str = "LLMRequest";
/// The schema name of the stable response.
pub const RESPONSE: &str = "LLMResponse";
/// The schema name of the stable tool configuration.
pub const TOOL_CONFIG: &str = "ToolConfig";

/// Payload fields and their older names, which input may still use.
pub const OLDER_NAMES: [(&str, &str); 2] =
    [("llm_request", "model_request"), ("llm_response", "model_response")];

/// The fields of a model request.
pub static REQUEST_FIELDS: [Field; 4] = [
    Field::optional("model", FieldKind::Text, "The model's name."),
    Field::optional(
        "messages",
        FieldKind::ListOf(&FieldKind::Open(&MESSAGE_FIELDS)),
        "The conversation, oldest message first.",
    ),
    Field::optional(
        "config",
        FieldKind::AnyObject,
        "Generation settings: `temperature`, `maxOutputTokens`, `topP`, `topK` and others.",
    ),
    Field::optional(
        "toolConfig",
        FieldKind::Defined(TOOL_CONFIG),
        "Which tools the model may call.",
    ),
];

static MESSAGE_FIELDS: [Field; 2] = [
    Field::required("role", FieldKind::OneOf(&LlmRole::NAMES), "Who speaks."),
    Field::required("content", FieldKind::Text, "What is said."),
];

/// The fields of a tool config.
pub static TOOL_CONFIG_FIELDS: [Field; 2] = [
    Field::optional("mode", FieldKind::Text, "`NONE`, `ANY`, `AUTO`, or what else the SDK knows."),
    Field::optional(
        "allowedFunctionNames",
        FieldKind::ListOf(&FieldKind::Text),
        "The names of the tools that may be called.",
    ),
];

/// The fields of a model response.
pub static RESPONSE_FIELDS: [Field; 3] = [
    Field::optional("text", FieldKind::Text, "All text of the first candidate."),
    Field::optional(
        "candidates",
        FieldKind::ListOf(&FieldKind::Open(&CANDIDATE_FIELDS)),
        "The alternatives that the model gave.",
    ),
    Field::optional("usageMetadata", FieldKind::Open(&USAGE_FIELDS), "What the call cost."),
];

static CANDIDATE_FIELDS: [Field; 4] = [
    Field::optional("content", FieldKind::Open(&CONTENT_FIELDS), "What the model said."),
    Field::optional("finishReason", FieldKind::Text, "Why the model stopped."),
    Field::optional("index", FieldKind::Number, "The candidate's number."),
    Field::optional(
        "safetyRatings",
        FieldKind::ListOf(&FieldKind::Open(&SAFETY_FIELDS)),
        "The provider's safety judgements.",
    ),
];

static CONTENT_FIELDS: [Field; 2] = [
    Field::optional("role", FieldKind::Any, "Always `model`; not read."),
    Field::optional("parts", FieldKind::ListOf(&FieldKind::Text), "The text parts."),
];

static SAFETY_FIELDS: [Field; 3] = [
    Field::optional("category", FieldKind::Text, "What was judged."),
    Field::optional("probability", FieldKind::Text, "How likely it is."),
    Field::optional("blocked", FieldKind::Bool, "Whether the provider blocked the content for it."),
];

static USAGE_FIELDS: [Field; 3] = [
    Field::optional("promptTokenCount", FieldKind::Number, "Tokens of the request."),
    Field::optional("candidatesTokenCount", FieldKind::Number, "Tokens of the answer."),
    Field::optional("totalTokenCount", FieldKind::Number, "Both."),
];
