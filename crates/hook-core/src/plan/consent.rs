//! What the users of projects agreed to, for the hooks of all files at once, and which guards that
//! they trusted are not there any more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::event::{EVERY, EventDefinition, Events, HookEventName};
use crate::settings::{
    Diagnostic, FailBehavior, HookEntry, HookSource, Search, SettingsFile, Severity,
};
use crate::text::shortened;
use crate::trust::{Grant, Granted, Trust, TrustPolicy};

/// What trust says of settings.
pub(super) struct Consent {
    /// For each file, for each of its hooks.
    pub(super) trust: Vec<Vec<Trust>>,
    /// For each file, whether hooks of it may run: not where nothing of its project is trusted.
    pub(super) may_run: Vec<bool>,
    /// Trusted guards that no settings have any more.
    pub(super) missing: Vec<MissingGuard>,
    /// What is wrong with the store.
    pub(super) problems: Option<Diagnostic>,
}

impl Consent {
    /// Looks at all hooks of all projects. `project` is the host's. An event that is not known because
    /// its declaration cannot be read is added to `events` if a trusted guard listens to it: the guard
    /// then blocks it, whatever it is about.
    pub(super) fn of(
        files: &[SettingsFile],
        project: &Path,
        policy: &TrustPolicy,
        events: &mut Events,
    ) -> Self {
        let given = |file: &SettingsFile| file.hooks.iter().map(|_| Trust::Given).collect();
        let mut trust: Vec<Vec<Trust>> = files.iter().map(given).collect();
        let mut may_run = vec![true; files.len()];
        let mut missing = Vec::new();
        let projects = projects(files, project, policy);
        let directories: Vec<&Path> = projects.iter().map(|it| &*it.directory).collect();
        let (decided, problems) = policy.open(&directories);
        for (project, trusted) in projects.iter().zip(decided) {
            let of_project = || project.files.iter().filter_map(|index| files.get(*index));
            let entries: Vec<&HookEntry> = of_project().flat_map(|file| &file.hooks).collect();
            let decisions = trusted.decide(&entries, &project.directory);
            let mut decided = decisions.trust.into_iter();
            for index in &project.files {
                if let Some(may_run) = may_run.get_mut(*index) {
                    // What a store says that cannot be read is not known.
                    *may_run = !trusted.is_empty() || problems.is_some();
                }
                for slot in trust.get_mut(*index).into_iter().flatten() {
                    // There is one for each; without one nothing is trusted.
                    *slot = decided.next().unwrap_or(Trust::Missing { before: None });
                }
            }
            // What a project declares counts from here on, where it trusts a hook that listens to it.
            for file in of_project() {
                let listening = project.files.iter().filter_map(|index| {
                    Some(files.get(*index)?.hooks.iter().zip(trust.get(*index)?))
                });
                let trusted = listening.flatten().filter(|(_, trust)| trust.is_given());
                let trusted: Vec<&HookEntry> = trusted.map(|(entry, _)| entry).collect();
                for definition in &file.declared {
                    if trusted.iter().any(|entry| definition.is_of(entry.event.row())) {
                        // Guards of one that is declared otherwise block.
                        let _ = events.declare(definition.clone());
                    }
                }
            }
            let has_errors = |file: &&SettingsFile| {
                file.diagnostics.iter().any(|it| it.severity == Severity::Error)
            };
            let broken = of_project().find(has_errors).and_then(|file| file.path.clone());
            let absence = match (&project.repository, broken) {
                (Some(repository), _) => Absence::Beyond(repository.clone()),
                (None, Some(file)) => Absence::Broken(file),
                (None, None) => Absence::Gone,
            };
            let guards = decisions.gone.into_iter().filter_map(|grant| {
                // A module may have had a guard, whatever settings said.
                if grant.fail_behavior() != Some(FailBehavior::Block) && !grant.is_of_module() {
                    return None;
                }
                let named = match &*grant.event {
                    EVERY => EventDefinition::every(),
                    name => events.from_name(name),
                };
                let event = match (named, &absence) {
                    (Some(event), _) => event,
                    (None, Absence::Broken(_)) => {
                        events.declare(EventDefinition::new(grant.event.as_str())).ok()?
                    }
                    (None, Absence::Gone | Absence::Beyond(_)) => {
                        EventDefinition::new(grant.event.as_str()).event().ok()?
                    }
                };
                // Without any settings the folder is gone, or they are: then its copy guards on.
                let is_gone = project.files.is_empty() && matches!(absence, Absence::Gone);
                let running =
                    is_gone.then(|| trusted.without_settings(&grant, &project.directory)).flatten();
                Some(MissingGuard {
                    running,
                    event,
                    grant,
                    project: project.directory.clone(),
                    absence: absence.clone(),
                })
            });
            missing.extend(guards);
        }
        Self { trust, may_run, missing, problems }
    }
}

