//! Hooks that stand for a fleet of engines elsewhere, which the host knows how to ask.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::answer::Answer;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart, Run};
use crate::event::HookEventName;
use crate::event::output::HookOutput;
use crate::failure::HookFailure;
use crate::json::RawObject;
use crate::settings::UpstreamRules;
use crate::text::Output;

/// What is missing where the host knows no fleets.
const NO_FLEET: &str = "a way to fleets of engines (the feature `remote` of hook-cli)";

/// How much is repeated of why a fleet did not answer, in bytes.
const MAX_REASON: usize = 1_000;

/// What a fleet is asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UpstreamCall {
    /// The event.
    pub event: HookEventName,
    /// What hooks here are told, with what those before have changed.
    pub input: RawObject,
    /// The request that it is part of.
    pub correlation: Option<Arc<str>>,
    /// How many engines have had that request before this one.
    pub hops: u32,
    /// How long it may take.
    pub deadline: Duration,
}

/// A fleet of engines elsewhere.
pub trait Upstream: fmt::Debug + Send + Sync {
    /// Asks it. What its hooks answered together counts as one hook's answer; nothing, if they had none.
    ///
    /// # Errors
    /// When no engine answered, or the one that did could not do its work: why, for people.
    ///
    /// # Cancellation
    /// Dropping the future ends the hooks there.
    fn ask(&self, call: UpstreamCall) -> BoxFuture<'static, Result<Option<HookOutput>, String>>;
}

/// Whoever knows how to ask fleets of engines.
pub trait Upstreams: fmt::Debug + Send + Sync {
    /// The fleet that settings name. Nothing is connected before it is asked.
    fn upstream(&self, rules: &UpstreamRules) -> Arc<dyn Upstream>;
}

/// Asks a fleet.
#[derive(Debug)]
pub(super) struct UpstreamExecutor {
    rules: UpstreamRules,
    /// Absent where the host knows none.
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
            Some(upstream) => Execution::Running(ask(Arc::clone(upstream), call).boxed()),
            None => {
                let kind = HookKind::Upstream.as_str();
                let failure = HookFailure::NoService { kind, service: NO_FLEET };
                Execution::Done(Answer::failed(failure).into())
            }
        }
    }
}

async fn ask(upstream: Arc<dyn Upstream>, call: HookCall) -> Run {
    let event = call.input.event();
    let asked = upstream.ask(UpstreamCall {
        event,
        input: call.input.to_raw(),
        correlation: call.correlation.clone(),
        hops: call.hops,
        deadline: call.timeout,
    });
    let answered = tokio::select! {
        biased;
        () = call.cancel.cancelled() => return Answer::failed(HookFailure::Cancelled).into(),
        answered = asked => answered,
        () = tokio::time::sleep(call.timeout) => {
            return Answer::failed(HookFailure::TimedOut { after: call.timeout }).into();
        }
    };
    match answered {
        Ok(output) => Answer::of_handler(event, output).into(),
        Err(why) => {
            let reason = Output::new(why.as_bytes(), MAX_REASON).to_string();
            Answer::failed(HookFailure::Live { reason }).into()
        }
    }
}
