//! An agent that asks in its own language, and what it is answered in that.
//!
//! What the agent says becomes a request like any other; its response becomes what the agent reads.
//! `hook bridge` does it for agents that start a command as their hook, with an engine of its own or over
//! the [wire](crate::wire) with a running one.

mod log;
pub(crate) mod state;

use std::path::Path;
use std::time::Instant;

use hook_core::event::output::PolicyDecision;
use hook_core::language::Language;
use hook_core::redact::Redaction;
use hook_core::{Events, FailureCode, HookEventName, RawJson, RawObject, RequestInput};
use hook_translate::agents::{Agent, Asked, Said, Verdict};

use self::log::Call;
pub use self::state::BridgeState;
use crate::message::{HookExecutionRequest, HookExecutionResponse};
use crate::system::HookSystem;

/// How often in a row hooks may have an agent go on at the end of its turn that does not count itself.
const MAX_CONTINUATIONS: u32 = 8;

/// The events at whose block an agent goes on.
const TURN_ENDS: [HookEventName; 2] = [HookEventName::AfterAgent, HookEventName::SubagentStop];

/// What an agent asks.
#[derive(Debug, Clone)]
pub struct Bridge {
    agent: &'static Agent,
    asked: Asked,
    /// What the hooks are told, where it is what the event requires.
    input: Option<RequestInput>,
    begun: Instant,
}

/// What an agent is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bridged {
    /// What it reads.
    pub said: Said,
    /// What its user should know beside it.
    pub warnings: Vec<String>,
}

impl Bridge {
    /// What the agent asks. Hooks can listen to these events.
    pub fn new(agent: &'static Agent, asked: Asked, events: &Events) -> Self {
        let event = events.from_name(asked.event_name());
        let input = event.and_then(|event| asked.request(event).ok());
        Self { agent, asked, input, begun: Instant::now() }
    }

    /// What the hooks are told; `None` where what the agent said is not what the event requires.
    pub fn input(&self) -> Option<&RequestInput> {
        self.input.as_ref()
    }

    /// The request. What is wrong with it is said by the engine, which knows its guards.
    pub fn request(&self) -> HookExecutionRequest {
        match &self.input {
            Some(input) => HookExecutionRequest::typed(input.clone()),
            None => {
                let (name, input) = (self.asked.event_name(), self.asked.input());
                HookExecutionRequest::new(name, input.clone())
            }
        }
    }