/// A project that hooks may be missing from.
struct Project {
    directory: PathBuf,
    /// Its files, by index.
    files: Vec<usize>,
    /// The repository that the host's project is in and this one is not.
    repository: Option<PathBuf>,
}

fn projects(files: &[SettingsFile], host: &Path, policy: &TrustPolicy) -> Vec<Project> {
    let mut found: Vec<Project> = Vec::new();
    let mut known: HashMap<PathBuf, usize> = HashMap::new();
    for (index, file) in files.iter().enumerate() {
        if file.source != HookSource::Project {
            continue;
        }
        let directory = file.project(host);
        let position = *known.entry(directory.to_path_buf()).or_insert_with(|| {
            let directory = directory.to_path_buf();
            found.push(Project { directory, files: Vec::new(), repository: None });
            found.len() - 1
        });
        found[position].files.push(index);
    }
    // Where files are named in place of a project's, the project's were not looked for. Without a
    // store nothing is known to be missing.
    let looks = matches!(policy, TrustPolicy::Store(_))
        && (!found.is_empty() || files.iter().all(|it| it.source != HookSource::Explicit));
    if looks {
        let Search { within, beyond } = Search::from(host);
        let repository = within.last().cloned();
        // A file that is gone takes its guards along, also that of an outer project.
        let within = within.into_iter().map(|directory| (directory, None));
        let beyond = beyond.into_iter().map(|directory| (directory, repository.clone()));
        for (directory, repository) in within.chain(beyond) {
            if !known.contains_key(&directory) {
                found.push(Project { directory, files: Vec::new(), repository });
            }
        }
    }
    found
}

/// A guard that was trusted and that is not in the settings that were read.
pub(super) struct MissingGuard {
    /// What runs all the same, from a copy.
    pub(super) running: Option<Arc<Granted>>,
    pub(super) event: HookEventName,
    pub(super) grant: Arc<Grant>,
    project: PathBuf,
    absence: Absence,
}

/// Why a guard is missing.
#[derive(Clone)]
enum Absence {
    /// Its project's settings do not have it any more.
    Gone,
    /// Its project's settings file has errors, which may be why.
    Broken(PathBuf),
    /// Its project is around this repository, with whose root the search for settings ends.
    Beyond(PathBuf),
}

impl MissingGuard {
    /// The project that it was trusted in.
    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// The settings file by whose errors it is missing, if it is.
    pub(super) fn broken(&self) -> Option<&PathBuf> {
        match &self.absence {
            Absence::Broken(file) => Some(file),
            Absence::Gone | Absence::Beyond(_) => None,
        }
    }

    /// What everybody who fires its event should know. One behind broken settings blocks, and says
    /// so itself.
    pub(super) fn notice(&self) -> Option<String> {
        let name = shortened(self.grant.display_name());
        let project = self.project.display();
        match &self.absence {
            Absence::Broken(_) => None,
            Absence::Gone if self.running.is_some() => Some(format!(
                "the trusted guard `{name}` is not in the settings of {project} any more, which are gone; it \
                 runs on from its copy; put them back, or take back its trust with `hook trust --revoke`"
            )),
            Absence::Gone => Some(format!(
                "the trusted guard `{name}` is not in the settings of {project} any more; put it \
                 back, or take back its trust with `hook trust --revoke`"
            )),
            Absence::Beyond(repository) => Some(format!(
                "the trusted guard `{name}` of {project} does not run here: {} is the root of a \
                 repository, and no settings are looked for around it; put the guard into its \
                 settings or the user's, or take back its trust with `hook trust --revoke \
                 --project {project}`",
                repository.display()
            )),
        }
    }
}
