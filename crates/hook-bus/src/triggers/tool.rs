//! Triggers around a tool call: permission, input and result (reference/answers.md).

use std::future::Future;
use std::time::Duration;

use hook_json::{RawJson, RawObject};
use hook_protocol::event::output::{AfterToolOutput, BeforeToolOutput};
use hook_protocol::{
    AfterToolInput, BeforeToolInput, HookEventName, PolicyDecision, ToolErrorInput,
};

use super::advice::{HookAdvice, add_warnings};
use super::permission::request_permission;
use super::retry::{MAX_RETRIES, Retries, fire_until_decided};
use super::tool_call::{ToolCall, ToolContent, ToolResult, ToolVerdict};
use super::tool_status::StatusReporter;
#[cfg(doc)]
use super::tool_status::ToolStatus;
use crate::host::AgentHost;
use tokio::time::Instant;

/// The decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeToolDecision {
    /// The tool runs with this input: the model's, or as changed by hooks.
    Run {
        /// The tool's input.
        input: RawObject,
    },
    /// The user must confirm the call.
    Ask {
        /// The tool's input.
        input: RawObject,
        /// The reason.
        reason: String,
    },
    /// The tool must not run; the model gets the reason.
    Block {
        /// The reason.
        reason: String,
    },
    /// The agent is to stop.
    Stop {
        /// The reason.
        reason: String,
    },
}

/// The results of BeforeTool hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeToolHookResult {
    /// The decision about the call.
    pub decision: BeforeToolDecision,
    /// The hooks' other texts.
    pub advice: HookAdvice,
    /// Warnings about hooks, for the agent's user.
    pub warnings: Vec<String>,
}

/// Fires BeforeTool for a call. If a hook requests a retry, it fires again after the delay, three
/// times at most.
pub async fn fire_before_tool_hook(host: &AgentHost, call: &ToolCall) -> BeforeToolHookResult {
    let input = call.input.clone();
    let mut hook_input = BeforeToolInput::new(call.name.clone(), input.clone());
    hook_input.mcp_context.clone_from(&call.mcp_context);
    hook_input.tool_call_id.clone_from(&call.id);
    hook_input.recent_tools = (!call.recent_tools.is_empty()).then(|| call.recent_tools.clone());
    hook_input.token_usage.clone_from(&call.token_usage);
    let Some(processed) = fire_until_decided(host, hook_input).await else {
        let decision = BeforeToolDecision::Run { input };
        let advice = HookAdvice::default();
        return BeforeToolHookResult { decision, advice, warnings: Vec::new() };
    };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let modified = BeforeToolOutput::new(&processed.aggregated).modified_tool_input(&input);
    let input = modified.unwrap_or(input);
    let decision = match processed.decision {
        PolicyDecision::Proceed => BeforeToolDecision::Run { input },
        PolicyDecision::Ask => BeforeToolDecision::Ask { input, reason },
        PolicyDecision::Block | PolicyDecision::Retry => BeforeToolDecision::Block { reason },
        PolicyDecision::Stop => BeforeToolDecision::Stop { reason },
    };
    BeforeToolHookResult { decision, advice, warnings: processed.warnings }
}

/// The decision about a tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterToolDecision {
    /// The result goes to the model.
    Keep,
    /// The reason replaces the result for the model.
    Replace {
        /// The reason.
        reason: String,
    },
    /// The agent is to stop.
    Stop {
        /// The reason.
        reason: String,
    },
}

/// The results of AfterTool hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterToolHookResult {
    /// The decision about the result.
    pub decision: AfterToolDecision,
    /// A hook's replacement of the tool's response, in the form in which hooks see it.
    pub response: Option<RawJson>,
    /// The hooks' other texts.
    pub advice: HookAdvice,
    /// Warnings about hooks, for the agent's user.
    pub warnings: Vec<String>,
}

/// Fires AfterTool with a result. `call` is the call as it ran.
pub async fn fire_after_tool_hook(
    host: &AgentHost,
    call: &ToolCall,
    result: &ToolResult,
) -> AfterToolHookResult {
    after_tool(host, call, result, None).await
}

