//! The decisions of a project's hooks.

use std::collections::{HashMap, HashSet};

use super::fingerprint::fingerprint;
use super::grant::Grant;
use hook_settings::{FailBehavior, HookEntry, MatcherDefinition};

/// The decision that a hook has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Match<'g> {
    /// One about the hook as it is; its files may differ.
    Current(&'g Grant),
    /// One that does not fit any more.
    Changed(&'g Grant),
    /// The same about a hook of another event.
    OtherEvent(&'g Grant),
    /// None.
    None,
}

impl<'g> Match<'g> {
    /// The fingerprint of a decision about a hook that is on another event now.
    pub(super) fn moved(&self) -> Option<&'g str> {
        match self {
            Self::OtherEvent(grant) => Some(&grant.fingerprint),
            Self::Current(_) | Self::Changed(_) | Self::None => None,
        }
    }
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
        let mut used: HashSet<&str> =
            fits.iter().flatten().map(|grant| &*grant.fingerprint).collect();
        let outdated: Vec<&'g Grant> =
            latest.iter().copied().filter(|grant| !used.contains(&*grant.fingerprint)).collect();
        let changed = changed(entries, &fits, &outdated);
        used.extend(changed.iter().flatten().map(|grant| &*grant.fingerprint));
        let moved: HashMap<(Option<&str>, &str), &'g Grant> = outdated
            .into_iter()
            .filter(|grant| !used.contains(&*grant.fingerprint))
            .map(|grant| ((grant.name.as_deref(), &*grant.command), grant))
            .collect();
        let hook =
            |((entry, fits), changed): ((&&HookEntry, &Option<&'g Grant>), &Option<&'g Grant>)| {
                let moved = || moved.get(&(entry.name.as_deref(), &*entry.command)).copied();
                match (fits, changed) {
                    (Some(grant), _) => Match::Current(grant),
                    (None, Some(grant)) => Match::Changed(grant),
                    (None, None) => moved().map_or(Match::None, Match::OtherEvent),
                }
            };
        let hooks: Vec<Match<'g>> = entries.iter().zip(&fits).zip(&changed).map(hook).collect();
        let gone = latest.into_iter().filter(|grant| !used.contains(&*grant.fingerprint));
        Self { gone: gone.collect(), hooks }
    }
}

fn identity(entry: &HookEntry) -> (&str, Option<&str>, &str) {
    (entry.event.as_str(), entry.name.as_deref(), &entry.command)
}

/// The fields by which a changed hook is recognized, the most specific first.
#[derive(Debug, Clone, Copy)]
enum Trait {
    Matcher,
    FailBehavior,
    Identity,
    Name,
    Command,
}

/// The values of such fields.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key<'k> {
    event: &'k str,
    name: Option<&'k str>,
    command: Option<&'k str>,
    matcher: Option<Option<MatcherDefinition>>,
    blocks: Option<bool>,
}

impl Trait {
    const ALL: [Self; 5] =
        [Self::Matcher, Self::FailBehavior, Self::Identity, Self::Name, Self::Command];

    fn of_entry<'k>(self, entry: &'k HookEntry) -> Option<Key<'k>> {
        let matcher = || Some(entry.matcher.as_deref().cloned());
        let blocks = || Some(entry.fail_behavior == FailBehavior::Block);
        self.key(identity(entry), matcher, blocks)
    }

    fn of_grant<'k>(self, grant: &'k Grant) -> Option<Key<'k>> {
        let blocks = || Some(grant.fail_behavior()? == FailBehavior::Block);
        self.key(grant.identity(), || grant.matcher(), blocks)
    }

    /// `None` where one of its parts is not known.
    fn key<'k>(
        self,
        (event, name, command): (&'k str, Option<&'k str>, &'k str),
        matcher: impl FnOnce() -> Option<Option<MatcherDefinition>>,
        blocks: impl FnOnce() -> Option<bool>,
    ) -> Option<Key<'k>> {
        let key = Key { event, name, command: Some(command), matcher: None, blocks: None };
        match self {
            Self::Matcher => {
                Some(Key { matcher: Some(matcher()?), blocks: Some(blocks()?), ..key })
            }
            Self::FailBehavior => Some(Key { blocks: Some(blocks()?), ..key }),
            Self::Identity => Some(key),
            Self::Name => name.map(|_| Key { command: None, ..key }),
            Self::Command => Some(Key { name: None, ..key }),
        }
    }
}

/// Finds for each hook without a decision that fits the one that it had before it changed. A decision is
/// about one hook alone: of several hooks with one name and command, each keeps its own. Of several decisions
/// the latest counts.
fn changed<'g>(
    entries: &[&HookEntry],
    fits: &[Option<&'g Grant>],
    outdated: &[&'g Grant],
) -> Vec<Option<&'g Grant>> {
    let mut changed: Vec<Option<&'g Grant>> = vec![None; entries.len()];
    let mut taken: HashSet<&str> = HashSet::new();
    for kind in Trait::ALL {
        let mut by_key: HashMap<Key<'_>, Vec<&'g Grant>> = HashMap::new();
        for grant in outdated.iter().filter(|grant| !taken.contains(&*grant.fingerprint)) {
            if let Some(key) = kind.of_grant(grant) {
                by_key.entry(key).or_default().push(grant);
            }
        }
        for ((entry, fits), found) in entries.iter().zip(fits).zip(&mut changed) {
            if fits.is_some() || found.is_some() || by_key.is_empty() {
                continue;
            }
            let grants = kind.of_entry(entry).and_then(|key| by_key.get_mut(&key));
            *found = grants.and_then(Vec::pop);
            taken.extend(found.map(|grant| &*grant.fingerprint));
        }
    }
    changed
}
