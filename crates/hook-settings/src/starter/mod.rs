//! The files of a first guard: rules, or a worker with its settings.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::edit::with_server;
use super::paths::{IN_CONFIG_HOME, IN_PROJECT};
pub use hook_files::atomic::{self, NewFile};
use hook_files::replace::replace_file;
use hook_files::{project_file, regular_file};
use hook_json::RawJson;
use hook_json::text::PathText;

/// The form of a first guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StarterKind {
    /// A file of rules.
    #[default]
    Rules,
    /// A Python worker that uses only the standard library.
    PythonWorker,
    /// A JavaScript worker for Node, with types in comments.
    TypeScriptWorker,
}

/// The language of a worker.
struct Worker {
    file: &'static str,
    text: &'static str,
    program: &'static str,
}

// Python's installer for Windows has no `python3`.
const PYTHON: Worker = Worker {
    file: "guard.py",
    text: include_str!("guard.py"),
    program: if cfg!(windows) { "python" } else { "python3" },
};
const NODE: Worker = Worker { file: "guard.mjs", text: include_str!("guard.mjs"), program: "node" };

const RULES: &str = include_str!("guard.toml");
const RULES_FILE: &str = "rules/guard.toml";

/// The name of a first worker.
const WORKER_HOOK: &str = "guard";

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarterFile {
    /// The path.
    pub path: PathBuf,
    /// The contents.
    pub text: String,
    kind: NewFile,
}

/// The files of a first guard, not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// The file that holds the guard's logic: rules, or the script of a worker.
    pub guard: StarterFile,
    /// The settings file; `None` for rules, which need none.
    pub settings: Option<StarterFile>,
    /// The name of the guard among the hooks.
    pub hook: &'static str,
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
    /// Returns the files for a project, in `.hooks`.
    pub fn of_project(project: &Path, kind: StarterKind) -> Self {
        let quote = if cfg!(windows) { "\"" } else { "" };
        let starter = Self::new(&project.join(IN_PROJECT), kind, |file| {
            format!("{quote}$HOOK_PROJECT_DIR/.hooks/hooks/{file}{quote}")
        });
        Self { project: Some(project.to_path_buf()), ..starter }
    }

    /// Returns the files for a user, in `hooks` below `config_home`, which is `$XDG_CONFIG_HOME` or
    /// its default.
    pub fn of_user(config_home: &Path, kind: StarterKind) -> Self {
        let settings = config_home.join(IN_CONFIG_HOME);
        Self::new(&settings, kind, |file| {
            let script = settings.with_file_name("hooks").join(file);
            format!("'{}'", script.to_string_lossy().replace('\'', "'\\''"))
        })
    }

    /// `word`: the script's path as a word of the command.
    fn new(settings: &Path, kind: StarterKind, word: impl FnOnce(&str) -> String) -> Self {
        let worker = match kind {
            StarterKind::Rules => {
                let path = settings.with_file_name(RULES_FILE);
                let guard = StarterFile { path, text: RULES.to_owned(), kind: NewFile::Ordinary };
                return Self { guard, settings: None, hook: RULES_FILE, project: None };
            }
            StarterKind::PythonWorker => PYTHON,
            StarterKind::TypeScriptWorker => NODE,
        };
        let command = RawJson::from_text(&format!("{} {}", worker.program, word(worker.file)));
        let settings_text = format!(
            r#"{{
  "hooks": {{
    "BeforeTool": [
      {{
        "matcher": {{ "kind": "shell" }},
        "hooks": [
          {{
            "type": "worker",
            "name": "{WORKER_HOOK}",
            "description": "Refuses shell commands that destroy more than they should",
            "command": {},
            "timeout": 5000,
            "failBehavior": "block"
          }}
        ]
      }}
    ]
  }}
}}
"#,
            command.as_str()
        );
        let guard = StarterFile {
            path: settings.with_file_name("hooks").join(worker.file),
            text: worker.text.to_owned(),
            kind: NewFile::Executable,
        };
        let settings = StarterFile {
            path: settings.to_path_buf(),
            text: settings_text,
            kind: NewFile::Ordinary,
        };
        Self { guard, settings: Some(settings), hook: WORKER_HOOK, project: None }
    }

    /// Returns the files, in the order in which they are named to the user.
    pub fn files(&self) -> impl Iterator<Item = &StarterFile> {
        self.settings.iter().chain([&self.guard])
    }

    /// Writes the files. Existing files stay, even if another program creates them at the same time;
    /// then nothing is written.
    ///
    /// # Errors
    /// Returns an error if a file exists, cannot be written, or is behind a symlink of the project.
    pub fn write(&self) -> Result<(), StarterError> {
        for StarterFile { path, .. } in self.files() {
            let checked =
                self.project.iter().try_for_each(|project| project_file::check(project, path));
            checked.map_err(|source| StarterError::Io { path: path.clone(), source })?;
        }
        // Settings written by `hook connect` have no hooks yet, and may be replaced.
        let replaceable = with_server(None).ok().filter(|generated| {
            self.settings.as_ref().is_some_and(|settings| {
                regular_file::read_to_string(&settings.path, 1 << 16)
                    .is_ok_and(|text| text == *generated)
            })
        });
        let created =
            self.files().filter(|file| file.path == self.guard.path || replaceable.is_none());
        if let Some(file) = created.into_iter().find(|file| file.path.symlink_metadata().is_ok()) {
            return Err(StarterError::Exists(file.path.clone()));
        }
        // Write the guard first, so that the settings never name a missing one.
        create(&self.guard)?;
        let Some(settings) = &self.settings else { return Ok(()) };
        let written = match replaceable {
            Some(current) => {
                let text = with_server(Some(&settings.text)).unwrap_or_else(|_| current.clone());
                replace_file(&settings.path, current.as_bytes(), text.as_bytes())
                    .map_err(|source| StarterError::Io { path: settings.path.clone(), source })
            }
            None => create(settings),
        };
        written.inspect_err(|_| {
            // The script was created here, and is useless alone.
            let _ = fs::remove_file(&self.guard.path);
        })
    }
}

fn create(StarterFile { path, text, kind }: &StarterFile) -> Result<(), StarterError> {
    atomic::create(path, text.as_bytes(), *kind).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => StarterError::Exists(path.clone()),
        _ => StarterError::Io { path: path.clone(), source },
    })
}