async fn after_tool(
    host: &AgentHost,
    call: &ToolCall,
    result: &ToolResult,
    duration: Option<Duration>,
) -> AfterToolHookResult {
    let response = result.to_raw();
    let mut input = AfterToolInput::new(call.name.clone(), call.input.clone(), response.clone());
    input.is_error = result.error.is_some().then_some(true);
    input.exit_code = result.exit_code;
    let milliseconds =
        |elapsed: Duration| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).into();
    input.duration_ms = duration.map(milliseconds);
    input.mcp_context.clone_from(&call.mcp_context);
    input.tool_call_id.clone_from(&call.id);
    let Some(processed) = host.fire(input).await else {
        let decision = AfterToolDecision::Keep;
        let advice = HookAdvice::default();
        let (response, warnings) = (None, Vec::new());
        return AfterToolHookResult { decision, response, advice, warnings };
    };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let request = call.approval(HookEventName::AfterTool, response.clone(), reason);
    let decision = match host.resolve_ask(processed.decision, request).await {
        (PolicyDecision::Proceed | PolicyDecision::Ask, _) => AfterToolDecision::Keep,
        (PolicyDecision::Block | PolicyDecision::Retry, reason) => {
            AfterToolDecision::Replace { reason }
        }
        (PolicyDecision::Stop, reason) => AfterToolDecision::Stop { reason },
    };
    // An invalid response must not undo another hook's replacement.
    let outputs = processed.aggregated.all_outputs.iter().rev();
    let mut responses = outputs.filter_map(|output| output.specific("tool_response"));
    let usable = responses.find(|response| ToolContent::from_response(response).is_some()).cloned();
    let last = AfterToolOutput::new(&processed.aggregated).modified_tool_response(&response);
    let mut warnings = processed.warnings;
    if usable.is_some() && usable != last {
        let warning = "a hook's `tool_response` has no `llmContent` that is a text or a list of \
                       parts; that of another hook is used";
        warnings.push(warning.to_owned());
    }
    AfterToolHookResult { decision, response: usable.or(last), advice, warnings }
}

/// Calls a tool with hooks and applies their answers.
///
/// `execute` is called with the input as changed by hooks. It is not called if a hook blocks or
/// stops, or asks and neither a PermissionRequest hook nor the user allows it. If the tool fails,
/// ToolError hooks run first and may request a new call, three times at most: with the model's
/// input, after BeforeTool hooks run again. [`AgentHost::tool_observer`] is called with the
/// progress of the call; a blocked call ends like any other, [idle](ToolStatus::Idle) and with its
/// result published.
/// ```
/// use hook_bus::triggers::{ToolCall, ToolResult, ToolVerdict, execute_tool_with_hooks};
/// use hook_bus::{AgentHost, HookSystem};
/// use hook_run::HandlerHook;
/// use hook_protocol::{HookEventName, HookOutput, ToolName};
/// use hook_json::RawObject;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
///
/// let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
///     Ok(Some(HookOutput::deny("no shell today")))
/// });
/// let host = AgentHost::new(HookSystem::builder(".").handler(guard));
/// let call = ToolCall::new(ToolName::new("run_shell_command")?, RawObject::empty());
///
/// let result = execute_tool_with_hooks(&host, call, async |_input| ToolResult::text("ran")).await;
/// assert_eq!(result.verdict, ToolVerdict::Blocked { reason: "no shell today".into() });
/// # Ok(())
/// # }
/// ```
pub async fn execute_tool_with_hooks<F>(
    host: &AgentHost,
    call: ToolCall,
    mut execute: impl FnMut(RawObject) -> F,
) -> ToolResult
where
    F: Future<Output = ToolResult>,
{
    let watch = StatusReporter::begin(host.tool_observer.as_ref(), &call);
    let result = match host.has_hooks() {
        false => {
            watch.running(&call.input);
            execute(call.input.clone()).await
        }
        true => run_with_hooks(host, &call, execute, &watch).await,
    };
    watch.idle(&result);
    result
}

