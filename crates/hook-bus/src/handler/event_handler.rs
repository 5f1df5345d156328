//! The handler of a hook system: the nine stages of architecture.md, "Data flow".

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use hook_core::engine::session_env;
use hook_core::{FinishedHooks, Guard, PipelineOutcome, Plan, ProcessedHookResult, StageFailure};
use hook_json::text::shortened;
use hook_json::{RawJson, opaque_debug};
use hook_protocol::{
    EventInput, FailureCode, HookEventName, HostContext, PayloadError, PolicyDecision, RequestInput,
};
use hook_run::{
    Background, HookExecutionResult, HostServices, ModuleErrors, Nesting, RunScope, RunningHooks,
    SessionEnv,
};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::bridge::state::BridgeState;
use crate::bus::{MessageBus, RequestContext, RequestHandler, Served};
use crate::handler::engine::{BuiltEngine, Engine, EngineSlot, InitializeError};
use crate::handler::in_flight::InFlight;
use crate::handler::progress::Progress;
use crate::handler::sessions::Sessions;
use crate::handler::translation::{Translation, translate};
use crate::handler::unfinished::unfinished_names;
use crate::live::workers;
use crate::log;
use crate::message::{
    Body, CorrelationId, HookExecutionRequest, HookExecutionResponse, Invalid, Named,
};

/// The handler of the hook-execution requests of a bus.
pub struct HookEventHandler {
    bus: MessageBus,
    engine: Arc<EngineSlot>,
    host: HostContext,
    /// The default time limit of a request.
    deadline: Option<Duration>,
    /// The way `async` hooks run.
    background: Background,
    /// Cancelled when a shutdown's deadline has passed.
    cancel_all: CancellationToken,
    in_flight: InFlight,
    /// The host's services, for requests without their own.
    services: Option<Arc<dyn HostServices>>,
    /// The receivers of errors of modules' handlers.
    errors: Arc<ModuleErrors>,
    /// The sessions' environments; kept over reloads.
    sessions: Arc<Sessions>,
}

opaque_debug!(HookEventHandler);

impl HookEventHandler {
    pub(crate) fn new(
        bus: MessageBus,
        engine: Arc<EngineSlot>,
        host: HostContext,
        deadline: Option<Duration>,
        background: Background,
        state: Option<BridgeState>,
        services: Option<Arc<dyn HostServices>>,
    ) -> Self {
        Self {
            bus,
            engine,
            host,
            deadline,
            background,
            cancel_all: CancellationToken::new(),
            in_flight: InFlight::default(),
            sessions: Arc::new(Sessions::with_files(state)),
            services,
            errors: Arc::default(),
        }
    }

    /// Sets the receivers of errors of modules' handlers.
    pub(crate) fn with_module_errors(self, errors: &Arc<ModuleErrors>) -> Self {
        Self { errors: Arc::clone(errors), ..self }
    }

