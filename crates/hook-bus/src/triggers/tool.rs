//! Triggers around a tool call: permission, input and result (protocol.md §8).

use std::future::Future;
use std::time::Duration;

use hook_json::{RawJson, RawObject};
use hook_protocol::event::output::{AfterToolOutput, BeforeToolOutput};
use hook_protocol::{
    AfterToolInput, BeforeToolInput, HookEventName, PolicyDecision, ToolErrorInput,
};

use super::advice::{HookAdvice, add_warnings};
use super::permission::ask_permission;
use super::retry::{MOST_RETRIES, Retries, fire_until_decided};
use super::tool_call::{ToolCall, ToolContent, ToolResult, ToolVerdict};
#[cfg(doc)]
use super::tool_status::ToolStatus;
use super::tool_status::ToolWatch;
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
    let mut told = BeforeToolInput::new(call.name.clone(), input.clone());
    told.mcp_context.clone_from(&call.mcp_context);
    told.tool_call_id.clone_from(&call.id);
    told.recent_tools = (!call.recent_tools.is_empty()).then(|| call.recent_tools.clone());
    told.token_usage.clone_from(&call.token_usage);
    let Some(processed) = fire_until_decided(host, told).await else {
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
    tool_ran(host, call, result, None).await
}

async fn tool_ran(
    host: &AgentHost,
    call: &ToolCall,
    result: &ToolResult,
    took: Option<Duration>,
) -> AfterToolHookResult {
    let response = result.to_raw();
    let mut told = AfterToolInput::new(call.name.clone(), call.input.clone(), response.clone());
    told.is_error = result.error.is_some().then_some(true);
    told.exit_code = result.exit_code;
    let milliseconds = |took: Duration| u64::try_from(took.as_millis()).unwrap_or(u64::MAX).into();
    told.duration_ms = took.map(milliseconds);
    told.mcp_context.clone_from(&call.mcp_context);
    told.tool_call_id.clone_from(&call.id);
    let Some(processed) = host.fire(told).await else {
        let decision = AfterToolDecision::Keep;
        let advice = HookAdvice::default();
        let (response, warnings) = (None, Vec::new());
        return AfterToolHookResult { decision, response, advice, warnings };
    };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let request = call.approval(HookEventName::AfterTool, response.clone(), reason);
    let decision = match host.confirmed(processed.decision, request).await {
        (PolicyDecision::Proceed | PolicyDecision::Ask, _) => AfterToolDecision::Keep,
        (PolicyDecision::Block | PolicyDecision::Retry, reason) => {
            AfterToolDecision::Replace { reason }
        }
        (PolicyDecision::Stop, reason) => AfterToolDecision::Stop { reason },
    };
    // An invalid response must not undo another hook's replacement.
    let given = processed.aggregated.all_outputs.iter().rev();
    let mut given = given.filter_map(|output| output.specific("tool_response"));
    let usable = given.find(|response| ToolContent::of_response(response).is_some()).cloned();
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
    let watch = ToolWatch::begin(host.tool_observer.as_ref(), &call);
    let result = match host.hook_system() {
        None => {
            watch.running(&call.input);
            execute(call.input.clone()).await
        }
        Some(_) => call_with_hooks(host, &call, execute, &watch).await,
    };
    watch.idle(&result);
    result
}

async fn call_with_hooks<F>(
    host: &AgentHost,
    call: &ToolCall,
    mut execute: impl FnMut(RawObject) -> F,
    watch: &ToolWatch<'_>,
) -> ToolResult
where
    F: Future<Output = ToolResult>,
{
    let mut retries = Retries::at_most(MOST_RETRIES, host);
    let mut said = Said::default();
    loop {
        let input = match may_run(host, call, &mut said).await {
            Ok(input) => input,
            Err(ended) => return ended.result(said),
        };
        watch.running(&input);
        let ran = ToolCall { input: input.clone(), ..call.clone() };
        let begun = Instant::now();
        let mut result = execute(input).await;
        let took = begun.elapsed();
        let mut stop = None;
        if result.error.is_some() {
            match tool_failed(host, &ran, &result, &mut retries, &mut said).await {
                AfterFailure::Again => continue,
                AfterFailure::Stop { reason } => stop = Some(reason),
                AfterFailure::GoOn => {}
            }
        }
        let after = tool_ran(host, &ran, &result, Some(took)).await;
        said.add(after.advice, after.warnings);
        if let Some(reason) = stop {
            return ToolResult::stopped(reason, true, said.advice, said.warnings);
        }
        match after.decision {
            AfterToolDecision::Keep => {
                if let Some(response) = &after.response {
                    result.replace(response, &mut said.warnings);
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
                return ToolResult::stopped(reason, true, said.advice, said.warnings);
            }
        }
        return result.advised(said.advice, said.warnings);
    }
}

/// The texts of one call's hooks so far, other than their decisions.
#[derive(Default)]
struct Said {
    advice: HookAdvice,
    warnings: Vec<String>,
}

impl Said {
    fn add(&mut self, advice: HookAdvice, warnings: Vec<String>) {
        self.advice = std::mem::take(&mut self.advice).and(advice);
        add_warnings(&mut self.warnings, warnings);
    }
}

/// The reason not to call a tool.
enum NotRun {
    Blocked { reason: String },
    Stopped { reason: String },
}

impl NotRun {
    fn result(self, said: Said) -> ToolResult {
        match self {
            Self::Blocked { reason } => ToolResult::blocked(reason, said.advice, said.warnings),
            Self::Stopped { reason } => {
                ToolResult::stopped(reason, false, said.advice, said.warnings)
            }
        }
    }
}

/// Returns the input to call a tool with, if it may run.
async fn may_run(host: &AgentHost, call: &ToolCall, said: &mut Said) -> Result<RawObject, NotRun> {
    let BeforeToolHookResult { decision, advice, warnings } =
        fire_before_tool_hook(host, call).await;
    said.add(advice, warnings);
    match decision {
        BeforeToolDecision::Run { input } => Ok(input),
        BeforeToolDecision::Ask { input, reason } => {
            let permission = ask_permission(host, call, &input, &reason).await;
            said.add(permission.advice, permission.warnings);
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
    Again,
    /// The failure is the result.
    GoOn,
    /// The agent is to stop.
    Stop { reason: String },
}

async fn tool_failed(
    host: &AgentHost,
    ran: &ToolCall,
    result: &ToolResult,
    retries: &mut Retries,
    said: &mut Said,
) -> AfterFailure {
    let error = result.error.as_deref().unwrap_or_default();
    let mut told = ToolErrorInput::new(ran.name.clone(), ran.input.clone(), error);
    told.tool_call_id.clone_from(&ran.id);
    told.exit_code = result.exit_code;
    let fired = Instant::now();
    let Some(processed) = host.fire(told).await else { return AfterFailure::GoOn };
    let (decision, after) = (processed.decision, processed.retry_after);
    let (reason, advice) = HookAdvice::with_reason(&processed);
    said.add(advice, processed.warnings);
    match decision {
        PolicyDecision::Stop => AfterFailure::Stop { reason },
        PolicyDecision::Retry => match retries.wait(after, fired).await {
            Ok(()) => AfterFailure::Again,
            Err(end) => {
                said.warnings.push(format!("the tool was not run again: {end}"));
                AfterFailure::GoOn
            }
        },
        _ => AfterFailure::GoOn,
    }
}
