//! Where a request comes from: from outside, or from inside of a hook that runs now.

use std::sync::Arc;

use hook_core::run::RunningHooks;

use crate::message::HookExecutionRequest;

/// The deepest that is told apart: what is deeper fails in its plan, at once.
pub(crate) const MAX_DEPTH: u32 = 9;

/// Where a request comes from. The default is from outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// How many hooks wait for it.
    pub(crate) depth: u32,
    /// Whether it has a token that no hook has that runs now.
    pub(crate) is_token_unknown: bool,
}

impl Origin {
    /// Looks for the hook that a request has the token of, else for the one whose process group the
    /// client is in.
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

/// What is said of a token that no hook has.
pub(crate) const UNKNOWN_TOKEN: &str = "runToken: no hook has this token that runs now, so the \
    request is not nested in one; send the HOOK_RUN_TOKEN of the hook that waits for the answer, or \
    none";
