//! The fields of the stable form, for its schema.

use super::LlmRole;
pub(super) use hook_json::field::{Field, Kind};

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
    Field::optional("model", Kind::Text, "The model's name."),
    Field::optional(
        "messages",
        Kind::ListOf(&Kind::Open(&MESSAGE_FIELDS)),
        "The conversation, oldest message first.",
    ),
    Field::optional(
        "config",
        Kind::AnyObject,
        "Generation settings: `temperature`, `maxOutputTokens`, `topP`, `topK` and others.",
    ),
    Field::optional("toolConfig", Kind::Defined(TOOL_CONFIG), "Which tools the model may call."),
];

static MESSAGE_FIELDS: [Field; 2] = [
    Field::required("role", Kind::Words(&LlmRole::WORDS), "Who speaks."),
    Field::required("content", Kind::Text, "What is said."),
];

/// The fields of a tool config.
pub static TOOL_CONFIG_FIELDS: [Field; 2] = [
    Field::optional("mode", Kind::Text, "`NONE`, `ANY`, `AUTO`, or what else the SDK knows."),
    Field::optional(
        "allowedFunctionNames",
        Kind::ListOf(&Kind::Text),
        "The names of the tools that may be called.",
    ),
];

/// The fields of a model response.
pub static RESPONSE_FIELDS: [Field; 3] = [
    Field::optional("text", Kind::Text, "All text of the first candidate."),
    Field::optional(
        "candidates",
        Kind::ListOf(&Kind::Open(&CANDIDATE_FIELDS)),
        "The alternatives that the model gave.",
    ),
    Field::optional("usageMetadata", Kind::Open(&USAGE_FIELDS), "What the call cost."),
];

static CANDIDATE_FIELDS: [Field; 4] = [
    Field::optional("content", Kind::Open(&CONTENT_FIELDS), "What the model said."),
    Field::optional("finishReason", Kind::Text, "Why the model stopped."),
    Field::optional("index", Kind::Number, "The candidate's number."),
    Field::optional(
        "safetyRatings",
        Kind::ListOf(&Kind::Open(&SAFETY_FIELDS)),
        "The provider's safety judgements.",
    ),
];

static CONTENT_FIELDS: [Field; 2] = [
    Field::optional("role", Kind::Any, "Always `model`; not read."),
    Field::optional("parts", Kind::ListOf(&Kind::Text), "The text parts."),
];

static SAFETY_FIELDS: [Field; 3] = [
    Field::optional("category", Kind::Text, "What was judged."),
    Field::optional("probability", Kind::Text, "How likely it is."),
    Field::optional("blocked", Kind::Bool, "Whether the provider blocked the content for it."),
];

static USAGE_FIELDS: [Field; 3] = [
    Field::optional("promptTokenCount", Kind::Number, "Tokens of the request."),
    Field::optional("candidatesTokenCount", Kind::Number, "Tokens of the answer."),
    Field::optional("totalTokenCount", Kind::Number, "Both."),
];
