//! A private project.

use std::fs;
use std::path::{Path, PathBuf};

use hook_bus::{HookSystem, HookSystemBuilder};
use hook_settings::SettingsSource;
use serde_json::Value;
use tempfile::TempDir;

/// A project in a folder of its own, with a home beside it.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// An empty project.
    ///
    /// # Panics
    /// When no folder can be made.
    #[expect(clippy::expect_used, reason = "without a folder there is no test")]
    #[expect(clippy::new_without_default, reason = "making one has side effects")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("failed to make a temporary folder");
        let project = Self { folder };
        for path in [project.path(), project.home()] {
            fs::create_dir(path).expect("failed to make a folder");
        }
        project
    }

    /// A project with settings.
    pub fn with_settings(settings: &Value) -> Self {
        let project = Self::new();
        project.write("settings.json", &settings.to_string());
        project
    }

    /// A project with one hook: that command for that event.
    pub fn with_hook(event: &str, command: &str) -> Self {
        Self::with_settings(&serde_json::json!({"hooks": {event: [
            {"hooks": [{"type": "command", "command": command}]}]}}))
    }

    /// The project's folder.
    pub fn path(&self) -> PathBuf {
        // Resolved, since hooks are told the real path.
        let folder = fs::canonicalize(self.folder.path());
        folder.unwrap_or_else(|_| self.folder.path().to_path_buf()).join("project")
    }

    /// The home of its user.
    pub fn home(&self) -> PathBuf {
        let folder = fs::canonicalize(self.folder.path());
        folder.unwrap_or_else(|_| self.folder.path().to_path_buf()).join("home")
    }

    /// The settings file that [`with_settings`](Self::with_settings) wrote.
    pub fn settings(&self) -> PathBuf {
        self.path().join("settings.json")
    }

    /// Writes a file, relative to the project.
    ///
    /// # Panics
    /// When it cannot be written.
    #[expect(clippy::expect_used, reason = "without its files there is no test")]
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))
            .expect("failed to make a folder");
        fs::write(&path, text).expect("failed to write a file");
        path
    }

    /// Reads a file, relative to the project; empty when it is not there.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    /// A hook system on the project with the file that [`with_settings`](Self::with_settings)
    /// wrote, if it did.
    pub fn builder(&self) -> HookSystemBuilder {
        let builder = HookSystem::builder(self.path()).session_id("test");
        match self.settings().is_file() {
            true => builder.settings(SettingsSource::explicit(self.settings())),
            false => builder,
        }
    }

    /// [`builder`](Self::builder), built.
    ///
    /// # Panics
    /// Never: a bus of its own has no other handler.
    #[expect(clippy::expect_used, reason = "a bus of its own has no other handler")]
    pub fn system(&self) -> HookSystem {
        self.builder().build().expect("a bus of its own has no other handler")
    }
}
