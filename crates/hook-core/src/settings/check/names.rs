//! Hooks by their names: those in `disabled`, and those that stand twice.

use std::collections::HashMap;
use std::ops::Range;

use super::{CheckedFile, Finding, Findings};
use crate::event::HookEventName;
use crate::nearest::{nearest, shortened};
use crate::settings::{HookEntry, HookSource, Rule, SettingsFile, Severity};

pub(super) fn check(files: &[CheckedFile], index: usize, findings: &mut Findings<'_>) {
    let Some(CheckedFile { file, .. }) = files.get(index) else { return };
    for (position, (name, range)) in
        file.config.disabled.iter().zip(&file.spans.disabled).enumerate()
    {
        look_at_disabled(files, file, name, (range, position), findings);
    }
    look_for_duplicates(files, index, findings);
}

/// What a hook is switched off by.
fn name_of(entry: &HookEntry) -> &str {
    entry.name.as_deref().unwrap_or(&entry.command)
}

fn look_at_disabled(
    files: &[CheckedFile],
    own: &SettingsFile,
    name: &str,
    (range, position): (&Range<usize>, usize),
    findings: &mut Findings<'_>,
) {
    let reaches =
        |other: &SettingsFile| std::ptr::eq(own, other) || own.source.may_disable(&other.source);
    let hooks = || {
        let files = files.iter().map(|checked| &checked.file);
        files.flat_map(|file| file.hooks.iter().map(move |entry| (file, entry)))
    };
    if hooks().any(|(file, entry)| reaches(file) && name_of(entry) == name) {
        return;
    }
    let shown = shortened(name);
    let path = format!("hooksConfig.disabled[{position}]");
    let finding = |message| Finding::new(Rule::DisabledUnknown, range, path, message);
    if let Some((file, _)) = hooks().find(|(_, entry)| name_of(entry) == name) {
        let message = format!(
            "`{shown}` is a hook of the {} settings, which {} settings cannot switch off",
            file.source, own.source
        );
        let remedy = format!("switch it off in the {} settings themselves", file.source);
        findings.add(finding(message).remedy(remedy));
        return;
    }
    let suggestion =
        nearest(name, hooks().filter(|(file, _)| reaches(file)).map(|(_, entry)| name_of(entry)));
    let mut finding = finding(format!("`{shown}` names no hook"));
    finding.diagnostic.suggestion = suggestion.map(str::to_owned);
    // Others than a project's own may be about hooks of another project.
    if suggestion.is_none() && own.source.may_disable(&HookSource::Project) {
        finding.diagnostic.severity = Severity::Hint;
    }
    findings.add(finding);
}

/// What two hooks have in common that are one.
type Identity<'f> = (HookEventName, &'f str, Option<&'f str>, &'f str);

fn identity(entry: &HookEntry) -> Identity<'_> {
    // These match the same.
    let matcher = entry.matcher.as_deref().unwrap_or_default().trim();
    let matcher = if matcher == "*" { "" } else { matcher };
    (entry.event, matcher, entry.name.as_deref(), &entry.command)
}

/// A hook that stands in an earlier file, or earlier in its own, is reported where it stands again.
fn look_for_duplicates(files: &[CheckedFile], index: usize, findings: &mut Findings<'_>) {
    let mut first: HashMap<Identity<'_>, &HookEntry> = HashMap::new();
    for (position, checked) in files.iter().enumerate().take(index + 1) {
        for entry in &checked.file.hooks {
            let earlier = *first.entry(identity(entry)).or_insert(entry);
            if std::ptr::eq(earlier, entry) || position < index {
                continue;
            }
            let name = shortened(name_of(entry));
            let message = format!(
                "the hook `{name}` stands already at {}, for the same event and matcher; it runs \
                 once",
                earlier.place
            );
            let range = entry.spans.command.clone().unwrap_or_default();
            let path = super::path_of(entry, "command");
            findings.add(Finding::new(Rule::DuplicateHook, &range, path, message));
        }
    }
}
