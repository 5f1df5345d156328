//! Whether a response is the one to its request, and says one thing: one that lets an event go on which a hook
//! of its own forbids is no consent.

use hook_bus::{CorrelationId, HookExecutionResponse};
use hook_core::text::shortened;
use hook_core::{HookEventName, PolicyDecision};

/// Says what is wrong with a response to the request of that id for that event.
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
        Some(named) if !is_same_event(named, event) => {
            return Err(format!("it is about the event `{}`", shortened(named)));
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

/// Requests may call an event by another of its names.
fn is_same_event(named: &str, asked: &str) -> bool {
    let known = HookEventName::from_name(asked);
    named == asked || (known.is_some() && known == HookEventName::from_name(named))
}

/// The strongest that a hook wants, by what the response says of each and by what they answered.
fn strongest(response: &HookExecutionResponse) -> PolicyDecision {
    let said = response.hooks.iter().filter_map(|hook| hook.decision);
    let outputs = &response.processed.aggregated.all_outputs;
    let wanted = response.event.map(|event| outputs.iter().map(move |output| output.policy(event)));
    said.chain(wanted.into_iter().flatten()).max().unwrap_or_default()
}
