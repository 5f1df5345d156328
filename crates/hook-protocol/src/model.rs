//! The stable model types: the form in which hook scripts see a model call of any SDK
//! (docs/model-sdks.md).
//!
//! They are deliberately text only. Every input field is optional, since a hook answers with only
//! the fields to change. Unknown fields are kept in `extra`; numbers stay as written.

use hook_json::shape::{
    FieldReader, Required, ShapeError, read_json_text, read_list, read_text, split_field,
};
use hook_json::text::shortened;
use hook_json::{
    JsonKind, JsonObject, JsonText, JsonWalk, ObjectWriter, RawJson, RawObject, keywords,
};

/// The bytes of a message apart from its content.
const MESSAGE_OVERHEAD: usize = r#",{"role":"system","content":}"#.len();

/// The usual bytes of a request apart from its messages.
const REQUEST_OVERHEAD: usize = 512;

mod fields;

pub use fields::{
    OLDER_NAMES, REQUEST, REQUEST_FIELDS, RESPONSE, RESPONSE_FIELDS, TOOL_CONFIG,
    TOOL_CONFIG_FIELDS,
};

/// A request to a language model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlmRequest {
    /// The model's name.
    pub model: Option<String>,
    /// The conversation, oldest message first.
    pub messages: Option<Vec<LlmMessage>>,
    /// Generation settings: `temperature`, `maxOutputTokens`, `topP`, `topK` and others.
    pub config: Option<JsonObject>,
    /// The tools that the model may call.
    pub tool_config: Option<ToolConfig>,
    /// Unknown fields.
    pub extra: JsonObject,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmMessage {
    /// The author.
    pub role: LlmRole,
    /// The text.
    pub content: JsonText,
}

keywords! {
    /// The author of a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LlmRole {
        /// The user, or a tool on the user's behalf.
        User = "user",
        /// The model.
        Model = "model",
        /// The system prompt.
        System = "system",
    }
}

/// The tools that a model may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolConfig {
    /// `NONE`, `ANY`, `AUTO`, or another mode of the SDK.
    pub mode: Option<String>,
    /// The names of the tools that may be called.
    pub allowed_function_names: Option<Vec<String>>,
}

/// A model's complete response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlmResponse {
    /// All text of the first candidate.
    pub text: Option<String>,
    /// The alternatives that the model returned.
    pub candidates: Vec<LlmCandidate>,
    /// The token counts of the call.
    pub usage_metadata: Option<UsageMetadata>,
    /// Unknown fields.
    pub extra: JsonObject,
}

/// One alternative of a model's response. Its role is always `model`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlmCandidate {
    /// The text parts; absent when the candidate has no content.
    pub parts: Option<Vec<String>>,
    /// The reason why the model stopped.
    pub finish_reason: Option<String>,
    /// The candidate's number, as written.
    pub index: Option<RawJson>,
    /// The provider's safety judgements.
    pub safety_ratings: Option<Vec<SafetyRating>>,
}

/// One safety judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SafetyRating {
    /// The judged category.
    pub category: Option<String>,
    /// The probability of harm.
    pub probability: Option<String>,
    /// `true` if the provider blocked the content because of it.
    pub blocked: Option<bool>,
}

/// Token counts, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageMetadata {
    /// Tokens of the request.
    pub prompt_token_count: Option<RawJson>,
    /// Tokens of the response.
    pub candidates_token_count: Option<RawJson>,
    /// Tokens of request and response.
    pub total_token_count: Option<RawJson>,
}

impl LlmRequest {
    /// Reads a stable request, or the part of one in a hook's answer.
    ///
    /// # Errors
    /// If a field has the wrong shape; the error names it.
    pub fn read(request: &RawObject) -> Result<Self, ShapeError> {
        let read_messages = |walk: &mut JsonWalk<'_>| read_list(walk, LlmMessage::read);
        let (fields, messages) = split_field(request, "messages", read_messages);
        let mut fields = FieldReader::new(fields);
        Ok(Self {
            messages: messages.transpose()?.flatten(),
            model: fields.text("model")?,
            config: fields.object("config")?.map(|config| config.fields()),
            tool_config: read_object_field(&mut fields, "toolConfig", ToolConfig::read)?,
            extra: fields.into_rest(),
        })
    }

