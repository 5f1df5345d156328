//! Calls of live hooks, from input to answer.

use std::fmt;
use std::sync::Arc;

use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use super::clock::{Clock, Timers};
use super::exec::{EXEC, Programs};
use super::host::{HostCall, HostCallError, HostServices, has_ui, settled};
use super::mailbox::{AskedOfHost, Happened, MAX_HOST_CALLS};
use super::message::{Said, ToHook};
use super::methods::{EXECUTE, is_question};
use crate::slots::SlotQueue;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::session::{CallSession, Pending, Speaker, Telling};
use crate::answer::{Answer, answer_at_home};
use crate::executor::{
    CommandIdentity, Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run,
};
use crate::running::RunningHooks;
use crate::worker::Worker;
use hook_json::text::{lines, shortened};
use hook_json::{RawJson, RawObject};
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::EventInput;
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignHook};

/// The recipient of a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CallTarget {
    /// A process of the engine, started when needed.
    Worker(Arc<Worker>),
    /// A client.
    Client(CallSession),
}

impl CallTarget {
    /// Returns `true` if the hook runs on this machine, as this user.
    pub(crate) fn is_near(&self) -> bool {
        match self {
            Self::Worker(_) => true,
            Self::Client(session) => session.is_near(),
        }
    }
}

/// A listener for failed calls.
pub type FailureListener = Arc<dyn Fn(&HookFailure) + Send + Sync>;

/// The maximum length of a reported failure in messages, in bytes.
const SHOWN: usize = 4 * 1024;

/// The likely cause of a timeout during a worker's start.
const NOT_READY: &str = "the worker had not yet said that it is ready (`hook-worker`)";

/// Runs a live hook.
pub(crate) struct LiveExecutor {
    hook: Arc<LiveHook>,
    on_failure: Option<FailureListener>,
}

struct LiveHook {
    /// The display name.
    label: String,
    /// The hook's id in the session.
    id: Arc<str>,
    event: Arc<str>,
    /// The foreign hook whose formats it uses, if it is one.
    home: Option<Arc<ForeignHook>>,
    session: CallTarget,
    running: Arc<RunningHooks>,
    timers: Timers,
    /// The programs that the hook may have the engine run; `None` for a remote one.
    programs: Option<Arc<Programs>>,
}

impl LiveExecutor {
    pub(crate) fn new(
        label: &str,
        id: &str,
        event: HookEventName,
        home: Option<Arc<ForeignHook>>,
        session: CallTarget,
        running: &Arc<RunningHooks>,
        programs: Option<Arc<Programs>>,
    ) -> Self {
        let word = home.as_ref().map_or(event.as_str(), |home| &home.event);
        Self {
            hook: Arc::new(LiveHook {
                label: label.to_owned(),
                id: id.into(),
                event: word.into(),
                home,
                session,
                running: Arc::clone(running),
                timers: Timers::default(),
                programs,
            }),
            on_failure: None,
        }
    }

    /// Adds a listener for failed calls that result in no answer.
    pub(crate) fn on_failure(self, on_failure: Option<FailureListener>) -> Self {
        Self { on_failure, ..self }
    }
}

impl fmt::Debug for LiveExecutor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("LiveExecutor").field(&self.hook.label).finish()
    }
}

impl HookExecutor for LiveExecutor {
    fn kind(&self) -> HookKind {
        match &self.hook.session {
            CallTarget::Worker(worker) => worker.kind(),
            CallTarget::Client(_) => HookKind::Registered,
        }
    }

    fn home(&self) -> Option<&ForeignHook> {
        self.hook.home.as_deref()
    }

    fn label(&self) -> &str {
        &self.hook.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Called
    }

    fn permits(&self) -> Permits<'_> {
        Permits::Session(match &self.hook.session {
            // There is no wait for a slot of a disconnected client.
            CallTarget::Client(session) if !session.is_connected() => return Permits::None,
            _ => self.hook.places(),
        })
    }

    fn identity(&self) -> Option<CommandIdentity<'_>> {
        match &self.hook.session {
            CallTarget::Worker(worker) => Some(worker.identity()),
            CallTarget::Client(_) => None,
        }
    }

    fn worker(&self) -> Option<&Arc<Worker>> {
        match &self.hook.session {
            CallTarget::Worker(worker) => Some(worker),
            CallTarget::Client(_) => None,
        }
    }

    fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        match &self.hook.session {
            CallTarget::Worker(worker) => worker.check_depth(depth),
            CallTarget::Client(_) => crate::nesting::check(depth.saturating_add(1)),
        }
    }

    fn execute(&self, call: HookCall) -> Execution {
        let (hook, on_failure) = (Arc::clone(&self.hook), self.on_failure.clone());
        let running = async move {
            let run = hook.run(call).await;
            if let (Some(told), Some(failure), None) =
                (on_failure, &run.answer.failure, &run.answer.output)
            {
                // A cancellation is no news to the caller.
                if !matches!(failure, HookFailure::Cancelled) {
                    told(failure);
                }
            }
            run
        };
        Execution::Running(running.boxed())
    }
}