    /// Returns the number of requests in progress.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.count()
    }

    /// Detaches from the bus: later requests are answered `no_handler`, accepted ones finish.
    /// Calling it again does nothing.
    pub(crate) fn dispose(self: &Arc<Self>) {
        self.bus.core().detach(&(Arc::clone(self) as Arc<dyn RequestHandler>));
    }

    /// Answers later requests `shutting_down`, waits for accepted ones until the deadline, then
    /// cancels their hooks and answers them `shutting_down` too.
    pub(crate) async fn shut_down(&self, deadline: Duration) {
        self.in_flight.close();
        let finished = tokio::time::timeout(deadline, self.in_flight.wait()).await;
        if finished.is_err() {
            self.cancel_all.cancel();
            self.in_flight.wait().await;
        }
    }

    /// Runs stages 1 to 4, and the others too if nothing has to be waited for.
    fn serve_with(
        &self,
        engine: &Arc<Engine>,
        request: HookExecutionRequest,
        context: &RequestContext,
    ) -> Served {
        let keeps_inputs = request.wants_inputs();
        let host = request.host_services().or(self.services.as_ref()).cloned();
        let hops = request.hops();
        let check = request.engine_check().cloned();
        let (id, body) = request.into_parts();
        let mut responder = Responder::of(engine, id);
        let mut input = match self.read(engine, body) {
            Ok(input) => input,
            Err(Rejected { event, other_event, failure }) => {
                // Of several event names, take the one with a guard: readers differ in which they
                // use.
                let guarded = other_event.filter(|event| engine.may_have_guard(*event));
                return Served::Done(responder.reject(guarded.or(event), *failure));
            }
        };
        let event = input.event();
        responder.tool = log::tool(&input);
        if engine.has_displaced_guard(event) {
            return Served::Done(responder.reject(Some(event), stale_guards(event)));
        }
        let registry = engine.pipeline.registry();
        let plan = registry.plan(&input, &self.host);
        let hash = engine.settings_hash.as_deref();
        if check.is_some_and(|check| !check.may_serve(registry, hash)) {
            return Served::Done(responder.fail(&plan, engine_rejected()));
        }
        if plan.is_empty() {
            return Served::Done(responder.complete(event, PipelineOutcome::empty_success()));
        }
        match translate(&mut input) {
            Ok(Translation::Done) => {}
            Ok(Translation::NoVisibleText) => {
                return Served::Done(responder.complete(event, PipelineOutcome::empty_success()));
            }
            Err(failure) => return Served::Done(responder.fail(&plan, failure)),
        }
        let input = input.complete(&self.host);
        let session = Arc::clone(&input.session_id);
        let scope = RunScope {
            // An inline plan finishes before anyone could cancel it.
            cancel: self.cancel_all.clone(),
            observer: Progress::observe(self.bus.core(), context.key, &responder.id),
            fairness_key: context.lane,
            depth: context.origin.depth,
            hops,
            keeps_inputs,
            background: self.background,
            // Functions take no permit and have no environment.
            nesting: Nesting::default(),
            session_env: SessionEnv::default(),
            correlation: None,
            host: None,
            is_recheck: false,
        };
        if plan.is_inline() {
            let run = engine.pipeline.run(&plan, input, &scope).now_or_never();
            let run = run.unwrap_or_else(|| {
                let message = "an inline plan did not finish at once";
                Err(StageFailure::new(FailureCode::InternalError, message))
            });
            return Served::Done(match run {
                Ok(mut outcome) => {
                    if let Some(env) = session_env(&plan, &mut outcome) {
                        // Inline hooks have no files to wait for, so nothing is lost there.
                        let warning = self.sessions.set_env_blocking(session, env);
                        outcome.processed.warnings.extend(warning);
                    }
                    responder.complete(event, outcome)
                }
                Err(failure) => responder.fail(&plan, failure),
            });
        }
        if Handle::try_current().is_err() {
            return Served::Done(responder.fail(&plan, no_runtime()));
        }
        let cancel = context.cancel.clone().unwrap_or_default();
        let correlation = Some(responder.id.as_str().into());
        let run = Run {
            engine: Arc::clone(engine),
            id: responder.id,
            tool: responder.tool,
            plan,
            input,
            scope: RunScope {
                cancel: cancel.clone(),
                nesting: Nesting::current(),
                correlation,
                host,
                ..scope
            },
            sessions: Arc::clone(&self.sessions),
            session,
            early_end: self.early_end(&cancel, context.deadline),
        };
        Served::Running { running: run.finish().boxed(), cancel }
    }

    /// Runs stages 1 to 3: envelope, route, payload.
    fn read(&self, engine: &Engine, body: Body) -> Result<Box<RequestInput>, Rejected> {
        let find_event = |name: &str| self.engine.event_in(engine, name);
        let find_guard_event = |name: &str| find_event(name).or_else(|| engine.guard_event(name));
        let Named { event_name, input } = match body {
            Body::Typed(input) => {
                let event = input.event();
                let current_event = if event.row().is_declared() {
                    find_event(event.as_str())
                } else {
                    Some(event)
                };
                if current_event != Some(event) {
                    let failure = Box::new(self.unsupported(event.as_str()));
                    // Guards of this name belong to the event that is known by it now.
                    let event =
                        current_event.or_else(|| find_guard_event(event.as_str())).or(Some(event));
                    return Err(Rejected { event, other_event: None, failure });
                }
                return match input.check() {
                    Ok(()) => Ok(input),
                    Err(error) => Err(invalid_payload(&error)),
                };
            }
            Body::Named(named) => *named,
            Body::Invalid(invalid) => {
                let Invalid { event_name, other_event_name, failure } = *invalid;
                let event = event_name.as_deref().and_then(find_guard_event);
                let other_event = other_event_name.as_deref().and_then(find_guard_event);
                return Err(Rejected { event, other_event, failure: Box::new(failure) });
            }
        };
        let Some(event) = find_event(&event_name) else {
            let failure = Box::new(self.unsupported(&event_name));
            let event = find_guard_event(&event_name);
            return Err(Rejected { event, other_event: None, failure });
        };
        RequestInput::read(event, input).map(Box::new).map_err(|error| invalid_payload(&error))
    }

    fn unsupported(&self, event_name: &str) -> StageFailure {
        let events = self.engine.events();
        let failure =
            StageFailure::new(FailureCode::UnsupportedEvent, events.unknown_message(event_name))
                .with_detail("eventName", RawJson::from_text(&shortened(event_name)));
        match events.nearest(event_name) {
            Some(nearest) => failure.with_detail("nearest", RawJson::from_text(nearest)),
            None => failure,
        }
    }

    /// Returns the default time limit of requests.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Returns the host's part of inputs.
    pub(crate) fn host(&self) -> &HostContext {
        &self.host
    }

    /// Builds the engine for the first request, and serves it.
    async fn initialize_and_serve(
        self: Arc<Self>,
        request: HookExecutionRequest,
        mut context: RequestContext,
    ) -> Box<HookExecutionResponse> {
        let (id, event) = (request.correlation_id().clone(), self.event_of(&request));
        let early_end = self.early_end(context.cancel.get_or_insert_default(), context.deadline);
        let built = tokio::select! {
            biased;
            failure = early_end.wait() => return self.failed(id, event, failure),
            built = self.engine.initialize() => built,
        };
        // One deadline covers both steps.
        context.deadline = early_end.deadline;
        let engine = match &built {
            Ok(engine) => engine,
            Err(unbuilt) => return unavailable(&built, id, event, not_initialized(&unbuilt.error)),
        };
        self.declare_and_serve(Arc::clone(engine), request, context).await
    }

    /// Lets new workers declare their hooks first, and serves the request.
    async fn declare_and_serve(
        self: Arc<Self>,
        engine: Arc<Engine>,
        request: HookExecutionRequest,
        mut context: RequestContext,
    ) -> Box<HookExecutionResponse> {
        let cancel = context.cancel.get_or_insert_default().clone();
        // Without a runtime no worker is started; placeholders of guards block.
        if workers::has_pending(&engine.pipeline) && Handle::try_current().is_ok() {
            let early_end = self.early_end(&cancel, context.deadline);
            let events = self.engine.events();
            tokio::select! {
                biased;
                failure = early_end.wait() => {
                    let (id, event) = (request.correlation_id().clone(), self.event_of(&request));
                    return self.failed(id, event, failure);
                }
                () = workers::declare(&engine.pipeline, &events, &self.errors) => {}
            }
            context.deadline = early_end.deadline;
        }
        match self.serve_with(&engine, request, &context) {
            Served::Done(response) => response,
            Served::Running { running, .. } => running.await,
        }
    }

    fn early_end(&self, cancel: &CancellationToken, deadline: Option<Instant>) -> EarlyEnd {
        let default_deadline = || self.deadline.and_then(|after| Instant::now().checked_add(after));
        EarlyEnd {
            cancel_all: self.cancel_all.clone(),
            cancel: cancel.clone(),
            deadline: deadline.or_else(default_deadline),
        }
    }
}

