//! Shells and interpreters.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hook_bus::{HookSystem, InitializeError};
use hook_files::program;
use hook_files::project_tree::ProjectTree;
use hook_json::text::PathText;
use hook_shell::{is_started_program, started_programs};

use crate::render::{Finding, Health, Section};

/// The most common interpreters of hooks.
const INTERPRETERS: [&str; 3] = ["sh", "python3", "node"];

pub(super) fn section(
    system: &HookSystem,
    init_error: Option<&InitializeError>,
    project: &Path,
) -> Section {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (path, excluded) =
        ProjectTree::new(project).split_search_path(&path, is_started_program, started_programs());
    let mut findings = Vec::new();
    if let Some(error) = init_error {
        findings.push(Finding::new(Health::Bad, "engine", error.to_string()));
    }
    if let Ok(shell) = system.shell() {
        let detail = format!("{}, which runs the commands of hooks", shell.shown());
        findings.push(Finding::new(Health::Good, "shell", detail));
    }
    findings.extend(INTERPRETERS.map(|name| match find(&path, name) {
        Some(path) => Finding::new(Health::Good, name, path.shown().to_string()),
        None => Finding::new(Health::Absent, name, "not in PATH; hooks written in it would fail"),
    }));
    if !excluded.is_empty() {
        let folders: Vec<String> =
            excluded.iter().map(|folder| folder.shown().to_string()).collect();
        let detail = format!("hooks do not look for programs in {}", folders.join(", "));
        findings.push(Finding::new(Health::Warning, "PATH", detail).fix(
            "name programs of the project by their paths, or let \"hooksConfig\": {\"environment\": {\"allow\": [\"PATH\"]}} of the user's settings have them looked for there",
        ));
    }
    Section { title: "Shells and interpreters", empty: "", findings }
}

/// Returns the file that `PATH` gives for a name.
fn find(path: &OsStr, name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    program::find(path, &name)
}
