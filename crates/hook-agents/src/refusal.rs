//! Refusals of requests in another agent's form: an agent that reads this one's files may obey
//! other fields.

use hook_json::{JsonObject, RawJson};
use hook_protocol::event::output::PolicyDecision;
use hook_settings::language::ProcessOutput;

use super::table::{Agent, AgentEvent, NativeEvent};
use super::verdict::{AgentResponse, Verdict, put, put_specific};

impl Agent {
    /// Returns a refusal that every agent obeys which reads this agent's files: in this agent's
    /// form, at the top level if that is no error, on standard error, and by this agent's exit code,
    /// or 2. If the event cannot be refused, it is the usual response.
    pub fn refuse(&self, foreign_event: &str, verdict: &Verdict<'_>) -> AgentResponse {
        let verdict = match verdict.decision {
            // Such an agent may not support asking its user.
            PolicyDecision::Ask => Verdict { decision: PolicyDecision::Block, ..*verdict },
            _ => *verdict,
        };
        let event = self.event(foreign_event);
        let response = match event {
            Some(_) => self.response(foreign_event, &verdict),
            None => AgentResponse::default(),
        };
        if !event.is_none_or(AgentEvent::is_refusable) || !verdict.forbids() {
            return response;
        }
        let original =
            RawJson::parse(response.stdout.as_str()).ok().and_then(|value| value.to_object().ok());
        let mut answer = original.unwrap_or_default();
        if let (Some(denial), None) = (self.top_level_denial, answer.get("decision")) {
            put(&mut answer, "decision", Some(denial));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        AgentResponse {
            stderr: verdict.reason_or_default().to_owned(),
            code: if response.code == 0 { 2 } else { response.code },
            lost: response.lost,
            ..AgentResponse::json(&answer)
        }
    }

    /// Returns the refusal of a script that finds no `hook`: exit code 2 where that denies, or else the agent's form.
    pub fn refuse_without_hook(&self, foreign_event: &str, reason: &str) -> AgentResponse {
        let process = ProcessOutput { code: Some(2), stdout: "", stderr: reason };
        let read = self.event(foreign_event).map(|event| self.read(event, &process));
        let output = read.and_then(|answer| answer.output).unwrap_or_default();
        match output.is_blocking_decision() {
            true => {
                AgentResponse { stderr: reason.to_owned(), code: 2, ..AgentResponse::default() }
            }
            false => self.refuse_unreadable(Some(foreign_event), reason),
        }
    }

    /// Returns `true` if hooks can prevent the action of this event.
    pub fn can_refuse(&self, foreign_event: &str) -> bool {
        self.event(foreign_event).is_some_and(AgentEvent::is_refusable)
    }

    /// Returns a refusal of an unreadable request, with the reason.
    pub fn refuse_unreadable(&self, foreign_event: Option<&str>, reason: &str) -> AgentResponse {
        let mut verdict = Verdict::proceed();
        verdict.decision = PolicyDecision::Block;
        verdict.reason = Some(reason);
        self.refuse(foreign_event.unwrap_or_default(), &verdict)
    }
}

/// Returns a denial in all forms that agents obey, for an agent that is not known.
pub fn denial_in_all_forms(event: Option<&str>, reason: &str) -> String {
    let mut specific = JsonObject::new();
    put(&mut specific, "permissionDecision", Some("deny"));
    put(&mut specific, "permissionDecisionReason", Some(reason));
    let mut answer = JsonObject::new();
    put(&mut answer, "decision", Some("block"));
    put(&mut answer, "reason", Some(reason));
    put_specific(&mut answer, event.unwrap_or_default(), &specific);
    answer.to_raw().as_str().to_owned()
}

impl AgentEvent {
    /// Returns `true` if hooks can prevent the action of this event.
    pub(super) fn is_refusable(&self) -> bool {
        let is_end_of_turn =
            matches!(self.native, NativeEvent::BuiltIn(ours) if ours.is_turn_end());
        self.blocks && !is_end_of_turn
    }
}

/// Checks whether a request has a session field of another agent, and not its own.
pub(super) fn is_other_form(agent: &Agent, event: &AgentEvent, sent: &JsonObject) -> bool {
    let Some(session_field) =
        event.base_fields.unwrap_or(agent.base_fields).iter().find_map(session_field_name)
    else {
        return false;
    };
    if sent.get(session_field).is_some() {
        return false;
    }
    let session_fields = super::agents()
        .iter()
        .filter_map(|other| other.base_fields.iter().find_map(session_field_name));
    let mut session_fields = session_fields.filter(|name| *name != session_field);
    session_fields.any(|name| sent.get(name).is_some())
}

fn session_field_name(
    (base, name): &(super::table::BaseField, &'static str),
) -> Option<&'static str> {
    (*base == super::table::BaseField::Session).then_some(*name)
}