impl RequestHandler for HookEventHandler {
    fn accept(&self) -> Result<(), StageFailure> {
        if self.in_flight.enter() { Ok(()) } else { Err(shutting_down()) }
    }

    fn event_of(&self, request: &HookExecutionRequest) -> Option<HookEventName> {
        request.event_among(|name| self.engine.event_or_guard_event(name))
    }

    fn running_hooks(&self) -> Option<Arc<RunningHooks>> {
        let engine = self.engine.get()?.ok()?;
        Some(Arc::clone(engine.pipeline.runner().running_hooks()))
    }

    fn release(&self) {
        self.in_flight.leave();
    }

    fn serve(
        self: Arc<Self>,
        request: HookExecutionRequest,
        mut context: RequestContext,
    ) -> Served {
        let built = self.engine.get();
        match &built {
            Some(Ok(engine)) if workers::has_pending(&engine.pipeline) => {
                let cancel = context.cancel.get_or_insert_default().clone();
                let running = self.declare_and_serve(Arc::clone(engine), request, context);
                Served::Running { running: running.boxed(), cancel }
            }
            Some(Ok(engine)) => self.serve_with(engine, request, &context),
            Some(built @ Err(unbuilt)) => {
                let (id, event) = (request.correlation_id().clone(), self.event_of(&request));
                let failure = not_initialized(&unbuilt.error);
                Served::Done(unavailable(built, id, event, failure))
            }
            None => {
                let cancel = context.cancel.get_or_insert_default().clone();
                let running = self.initialize_and_serve(request, context);
                Served::Running { running: running.boxed(), cancel }
            }
        }
    }

