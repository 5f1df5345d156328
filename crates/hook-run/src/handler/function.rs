//! Functions of the host, and the conversion of their results.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::answer::Answer;
use crate::executor::Run;
use crate::live::{CallTarget, FailureListener};
use crate::module::ModuleHandler;
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::HookInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::{HookFailure, panic_message};
use hook_settings::language::ForeignHook;

/// The return value of a handler: an output, nothing, or an error, which fails the hook.
pub type HandlerResult = Result<Option<HookOutput>, HandlerError>;

/// The error of a handler.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// A synchronous function of the host.
pub(super) type SyncFunction = dyn Fn(&HookInput) -> HandlerResult + Send + Sync;
pub(super) type AsyncFunction =
    dyn Fn(HookInput) -> BoxFuture<'static, HandlerResult> + Send + Sync;

#[derive(Clone)]
pub(super) enum Function {
    Inline(Arc<SyncFunction>),
    Async(Arc<AsyncFunction>),
    Blocking(Arc<SyncFunction>),
    Session(SessionFunction),
    Module(ModuleFunction),
}

/// A handler of a module.
#[derive(Clone)]
pub(super) struct ModuleFunction {
    pub(super) handler: ModuleHandler,
    /// The foreign hook whose formats it uses.
    pub(super) foreign: Arc<ForeignHook>,
}

/// A hook that is called in a session.
#[derive(Clone)]
pub(super) struct SessionFunction {
    pub(super) target: CallTarget,
    /// The hook's id in the session.
    pub(super) id: Arc<str>,
    /// The foreign hook whose formats it uses, if it is one.
    pub(super) foreign: Option<Arc<ForeignHook>>,
    /// The listener for failed calls.
    pub(super) on_failure: Option<FailureListener>,
}

pub(super) fn convert_result(
    event: HookEventName,
    finished: std::thread::Result<HandlerResult>,
) -> Run {
    match finished {
        Ok(Ok(output)) => Answer::of_handler(event, output).into(),
        Ok(Err(source)) => Answer::failed(HookFailure::Handler { source: source.into() }).into(),
        Err(panic) => {
            let message = panic_message(panic.as_ref());
            Answer::failed(HookFailure::Panicked { message }).into()
        }
    }
}
