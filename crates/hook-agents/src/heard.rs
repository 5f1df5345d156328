//! The capabilities of agents, found by calling their own functions with a sample of each verdict
//! and each output.

use hook_json::RawObject;
use hook_protocol::HookEventName;
use hook_protocol::event::output::{Decision, PolicyDecision};
use hook_settings::language::Ended;

use super::table::{Agent, AgentEvent, Ours};
use super::verdict::{Said, Verdict};

/// The cell for something without an effect.
pub(super) const NONE: &str = "–";

/// The reason in sample verdicts.
pub(super) const WHY: &str = "why";

impl Agent {
    /// Returns the events that `hook connect` registers.
    pub(super) fn asked_events(&self) -> impl Iterator<Item = &'static AgentEvent> {
        let built_in = |event: &&AgentEvent| matches!(event.ours, Ours::BuiltIn(_));
        self.events.iter().filter(built_in).filter(|event| !event.is_asked_elsewhere)
    }

    fn told_of(&self, event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
        (self.say)(event, verdict)
    }

    /// Checks whether the response differs from that to a plain verdict, and nothing is lost.
    fn hears(&self, event: &AgentEvent, verdict: &Verdict<'_>) -> bool {
        let said = self.told_of(event, verdict);
        let silence = self.told_of(event, &Verdict::proceed());
        said.lost.is_empty()
            && (&said.stdout, &said.stderr, said.code)
                != (&silence.stdout, &silence.stderr, silence.code)
    }
}

fn verdict(decision: PolicyDecision) -> Verdict<'static> {
    Verdict { decision, reason: Some(WHY), ..Verdict::proceed() }
}

/// Returns the effect of a block at an event; `None` if a block has none.
pub(super) fn block_means(event: &AgentEvent) -> Option<&'static str> {
    match event.ours {
        Ours::BuiltIn(ours) => ours.row().block_means,
        Ours::Declared => event.blocks.then_some("it does not happen"),
    }
}

fn yes_or_lost(heard: bool) -> String {
    if heard { "yes" } else { "lost" }.to_owned()
}

/// Returns `yes` for an obeyed decision, `told` for one passed on as context, `lost` for any other.
fn heard(agent: &Agent, event: &AgentEvent, decision: PolicyDecision) -> &'static str {
    let verdict = verdict(decision);
    let added = Verdict { additional_context: Some(WHY), ..Verdict::proceed() };
    match agent.hears(event, &verdict) {
        false => "lost",
        true if agent.told_of(event, &verdict) == agent.told_of(event, &added) => "told",
        true => "yes",
    }
}

/// Returns the effect of a denial.
pub(super) fn denial(agent: &Agent, event: &AgentEvent) -> String {
    let known = block_means(event).map(|_| heard(agent, event, PolicyDecision::Block));
    known.unwrap_or(NONE).to_owned()
}

/// Returns the effect of an ask.
pub(super) fn ask(agent: &Agent, event: &AgentEvent) -> String {
    let word = match () {
        () if block_means(event).is_none() => NONE,
        () if is_as_denial(agent, event, PolicyDecision::Ask) => "denied",
        () => heard(agent, event, PolicyDecision::Ask),
    };
    word.to_owned()
}

/// Returns the effect of a stop.
pub(super) fn stop(agent: &Agent, event: &AgentEvent) -> String {
    let ends = [HookEventName::AfterAgent, HookEventName::SubagentStop];
    let word = match heard(agent, event, PolicyDecision::Stop) {
        "yes" if is_as_denial(agent, event, PolicyDecision::Stop) => "denied",
        // An empty response ends the turn.
        "lost" if ends.iter().any(|ours| event.is(*ours)) => "yes",
        word => word,
    };
    word.to_owned()
}

/// Checks whether the response equals that to a denial, which the agent obeys.
fn is_as_denial(agent: &Agent, event: &AgentEvent, decision: PolicyDecision) -> bool {
    heard(agent, event, PolicyDecision::Block) == "yes"
        && agent.told_of(event, &verdict(decision))
            == agent.told_of(event, &verdict(PolicyDecision::Block))
}

/// Returns the effect of changed tool arguments.
pub(super) fn arguments(agent: &Agent, event: &AgentEvent) -> String {
    if !event.is(HookEventName::BeforeTool) {
        return NONE.to_owned();
    }
    let input = RawObject::empty();
    let changed = Verdict { tool_input: Some(&input), ..Verdict::proceed() };
    yes_or_lost(agent.hears(event, &changed))
}

/// Returns the effect of context for the model.
pub(super) fn context(agent: &Agent, event: &AgentEvent) -> String {
    let added = Verdict { additional_context: Some(WHY), ..Verdict::proceed() };
    yes_or_lost(agent.hears(event, &added))
}

/// Returns the effect of a message to the user.
pub(super) fn message(agent: &Agent, event: &AgentEvent) -> String {
    let told = Verdict { system_message: Some(WHY), ..Verdict::proceed() };
    yes_or_lost(agent.hears(event, &told))
}

/// Returns the effect of a hook's exit code and output.
pub(super) fn outcome(agent: &Agent, event: &AgentEvent, ended: &Ended<'_>) -> &'static str {
    let answer = (agent.answer)(event, ended);
    let output = answer.output.unwrap_or_default();
    let denies = matches!(output.decision, Some(Decision::Deny | Decision::Block));
    let specific = output.hook_specific_output.as_ref();
    match () {
        () if denies && block_means(event).is_some() => "a block",
        () if specific.is_some_and(|it| it.get("additionalContext").is_some()) => {
            "context for the model"
        }
        () if specific.is_some_and(|it| it.get("worktreePath").is_some()) => "the path",
        () if output.system_message.is_some() => "the user is told",
        () if answer.failure.is_some() => "a failed run",
        () => "nothing",
    }
}

/// Returns the effect of an agent's answer on other agents.
pub(super) fn elsewhere(agent: &Agent, event: &AgentEvent, text: &str) -> String {
    let ended = Ended { code: Some(0), stdout: text, stderr: "" };
    let answer = (agent.answer)(event, &ended);
    let output = answer.output.unwrap_or_default();
    let specific = |name: &str| output.hook_specific_output.as_ref()?.get(name);
    let decided = match &output.decision {
        Some(Decision::Deny | Decision::Block) => Some("a denial"),
        Some(Decision::Ask) => Some("an ask"),
        Some(Decision::Allow | Decision::Approve) if event.approves => {
            Some("an allow, of the user's own hooks")
        }
        _ => None,
    };
    let changes = ["updatedInput", "tool_input"].iter().any(|name| specific(name).is_some());
    let parts = [
        decided,
        changes.then_some("other arguments"),
        specific("additionalContext").map(|_| "context for the model"),
        output.system_message.as_ref().map(|_| "a message to the user"),
        answer.failure.map(|_| "a failed run"),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no decision".to_owned() } else { parts.join(", ") }
}
