//! The rules of all files, compiled, so that a call is looked up once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hook_rules::{RuleFile, Rules};
use hook_settings::{HookSource, SettingsFile};

/// The rules of all files. Those of a project's own files are apart from those of the user, so that they
/// take none of the time in which these decide.
pub(super) struct CompiledRules<'f>(Vec<(Group<'f>, Arc<Rules>)>);

/// A project, and `true` for its own files.
type Group<'f> = (&'f Path, bool);

impl<'f> CompiledRules<'f> {
    /// Compiles the rules of files without those that are named as `FILE:id`. `host` is the host's project.
    pub(super) fn of(
        files: impl Iterator<Item = &'f SettingsFile>,
        host: &'f Path,
        excepted: &BTreeSet<String>,
    ) -> Self {
        let mut groups: Vec<(Group<'f>, Vec<Arc<RuleFile>>)> = Vec::new();
        for file in files.filter(|file| !file.rules.is_empty()) {
            let group = group(file, host);
            let rules = file.rules.iter().map(|set| Arc::clone(&set.file));
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, known)) => known.extend(rules),
                None => groups.push((group, rules.collect())),
            }
        }
        let compile = |(group, files)| (group, Arc::new(Rules::with_exceptions(files, excepted)));
        Self(groups.into_iter().map(compile).collect())
    }

    /// Returns the rules that those of a file are among, and its index there.
    pub(super) fn of_file(
        &self,
        file: &SettingsFile,
        rules: &Arc<RuleFile>,
        host: &Path,
    ) -> Option<(Arc<Rules>, usize)> {
        let group = group(file, host);
        let (_, compiled) = self.0.iter().find(|(known, _)| *known == group)?;
        let index = compiled.files().position(|known| Arc::ptr_eq(known, rules))?;
        Some((Arc::clone(compiled), index))
    }
}

fn group<'p>(file: &'p SettingsFile, host: &'p Path) -> Group<'p> {
    let is_of_project = file.source == HookSource::Project
        || file.pack.as_ref().is_some_and(|pack| pack.project.is_some());
    (file.project(host), is_of_project)
}
