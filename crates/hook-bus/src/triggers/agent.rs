//! Triggers for prompts, ends of turns, sessions, compression and notifications.

use hook_json::RawObject;
use hook_protocol::event::output::{AfterAgentOutput, BeforeAgentOutput, PreCompressOutput};
use hook_protocol::{
    AfterAgentInput, BeforeAgentInput, HookEventName, NotificationInput, PolicyDecision,
    PreCompressInput, RequestInput, SessionEndInput, SessionStartInput,
};

use super::advice::HookAdvice;
use crate::host::{AgentHost, ApprovalRequest};

/// The decision about a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeAgentDecision {
    /// The agent works on it.
    Proceed {
        /// The prompt, with the additions of hooks.
        prompt: String,
    },
    /// The prompt is refused.
    Refuse {
        /// The reason.
        reason: String,
    },
    /// The agent is to stop.
    Stop {
        /// The reason.
        reason: String,
    },
}

/// The results of BeforeAgent hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeAgentHookResult {
    /// The decision about the prompt.
    pub decision: BeforeAgentDecision,
    /// A hook's message to put before the prompt, with `customType`, `content`, `display` and
    /// `details`.
    pub message: Option<RawObject>,
    /// The hooks' other texts; the text for the model is in the prompt already.
    pub advice: HookAdvice,
    /// Warnings about hooks, for the agent's user.
    pub warnings: Vec<String>,
}

/// Fires BeforeAgent for a prompt of the user, or for the one with which the agent continues after
/// `TurnEnd::Continue`: the first prompt after that counts as such. The host's approver decides on
/// `ask`; without one the prompt is refused.
pub async fn fire_before_agent_hook(
    host: &AgentHost,
    prompt: impl Into<BeforeAgentInput>,
) -> BeforeAgentHookResult {
    host.continuations.start_turn();
    let input = prompt.into();
    let mut prompt = input.prompt.clone();
    let Some(processed) = host.fire(input).await else {
        let decision = BeforeAgentDecision::Proceed { prompt };
        let advice = HookAdvice::default();
        let (message, warnings) = (None, Vec::new());
        return BeforeAgentHookResult { decision, message, advice, warnings };
    };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let event = HookEventName::BeforeAgent;
    let request = ApprovalRequest { event, subject: prompt.clone(), input: None, reason };
    let decision = match host.resolve_ask(processed.decision, request).await {
        (PolicyDecision::Proceed | PolicyDecision::Ask, _) => {
            if let Some(text) = &advice.for_model {
                prompt = format!("{prompt}\n\n{text}");
            }
            BeforeAgentDecision::Proceed { prompt }
        }
        (PolicyDecision::Block | PolicyDecision::Retry, reason) => {
            BeforeAgentDecision::Refuse { reason }
        }
        (PolicyDecision::Stop, reason) => BeforeAgentDecision::Stop { reason },
    };
    let message = BeforeAgentOutput::new(&processed.aggregated).message();
    BeforeAgentHookResult { decision, message, advice, warnings: processed.warnings }
}

/// The decision at the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The turn is over.
    Done,
    /// The agent continues with this prompt, which may be shown to BeforeAgent hooks or not.
    Continue {
        /// The hook's reason, as a prompt.
        prompt: String,
    },
    /// A hook wants to continue beyond the limit: the turn is over.
    LimitReached {
        /// The hook's reason.
        reason: String,
        /// The number of continuations in a row.
        continuations: u32,
    },
    /// The agent is to stop.
    Stop {
        /// The reason.
        reason: String,
    },
}

/// The results of AfterAgent hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterAgentHookResult {
    /// The decision.
    pub end: TurnEnd,
    /// Clears the conversation's context.
    pub clear_context: bool,
    /// The hooks' other texts; the text for the model belongs into the next request.
    pub advice: HookAdvice,
    /// Warnings about hooks, for the agent's user.
    pub warnings: Vec<String>,
}

