//! The executor of host functions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;
use hook_json::opaque_debug;

use super::blocking::BlockingHandlers;
use super::function::{
    AsyncFunction, Function, ModuleFunction, SessionFunction, SyncFunction, convert_result,
};
use super::hook::HandlerHook;
use crate::answer::Answer;
use crate::executor::{Execution, HookCall, HookExecutor, HookKind, Permits, Run};
use crate::live::{LiveExecutor, Programs};
use crate::module::ModuleExecutor;
use crate::running::RunningHooks;

/// Runs a function of the host.
struct HandlerExecutor {
    name: String,
    call: Call,
}

/// The way a function is called.
enum Call {
    Inline(Arc<SyncFunction>),
    Async(Arc<AsyncFunction>),
    Blocking(Arc<SyncFunction>, Arc<BlockingHandlers>),
}

impl HandlerHook {
    /// Returns the executor of the hook.
    pub(crate) fn executor(
        &self,
        blocking: &Arc<BlockingHandlers>,
        running: &Arc<RunningHooks>,
        programs: impl FnOnce() -> Arc<Programs>,
    ) -> Arc<dyn HookExecutor> {
        let name = self.name.clone();
        let call = match &self.function {
            Function::Inline(function) => Call::Inline(Arc::clone(function)),
            Function::Async(function) => Call::Async(Arc::clone(function)),
            Function::Blocking(function) => {
                Call::Blocking(Arc::clone(function), Arc::clone(blocking))
            }
            Function::Session(SessionFunction { target, id, foreign, on_failure }) => {
                // Remote hooks run no programs here.
                let programs = target.is_local().then(programs);
                let (target, foreign) = (target.clone(), foreign.clone());
                let live =
                    LiveExecutor::new(&name, id, self.event, foreign, target, running, programs);
                return Arc::new(live.on_failure(on_failure.clone()));
            }
            Function::Module(ModuleFunction { handler, foreign }) => {
                let executor = ModuleExecutor::new(&name, foreign, handler, running, programs());
                return Arc::new(executor);
            }
        };
        Arc::new(HandlerExecutor { name, call })
    }
}

opaque_debug!(HandlerExecutor { name });

impl HookExecutor for HandlerExecutor {
    fn kind(&self) -> HookKind {
        match self.call {
            Call::Inline(_) => HookKind::Inline,
            Call::Async(_) => HookKind::Async,
            Call::Blocking(..) => HookKind::Blocking,
        }
    }

    fn label(&self) -> &str {
        &self.name
    }

    fn permits(&self) -> Permits<'_> {
        match &self.call {
            Call::Blocking(..) => Permits::Blocking,
            Call::Inline(_) | Call::Async(_) => Permits::None,
        }
    }

    fn execute(&self, call: HookCall) -> Execution {
        match &self.call {
            Call::Inline(function) => {
                let finished = catch_unwind(AssertUnwindSafe(|| function(&call.input)));
                Execution::Done(convert_result(call.input.event(), finished))
            }
            Call::Async(function) => {
                let function = Arc::clone(function);
                Execution::Running(run_async(function, call).boxed())
            }
            Call::Blocking(function, blocking) => {
                let (function, blocking) = (Arc::clone(function), Arc::clone(blocking));
                Execution::Running(async move { blocking.run(function, call).await }.boxed())
            }
        }
    }
}

async fn run_async(function: Arc<AsyncFunction>, call: HookCall) -> Run {
    let event = call.input.event();
    // The handler may also panic before it returns its future.
    let input = call.input.clone();
    let handler = AssertUnwindSafe(async move { function(input).await }).catch_unwind();
    tokio::select! {
        biased;
        finished = handler => convert_result(event, finished),
        failure = call.expired() => Answer::failed(failure).into(),
    }
}
