//! Publishing changes of the effective hooks.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hook_core::{Hook, HookRegistry};
use hook_protocol::HookEventName;
use hook_settings::FailBehavior;

use crate::bus::Topics;
use crate::bus::sealed::Message;
use crate::message::{ChangeCause, HookRegistration, RegistrationChange};

/// A publisher of added and removed hooks. It does not keep the bus alive.
#[derive(Debug)]
pub(crate) struct Registrations {
    topics: Weak<Topics>,
}

impl Registrations {
    pub(crate) fn new(topics: &Arc<Topics>) -> Self {
        Self { topics: Arc::downgrade(topics) }
    }

    /// Publishes the differences between the hooks of a previous engine and those of a new one,
    /// which has this generation.
    pub(crate) fn publish_replaced(
        &self,
        previous: Option<&HookRegistry>,
        current: &HookRegistry,
        generation: u64,
    ) {
        let Some(topics) = self.topics.upgrade() else { return };
        if !HookRegistration::topic(&topics).has_subscribers() {
            return;
        }
        let old_hooks = previous.map(effective_hooks).unwrap_or_default();
        let new_hooks = effective_hooks(current);
        for hook in difference(&old_hooks, &new_hooks) {
            self.publish(RegistrationChange::Unregistered, hook, ChangeCause::Engine(generation));
        }
        for hook in difference(&new_hooks, &old_hooks) {
            self.publish(RegistrationChange::Registered, hook, ChangeCause::Engine(generation));
        }
    }

    /// Publishes that a hook was added or removed.
    pub(crate) fn publish(&self, change: RegistrationChange, hook: &Hook, cause: ChangeCause) {
        if let Some(topics) = self.topics.upgrade() {
            let registration = HookRegistration::now(change, hook.identity.clone(), cause);
            HookRegistration::topic(&topics).publish(&Arc::new(registration));
        }
    }
}

/// Returns the effective hooks: switched on, and trusted or blocking untrusted.
pub(crate) fn effective_hooks(registry: &HookRegistry) -> Vec<Arc<Hook>> {
    let listings = registry.list().into_iter();
    listings
        .filter(|listing| {
            listing.enabled && (listing.trusted || listing.hook.blocks_without_running())
        })
        .map(|listing| listing.hook)
        .collect()
}

/// A hook's identity over reloads: all fields that determine what runs, when, and what its failure
/// means.
#[derive(PartialEq, Eq, Hash)]
struct HookKey<'h> {
    event: HookEventName,
    name: &'h str,
    command: &'h str,
    variables: Option<BTreeMap<&'h str, &'h str>>,
    matcher: Option<&'h str>,
    source: &'h str,
    file: Option<&'h Path>,
    blocks_unrun: bool,
    fail_behavior: FailBehavior,
    timeout: Duration,
    is_async: bool,
    priority: i32,
    sequential: bool,
}

fn hook_key(hook: &Hook) -> HookKey<'_> {
    let file = hook.location.as_ref().and_then(|location| location.file.as_deref());
    HookKey {
        event: hook.event,
        name: hook.display_name(),
        command: hook.command(),
        variables: hook.variables(),
        matcher: hook.matcher.text(),
        source: hook.source.as_str(),
        file: file.map(|file| file.as_path()),
        blocks_unrun: hook.blocks_without_running(),
        fail_behavior: hook.fail_behavior,
        timeout: hook.timeout,
        is_async: hook.runs_in_background(),
        priority: hook.priority,
        sequential: hook.sequential,
    }
}

/// Returns the hooks of `these` that are not in `those`, counting equal ones.
fn difference<'h>(these: &'h [Arc<Hook>], those: &'h [Arc<Hook>]) -> Vec<&'h Arc<Hook>> {
    let mut counts: HashMap<HookKey<'h>, usize> = HashMap::new();
    for hook in those {
        *counts.entry(hook_key(hook)).or_default() += 1;
    }
    let mut unmatched = Vec::new();
    for hook in these {
        match counts.get_mut(&hook_key(hook)) {
            Some(count @ 1..) => *count -= 1,
            _ => unmatched.push(hook),
        }
    }
    unmatched
}