async fn run_with_hooks<F>(
    host: &AgentHost,
    call: &ToolCall,
    mut execute: impl FnMut(RawObject) -> F,
    watch: &StatusReporter<'_>,
) -> ToolResult
where
    F: Future<Output = ToolResult>,
{
    let mut retries = Retries::new(MAX_RETRIES, host);
    let mut texts = HookTexts::default();
    loop {
        let input = match may_run(host, call, &mut texts).await {
            Ok(input) => input,
            Err(not_run) => return not_run.result(texts),
        };
        watch.running(&input);
        let ran_call = ToolCall { input: input.clone(), ..call.clone() };
        let started_at = Instant::now();
        let mut result = execute(input).await;
        let duration = started_at.elapsed();
        let mut stop = None;
        if result.error.is_some() {
            match after_tool_error(host, &ran_call, &result, &mut retries, &mut texts).await {
                AfterFailure::Retry => continue,
                AfterFailure::Stop { reason } => stop = Some(reason),
                AfterFailure::Continue => {}
            }
        }
        let after = after_tool(host, &ran_call, &result, Some(duration)).await;
        texts.add(after.advice, after.warnings);
        if let Some(reason) = stop {
            return ToolResult::stopped(reason, true, texts.advice, texts.warnings);
        }
        match after.decision {
            AfterToolDecision::Keep => {
                if let Some(response) = &after.response {
                    result.replace(response, &mut texts.warnings);
                }
            }
            AfterToolDecision::Replace { reason } => {
                result.llm_content = ToolContent::Text(reason.clone());
                // Hidden content must not appear in the display or the metadata either.
                (result.return_display, result.metadata) = (None, None);
                result.error = Some(reason.clone());
                result.verdict = ToolVerdict::Replaced { reason };
            }
            AfterToolDecision::Stop { reason } => {
                return ToolResult::stopped(reason, true, texts.advice, texts.warnings);
            }
        }
        return result.with_advice(texts.advice, texts.warnings);
    }
}

/// The texts of one call's hooks so far, other than their decisions.
#[derive(Default)]
struct HookTexts {
    advice: HookAdvice,
    warnings: Vec<String>,
}

impl HookTexts {
    fn add(&mut self, advice: HookAdvice, warnings: Vec<String>) {
        self.advice = std::mem::take(&mut self.advice).merge(advice);
        add_warnings(&mut self.warnings, warnings);
    }
}

/// The reason not to call a tool.
enum NotRun {
    Blocked { reason: String },
    Stopped { reason: String },
}

impl NotRun {
    fn result(self, texts: HookTexts) -> ToolResult {
        match self {
            Self::Blocked { reason } => ToolResult::blocked(reason, texts.advice, texts.warnings),
            Self::Stopped { reason } => {
                ToolResult::stopped(reason, false, texts.advice, texts.warnings)
            }
        }
    }
}

/// Returns the input to call a tool with, if it may run.
async fn may_run(
    host: &AgentHost,
    call: &ToolCall,
    texts: &mut HookTexts,
) -> Result<RawObject, NotRun> {
    let BeforeToolHookResult { decision, advice, warnings } =
        fire_before_tool_hook(host, call).await;
    texts.add(advice, warnings);
    match decision {
        BeforeToolDecision::Run { input } => Ok(input),
        BeforeToolDecision::Ask { input, reason } => {
            let permission = request_permission(host, call, &input, &reason).await;
            texts.add(permission.advice, permission.warnings);
            match (permission.stop, permission.refusal) {
                (Some(reason), _) => Err(NotRun::Stopped { reason }),
                (None, Some(reason)) => Err(NotRun::Blocked { reason }),
                (None, None) => Ok(input),
            }
        }
        BeforeToolDecision::Block { reason } => Err(NotRun::Blocked { reason }),
        BeforeToolDecision::Stop { reason } => Err(NotRun::Stopped { reason }),
    }
}

/// The decision after a tool failed.
enum AfterFailure {
    /// The tool is called again.
    Retry,
    /// The failure is the result.
    Continue,
    /// The agent is to stop.
    Stop { reason: String },
}

async fn after_tool_error(
    host: &AgentHost,
    call: &ToolCall,
    result: &ToolResult,
    retries: &mut Retries,
    texts: &mut HookTexts,
) -> AfterFailure {
    let error = result.error.as_deref().unwrap_or_default();
    let mut input = ToolErrorInput::new(call.name.clone(), call.input.clone(), error);
    input.tool_call_id.clone_from(&call.id);
    input.exit_code = result.exit_code;
    let fired = Instant::now();
    let Some(processed) = host.fire(input).await else { return AfterFailure::Continue };
    let (decision, delay) = (processed.decision, processed.retry_after);
    let (reason, advice) = HookAdvice::with_reason(&processed);
    texts.add(advice, processed.warnings);
    match decision {
        PolicyDecision::Stop => AfterFailure::Stop { reason },
        PolicyDecision::Retry => match retries.wait(delay, fired).await {
            Ok(()) => AfterFailure::Retry,
            Err(end) => {
                texts.warnings.push(format!("the tool was not run again: {end}"));
                AfterFailure::Continue
            }
        },
        _ => AfterFailure::Continue,
    }
}
