//! The switches of hooks with a common name.

use super::definition::SettingsFile;

/// The files that contain hooks with one name, and the files that disable them (reference/settings.md,
/// "Who may switch off whom").
#[derive(Debug, Clone)]
pub struct Switches<'f> {
    /// The files that contain a hook with the name.
    pub holders: Vec<&'f SettingsFile>,
    /// The files that list the name in `disabled` with effect on a holder: the holder itself, and
    /// more trusted sources. Without holders, all files that list it.
    pub disabled_by: Vec<&'f SettingsFile>,
    /// The holders that disable all of their hooks by `enabled: false`.
    pub fully_disabled: Vec<&'f SettingsFile>,
}

impl<'f> Switches<'f> {
    /// Finds the switches for a hook's display name.
    pub fn of(name: &str, files: &'f [SettingsFile]) -> Self {
        let has_hook = |file: &&SettingsFile| file.names().any(|known| known == name);
        let holders: Vec<&SettingsFile> = files.iter().filter(has_hook).collect();
        let lists = |file: &SettingsFile| file.config.disabled.iter().any(|known| known == name);
        let disabled_by = files
            .iter()
            .filter(|file| lists(file))
            .filter(|file| holders.is_empty() || holders.iter().any(|holder| file.governs(holder)))
            .collect();
        let fully_disabled = holders.iter().copied().filter(|file| !file.config.enabled).collect();
        Self { holders, disabled_by, fully_disabled }
    }

    /// Returns the files whose hooks with that name run.
    pub fn still_enabled(&self) -> impl Iterator<Item = &'f SettingsFile> + '_ {
        let is_enabled = |holder: &&SettingsFile| {
            holder.config.enabled && !self.disabled_by.iter().any(|file| file.governs(holder))
        };
        self.holders.iter().copied().filter(is_enabled)
    }
}

impl SettingsFile {
    /// Returns `true` if this file's `disabled` list applies to hooks of the other file.
    pub fn governs(&self, other: &Self) -> bool {
        // An agent's file has no such list; the user's own settings disable the user's agent hooks.
        let is_foreign = other.language.is_some() && self.language.is_none();
        std::ptr::eq(self, other)
            || self.source.may_disable(&other.source)
            || is_foreign && self.source.may_disable_foreign(&other.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HookSource, parse};

    /// Returns a file for each source, with one hook and the given `hooksConfig`.
    fn files(configs: &[(HookSource, &str)]) -> Vec<SettingsFile> {
        let file = |(source, config): &(HookSource, &str)| {
            let text = format!(
                r#"{{"hooksConfig":{config},"hooks":{{"SessionEnd":[{{"hooks":[
                    {{"type":"command","name":"guard","command":"true"}}]}}]}}}}"#
            );
            parse(&text, source.clone(), Some(source.as_str().into()))
        };
        configs.iter().map(file).collect()
    }

    fn sources<'f>(files: impl IntoIterator<Item = &'f SettingsFile>) -> Vec<&'f str> {
        files.into_iter().map(|file| file.source.as_str()).collect()
    }

    #[test]
    fn a_list_counts_for_its_own_hooks_and_those_of_sources_trusted_less() {
        const OFF: &str = r#"{"disabled":["guard"]}"#;
        use HookSource::{Explicit, Project, System, User};
        for (configs, off_by, still_on) in [
            (
                vec![(Project, OFF), (User, "{}"), (System, "{}")],
                vec!["project"],
                vec!["user", "system"],
            ),
            (vec![(Project, "{}"), (User, OFF), (System, "{}")], vec!["user"], vec!["system"]),
            (vec![(Project, "{}"), (User, "{}"), (System, OFF)], vec!["system"], vec![]),
            (vec![(Explicit, OFF), (Explicit, "{}")], vec!["explicit"], vec!["explicit"]),
        ] {
            let files = files(&configs);
            let switches = Switches::of("guard", &files);
            assert_eq!(sources(switches.disabled_by.iter().copied()), off_by);
            assert_eq!(sources(switches.still_enabled()), still_on);
            assert!(Switches::of("other", &files).holders.is_empty());
        }
        let files = files(&[(Project, r#"{"enabled":false,"disabled":["gone"]}"#)]);
        let switches = Switches::of("guard", &files);
        assert_eq!(sources(switches.fully_disabled.iter().copied()), ["project"]);
        assert_eq!(switches.still_enabled().count(), 0);
        assert_eq!(sources(Switches::of("gone", &files).disabled_by), ["project"]);
    }
}
