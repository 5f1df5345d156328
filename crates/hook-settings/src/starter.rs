//! A first settings file with two example guards: for shell commands and for files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::edit::with_server;
use super::paths::{IN_CONFIG_HOME, IN_PROJECT};
pub use hook_files::atomic::{self, NewFile};
use hook_files::replace::replace_file;
use hook_files::{project_file, regular_file};
use hook_json::RawJson;
use hook_json::text::PathText;

/// The language of the guard for shell commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StarterKind {
    /// A script for the system's shell, run for each event.
    #[default]
    Command,
    /// A Python worker that uses only the standard library.
    PythonWorker,
    /// A JavaScript worker for Node, with types in comments.
    TypeScriptWorker,
}

impl StarterKind {
    /// Returns the script's file name and text, and the hook's type and command without the
    /// script's path.
    fn script(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Command if cfg!(windows) => {
                ("guard.ps1", include_str!("guard.ps1"), "command", "")
            }
            Self::Command => ("guard.sh", include_str!("guard.sh"), "command", ""),
            // Python's installer for Windows has no `python3`.
            Self::PythonWorker if cfg!(windows) => {
                ("guard.py", include_str!("guard.py"), "worker", "python ")
            }
            Self::PythonWorker => ("guard.py", include_str!("guard.py"), "worker", "python3 "),
            Self::TypeScriptWorker => ("guard.mjs", include_str!("guard.mjs"), "worker", "node "),
        }
    }
}

/// The command that refuses secrets, as JSON.
const REFUSE_SECRETS: &str = if cfg!(windows) {
    r#""cmd /d /c \"echo guard: .env files hold secrets; ask the user for what you need>&2& exit 2\"""#
} else {
    r#""echo 'guard: .env files hold secrets; ask the user for what you need' >&2; exit 2""#
};

/// The name of the example hook for commands.
pub const STARTER_HOOK: &str = "guard";
/// The name of the example hook for files.
const STARTER_FILE_HOOK: &str = "secrets";

/// A settings file and its script, not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// The settings file.
    pub settings: PathBuf,
    /// The contents of the settings file.
    pub settings_text: String,
    /// The script, which will be executable.
    pub script: PathBuf,
    /// The contents of the script.
    pub script_text: String,
    /// The project of the files, if any.
    project: Option<PathBuf>,
}

/// The error of writing the starter files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StarterError {
    /// A file exists already; nothing was written.
    #[error(
        "{} is there already, and nothing was written; `hook list` shows what is set up: add to it \
         by hand, or move it away and call this again", .0.shown()
    )]
    Exists(PathBuf),
    /// A file could not be written.
    #[error("failed to write {}: {source}", path.shown())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl Starter {
    /// Returns the files for a project: `.hooks/settings.json`, and the script in `.hooks/hooks`.
    pub fn of_project(project: &Path, kind: StarterKind) -> Self {
        let script = format!(".hooks/hooks/{}", kind.script().0);
        let path = match cfg!(windows) {
            true => format!("\"$HOOK_PROJECT_DIR/{script}\""),
            false => format!("$HOOK_PROJECT_DIR/{script}"),
        };
        let starter = Self::new(project.join(IN_PROJECT), project.join(script), &path, kind);
        Self { project: Some(project.to_path_buf()), ..starter }
    }

    /// Returns the files for a user: `hooks/settings.json`, and the script in `hooks/hooks`, below
    /// `config_home`, which is `$XDG_CONFIG_HOME` or its default.
    pub fn of_user(config_home: &Path, kind: StarterKind) -> Self {
        let script = config_home.join("hooks/hooks").join(kind.script().0);
        let path = format!("'{}'", script.to_string_lossy().replace('\'', "'\\''"));
        Self::new(config_home.join(IN_CONFIG_HOME), script, &path, kind)
    }

    fn new(settings: PathBuf, script: PathBuf, path: &str, kind: StarterKind) -> Self {
        let (_, script_text, hook_type, program) = kind.script();
        let settings_text = format!(
            r#"{{
  "hooks": {{
    "BeforeTool": [
      {{
        "matcher": "shell|[Bb]ash",
        "hooks": [
          {{
            "type": "{hook_type}",
            "name": "{STARTER_HOOK}",
            "description": "Refuses shell commands that destroy more than they should",
            "command": {},
            "timeout": 5000,
            "failBehavior": "block"
          }}
        ]
      }},
      {{
        "matcher": {{ "kind": ["file_write", "file_read"], "pathPattern": ["*.env", ".env.*", "!.env.example"] }},
        "hooks": [
          {{
            "type": "command",
            "name": "{STARTER_FILE_HOOK}",
            "description": "Keeps files of secrets out of reach, whatever the agent calls its tools",
            "command": {REFUSE_SECRETS},
            "failBehavior": "block"
          }}
        ]
      }},
      {{
        "matcher": {{ "kind": "shell", "commandPattern": "(^|[\\s'\"/=<>:])\\.env(\\.(?!example)\\w+)?($|[\\s'\";&|<>)])" }},
        "hooks": [
          {{
            "type": "command",
            "name": "secrets-in-commands",
            "description": "Keeps commands away from files that are called .env",
            "command": {REFUSE_SECRETS},
            "failBehavior": "block"
          }}
        ]
      }}
    ]
  }}
}}
"#,
            RawJson::from_text(&format!("{program}{path}")).as_str()
        );
        let script_text = script_text.to_owned();
        Self { settings, settings_text, script, script_text, project: None }
    }

    /// Writes both files. Existing files stay, even if another program creates them at the same
    /// time; then nothing is written.
    ///
    /// # Errors
    /// Returns an error if a file exists, cannot be written, or is behind a symlink of the project.
    pub fn write(&self) -> Result<(), StarterError> {
        for path in [&self.settings, &self.script] {
            let checked =
                self.project.iter().try_for_each(|project| project_file::check(project, path));
            checked.map_err(|source| StarterError::Io { path: path.clone(), source })?;
        }
        let exists = |path: &&PathBuf| path.symlink_metadata().is_ok();
        // A file written by `hook connect` has no hooks yet, and may be replaced.
        let replaceable = with_server(None).ok().filter(|generated| {
            regular_file::read_to_string(&self.settings, 1 << 16)
                .is_ok_and(|text| text == *generated)
        });
        let settings = [&self.settings].into_iter().filter(|_| replaceable.is_none());
        if let Some(path) = settings.chain([&self.script]).find(exists) {
            return Err(StarterError::Exists(path.clone()));
        }
        // Write the script first, so that the settings never name a missing one.
        create(&self.script, &self.script_text, NewFile::Executable)?;
        let settings = match replaceable {
            Some(current) => {
                let text =
                    with_server(Some(&self.settings_text)).unwrap_or_else(|_| current.clone());
                replace_file(&self.settings, current.as_bytes(), text.as_bytes())
                    .map_err(|source| StarterError::Io { path: self.settings.clone(), source })
            }
            None => create(&self.settings, &self.settings_text, NewFile::Ordinary),
        };
        settings.inspect_err(|_| {
            // The script was created here, and is useless alone.
            let _ = fs::remove_file(&self.script);
        })
    }
}

fn create(path: &Path, text: &str, new_file: NewFile) -> Result<(), StarterError> {
    atomic::create(path, text.as_bytes(), new_file).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => StarterError::Exists(path.to_path_buf()),
        _ => StarterError::Io { path: path.to_path_buf(), source },
    })
}
