//! What serves the requests of a bus: the nine stages of architecture.md, "Data flow".

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use hook_core::nearest::shortened;
use hook_core::{
    EventInput, FailureCode, FinishedHooks, Hook, HookEventName, HostContext, PayloadError,
    PipelineOutcome, Plan, ProcessedHookResult, RawJson, RequestInput, RunScope, StageFailure,
};
use tokio_util::sync::CancellationToken;

use crate::bus::{MessageBus, RequestControl, RequestHandler, Served};
use crate::engine::{Engine, EngineSlot, InitializeError};
use crate::in_flight::InFlight;
use crate::log;
use crate::message::{
    Body, CorrelationId, HookExecutionRequest, HookExecutionResponse, Invalid, Named,
};
use crate::progress::Progress;
use crate::translation::translate;

/// Serves hook-execution requests from a bus.
pub struct HookEventHandler {
    bus: MessageBus,
    engine: Arc<EngineSlot>,
    host: HostContext,
    /// How long a request may take that does not say it itself.
    deadline: Option<Duration>,
    /// Cancelled when a shutdown's deadline has passed.
    ended: CancellationToken,
    in_flight: InFlight,
}

impl std::fmt::Debug for HookEventHandler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HookEventHandler")
            .field("in_flight", &self.in_flight.count())
            .finish_non_exhaustive()
    }
}

impl HookEventHandler {
    pub(crate) fn new(
        bus: MessageBus,
        engine: Arc<EngineSlot>,
        host: HostContext,
        deadline: Option<Duration>,
    ) -> Self {
        Self {
            bus,
            engine,
            host,
            deadline,
            ended: CancellationToken::new(),
            in_flight: InFlight::default(),
        }
    }

    /// How many requests wait for their hooks now.
    pub fn in_flight(&self) -> usize {
        self.in_flight.count()
    }

    /// Detaches from the bus: later requests are answered `no_handler`, accepted ones finish. A
    /// second call does nothing.
    pub fn dispose(self: &Arc<Self>) {
        self.bus.detach(&(Arc::clone(self) as Arc<dyn RequestHandler>));
    }

    /// Answers later requests `shutting_down`, waits for accepted ones until the deadline, then
    /// ends their hooks and answers them `shutting_down` too.
    pub(crate) async fn shut_down(&self, deadline: Duration) {
        self.in_flight.close();
        let finished = tokio::time::timeout(deadline, self.in_flight.wait()).await;
        if finished.is_err() {
            self.ended.cancel();
            self.in_flight.wait().await;
        }
    }

    /// Stages 1 to 4, and the rest too where it needs no waiting.
    fn serve_with(
        &self,
        engine: &Arc<Engine>,
        request: HookExecutionRequest,
        control: &RequestControl,
    ) -> Served {
        let door = Door { engine, id: request.correlation_id().clone() };
        let mut input = match read(request.into_body()) {
            Ok(input) => input,
            Err(Rejected { event, failure }) => return door.reject(event, *failure),
        };
        let event = input.event();
        let plan = engine.pipeline.plan(&input.payload);
        if plan.is_empty() {
            return Served::Done(door.complete(event, PipelineOutcome::empty_success()));
        }
        if let Err(failure) = translate(&mut input) {
            return door.fail(&plan, failure);
        }
        let observer = Progress::observe(&self.bus, control.key, &door.id, event);
        let scope = RunScope { cancel: control.cancel.clone().unwrap_or_default(), observer };
        let input = input.complete(&self.host);
        if plan.is_inline() {
            let run = engine.pipeline.run(&plan, input, &scope).now_or_never();
            let run = run.unwrap_or_else(|| {
                let message = "an inline plan did not finish at once";
                Err(StageFailure::new(FailureCode::InternalError, message))
            });
            return match run {
                Ok(outcome) => Served::Done(door.complete(event, outcome)),
                Err(failure) => door.fail(&plan, failure),
            };
        }
        let run = Run {
            engine: Arc::clone(engine),
            id: door.id,
            plan,
            input,
            scope,
            cut_off: self.cut_off(control),
        };
        Served::Running(run.finish().boxed())
    }

