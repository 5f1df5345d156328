//! What a hook may ask of whoever asked for its event: a question to the user, a message to the session,
//! a tool to run (protocol.md §6, "Host calls").

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::methods::{HOST_METHODS, HostMethod, without_ui};
use crate::json::RawJson;

/// What a hook asks of the host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostCall {
    /// What is to be done, such as `ui.confirm` or `tool.execute`.
    pub method: String,
    /// With what.
    pub params: RawJson,
    /// The hook that asks.
    pub hook: Arc<str>,
    /// The request that the hook was called for.
    pub correlation: Option<Arc<str>>,
    /// What requests have to carry that are made for this call, so that they are known to come from
    /// inside of the hook: their `runToken`.
    pub run_token: String,
}

/// Why a host does not do what it is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostCallError {
    /// It has nothing of that name.
    #[error("the host does not offer `{method}`")]
    Unsupported {
        /// What was asked for.
        method: String,
    },
    /// The call that it was asked for is over, or never was.
    #[error("the call that this is asked for is over, or there was none with that `callId`")]
    NoCall,
    /// So much is asked at once that it is refused.
    #[error("more than {limit} host calls of one hook at once; wait for an answer first")]
    TooMany {
        /// How many may be.
        limit: usize,
    },
    /// It was tried, and failed.
    #[error("{message}")]
    Failed {
        /// Why, in the host's words.
        message: String,
    },
}

impl HostCallError {
    /// The word in messages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } => "unsupported",
            Self::NoCall => "no_call",
            Self::TooMany { .. } => "limit_exceeded",
            Self::Failed { .. } => "failed",
        }
    }

    /// That the host has nothing of that name.
    pub fn unsupported(method: &str) -> Self {
        Self::Unsupported { method: crate::text::shortened(method) }
    }

    /// That it was tried, and failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

/// What a host does for hooks that stay alive. Whoever asks for an event may give one.
pub trait HostServices: fmt::Debug + Send + Sync {
    /// Does what a hook asks. What it gives back is the hook's own business: it is not read here.
    ///
    /// # Errors
    /// When the host has nothing of that name, or it failed. A host without a user interface does not
    /// answer `ui` calls itself: [`without_ui`] says what a hook gets then.
    ///
    /// # Cancellation
    /// The future is dropped when the hook's call is over.
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>>;

    /// Whether it does what is called so, one of [`HOST_METHODS`]. Where it offers a question, hooks are
    /// told that there is a user. Nothing by default: a host is asked all the same, and hooks that ask only
    /// where there is a user do without.
    fn offers(&self, _method: &str) -> bool {
        false
    }

    /// The host's own user interface, for handlers in Rust that know its type; none by default.
    fn component(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }
}

/// Whether a host can ask its user something.
pub(in crate::run) fn has_ui(host: Option<&Arc<dyn HostServices>>) -> bool {
    let asks = |method: &HostMethod| host.is_some_and(|host| host.offers(method.name));
    HOST_METHODS.iter().filter(|method| method.is_question()).any(asks)
}

/// What a host that has nothing for a call gives: what a hook gets without a user interface, else the
/// error.
pub(in crate::run) fn settled(
    method: &str,
    outcome: Result<RawJson, HostCallError>,
) -> Result<RawJson, HostCallError> {
    match outcome {
        Err(error @ HostCallError::Unsupported { .. }) => without_ui(method).ok_or(error),
        other => other,
    }
}
