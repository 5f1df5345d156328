//! The fields of the stable form, for its schema.

use super::LlmRole;
use hook_json::fields;

/// The schema name of the stable request.
pub const REQUEST: &str = "LLMRequest";
/// The schema name of the stable response.
pub const RESPONSE: &str = "LLMResponse";
/// The schema name of the stable tool configuration.
pub const TOOL_CONFIG: &str = "ToolConfig";

/// Payload fields and their older names, which input may still use.
pub const OLDER_NAMES: [(&str, &str); 2] =
    [("llm_request", "model_request"), ("llm_response", "model_response")];

fields! {
    /// The fields of a model request.
    pub REQUEST_FIELDS:
    "model" Text, optional, "The model's name.";
    "messages" ListOf(&Open(&MESSAGE_FIELDS)), optional, "The conversation, oldest message first.";
    "config" AnyObject, optional,
        "Generation settings: `temperature`, `maxOutputTokens`, `topP`, `topK` and others.";
    "toolConfig" Defined(TOOL_CONFIG), optional, "Which tools the model may call.";
}

fields! {
    MESSAGE_FIELDS:
    "role" OneOf(&LlmRole::NAMES), required, "Who speaks.";
    "content" Text, required, "What is said.";
}

fields! {
    /// The fields of a tool config.
    pub TOOL_CONFIG_FIELDS:
    "mode" Text, optional, "`NONE`, `ANY`, `AUTO`, or what else the SDK knows.";
    "allowedFunctionNames" ListOf(&Text), optional, "The names of the tools that may be called.";
}

fields! {
    /// The fields of a model response.
    pub RESPONSE_FIELDS:
    "text" Text, optional, "All text of the first candidate.";
    "candidates" ListOf(&Open(&CANDIDATE_FIELDS)), optional,
        "The alternatives that the model gave.";
    "usageMetadata" Open(&USAGE_FIELDS), optional, "What the call cost.";
}

fields! {
    CANDIDATE_FIELDS:
    "content" Open(&CONTENT_FIELDS), optional, "What the model said.";
    "finishReason" Text, optional, "Why the model stopped.";
    "index" Number, optional, "The candidate's number.";
    "safetyRatings" ListOf(&Open(&SAFETY_FIELDS)), optional, "The provider's safety judgements.";
}

fields! {
    CONTENT_FIELDS:
    "role" Any, optional, "Always `model`; not read.";
    "parts" ListOf(&Text), optional, "The text parts.";
}

fields! {
    SAFETY_FIELDS:
    "category" Text, optional, "What was judged.";
    "probability" Text, optional, "How likely it is.";
    "blocked" Bool, optional, "Whether the provider blocked the content for it.";
}

fields! {
    USAGE_FIELDS:
    "promptTokenCount" Number, optional, "Tokens of the request.";
    "candidatesTokenCount" Number, optional, "Tokens of the answer.";
    "totalTokenCount" Number, optional, "Both.";
}