    /// Builds the engine first, for whoever comes first.
    async fn initialize_and_serve(
        self: Arc<Self>,
        request: HookExecutionRequest,
        mut control: RequestControl,
    ) -> Box<HookExecutionResponse> {
        let cut_off = self.cut_off(&control);
        // One deadline for the whole of it.
        control.deadline = cut_off.deadline;
        let built = tokio::select! {
            biased;
            failure = cut_off.reached() => Err(failure),
            built = self.engine.initialize() => built.map_err(|error| not_initialized(&error)),
        };
        let served = match built {
            Ok(engine) => self.serve_with(&engine, request, &control),
            Err(failure) => self.refuse(&request, failure),
        };
        match served {
            Served::Done(response) => response,
            Served::Running(running) => running.await,
        }
    }

    fn refuse(&self, request: &HookExecutionRequest, failure: StageFailure) -> Served {
        let (id, event) = (request.correlation_id().clone(), request.event());
        log::failure(event, &id, &failure);
        let processed = self.failed(event, failure);
        Served::Done(Box::new(HookExecutionResponse::failed(id, event, processed)))
    }

    fn cut_off(&self, control: &RequestControl) -> CutOff {
        let own = || self.deadline.and_then(|after| Instant::now().checked_add(after));
        CutOff {
            ended: self.ended.clone(),
            cancel: control.cancel.clone(),
            deadline: control.deadline.or_else(own),
        }
    }
}

impl RequestHandler for HookEventHandler {
    fn accept(&self) -> Result<(), StageFailure> {
        if self.in_flight.enter() { Ok(()) } else { Err(shutting_down()) }
    }

    fn release(&self) {
        self.in_flight.leave();
    }

    fn failed(&self, event: Option<HookEventName>, failure: StageFailure) -> ProcessedHookResult {
        let blocking = match (self.engine.get(), event) {
            (Some(Ok(engine)), Some(event)) => engine.pipeline.planner().blocking_on_failure(event),
            _ => None,
        };
        ProcessedHookResult::failed(failure, blocking.as_deref())
    }

    fn serve(self: Arc<Self>, request: HookExecutionRequest, control: RequestControl) -> Served {
        match self.engine.get() {
            Some(Ok(engine)) => self.serve_with(&engine, request, &control),
            Some(Err(error)) => self.refuse(&request, not_initialized(&error)),
            None => Served::Running(self.initialize_and_serve(request, control).boxed()),
        }
    }
}

fn shutting_down() -> StageFailure {
    let message = "the hook system is shutting down";
    StageFailure::new(FailureCode::ShuttingDown, message)
}

fn not_initialized(error: &InitializeError) -> StageFailure {
    StageFailure::new(FailureCode::PlanningFailed, error.to_string())
}

/// A request that stops at the door, with its event if that is known.
struct Rejected {
    event: Option<HookEventName>,
    failure: Box<StageFailure>,
}

/// Stages 1 to 3: envelope, route, payload.
fn read(body: Body) -> Result<Box<RequestInput>, Rejected> {
    let Named { event_name, input } = match body {
        Body::Typed(input) => {
            return match input.check() {
                Ok(()) => Ok(input),
                Err(error) => Err(invalid_payload(&error)),
            };
        }
        Body::Named(named) => *named,
        Body::Invalid(invalid) => {
            let Invalid { event, failure } = *invalid;
            return Err(Rejected { event, failure: Box::new(failure) });
        }
    };
    let Some(event) = HookEventName::from_name(&event_name) else {
        return Err(Rejected { event: None, failure: Box::new(unsupported(&event_name)) });
    };
    RequestInput::read(event, input).map(Box::new).map_err(|error| invalid_payload(&error))
}

fn invalid_payload(error: &PayloadError) -> Rejected {
    let failure = StageFailure::new(FailureCode::InvalidPayload, error.to_string())
        .with_detail("field", RawJson::from_text(error.shape().path()))
        .with_detail("expected", RawJson::from_text(error.shape().expected()));
    Rejected { event: Some(error.event()), failure: Box::new(failure) }
}

fn unsupported(event_name: &str) -> StageFailure {
    let hint = HookEventName::nearest(event_name);
    let meant = hint.map(|hint| format!("; did you mean {hint}?")).unwrap_or_default();
    let event_name = shortened(event_name);
    let message = format!("there is no event {event_name:?}{meant}");
    let failure = StageFailure::new(FailureCode::UnsupportedEvent, message)
        .with_detail("eventName", RawJson::from_text(&event_name));
    match hint {
        Some(hint) => failure.with_detail("nearest", RawJson::from_text(hint)),
        None => failure,
    }
}

