//! The switches of hooks with a common name.

use super::definition::SettingsFile;

/// The files that contain hooks with one name, and the files that disable them (protocol.md §1,
/// "Who may switch off whom").
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Switches<'f> {
    /// The files that contain a hook with the name.
    pub holders: Vec<&'f SettingsFile>,
    /// The files that list the name in `disabled` with effect on a holder: the holder itself, and
    /// more trusted sources. Without holders, all files that list it.
    pub off_by: Vec<&'f SettingsFile>,
    /// The holders that disable all of their hooks by `enabled: false`.
    pub all_off: Vec<&'f SettingsFile>,
}

impl<'f> Switches<'f> {
    /// Finds the switches for a hook's display name.
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

    /// Returns the files whose hooks with that name run.
    pub fn still_on(&self) -> impl Iterator<Item = &'f SettingsFile> + '_ {
        let is_on = |holder: &&SettingsFile| {
            holder.config.enabled && !self.off_by.iter().any(|file| file.governs(holder))
        };
        self.holders.iter().copied().filter(is_on)
    }
}

impl SettingsFile {
    /// Returns `true` if this file's `disabled` list applies to hooks of the other file.
    #[doc(hidden)]
    pub fn governs(&self, other: &Self) -> bool {
        // An agent's file has no such list; the user's own settings disable the user's agent hooks.
        let is_agents = other.language.is_some() && self.language.is_none();
        std::ptr::eq(self, other)
            || self.source.may_disable(&other.source)
            || is_agents && self.source.may_disable_of_agents(&other.source)
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
            assert_eq!(sources(switches.off_by.iter().copied()), off_by);
            assert_eq!(sources(switches.still_on()), still_on);
            assert!(Switches::of("other", &files).holders.is_empty());
        }
        let files = files(&[(Project, r#"{"enabled":false,"disabled":["gone"]}"#)]);
        let switches = Switches::of("guard", &files);
        assert_eq!(sources(switches.all_off.iter().copied()), ["project"]);
        assert_eq!(switches.still_on().count(), 0);
        assert_eq!(sources(Switches::of("gone", &files).off_by), ["project"]);
    }
}
