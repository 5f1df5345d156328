//! Foreign hooks that the host executes: a model's verdict, a tool of an MCP server. The caller of
//! the event provides the service; without it, the hook fails with the name of the missing service.

use std::fmt::Write;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::Value;

use super::answer::{Answer, answer_at_home, home_answer};
use super::command::CommandContext;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run};
use super::live::{HostCall, HostServices};
use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignAnswer, ForeignCommand, ForeignHook};

/// The placeholder for the hook's input in a prompt.
const ARGUMENTS: &str = "$ARGUMENTS";

/// Runs a hook by asking the host.
#[derive(Debug)]
pub(super) struct HostedExecutor {
    hook: Arc<HostedHook>,
}

#[derive(Debug)]
struct HostedHook {
    label: String,
    home: Arc<ForeignHook>,
    service: &'static str,
    context: Arc<CommandContext>,
}

impl HostedExecutor {
    /// Creates the executor of a hook that needs this service of the host.
    pub(super) fn new(
        label: String,
        home: Arc<ForeignHook>,
        service: &'static str,
        context: Arc<CommandContext>,
    ) -> Self {
        Self { hook: Arc::new(HostedHook { label, home, service, context }) }
    }
}

impl HookExecutor for HostedExecutor {
    fn kind(&self) -> HookKind {
        match &self.hook.home.command {
            ForeignCommand::Agent { .. } => HookKind::Agent,
            ForeignCommand::McpTool { .. } => HookKind::McpTool,
            _ => HookKind::Prompt,
        }
    }

    fn home(&self) -> Option<&ForeignHook> {
        Some(&self.hook.home)
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
        let Some(host) = call.host.clone() else {
            return Execution::Done(self.hook.unserved(self.kind()));
        };
        let (hook, kind) = (Arc::clone(&self.hook), self.kind());
        Execution::Running(async move { hook.run(kind, call, host).await }.boxed())
    }
}

impl HostedHook {
    fn unserved(&self, kind: HookKind) -> Run {
        let failure = HookFailure::NoService { kind: kind.as_str(), service: self.service };
        Answer::failed(failure).into()
    }

    async fn run(&self, kind: HookKind, call: HookCall, host: Arc<dyn HostServices>) -> Run {
        let told =
            self.home.language.told(&self.home, &call.input).unwrap_or_else(RawObject::empty);
        let (method, params) = match self.wanted(&told) {
            Ok(wanted) => wanted,
            Err(why) => return Answer::failed(HookFailure::Live { reason: why }).into(),
        };
        // Requests that the host makes for the hook count as coming from inside it.
        let CommandContext { running, environment, .. } = &*self.context;
        let running = running.enter(environment.outer_token.as_deref(), call.depth);
        let wanted = HostCall {
            method: method.to_owned(),
            params,
            hook: self.label.as_str().into(),
            correlation: call.correlation.clone(),
            run_token: running.token().to_owned(),
        };
        let done = tokio::select! {
            biased;
            () = call.cancel.cancelled() => return Answer::failed(HookFailure::Cancelled).into(),
            () = tokio::time::sleep(call.timeout) => {
                return Answer::failed(HookFailure::TimedOut { after: call.timeout }).into();
            }
            done = host.call(wanted) => done,
        };
        match done {
            Ok(result) => self.read(&call.input, &told, &result).into(),
            Err(super::HostCallError::Unsupported { .. }) => self.unserved(kind),
            Err(error) => {
                let message = shortened(&error.to_string());
                Answer::failed(HookFailure::Reported { message }).into()
            }
        }
    }

    /// Returns the method and parameters of the call to the host.
    fn wanted(&self, told: &RawObject) -> Result<(&'static str, RawJson), String> {
        let mut params = JsonObject::new();
        match &self.home.command {
            ForeignCommand::McpTool { server, tool, input } => {
                params.insert("server", RawJson::from_text(server));
                params.insert("tool", RawJson::from_text(tool));
                params.insert("arguments", filled(input, told)?);
                Ok(("mcp.call", params.to_raw().as_raw().clone()))
            }
            ForeignCommand::Prompt { prompt, model, .. }
            | ForeignCommand::Agent { prompt, model } => {
                let mut question = prompt.replace(ARGUMENTS, told.as_str());
                if !prompt.contains(ARGUMENTS) {
                    let _ = write!(question, "\n\n{}", told.as_str());
                }
                params.insert("prompt", RawJson::from_text(&question));
                if let Some(model) = model {
                    params.insert("model", RawJson::from_text(model));
                }
                let has_tools = matches!(self.home.command, ForeignCommand::Agent { .. });
                params.insert("tools", RawJson::from_bool(has_tools));
                params.insert("answer", RawJson::from_text("verdict"));
                Ok(("model.ask", params.to_raw().as_raw().clone()))
            }
            _ => Err("it is nothing that a host does".to_owned()),
        }
    }

    /// Interprets the host's result.
    fn read(&self, input: &EventInput, told: &RawObject, result: &RawJson) -> Answer {
        let said = text_of(result);
        if let ForeignCommand::McpTool { .. } = self.home.command {
            let is_error = result
                .to_object()
                .is_ok_and(|it| it.get("isError").and_then(RawJson::to_bool) == Some(true));
            let said = said.unwrap_or_else(|| result.as_str().to_owned());
            if is_error {
                let message = shortened(&said);
                return Answer::failed(HookFailure::Reported { message });
            }
            let ended = Ended { code: Some(0), stdout: &said, stderr: "" };
            return answer_at_home(&self.home, input, told, &ended);
        }
        let verdict = match said {
            Some(said) => RawObject::parse(without_fence(&said)).ok().map(|it| it.fields()),
            None => result.to_object().ok(),
        };
        let ok = verdict.as_ref().and_then(|it| it.get("ok")).and_then(RawJson::to_bool);
        match (ok, verdict) {
            (Some(true), _) => home_answer(ForeignAnswer::default()),
            (Some(false), Some(verdict)) => {
                let reason = verdict.get("reason").and_then(RawJson::to_text);
                let reason = reason.unwrap_or_else(|| "a model said no".to_owned());
                let output = Some(HookOutput::deny(reason));
                home_answer(ForeignAnswer { output, ..ForeignAnswer::default() })
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
fn without_fence(said: &str) -> &str {
    let said = said.trim();
    let inner = said.strip_prefix("```json").or_else(|| said.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(said)
}

/// Fills in arguments: `${a.b}` is replaced by that field of the hook's input.
fn filled(input: &RawObject, told: &RawObject) -> Result<RawJson, String> {
    let mut value: Value = serde_json::from_str(input.as_str())
        .map_err(|error| format!("its `input` cannot be filled in: {error}"))?;
    fill(&mut value, told);
    RawJson::from_value(&value).map_err(|error| format!("its `input` cannot be filled in: {error}"))
}

fn fill(value: &mut Value, told: &RawObject) {
    match value {
        Value::String(text) => *text = replaced(text, told),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, told)),
        Value::Object(fields) => fields.values_mut().for_each(|value| fill(value, told)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replaced(text: &str, told: &RawObject) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((path, after)) = after.split_once('}') else { break };
        done.push_str(before);
        // A missing field becomes empty text.
        done.push_str(&part(told, path).unwrap_or_default());
        rest = after;
    }
    done + rest
}

fn part(told: &RawObject, path: &str) -> Option<String> {
    let mut value = told.as_raw().clone();
    for name in path.split('.') {
        value = value.to_object().ok()?.get(name)?.clone();
    }
    value.to_text().or_else(|| Some(value.as_str().to_owned()))
}
