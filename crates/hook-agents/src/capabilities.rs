//! The capabilities of agents, found by calling their own functions with a sample of each verdict
//! and each output.

use hook_json::RawObject;
use hook_protocol::HookEventName;
use hook_protocol::event::output::{Decision, PolicyDecision};
use hook_settings::language::ProcessOutput;

use super::table::{Agent, AgentEvent, NativeEvent};
use super::verdict::{AgentResponse, Verdict};

/// The cell for something without an effect.
pub(super) const NONE: &str = "–";

/// The reason in sample verdicts.
pub(super) const SAMPLE_REASON: &str = "why";

impl Agent {
    fn render_for(&self, event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
        self.render(event, verdict)
    }

    /// Checks whether the response differs from that to a plain verdict, and nothing is lost.
    fn supports(&self, event: &AgentEvent, verdict: &Verdict<'_>) -> bool {
        let response = self.render_for(event, verdict);
        let neutral = self.render_for(event, &Verdict::proceed());
        response.lost.is_empty()
            && (&response.stdout, &response.stderr, response.code)
                != (&neutral.stdout, &neutral.stderr, neutral.code)
    }
}

fn sample_verdict(decision: PolicyDecision) -> Verdict<'static> {
    Verdict { decision, reason: Some(SAMPLE_REASON), ..Verdict::proceed() }
}

/// Returns the effect of a block at an event; `None` if a block has none.
pub(super) fn block_means(event: &AgentEvent) -> Option<&'static str> {
    match event.native {
        NativeEvent::BuiltIn(native) => native.row().block_means,
        NativeEvent::Declared => event.blocks.then_some("it does not happen"),
    }
}

fn yes_or_lost(is_supported: bool) -> String {
    if is_supported { "yes" } else { "lost" }.to_owned()
}

/// Returns `yes` for an obeyed decision, `told` for one passed on as context, `lost` for any other.
fn effect(agent: &Agent, event: &AgentEvent, decision: PolicyDecision) -> &'static str {
    let verdict = sample_verdict(decision);
    let added = Verdict { additional_context: Some(SAMPLE_REASON), ..Verdict::proceed() };
    match agent.supports(event, &verdict) {
        false => "lost",
        true if agent.render_for(event, &verdict) == agent.render_for(event, &added) => "told",
        true => "yes",
    }
}

/// Returns the effect of a denial.
pub(super) fn denial_effect(agent: &Agent, event: &AgentEvent) -> String {
    let known = block_means(event).map(|_| effect(agent, event, PolicyDecision::Block));
    known.unwrap_or(NONE).to_owned()
}

/// Returns the effect of an ask.
pub(super) fn ask_effect(agent: &Agent, event: &AgentEvent) -> String {
    let effect_name = match () {
        () if block_means(event).is_none() => NONE,
        () if is_rendered_as_denial(agent, event, PolicyDecision::Ask) => "denied",
        () => effect(agent, event, PolicyDecision::Ask),
    };
    effect_name.to_owned()
}

/// Returns the effect of a stop.
pub(super) fn stop_effect(agent: &Agent, event: &AgentEvent) -> String {
    let end_events = [HookEventName::AfterAgent, HookEventName::SubagentStop];
    let effect_name = match effect(agent, event, PolicyDecision::Stop) {
        "yes" if is_rendered_as_denial(agent, event, PolicyDecision::Stop) => "denied",
        // An empty response ends the turn.
        "lost" if end_events.iter().any(|native| event.maps_to(*native)) => "yes",
        name => name,
    };
    effect_name.to_owned()
}

/// Checks whether the response equals that to a denial, which the agent obeys.
fn is_rendered_as_denial(agent: &Agent, event: &AgentEvent, decision: PolicyDecision) -> bool {
    effect(agent, event, PolicyDecision::Block) == "yes"
        && agent.render_for(event, &sample_verdict(decision))
            == agent.render_for(event, &sample_verdict(PolicyDecision::Block))
}

/// Returns the effect of changed tool arguments.
pub(super) fn arguments_effect(agent: &Agent, event: &AgentEvent) -> String {
    if !event.maps_to(HookEventName::BeforeTool) {
        return NONE.to_owned();
    }
    let input = RawObject::empty();
    let changed = Verdict { tool_input: Some(&input), ..Verdict::proceed() };
    yes_or_lost(agent.supports(event, &changed))
}

/// Returns the effect of context for the model.
pub(super) fn context_effect(agent: &Agent, event: &AgentEvent) -> String {
    let added = Verdict { additional_context: Some(SAMPLE_REASON), ..Verdict::proceed() };
    yes_or_lost(agent.supports(event, &added))
}

/// Returns the effect of a message to the user.
pub(super) fn message_effect(agent: &Agent, event: &AgentEvent) -> String {
    let message_verdict = Verdict { system_message: Some(SAMPLE_REASON), ..Verdict::proceed() };
    yes_or_lost(agent.supports(event, &message_verdict))
}

/// Returns the effect of an agent's answer on other agents.
pub(super) fn effect_on_others(agent: &Agent, event: &AgentEvent, text: &str) -> String {
    let process = ProcessOutput { code: Some(0), stdout: text, stderr: "" };
    let answer = agent.read(event, &process);
    let output = answer.output.unwrap_or_default();
    let specific = |name: &str| output.hook_specific_output.as_ref()?.get(name);
    let decision = match &output.decision {
        Some(Decision::Deny | Decision::Block) => Some("a denial"),
        Some(Decision::Ask) => Some("an ask"),
        Some(Decision::Allow | Decision::Approve) if event.approves => {
            Some("an allow, of the user's own hooks")
        }
        _ => None,
    };
    let changes = ["updatedInput", "tool_input"].iter().any(|name| specific(name).is_some());
    let parts = [
        decision,
        changes.then_some("other arguments"),
        specific("additionalContext").map(|_| "context for the model"),
        output.system_message.as_ref().map(|_| "a message to the user"),
        answer.failure.map(|_| "a failed run"),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no decision".to_owned() } else { parts.join(", ") }
}