    fn refuse(self: Arc<Self>, request: HookExecutionRequest, failure: StageFailure) -> Served {
        let (id, event) = (request.correlation_id().clone(), self.event_of(&request));
        if let Some(built) = self.engine.get() {
            return Served::Done(unavailable(&built, id, event, failure));
        }
        // Only the settings tell whether there is a guard.
        let running =
            async move { unavailable(&self.engine.initialize().await, id, event, failure) };
        Served::Running { running: running.boxed(), cancel: CancellationToken::new() }
    }

    fn failed(
        &self,
        id: CorrelationId,
        event: Option<HookEventName>,
        failure: StageFailure,
    ) -> Box<HookExecutionResponse> {
        match self.engine.get() {
            Some(built) => unavailable(&built, id, event, failure),
            // Before settings are read, only the host's own guards are known.
            None => {
                let guard = self.engine.guard_before_reading(event);
                HookExecutionResponse::unavailable(id, event, failure, guard)
            }
        }
    }
}

/// Answers a request for which no hook runs. It is blocked if there is, or may be, a guard.
fn unavailable(
    built: &BuiltEngine,
    id: CorrelationId,
    event: Option<HookEventName>,
    failure: StageFailure,
) -> Box<HookExecutionResponse> {
    let unbuilt = match built {
        Ok(engine) => return Responder::of(engine, id).reject(event, failure),
        Err(unbuilt) => unbuilt,
    };
    match &unbuilt.inert_engine {
        Some(engine) => {
            let is_incomplete = unbuilt.is_incomplete();
            Responder { is_incomplete, ..Responder::of(engine, id) }.reject(event, failure)
        }
        None => HookExecutionResponse::unavailable(id, event, failure, Some(Guard::Possible)),
    }
}

pub(super) fn shutting_down() -> StageFailure {
    let message = "the hook system is shutting down";
    StageFailure::new(FailureCode::ShuttingDown, message)
}

fn not_initialized(error: &InitializeError) -> StageFailure {
    StageFailure::new(FailureCode::PlanningFailed, error.to_string())
}

/// A request rejected before planning, with its event if known.
struct Rejected {
    event: Option<HookEventName>,
    other_event: Option<HookEventName>,
    failure: Box<StageFailure>,
}

fn invalid_payload(error: &PayloadError) -> Rejected {
    let failure = StageFailure::new(FailureCode::InvalidPayload, error.to_string())
        .with_detail("field", RawJson::from_text(error.shape().path()))
        .with_detail("expected", RawJson::from_text(error.shape().expected()));
    Rejected { event: Some(error.event()), other_event: None, failure: Box::new(failure) }
}