    /// Returns the request as JSON text.
    pub fn to_raw(&self) -> RawObject {
        let messages = self.messages.iter().flatten();
        let length: usize =
            messages.map(|message| message.content.written_len() + MESSAGE_OVERHEAD).sum();
        to_raw(length + REQUEST_OVERHEAD, |out| {
            out.optional_text("model", self.model.as_deref());
            if let Some(messages) = &self.messages {
                out.objects("messages", messages, |out, message| {
                    out.text("role", message.role.as_str());
                    out.json_text("content", &message.content);
                });
            }
            if let Some(config) = &self.config {
                out.object("config", |out| out.fields(config));
            }
            if let Some(tool_config) = &self.tool_config {
                out.object("toolConfig", |out| tool_config.write(out));
            }
            out.fields(&self.extra);
        })
    }
}

impl LlmMessage {
    /// Reads the next message.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut role, mut content) = (None, None);
        let message = walk.entries(|walk, name| match name {
            "role" => role = Some(walk.value()),
            "content" => content = Some(walk.value()),
            _ => {}
        });
        if message.kind() != JsonKind::Object {
            return Err(ShapeError::new("", "an object", message.kind()));
        }
        let role = read_text("role", role).required("role", "user, model or system")?;
        Ok(Self {
            role: LlmRole::from_name(&role).ok_or_else(|| {
                ShapeError::new("role", "user, model or system", shortened(&role))
            })?,
            content: read_json_text("content", content).required("content", "a string")?,
        })
    }
}

impl ToolConfig {
    /// Reads a stable tool config.
    ///
    /// # Errors
    /// If a field has the wrong shape; the error names it.
    pub fn read(config: JsonObject) -> Result<Self, ShapeError> {
        let mut fields = FieldReader::new(config);
        Ok(Self {
            mode: fields.text("mode")?,
            allowed_function_names: fields.texts("allowedFunctionNames")?,
        })
    }

    /// Writes the fields.
    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
        out.optional_text("mode", self.mode.as_deref());
        if let Some(names) = &self.allowed_function_names {
            out.texts("allowedFunctionNames", names);
        }
    }

    /// Returns the tool config as JSON text.
    pub fn to_raw(&self) -> RawObject {
        to_raw(0, |out| self.write(out))
    }
}

impl LlmResponse {
    /// Reads a stable response.
    ///
    /// # Errors
    /// If a field has the wrong shape; the error names it.
    pub fn read(response: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = FieldReader::new(response.fields());
        let candidates = fields.items("candidates")?.unwrap_or_default();
        Ok(Self {
            text: fields.text("text")?,
            candidates: read_each("candidates", &candidates, LlmCandidate::read)?,
            usage_metadata: read_object_field(&mut fields, "usageMetadata", UsageMetadata::read)?,
            extra: fields.into_rest(),
        })
    }

    /// Returns the response as JSON text.
    pub fn to_raw(&self) -> RawObject {
        to_raw(0, |out| {
            out.optional_text("text", self.text.as_deref());
            out.objects("candidates", &self.candidates, |out, candidate| candidate.write(out));
            if let Some(usage) = &self.usage_metadata {
                out.object("usageMetadata", |out| usage.write(out));
            }
            out.fields(&self.extra);
        })
    }
}

