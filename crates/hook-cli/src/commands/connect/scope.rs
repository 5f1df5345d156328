//! The scope of settings that entries are written into, and the user's folder.

use std::path::PathBuf;

use clap::ValueEnum;

/// The owner of the settings to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    User,
    Project,
}

impl Scope {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// Returns the user's HOME directory, or `None` if the environment names none.
pub(super) fn home() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("HOME").or_else(|| set("USERPROFILE")).map(PathBuf::from)
}
