//! A request's conditions on the engine that serves it.

use std::fmt;
use std::sync::Arc;

use hook_core::HookRegistry;

/// A check whether an engine may serve a request. It is called after the hooks of the request are
/// determined and before any runs, since settings may be reloaded while the request waits.
pub trait EngineCheck: fmt::Debug + Send + Sync + 'static {
    /// Checks whether the engine with these hooks, and settings with this hash, may serve the
    /// request.
    fn may_serve(&self, registry: &Arc<HookRegistry>, settings_hash: Option<&str>) -> bool;
}