impl LlmCandidate {
    fn read(candidate: JsonObject) -> Result<Self, ShapeError> {
        let mut fields = FieldReader::new(candidate);
        let parts = read_object_field(&mut fields, "content", |content| {
            Ok(FieldReader::new(content).texts("parts")?.unwrap_or_default())
        })?;
        let safety_ratings = match fields.items("safetyRatings")? {
            None => None,
            Some(items) => Some(read_each("safetyRatings", &items, SafetyRating::read)?),
        };
        Ok(Self {
            parts,
            finish_reason: fields.text("finishReason")?,
            index: fields.number("index")?,
            safety_ratings,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        if let Some(parts) = &self.parts {
            out.object("content", |out| {
                out.text("role", LlmRole::Model.as_str());
                out.texts("parts", parts);
            });
        }
        out.optional_text("finishReason", self.finish_reason.as_deref());
        write_optional(out, "index", self.index.as_ref());
        if let Some(ratings) = &self.safety_ratings {
            out.objects("safetyRatings", ratings, |out, rating| {
                out.optional_text("category", rating.category.as_deref());
                out.optional_text("probability", rating.probability.as_deref());
                if let Some(blocked) = rating.blocked {
                    out.bool("blocked", blocked);
                }
            });
        }
    }
}

impl SafetyRating {
    fn read(rating: JsonObject) -> Result<Self, ShapeError> {
        let mut fields = FieldReader::new(rating);
        Ok(Self {
            category: fields.text("category")?,
            probability: fields.text("probability")?,
            blocked: fields.bool("blocked")?,
        })
    }
}

impl UsageMetadata {
    fn read(usage: JsonObject) -> Result<Self, ShapeError> {
        let mut fields = FieldReader::new(usage);
        Ok(Self {
            prompt_token_count: fields.number("promptTokenCount")?,
            candidates_token_count: fields.number("candidatesTokenCount")?,
            total_token_count: fields.number("totalTokenCount")?,
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        write_optional(out, "promptTokenCount", self.prompt_token_count.as_ref());
        write_optional(out, "candidatesTokenCount", self.candidates_token_count.as_ref());
        write_optional(out, "totalTokenCount", self.total_token_count.as_ref());
    }
}

fn read_object_field<T>(
    fields: &mut FieldReader,
    name: &str,
    read: impl FnOnce(JsonObject) -> Result<T, ShapeError>,
) -> Result<Option<T>, ShapeError> {
    let Some(object) = fields.object(name)? else { return Ok(None) };
    read(object.fields()).map(Some).map_err(|error| error.within(name))
}

fn read_each<T>(
    name: &str,
    items: &[RawJson],
    read: impl Fn(JsonObject) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let read_one = |(index, item): (usize, &RawJson)| {
        let path = format!("{name}[{index}]");
        let object = item
            .to_object()
            .map_err(|_| ShapeError::new(path.clone(), "an object", item.kind()))?;
        read(object).map_err(|error| error.within(&path))
    };
    items.iter().enumerate().map(read_one).collect()
}

fn write_optional(out: &mut ObjectWriter<'_>, name: &str, value: Option<&RawJson>) {
    if let Some(value) = value {
        out.raw(name, value);
    }
}

/// Writes an object of about `length` bytes.
fn to_raw(length: usize, write: impl FnOnce(&mut ObjectWriter<'_>)) -> RawObject {
    RawObject::from_written(ObjectWriter::value(length, write))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> RawObject {
        RawObject::try_from(RawJson::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn what_is_read_is_written_again() {
        for text in [
            r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"config":{"topK":3},"toolConfig":{"mode":"ANY","allowedFunctionNames":["a"]},"later":[1.0]}"#,
            "{}",
        ] {
            assert_eq!(LlmRequest::read(&object(text)).unwrap().to_raw().as_str(), text);
        }
        let response = r#"{"text":"a","candidates":[{"content":{"role":"model","parts":["a"]},"finishReason":"STOP","index":0,"safetyRatings":[{"category":"c","probability":"LOW"}]}],"usageMetadata":{"totalTokenCount":7}}"#;
        assert_eq!(LlmResponse::read(&object(response)).unwrap().to_raw().as_str(), response);
    }

    #[test]
    fn an_error_names_the_path() {
        let request = object(r#"{"messages":[{"role":"user","content":"a"},{"role":"robot"}]}"#);
        let error = LlmRequest::read(&request).unwrap_err();
        assert_eq!(error.path(), "messages[1].role");
    }
}
