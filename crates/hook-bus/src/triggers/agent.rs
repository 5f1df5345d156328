//! The rest of an agent's life: prompts, ends of turns, sessions, compression, notifications.

use hook_core::event::output::{AfterAgentOutput, BeforeAgentOutput, PreCompressOutput};
use hook_core::{
    AfterAgentInput, BeforeAgentInput, HookEventName, NotificationInput, PolicyDecision,
    PreCompressInput, RawObject, RequestInput, SessionEndInput, SessionStartInput,
};

use super::advice::HookAdvice;
use crate::host::{AgentHost, ApprovalRequest};

/// What becomes of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeAgentDecision {
    /// The agent works on it.
    Proceed {
        /// The prompt, with what hooks add to it.
        prompt: String,
    },
    /// The prompt is refused.
    Refuse {
        /// Why.
        reason: String,
    },
    /// The agent is to stop.
    Stop {
        /// Why.
        reason: String,
    },
}

/// What BeforeAgent hooks want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeAgentHookResult {
    /// What becomes of the prompt.
    pub decision: BeforeAgentDecision,
    /// A message that a hook puts before the prompt, with `customType`, `content`, `display` and
    /// `details`.
    pub message: Option<RawObject>,
    /// What they say beside it; what is for the model is in the prompt already.
    pub advice: HookAdvice,
    /// What the agent should tell its user of its hooks.
    pub warnings: Vec<String>,
}

/// Shows the BeforeAgent hooks a prompt that the user has submitted, or that the agent goes on with
/// after [`TurnEnd::GoOn`]: the first prompt after that is taken for it. An ask goes to the host's
/// approver, and is a refusal where there is none.
pub async fn fire_before_agent_hook(
    host: &AgentHost,
    prompt: impl Into<BeforeAgentInput>,
) -> BeforeAgentHookResult {
    host.continuations.begin();
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
    let decision = match host.confirmed(processed.decision, request).await {
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

/// What follows the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The turn is over.
    Done,
    /// The agent goes on working, with this as its prompt, which may be shown to BeforeAgent hooks
    /// or not.
    GoOn {
        /// What a hook wants done.
        prompt: String,
    },
    /// A hook wants the agent to go on once more than it may: the turn is over.
    CapReached {
        /// What the hook wants done.
        reason: String,
        /// How often in a row the agent has gone on.
        continuations: u32,
    },
    /// The agent is to stop.
    Stop {
        /// Why.
        reason: String,
    },
}

/// What AfterAgent hooks want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterAgentHookResult {
    /// What follows.
    pub end: TurnEnd,
    /// Whether the conversation's context is to be cleared.
    pub clear_context: bool,
    /// What they say beside it; what is for the model belongs into the next request.
    pub advice: HookAdvice,
    /// What the agent should tell its user of its hooks.
    pub warnings: Vec<String>,
}

/// Tells the AfterAgent hooks that a turn has ended: the prompt that began it, and the answer. Whether
/// it is one that they asked for is known here, whatever the input says.
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
        PolicyDecision::Block | PolicyDecision::Retry => match host.continuations.go_on() {
            Ok(()) => TurnEnd::GoOn { prompt: reason },
            Err(continuations) => TurnEnd::CapReached { reason, continuations },
        },
        PolicyDecision::Proceed | PolicyDecision::Ask => {
            host.continuations.end();
            TurnEnd::Done
        }
        PolicyDecision::Stop => {
            host.continuations.end();
            TurnEnd::Stop { reason }
        }
    };
    if let TurnEnd::CapReached { continuations, .. } = end {
        tracing::warn!(
            target: "hook::event",
            continuations,
            "a hook made the agent go on as often in a row as it may; the turn ends"
        );
    }
    let clear_context = AfterAgentOutput::new(&processed.aggregated).should_clear_context();
    AfterAgentHookResult { end, clear_context, advice, warnings: processed.warnings }
}

/// What hooks say to an event that asks nothing of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LifecycleHookResult {
    /// Why the agent is to stop, if it is.
    pub stop: Option<String>,
    /// Why it is not to do what the event announced, if hooks forbid it and the event knows that:
    /// compressing the conversation.
    pub refused: Option<String>,
    /// What is used in place of the agent's own compression, in its shape, if a hook gives that.
    pub compaction: Option<RawObject>,
    /// What they say; what is for the model belongs into the next request.
    pub advice: HookAdvice,
    /// What the agent should tell its user of its hooks.
    pub warnings: Vec<String>,
}

async fn fire(host: &AgentHost, input: impl Into<RequestInput>) -> LifecycleHookResult {
    let input = input.into();
    let event = input.event();
    let Some(processed) = host.fire(input).await else { return LifecycleHookResult::default() };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let refuses = processed.decision >= PolicyDecision::Ask;
    let refused = (refuses && event.row().block_means.is_some()).then(|| reason.clone());
    let stop = processed.should_stop_execution().then_some(reason);
    // Another event has no such field.
    let compaction = PreCompressOutput::new(&processed.aggregated).compaction();
    let compaction = compaction.filter(|_| event.row().answers.contains(&"compaction"));
    LifecycleHookResult { stop, refused, compaction, advice, warnings: processed.warnings }
}

/// Tells the SessionStart hooks that a session begins. Their context belongs into its first
/// request.
pub async fn fire_session_start_hook(
    host: &AgentHost,
    start: impl Into<SessionStartInput>,
) -> LifecycleHookResult {
    fire(host, start.into()).await
}

/// Tells the SessionEnd hooks that the session is over.
pub async fn fire_session_end_hook(
    host: &AgentHost,
    end: impl Into<SessionEndInput>,
) -> LifecycleHookResult {
    fire(host, end.into()).await
}

/// Tells the PreCompress hooks that the conversation is about to be compressed. Where they refuse it,
/// an agent that still can does not compress it; where one gives a
/// [`compaction`](LifecycleHookResult::compaction), that is used.
pub async fn fire_pre_compress_hook(
    host: &AgentHost,
    compression: impl Into<PreCompressInput>,
) -> LifecycleHookResult {
    fire(host, compression.into()).await
}

/// Tells the Notification hooks what the user is told.
pub async fn fire_notification_hook(
    host: &AgentHost,
    notification: NotificationInput,
) -> LifecycleHookResult {
    fire(host, notification).await
}
