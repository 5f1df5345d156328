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

/// The missing service of a host without a fleet client.
const NO_FLEET: &str = "a way to fleets of engines (the feature `remote` of hook-cli)";

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
    /// `None` if the host has no clients of fleets.
    upstream: Option<Arc<dyn Upstream>>,
}

impl UpstreamExecutor {
    pub(super) fn new(rules: &UpstreamRules, upstreams: Option<&Arc<dyn Upstreams>>) -> Self {
        let upstream = upstreams.map(|upstreams| upstreams.upstream(rules));
        Self { rules: rules.clone(), upstream }
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
        match self.upstream {
            Some(_) => HookStart::Called,
            None => HookStart::Missing(NO_FLEET),
        }
    }

    fn execute(&self, call: HookCall) -> Execution {
        match &self.upstream {
            Some(upstream) => Execution::Running(call_upstream(Arc::clone(upstream), call).boxed()),
            None => {
                let kind = HookKind::Upstream.as_str();
                let failure = HookFailure::NoService { kind, service: NO_FLEET };
                Execution::Done(Answer::failed(failure).into())
            }
        }
    }
}

async fn call_upstream(upstream: Arc<dyn Upstream>, call: HookCall) -> Run {
    let event = call.input.event();
    let request = upstream.call(UpstreamCall {
        event,
        input: call.input.to_raw(),
        correlation: call.correlation.clone(),
        hops: call.hops,
        deadline: call.timeout,
    });
    let response = tokio::select! {
        biased;
        () = call.cancel.cancelled() => return Answer::failed(HookFailure::Cancelled).into(),
        response = request => response,
        () = tokio::time::sleep(call.timeout) => {
            return Answer::failed(HookFailure::TimedOut { after: call.timeout }).into();
        }
    };
    match response {
        Ok(output) => Answer::of_handler(event, output).into(),
        Err(message) => {
            let reason = OutputExcerpt::new(message.as_bytes(), MAX_REASON).to_string();
            Answer::failed(HookFailure::Live { reason }).into()
        }
    }
}
