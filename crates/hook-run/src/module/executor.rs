//! One call of a module's handler.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;

use super::asker::{AskedFor, Asker, CALL};
use super::context::HookContext;
use super::errors::ModuleFault;
use super::handler::{ModuleEvent, ModuleHandler, ModuleReturn};
use crate::answer::{Answer, answer_at_home};
use crate::executor::{Execution, HookCall, HookExecutor, HookKind, Run};
use crate::live::{Clock, Programs, Timers};
use crate::running::RunningHooks;
use hook_json::RawObject;
use hook_json::text::shortened;
use hook_protocol::failure::{HookFailure, panic_message};
use hook_settings::language::{Ended, ForeignHook};

/// Runs a handler of a module.
pub(crate) struct ModuleExecutor {
    hook: Arc<Handler>,
}

struct Handler {
    label: String,
    home: Arc<ForeignHook>,
    handler: ModuleHandler,
    running: Arc<RunningHooks>,
    programs: Arc<Programs>,
    timers: Timers,
}

impl ModuleExecutor {
    pub(crate) fn new(
        label: &str,
        home: &Arc<ForeignHook>,
        handler: &ModuleHandler,
        running: &Arc<RunningHooks>,
        programs: Arc<Programs>,
    ) -> Self {
        handler.module.runs_programs_by(&programs);
        Self {
            hook: Arc::new(Handler {
                label: label.to_owned(),
                home: Arc::clone(home),
                handler: handler.clone(),
                running: Arc::clone(running),
                programs,
                timers: Timers::default(),
            }),
        }
    }
}

impl fmt::Debug for ModuleExecutor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ModuleExecutor").field(&self.hook.label).finish()
    }
}

impl HookExecutor for ModuleExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Module
    }

    fn home(&self) -> Option<&ForeignHook> {
        Some(&self.hook.home)
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
        let Some(told) = self.home.language.told(&self.home, &call.input) else {
            // Modules have no such event.
            return Answer::of_handler(event, None).into();
        };
        let running = self.running.enter(None, call.depth);
        let asker = Asker::new(AskedFor {
            host: call.host.clone(),
            programs: Some(Arc::clone(&self.programs)),
            hook: self.label.as_str().into(),
            correlation: call.correlation.clone(),
            run_token: running.token().to_owned(),
            depth: call.depth,
        });
        let ended = self.ended(&call, &told, &asker).await;
        drop(running);
        let mut answer = match ended {
            Ok(Ok(answer)) => {
                let said = answer.map(|answer| answer.to_raw());
                let stdout = said.as_ref().map_or("", RawObject::as_str);
                let ended = Ended { code: Some(0), stdout, stderr: "" };
                answer_at_home(&self.home, &call.input, &told, &ended)
            }
            Ok(Err(source)) => self.failed(HookFailure::Handler { source: source.into() }),
            Err(failure) => self.failed(failure),
        };
        answer.warnings.extend(asker.take_lost());
        // Before a tool, a failure has an output that blocks, so it needs no warning.
        if let Some(failure) = answer.failure.as_ref().filter(|_| answer.output.is_none()) {
            let error = match failure {
                HookFailure::Handler { source } => source.to_string(),
                failure => failure.to_string(),
            };
            let error = shortened(&error);
            answer.warnings.push(format!("a handler of {} failed: {error}", self.home.event));
            // A cancellation is no news to the caller.
            if !matches!(failure, HookFailure::Cancelled) {
                let path = self.handler.module.path().to_string();
                self.handler.errors.report(&ModuleFault::new(path, self.home.event.clone(), error));
            }
        }
        answer.into()
    }

    /// Runs the handler until its end, its timeout or its cancellation.
    async fn ended(
        &self,
        call: &HookCall,
        told: &RawObject,
        asker: &Asker,
    ) -> Result<ModuleReturn, HookFailure> {
        // Tasks that outlive their handler cannot make requests any more.
        let _asking = asker.until_dropped();
        let told = ModuleEvent::new(&self.home.event, told);
        let context = HookContext::of(asker.clone(), &call.input);
        // The handler may also panic before it returns its future.
        let handler = async { self.handler.call(told, context).await };
        let handler = CALL.scope(asker.clone(), AssertUnwindSafe(handler).catch_unwind());
        let mut handler = std::pin::pin!(handler);
        let mut questions = asker.questions();
        let mut clock = Clock::new(call.timeout, &self.timers);
        let mut is_paused = false;
        loop {
            tokio::select! {
                biased;
                ended = &mut handler => {
                    return ended.map_err(|panic| HookFailure::Panicked {
                        message: panic_message(panic.as_ref()),
                    });
                }
                () = call.cancel.cancelled() => return Err(HookFailure::Cancelled),
                () = clock.expired() => {
                    return Err(HookFailure::TimedOut { after: call.timeout });
                }
                Ok(()) = questions.changed() => {
                    let is_asking = *questions.borrow_and_update() > 0;
                    match (is_paused, is_asking) {
                        (false, true) => clock.pause(),
                        (true, false) => clock.resume(),
                        _ => {}
                    }
                    is_paused = is_asking;
                }
            }
        }
    }

    /// Returns the outcome of a failure, which blocks before a tool.
    fn failed(&self, failure: HookFailure) -> Answer {
        let output = self.home.language.failed(&self.home, &failure);
        Answer { output, ..Answer::failed(failure) }
    }
}
