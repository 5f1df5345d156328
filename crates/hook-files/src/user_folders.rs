//! The folders of a user, and of the machine, by the system's rules.
//!
//! | | Unix | Windows |
//! | --- | --- | --- |
//! | home | `$HOME` | `%USERPROFILE%` |
//! | settings | `$XDG_CONFIG_HOME`, else `~/.config` | `$XDG_CONFIG_HOME`, else `%APPDATA%` |
//! | state | `$XDG_STATE_HOME`, else `~/.local/state` | `$XDG_STATE_HOME`, else `%LOCALAPPDATA%` |
//! | data | `$XDG_DATA_HOME`, else `~/.local/share` | `$XDG_DATA_HOME`, else `%LOCALAPPDATA%` |
//! | of the machine | `/etc` | `%ProgramFiles%` |
//!
//! A value that is no absolute path counts as not set. On Windows the folder of the machine is not
//! `%ProgramData%`, in which every user may create folders and so would set hooks for all others.

use std::path::{Path, PathBuf};

/// The variable that names the user's home.
pub const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// Returns the user's home.
pub fn home() -> Option<PathBuf> {
    absolute(HOME)
}

/// Returns the folder of the user's settings.
pub fn config_home() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(default_config_home)
}

/// Returns the folder of the user's settings where `XDG_CONFIG_HOME` does not say another.
pub fn default_config_home() -> Option<PathBuf> {
    by_system(".config", ("APPDATA", r"AppData\Roaming"))
}

/// Returns the folder of what programs remember for the user.
pub fn state_home() -> Option<PathBuf> {
    let default = || by_system(".local/state", ("LOCALAPPDATA", r"AppData\Local"));
    absolute("XDG_STATE_HOME").or_else(default)
}

/// Returns the folder of the user's data.
pub fn data_home() -> Option<PathBuf> {
    let default = || by_system(".local/share", ("LOCALAPPDATA", r"AppData\Local"));
    absolute("XDG_DATA_HOME").or_else(default)
}

/// Returns the folder of settings for all users, which only an administrator may write.
pub fn machine_config() -> PathBuf {
    match cfg!(windows) {
        true => absolute("ProgramFiles").unwrap_or_else(|| Path::new(r"C:\Program Files").into()),
        false => PathBuf::from("/etc"),
    }
}

/// Returns a folder by the system's rules: on Windows that of a variable, and all others are below
/// the home.
fn by_system(on_unix: &str, (variable, on_windows): (&str, &str)) -> Option<PathBuf> {
    match cfg!(windows) {
        true => absolute(variable).or_else(|| Some(home()?.join(on_windows))),
        false => Some(home()?.join(on_unix)),
    }
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
