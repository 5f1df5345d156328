//! What the users of projects agreed to, for the hooks of all files at once, and which guards that
//! they trusted are not there any more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::event::HookEventName;
use crate::settings::{
    Diagnostic, FailBehavior, HookEntry, HookSource, SettingsFile, Severity, searched_for_projects,
};
use crate::text::shortened;
use crate::trust::{Grant, Trust, TrustPolicy};

/// What trust says of settings.
pub(super) struct Consent {
    /// For each file, for each of its hooks.
    pub(super) trust: Vec<Vec<Trust>>,
    /// Trusted guards that no settings have any more.
    pub(super) missing: Vec<MissingGuard>,
    /// What is wrong with the store.
    pub(super) problems: Option<Diagnostic>,
}

impl Consent {
    /// Looks at all hooks of all projects. `project` is the host's.
    pub(super) fn of(files: &[SettingsFile], project: &Path, policy: &TrustPolicy) -> Self {
        let given = |file: &SettingsFile| file.hooks.iter().map(|_| Trust::Given).collect();
        let mut trust: Vec<Vec<Trust>> = files.iter().map(given).collect();
        let mut missing = Vec::new();
        let projects = Projects::of(files, project, policy);
        let directories: Vec<&Path> = projects.files.iter().map(|(it, _)| it.as_path()).collect();
        let (decided, problems) = policy.open(&directories);
        for ((directory, indices), trusted) in projects.files.iter().zip(decided) {
            let of_project = || indices.iter().filter_map(|index| files.get(*index));
            let entries: Vec<&HookEntry> = of_project().flat_map(|file| &file.hooks).collect();
            let decisions = trusted.decide(&entries, directory);
            let mut decided = decisions.trust.into_iter();
            for index in indices {
                for slot in trust.get_mut(*index).into_iter().flatten() {
                    // There is one for each; without one nothing is trusted.
                    *slot = decided.next().unwrap_or(Trust::Missing { before: None });
                }
            }
            let has_errors = |file: &&SettingsFile| {
                file.diagnostics.iter().any(|it| it.severity == Severity::Error)
            };
            let broken = of_project().find(has_errors).and_then(|file| file.path.as_ref());
            let guards = decisions.gone.into_iter().filter_map(|grant| {
                let event = HookEventName::from_name(&grant.event)?;
                (grant.fail_behavior() == Some(FailBehavior::Block)).then(|| MissingGuard {
                    event,
                    grant,
                    project: directory.clone(),
                    broken: broken.cloned(),
                })
            });
            missing.extend(guards);
        }
        Self { trust, missing, problems }
    }
}

/// The projects that hooks may be missing from, each with its files by index.
struct Projects {
    files: Vec<(PathBuf, Vec<usize>)>,
}

impl Projects {
    fn of(files: &[SettingsFile], host: &Path, policy: &TrustPolicy) -> Self {
        let mut found: Vec<(PathBuf, Vec<usize>)> = Vec::new();
        let mut known: HashMap<PathBuf, usize> = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            if file.source != HookSource::Project {
                continue;
            }
            let project = file.project(host);
            let position = *known.entry(project.to_path_buf()).or_insert_with(|| {
                found.push((project.to_path_buf(), Vec::new()));
                found.len() - 1
            });
            found[position].1.push(index);
        }
        // Where files are named in place of a project's, the project's were not looked for. Without
        // a store nothing is known to be missing.
        let looks = matches!(policy, TrustPolicy::Store(_))
            && (!found.is_empty() || files.iter().all(|it| it.source != HookSource::Explicit));
        if looks {
            // A file that is gone takes its guards along, also that of an outer project.
            for directory in searched_for_projects(host) {
                if !known.contains_key(&directory) {
                    found.push((directory, Vec::new()));
                }
            }
        }
        Self { files: found }
    }
}

/// A guard that was trusted and that is not in the settings any more.
pub(super) struct MissingGuard {
    pub(super) event: HookEventName,
    pub(super) grant: Arc<Grant>,
    project: PathBuf,
    /// The project's settings file, if it has errors: they may be why the guard is not there.
    pub(super) broken: Option<PathBuf>,
}

impl MissingGuard {
    /// The project that it was trusted in.
    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// What everybody who fires its event should know. One behind broken settings blocks, and says
    /// so itself.
    pub(super) fn notice(&self) -> Option<String> {
        let name = shortened(self.grant.display_name());
        self.broken.is_none().then(|| {
            format!(
                "the trusted guard `{name}` is not in the settings of {} any more; put it back, or \
                 take back its trust with `hook trust --revoke`",
                self.project.display()
            )
        })
    }
}
