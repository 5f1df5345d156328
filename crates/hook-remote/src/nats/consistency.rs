//! Checks that a response belongs to its request and agrees with itself. A response that approves
//! an event which one of its hooks forbids is no approval.

use hook_bus::{CorrelationId, HookExecutionResponse};
use hook_json::text::shortened;
use hook_protocol::{HookEventName, PolicyDecision};

/// Checks the response to a request with that id and event, and returns its defect as the error.
pub(super) fn check(
    response: &HookExecutionResponse,
    id: &CorrelationId,
    event: &str,
) -> Result<(), String> {
    if response.correlation_id != *id {
        let other = shortened(response.correlation_id.as_str());
        return Err(format!("it is the response to another request, `{other}`"));
    }
    match response.event_name() {
        Some(name) if !is_same_event(name, event) => {
            return Err(format!("it is about the event `{}`", shortened(name)));
        }
        None if response.success() => return Err("it does not name its event".to_owned()),
        _ => {}
    }
    let processed = &response.processed;
    let decision = processed.decision;
    if processed.should_stop != (decision == PolicyDecision::Stop) {
        let stop = processed.should_stop;
        return Err(format!("its decision is `{}` and its `shouldStop` {stop}", decision.as_str()));
    }
    let strongest = strongest(response);
    if strongest > decision {
        return Err(format!(
            "its decision is `{}`, and a hook of it wants `{}`",
            decision.as_str(),
            strongest.as_str()
        ));
    }
    Ok(())
}

/// Compares events by all their names, since a request may use any of them.
fn is_same_event(named: &str, requested: &str) -> bool {
    let known = HookEventName::from_name(requested);
    named == requested || (known.is_some() && known == HookEventName::from_name(named))
}

/// Returns the strongest decision of a hook, by its listed decision and by its output.
fn strongest(response: &HookExecutionResponse) -> PolicyDecision {
    let decisions = response.hooks.iter().filter_map(|hook| hook.decision);
    let outputs = &response.processed.aggregated.all_outputs;
    let outputs_decisions =
        response.event.map(|event| outputs.iter().map(move |output| output.policy(event)));
    decisions.chain(outputs_decisions.into_iter().flatten()).max().unwrap_or_default()
}
