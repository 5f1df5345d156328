//! Calls of live hooks, from input to answer.

use std::sync::Arc;

use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use super::clock::{Clock, Timers};
use super::exec::{EXEC, Programs};
use super::host::{HostCall, HostCallError, HostServices, has_ui, with_ui_fallback};
use super::mailbox::{CallEvent, HostRequest, MAX_HOST_CALLS};
use super::message::{HookAnswer, ToHook};
use super::methods::{EXECUTE, is_question};
use crate::slots::SlotQueue;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::session::{CallRequest, CallSession, PendingCall, ResultSender, check_depth};
use crate::answer::{Answer, interpret_foreign_output};
use crate::executor::{
    CommandIdentity, Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run,
};
use crate::running::RunningHooks;
use crate::worker::Worker;
use hook_json::text::{escaped_lines, shortened};
use hook_json::{RawJson, RawObject, opaque_debug};
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::EventInput;
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignHook, ProcessOutput};

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
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Worker(_) => true,
            Self::Client(session) => session.is_local(),
        }
    }
}

/// A listener for failed calls.
pub type FailureListener = Arc<dyn Fn(&HookFailure) + Send + Sync>;

/// The maximum length of a reported failure in messages, in bytes.
const MAX_SHOWN_FAILURE: usize = 4 * 1024;

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
    foreign: Option<Arc<ForeignHook>>,
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
        foreign: Option<Arc<ForeignHook>>,
        session: CallTarget,
        running: &Arc<RunningHooks>,
        programs: Option<Arc<Programs>>,
    ) -> Self {
        let event_name = foreign.as_ref().map_or(event.as_str(), |foreign| &foreign.event);
        Self {
            hook: Arc::new(LiveHook {
                label: label.to_owned(),
                id: id.into(),
                event: event_name.into(),
                foreign,
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

opaque_debug!(LiveExecutor);

impl HookExecutor for LiveExecutor {
    fn kind(&self) -> HookKind {
        match &self.hook.session {
            CallTarget::Worker(worker) => worker.kind(),
            CallTarget::Client(_) => HookKind::Registered,
        }
    }

    fn foreign(&self) -> Option<&ForeignHook> {
        self.hook.foreign.as_deref()
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
            _ => self.hook.slots(),
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
            if let (Some(listener), Some(failure), None) =
                (on_failure, &run.answer.failure, &run.answer.output)
            {
                // A cancellation is no news to the caller.
                if !matches!(failure, HookFailure::Cancelled) {
                    listener(failure);
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
struct FinishedRequest {
    is_question: bool,
    /// The hook's own id, if the request can be cancelled.
    id: Option<RawJson>,
}

impl LiveHook {
    /// Returns the slots for calls to the recipient.
    fn slots(&self) -> &Arc<SlotQueue> {
        match &self.session {
            CallTarget::Worker(worker) => worker.slots(),
            CallTarget::Client(session) => session.slots(),
        }
    }

    async fn run(&self, call: HookCall) -> Run {
        let CallTarget::Worker(worker) = &self.session else {
            return self.call_session(call).await;
        };
        let before = worker.stderr_length();
        let mut run = self.call_session(call).await;
        // Includes output of other calls at that time; the worker does not say which one it is for.
        run.process.stderr = worker.stderr_since(before);
        run.process.worker = worker.history();
        run
    }

    async fn call_session(&self, call: HookCall) -> Run {
        let mut clock = Clock::new(call.timeout, &self.timers);
        let deadline = clock.deadline();
        let payload = match &self.foreign {
            Some(foreign) => match foreign.language.foreign_input(foreign, &call.input) {
                Some(payload) => payload,
                // Its agent has no such event.
                None => return Answer::of_handler(call.input.event(), None).into(),
            },
            None => call.input.to_raw(),
        };
        let sent = tokio::select! {
            biased;
            () = call.scope.cancel.cancelled() => Err(HookFailure::Cancelled),
            () = clock.expired() => Err(HookFailure::TimedOut { after: call.timeout }),
            sent = self.send(payload.clone(), &call, deadline) => sent,
        };
        let (mut pending, generation) = match sent {
            Ok(sent) => sent,
            Err(failure) => {
                let mut answer = self.failed(failure);
                if let (CallTarget::Worker(worker), Some(HookFailure::TimedOut { .. })) =
                    (&self.session, &answer.failure)
                {
                    if worker.is_starting() {
                        answer.warnings.push(NOT_READY.to_owned());
                    }
                    worker.timed_out_unread();
                }
                return answer.into();
            }
        };
        let outcome = self.wait_for_answer(&mut pending, &call, &mut clock).await;
        drop(pending);
        if let CallTarget::Worker(worker) = &self.session {
            match &outcome {
                Ok(_) => worker.answered(),
                Err(HookFailure::TimedOut { .. }) => worker.timed_out(generation),
                Err(_) => {}
            }
        }
        match outcome {
            Ok(answer) => self.read(&call, &payload, answer).into(),
            Err(failure) => self.failed(failure).into(),
        }
    }

    /// Returns the outcome of a failure, which may include an answer by its agent's rules.
    fn failed(&self, failure: HookFailure) -> Answer {
        let foreign = self.foreign.as_ref();
        let output = foreign.and_then(|foreign| foreign.language.read_failure(foreign, &failure));
        Answer { output, ..Answer::failed(failure) }
    }

    /// Sends the call, and returns it with the generation of the process that it went to.
    async fn send(
        &self,
        payload: RawObject,
        call: &HookCall,
        deadline: Instant,
    ) -> Result<(PendingCall, u64), HookFailure> {
        check_depth(&payload)?;
        let request = || CallRequest {
            hook: Arc::clone(&self.id),
            event: Arc::clone(&self.event),
            input: payload.clone(),
            session: Arc::clone(&call.input.session_id),
            correlation: call.scope.correlation.clone(),
            deadline,
            has_ui: has_ui(call.scope.host.as_ref()),
        };
        let with_host = call.scope.host.is_some() || self.programs.is_some();
        match &self.session {
            CallTarget::Client(session) => Ok((session.call(request(), with_host).await?, 0)),
            CallTarget::Worker(worker) => loop {
                let (session, generation) = worker.session().await?;
                match session.call(request(), with_host).await {
                    Ok(pending) => return Ok((pending, generation)),
                    // That process has just ended without reading the call.
                    Err(_) => worker.generation_ended(generation).await,
                }
            },
        }
    }

    /// Waits for the answer, and serves the hook's host requests meanwhile.
    async fn wait_for_answer(
        &self,
        pending: &mut PendingCall,
        call: &HookCall,
        clock: &mut Clock<'_>,
    ) -> Result<HookAnswer, HookFailure> {
        let timed_out = || HookFailure::TimedOut { after: call.timeout };
        let mut running = None;
        // During a question to the user, another call may use the slot.
        let (mut questions, mut loan) = (0_usize, None);
        // Created on demand, because most calls make no requests.
        let mut host_requests: Option<FuturesUnordered<BoxFuture<'static, FinishedRequest>>> = None;
        // The running requests, by the hook's own ids.
        let mut cancellable: Vec<(RawJson, AbortHandle)> = Vec::new();
        loop {
            let has_room =
                host_requests.as_ref().is_none_or(|requests| requests.len() < MAX_HOST_CALLS);
            let next_finished = async {
                match &mut host_requests {
                    Some(requests) => requests.next().await,
                    None => None,
                }
            };
            tokio::select! {
                biased;
                // An answer that has arrived by now counts.
                () = call.scope.cancel.cancelled() => {
                    return pending.try_answer().unwrap_or(Err(HookFailure::Cancelled));
                }
                () = clock.expired() => {
                    // If both happened while the engine was delayed, the hook was in time.
                    return pending.try_answer().unwrap_or_else(|| Err(timed_out()));
                }
                Some(finished) = next_finished => {
                    if finished.is_question {
                        clock.resume();
                        questions = questions.saturating_sub(1);
                        loan = loan.filter(|_| questions > 0);
                    }
                    cancellable.retain(|(id, _)| Some(id) != finished.id.as_ref());
                }
                event = pending.next_event(has_room) => {
                    let request = match event {
                        CallEvent::Answered(answer) => return answer,
                        CallEvent::HostRequest(request) => request,
                    };
                    let host_requests = host_requests.get_or_insert_default();
                    if request.method == CANCEL {
                        let is_done = cancel(&mut cancellable, &request.params);
                        host_requests.push(reply(pending.result_sender(), request, Ok(RawJson::from_bool(is_done))));
                        continue;
                    }
                    let (handle, registration) = AbortHandle::new_pair();
                    let request_id = request.id.clone();
                    if let (EXEC, Some(programs)) = (&*request.method, &self.programs) {
                        let running = execute(pending.result_sender(), programs, request, call.scope.depth);
                        let running = Abortable::new(running, registration);
                        host_requests.push(until_cancelled(running, request_id.clone(), false));
                        cancellable.push((request_id, handle));
                        continue;
                    }
                    let Some(host) = &call.scope.host else {
                        host_requests.push(refuse(pending.result_sender(), request));
                        continue;
                    };
                    let running = running.get_or_insert_with(|| {
                        self.running.enter(None, call.scope.depth)
                    });
                    let HostRequest { id, method, params, permit } = request;
                    let is_question = is_question(&method);
                    if is_question {
                        clock.pause();
                        questions += 1;
                        loan = loan.or_else(|| self.slots().lend(call.scope.depth));
                    }
                    let params = match &self.foreign {
                        Some(foreign) if method == EXECUTE => with_host_names(foreign, &call.input, params),
                        _ => params,
                    };
                    let call = HostCall {
                        method,
                        params,
                        hook: Arc::clone(&self.id),
                        correlation: call.scope.correlation.clone(),
                        run_token: running.token().to_owned(),
                    };
                    let host_reply = HostReply { sender: pending.result_sender(), id, permit };
                    let cancellable_reply = Abortable::new(call_host(host, host_reply, call), registration);
                    host_requests.push(until_cancelled(cancellable_reply, request_id.clone(), is_question));
                    cancellable.push((request_id, handle));
                }
            }
        }
    }

    /// Interprets the answer of a hook.
    fn read(&self, call: &HookCall, payload: &RawObject, answer: HookAnswer) -> Answer {
        let event = call.input.event();
        match (answer, &self.foreign) {
            (HookAnswer::Nothing, _) => Answer::of_handler(event, None),
            (HookAnswer::Error(message), _) => {
                let message =
                    escaped_lines(message.get(..shown_length(&message)).unwrap_or_default());
                self.failed(HookFailure::Reported { message })
            }
            // The short form is the protocol's own, except for agents that use it themselves.
            (HookAnswer::Action(object), Some(foreign))
                if !foreign.language.answers_by_action() =>
            {
                interpret_action(event, &object)
            }
            (HookAnswer::Output(object) | HookAnswer::Action(object), Some(foreign)) => {
                let ended = ProcessOutput { code: Some(0), stdout: object.as_str(), stderr: "" };
                interpret_foreign_output(foreign, &call.input, payload, &ended)
            }
            (HookAnswer::Output(object), None) | (HookAnswer::Native(object), _) => {
                Answer::of_object(event, &object)
            }
            (HookAnswer::Action(object), None) => interpret_action(event, &object),
        }
    }
}

/// Interprets an answer by an action.
fn interpret_action(event: HookEventName, action: &RawObject) -> Answer {
    match convert_action(action) {
        Ok(object) => Answer::of_object(event, &object),
        Err(problem) => Answer::failed(HookFailure::InvalidAnswer(problem)),
    }
}

/// The reply to a request, until the hook has got it.
struct HostReply {
    sender: ResultSender,
    id: RawJson,
    permit: OwnedSemaphorePermit,
}

impl HostReply {
    /// Sends the outcome to the hook, once there is buffer space.
    async fn send(self, outcome: Result<RawJson, HostCallError>) {
        let Self { sender, id, permit } = self;
        drop(permit);
        sender.send(ToHook::HostResult { id, outcome }).await;
    }
}

/// Replaces the tool and argument names of `tool.execute` by the host's.
fn with_host_names(foreign: &ForeignHook, input: &EventInput, params: RawJson) -> RawJson {
    let Ok(mut fields) = params.to_object() else { return params };
    let Some(name) = fields.get("tool").and_then(RawJson::to_text) else { return params };
    let arguments = fields.get("args").cloned().map(RawObject::try_from).and_then(Result::ok);
    let given = arguments.clone().unwrap_or_else(RawObject::empty);
    let (name, host_arguments) = foreign.language.host_tool(foreign, input, &name, &given);
    fields.insert("tool", RawJson::from_text(&name));
    if arguments.is_some() {
        fields.insert("args", host_arguments);
    }
    fields.to_raw().into()
}

/// Responds to a request of a hook whose caller has no host services.
fn refuse(sender: ResultSender, request: HostRequest) -> BoxFuture<'static, FinishedRequest> {
    let outcome =
        with_ui_fallback(&request.method, Err(HostCallError::unsupported(&request.method)));
    reply(sender, request, outcome)
}

/// Cancels a request of a hook; returns `false` if there is none with that id.
fn cancel(cancellable: &mut Vec<(RawJson, AbortHandle)>, params: &RawJson) -> bool {
    let id = params.to_object().ok().and_then(|params| params.get("hostCallId").cloned());
    let index = cancellable.iter().position(|(known, _)| id.as_ref().is_some_and(|id| id == known));
    let Some((_, handle)) = index.map(|index| cancellable.swap_remove(index)) else { return false };
    handle.abort();
    true
}

/// Runs a request until its end or cancellation.
fn until_cancelled(
    request: Abortable<BoxFuture<'static, ()>>,
    id: RawJson,
    is_question: bool,
) -> BoxFuture<'static, FinishedRequest> {
    async move {
        // A cancelled request gets no reply.
        let _ = request.await;
        FinishedRequest { is_question, id: Some(id) }
    }
    .boxed()
}

/// Responds with an outcome that is already known.
fn reply(
    speaker: ResultSender,
    request: HostRequest,
    outcome: Result<RawJson, HostCallError>,
) -> BoxFuture<'static, FinishedRequest> {
    let HostRequest { id, permit, .. } = request;
    async move {
        HostReply { sender: speaker, id, permit }.send(outcome).await;
        FinishedRequest { is_question: false, id: None }
    }
    .boxed()
}

/// Runs a program for a hook.
fn execute(
    speaker: ResultSender,
    programs: &Arc<Programs>,
    request: HostRequest,
    depth: u32,
) -> BoxFuture<'static, ()> {
    let HostRequest { id, params, permit, .. } = request;
    let run = Arc::clone(programs).run(params, depth);
    async move {
        let outcome = run.await;
        HostReply { sender: speaker, id, permit }.send(outcome).await;
    }
    .boxed()
}

/// Returns the length of a message's shown part.
fn shown_length(message: &str) -> usize {
    let mut end = message.len().min(MAX_SHOWN_FAILURE);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn call_host(
    host: &Arc<dyn HostServices>,
    reply: HostReply,
    call: HostCall,
) -> BoxFuture<'static, ()> {
    let method = call.method.clone();
    let host_call = host.call(call);
    async move {
        let outcome = with_ui_fallback(&method, host_call.await);
        reply.send(outcome).await;
    }
    .boxed()
}

/// Converts an answer by an action to a regular one.
fn convert_action(action_answer: &RawObject) -> Result<RawObject, InvalidAnswer> {
    const KNOWN: &str =
        "answer `continue`, `block`, `retry` or `skip`, or give the whole answer in `output`";
    let fields = action_answer.fields();
    let reason = fields.get("reason").filter(|reason| !reason.is_null());
    let action = fields.get("action").and_then(RawJson::to_text);
    let unknown = fields
        .iter()
        .find(|(name, value)| !matches!(*name, "action" | "reason" | "delay") && !value.is_null());
    if let Some((name, _)) = unknown {
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
