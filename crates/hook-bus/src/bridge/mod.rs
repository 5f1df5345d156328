//! The bridge: requests in an agent's own format, and answers in that format.
//!
//! The agent's input becomes a request like any other; its response becomes the agent's answer.
//! `hook bridge` does this for agents that run a command as their hook, with its own engine or with
//! a running one over the [wire](crate::wire).

mod log;
pub(crate) mod state;

use std::path::Path;
use std::time::Instant;

use hook_agents::{Agent, Asked, Said, Verdict};
use hook_core::NOT_TRUSTED;
use hook_json::text::shortened;
use hook_json::{RawJson, RawObject};
use hook_protocol::event::output::{BeforeAgentOutput, PolicyDecision};
use hook_protocol::{Events, FailureCode, HookEventName, RequestInput};
use hook_run::HookExecutionResult;
use hook_settings::language::Language;
use hook_settings::redact::Redaction;
use hook_trust::CHANGED_SINCE_TRUSTED;

use self::log::Call;
pub use self::state::BridgeState;
use self::state::SessionState;
use crate::message::{HookExecutionRequest, HookExecutionResponse};
use crate::system::HookSystem;

/// The limit on continuations in a row at the end of a turn, for agents without their own.
const MAX_CONTINUATIONS: u32 = 8;

/// A call of an agent.
#[derive(Debug, Clone)]
pub struct Bridge {
    agent: &'static Agent,
    asked: Asked,
    /// The hooks' input, if the agent's input is valid for the event.
    input: Option<RequestInput>,
    begun: Instant,
}

/// The answer to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bridged {
    /// The output that the agent reads.
    pub said: Said,
    /// Warnings for the user besides that.
    pub warnings: Vec<String>,
}

/// The answer to an agent, before files are read and written.
#[derive(Debug, Clone)]
pub(crate) struct Unsettled {
    agent: &'static Agent,
    foreign_event: &'static str,
    bridged: Bridged,
    kept: Option<Box<ToKeep>>,
}

/// The data to read and write for an answer.
#[derive(Debug, Clone)]
struct ToKeep {
    state: BridgeState,
    session: String,
    turn_end: Option<TurnEnd>,
    /// The log entry, if the call is logged.
    call: Option<Call>,
    /// The answer with notices shown once per session, and the set of these notices.
    noticed: Option<(Bridged, u32)>,
}

/// An answer with its decision.
struct Answered {
    bridged: Bridged,
    decision: PolicyDecision,
    reason: Option<String>,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
struct TurnEnd {
    /// `true` if hooks already made the agent continue.
    goes_on_already: bool,
    /// `true` if hooks want it to continue now.
    wants: bool,
}

impl TurnEnd {
    /// Checks whether hooks made the agent continue too often in a row, and updates the count.
    fn is_too_often(self, kept: &mut SessionState) -> bool {
        let before = if self.goes_on_already { kept.continuations } else { 0 };
        let is_too_often = self.wants && before >= MAX_CONTINUATIONS;
        kept.continuations = if self.wants && !is_too_often { before + 1 } else { 0 };
        is_too_often
    }
}

impl Unsettled {
    /// Returns the answer without the data of files.
    pub(crate) fn bridged(&self) -> &Bridged {
        &self.bridged
    }

    /// Returns the final answer. Reads and writes files, waiting for them only briefly.
    pub(crate) fn settle(self) -> Bridged {
        let Self { agent, foreign_event, mut bridged, kept } = self;
        let Some(kept) = kept else { return bridged };
        let ToKeep { state, session, turn_end, mut call, noticed } = *kept;
        if let Some((noticed, notices)) = noticed
            && state.are_first_notices(&session, notices)
        {
            bridged = noticed;
        }
        let is_too_often = turn_end.is_some_and(|end| {
            let changed = state.change(&session, |kept| end.is_too_often(kept));
            changed.unwrap_or_else(|error| {
                bridged.warnings.push(format!(
                    "how often hooks had {} go on was not written down: {error}",
                    agent.title()
                ));
                end.is_too_often(&mut state.session(&session))
            })
        });
        if is_too_often {
            bridged.said = agent.say(foreign_event, &Verdict::proceed());
            if let Some(call) = &mut call {
                call.decision = PolicyDecision::Proceed.as_str();
            }
            bridged.warnings.push(format!(
                "hooks had {} go on {MAX_CONTINUATIONS} times in a row at the end of its turn; it ends now",
                agent.title()
            ));
        }
        let appended =
            call.map(|call| call.append(&state.log(), bridged.said.code, bridged.warnings.len()));
        if let Some(Err(error)) = appended {
            tracing::warn!(target: "hook::bridge", "failed to write down a call: {error}");
        }
        bridged
    }
}

impl Bridge {
    /// Creates a bridge for an agent's call; `events` are the known events.
    pub fn new(agent: &'static Agent, asked: Asked, events: &Events) -> Self {
        let event = events.from_name(asked.event_name());
        let input = event.and_then(|event| asked.request(event).ok());
        Self { agent, asked, input, begun: Instant::now() }
    }

