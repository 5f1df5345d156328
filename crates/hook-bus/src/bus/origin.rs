//! The origin of a request: outside, or a hook that is now running.

use std::sync::Arc;

use hook_run::RunningHooks;

use crate::message::HookExecutionRequest;

/// The maximum nesting depth that is tracked: deeper requests fail at once when planned.
pub(crate) const MAX_DEPTH: u32 = 9;

/// The origin of a request. The default is outside any hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The number of hooks waiting for the request.
    pub(crate) depth: u32,
    /// `true` if the request has a token of no running hook.
    pub(crate) is_token_unknown: bool,
}

impl Origin {
    /// Finds the hook with the request's token, or else with the client's process group.
    pub(crate) fn of(
        request: &HookExecutionRequest,
        group: Option<u32>,
        running: impl FnOnce() -> Option<Arc<RunningHooks>>,
    ) -> Self {
        let token = request.run_token();
        if token.is_none() && group.is_none() {
            return Self::default();
        }
        let hooks = running();
        let hooks = hooks.as_deref();
        let by_token = token.and_then(|token| hooks?.depth_inside(token));
        let depth = by_token.or_else(|| hooks?.depth_inside_group(group?)).unwrap_or_default();
        let is_token_unknown = token.is_some() && by_token.is_none();
        Self { depth: depth.min(MAX_DEPTH), is_token_unknown }
    }
}

/// The warning about a token of no running hook.
pub(crate) const UNKNOWN_TOKEN: &str = "runToken: no hook has this token that runs now, so the \
    request is not nested in one; send the HOOK_RUN_TOKEN of the hook that waits for the answer, or \
    none";
