//! Which decision is about which hook.

use std::collections::{HashMap, HashSet};

use super::fingerprint::fingerprint;
use super::grant::Grant;
use hook_settings::HookEntry;

/// The decision that a hook has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Match<'g> {
    /// One about the hook as it is; of its files nothing is said.
    Current(&'g Grant),
    /// One that does not fit any more.
    Changed(&'g Grant),
    /// The same about a hook of another event.
    OtherEvent(&'g Grant),
    /// None.
    None,
}

/// The hooks of a project beside the decisions about it.
#[derive(Debug)]
pub(super) struct Matched<'g> {
    /// For each hook, in order.
    pub(super) hooks: Vec<Match<'g>>,
    /// Decisions that no hook has: about hooks that are not there any more.
    pub(super) gone: Vec<&'g Grant>,
}

impl<'g> Matched<'g> {
    /// Finds the decision about each hook, of several the latest. One that a later decision replaced counts
    /// for nothing.
    pub(super) fn of(entries: &[&HookEntry], grants: &'g [Grant]) -> Self {
        let latest: Vec<&'g Grant> = grants.iter().filter(|grant| !grant.replaced).collect();
        let mut fitting: HashMap<&str, &'g Grant> = HashMap::new();
        for grant in latest.iter().filter(|grant| !grant.is_outdated()) {
            fitting.insert(&grant.fingerprint, grant);
        }
        let fits: Vec<Option<&'g Grant>> = match fitting.is_empty() {
            true => entries.iter().map(|_| None).collect(),
            false => {
                let fits = |entry: &&HookEntry| {
                    let grant = fitting.get(&*fingerprint(entry)).copied();
                    grant.filter(|grant| grant.identity() == identity(entry))
                };
                entries.iter().map(fits).collect()
            }
        };
        let mut used: HashSet<*const Grant> =
            fits.iter().flatten().map(|grant| std::ptr::from_ref(*grant)).collect();
        let is_unused = |taken: &HashSet<*const Grant>, grant: &'g Grant| {
            !taken.contains(&std::ptr::from_ref(grant))
        };
        let outdated = Outdated::of(latest.iter().copied().filter(|grant| is_unused(&used, grant)));
        let hook = |(entry, fits): (&&HookEntry, &Option<&'g Grant>)| {
            fits.map_or_else(|| outdated.find(entry), Match::Current)
        };
        let hooks: Vec<Match<'g>> = entries.iter().zip(&fits).map(hook).collect();
        for hook in &hooks {
            if let Match::Changed(grant) = hook {
                used.insert(std::ptr::from_ref(*grant));
            }
        }
        let has_successor =
            |grant: &Grant| fits.iter().flatten().any(|found| found.is_for_same_hook(grant));
        let gone =
            latest.into_iter().filter(|grant| is_unused(&used, grant) && !has_successor(grant));
        Self { gone: gone.collect(), hooks }
    }
}

fn identity(entry: &HookEntry) -> (&str, Option<&str>, &str) {
    (entry.event.as_str(), entry.name.as_deref(), &entry.command)
}

/// Decisions that fit no hook any more, by what a hook can still be known by. Of several the latest counts.
#[derive(Default)]
struct Outdated<'g> {
    by_identity: HashMap<(&'g str, Option<&'g str>, &'g str), &'g Grant>,
    by_name: HashMap<(&'g str, &'g str), &'g Grant>,
    by_command: HashMap<(&'g str, &'g str), &'g Grant>,
    by_name_and_command: HashMap<(Option<&'g str>, &'g str), &'g Grant>,
}

impl<'g> Outdated<'g> {
    fn of(grants: impl Iterator<Item = &'g Grant>) -> Self {
        let mut outdated = Self::default();
        for grant in grants {
            let (event, name, command) = grant.identity();
            outdated.by_identity.insert((event, name, command), grant);
            if let Some(name) = name {
                outdated.by_name.insert((event, name), grant);
            }
            outdated.by_command.insert((event, command), grant);
            outdated.by_name_and_command.insert((name, command), grant);
        }
        outdated
    }

    fn find(&self, entry: &HookEntry) -> Match<'g> {
        let (event, name, command) = identity(entry);
        let by_name = || name.and_then(|name| self.by_name.get(&(event, name)));
        let same_event = self
            .by_identity
            .get(&(event, name, command))
            .or_else(by_name)
            .or_else(|| self.by_command.get(&(event, command)));
        match (same_event, self.by_name_and_command.get(&(name, command))) {
            (Some(grant), _) => Match::Changed(grant),
            (None, Some(grant)) => Match::OtherEvent(grant),
            (None, None) => Match::None,
        }
    }
}
