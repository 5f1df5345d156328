//! The packs and rules that a user agreed to in a project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::packs::{AgreedPacks, PackFiles};
use super::policy::TrustPolicy;
use hook_settings::{HookSource, PROJECT_RULES, Pack, SettingsSource, guarded_directories};

impl TrustPolicy {
    /// Returns the packs that the user agreed to in a project. None are known without a store.
    pub fn agreed_packs(&self, project: &Path) -> AgreedPacks {
        self.agreed_packs_in(&[project]).pop().unwrap_or_default()
    }

    /// Returns the packs that the user agreed to in each of these projects; the store is read once.
    fn agreed_packs_in(&self, projects: &[&Path]) -> Vec<AgreedPacks> {
        match self {
            Self::Store(store) => store.agreed_packs_in(projects).unwrap_or_default(),
            Self::Nothing | Self::Everything => Vec::new(),
        }
    }

    /// Returns `true` if the hooks of a pack may run: those of the user's own packs, and of a
    /// project's where the user agreed to it.
    pub fn agrees_to(&self, pack: &Pack) -> bool {
        let Some(project) = &pack.project else { return true };
        let is_agreed = || {
            let agreed = self.agreed_packs(project);
            agreed.get(&pack.name).is_some_and(|agreed| agreed.digest == pack.locked.digest)
        };
        pack.is_replaced || matches!(self, Self::Everything) || is_agreed()
    }

    /// Adds the packs and rules that the user agreed to and that a project, or one around it, does not
    /// have any more: they hold until the user agrees to what took their place. A folder of settings
    /// that is gone takes none of them with it.
    pub fn with_agreed_packs(
        &self,
        sources: Vec<SettingsSource>,
        project: &Path,
    ) -> Vec<SettingsSource> {
        let known: Vec<Arc<Pack>> =
            sources.iter().filter_map(|source| source.pack.clone()).collect();
        let directory_of = |source: &SettingsSource| {
            let is_native = source.source == HookSource::Project && source.language.is_none();
            is_native.then(|| source.path.ancestors().nth(2).map(Path::to_path_buf)).flatten()
        };
        let loaded: Vec<PathBuf> = sources.iter().filter_map(directory_of).collect();
        let missing = |project: &Path, agreed: AgreedPacks| -> Vec<SettingsSource> {
            let agreed = agreed.into_iter().filter(|(name, locked)| {
                let is_known = known.iter().any(|pack| {
                    pack.project.as_deref() == Some(project)
                        && pack.name == *name
                        && pack.locked.digest == locked.digest
                });
                let is_unchanged = || {
                    name == PROJECT_RULES
                        && loaded.iter().any(|directory| directory == project)
                        && PackFiles::of_rules(project)
                            .is_ok_and(|files| files.digest == locked.digest)
                };
                !is_known && !is_unchanged()
            });
            let packs = agreed.map(|(name, locked)| Pack {
                is_replaced: true,
                ..Pack::new(&name, &locked, Some(project))
            });
            packs.map(SettingsSource::of_pack).collect()
        };
        let mut directories = loaded.clone();
        let around = guarded_directories(project);
        directories.extend(around);
        let paths: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
        let agreed = self.agreed_packs_in(&paths);
        // The packs of a project are with the first of its paths.
        let with_packs = paths.iter().copied().zip(agreed).filter(|(_, packs)| !packs.is_empty());
        let mut agreed: HashMap<&Path, AgreedPacks> = with_packs.collect();
        let mut missing_in = |directory: &Path| match agreed.remove(directory) {
            Some(packs) => missing(directory, packs),
            None => Vec::new(),
        };
        let mut all = Vec::with_capacity(sources.len());
        for source in sources {
            let directory = directory_of(&source);
            all.push(source);
            all.extend(directory.iter().flat_map(|directory| missing_in(directory)));
        }
        all.extend(paths.iter().flat_map(|directory| missing_in(directory)));
        all
    }
}
