//! Runs functions of the host.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt;

use super::blocking::BlockingHandlers;
use super::function::{Async, Function, answer, expired};
use super::hook::HandlerHook;
use crate::run::answer::Answer;
use crate::run::executor::{Execution, HookCall, HookExecutor, HookKind, Run};

/// What runs a handler.
pub(in crate::run) struct HandlerExecutor {
    name: String,
    function: Function,
    blocking: Arc<BlockingHandlers>,
}

impl HandlerExecutor {
    pub(in crate::run) fn new(handler: &HandlerHook, blocking: &Arc<BlockingHandlers>) -> Self {
        Self {
            name: handler.name.clone(),
            function: handler.function.clone(),
            blocking: Arc::clone(blocking),
        }
    }
}

impl fmt::Debug for HandlerExecutor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HandlerExecutor").field("name", &self.name).finish_non_exhaustive()
    }
}

impl HookExecutor for HandlerExecutor {
    fn kind(&self) -> HookKind {
        match self.function {
            Function::Inline(_) => HookKind::Inline,
            Function::Async(_) => HookKind::Async,
            Function::Blocking(_) => HookKind::Blocking,
        }
    }

    fn label(&self) -> &str {
        &self.name
    }

    fn execute(&self, call: HookCall) -> Execution {
        match &self.function {
            Function::Inline(function) => {
                let finished = catch_unwind(AssertUnwindSafe(|| function(&call.input)));
                Execution::Done(answer(call.input.event(), finished))
            }
            Function::Async(function) => {
                let function = Arc::clone(function);
                Execution::Running(run_async(function, call).boxed())
            }
            Function::Blocking(function) => {
                let (function, blocking) = (Arc::clone(function), Arc::clone(&self.blocking));
                Execution::Running(async move { blocking.run(function, call).await }.boxed())
            }
        }
    }
}

async fn run_async(function: Arc<Async>, call: HookCall) -> Run {
    let event = call.input.event();
    // The handler may panic before it returns its future, too.
    let handler = AssertUnwindSafe(async move { function(call.input).await }).catch_unwind();
    tokio::select! {
        biased;
        finished = handler => answer(event, finished),
        failure = expired(call.timeout, &call.cancel) => Answer::failed(failure).into(),
    }
}
