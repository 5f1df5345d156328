//! Hooks that represent a fleet of remote engines, which the host knows how to ask.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::answer::Answer;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart, Run};
use hook_json::RawObject;
use hook_json::text::OutputExcerpt;
use hook_protocol::event::HookEventName;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::HookFailure;
use hook_settings::UpstreamRules;

/// The maximum length of a fleet's failure in messages, in bytes.
const MAX_REASON: usize = 1_000;

/// A call to a fleet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UpstreamCall {
    /// The event.
    pub event: HookEventName,
    /// The input of hooks, with the changes of earlier hooks.
    pub input: RawObject,
    /// The request that the call belongs to.
    pub correlation: Option<Arc<str>>,
    /// The number of engines that handled the request before this one.
    pub hops: u32,
    /// The time the call may take.
    pub deadline: Duration,
}

/// A fleet of remote engines.
pub trait Upstream: fmt::Debug + Send + Sync {
    /// Calls the fleet. The merged answer of its hooks, if any, counts as one hook's.
    ///
    /// # Errors
    /// Returns a reason for people if no engine answered, or the one that did could not work.
    ///
    /// # Cancellation
    /// Dropping the future ends the remote hooks.
    fn call(&self, call: UpstreamCall) -> BoxFuture<'static, Result<Option<HookOutput>, String>>;
}

/// The host's clients of remote fleets.
pub trait Upstreams: fmt::Debug + Send + Sync {
    /// Returns the fleet that settings name. It is not connected before its first call.
    fn upstream(&self, rules: &UpstreamRules) -> Arc<dyn Upstream>;
}

/// Runs a hook by calling a fleet.
#[derive(Debug)]
pub(super) struct UpstreamExecutor {
    rules: UpstreamRules,
    upstream: Arc<dyn Upstream>,
}

impl UpstreamExecutor {
    pub(super) fn new(rules: &UpstreamRules, upstreams: &dyn Upstreams) -> Self {
        Self { rules: rules.clone(), upstream: upstreams.upstream(rules) }
    }
}

impl HookExecutor for UpstreamExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Upstream
    }

    fn label(&self) -> &str {
        &self.rules.nats
    }

    fn upstream(&self) -> Option<&UpstreamRules> {
        Some(&self.rules)
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Called
    }

    fn execute(&self, call: HookCall) -> Execution {
        Execution::Running(call_upstream(Arc::clone(&self.upstream), call).boxed())
    }
}

async fn call_upstream(upstream: Arc<dyn Upstream>, call: HookCall) -> Run {
    let event = call.input.event();
    let request = upstream.call(UpstreamCall {
        event,
        input: call.input.to_raw(),
        correlation: call.scope.correlation.clone(),
        hops: call.scope.hops,
        deadline: call.timeout,
    });
    let response = tokio::select! {
        biased;
        failure = call.expired() => return Answer::failed(failure).into(),
        response = request => response,
    };
    match response {
        Ok(output) => Answer::of_handler(event, output).into(),
        Err(message) => {
            let reason = OutputExcerpt::new(message.as_bytes(), MAX_REASON).to_string();
            Answer::failed(HookFailure::Live { reason }).into()
        }
    }
}
