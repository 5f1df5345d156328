//! A private project, with a home beside it, so that nobody's own settings are measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use hook_bus::HookSystem;
use hook_settings::SettingsSource;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [project.path(), project.home()] {
            std::fs::create_dir(folder).unwrap();
        }
        project
    }

    /// A project with these commands as hooks of one event, for the tools that `matcher` matches.
    pub(crate) fn with_hooks(event: &str, matcher: &str, commands: &[String]) -> Self {
        let project = Self::new();
        let hook = |command: &String| json!({"type": "command", "command": command});
        let hooks: Vec<Value> = commands.iter().map(hook).collect();
        let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": hooks}]}});
        std::fs::write(project.settings(), settings.to_string()).unwrap();
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.path().join("settings.json")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A hook system on the project's settings.
    pub(crate) fn system(&self) -> HookSystem {
        let settings = SettingsSource::explicit(self.settings());
        HookSystem::builder(self.path()).settings(settings).build().unwrap()
    }

    /// A program to be run in the project, by its user.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.path())
            .env("HOME", self.home())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("HOOK_LOG")
            .env_remove("HOOK_DEPTH");
        command
    }
}