/// The method with which a hook cancels an earlier request.
const CANCEL: &str = "cancel";

/// The end of a request to the host.
struct Hosted {
    is_question: bool,
    /// The hook's own id, if the request can be cancelled.
    id: Option<RawJson>,
}

impl LiveHook {
    /// Returns the slots for calls to the recipient.
    fn places(&self) -> &Arc<SlotQueue> {
        match &self.session {
            CallTarget::Worker(worker) => worker.places(),
            CallTarget::Client(session) => session.places(),
        }
    }

    async fn run(&self, call: HookCall) -> Run {
        let CallTarget::Worker(worker) = &self.session else { return self.asked(call).await };
        let before = worker.errors_so_far();
        let mut run = self.asked(call).await;
        // Includes output of other calls at that time; the worker does not say which one it is for.
        run.process.stderr = worker.errors_since(before);
        run.process.worker = worker.history();
        run
    }

    async fn asked(&self, call: HookCall) -> Run {
        let mut clock = Clock::new(call.timeout, &self.timers);
        let deadline = clock.deadline();
        let told = match &self.home {
            Some(home) => match home.language.told(home, &call.input) {
                Some(told) => told,
                // Its agent has no such event.
                None => return Answer::of_handler(call.input.event(), None).into(),
            },
            None => call.input.to_raw(),
        };
        let sent = tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(HookFailure::Cancelled),
            () = clock.expired() => Err(HookFailure::TimedOut { after: call.timeout }),
            sent = self.send(told.clone(), &call, deadline) => sent,
        };
        let (mut pending, life) = match sent {
            Ok(sent) => sent,
            Err(failure) => {
                let mut answer = self.failed(failure);
                if let (CallTarget::Worker(worker), Some(HookFailure::TimedOut { .. })) =
                    (&self.session, &answer.failure)
                {
                    if worker.is_starting() {
                        answer.warnings.push(NOT_READY.to_owned());
                    }
                    worker.not_taken();
                }
                return answer.into();
            }
        };
        let answered = self.converse(&mut pending, &call, &mut clock).await;
        drop(pending);
        if let CallTarget::Worker(worker) = &self.session {
            match &answered {
                Ok(_) => worker.answered(),
                Err(HookFailure::TimedOut { .. }) => worker.timed_out(life),
                Err(_) => {}
            }
        }
        match answered {
            Ok(said) => self.read(&call, &told, said).into(),
            Err(failure) => self.failed(failure).into(),
        }
    }

    /// Returns the outcome of a failure, which may include an answer by its agent's rules.
    fn failed(&self, failure: HookFailure) -> Answer {
        let home = self.home.as_ref();
        let output = home.and_then(|home| home.language.failed(home, &failure));
        Answer { output, ..Answer::failed(failure) }
    }

    /// Sends the call, and returns it with the generation of the process that it went to.
    async fn send(
        &self,
        told: RawObject,
        call: &HookCall,
        deadline: Instant,
    ) -> Result<(Pending, u64), HookFailure> {
        let telling = || Telling {
            hook: Arc::clone(&self.id),
            event: Arc::clone(&self.event),
            input: told.clone(),
            session: Arc::clone(&call.input.session_id),
            correlation: call.correlation.clone(),
            deadline,
            has_ui: has_ui(call.host.as_ref()),
        };
        let with_host = call.host.is_some() || self.programs.is_some();
        match &self.session {
            CallTarget::Client(session) => Ok((session.call(telling(), with_host).await?, 0)),
            CallTarget::Worker(worker) => loop {
                let (session, life) = worker.session().await?;
                match session.call(telling(), with_host).await {
                    Ok(pending) => return Ok((pending, life)),
                    // That process has just ended without reading the call.
                    Err(_) => worker.over(life).await,
                }
            },
        }
    }

    /// Waits for the answer, and serves the hook's host requests meanwhile.
    async fn converse(
        &self,
        pending: &mut Pending,
        call: &HookCall,
        clock: &mut Clock<'_>,
    ) -> Result<Said, HookFailure> {
        let timed_out = || HookFailure::TimedOut { after: call.timeout };
        let mut running = None;
        // During a question to the user, another call may use the slot.
        let (mut questions, mut lent) = (0_usize, None);
        // Created on demand, because most calls make no requests.
        let mut hosted: Option<FuturesUnordered<BoxFuture<'static, Hosted>>> = None;
        // The running requests, by the hook's own ids.
        let mut asking: Vec<(RawJson, AbortHandle)> = Vec::new();
        loop {
            let may_ask = hosted.as_ref().is_none_or(|hosted| hosted.len() < MAX_HOST_CALLS);
            let done = async {
                match &mut hosted {
                    Some(hosted) => hosted.next().await,
                    None => None,
                }
            };
            tokio::select! {
                biased;
                // An answer that has arrived by now counts.
                () = call.cancel.cancelled() => {
                    return pending.try_answer().unwrap_or(Err(HookFailure::Cancelled));
                }
                () = clock.expired() => {
                    // If both happened while the engine was delayed, the hook was in time.
                    return pending.try_answer().unwrap_or_else(|| Err(timed_out()));
                }
                Some(done) = done => {
                    if done.is_question {
                        clock.resume();
                        questions = questions.saturating_sub(1);
                        lent = lent.filter(|_| questions > 0);
                    }
                    asking.retain(|(id, _)| Some(id) != done.id.as_ref());
                }
                happened = pending.happened(may_ask) => {
                    let asked = match happened {
                        Happened::Answered(said) => return said,
                        Happened::AskedOfHost(asked) => asked,
                    };
                    let hosted = hosted.get_or_insert_default();
                    if asked.method == CANCEL {
                        let is_done = cancel(&mut asking, &asked.params);
                        hosted.push(tell(pending.speaker(), asked, Ok(RawJson::from_bool(is_done))));
                        continue;
                    }
                    let (handle, registration) = AbortHandle::new_pair();
                    let known = asked.id.clone();
                    if let (EXEC, Some(programs)) = (&*asked.method, &self.programs) {
                        let running = execute(pending.speaker(), programs, asked, call.depth);
                        let running = Abortable::new(running, registration);
                        hosted.push(until_cancelled(running, known.clone(), false));
                        asking.push((known, handle));
                        continue;
                    }
                    let Some(host) = &call.host else {
                        hosted.push(refuse(pending.speaker(), asked));
                        continue;
                    };
                    let running = running.get_or_insert_with(|| {
                        self.running.enter(None, call.depth)
                    });
                    let AskedOfHost { id, method, params, held } = asked;
                    let is_question = is_question(&method);
                    if is_question {
                        clock.pause();
                        questions += 1;
                        lent = lent.or_else(|| self.places().lend(call.depth));
                    }
                    let params = match &self.home {
                        Some(home) if method == EXECUTE => by_host_names(home, &call.input, params),
                        _ => params,
                    };
                    let call = HostCall {
                        method,
                        params,
                        hook: Arc::clone(&self.id),
                        correlation: call.correlation.clone(),
                        run_token: running.token().to_owned(),
                    };
                    let asked = Asked { speaker: pending.speaker(), id, held };
                    let asked = Abortable::new(ask_host(host, asked, call), registration);
                    hosted.push(until_cancelled(asked, known.clone(), is_question));
                    asking.push((known, handle));
                }
            }
        }
    }

    /// Interprets the answer of a hook.
    fn read(&self, call: &HookCall, told: &RawObject, said: Said) -> Answer {
        let event = call.input.event();
        match (said, &self.home) {
            (Said::Nothing, _) => Answer::of_handler(event, None),
            (Said::Error(message), _) => {
                let message = lines(message.get(..end_of(&message)).unwrap_or_default());
                self.failed(HookFailure::Reported { message })
            }
            // The short form is the protocol's own, except for agents that use it themselves.
            (Said::Action(object), Some(home)) if !home.language.answers_by_action() => {
                by_words_of_ours(event, &object)
            }
            (Said::Output(object) | Said::Action(object), Some(home)) => {
                let ended = Ended { code: Some(0), stdout: object.as_str(), stderr: "" };
                answer_at_home(home, &call.input, told, &ended)
            }
            (Said::Output(object), None) | (Said::Native(object), _) => {
                Answer::of_object(event, &object)
            }
            (Said::Action(object), None) => by_words_of_ours(event, &object),
        }
    }
}

