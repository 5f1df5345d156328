//! Foreign hooks that the host executes: a model's verdict, a tool of an MCP server. The caller of
//! the event provides the service; without it, the hook fails with the name of the missing service.

use std::fmt::Write;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;

use super::answer::{Answer, convert_foreign_answer, interpret_foreign_output};
use super::command::CommandContext;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run};
use super::live::{HostCall, HostServices};
use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ForeignCommand, ForeignHook, ProcessOutput};

/// The placeholder for the hook's input in a prompt.
const ARGUMENTS: &str = "$ARGUMENTS";

/// Runs a hook by asking the host.
#[derive(Debug)]
pub(super) struct HostServiceExecutor {
    hook: Arc<HostServiceHook>,
}

#[derive(Debug)]
struct HostServiceHook {
    label: String,
    foreign: Arc<ForeignHook>,
    service: &'static str,
    context: Arc<CommandContext>,
}

impl HostServiceExecutor {
    /// Creates the executor of a hook that needs this service of the host.
    pub(super) fn new(
        label: String,
        foreign: Arc<ForeignHook>,
        service: &'static str,
        context: Arc<CommandContext>,
    ) -> Self {
        Self { hook: Arc::new(HostServiceHook { label, foreign, service, context }) }
    }
}

impl HookExecutor for HostServiceExecutor {
    fn kind(&self) -> HookKind {
        match &self.hook.foreign.command {
            ForeignCommand::Agent { .. } => HookKind::Agent,
            ForeignCommand::McpTool { .. } => HookKind::McpTool,
            _ => HookKind::Prompt,
        }
    }

    fn foreign(&self) -> Option<&ForeignHook> {
        Some(&self.hook.foreign)
    }

    fn label(&self) -> &str {
        &self.hook.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Missing(self.hook.service)
    }

    /// The service costs as much as a process.
    fn permits(&self) -> Permits<'_> {
        Permits::Process
    }

    fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        self.hook.context.check_depth(depth)
    }

    fn execute(&self, call: HookCall) -> Execution {
        let Some(host) = call.scope.host.clone() else {
            return Execution::Done(self.hook.unavailable(self.kind()));
        };
        let (hook, kind) = (Arc::clone(&self.hook), self.kind());
        Execution::Running(async move { hook.run(kind, call, host).await }.boxed())
    }
}

impl HostServiceHook {
    fn unavailable(&self, kind: HookKind) -> Run {
        let failure = HookFailure::NoService { kind: kind.as_str(), service: self.service };
        Answer::failed(failure).into()
    }

    async fn run(&self, kind: HookKind, call: HookCall, host: Arc<dyn HostServices>) -> Run {
        let payload = self
            .foreign
            .language
            .foreign_input(&self.foreign, &call.input)
            .unwrap_or_else(RawObject::empty);
        let (method, params) = match self.host_request(&payload) {
            Ok(request) => request,
            Err(reason) => return Answer::failed(HookFailure::Live { reason }).into(),
        };
        // Requests that the host makes for the hook count as coming from inside it.
        let CommandContext { running, environment, .. } = &*self.context;
        let running = running.enter(environment.outer_token.as_deref(), call.scope.depth);
        let host_call = HostCall {
            method: method.to_owned(),
            params,
            hook: self.label.as_str().into(),
            correlation: call.scope.correlation.clone(),
            run_token: running.token().to_owned(),
        };
        let outcome = tokio::select! {
            biased;
            failure = call.expired() => return Answer::failed(failure).into(),
            done = host.call(host_call) => done,
        };
        match outcome {
            Ok(result) => self.read(&call.input, &payload, &result).into(),
            Err(super::HostCallError::Unsupported { .. }) => self.unavailable(kind),
            Err(error) => {
                let message = shortened(&error.to_string());
                Answer::failed(HookFailure::Reported { message }).into()
            }
        }
    }

