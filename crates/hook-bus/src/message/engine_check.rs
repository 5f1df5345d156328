//! What a request wants of the engine that serves it.

use std::fmt;
use std::sync::Arc;

use hook_core::HookRegistry;

/// Says whether an engine may serve a request. Settings are read again while requests wait: it is asked once it is
/// settled which hooks run, and before any does.
pub trait EngineCheck: fmt::Debug + Send + Sync + 'static {
    /// Whether the engine with these hooks and these settings, by their hash, may.
    fn may_serve(&self, registry: &Arc<HookRegistry>, settings_hash: Option<&str>) -> bool;
}
