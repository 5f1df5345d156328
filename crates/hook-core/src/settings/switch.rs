//! Who switches off hooks of a name.

use super::SettingsFile;

/// Where hooks of one name stand, and which files switch them off (protocol.md §1, "Who may switch
/// off whom").
#[derive(Debug, Clone)]
pub struct Switches<'f> {
    /// The files that have a hook of that name.
    pub holders: Vec<&'f SettingsFile>,
    /// The files whose `disabled` list has the name and counts for one of the holders: their own,
    /// and those of sources that are trusted more. Where nobody has such a hook, all that list it.
    pub off_by: Vec<&'f SettingsFile>,
    /// Those of the holders whose hooks are all off, by `enabled: false`.
    pub all_off: Vec<&'f SettingsFile>,
}

impl<'f> Switches<'f> {
    /// Looks for a name, which is a hook's display name.
    pub fn of(name: &str, files: &'f [SettingsFile]) -> Self {
        let has_it =
            |file: &&SettingsFile| file.hooks.iter().any(|entry| entry.display_name() == name);
        let holders: Vec<&SettingsFile> = files.iter().filter(has_it).collect();
        let lists = |file: &SettingsFile| file.config.disabled.iter().any(|known| known == name);
        let off_by = files
            .iter()
            .filter(|file| lists(file))
            .filter(|file| holders.is_empty() || holders.iter().any(|it| file.governs(it)))
            .collect();
        let all_off = holders.iter().copied().filter(|file| !file.config.enabled).collect();
        Self { holders, off_by, all_off }
    }
}

impl SettingsFile {
    /// Whether this file's `disabled` counts for hooks of the other file.
    pub fn governs(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.source.may_disable(&other.source)
    }
}