/// Interprets an answer by an action.
fn by_words_of_ours(event: HookEventName, said: &RawObject) -> Answer {
    match by_action(said) {
        Ok(object) => Answer::of_object(event, &object),
        Err(wrong) => Answer::failed(HookFailure::InvalidAnswer(wrong)),
    }
}

/// The reply to a request, until the hook has got it.
struct Asked {
    speaker: Speaker,
    id: RawJson,
    held: OwnedSemaphorePermit,
}

impl Asked {
    /// Sends the outcome to the hook, once there is buffer space.
    async fn answered(self, outcome: Result<RawJson, HostCallError>) {
        let Self { speaker, id, held } = self;
        drop(held);
        speaker.say(ToHook::HostResult { id, outcome }).await;
    }
}

/// Replaces the tool and argument names of `tool.execute` by the host's.
fn by_host_names(home: &ForeignHook, input: &EventInput, params: RawJson) -> RawJson {
    let Ok(mut fields) = params.to_object() else { return params };
    let Some(name) = fields.get("tool").and_then(RawJson::to_text) else { return params };
    let arguments = fields.get("args").cloned().map(RawObject::try_from).and_then(Result::ok);
    let given = arguments.clone().unwrap_or_else(RawObject::empty);
    let (name, named) = home.language.host_tool(home, input, &name, &given);
    fields.insert("tool", RawJson::from_text(&name));
    if arguments.is_some() {
        fields.insert("args", named);
    }
    fields.to_raw().into()
}

