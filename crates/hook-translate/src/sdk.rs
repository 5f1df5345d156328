//! The SDKs whose payloads the engine understands.

use hook_json::{JsonKind, RawJson, RawObject, keywords};
use hook_protocol::model::LlmRole;

use crate::TranslateError;

keywords! {
    /// The form of a model payload (docs/model-sdks.md).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Sdk {
        /// Google's GenAI SDK, v1: `contents` of parts.
        GenAi = "genai",
        /// OpenAI's chat completions: `messages` and `choices`.
        OpenAiChat = "openai-chat",
        /// OpenAI's responses: `input` and `output` of items.
        OpenAiResponses = "openai-responses",
        /// Anthropic's messages: a conversation of blocks. It can only be named, not detected.
        Anthropic = "anthropic",
        /// The stable form itself, which needs no translation.
        Stable = "stable",
    }
}

impl Sdk {
    /// Returns all names, for messages.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// Returns the form of a request: the one in the input's `sdk` field, or else the detected one.
    ///
    /// `contents` means [`GenAi`](Self::GenAi); `messages` that all have a string as content and
    /// one of the stable roles mean [`Stable`](Self::Stable). A response has the form of the
    /// request that it answers.
    ///
    /// # Errors
    /// [`UnknownSdk`](TranslateError::UnknownSdk) for an unknown name, and
    /// [`UnclearSdk`](TranslateError::UnclearSdk) if there is no name and the form cannot be
    /// detected.
    pub fn of_request(named: Option<&str>, request: &RawObject) -> Result<Self, TranslateError> {
        match named {
            Some(name) => Self::from_name(name)
                .ok_or_else(|| TranslateError::UnknownSdk { name: name.to_owned() }),
            None => Self::detect(request),
        }
    }

    fn detect(request: &RawObject) -> Result<Self, TranslateError> {
        let fields = request.fields();
        let given = |name| fields.get(name).filter(|value| !value.is_null());
        if given("contents").is_some() {
            return Ok(Self::GenAi);
        }
        match given("messages").and_then(RawJson::to_items) {
            Some(messages) if messages.iter().all(is_stable_message) => Ok(Self::Stable),
            _ => Err(TranslateError::UnclearSdk),
        }
    }
}

fn is_stable_message(message: &RawJson) -> bool {
    let Ok(fields) = message.to_object() else { return false };
    let role = fields.get("role").and_then(RawJson::to_text);
    role.is_some_and(|role| LlmRole::from_name(&role).is_some())
        && fields.get("content").is_some_and(|content| content.kind() == JsonKind::String)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(request: &str) -> Result<Sdk, TranslateError> {
        let request = RawObject::try_from(RawJson::parse(request).unwrap()).unwrap();
        Sdk::of_request(None, &request)
    }

    #[test]
    fn every_name_is_read_back() {
        for sdk in Sdk::ALL {
            assert_eq!(Sdk::from_name(sdk.as_str()), Some(sdk));
        }
        assert_eq!(Sdk::from_name("GenAI"), None);
    }

    #[test]
    fn the_form_is_seen_in_the_request() {
        for (request, expected) in [
            (r#"{"contents":"hi"}"#, Some(Sdk::GenAi)),
            (r#"{"contents":[],"messages":[]}"#, Some(Sdk::GenAi)),
            (r#"{"contents":null,"messages":[]}"#, Some(Sdk::Stable)),
            (r#"{"messages":[{"role":"system","content":"a"}]}"#, Some(Sdk::Stable)),
            (r#"{"messages":[{"role":"assistant","content":"a"}]}"#, None),
            (r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#, None),
            (r#"{"messages":["a"]}"#, None),
            (r#"{"model":"m"}"#, None),
        ] {
            assert_eq!(of(request).ok(), expected, "{request}");
        }
    }

    #[test]
    fn an_error_says_what_to_set() {
        let error = of("{}").unwrap_err().to_string();
        assert!(error.contains("set `sdk` to one of genai, openai-chat"), "{error}");
        let error = Sdk::of_request(Some("gpt"), &RawObject::empty()).unwrap_err().to_string();
        assert!(error.starts_with("unknown sdk `gpt`: expected one of genai"), "{error}");
    }
}
