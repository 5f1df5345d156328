//! Shells and interpreters.

use std::path::PathBuf;

use hook_bus::{HookSystem, InitializeError};
use hook_core::files::program;

use crate::render::{Finding, Health, Section};

/// What hooks are most often written in.
const INTERPRETERS: [&str; 3] = ["sh", "python3", "node"];

pub(super) fn section(system: &HookSystem, unfit: Option<&InitializeError>) -> Section {
    let mut findings = Vec::new();
    if let Some(unfit) = unfit {
        findings.push(Finding::new(Health::Bad, "engine", unfit.to_string()));
    }
    if let Ok(shell) = system.shell() {
        let detail = format!("{}, which runs the commands of hooks", shell.display());
        findings.push(Finding::new(Health::Good, "shell", detail));
    }
    findings.extend(INTERPRETERS.map(|name| match find(name) {
        Some(path) => Finding::new(Health::Good, name, path.display().to_string()),
        None => Finding::new(Health::Absent, name, "not in PATH; hooks written in it would fail"),
    }));
    Section { title: "Shells and interpreters", empty: "", findings }
}

/// The file that PATH gives for a name.
fn find(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    program::find(&std::env::var_os("PATH")?, &name)
}
