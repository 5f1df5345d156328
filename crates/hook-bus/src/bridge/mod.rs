//! The bridge: requests in an agent's own format, and answers in that format.
//!
//! The agent's input becomes a request like any other; its response becomes the agent's answer.
//! `hook bridge` does this for agents that run a command as their hook, with its own engine or with
//! a running one over the [wire](crate::wire).

mod answer;
mod last_call;
mod log;
mod process_repeats;
pub(crate) mod repeats;
pub(crate) mod state;

use std::path::Path;
use std::time::Instant;

use hook_agents::{Agent, AgentRequest, AgentResponse, Verdict};
use hook_core::NOT_TRUSTED;
use hook_json::text::shortened;
use hook_json::{RawJson, RawObject};
use hook_protocol::event::output::{BeforeAgentOutput, PolicyDecision};
use hook_protocol::{Events, FailureCode, HookEventName, RequestInput};
use hook_run::HookExecutionResult;
use hook_settings::language::Language;
use hook_settings::redact::Redaction;
use hook_trust::{CHANGED_SINCE_TRUSTED, REMOVED_FROM_COPY};

pub use self::answer::BridgeAnswer;
use self::log::Call;
pub use self::process_repeats::{FirstProcess, ProcessTurn};
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
    foreign_request: AgentRequest,
    /// The hooks' input, if the agent's input is valid for the event.
    input: Option<RequestInput>,
    started_at: Instant,
}

/// The answer to an agent, before files are read and written.
#[derive(Debug, Clone)]
pub(crate) struct PendingAnswer {
    agent: &'static Agent,
    foreign_event: &'static str,
    answer: BridgeAnswer,
    persistence: Option<Box<Persistence>>,
}

/// The data to read and write for an answer.
#[derive(Debug, Clone)]
struct Persistence {
    state: BridgeState,
    session: String,
    turn_end: Option<TurnEnd>,
    /// The log entry, if the call is logged.
    call: Option<Call>,
    /// The answer with notices that are shown once per session, and these notices.
    answer_with_notices: Option<(BridgeAnswer, Vec<String>)>,
}

/// An answer with its decision.
struct DecidedAnswer {
    bridged: BridgeAnswer,
    decision: PolicyDecision,
    reason: Option<String>,
}

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
struct TurnEnd {
    /// `true` if hooks already made the agent continue.
    is_continuation: bool,
    /// `true` if hooks want it to continue now.
    wants_continuation: bool,
}

impl TurnEnd {
    /// Checks whether hooks made the agent continue too often in a row, and updates the count.
    fn exceeds_limit(self, session_state: &mut SessionState) -> bool {
        let continuations = if self.is_continuation { session_state.continuations } else { 0 };
        let exceeds_limit = self.wants_continuation && continuations >= MAX_CONTINUATIONS;
        session_state.continuations =
            if self.wants_continuation && !exceeds_limit { continuations + 1 } else { 0 };
        exceeds_limit
    }
}

impl PendingAnswer {
    /// Returns the answer without the data of files.
    pub(crate) fn answer(&self) -> &BridgeAnswer {
        &self.answer
    }

    /// Returns the final answer. Reads and writes files, waiting for them only briefly.
    pub(crate) fn finish(self) -> BridgeAnswer {
        let Self { agent, foreign_event, mut answer, persistence } = self;
        let Some(persistence) = persistence else { return answer };
        let Persistence { state, session, turn_end, mut call, answer_with_notices } = *persistence;
        state.note_call(agent, foreign_event);
        if let Some((with_notices, notices)) = answer_with_notices
            && state.mark_new_notices(&session, &notices)
        {
            answer = with_notices;
        }
        let exceeds_limit = turn_end.is_some_and(|end| {
            let changed = state.change(&session, |session_state| end.exceeds_limit(session_state));
            changed.unwrap_or_else(|error| {
                answer.warnings.push(format!(
                    "how often hooks had {} go on was not written down: {error}",
                    agent.title()
                ));
                end.exceeds_limit(&mut state.session(&session))
            })
        });
        if exceeds_limit {
            answer.output = agent.response(foreign_event, &Verdict::proceed());
            if let Some(call) = &mut call {
                call.decision = PolicyDecision::Proceed.as_str();
            }
            answer.warnings.push(format!(
                "hooks had {} go on {MAX_CONTINUATIONS} times in a row at the end of its turn; it ends now",
                agent.title()
            ));
        }
        let appended =
            call.map(|call| call.append(&state.log(), answer.output.code, answer.warnings.len()));
        if let Some(Err(error)) = appended {
            tracing::warn!(target: "hook::bridge", "failed to write down a call: {error}");
        }
        answer
    }
}