fn stale_guards(event: HookEventName) -> StageFailure {
    let message = format!(
        "there are guards of {event} from before it was declared as it is now; have the settings \
         read again, or declare it in the settings"
    );
    StageFailure::new(FailureCode::PlanningFailed, message)
}

/// Returns the failure of a request whose check rejected the engine.
fn engine_rejected() -> StageFailure {
    let message = "this engine may not decide the request, so its hooks are not run";
    StageFailure::new(FailureCode::NoHandler, message)
}

pub(super) fn no_runtime() -> StageFailure {
    let message = "hooks that are not inline need a tokio runtime, and there is none; call from a \
                   task, or enter the runtime first";
    StageFailure::new(FailureCode::NoRuntime, message)
}

/// Builds the responses to one request.
struct Responder<'e> {
    engine: &'e Engine,
    id: CorrelationId,
    /// The event's tool, for the log.
    tool: Option<Box<str>>,
    /// `true` if there may be hooks that the engine does not know.
    is_incomplete: bool,
}

impl<'e> Responder<'e> {
    fn of(engine: &'e Engine, id: CorrelationId) -> Self {
        Self { engine, id, tool: None, is_incomplete: false }
    }

    fn complete(
        self,
        event: HookEventName,
        outcome: PipelineOutcome,
    ) -> Box<HookExecutionResponse> {
        let mut response = Box::new(HookExecutionResponse::completed(self.id, event, outcome));
        block_for_unread_guards(self.engine, &mut response);
        let tool = self.tool.as_deref();
        log::event(event, tool, &response.correlation_id, &response.hooks, &response.processed);
        warn(self.engine, &mut response);
        response
    }

    /// Answers a request that was not planned: any hook of its event counts.
    fn reject(
        self,
        event: Option<HookEventName>,
        failure: StageFailure,
    ) -> Box<HookExecutionResponse> {
        let registry = self.engine.pipeline.registry();
        let is_invalid_payload = failure.code == FailureCode::InvalidPayload;
        let blocking = event.and_then(|event| {
            let foreign = || registry.foreign_before_tool(event).filter(|_| is_invalid_payload);
            registry.blocking_on_failure(event).or_else(foreign)
        });
        let known = blocking.as_deref().map(|hook| Guard::Known(hook.display_name()));
        let has_other = || event.is_some_and(|event| self.engine.has_displaced_guard(event));
        let guard = known.or((self.is_incomplete || has_other()).then_some(Guard::Possible));
        self.failed(event, failure, guard)
    }

    /// Answers a planned request whose hooks did not run.
    fn fail(self, plan: &Plan, failure: StageFailure) -> Box<HookExecutionResponse> {
        let guard = plan.blocking_on_failure().map(|hook| Guard::Known(hook.display_name()));
        self.failed(Some(plan.event), failure, guard)
    }

    /// Answers a request that ended before all its hooks did. Results of finished hooks still count
    /// if they forbid: a denial sticks (reference/answers.md).
    fn cut_off(
        self,
        plan: &Plan,
        mut failure: StageFailure,
        partial: PipelineOutcome,
    ) -> Box<HookExecutionResponse> {
        if let Some(names) = unfinished_names(plan, &partial.hooks, &partial.not_started) {
            failure.details.insert("unfinished", names);
        }
        let tool = self.tool.as_deref();
        log::event(plan.event, tool, &self.id, &partial.hooks, &partial.processed);
        let mut response = self.fail(plan, failure);
        response.not_started = partial.not_started;
        let hooks = partial.hooks.iter();
        response.processed.warn(hooks.flat_map(HookExecutionResult::caller_warnings));
        if partial.processed.decision > response.processed.decision {
            response.processed.adopt_decision(partial.processed);
        }
        response
    }

    fn failed(
        self,
        event: Option<HookEventName>,
        failure: StageFailure,
        guard: Option<Guard<'_>>,
    ) -> Box<HookExecutionResponse> {
        log::failure(event, &self.id, &failure);
        let processed = ProcessedHookResult::failed(failure, guard);
        let mut response = Box::new(HookExecutionResponse::failed(self.id, event, processed));
        block_for_unread_guards(self.engine, &mut response);
        warn(self.engine, &mut response);
        response
    }
}

