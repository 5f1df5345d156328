//! Checks settings files.

use super::findings::{CheckContext, CheckedFile, Finding, Findings, project_of};
use super::{hooks, matcher, names, rules, script, timeout};
use crate::language::Languages;
use crate::{Diagnostic, FileSpans, HooksConfig, Rule, SettingsFile, SettingsSource, load_all};

/// Reads and checks settings. Missing optional files are left out.
///
/// A file in a project's standard location (`DIR/.hooks/settings.json`) is checked as settings of
/// that project, any other file as settings of the project of `surroundings`.
pub fn check(sources: &[SettingsSource], context: &CheckContext) -> Vec<CheckedFile> {
    let mut events = context.events.clone();
    let mut files: Vec<CheckedFile> = load_all(sources, &mut events, |_| {})
        .into_iter()
        .flatten()
        .map(|(file, text)| CheckedFile { file, text })
        .collect();
    let languages: Languages = sources.iter().flat_map(|source| source.languages.all()).collect();
    let found: Vec<Vec<Diagnostic>> =
        (0..files.len()).map(|index| check_file(&files, index, context, &languages)).collect();
    let of_rules = rules::check(&files, &languages);
    for ((checked, found), of_rules) in files.iter_mut().zip(found).zip(of_rules) {
        checked.file.diagnostics = found;
        checked.file.diagnostics.extend(of_rules);
    }
    files
}

fn check_file(
    files: &[CheckedFile],
    index: usize,
    context: &CheckContext,
    languages: &Languages,
) -> Vec<Diagnostic> {
    let Some(checked) = files.get(index) else { return Vec::new() };
    let file = &checked.file;
    let host = &context.project;
    let context = CheckContext {
        project: project_of(file).unwrap_or_else(|| host.clone()),
        ..context.clone()
    };
    let mut findings = Findings::of(checked);
    for (range, path) in &file.spans.empty {
        findings.add(Finding::new(
            Rule::EmptyHooks,
            range,
            path.clone(),
            "the list of hooks is empty, so the definition does nothing",
        ));
    }
    // The format of foreign hooks is checked by their agents.
    let native = SettingsFile {
        hooks: file.hooks.iter().filter(|entry| entry.is_native_command()).cloned().collect(),
        ..file.clone()
    };
    let unknown_event_file = unknown_event_hooks(file);
    // Matchers of all hooks are checked, because the object form is native.
    for file in [file, &unknown_event_file] {
        matcher::check(file, languages, &mut findings);
    }
    for file in [&native, &unknown_event_file] {
        timeout::check(file, &mut findings);
        hooks::check(file, &mut findings);
        script::check(file, &context, &mut findings);
    }
    // What they start is the system's to find, whichever agent they are for.
    let foreign = SettingsFile {
        hooks: file.hooks.iter().filter(|entry| entry.foreign.is_some()).cloned().collect(),
        ..file.clone()
    };
    script::check(&foreign, &context, &mut findings);
    hooks::check_upstream(file, &context, &mut findings);
    names::check(files, index, host, &mut findings);
    findings.into_diagnostics()
}

/// Returns the hooks under unknown event names, as a separate file.
fn unknown_event_hooks(file: &SettingsFile) -> SettingsFile {
    SettingsFile {
        config: HooksConfig::default().into(),
        hooks: file.spans.unknown_event_hooks.clone(),
        diagnostics: Vec::new(),
        spans: FileSpans::default(),
        ..file.clone()
    }
}