    /// Returns the method and parameters of the call to the host.
    fn host_request(&self, payload: &RawObject) -> Result<(&'static str, RawJson), String> {
        let mut params = JsonObject::new();
        match &self.foreign.command {
            ForeignCommand::McpTool { server, tool, input } => {
                params.insert("server", RawJson::from_text(server));
                params.insert("tool", RawJson::from_text(tool));
                params.insert("arguments", fill_arguments(input, payload)?);
                Ok(("mcp.call", params.to_raw().as_raw().clone()))
            }
            ForeignCommand::Prompt { prompt, model, .. }
            | ForeignCommand::Agent { prompt, model } => {
                let mut question = prompt.replace(ARGUMENTS, payload.as_str());
                if !prompt.contains(ARGUMENTS) {
                    let _ = write!(question, "\n\n{}", payload.as_str());
                }
                params.insert("prompt", RawJson::from_text(&question));
                if let Some(model) = model {
                    params.insert("model", RawJson::from_text(model));
                }
                let has_tools = matches!(self.foreign.command, ForeignCommand::Agent { .. });
                params.insert("tools", RawJson::from_bool(has_tools));
                params.insert("answer", RawJson::from_text("verdict"));
                Ok(("model.ask", params.to_raw().as_raw().clone()))
            }
            _ => Err("it is nothing that a host does".to_owned()),
        }
    }

    /// Interprets the host's result.
    fn read(&self, input: &EventInput, payload: &RawObject, result: &RawJson) -> Answer {
        let text = text_of(result);
        if let ForeignCommand::McpTool { .. } = self.foreign.command {
            let is_error = result
                .to_object()
                .is_ok_and(|fields| fields.get("isError").and_then(RawJson::to_bool) == Some(true));
            let output = text.unwrap_or_else(|| result.as_str().to_owned());
            if is_error {
                let message = shortened(&output);
                return Answer::failed(HookFailure::Reported { message });
            }
            let ended = ProcessOutput { code: Some(0), stdout: &output, stderr: "" };
            return interpret_foreign_output(&self.foreign, input, payload, &ended);
        }
        let verdict = match text {
            Some(text) => RawObject::parse(without_fence(&text)).ok().map(|object| object.fields()),
            None => result.to_object().ok(),
        };
        let ok = verdict.as_ref().and_then(|fields| fields.get("ok")).and_then(RawJson::to_bool);
        match (ok, verdict) {
            (Some(true), _) => convert_foreign_answer(ForeignAnswer::default()),
            (Some(false), Some(verdict)) => {
                let reason = verdict.get("reason").and_then(RawJson::to_text);
                let reason = reason.unwrap_or_else(|| "a model said no".to_owned());
                let output = Some(HookOutput::deny(reason));
                convert_foreign_answer(ForeignAnswer { output, ..ForeignAnswer::default() })
            }
            _ => Answer::failed(HookFailure::InvalidAnswer(InvalidAnswer::new(
                "the model's answer is no verdict",
                "a verdict is {\"ok\": true} or {\"ok\": false, \"reason\": \"…\"}",
            ))),
        }
    }
}

/// Returns the text of a result: a string, its `text`, or the parts of an MCP tool's `content`.
fn text_of(result: &RawJson) -> Option<String> {
    if let Some(text) = result.to_text() {
        return Some(text);
    }
    let fields = result.to_object().ok()?;
    if let Some(text) = fields.get("text").and_then(RawJson::to_text) {
        return Some(text);
    }
    let parts = fields.get("content")?.to_items()?;
    let texts = parts.iter().filter_map(|part| part.to_object().ok()?.get("text")?.to_text());
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// Removes the Markdown code fence around a model's JSON, if there is one.
fn without_fence(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```json").or_else(|| trimmed.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(trimmed)
}

/// Fills in arguments: `${a.b}` is replaced by that field of the hook's input.
fn fill_arguments(input: &RawObject, payload: &RawObject) -> Result<RawJson, String> {
    let mut value: Value = serde_json::from_str(input.as_str())
        .map_err(|error| format!("its `input` cannot be filled in: {error}"))?;
    fill(&mut value, payload);
    RawJson::from_value(&value).map_err(|error| format!("its `input` cannot be filled in: {error}"))
}

fn fill(value: &mut Value, payload: &RawObject) {
    match value {
        Value::String(text) => *text = expand(text, payload),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, payload)),
        Value::Object(fields) => fields.values_mut().for_each(|value| fill(value, payload)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn expand(text: &str, payload: &RawObject) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((path, after)) = after.split_once('}') else { break };
        expanded.push_str(before);
        // A missing field becomes empty text.
        expanded.push_str(&field_text(payload, path).unwrap_or_default());
        rest = after;
    }
    expanded + rest
}

fn field_text(payload: &RawObject, path: &str) -> Option<String> {
    let mut value = payload.as_raw().clone();
    for name in path.split('.') {
        value = value.to_object().ok()?.get(name)?.clone();
    }
    value.to_text().or_else(|| Some(value.as_str().to_owned()))
}
