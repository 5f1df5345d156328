//! One call of a module's handler.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;

use super::context::HookContext;
use super::errors::ModuleFault;
use super::handler::{ModuleEvent, ModuleHandler, ModuleReturn};
use super::host_client::{CALL, CallContext, HostClient};
use crate::answer::{Answer, interpret_foreign_output};
use crate::executor::{Execution, HookCall, HookExecutor, HookKind, Run};
use crate::live::{Clock, Programs, Timers};
use crate::running::RunningHooks;
use hook_json::text::shortened;
use hook_json::{RawObject, opaque_debug};
use hook_protocol::failure::{HookFailure, panic_message};
use hook_settings::language::{ForeignHook, ProcessOutput};

/// Runs a handler of a module.
pub(crate) struct ModuleExecutor {
    hook: Arc<Handler>,
}

struct Handler {
    label: String,
    foreign: Arc<ForeignHook>,
    handler: ModuleHandler,
    running: Arc<RunningHooks>,
    programs: Arc<Programs>,
    timers: Timers,
}

impl ModuleExecutor {
    pub(crate) fn new(
        label: &str,
        foreign: &Arc<ForeignHook>,
        handler: &ModuleHandler,
        running: &Arc<RunningHooks>,
        programs: Arc<Programs>,
    ) -> Self {
        handler.module.set_programs(&programs);
        Self {
            hook: Arc::new(Handler {
                label: label.to_owned(),
                foreign: Arc::clone(foreign),
                handler: handler.clone(),
                running: Arc::clone(running),
                programs,
                timers: Timers::default(),
            }),
        }
    }
}

opaque_debug!(ModuleExecutor);

impl HookExecutor for ModuleExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Module
    }

    fn foreign(&self) -> Option<&ForeignHook> {
        Some(&self.hook.foreign)
    }

    fn label(&self) -> &str {
        &self.hook.label
    }

    fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        crate::nesting::check(depth.saturating_add(1))
    }

    fn execute(&self, call: HookCall) -> Execution {
        let hook = Arc::clone(&self.hook);
        Execution::Running(async move { hook.run(call).await }.boxed())
    }
}

impl Handler {
    async fn run(&self, call: HookCall) -> Run {
        let event = call.input.event();
        let Some(payload) = self.foreign.language.foreign_input(&self.foreign, &call.input) else {
            // Modules have no such event.
            return Answer::of_handler(event, None).into();
        };
        let running = self.running.enter(None, call.scope.depth);
        let client = HostClient::new(CallContext {
            host: call.scope.host.clone(),
            programs: Some(Arc::clone(&self.programs)),
            hook: self.label.as_str().into(),
            correlation: call.scope.correlation.clone(),
            run_token: running.token().to_owned(),
            depth: call.scope.depth,
        });
        let outcome = self.run_handler(&call, &payload, &client).await;
        drop(running);
        let mut answer = match outcome {
            Ok(Ok(answer)) => {
                let output = answer.map(|answer| answer.to_raw());
                let stdout = output.as_ref().map_or("", RawObject::as_str);
                let ended = ProcessOutput { code: Some(0), stdout, stderr: "" };
                interpret_foreign_output(&self.foreign, &call.input, &payload, &ended)
            }
            Ok(Err(source)) => self.failed(HookFailure::Handler { source: source.into() }),
            Err(failure) => self.failed(failure),
        };
        answer.warnings.extend(client.take_failures());
        // Before a tool, a failure has an output that blocks, so it needs no warning.
        if let Some(failure) = answer.failure.as_ref().filter(|_| answer.output.is_none()) {
            let error = match failure {
                HookFailure::Handler { source } => source.to_string(),
                failure => failure.to_string(),
            };
            let error = shortened(&error);
            answer.warnings.push(format!("a handler of {} failed: {error}", self.foreign.event));
            // A cancellation is no news to the caller.
            if !matches!(failure, HookFailure::Cancelled) {
                let path = self.handler.module.path().to_string();
                self.handler.errors.report(&ModuleFault::new(
                    path,
                    self.foreign.event.clone(),
                    error,
                ));
            }
        }
        answer.into()
    }

    /// Runs the handler until its end, its timeout or its cancellation.
    async fn run_handler(
        &self,
        call: &HookCall,
        payload: &RawObject,
        client: &HostClient,
    ) -> Result<ModuleReturn, HookFailure> {
        // Tasks that outlive their handler cannot make requests any more.
        let _request_guard = client.end_on_drop();
        let event = ModuleEvent::new(&self.foreign.event, payload);
        let context = HookContext::of(client.clone(), &call.input);
        // The handler may also panic before it returns its future.
        let handler = async { self.handler.call(event, context).await };
        let handler = CALL.scope(client.clone(), AssertUnwindSafe(handler).catch_unwind());
        let mut handler = std::pin::pin!(handler);
        let mut questions = client.questions();
        let mut clock = Clock::new(call.timeout, &self.timers);
        let mut is_paused = false;
        loop {
            tokio::select! {
                biased;
                result = &mut handler => {
                    return result.map_err(|panic| HookFailure::Panicked {
                        message: panic_message(panic.as_ref()),
                    });
                }
                () = call.scope.cancel.cancelled() => return Err(HookFailure::Cancelled),
                () = clock.expired() => {
                    return Err(HookFailure::TimedOut { after: call.timeout });
                }
                Ok(()) = questions.changed() => {
                    let has_questions = *questions.borrow_and_update() > 0;
                    match (is_paused, has_questions) {
                        (false, true) => clock.pause(),
                        (true, false) => clock.resume(),
                        _ => {}
                    }
                    is_paused = has_questions;
                }
            }
        }
    }

    /// Returns the outcome of a failure, which blocks before a tool.
    fn failed(&self, failure: HookFailure) -> Answer {
        let output = self.foreign.language.read_failure(&self.foreign, &failure);
        Answer { output, ..Answer::failed(failure) }
    }
}
