//! Fleets that settings name (`hooksConfig.upstream`), called after the hooks of a local engine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::{CorrelationId, HookExecutionRequest, HookExecutionResponse};
use hook_protocol::{HookOutput, PolicyDecision};
use hook_run::{Upstream, UpstreamCall, Upstreams};
use hook_settings::{FailBehavior, UpstreamRules};

use super::bus::NatsBus;
use super::options::NatsOptions;

/// A client of fleets behind NATS brokers. Each fleet has one connection, made for its first
/// request and kept as long as settings name the fleet.
#[derive(Debug, Default)]
pub struct NatsUpstreams {
    fleets: Mutex<HashMap<UpstreamRules, Weak<Fleet>>>,
}

#[derive(Debug)]
struct Fleet {
    rules: UpstreamRules,
    /// The connection, once it succeeded: after a failure, files can be corrected.
    bus: Mutex<Option<Arc<NatsBus>>>,
}

impl Upstreams for NatsUpstreams {
    fn upstream(&self, rules: &UpstreamRules) -> Arc<dyn Upstream> {
        let mut fleets = self.fleets.lock().unwrap_or_else(PoisonError::into_inner);
        fleets.retain(|_, fleet| fleet.strong_count() > 0);
        if let Some(fleet) = fleets.get(rules).and_then(Weak::upgrade) {
            return Arc::new(FleetUpstream(fleet));
        }
        let fleet = Arc::new(Fleet { rules: rules.clone(), bus: Mutex::default() });
        fleets.insert(rules.clone(), Arc::downgrade(&fleet));
        Arc::new(FleetUpstream(fleet))
    }
}

/// A handle to a fleet.
#[derive(Debug)]
struct FleetUpstream(Arc<Fleet>);

impl Upstream for FleetUpstream {
    fn call(&self, call: UpstreamCall) -> BoxFuture<'static, Result<Option<HookOutput>, String>> {
        let fleet = Arc::clone(&self.0);
        async move {
            let bus = fleet.bus()?;
            let request = HookExecutionRequest::unchecked(call.event.as_str(), call.input);
            let mut request = request.with_hops(call.hops.saturating_add(1));
            let id = call.correlation.and_then(|id| CorrelationId::new(id).ok());
            if let Some(id) = id {
                request = request.with_correlation_id(id);
            }
            let event = call.event;
            let response = bus.request(request.with_deadline(call.deadline)).await;
            let answer =
                response.processed.to_output().map(|output| output.without_unknown_fields(event));
            let expressed =
                answer.as_ref().map_or(PolicyDecision::Proceed, |output| output.policy(event));
            // The response restricts more than its answers, for example for a guard that failed.
            match response.processed.decision > expressed {
                true => Ok(Some(restriction(&response))),
                false => match response.error() {
                    None => Ok(answer),
                    Some(error) => Err(error.to_string()),
                },
            }
        }
        .boxed()
    }
}

/// Returns an output with the decision of the response.
fn restriction(response: &HookExecutionResponse) -> HookOutput {
    let processed = &response.processed;
    let reason = processed.reason.clone().unwrap_or_default();
    match processed.decision {
        PolicyDecision::Ask => HookOutput::ask(reason),
        PolicyDecision::Stop => HookOutput::stop(reason),
        PolicyDecision::Retry => {
            HookOutput::retry(reason, processed.retry_after.unwrap_or_default())
        }
        PolicyDecision::Block | PolicyDecision::Proceed => HookOutput::deny(reason),
    }
}

impl Fleet {
    fn bus(&self) -> Result<Arc<NatsBus>, String> {
        let mut bus = self.bus.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bus) = &*bus {
            return Ok(Arc::clone(bus));
        }
        let connected = Arc::new(self.connect()?);
        *bus = Some(Arc::clone(&connected));
        Ok(connected)
    }

    fn connect(&self) -> Result<NatsBus, String> {
        let UpstreamRules {
            nats,
            credentials,
            certificate_authority,
            subject,
            expected_settings,
            ..
        } = &self.rules;
        // The upstream hook itself decides the outcome of an unreachable fleet.
        let mut options = NatsOptions::new(nats).fail_behavior(FailBehavior::Continue);
        if let Some(file) = credentials {
            options = options.credentials(file);
        }
        if let Some(file) = certificate_authority {
            options = options.certificate_authority(file);
        }
        if let Some(subject) = subject {
            options = options.subject(subject);
        }
        if let Some(hash) = expected_settings {
            options = options.expect_settings(hash);
        }
        NatsBus::with(options).map_err(|error| error.to_string())
    }
}