/// Blocks an event of which guards may be missing, because settings cannot be read. Except the end of
/// a turn: a block there would make the agent continue.
fn block_for_unread_guards(engine: &Engine, response: &mut HookExecutionResponse) {
    let is_turn_end = response.event.is_some_and(HookEventName::is_turn_end);
    let processed = &mut response.processed;
    if processed.decision == PolicyDecision::Proceed
        && !is_turn_end
        && let Some(reason) = engine.unread_guards(response.event)
    {
        processed.decision = PolicyDecision::Block;
        processed.reason = Some(reason);
    }
}

/// Adds the warnings for the caller; allocates nothing if there are none.
fn warn(engine: &Engine, response: &mut HookExecutionResponse) {
    let registry = engine.pipeline.registry();
    response.processed.warn(registry.notices(response.event).map(str::to_owned));
    response.processed.warn(registry.broken_workers(response.event));
    response.processed.warn(registry.lost_registrations(response.event));
    let hooks = response.hooks.iter();
    response.processed.warn(hooks.flat_map(HookExecutionResult::caller_warnings));
}

/// The time that cancelled hooks get to return their output so far; they need hardly any.
const CANCEL_GRACE: Duration = Duration::from_secs(1);

/// A plan that must be waited for.
struct Run {
    engine: Arc<Engine>,
    id: CorrelationId,
    /// The event's tool, for the log.
    tool: Option<Box<str>>,
    plan: Arc<Plan>,
    input: EventInput,
    scope: RunScope,
    sessions: Arc<Sessions>,
    session: Arc<str>,
    early_end: EarlyEnd,
}

impl Run {
    async fn finish(mut self) -> Box<HookExecutionResponse> {
        self.scope.session_env = self.sessions.env(&self.session).await;
        let responder = Responder { tool: self.tool, ..Responder::of(&self.engine, self.id) };
        let pipeline = &self.engine.pipeline;
        let mut finished = FinishedHooks::default();
        let run = {
            let run = pipeline.run_into(&self.plan, self.input, &self.scope, &mut finished);
            let mut run = pin!(run);
            tokio::select! {
                biased;
                failure = self.early_end.wait() => {
                    // Cancelled hooks return at once, and their output so far counts if it forbids.
                    self.scope.cancel.cancel();
                    let _ = tokio::time::timeout(CANCEL_GRACE, run).await;
                    Err(failure)
                }
                run = &mut run => run,
            }
        };
        let outcome = pipeline.merge_results(&self.plan, finished);
        match (run, outcome) {
            (Ok(()), Ok(mut outcome)) => {
                if let Some(env) = session_env(&self.plan, &mut outcome) {
                    let warning = self.sessions.set_env(self.session, env).await;
                    outcome.processed.warnings.extend(warning);
                }
                responder.complete(self.plan.event, outcome)
            }
            (Err(failure), Ok(partial)) => responder.cut_off(&self.plan, failure, partial),
            (_, Err(failure)) => responder.fail(&self.plan, failure),
        }
    }
}

/// The conditions that end the wait for a request before its hooks are done.
struct EarlyEnd {
    cancel_all: CancellationToken,
    cancel: CancellationToken,
    deadline: Option<Instant>,
}

impl EarlyEnd {
    async fn wait(&self) -> StageFailure {
        tokio::select! {
            () = self.cancel_all.cancelled() => shutting_down(),
            () = self.cancel.cancelled() => {
                StageFailure::new(FailureCode::Cancelled, "the request was cancelled")
            }
            () = deadline_passed(self.deadline) => {
                let message = "the request's deadline passed before its hooks were done";
                StageFailure::new(FailureCode::DeadlineExceeded, message)
            }
        }
    }
}

pub(crate) async fn deadline_passed(deadline: Option<Instant>) {
    match deadline {
        // Without a runtime there are only inline hooks, which nothing cuts off.
        Some(deadline) if Handle::try_current().is_ok() => {
            tokio::time::sleep_until(deadline.into()).await;
        }
        _ => std::future::pending().await,
    }
}