    /// Returns the hooks' input; `None` if the agent's input is invalid for the event.
    pub fn input(&self) -> Option<&RequestInput> {
        self.input.as_ref()
    }

    /// Returns the request. The engine reports errors in it, since it knows the guards.
    pub fn request(&self) -> HookExecutionRequest {
        match &self.input {
            Some(input) => HookExecutionRequest::typed(input.clone()),
            None => {
                let (name, input) = (self.asked.event_name(), self.asked.input());
                HookExecutionRequest::new(name, input.clone())
            }
        }
    }

    /// Returns the agent's answer, with the session's state and the log, if the system keeps them.
    /// `unknown_guards` returns the reason if guards of the event may be missing. Reads and writes
    /// files.
    pub fn answered_by(
        &self,
        system: &HookSystem,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Bridged {
        self.unsettled(system, response, unknown_guards).settle()
    }

    /// Like [`answered_by`](Self::answered_by), before files are read and written.
    pub(crate) fn unsettled(
        &self,
        system: &HookSystem,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Unsettled {
        let unknown = response.event.and_then(unknown_guards);
        let answered = self.answered(response, unknown.as_deref(), &[]);
        let kept = system.bridge_state().map(|state| {
            let redaction = system.current_redaction().now();
            let call = system
                .logs_calls()
                .then(|| self.call(&answered, system.project(), state, &redaction));
            let (session, turn_end) = (self.session().to_owned(), self.turn_end(response));
            let noticed = self.noticed(response, unknown.as_deref(), &answered.bridged);
            Box::new(ToKeep { state: state.clone(), session, turn_end, call, noticed })
        });
        let bridged = answered.bridged;
        Unsettled { agent: self.agent, foreign_event: self.asked.foreign_event(), bridged, kept }
    }

    /// Returns the answer with notices about untrusted hooks, and about hooks that run from copies
    /// since they changed, if there are any and the agent can show them; also the set of these
    /// notices.
    fn noticed(
        &self,
        response: &HookExecutionResponse,
        unknown: Option<&str>,
        plain: &Bridged,
    ) -> Option<(Bridged, u32)> {
        const NOTICES: [&str; 2] = [NOT_TRUSTED, CHANGED_SINCE_TRUSTED];
        let mut notices = 0;
        let mut shown = Vec::new();
        for (at, notice) in NOTICES.iter().enumerate() {
            let warning = response.processed.warnings.iter().find(|it| it.ends_with(notice));
            if let Some(warning) = warning {
                notices |= 1 << at;
                shown.push(warning.as_str());
            }
        }
        if shown.is_empty() || self.session().is_empty() {
            return None;
        }
        let noticed = self.answered(response, unknown, &shown).bridged;
        let is_shown = noticed.said != plain.said && noticed.warnings == plain.warnings;
        is_shown.then_some((noticed, notices))
    }

    /// Returns the agent's answer. `unknown_guards` returns the reason if guards of the event may
    /// be missing; then the event is blocked.
    pub fn answer(
        &self,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Bridged {
        let unknown = response.event.and_then(unknown_guards);
        self.answered(response, unknown.as_deref(), &[]).bridged
    }

    /// Like [`answer`](Self::answer), with the missing guards and notices for the user.
    fn answered(
        &self,
        response: &HookExecutionResponse,
        unknown: Option<&str>,
        notices: &[&str],
    ) -> Answered {
        let not_run = not_run(response);
        let told = not_run.iter().map(String::as_str).chain(notices.iter().copied());
        let told: Vec<&str> = told.collect();
        let mut answer = self.said(response, &told, unknown);
        let said = &mut answer.bridged.said;
        let mut warnings: Vec<String> = response.processed.warnings.clone();
        warnings.extend(not_run);
        let title = self.agent.title();
        // An unknown event has no hooks.
        let failure = response.error().filter(|it| it.code != FailureCode::UnsupportedEvent);
        if let Some(failure) = failure {
            warnings.push(format!("hooks were not asked: {failure}"));
        }
        warnings.extend(said.lost.drain(..).map(|lost| format!("{title} ignores {lost}")));
        let decision = response.processed.decision;
        if said.stdout.is_empty() && said.code == 0 && decision > PolicyDecision::Proceed {
            answer.decision = PolicyDecision::Proceed;
            warnings.push(format!(
                "hooks said {} on {}, which {} cannot be told there: {}",
                decision.as_str(),
                self.asked.foreign_event(),
                self.agent.title(),
                response.processed.reason.as_deref().unwrap_or_default()
            ));
        }
        answer.bridged.warnings = warnings;
        answer
    }

    /// Returns the state of a turn's end, if hooks may continue it and the agent does not count
    /// that.
    fn turn_end(&self, response: &HookExecutionResponse) -> Option<TurnEnd> {
        let input = self.input.as_ref()?;
        let counts = input.event().ends_a_turn()
            && !self.agent.counts_continuations()
            && !self.session().is_empty();
        let is_active =
            self.asked.input().get("stop_hook_active").and_then(RawJson::to_bool) == Some(true);
        counts.then_some(TurnEnd {
            goes_on_already: is_active,
            wants: response.processed.decision == PolicyDecision::Block,
        })
    }

    fn session(&self) -> &str {
        let session = self.input.as_ref().and_then(|input| input.base.session_id.as_deref());
        session.unwrap_or_default()
    }

    /// Returns the log entry of the call.
    fn call(
        &self,
        answered: &Answered,
        project: &Path,
        state: &BridgeState,
        redaction: &Redaction,
    ) -> Call {
        let kept = |text: &str| shortened(&redaction.text(text));
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
        Call {
            agent: self.agent.name(),
            event: self.asked.foreign_event().to_owned(),
            session: kept(self.session()),
            project: project.to_string_lossy().into_owned(),
            by: if state.is_server() { "server" } else { "bridge" },
            tool: arguments.and_then(|_| payload?.match_subject()).map(kept),
            about: about.or_else(prompt).as_deref().map(kept),
            decision: answered.decision.as_str(),
            reason: answered.reason.as_deref().map(kept),
            milliseconds: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the agent's answer; `of_engine` are texts for the user only.
    fn said(
        &self,
        response: &HookExecutionResponse,
        of_engine: &[&str],
        unknown: Option<&str>,
    ) -> Answered {
        let foreign_event = self.asked.foreign_event();
        let processed = &response.processed;
        let merged = processed.as_answer();
        let tool_input = self.input.as_ref().and_then(|input| {
            let original = input.payload.tool_input()?;
            let changed = processed.changed_tool_input(original)?;
            let tool = input.payload.match_subject()?;
            let sent = &input.asked.as_deref()?.said;
            (changed != *original)
                .then(|| self.agent.arguments(foreign_event, tool, &changed, sent))
        });
        // Outputs of events that only observe are not merged, but their messages are shown.
        let outputs = &processed.aggregated.all_outputs;
        let observed = outputs.iter().filter_map(|output| output.system_message.as_deref());
        let observed = observed.filter(|_| merged.is_none());
        let message = processed.system_message.as_deref();
        let told = message.into_iter().chain(observed.filter(|_| message.is_none()));
        let told: Vec<&str> = told.chain(of_engine.iter().copied()).collect();
        let told = told.join("\n");
        let mut verdict = Verdict::proceed();
        // If a block has no effect (its author gets a warning), the agent must not apply it.
        let is_useless = processed.decision == PolicyDecision::Block
            && response.event.is_some_and(|event| event.row().block_means.is_none());
        verdict.decision = if is_useless { PolicyDecision::Proceed } else { processed.decision };
        verdict.reason = processed.reason.as_deref();
        verdict.allowed = HookExecutionResult::approve(&response.hooks);
        verdict.system_message = Some(&*told).filter(|it| !it.is_empty());
        // No agent has a message before the prompt; the model gets its text as context.
        let message = BeforeAgentOutput::new(&processed.aggregated).message_text();
        let context = match (&processed.additional_context, message) {
            (Some(context), Some(message)) => Some(format!("{context}\n{message}")),
            (context, message) => context.clone().or(message),
        };
        verdict.additional_context = context.as_deref();
        verdict.tool_input = tool_input.as_ref();
        verdict.answer = merged.as_ref();
        // Blocking the end of a turn makes the agent continue, which is wrong if hooks could not
        // run.
        let goes_on = response.event.is_some_and(HookEventName::ends_a_turn);
        if goes_on && (response.error().is_some() || unknown.is_some()) {
            verdict.decision = PolicyDecision::Proceed;
            let said = self.agent.say(foreign_event, &verdict);
            return Answered::new(said, &verdict);
        }
        // An event must not proceed if a missing guard might have blocked it.
        if verdict.decision == PolicyDecision::Proceed
            && let Some(why) = unknown
        {
            verdict.decision = PolicyDecision::Block;
            verdict.reason = Some(why);
        }
        // The caller may apply the rules of another agent than the one of this entry.
        let said = match self.input.is_none() || self.asked.is_other_form() {
            true => self.agent.refuse(foreign_event, &verdict),
            false => self.agent.say(foreign_event, &verdict),
        };
        Answered::new(said, &verdict)
    }
}

impl Answered {
    fn new(said: Said, verdict: &Verdict<'_>) -> Self {
        let reason = verdict.reason.map(str::to_owned);
        let bridged = Bridged { said, warnings: Vec::new() };
        Self { bridged, decision: verdict.decision, reason }
    }
}

/// Returns warnings about hooks that did not run and had no effect: a guard among them has guarded
/// nothing.
fn not_run(response: &HookExecutionResponse) -> Vec<String> {
    let passed = response.hooks.iter().filter(|hook| hook.decision < Some(PolicyDecision::Block));
    let said = passed.filter_map(|hook| {
        let why = hook.failure.as_ref()?.not_run()?;
        Some(format!("hook {} did not run: {why}", shortened(hook.hook.display_name())))
    });
    said.collect()
}
