//! Where settings and the user's own files are, by their paths alone (protocol.md §1, "Sources").

use std::path::{Path, PathBuf};

use crate::files::project_tree::ProjectTree;
use crate::text::PathText;

/// Where a project's own settings are, below its directory.
#[doc(hidden)]
pub const IN_PROJECT: &str = ".hooks/settings.json";

/// Where the user's own settings are, below `$XDG_CONFIG_HOME`.
pub(super) const IN_CONFIG_HOME: &str = "hooks/settings.json";

/// The project whose settings stand in a file of that path, if it is where a project keeps them.
pub(crate) fn project_of(settings: &Path) -> Option<&Path> {
    settings.ends_with(IN_PROJECT).then(|| settings.ancestors().nth(2))?
}

/// Where the user's own files are: `$XDG_CONFIG_HOME`, else `.config` in the home directory, each
/// only where it is an absolute path. `None` without a home.
#[doc(hidden)]
pub fn config_home() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(|| Some(home_directory()?.join(".config")))
}

pub(super) fn home_directory() -> Option<PathBuf> {
    absolute("HOME")
}

/// Where the user's programs keep what lasts: `$XDG_STATE_HOME`, else `.local/state` in the home directory.
#[doc(hidden)]
pub fn state_home() -> Option<PathBuf> {
    absolute("XDG_STATE_HOME").or_else(|| Some(home_directory()?.join(".local/state")))
}

/// Why the user's folders are none: a project could put its own settings, decisions and programs there.
#[doc(hidden)]
pub fn misplaced(project: &Path) -> Option<String> {
    let tree = ProjectTree::of(project);
    let folders = [
        ("settings", config_home()),
        ("state", state_home()),
        ("data", data_home()),
        ("runtime", absolute("XDG_RUNTIME_DIR")),
    ];
    let is_misplaced = |folder: &Path| match folder.starts_with("/proc") {
        true => Some("leads through /proc"),
        false => tree.holds(folder).then_some("is in the project"),
    };
    folders.into_iter().find_map(|(what, folder)| {
        let folder = folder?;
        let why = is_misplaced(&folder)?;
        Some(format!(
            "the user's {what} folder {} {why}, where others than the user may decide what it holds; set \
             HOME and XDG_* to folders of the user",
            folder.shown()
        ))
    })
}

/// Where the user's programs keep their data: `$XDG_DATA_HOME`, else `.local/share` in the home directory.
#[doc(hidden)]
pub fn data_home() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| Some(home_directory()?.join(".local/share")))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
