//! Requests that a hook may make to its event's caller: a question to the user, a message to the
//! session, a tool to run (reference/messages.md, "Host calls").

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::methods::{HOST_METHODS, HostMethod, without_ui};
use hook_json::RawJson;

/// A request of a hook to the host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostCall {
    /// The requested method, such as `ui.confirm` or `tool.execute`.
    pub method: String,
    /// The parameters.
    pub params: RawJson,
    /// The hook that makes the request.
    pub hook: Arc<str>,
    /// The request that the hook was called for.
    pub correlation: Option<Arc<str>>,
    /// The `runToken` of requests that the host makes for this call. It marks them as coming from
    /// inside the hook.
    pub run_token: String,
}

/// The error of a host call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostCallError {
    /// The host does not offer the method.
    #[error("the host does not offer `{method}`")]
    Unsupported {
        /// The requested method.
        method: String,
    },
    /// The hook's call is over, or never existed.
    #[error("the call that this is asked for is over, or there was none with that `callId`")]
    NoCall,
    /// The hook has too many host calls in progress.
    #[error("more than {limit} host calls of one hook at once; wait for an answer first")]
    TooMany {
        /// The maximum number.
        limit: usize,
    },
    /// The host tried and failed.
    #[error("{message}")]
    Failed {
        /// The reason, in the host's words.
        message: String,
    },
}

impl HostCallError {
    /// Returns the error code in messages.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } => "unsupported",
            Self::NoCall => "no_call",
            Self::TooMany { .. } => "limit_exceeded",
            Self::Failed { .. } => "failed",
        }
    }

    /// Creates the error of a host that does not offer a method.
    pub fn unsupported(method: &str) -> Self {
        Self::Unsupported { method: hook_json::text::shortened(method) }
    }

    /// Creates the error of a failed attempt.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

/// The services that the caller of an event offers to live hooks.
pub trait HostServices: fmt::Debug + Send + Sync {
    /// Executes a hook's request. The engine passes the result on to the hook without reading it.
    ///
    /// # Errors
    /// Returns an error if the host does not offer the method, or fails. A host without a user
    /// interface need not answer `ui` calls itself: hooks then get the result of [`without_ui`].
    ///
    /// # Cancellation
    /// The future is dropped when the hook's call is over.
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>>;

    /// Returns `true` if the host offers this method, one of [`HOST_METHODS`]. If it offers a
    /// question, hooks are told that there is a user. Nothing by default: hooks that check for a
    /// user then ask no questions, but requests are passed to the host all the same.
    fn offers(&self, _method: &str) -> bool {
        false
    }

    /// Returns the host's own user interface for Rust handlers that know its type, if any.
    fn component(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }
}

/// Returns `true` if a host can ask its user questions.
pub(crate) fn has_ui(host: Option<&Arc<dyn HostServices>>) -> bool {
    let offers = |method: &HostMethod| host.is_some_and(|host| host.offers(method.name));
    HOST_METHODS.iter().filter(|method| method.is_question()).any(offers)
}

/// Replaces an unsupported method's error by the result of a host without a user interface, if the
/// method has one.
pub(crate) fn with_ui_fallback(
    method: &str,
    outcome: Result<RawJson, HostCallError>,
) -> Result<RawJson, HostCallError> {
    match outcome {
        Err(error @ HostCallError::Unsupported { .. }) => without_ui(method).ok_or(error),
        other => other,
    }
}
