//! Shadowed hooks: of several files with one name in hook folders, or of a module found twice, only
//! one runs. It is that of the most trusted source, and the first among equals.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::switched_off::{Switch, SwitchedOff};
use super::switches::{Disabled, switched_off};
use hook_json::text::PathText;
use hook_settings::{FailBehavior, HookEntry, SettingsFile};
use hook_trust::Trust;

/// Shadowed hooks by file and entry index, with the hook that shadows each.
pub(super) type Shadowed = HashMap<(usize, usize), SwitchedOff>;

/// Finds the shadowed hooks. Untrusted or disabled hooks shadow no others.
pub(super) fn shadowed(
    files: &[SettingsFile],
    trust: &[Vec<Trust>],
    disabled: &[Disabled<'_>],
) -> Shadowed {
    let mut candidates: Vec<((usize, usize), String, &SettingsFile, &HookEntry)> = Vec::new();
    for (index, (file, trust)) in files.iter().zip(trust).enumerate() {
        for (entry_index, (entry, trust)) in file.hooks.iter().zip(trust).enumerate() {
            let Some(key) = shadow_key(entry) else { continue };
            if trust.is_trusted() && switched_off(entry.display_name(), file, disabled).is_empty() {
                candidates.push(((index, entry_index), key, file, entry));
            }
        }
    }
    let is_no_guard = |entry: &HookEntry| entry.fail_behavior != FailBehavior::Block;
    candidates.sort_by_key(|(position, _, file, entry)| {
        (Reverse(file.source.trust_rank()), is_no_guard(entry), *position)
    });
    let mut winners: HashMap<String, (&SettingsFile, &HookEntry)> = HashMap::new();
    let mut shadowed = Shadowed::new();
    for (position, key, file, entry) in candidates {
        match winners.get(&key) {
            None => {
                winners.insert(key, (file, entry));
            }
            Some((by, winner)) => {
                let location = winner.location.file.as_deref().cloned();
                let by = SwitchedOff {
                    switch: Switch::Shadowed,
                    source: by.source.clone(),
                    file: location,
                };
                shadowed.insert(position, by);
            }
        }
    }
    shadowed
}

/// Returns the key that hooks shadowing each other share.
fn shadow_key(entry: &HookEntry) -> Option<String> {
    match (&entry.purpose, &entry.module) {
        (Some(stands_for), _) => Some(stands_for.to_string()),
        (None, Some(module)) => Some(format!("module {}", module.shown())),
        (None, None) => None,
    }
}