/// Makes responses: what every one of them needs.
struct Door<'e> {
    engine: &'e Engine,
    id: CorrelationId,
}

impl Door<'_> {
    fn complete(
        &self,
        event: HookEventName,
        outcome: PipelineOutcome,
    ) -> Box<HookExecutionResponse> {
        let mut response =
            Box::new(HookExecutionResponse::completed(self.id.clone(), event, outcome));
        log::event(event, &response);
        response.warnings.extend_from_slice(self.engine.registry.unreadable());
        response
    }

    /// A request that never got to a plan: any hook of its event might have been meant.
    fn reject(&self, event: Option<HookEventName>, failure: StageFailure) -> Served {
        let planner = self.engine.pipeline.planner();
        let blocking = event.and_then(|event| planner.blocking_on_failure(event));
        Served::Done(self.failed(event, failure, blocking.as_deref()))
    }

    /// A request whose hooks are known.
    fn fail(&self, plan: &Plan, failure: StageFailure) -> Served {
        Served::Done(self.failed(Some(plan.event), failure, plan.blocking_on_failure()))
    }

    /// A request that ended before all of its hooks had. What those that were done said still
    /// counts where it forbids: a denial sticks (protocol.md §3).
    fn cut_off(
        &self,
        plan: &Plan,
        failure: StageFailure,
        partial: PipelineOutcome,
    ) -> Box<HookExecutionResponse> {
        for result in &partial.hooks {
            log::hook(plan.event, &self.id, result);
        }
        let mut response = self.failed(Some(plan.event), failure, plan.blocking_on_failure());
        if partial.processed.decision > response.processed.decision {
            response.processed.adopt_decision(partial.processed);
        }
        response
    }

    fn failed(
        &self,
        event: Option<HookEventName>,
        failure: StageFailure,
        blocking: Option<&Hook>,
    ) -> Box<HookExecutionResponse> {
        log::failure(event, &self.id, &failure);
        let processed = ProcessedHookResult::failed(failure, blocking);
        let mut response =
            Box::new(HookExecutionResponse::failed(self.id.clone(), event, processed));
        response.warnings.extend_from_slice(self.engine.registry.unreadable());
        response
    }
}

/// A plan that must be waited for.
struct Run {
    engine: Arc<Engine>,
    id: CorrelationId,
    plan: Arc<Plan>,
    input: EventInput,
    scope: RunScope,
    cut_off: CutOff,
}

impl Run {
    async fn finish(self) -> Box<HookExecutionResponse> {
        let door = Door { engine: &self.engine, id: self.id };
        let pipeline = &self.engine.pipeline;
        let mut finished = FinishedHooks::default();
        // Whichever is first drops the other, and a run that is dropped ends its hooks. Being cut
        // off goes first: hooks that were cancelled with their request are no result.
        let run = tokio::select! {
            biased;
            failure = self.cut_off.reached() => Err(failure),
            run = pipeline.run_into(&self.plan, self.input, &self.scope, &mut finished) => run,
        };
        let outcome = pipeline.settle(&self.plan, finished);
        match (run, outcome) {
            (Ok(()), Ok(outcome)) => door.complete(self.plan.event, outcome),
            (Err(failure), Ok(partial)) => door.cut_off(&self.plan, failure, partial),
            (_, Err(failure)) => {
                let blocking = self.plan.blocking_on_failure();
                door.failed(Some(self.plan.event), failure, blocking)
            }
        }
    }
}

/// What may end the wait for a request before its hooks are done.
struct CutOff {
    ended: CancellationToken,
    cancel: Option<CancellationToken>,
    deadline: Option<Instant>,
}

impl CutOff {
    async fn reached(&self) -> StageFailure {
        tokio::select! {
            () = self.ended.cancelled() => shutting_down(),
            () = cancelled(self.cancel.as_ref()) => {
                StageFailure::new(FailureCode::Cancelled, "the request was cancelled")
            }
            () = passed(self.deadline) => {
                let message = "the request's deadline passed before its hooks were done";
                StageFailure::new(FailureCode::DeadlineExceeded, message)
            }
        }
    }
}

async fn cancelled(cancel: Option<&CancellationToken>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
    }
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
