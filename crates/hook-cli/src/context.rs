//! What the common flags mean: the project, its settings, what is trusted, and the hook system of
//! them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hook_bus::HookSystem;
use hook_core::{SettingsSource, TrustPolicy, TrustStore};

use crate::args::Common;
use crate::error::CommandError;
use crate::output::Printer;

const SETTINGS: &str = ".hooks/settings.json";

/// Builds and initializes the hook system, and says what is wrong with its settings.
pub(crate) async fn hook_system(
    common: &Common,
    printer: &mut Printer,
) -> Result<HookSystem, CommandError> {
    let cwd = std::env::current_dir().map_err(CommandError::WorkingDirectory)?;
    let project = match &common.project {
        Some(project) => existing_directory(project, &cwd)?,
        None => nearest_project(&cwd),
    };
    let config_home = config_home();
    let mut builder = HookSystem::builder(&project).session_id(common.session_id.as_str());
    if common.project.is_none() {
        // Whoever stands in a folder of the project means that folder.
        builder = builder.working_directory(&cwd);
    }
    if let Some(timeout) = common.timeout {
        builder = builder.deadline(Duration::from_millis(timeout));
    }
    if common.settings.is_empty() {
        let user = config_home.as_deref().filter(|_| !common.no_user);
        builder = builder.native_settings(user);
    }
    for path in &common.settings {
        if let Err(source) = std::fs::metadata(path) {
            let what = "the settings file";
            return Err(CommandError::Read { what, path: path.clone(), source });
        }
        builder = builder.settings(SettingsSource::explicit(path));
    }
    if let Some(config_home) = &config_home {
        let store = TrustStore::new(config_home.join("hooks/trust.json"));
        builder = builder.trust(TrustPolicy::Store(store));
    }
    let system = builder.build()?;
    system.initialize().await?;
    show_settings_problems(&system, printer);
    let untrusted = system.hooks()?.iter().filter(|listing| !listing.trusted).count();
    if untrusted > 0 {
        let hooks = if untrusted == 1 { "hook does" } else { "hooks do" };
        printer.warning(&format!(
            "{untrusted} {hooks} not run, since the project {} is not trusted; name its settings \
             with --settings to run them",
            project.display()
        ));
    }
    Ok(system)
}

/// Says everything that is wrong with the settings.
pub(crate) fn show_settings_problems(system: &HookSystem, printer: &mut Printer) {
    for diagnostic in system.diagnostics().unwrap_or_default() {
        printer.settings_problem(&diagnostic);
    }
}

fn existing_directory(project: &Path, cwd: &Path) -> Result<PathBuf, CommandError> {
    let project = cwd.join(project);
    match std::fs::canonicalize(&project) {
        Ok(project) if project.is_dir() => Ok(project),
        Ok(project) => {
            Err(CommandError::Usage(format!("--project {} is no directory", project.display())))
        }
        Err(source) => {
            Err(CommandError::Read { what: "the project directory", path: project, source })
        }
    }
}

fn nearest_project(cwd: &Path) -> PathBuf {
    let project = cwd.ancestors().find(|directory| directory.join(SETTINGS).is_file());
    project.unwrap_or(cwd).to_path_buf()
}

fn config_home() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))
}
