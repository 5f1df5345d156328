//! Folders next to a settings file whose files are hooks without being listed in it
//! (docs/modules.md).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::pack::PackLock;
use super::paths::{IN_CONFIG_HOME, home_directory, project_of};
use super::source::{HookSource, SettingsSource};
use hook_files::plain_path::absolute;
use hook_files::program::is_executable;
use hook_protocol::event::HookEventName;

/// File extensions of modules.
pub(super) const EXTENSIONS: [&str; 3] = ["ts", "js", "mjs"];

/// File extensions of other scripts.
const OTHER_SCRIPTS: [&str; 5] = ["cjs", "mts", "cts", "tsx", "jsx"];

/// The most files read from one folder.
const MAX_FILES: usize = 1_000;

/// The most folders that are reported, of those in one folder.
const MAX_SKIPPED: usize = 10;

/// Folder names next to the settings file.
pub(super) const MODULES: &str = "modules";
pub(super) const RULES: &str = "rules";
pub(super) const HOOK_FILES: [(&str, HookEventName); 2] =
    [("pre", HookEventName::BeforeTool), ("post", HookEventName::AfterTool)];

/// The agent whose hook folders are read if settings name it.
pub(super) const OMP: &str = "omp";

/// Its hook folders, relative to the project and to the user's HOME directory.
const OMP_PROJECT_FOLDERS: [&str; 2] = [".claude/hooks", ".omp/hooks"];
const OMP_USER_FOLDERS: [&str; 2] = [".claude/hooks", ".omp/agent/hooks"];

/// Returns the `omp` hook folders of the project or user that the settings file belongs to.
pub(super) fn omp_folders(settings: &Path) -> Vec<PathBuf> {
    if let Some(project) = project_of(settings) {
        return OMP_PROJECT_FOLDERS.map(|folder| project.join(folder)).into();
    }
    let home = home_directory().filter(|_| settings.ends_with(IN_CONFIG_HOME));
    home.iter().flat_map(|home| OMP_USER_FOLDERS.map(|folder| home.join(folder))).collect()
}

/// Resolves the path of a module. Relative paths begin at the project, or at the folder of a
/// settings file that is not a project's.
pub(super) fn module_path(module: &str, source: &HookSource, settings: Option<&Path>) -> PathBuf {
    let expanded = match module.strip_prefix("~/") {
        Some(rest) => {
            home_directory().map_or_else(|| PathBuf::from(module), |home| home.join(rest))
        }
        None => PathBuf::from(module),
    };
    let project = settings.filter(|_| *source == HookSource::Project).and_then(project_of);
    let base = project.or_else(|| settings?.parent());
    let path = base.map_or_else(|| expanded.clone(), |base| base.join(&expanded));
    absolute(&path)
}

/// Returns the folder next to which hooks are searched, for sources that have such folders.
pub(super) fn folder_of(source: &HookSource, settings: Option<&Path>) -> Option<PathBuf> {
    let settings = settings?;
    let is_native = match source {
        HookSource::Project => project_of(settings).is_some(),
        HookSource::User => settings.ends_with(IN_CONFIG_HOME),
        _ => false,
    };
    let folder = settings.parent().filter(|_| is_native)?;
    Some(folder.to_path_buf())
}

/// Returns the folders with hooks next to a settings file, and the project's or user's folders of
/// other agents, even if no settings name those agents.
fn folders(settings: &Path) -> Vec<PathBuf> {
    let own =
        settings.parent().into_iter().flat_map(|folder| [folder.join(MODULES), folder.join(RULES)]);
    let parents = settings.parent().map(Path::to_path_buf).into_iter().chain(omp_folders(settings));
    let files = parents.flat_map(|folder| HOOK_FILES.map(|(name, _)| folder.join(name)));
    own.chain(files).collect()
}

/// Checks whether there may be hooks next to a settings file. The file itself need not exist.
pub(super) fn may_have_hooks(settings: &Path) -> bool {
    // What is there in place of a folder of rules is reported.
    let is_rules = |folder: &Path| folder.ends_with(RULES) && fs::symlink_metadata(folder).is_ok();
    let has_entries = |folder: PathBuf| match fs::read_dir(&folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => !is_absence(&error) || is_rules(&folder),
    };
    folders(settings).into_iter().any(has_entries)
        || fs::symlink_metadata(PackLock::path(settings)).is_ok()
}

/// Returns `true` if there may be hooks next to a source's file.
pub fn has_hook_folder(source: &SettingsSource) -> bool {
    let folder = folder_of(&source.source, Some(&source.path));
    source.pack.is_some()
        || source.language.is_none() && folder.is_some() && may_have_hooks(&source.path)
}

/// Lists the files of a source's hook folders for a digest: paths, and whether executable.
pub fn listing(source: &SettingsSource) -> Vec<(PathBuf, bool)> {
    let folder = folder_of(&source.source, Some(&source.path));
    let files =
        folder.iter().flat_map(|_| folders(&source.path)).filter_map(|dir| files(&dir).ok());
    files
        .flatten()
        .map(|path| (is_executable(&path), path))
        .map(|(executable, path)| (path, executable))
        .collect()
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the files of a folder, sorted by name.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !is_hidden(&path) && !path.is_dir() {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            let message = format!("there are more than {MAX_FILES} files");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
    }
    files.sort();
    Ok(files)
}

/// Returns some of the folders in a folder, of whose files none is read.
pub(super) fn skipped_folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| !is_hidden(path) && path.is_dir()).take(MAX_SKIPPED)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

pub(super) fn is_module(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|ext| EXTENSIONS.contains(&ext)) && !name.ends_with(".d.ts")
}

/// Checks whether a file is a script of another kind.
pub(super) fn is_script(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let extension = path.extension().and_then(OsStr::to_str);
    let is_typed = [".d.ts", ".d.mts", ".d.cts"].iter().any(|suffix| name.ends_with(suffix));
    extension.is_some_and(|ext| OTHER_SCRIPTS.contains(&ext)) && !is_typed
}

/// Returns the index files in subfolders of a module folder, which may be meant as modules.
pub(super) fn indexes(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.flatten().take(MAX_FILES).map(|entry| entry.path());
    let folders = folders.filter(|path| path.is_dir() && !path.ends_with("node_modules"));
    let index = |path: PathBuf| {
        let files = EXTENSIONS.iter().map(|extension| path.join(format!("index.{extension}")));
        files.filter(|file| file.is_file()).collect::<Vec<_>>()
    };
    let mut found: Vec<PathBuf> = folders.flat_map(index).collect();
    found.sort();
    found
}