    /// What the agent is answered by a system: with what is remembered of its session, and written down where
    /// the system keeps that. `unknown_guards` says why guards of the event may be missing, if they may.
    pub fn answered_by(
        &self,
        system: &HookSystem,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Bridged {
        let mut bridged = self.answer(response, unknown_guards);
        let Some(state) = system.bridge_state() else { return bridged };
        if self.goes_on_too_often(response, state) {
            bridged.said = self.agent.say(self.asked.home_event(), &Verdict::proceed());
            bridged.warnings.push(format!(
                "hooks had {} go on {MAX_CONTINUATIONS} times in a row at the end of its turn; it ends now",
                self.agent.title()
            ));
        }
        let redaction = system.current_redaction().now();
        self.write_down(&bridged, response, system.project(), state, &redaction);
        bridged
    }

    /// What the agent is answered. `unknown_guards` says why guards of the event may be missing among those
    /// that were asked, if they may: then it does not happen.
    pub fn answer(
        &self,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Bridged {
        let mut said = self.said(response, unknown_guards);
        let mut warnings: Vec<String> = response.processed.warnings.clone();
        let title = self.agent.title();
        // An event that nothing here knows has no hooks.
        let failure = response.error().filter(|it| it.code != FailureCode::UnsupportedEvent);
        if let Some(failure) = failure {
            warnings.push(format!("hooks were not asked: {failure}"));
        }
        warnings.extend(said.lost.drain(..).map(|lost| format!("{title} ignores {lost}")));
        let decision = response.processed.decision;
        if said.stdout.is_empty() && said.code == 0 && decision > PolicyDecision::Proceed {
            warnings.push(format!(
                "hooks said {} on {}, which {} cannot be told there: {}",
                decision.as_str(),
                self.asked.home_event(),
                self.agent.title(),
                response.processed.reason.as_deref().unwrap_or_default()
            ));
        }
        Bridged { said, warnings }
    }

    /// Whether the agent goes on at the end of its turn once more, since hooks want it to, although they had
    /// it do that too often in a row. Remembers how often they did.
    fn goes_on_too_often(&self, response: &HookExecutionResponse, state: &BridgeState) -> bool {
        let Some(input) = self.input.as_ref() else { return false };
        if !TURN_ENDS.contains(&input.event())
            || self.agent.counts_continuations()
            || self.session().is_empty()
        {
            return false;
        }
        let session = self.session();
        let goes_on_already =
            self.asked.input().get("stop_hook_active").and_then(RawJson::to_bool) == Some(true);
        let wants = response.processed.decision == PolicyDecision::Block;
        let mut kept = state.session(session);
        let before = if goes_on_already { kept.continuations } else { 0 };
        let is_too_often = wants && before >= MAX_CONTINUATIONS;
        let now = if wants && !is_too_often { before + 1 } else { 0 };
        if now != kept.continuations {
            kept.continuations = now;
            state.keep(session, &kept);
        }
        is_too_often
    }

    fn session(&self) -> &str {
        let session = self.input.as_ref().and_then(|input| input.base.session_id.as_deref());
        session.unwrap_or_default()
    }

    /// Writes the call down.
    fn write_down(
        &self,
        bridged: &Bridged,
        response: &HookExecutionResponse,
        project: &Path,
        state: &BridgeState,
        redaction: &Redaction,
    ) {
        let payload = self.input.as_ref().map(|input| &input.payload);
        let arguments = payload.and_then(|payload| payload.tool_input());
        let fields = arguments.map(RawObject::fields).unwrap_or_default();
        let about = ["command", "file_path", "url", "pattern"];
        let mut about = about.iter().filter(|name| !redaction.is_field(name));
        let about = about.find_map(|name| fields.get(name)?.to_text());
        let prompt = || {
            let prompt = self.asked.input().get("prompt")?.to_text();
            prompt.filter(|_| !redaction.is_field("prompt"))
        };
        let call = Call {
            agent: self.agent.name(),
            event: self.asked.home_event(),
            session: self.session(),
            project,
            by: if state.is_server() { "server" } else { "bridge" },
            tool: arguments.and_then(|_| payload?.match_subject()),
            about: about.or_else(prompt),
            decision: response.processed.decision.as_str(),
            reason: response.processed.reason.as_deref(),
            code: bridged.said.code,
            milliseconds: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            warnings: bridged.warnings.len(),
        };
        if let Err(error) = call.append(&state.log(), redaction) {
            tracing::warn!(target: "hook::bridge", "failed to write down a call: {error}");
        }
    }

    fn said(
        &self,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Said {
        let home_event = self.asked.home_event();
        let processed = &response.processed;
        let merged = processed.as_answer();
        let tool_input = self.input.as_ref().and_then(|input| {
            let original = input.payload.tool_input()?;
            let changed = processed.changed_tool_input(original)?;
            let tool = input.payload.match_subject()?;
            (changed != *original).then(|| self.agent.arguments(home_event, tool, &changed))
        });
        // Of an event that only observes nothing is merged, and what is said is said all the same.
        let outputs = &processed.aggregated.all_outputs;
        let observed = outputs.iter().filter_map(|output| output.system_message.as_deref());
        let observed: Vec<&str> = observed.filter(|_| merged.is_none()).collect();
        let observed = observed.join("\n");
        let mut verdict = Verdict::proceed();
        verdict.decision = processed.decision;
        verdict.reason = processed.reason.as_deref();
        verdict.allowed = response.hooks.iter().any(|hook| hook.grants);
        let message = processed.system_message.as_deref();
        verdict.system_message = message.or(Some(&*observed).filter(|it| !it.is_empty()));
        verdict.additional_context = processed.additional_context.as_deref();
        verdict.tool_input = tool_input.as_ref();
        verdict.answer = merged.as_ref();
        // No event proceeds that a missing guard might have blocked.
        let unknown = response.event.and_then(unknown_guards);
        // To block the end of a turn is to go on working, which helps nobody where hooks could not be asked.
        let goes_on = response.event.is_some_and(|event| TURN_ENDS.contains(&event));
        if goes_on && (response.error().is_some() || unknown.is_some()) {
            verdict.decision = PolicyDecision::Proceed;
            return self.agent.say(home_event, &verdict);
        }
        if verdict.decision == PolicyDecision::Proceed
            && let Some(why) = &unknown
        {
            verdict.decision = PolicyDecision::Block;
            verdict.reason = Some(why);
        }
        self.agent.say(home_event, &verdict)
    }
}
