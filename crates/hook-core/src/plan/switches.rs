//! Evaluation of the switches that disable a hook: settings of its own source or more trusted ones,
//! and the host at run time.

use std::collections::HashSet;

use super::hook::Hook;
use super::switched_off::{Switch, SwitchedOff};
use hook_settings::{HookSource, SettingsFile};

/// The names that a file disables, as a set.
pub(super) struct Disabled<'f> {
    file: &'f SettingsFile,
    names: HashSet<&'f str>,
}

impl<'f> Disabled<'f> {
    pub(super) fn by(file: &'f SettingsFile) -> Self {
        Self { file, names: file.config.disabled.iter().map(String::as_str).collect() }
    }
}

/// Returns the settings that disable a hook: of its own source, and of more trusted ones.
pub(super) fn switched_off(
    name: &str,
    own: &SettingsFile,
    disabled: &[Disabled<'_>],
) -> Vec<SwitchedOff> {
    let by = |switch, file: &SettingsFile| SwitchedOff {
        switch,
        source: file.source.clone(),
        file: file.path.clone(),
    };
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

/// Checks whether a hook is enabled. One declared by a disabled worker under `*` is disabled.
pub(super) fn is_on(hook: &Hook, switches: &[(String, bool)]) -> bool {
    let by_itself = switch_of(hook, switches).unwrap_or(hook.switched_off.is_empty());
    by_itself && hook.declared_by.as_ref().is_none_or(|worker| is_on(worker, switches))
}

/// Returns the switches that disable a hook. A run-time switch of the host overrides all others.
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
