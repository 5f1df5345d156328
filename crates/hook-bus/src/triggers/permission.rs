//! Asking the user whether a tool may run, with hooks before and after (reference/answers.md).

use hook_json::RawObject;
use hook_protocol::{
    HookEventName, PermissionDeniedInput, PermissionGrantedInput, PermissionRequestInput,
    PolicyDecision,
};

use tokio::time::Instant;

use super::advice::{HookAdvice, add_warnings};
use super::retry::Retries;
use super::tool_call::ToolCall;
use crate::host::{AgentHost, ApprovalRequest};

/// The result of asking for permission.
pub(super) struct Permission {
    /// The reason why the tool must not run, if so.
    pub(super) refusal: Option<String>,
    /// The reason to stop the agent, if it is to stop.
    pub(super) stop: Option<String>,
    /// The hooks' other texts.
    pub(super) advice: HookAdvice,
    /// Warnings about hooks, for the agent's user.
    pub(super) warnings: Vec<String>,
}

/// The party that decided.
#[derive(Clone, Copy)]
enum Decider {
    Hook,
    User,
}

impl Decider {
    fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::User => "user",
        }
    }
}

/// Asks PermissionRequest hooks, then the host's user if none of them decides, and fires the event
/// of the outcome. PermissionDenied hooks may have the question asked once more.
pub(super) async fn request_permission(
    host: &AgentHost,
    call: &ToolCall,
    input: &RawObject,
    reason: &str,
) -> Permission {
    let mut permission = Permission {
        refusal: None,
        stop: None,
        advice: HookAdvice::default(),
        warnings: Vec::new(),
    };
    let mut retries = Retries::new(1, host);
    loop {
        let (decider, refusal) = request_once(host, call, input, reason, &mut permission).await;
        let Some(refusal) = refusal else {
            let granted_input =
                PermissionGrantedInput::new(call.name.clone(), input.clone(), decider.as_str());
            if let Some(outcome) = host.fire(granted_input).await {
                add_warnings(&mut permission.warnings, outcome.warnings);
            }
            return permission;
        };
        let mut denied_input =
            PermissionDeniedInput::new(call.name.clone(), input.clone(), decider.as_str());
        denied_input.reason = Some(refusal.clone());
        let fired = Instant::now();
        let Some(answer) = host.fire(denied_input).await else {
            permission.refusal = Some(refusal);
            return permission;
        };
        let (hooks_reason, advice) = HookAdvice::with_reason(&answer);
        permission.advice = permission.advice.merge(advice);
        add_warnings(&mut permission.warnings, answer.warnings);
        if answer.decision == PolicyDecision::Stop {
            permission.stop.get_or_insert(hooks_reason);
        }
        if permission.stop.is_none() && answer.decision == PolicyDecision::Retry {
            match retries.wait(answer.retry_after, fired).await {
                Ok(()) => continue,
                Err(end) => {
                    permission.warnings.push(format!("the user was not asked again: {end}"))
                }
            }
        }
        permission.refusal = Some(refusal);
        return permission;
    }
}

/// Asks once; returns who decided, and the reason if it was refused.
async fn request_once(
    host: &AgentHost,
    call: &ToolCall,
    input: &RawObject,
    reason: &str,
    permission: &mut Permission,
) -> (Decider, Option<String>) {
    let mut hook_input = PermissionRequestInput::new(call.name.clone(), input.clone());
    hook_input.tool_call_id.clone_from(&call.id);
    hook_input.suggestions.clone_from(&call.suggestions);
    if let Some(answer) = host.fire(hook_input).await {
        let granted = answer.granted;
        let decision = answer.decision;
        let (hooks_reason, advice) = HookAdvice::with_reason(&answer);
        permission.advice = std::mem::take(&mut permission.advice).merge(advice);
        add_warnings(&mut permission.warnings, answer.warnings);
        if decision == PolicyDecision::Stop {
            permission.stop = Some(hooks_reason.clone());
        }
        if decision >= PolicyDecision::Retry {
            return (Decider::Hook, Some(hooks_reason));
        }
        if granted {
            return (Decider::Hook, None);
        }
    }
    let request = ApprovalRequest {
        event: HookEventName::BeforeTool,
        subject: call.name.to_string(),
        input: Some(input.clone().into()),
        reason: reason.to_owned(),
    };
    (Decider::User, host.request_approval(request).await.err())
}
