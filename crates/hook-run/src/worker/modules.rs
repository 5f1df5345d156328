//! The module host: the program of a worker that loads modules. This library includes its source,
//! `module-host`, and writes it to a private folder of the user.
//!
//! It needs a folder instead of node's command line: the host is several files that import each
//! other, `jiti` can redirect an import only to a file, and command lines have a maximum length.
//! The folder's contents are compared before each start.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use super::state::WorkerSpec;
use crate::live::WorkerModule;
use hook_files::{private_folder, regular_file};
use hook_json::ObjectWriter;
use hook_json::text::PathText;
use hook_protocol::failure::HookFailure;
use hook_settings::state_home;
use hook_trust::sha256;

macro_rules! files {
    ($($name:literal),+) => {
        [$(($name, include_str!(concat!("../../module-host/", $name)))),+]
    };
}

/// The files of the module host.
static FILES: [(&str, &str); 13] = files![
    "main.mjs",
    "intrinsics.mjs",
    "faults.mjs",
    "wire.mjs",
    "load.mjs",
    "resolve.mjs",
    "runtime.mjs",
    "api.mjs",
    "absent.mjs",
    "context.mjs",
    "answer.mjs",
    "plain.mjs",
    "theme.mjs"
];

/// The entry point for node.
const MAIN: &str = "main.mjs";

/// The digest that identifies this version of the files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<u8> =
        FILES.iter().flat_map(|(name, text)| [*name, *text]).flat_map(str::bytes).collect();
    sha256(&all).chars().take(16).collect()
});

/// The shell script that starts node. It moves the messages to separate descriptors, so that
/// modules and their programs can use the standard streams.
const SCRIPT: &str = "command -v node >/dev/null 2>&1 || { \
    echo 'modules of JavaScript need Node.js 20 or later, and there is no `node` on PATH' >&2; exit 127; }; \
    exec node \"$0\" \"$@\" 3>&1 1>&2 4<&0 0</dev/null";

/// One start of the module host.
pub(super) struct ModuleHost {
    arguments: [String; 3],
}

impl ModuleHost {
    /// Prepares a start for the modules of a worker, except those that are left out.
    ///
    /// # Errors
    /// Returns an error if its files cannot be written anywhere.
    pub(super) fn of(
        spec: &WorkerSpec,
        project: &Path,
        refusals: &[Option<HookFailure>],
    ) -> io::Result<Self> {
        if !cfg!(unix) {
            let message = "modules of JavaScript can be run on Unix alone";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let main = ensure_files()?.join(MAIN);
        let restricts = spec.modules.iter().any(|module| module.is_granted);
        let to_load = spec.modules.iter().zip(refusals).filter(|(_, why)| why.is_none());
        let line = ObjectWriter::line(|object| {
            object.integer("in", 4);
            object.integer("out", 3);
            object.text("project", &project.to_string_lossy());
            // Shorter limits let it report each module's problem before the engine gives up.
            object.milliseconds("loadTimeout", spec.rules.start_timeout * 4 / 5);
            object.milliseconds("loadDeadline", spec.max_start_time() / 5 * 4);
            object.bool("restrictsJiti", restricts);
            object.objects("modules", to_load, |object, (module, _)| {
                object.text("path", &module.path.to_string_lossy());
                object.text("label", &module.label);
                object.text("file", &module.file.to_string_lossy());
            });
        });
        let options = String::from_utf8_lossy(&line).into_owned();
        Ok(Self { arguments: [SCRIPT.to_owned(), main.to_string_lossy().into_owned(), options] })
    }

    /// Returns the arguments of the shell.
    pub(super) fn arguments(&self) -> &[String] {
        &self.arguments
    }
}

/// Returns the reports of modules that are left out.
pub(super) fn excluded_modules(
    spec: &WorkerSpec,
    refusals: &[Option<HookFailure>],
) -> Vec<WorkerModule> {
    let modules = spec.modules.iter().zip(refusals);
    let excluded = modules.filter_map(|(module, why)| {
        let path = module.path.to_string_lossy().into_owned();
        Some(WorkerModule {
            path,
            error: Some(why.as_ref()?.to_string()),
            ..WorkerModule::default()
        })
    });
    excluded.collect()
}

/// Writes the files to a folder in the user's state directory or, if that fails, in the directory
/// of temporary files. Returns the folder.
fn ensure_files() -> io::Result<PathBuf> {
    let state = state_home().map(|state| state.join("hook"));
    let mut failed = None;
    for parent in state.into_iter().chain([temporary()]) {
        let folder = parent.join(format!("module-host-{}", *VERSION));
        match write_to(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => {
                let message =
                    format!("failed to write the module host to {}: {error}", folder.shown());
                failed.get_or_insert_with(|| io::Error::new(error.kind(), message));
            }
        }
    }
    Err(failed.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

#[cfg(unix)]
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("hook-{}", rustix::process::geteuid().as_raw()))
}

#[cfg(not(unix))]
fn temporary() -> PathBuf {
    std::env::temp_dir().join("hook")
}

fn write_to(folder: &Path) -> io::Result<()> {
    private_folder::make(folder)?;
    private_folder::check(folder)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        let is_current = regular_file::read(&path, text.len() as u64 + 1)
            .is_ok_and(|known| known == text.as_bytes());
        if !is_current {
            let temporary_path = folder.join(format!("{name}.{}", std::process::id()));
            fs::write(&temporary_path, text)?;
            fs::rename(&temporary_path, &path)?;
        }
    }
    Ok(())
}
