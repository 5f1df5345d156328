//! A refusal of what was not sent in an agent's own form: other agents read its files, too, and obey other
//! words.

use hook_core::event::output::PolicyDecision;
use hook_core::{JsonObject, RawJson};

use super::table::{Agent, AgentEvent, Ours};
use super::verdict::{Said, Verdict, put};

impl Agent {
    /// A refusal in each way that an agent obeys which reads this one's files: in this one's own form, at the
    /// top level where that is no error, on standard error, and by exit code 2. Where an event cannot be
    /// refused, it is what is said of it otherwise.
    pub fn refuse(&self, foreign_event: &str, verdict: &Verdict<'_>) -> Said {
        let verdict = match verdict.decision {
            // Nobody says that such an agent would ask its user.
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

    /// Whether what one of its events is about can be kept from happening.
    pub fn can_refuse(&self, foreign_event: &str) -> bool {
        self.event(foreign_event).is_some_and(AgentEvent::can_be_refused)
    }

    /// The same of what could not be read at all, with the reason.
    pub fn refuse_unread(&self, foreign_event: Option<&str>, reason: &str) -> Said {
        let mut verdict = Verdict::proceed();
        verdict.decision = PolicyDecision::Block;
        verdict.reason = Some(reason);
        self.refuse(foreign_event.unwrap_or_default(), &verdict)
    }
}

impl AgentEvent {
    /// Whether what it is about can be kept from happening.
    pub(super) fn can_be_refused(&self) -> bool {
        let ends_a_turn = matches!(self.ours, Ours::BuiltIn(ours) if ours.ends_a_turn());
        self.blocks && !ends_a_turn
    }
}

/// Whether what an agent sent has no session under its own name for it, but under that of another agent.
pub(super) fn is_other_form(agent: &Agent, event: &AgentEvent, sent: &JsonObject) -> bool {
    let Some(own) = event.base.unwrap_or(agent.base).iter().find_map(session) else { return false };
    let others = super::AGENTS.iter().filter_map(|other| other.base.iter().find_map(session));
    let mut others = others.filter(|name| *name != own);
    sent.get(own).is_none() && others.any(|name| sent.get(name).is_some())
}

fn session((base, name): &(super::table::Base, &'static str)) -> Option<&'static str> {
    (*base == super::table::Base::Session).then_some(*name)
}
