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
use crate::message::{ChangedWith, HookRegistration, RegistrationChange};

/// A publisher of added and removed hooks. It does not keep the bus alive.
#[derive(Debug)]
pub(crate) struct Registrations {
    topics: Weak<Topics>,
}

impl Registrations {
    pub(crate) fn on(topics: &Arc<Topics>) -> Self {
        Self { topics: Arc::downgrade(topics) }
    }

    /// Publishes the differences between the hooks of a previous engine and those of a new one,
    /// which has this generation.
    pub(crate) fn replaced(
        &self,
        before: Option<&HookRegistry>,
        now: &HookRegistry,
        generation: u64,
    ) {
        let Some(topics) = self.topics.upgrade() else { return };
        if !HookRegistration::topic(&topics).has_subscribers() {
            return;
        }
        let gone = before.map(in_force).unwrap_or_default();
        let come = in_force(now);
        for hook in without(&gone, &come) {
            self.tell(RegistrationChange::Unregistered, hook, ChangedWith::Engine(generation));
        }
        for hook in without(&come, &gone) {
            self.tell(RegistrationChange::Registered, hook, ChangedWith::Engine(generation));
        }
    }

    /// Publishes that a hook was added or removed.
    pub(crate) fn tell(&self, change: RegistrationChange, hook: &Hook, with: ChangedWith) {
        if let Some(topics) = self.topics.upgrade() {
            let registration = HookRegistration::now(change, hook.identity.clone(), with);
            HookRegistration::topic(&topics).publish(&Arc::new(registration));
        }
    }
}

/// Returns the effective hooks: switched on, and trusted or blocking untrusted.
pub(crate) fn in_force(registry: &HookRegistry) -> Vec<Arc<Hook>> {
    let counts = registry.list().into_iter();
    counts
        .filter(|listing| listing.enabled && (listing.trusted || listing.hook.blocks_unrun()))
        .map(|listing| listing.hook)
        .collect()
}

/// A hook's identity over reloads: all fields that determine what runs, when, and what its failure
/// means.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'h> {
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

fn identity(hook: &Hook) -> Identity<'_> {
    let file = hook.place.as_ref().and_then(|place| place.file.as_deref());
    Identity {
        event: hook.event,
        name: hook.display_name(),
        command: hook.command(),
        variables: hook.variables(),
        matcher: hook.matcher.text(),
        source: hook.source.as_str(),
        file: file.map(|file| file.as_path()),
        blocks_unrun: hook.blocks_unrun(),
        fail_behavior: hook.fail_behavior,
        timeout: hook.timeout,
        is_async: hook.runs_in_background(),
        priority: hook.priority,
        sequential: hook.sequential,
    }
}

/// Returns the hooks of `these` that are not in `those`, counting equal ones.
fn without<'h>(these: &'h [Arc<Hook>], those: &'h [Arc<Hook>]) -> Vec<&'h Arc<Hook>> {
    let mut known: HashMap<Identity<'h>, usize> = HashMap::new();
    for hook in those {
        *known.entry(identity(hook)).or_default() += 1;
    }
    let mut rest = Vec::new();
    for hook in these {
        match known.get_mut(&identity(hook)) {
            Some(count @ 1..) => *count -= 1,
            _ => rest.push(hook),
        }
    }
    rest
}
