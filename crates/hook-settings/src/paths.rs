//! The paths of settings and of the user's own folders (reference/settings.md, "Sources").

use std::path::{Path, PathBuf};

use hook_files::project_tree::ProjectTree;
pub(super) use hook_files::user_folders::home as home_directory;
pub use hook_files::user_folders::{config_home, data_home, state_home};
use hook_json::text::PathText;

/// The path of a project's settings, relative to its directory.
pub const IN_PROJECT: &str = ".hooks/settings.json";

/// The path of the user's settings, relative to `$XDG_CONFIG_HOME`.
pub(super) const IN_CONFIG_HOME: &str = "hooks/settings.json";

/// Returns the project of a settings file, if its path is that of a project's settings.
pub(crate) fn project_of(settings: &Path) -> Option<&Path> {
    settings.ends_with(IN_PROJECT).then(|| settings.ancestors().nth(2))?
}

/// Returns the reason if a user folder is unsafe: a project could put settings or programs there.
pub fn unsafe_user_folder(project: &Path) -> Option<String> {
    let tree = ProjectTree::new(project);
    let folders = [
        ("settings", config_home()),
        ("state", state_home()),
        ("data", data_home()),
        ("runtime", absolute("XDG_RUNTIME_DIR")),
    ];
    let problem_of = |folder: &Path| match folder.starts_with("/proc") {
        true => Some("leads through /proc"),
        false => tree.contains(folder).then_some("is in the project"),
    };
    folders.into_iter().find_map(|(kind, folder)| {
        let folder = folder?;
        let problem = problem_of(&folder)?;
        Some(format!(
            "the user's {kind} folder {} {problem}, where others than the user may decide what it holds; set \
             HOME and XDG_* to folders of the user",
            folder.shown()
        ))
    })
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