impl Bridge {
    /// Creates a bridge for an agent's call; `events` are the known events.
    pub fn new(agent: &'static Agent, foreign_request: AgentRequest, events: &Events) -> Self {
        let event = events.from_name(foreign_request.event_name());
        let input = event.and_then(|event| foreign_request.request(event).ok());
        Self { agent, foreign_request, input, started_at: Instant::now() }
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
                let (name, input) =
                    (self.foreign_request.event_name(), self.foreign_request.input());
                HookExecutionRequest::new(name, input.clone())
            }
        }
    }

    /// Returns the agent's answer, with the session's state and the log, if the system keeps them.
    /// `unknown_guards` returns the reason if guards of the event may be missing. Reads and writes
    /// files.
    pub fn answer_with_state(
        &self,
        system: &HookSystem,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> BridgeAnswer {
        self.pending_answer(system, response, unknown_guards).finish()
    }

    /// Like `answered_by`, before files are read and written.
    pub(crate) fn pending_answer(
        &self,
        system: &HookSystem,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> PendingAnswer {
        let missing_guards = response.event.and_then(unknown_guards);
        let decided = self.answer_for_user(response, missing_guards.as_deref(), &[]);
        let persistence = system.bridge_state().map(|state| {
            let redaction = system.current_redaction().current();
            let call = system
                .logs_calls()
                .then(|| self.call(&decided, system.project(), state, &redaction));
            let (session, turn_end) = (self.session().to_owned(), self.turn_end(response));
            let answer_with_notices = self.answer_with_notices(
                system,
                response,
                missing_guards.as_deref(),
                &decided.bridged,
            );
            Box::new(Persistence {
                state: state.clone(),
                session,
                turn_end,
                call,
                answer_with_notices,
            })
        });
        let answer = decided.bridged;
        PendingAnswer {
            agent: self.agent,
            foreign_event: self.foreign_request.foreign_event(),
            answer,
            persistence,
        }
    }

    /// Returns the answer with notices for its user, if there are any and the agent can show them:
    /// of hooks that are not trusted, that run from copies since they changed, and of guards that
    /// check nothing any more; also the texts by which a session knows them again.
    fn answer_with_notices(
        &self,
        system: &HookSystem,
        response: &HookExecutionResponse,
        unknown: Option<&str>,
        plain: &BridgeAnswer,
    ) -> Option<(BridgeAnswer, Vec<String>)> {
        let registry = system.registry().ok();
        let lost: Vec<String> = registry
            .iter()
            .flat_map(|registry| {
                let lost = registry.lost_registrations(response.event);
                lost.into_iter().chain(registry.lost_guards().iter().cloned())
            })
            .collect();
        let (mut notices, mut shown) = (Vec::new(), Vec::new());
        for warning in &response.processed.warnings {
            let notice = match () {
                // Each hook has this one; it is about their folder.
                () if warning.contains(CHANGED_SINCE_TRUSTED) => CHANGED_SINCE_TRUSTED,
                // A hook that writes there does so at each run.
                () if warning.contains(REMOVED_FROM_COPY) => REMOVED_FROM_COPY,
                () if warning.contains(NOT_TRUSTED) || lost.contains(warning) => warning,
                () => continue,
            };
            if !notices.iter().any(|known| known == notice) {
                notices.push(notice.to_owned());
                shown.push(warning.as_str());
            }
        }
        if shown.is_empty() || self.session().is_empty() {
            return None;
        }
        let with_notices = self.answer_for_user(response, unknown, &shown).bridged;
        let is_shown =
            with_notices.output != plain.output && with_notices.warnings == plain.warnings;
        is_shown.then_some((with_notices, notices))
    }

    /// Returns the agent's answer, with the missing guards and notices for the user.
    fn answer_for_user(
        &self,
        response: &HookExecutionResponse,
        unknown: Option<&str>,
        notices: &[&str],
    ) -> DecidedAnswer {
        let unrun_warnings = warnings_of_unrun(response);
        let messages_iter =
            unrun_warnings.iter().map(String::as_str).chain(notices.iter().copied());
        let messages: Vec<&str> = messages_iter.collect();
        let mut answer = self.decided_answer(response, &messages, unknown);
        let output = &mut answer.bridged.output;
        let mut warnings: Vec<String> = response.processed.warnings.clone();
        // That a hook did not run says what its failure says, and more.
        warnings.retain(|warning| !is_said_by_unrun(response, warning));
        warnings.extend(unrun_warnings);
        let title = self.agent.title();
        // An unknown event has no hooks.
        let failure =
            response.error().filter(|failure| failure.code != FailureCode::UnsupportedEvent);
        if let Some(failure) = failure {
            warnings.push(format!("hooks were not asked: {failure}"));
        }
        warnings.extend(output.lost.drain(..).map(|lost| format!("{title} ignores {lost}")));
        let decision = response.processed.decision;
        if output.stdout.is_empty() && output.code == 0 && decision > PolicyDecision::Proceed {
            answer.decision = PolicyDecision::Proceed;
            warnings.push(format!(
                "hooks said {} on {}, which {} cannot be told there: {}",
                decision.as_str(),
                self.foreign_request.foreign_event(),
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
        let counts = input.event().is_turn_end()
            && !self.agent.counts_continuations()
            && !self.session().is_empty();
        let is_continuation =
            self.foreign_request.input().get("stop_hook_active").and_then(RawJson::to_bool)
                == Some(true);
        counts.then_some(TurnEnd {
            is_continuation,
            wants_continuation: response.processed.decision == PolicyDecision::Block,
        })
    }

    fn session(&self) -> &str {
        let session = self.input.as_ref().and_then(|input| input.base.session_id.as_deref());
        session.unwrap_or_default()
    }

    /// Returns the log entry of the call.
    fn call(
        &self,
        decided: &DecidedAnswer,
        project: &Path,
        state: &BridgeState,
        redaction: &Redaction,
    ) -> Call {
        let redacted = |text: &str| shortened(&redaction.text(text));
        let payload = self.input.as_ref().map(|input| &input.payload);
        let arguments = payload.and_then(|payload| payload.tool_input());
        let fields = arguments.map(RawObject::fields).unwrap_or_default();
        let subject_fields = ["command", "file_path", "url", "pattern"];
        let mut subject_fields = subject_fields.iter().filter(|name| !redaction.is_field(name));
        let subject = subject_fields.find_map(|name| fields.get(name)?.to_text());
        let prompt = || {
            let prompt = self.foreign_request.input().get("prompt")?.to_text();
            prompt.filter(|_| !redaction.is_field("prompt"))
        };
        Call {
            agent: self.agent.name(),
            event: self.foreign_request.foreign_event().to_owned(),
            session: redacted(self.session()),
            project: project.to_string_lossy().into_owned(),
            answered_by: if state.is_server() { "server" } else { "bridge" },
            tool: arguments.and_then(|_| payload?.match_subject()).map(redacted),
            subject: subject.or_else(prompt).as_deref().map(redacted),
            decision: decided.decision.as_str(),
            reason: decided.reason.as_deref().map(|reason| redaction.text(reason).into_owned()),
            milliseconds: u64::try_from(self.started_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the agent's answer; `of_engine` are texts for the user only.
    fn decided_answer(
        &self,
        response: &HookExecutionResponse,
        engine_messages: &[&str],
        unknown: Option<&str>,
    ) -> DecidedAnswer {
        let foreign_event = self.foreign_request.foreign_event();
        let processed = &response.processed;
        let merged = processed.to_output();
        let tool_input = self.input.as_ref().and_then(|input| {
            let original = input.payload.tool_input()?;
            let changed = processed.changed_tool_input(original)?;
            let tool = input.payload.match_subject()?;
            let original_input = &input.original.as_deref()?.message;
            (changed != *original)
                .then(|| self.agent.arguments(foreign_event, tool, &changed, original_input))
        });
        // Outputs of events that only observe are not merged, but their messages are shown.
        let outputs = &processed.aggregated.all_outputs;
        let observed = outputs.iter().filter_map(|output| output.system_message.as_deref());
        let observed = observed.filter(|_| merged.is_none());
        let message = processed.system_message.as_deref();
        let messages = message.into_iter().chain(observed.filter(|_| message.is_none()));
        let message_list: Vec<&str> = messages.chain(engine_messages.iter().copied()).collect();
        let system_message = message_list.join("\n");
        let mut verdict = Verdict::proceed();
        // If a block has no effect (its author gets a warning), the agent must not apply it.
        let has_no_effect = processed.decision == PolicyDecision::Block
            && response.event.is_some_and(|event| event.row().block_means.is_none());
        verdict.decision = if has_no_effect { PolicyDecision::Proceed } else { processed.decision };
        verdict.reason = processed.reason.as_deref();
        verdict.allowed = HookExecutionResult::approve(&response.hooks);
        verdict.system_message = Some(&*system_message).filter(|text| !text.is_empty());
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
        let is_turn_end = response.event.is_some_and(HookEventName::is_turn_end);
        if is_turn_end && (response.error().is_some() || unknown.is_some()) {
            verdict.decision = PolicyDecision::Proceed;
            let output = self.agent.response(foreign_event, &verdict);
            return DecidedAnswer::new(output, &verdict);
        }
        // An event must not proceed if a missing guard might have blocked it.
        if verdict.decision == PolicyDecision::Proceed
            && let Some(reason) = unknown
        {
            verdict.decision = PolicyDecision::Block;
            verdict.reason = Some(reason);
        }
        // The caller may apply the rules of another agent than the one of this entry.
        let answer = |verdict: &Verdict<'_>| match self.input.is_none()
            || self.foreign_request.is_other_form()
        {
            true => self.agent.refuse(foreign_event, verdict),
            false => self.agent.response(foreign_event, verdict),
        };
        let output = answer(&verdict);
        if verdict.decision == PolicyDecision::Ask {
            let mut denial = verdict;
            denial.decision = PolicyDecision::Block;
            if answer(&denial) == output {
                // The agent asks no one, and the log says what it was told.
                verdict = denial;
            }
        }
        DecidedAnswer::new(output, &verdict)
    }
}

impl DecidedAnswer {
    fn new(output: AgentResponse, verdict: &Verdict<'_>) -> Self {
        let reason = verdict.reason.map(str::to_owned);
        let answer = BridgeAnswer { output, warnings: Vec::new() };
        Self { bridged: answer, decision: verdict.decision, reason }
    }
}

/// Returns warnings about hooks that did not run and had no effect: a guard among them has guarded
/// nothing.
fn warnings_of_unrun(response: &HookExecutionResponse) -> Vec<String> {
    let warnings = unrun_hooks(response).filter_map(|hook| {
        let reason = hook.failure.as_ref()?.not_run_reason()?;
        Some(format!("hook {} did not run: {reason}", shortened(hook.hook.display_name())))
    });
    warnings.collect()
}

/// Returns the results of hooks that blocked nothing and may not have run.
fn unrun_hooks(response: &HookExecutionResponse) -> impl Iterator<Item = &HookExecutionResult> {
    response.hooks.iter().filter(|hook| hook.decision < Some(PolicyDecision::Block))
}

/// Checks whether a warning is the failure of a hook of which it is said that it did not run.
fn is_said_by_unrun(response: &HookExecutionResponse, warning: &str) -> bool {
    unrun_hooks(response).any(|hook| {
        hook.failure.as_ref().is_some_and(|failure| {
            failure.not_run_reason().is_some()
                && hook.hook.format_warning(&failure.to_string()) == warning
        })
    })
}