/// Fires AfterAgent with the prompt that began the turn and the answer. Whether a hook made the
/// agent continue is set here, whatever the input says.
pub async fn fire_after_agent_hook(
    host: &AgentHost,
    turn: impl Into<AfterAgentInput>,
) -> AfterAgentHookResult {
    let mut input = turn.into();
    input.stop_hook_active = host.continuations.count() > 0;
    let Some(processed) = host.fire(input).await else {
        return AfterAgentHookResult {
            end: TurnEnd::Done,
            clear_context: false,
            advice: HookAdvice::default(),
            warnings: Vec::new(),
        };
    };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let end = match processed.decision {
        PolicyDecision::Block | PolicyDecision::Retry => {
            match host.continuations.try_continue(host.max_continuations) {
                Ok(()) => TurnEnd::Continue { prompt: reason },
                Err(continuations) => TurnEnd::LimitReached { reason, continuations },
            }
        }
        PolicyDecision::Proceed | PolicyDecision::Ask => {
            host.continuations.reset();
            TurnEnd::Done
        }
        PolicyDecision::Stop => {
            host.continuations.reset();
            TurnEnd::Stop { reason }
        }
    };
    if let TurnEnd::LimitReached { continuations, .. } = end {
        tracing::warn!(
            target: "hook::event",
            continuations,
            "a hook made the agent go on as often in a row as it may; the turn ends"
        );
    }
    let clear_context = AfterAgentOutput::new(&processed.aggregated).should_clear_context();
    AfterAgentHookResult { end, clear_context, advice, warnings: processed.warnings }
}

/// The results of hooks of an event without an answer of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LifecycleHookResult {
    /// The reason to stop the agent, if it is to stop.
    pub stop: Option<String>,
    /// The reason not to do what the event announced, if hooks forbid it and the event can be
    /// blocked: compressing the conversation.
    pub refused: Option<String>,
    /// A hook's replacement for the agent's own compression, in the agent's format.
    pub compaction: Option<RawObject>,
    /// The hooks' other texts; the text for the model belongs into the next request.
    pub advice: HookAdvice,
    /// Warnings about hooks, for the agent's user.
    pub warnings: Vec<String>,
}

/// Fires an event without an answer of its own.
pub(crate) async fn fire_lifecycle_hook(
    host: &AgentHost,
    input: impl Into<RequestInput>,
) -> LifecycleHookResult {
    let input = input.into();
    let event = input.event();
    let Some(processed) = host.fire(input).await else { return LifecycleHookResult::default() };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let is_refused = processed.decision >= PolicyDecision::Ask;
    let refused = (is_refused && event.row().block_means.is_some()).then(|| reason.clone());
    let stop = processed.should_stop_execution().then_some(reason);
    // Other events have no such field.
    let compaction = PreCompressOutput::new(&processed.aggregated).compaction();
    let compaction = compaction.filter(|_| event.row().answers.contains(&"compaction"));
    LifecycleHookResult { stop, refused, compaction, advice, warnings: processed.warnings }
}

/// Fires SessionStart. The hooks' context belongs into the session's first request.
pub async fn fire_session_start_hook(
    host: &AgentHost,
    start: impl Into<SessionStartInput>,
) -> LifecycleHookResult {
    fire_lifecycle_hook(host, start.into()).await
}

/// Fires SessionEnd.
pub async fn fire_session_end_hook(
    host: &AgentHost,
    end: impl Into<SessionEndInput>,
) -> LifecycleHookResult {
    fire_lifecycle_hook(host, end.into()).await
}

/// Fires PreCompress before the conversation is compressed. If hooks refuse, an agent that can does
/// not compress it; if one returns a [`compaction`](LifecycleHookResult::compaction), that is used.
pub async fn fire_pre_compress_hook(
    host: &AgentHost,
    compression: impl Into<PreCompressInput>,
) -> LifecycleHookResult {
    fire_lifecycle_hook(host, compression.into()).await
}

/// Fires Notification with the user's notification.
pub async fn fire_notification_hook(
    host: &AgentHost,
    notification: NotificationInput,
) -> LifecycleHookResult {
    fire_lifecycle_hook(host, notification).await
}
