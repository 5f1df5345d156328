//! What a handler of a module is told, and what it returns.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::asker::ModuleHandle;
use super::context::HookContext;
use super::errors::ModuleErrors;
use crate::json::{JsonObject, RawJson, RawObject};

/// What a handler of a module returns: an answer, nothing, or an error.
pub type ModuleReturn = Result<Option<ModuleAnswer>, Box<dyn std::error::Error + Send + Sync>>;

/// An event as modules are told of it: its fields are those of the words of modules, such as `toolName`.
#[derive(Debug, Clone)]
pub struct ModuleEvent {
    name: Arc<str>,
    told: RawObject,
    fields: JsonObject,
}

impl ModuleEvent {
    pub(super) fn new(name: &str, told: &RawObject) -> Self {
        Self { name: name.into(), told: told.clone(), fields: told.fields() }
    }

    /// The event, such as `tool_call`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that is told.
    pub fn fields(&self) -> &JsonObject {
        &self.fields
    }

    /// All that is told, as JSON.
    pub fn to_raw(&self) -> &RawObject {
        &self.told
    }

    /// A field.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.fields.get(name)
    }

    /// A field that is a text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.to_text()
    }

    /// Whether a field is `true`.
    pub fn is(&self, name: &str) -> bool {
        self.get(name).and_then(RawJson::to_bool) == Some(true)
    }

    /// A field that is an array.
    pub fn items(&self, name: &str) -> Vec<RawJson> {
        self.get(name).and_then(RawJson::to_items).unwrap_or_default()
    }

    /// The tool that the event is about.
    pub fn tool_name(&self) -> Option<String> {
        self.text("toolName")
    }

    /// An argument of that tool that is a text.
    pub fn tool_argument(&self, name: &str) -> Option<String> {
        self.get("input")?.to_object().ok()?.get(name)?.to_text()
    }
}

/// What a handler wants, in the words of modules.
///
/// ```
/// use hook_core::run::ModuleAnswer;
///
/// let answer = ModuleAnswer::block("not that");
/// assert_eq!(answer.to_raw().as_str(), r#"{"block":true,"reason":"not that"}"#);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModuleAnswer(JsonObject);

impl ModuleAnswer {
    /// One that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// On `tool_call`: the tool does not run.
    pub fn block(reason: &str) -> Self {
        Self::new()
            .with("block", RawJson::from_bool(true))
            .with("reason", RawJson::from_text(reason))
    }

    /// On `tool_result`: parts that take the place of the result's.
    pub fn content<'p>(parts: impl IntoIterator<Item = &'p RawJson>) -> Self {
        Self::new().with("content", RawJson::from_items(parts))
    }

    /// On `context`: messages that take the place of those of this call.
    pub fn messages<'m>(messages: impl IntoIterator<Item = &'m RawJson>) -> Self {
        Self::new().with("messages", RawJson::from_items(messages))
    }

    /// On `before_agent_start`: a message that is put before the prompt.
    pub fn message(custom_type: &str, content: &str, display: bool) -> Self {
        let message = RawObject::of(|message| {
            message.text("customType", custom_type);
            message.text("content", content);
            message.bool("display", display);
        });
        Self::new().with("message", message)
    }

    /// On `session_before_switch`, `_branch`, `_compact` and `_tree`: it does not happen.
    pub fn cancel() -> Self {
        Self::new().with("cancel", RawJson::from_bool(true))
    }

    /// The same with another field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<RawJson>) -> Self {
        self.0.insert(name, value);
        self
    }

    /// As JSON.
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

/// A handler of a module: a function, whose it is, and who is told of its errors.
#[derive(Clone)]
pub struct ModuleHandler {
    function: Arc<Function>,
    pub(super) module: ModuleHandle,
    pub(super) errors: Arc<ModuleErrors>,
}

impl ModuleHandler {
    /// A handler of a module. Its future must not block its thread.
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

impl fmt::Debug for ModuleHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModuleHandler")
            .field("module", &self.module)
            .finish_non_exhaustive()
    }
}
