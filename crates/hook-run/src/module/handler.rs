//! The input and output of a module's handler.

use std::future::Future;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::context::HookContext;
use super::errors::ModuleErrors;
use super::host_client::ModuleHandle;
use hook_json::{JsonObject, RawJson, RawObject, opaque_debug};

/// The return value of a module's handler: an answer, nothing, or an error.
pub type ModuleReturn = Result<Option<ModuleAnswer>, Box<dyn std::error::Error + Send + Sync>>;

/// An event in the module format, with fields such as `toolName`.
#[derive(Debug, Clone)]
pub struct ModuleEvent {
    name: Arc<str>,
    raw: RawObject,
    fields: JsonObject,
}

impl ModuleEvent {
    pub(super) fn new(name: &str, raw: &RawObject) -> Self {
        Self { name: name.into(), raw: raw.clone(), fields: raw.fields() }
    }

    /// Returns the event's name, such as `tool_call`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all fields.
    pub fn fields(&self) -> &JsonObject {
        &self.fields
    }

    /// Returns the whole event as JSON.
    pub fn to_raw(&self) -> &RawObject {
        &self.raw
    }

    /// Returns a field.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.get(name)
    }

    /// Returns a string field.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.to_text()
    }

    /// Returns `true` if the field is `true`.
    pub fn is(&self, name: &str) -> bool {
        self.get(name).and_then(RawJson::to_bool) == Some(true)
    }

    /// Returns the items of an array field.
    pub fn items(&self, name: &str) -> Vec<RawJson> {
        self.get(name).and_then(RawJson::to_items).unwrap_or_default()
    }

    /// Returns the name of the event's tool.
    pub fn tool_name(&self) -> Option<String> {
        self.text("toolName")
    }

    /// Returns a string argument of the event's tool.
    pub fn tool_argument(&self, name: &str) -> Option<String> {
        self.get("input")?.to_object().ok()?.get(name)?.to_text()
    }
}

/// The answer of a handler, in the module format.
///
/// ```
/// use hook_run::ModuleAnswer;
///
/// let answer = ModuleAnswer::block("not that");
/// assert_eq!(answer.to_raw().as_str(), r#"{"block":true,"reason":"not that"}"#);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModuleAnswer(JsonObject);

impl ModuleAnswer {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks the tool; for `tool_call`.
    pub fn block(reason: &str) -> Self {
        Self::new()
            .with("block", RawJson::from_bool(true))
            .with("reason", RawJson::from_text(reason))
    }

    /// Replaces the parts of the result; for `tool_result`.
    pub fn content<'p>(parts: impl IntoIterator<Item = &'p RawJson>) -> Self {
        Self::new().with("content", RawJson::from_items(parts))
    }

    /// Replaces the messages of this call; for `context`.
    pub fn messages<'m>(messages: impl IntoIterator<Item = &'m RawJson>) -> Self {
        Self::new().with("messages", RawJson::from_items(messages))
    }

    /// Inserts a message before the prompt; for `before_agent_start`.
    pub fn message(custom_type: &str, content: &str, display: bool) -> Self {
        let message = RawObject::build(|message| {
            message.text("customType", custom_type);
            message.text("content", content);
            message.bool("display", display);
        });
        Self::new().with("message", message)
    }

    /// Cancels the change; for `session_before_switch`, `_branch`, `_compact` and `_tree`.
    pub fn cancel() -> Self {
        Self::new().with("cancel", RawJson::from_bool(true))
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<RawJson>) -> Self {
        self.0.insert(name, value);
        self
    }

    /// Returns the answer as JSON.
    pub fn to_raw(&self) -> RawObject {
        self.0.to_raw()
    }
}

impl From<JsonObject> for ModuleAnswer {
    fn from(fields: JsonObject) -> Self {
        Self(fields)
    }
}

type Function = dyn Fn(ModuleEvent, HookContext) -> BoxFuture<'static, ModuleReturn> + Send + Sync;

/// A handler of a module: a function, its module, and the listeners for its errors.
#[derive(Clone)]
pub struct ModuleHandler {
    function: Arc<Function>,
    pub(super) module: ModuleHandle,
    pub(super) errors: Arc<ModuleErrors>,
}

impl ModuleHandler {
    /// Creates a handler of a module. Its future must not block its thread.
    pub fn new<F>(
        module: &ModuleHandle,
        errors: &Arc<ModuleErrors>,
        function: impl Fn(ModuleEvent, HookContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ModuleReturn> + Send + 'static,
    {
        Self {
            function: Arc::new(move |event, context| function(event, context).boxed()),
            module: module.clone(),
            errors: Arc::clone(errors),
        }
    }

    pub(super) async fn call(&self, event: ModuleEvent, context: HookContext) -> ModuleReturn {
        (self.function)(event, context).await
    }
}

opaque_debug!(ModuleHandler { module });
