//! What switches a hook off: the settings of its own source and of those that are trusted more, and
//! the host at run time.

use std::collections::HashSet;

use super::hook::Hook;
use super::switched_off::{Switch, SwitchedOff};
use crate::settings::{HookEntry, HookSource, SettingsFile};

/// The names that a file switches off, to be looked up for every hook.
pub(super) struct Disabled<'f> {
    file: &'f SettingsFile,
    names: HashSet<&'f str>,
}

impl<'f> Disabled<'f> {
    pub(super) fn by(file: &'f SettingsFile) -> Self {
        Self { file, names: file.config.disabled.iter().map(String::as_str).collect() }
    }
}

/// Everybody who says that the hook does not run: its own source, and those that are trusted more.
pub(super) fn switched_off(
    entry: &HookEntry,
    own: &SettingsFile,
    disabled: &[Disabled<'_>],
) -> Vec<SwitchedOff> {
    let by = |switch, file: &SettingsFile| SwitchedOff {
        switch,
        source: file.source.clone(),
        file: file.path.clone(),
    };
    let name = entry.display_name();
    let enabled = (!own.config.enabled).then(|| by(Switch::Enabled, own));
    let listed = disabled
        .iter()
        .filter(|Disabled { file, names }| file.governs(own) && names.contains(name))
        .map(|disabled| by(Switch::Disabled, disabled.file));
    enabled.into_iter().chain(listed).collect()
}

fn switch_of(hook: &Hook, switches: &[(String, bool)]) -> Option<bool> {
    switches.iter().find(|(name, _)| name == hook.display_name()).map(|(_, enabled)| *enabled)
}

/// Whether a hook is on; one that a worker under `*` has declared is off where that is.
pub(super) fn is_on(hook: &Hook, switches: &[(String, bool)]) -> bool {
    let by_itself = switch_of(hook, switches).unwrap_or(hook.switched_off.is_empty());
    by_itself && hook.declared_by.as_ref().is_none_or(|worker| is_on(worker, switches))
}

/// Who keeps a hook off. The host's word at run time counts alone.
pub(super) fn disabled_by(hook: &Hook, switches: &[(String, bool)]) -> Vec<SwitchedOff> {
    let mut by = match switch_of(hook, switches) {
        Some(true) => Vec::new(),
        Some(false) => {
            vec![SwitchedOff { switch: Switch::Host, source: HookSource::InProcess, file: None }]
        }
        None => hook.switched_off.clone(),
    };
    by.extend(hook.declared_by.iter().flat_map(|worker| disabled_by(worker, switches)));
    by
}
