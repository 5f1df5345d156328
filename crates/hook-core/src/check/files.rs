//! Checks files of settings.

use super::findings::{CheckedFile, Finding, Findings, Surroundings, project_of};
use super::{asynchronous, command, matcher, module, names, script, timeout, upstream, worker};
use crate::settings::{
    Diagnostic, FileSpans, HooksConfig, Rule, SettingsFile, SettingsSource, load_all,
};

/// Reads and checks settings. Files that may be absent and are, are left out.
///
/// A file that stands where a project keeps its settings (`DIR/.hooks/settings.json`) is checked as
/// the settings of that project, any other as of the project of the surroundings.
pub fn check(sources: &[SettingsSource], surroundings: &Surroundings) -> Vec<CheckedFile> {
    let mut events = surroundings.events.clone();
    let mut files: Vec<CheckedFile> = load_all(sources, &mut events, |_| {})
        .into_iter()
        .flatten()
        .map(|(file, text)| CheckedFile { file, text })
        .collect();
    let found: Vec<Vec<Diagnostic>> =
        (0..files.len()).map(|index| check_file(&files, index, surroundings)).collect();
    for (checked, found) in files.iter_mut().zip(found) {
        checked.file.diagnostics = found;
    }
    files
}

fn check_file(files: &[CheckedFile], index: usize, surroundings: &Surroundings) -> Vec<Diagnostic> {
    let Some(checked) = files.get(index) else { return Vec::new() };
    let file = &checked.file;
    let host = &surroundings.project;
    let surroundings = Surroundings {
        project: project_of(file).unwrap_or_else(|| host.clone()),
        ..surroundings.clone()
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
    // How hooks of other agents are written is their homes' matter.
    let ours = SettingsFile {
        hooks: file.hooks.iter().filter(|entry| entry.is_ours()).cloned().collect(),
        ..file.clone()
    };
    let unplaced = unplaced(file);
    // But for matchers that are objects, which their homes do not know.
    [file, &unplaced].into_iter().for_each(|file| matcher::check(file, &mut findings));
    for file in [&ours, &unplaced] {
        timeout::check(file, &mut findings);
        asynchronous::check(file, &mut findings);
        command::check(file, &mut findings);
        worker::check(file, &mut findings);
        module::check(file, &mut findings);
        script::check(file, &surroundings, &mut findings);
    }
    upstream::check(file, &surroundings, &mut findings);
    names::check(files, index, host, &mut findings);
    findings.into_diagnostics()
}

/// The hooks of a file under names that are no events, as a file of their own.
fn unplaced(file: &SettingsFile) -> SettingsFile {
    SettingsFile {
        config: HooksConfig::default().into(),
        hooks: file.spans.unplaced.clone(),
        diagnostics: Vec::new(),
        spans: FileSpans::default(),
        ..file.clone()
    }
}
