//! Settings files in run order, and hooks that stand in more than one place.

use std::collections::HashMap;
use std::path::Path;

use hook_bus::HookSystem;
use hook_core::settings::Severity;
use hook_core::{HookListing, HookSource, SettingsSource};

use super::{Finding, Health, Section};
use crate::context::Context;

pub(super) fn section(context: &Context, system: &HookSystem) -> Section {
    let findings = context.sources().iter().map(|source| file(source, system)).collect();
    Section { title: "Settings, in run order", empty: "", findings }
}

fn file(source: &SettingsSource, system: &HookSystem) -> Finding {
    let subject = format!("{} {}", source.source, source.path.display());
    if !source.path.exists() {
        return Finding::new(Health::Absent, subject, "not there");
    }
    let hooks = system.hooks().unwrap_or_default();
    let of_file = |listing: &&HookListing| {
        let place = listing.hook.place.as_ref();
        place.and_then(|place| place.file.as_deref()) == Some(&source.path)
    };
    let hooks = hooks.iter().filter(of_file).count();
    let diagnostics = system.diagnostics().unwrap_or_default();
    let of_severity = |severity: Severity| {
        let in_file = diagnostics.iter().filter(|diagnostic| {
            diagnostic.place.file.as_deref() == Some(&source.path)
                && diagnostic.severity == severity
        });
        in_file.count()
    };
    let (errors, warnings) = (of_severity(Severity::Error), of_severity(Severity::Warning));
    let counted = format!(
        "{}, {}, {}",
        count(hooks, "hook"),
        count(errors, "error"),
        count(warnings, "warning")
    );
    if errors + warnings > 0 {
        let health = if errors > 0 { Health::Bad } else { Health::Odd };
        return Finding::new(health, subject, counted)
            .mend("`hook check` shows each with its line");
    }
    // Whoever can write a trusted file decides what runs.
    if source.source != HookSource::Project && is_writable_by_others(&source.path) {
        let detail = "anybody on this machine can write it, and with it decide what runs";
        return Finding::new(Health::Odd, subject, detail)
            .mend(format!("chmod go-w {}", source.path.display()));
    }
    Finding::new(Health::Good, subject, count(hooks, "hook"))
}

/// Hooks that stand in more than one place and run once.
pub(super) fn duplicates(system: &HookSystem) -> Section {
    let hooks = system.hooks().unwrap_or_default();
    let key = |listing: &HookListing| {
        let (name, command) = listing.hook.identity()?;
        Some((listing.hook.event, name.map(str::to_owned), command.to_owned()))
    };
    let mut copies: HashMap<_, Vec<&HookListing>> = HashMap::new();
    for listing in &hooks {
        if let Some(key) = key(listing) {
            copies.entry(key).or_default().push(listing);
        }
    }
    let mut findings = Vec::new();
    for listing in &hooks {
        // Taken out at the first copy, so that each is told once and in run order.
        let Some(copies) = key(listing).and_then(|key| copies.remove(&key)) else { continue };
        if copies.len() < 2 {
            continue;
        }
        let places: Vec<String> = copies
            .iter()
            .map(|copy| {
                let place = copy.hook.place.as_ref().map(ToString::to_string);
                format!("{} {}", copy.hook.source, place.unwrap_or_default()).trim().to_owned()
            })
            .collect();
        let subject = format!("{} {}", listing.hook.event, listing.hook.display_name());
        let detail = format!("runs once, and stands in {}", places.join(" and in "));
        findings.push(Finding::new(Health::Odd, subject, detail).mend("remove all but one"));
    }
    Section { title: "Duplicates", empty: "no hook stands in two places", findings }
}

pub(super) fn count(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

#[cfg(unix)]
pub(super) fn is_writable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o002 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_writable_by_others(_: &Path) -> bool {
    false
}