/// Responds to a request of a hook whose caller has no host services.
fn refuse(speaker: Speaker, asked: AskedOfHost) -> BoxFuture<'static, Hosted> {
    let outcome = settled(&asked.method, Err(HostCallError::unsupported(&asked.method)));
    tell(speaker, asked, outcome)
}

/// Cancels a request of a hook; returns `false` if there is none with that id.
fn cancel(asking: &mut Vec<(RawJson, AbortHandle)>, params: &RawJson) -> bool {
    let id = params.to_object().ok().and_then(|params| params.get("hostCallId").cloned());
    let at = asking.iter().position(|(known, _)| id.as_ref().is_some_and(|id| id == known));
    let Some((_, handle)) = at.map(|at| asking.swap_remove(at)) else { return false };
    handle.abort();
    true
}

/// Runs a request until its end or cancellation.
fn until_cancelled(
    asked: Abortable<BoxFuture<'static, ()>>,
    id: RawJson,
    is_question: bool,
) -> BoxFuture<'static, Hosted> {
    async move {
        // A cancelled request gets no reply.
        let _ = asked.await;
        Hosted { is_question, id: Some(id) }
    }
    .boxed()
}

/// Responds with an outcome that is already known.
fn tell(
    speaker: Speaker,
    asked: AskedOfHost,
    outcome: Result<RawJson, HostCallError>,
) -> BoxFuture<'static, Hosted> {
    let AskedOfHost { id, held, .. } = asked;
    async move {
        Asked { speaker, id, held }.answered(outcome).await;
        Hosted { is_question: false, id: None }
    }
    .boxed()
}

/// Runs a program for a hook.
fn execute(
    speaker: Speaker,
    programs: &Arc<Programs>,
    asked: AskedOfHost,
    depth: u32,
) -> BoxFuture<'static, ()> {
    let AskedOfHost { id, params, held, .. } = asked;
    let run = Arc::clone(programs).run(params, depth);
    async move {
        let outcome = run.await;
        Asked { speaker, id, held }.answered(outcome).await;
    }
    .boxed()
}

/// Returns the length of a message's shown part.
fn end_of(message: &str) -> usize {
    let mut end = message.len().min(SHOWN);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn ask_host(host: &Arc<dyn HostServices>, hook: Asked, call: HostCall) -> BoxFuture<'static, ()> {
    let method = call.method.clone();
    let asked = host.call(call);
    async move {
        let outcome = settled(&method, asked.await);
        hook.answered(outcome).await;
    }
    .boxed()
}

/// Converts an answer by an action to a regular one.
fn by_action(said: &RawObject) -> Result<RawObject, InvalidAnswer> {
    const KNOWN: &str =
        "answer `continue`, `block`, `retry` or `skip`, or give the whole answer in `output`";
    let fields = said.fields();
    let reason = fields.get("reason").filter(|reason| !reason.is_null());
    let action = fields.get("action").and_then(RawJson::to_text);
    let strange = fields
        .iter()
        .find(|(name, value)| !matches!(*name, "action" | "reason" | "delay") && !value.is_null());
    if let Some((name, _)) = strange {
        let message = format!("`{}` is not known beside `action`", shortened(name));
        return Err(InvalidAnswer::new(message, KNOWN.to_owned()));
    }
    let mut answer = hook_json::JsonObject::new();
    match action.as_deref() {
        Some("continue") => {}
        Some("block") => answer.insert("decision", RawJson::from_text("deny")),
        Some("retry") => {
            answer.insert("decision", RawJson::from_text("retry"));
            if let Some(delay) = fields.get("delay") {
                answer.insert("retryAfterMs", delay.clone());
            }
        }
        Some("skip") => answer.insert("skipRemaining", RawJson::from_bool(true)),
        _ => {
            let message = "`action` is none that is known".to_owned();
            return Err(InvalidAnswer::new(message, KNOWN.to_owned()));
        }
    }
    if let Some(reason) = reason {
        answer.insert("reason", reason.clone());
    }
    Ok(answer.to_raw())
}
