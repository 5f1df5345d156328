//! The restrictive part of an output: all that counts if the whole output cannot be trusted.

use super::answer::HookOutput;
use super::decision::{Decision, PolicyDecision};
use crate::event::HookEventName;

impl HookOutput {
    /// Returns the parts that block, ask or stop, with their reasons, and drops all others.
    pub fn restriction(self, event: HookEventName) -> Self {
        let restricts = |decision: &Decision| decision.policy() > PolicyDecision::Proceed;
        let stops = self.should_stop_execution();
        let decides = self.decision.as_ref().is_some_and(restricts);
        let permission = self.permission_decision(event).filter(restricts);
        let cancels = self.cancels(event);
        let kept: &[&str] = match (&permission, cancels) {
            (None, false) => &[],
            (None, true) => &["hookEventName", "cancel"],
            (Some(_), false) => {
                &["hookEventName", "permissionDecision", "permissionDecisionReason"]
            }
            (Some(_), true) => {
                &["hookEventName", "permissionDecision", "permissionDecisionReason", "cancel"]
            }
        };
        let specific = (!kept.is_empty()).then(|| {
            kept.iter()
                .filter_map(|name| Some(((*name).to_owned(), self.specific(name)?.clone())))
                .collect()
        });
        Self {
            should_continue: stops.then_some(false),
            stop_reason: self.stop_reason.filter(|_| stops),
            reason: self.reason.filter(|_| stops || decides || specific.is_some()),
            retry_after: self.retry_after.filter(|_| decides),
            decision: self.decision.filter(restricts),
            hook_specific_output: specific,
            ..Self::default()
        }
    }

    /// Adds the missing parts of a weaker one of the same hook; both only
    /// restrict.
    pub fn merged_with(self, weaker: Self) -> Self {
        Self {
            should_continue: self.should_continue.or(weaker.should_continue),
            stop_reason: self.stop_reason.or(weaker.stop_reason),
            reason: if self.decision.is_some() { self.reason } else { weaker.reason },
            retry_after: self.retry_after.or(weaker.retry_after),
            decision: self.decision.or(weaker.decision),
            hook_specific_output: self.hook_specific_output.or(weaker.hook_specific_output),
            ..Self::default()
        }
    }
}
