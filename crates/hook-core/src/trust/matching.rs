//! Which decision is about which hook.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::earlier;
use super::grant::Grant;
use crate::settings::HookEntry;

/// The decision that a hook has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Match<'g> {
    /// One that fits.
    Fits(&'g Grant),
    /// One of the first version that fits, as far as those say anything.
    FitsInPart(&'g Grant),
    /// One that does not fit any more.
    Was(&'g Grant),
    /// The same about a hook of another event.
    WasOnAnotherEvent(&'g Grant),
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
    /// Finds the decision about each hook. `fingerprint` gives that of the hook at an index; it is
    /// only asked where a decision could fit.
    pub(super) fn of(
        entries: &[&HookEntry],
        grants: &'g [Grant],
        project: &Path,
        fingerprint: impl Fn(usize) -> Option<String>,
    ) -> Self {
        let mut by_identity: HashMap<_, Vec<&'g Grant>> = HashMap::new();
        for grant in grants {
            by_identity.entry(grant.identity()).or_default().push(grant);
        }
        let fitting = |index: usize, entry: &HookEntry| {
            let grants = by_identity.get(&identity(entry))?;
            let (earlier, current): (Vec<&Grant>, Vec<&Grant>) =
                grants.iter().partition(|grant| grant.is_of_earlier_form());
            let find = |grants: &[&'g Grant], fingerprint: Option<String>| {
                let fingerprint = fingerprint?;
                grants.iter().rev().find(|it| it.fingerprint == fingerprint).copied()
            };
            if !current.is_empty()
                && let Some(grant) = find(&current, fingerprint(index))
            {
                return Some(Match::Fits(grant));
            }
            if earlier.is_empty() {
                return None;
            }
            find(&earlier, earlier::fingerprint(entry, project, project)).map(Match::FitsInPart)
        };
        let fits: Vec<Option<Match<'g>>> =
            entries.iter().enumerate().map(|(index, entry)| fitting(index, entry)).collect();
        let mut taken: HashSet<*const Grant> = HashSet::new();
        for fit in &fits {
            if let Some(Match::Fits(grant) | Match::FitsInPart(grant)) = fit {
                taken.insert(std::ptr::from_ref(*grant));
            }
        }
        let is_free = |grant: &&Grant| !taken.contains(&std::ptr::from_ref(*grant));
        let earlier = Earlier::of(grants.iter().filter(is_free));
        let hooks: Vec<Match<'g>> = entries
            .iter()
            .zip(&fits)
            .map(|(entry, fit)| fit.unwrap_or_else(|| earlier.find(entry)))
            .collect();
        for hook in &hooks {
            if let Match::Was(grant) = hook {
                taken.insert(std::ptr::from_ref(*grant));
            }
        }
        let is_free = |grant: &&Grant| !taken.contains(&std::ptr::from_ref(*grant));
        // A hook that another decision fits is there, although it is not what this one is about: it is
        // again what it was before, as after a change of branches.
        let is_there = |grant: &&Grant| {
            fits.iter().flatten().any(|fit| match fit {
                Match::Fits(older) | Match::FitsInPart(older) => {
                    older.covers_the_same(grant) || older.replaced && older.is_akin_to(grant)
                }
                _ => false,
            })
        };
        let missed = |grant: &&Grant| !grant.replaced && is_free(grant) && !is_there(grant);
        let gone = grants.iter().filter(missed);
        Self { gone: gone.collect(), hooks }
    }
}

fn identity(entry: &HookEntry) -> (&str, Option<&str>, &str) {
    (entry.event.as_str(), entry.name.as_deref(), &entry.command)
}

/// Decisions that fit no hook any more, by what a hook can still be known by. Of several the latest
/// counts that no later one replaced.
#[derive(Default)]
struct Earlier<'g> {
    same: HashMap<(&'g str, Option<&'g str>, &'g str), &'g Grant>,
    by_name: HashMap<(&'g str, &'g str), &'g Grant>,
    by_command: HashMap<(&'g str, &'g str), &'g Grant>,
    on_another_event: HashMap<(Option<&'g str>, &'g str), &'g Grant>,
}

impl<'g> Earlier<'g> {
    fn of(grants: impl Iterator<Item = &'g Grant>) -> Self {
        let (replaced, last): (Vec<_>, Vec<_>) = grants.partition(|grant| grant.replaced);
        let mut earlier = Self::default();
        for grant in replaced.into_iter().chain(last) {
            let (event, name, command) = grant.identity();
            earlier.same.insert((event, name, command), grant);
            if let Some(name) = name {
                earlier.by_name.insert((event, name), grant);
            }
            earlier.by_command.insert((event, command), grant);
            earlier.on_another_event.insert((name, command), grant);
        }
        earlier
    }

    fn find(&self, entry: &HookEntry) -> Match<'g> {
        let (event, name, command) = identity(entry);
        let by_name = || name.and_then(|name| self.by_name.get(&(event, name)));
        let same_event = self
            .same
            .get(&(event, name, command))
            .or_else(by_name)
            .or_else(|| self.by_command.get(&(event, command)));
        match (same_event, self.on_another_event.get(&(name, command))) {
            (Some(grant), _) => Match::Was(grant),
            (None, Some(grant)) => Match::WasOnAnotherEvent(grant),
            (None, None) => Match::None,
        }
    }
}
