//! Refusals of requests in another agent's form: an agent that reads this one's files may obey
//! other fields.

use hook_json::{JsonObject, RawJson};
use hook_protocol::event::output::PolicyDecision;

use super::table::{Agent, AgentEvent, Ours};
use super::verdict::{Said, Verdict, put};

impl Agent {
    /// Returns a refusal that every agent obeys which reads this agent's files: in this agent's
    /// form, at the top level if that is no error, on standard error, and by exit code 2. If the
    /// event cannot be refused, it is the usual response.
    pub fn refuse(&self, foreign_event: &str, verdict: &Verdict<'_>) -> Said {
        let verdict = match verdict.decision {
            // Such an agent may not support asking its user.
            PolicyDecision::Ask => Verdict { decision: PolicyDecision::Block, ..*verdict },
            _ => *verdict,
        };
        let event = self.event(foreign_event);
        let said = match event {
            Some(_) => self.say(foreign_event, &verdict),
            None => Said::default(),
        };
        if !event.is_none_or(AgentEvent::can_be_refused) || !verdict.forbids() {
            return said;
        }
        let own = RawJson::parse(said.stdout.as_str()).ok().and_then(|it| it.to_object().ok());
        let mut answer = own.unwrap_or_default();
        if let (Some(word), None) = (self.top_level, answer.get("decision")) {
            put(&mut answer, "decision", Some(word));
            put(&mut answer, "reason", Some(verdict.why()));
        }
        Said { stderr: verdict.why().to_owned(), code: 2, lost: said.lost, ..Said::json(&answer) }
    }

    /// Returns `true` if hooks can prevent the action of this event.
    pub fn can_refuse(&self, foreign_event: &str) -> bool {
        self.event(foreign_event).is_some_and(AgentEvent::can_be_refused)
    }

    /// Returns a refusal of an unreadable request, with the reason.
    pub fn refuse_unread(&self, foreign_event: Option<&str>, reason: &str) -> Said {
        let mut verdict = Verdict::proceed();
        verdict.decision = PolicyDecision::Block;
        verdict.reason = Some(reason);
        self.refuse(foreign_event.unwrap_or_default(), &verdict)
    }
}

impl AgentEvent {
    /// Returns `true` if hooks can prevent the action of this event.
    pub(super) fn can_be_refused(&self) -> bool {
        let ends_a_turn = matches!(self.ours, Ours::BuiltIn(ours) if ours.ends_a_turn());
        self.blocks && !ends_a_turn
    }
}

/// Checks whether a request has a session field of another agent, and not its own.
pub(super) fn is_other_form(agent: &Agent, event: &AgentEvent, sent: &JsonObject) -> bool {
    let Some(own) = event.base.unwrap_or(agent.base).iter().find_map(session) else { return false };
    let others = super::AGENTS.iter().filter_map(|other| other.base.iter().find_map(session));
    let mut others = others.filter(|name| *name != own);
    sent.get(own).is_none() && others.any(|name| sent.get(name).is_some())
}

fn session((base, name): &(super::table::Base, &'static str)) -> Option<&'static str> {
    (*base == super::table::Base::Session).then_some(*name)
}
