//! Trust decisions for the hooks of all settings files, and trusted guards that are missing from
//! them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hook::Suspension;
use hook_json::text::{PathText, shortened};
use hook_protocol::event::{EventDefinition, Events, HookEventName, WILDCARD};
use hook_run::Runner;
use hook_settings::language::{ForeignCommand, ForeignHook};
use hook_settings::{
    Agents, Diagnostic, HookEntry, HookSource, Location, PROJECT_RULES, Pack, Rule, SettingsFile,
    Severity, guarded_directories,
};
use hook_trust::{Grant, Trust, TrustPolicy, TrustedHook, verify_pack};

/// A part of the notice about hooks and packs that were never trusted.
pub const NOT_TRUSTED: &str = "not trusted and did not run";

/// The trust decisions about settings.
pub(super) struct TrustDecisions {
    /// The trust of each file's hooks.
    pub(super) trust: Vec<Vec<Trust>>,
    /// For each file, `true` if its hooks may run: `false` if nothing of its project is trusted.
    pub(super) may_run: Vec<bool>,
    /// Trusted guards that are no longer in any settings.
    pub(super) missing: Vec<MissingGuard>,
    /// Problems with the trust store.
    pub(super) problems: Option<Diagnostic>,
    /// For each file, the reason why the pack that it belongs to must not run.
    pub(super) packs: Vec<Option<PackProblem>>,
}

/// The reason why nothing of a pack, or no hook of it, runs.
#[derive(Debug)]
pub(super) struct PackProblem {
    pub(super) diagnostic: Diagnostic,
    /// Whether its guards block.
    pub(super) blocks: bool,
}

/// Decides on the hooks of a pack.
fn decide_pack(
    file: &SettingsFile,
    pack: &Arc<Pack>,
    policy: &TrustPolicy,
) -> (Vec<Trust>, Option<PackProblem>) {
    let never = || file.hooks.iter().map(|_| Trust::NEVER).collect();
    let problem = |rule: Rule, message: &str, blocks: bool| {
        let diagnostic = Diagnostic::new(rule, Location::of_file(&pack.folder), message);
        Some(PackProblem { diagnostic, blocks })
    };
    let is_agreed = policy.agrees_to(pack);
    match verify_pack(pack) {
        Err(reason) if is_agreed => return (never(), problem(Rule::PackChanged, &reason, true)),
        Err(_) => {}
        Ok(()) if is_agreed => {
            let trusted = |entry| Trust::Checked(Arc::new(TrustedHook::of_pack(entry, pack)));
            let replaced = || {
                let message = format!(
                    "{} of this project is not the one that you agreed to, or is gone; that one still holds, too; {}",
                    pack.title(),
                    match &*pack.name {
                        PROJECT_RULES => "`hook trust` shows the difference".to_owned(),
                        name => format!(
                            "`hook add` shows and adds the project's, `hook add` with its source and --shared puts back one that is \
                             gone, `hook remove {name} --shared` takes it out"
                        ),
                    }
                );
                problem(Rule::PackNotAdded, &message, false)
            };
            let problem = if pack.is_replaced { replaced() } else { None };
            return (file.hooks.iter().map(trusted).collect(), problem);
        }
        Ok(()) if file.hooks.is_empty() => return (Vec::new(), None),
        Ok(()) => {}
    }
    let message = format!(
        "the pack `{}` of this project is {NOT_TRUSTED}; `hook add` shows what it does, and asks",
        shortened(&pack.name)
    );
    (never(), problem(Rule::PackNotAdded, &message, false))
}

impl TrustDecisions {
    /// Decides on all hooks of all projects. If an event is unknown
    /// because its declaration cannot be read, and a trusted guard listens to it, the event is
    /// added to `events`, so that the guard blocks it.
    pub(super) fn of(
        files: &[SettingsFile],
        runner: &Runner,
        (policy, agents): (&TrustPolicy, &Agents),
        events: &mut Events,
    ) -> Self {
        let all_given = |file: &SettingsFile| file.hooks.iter().map(|_| Trust::Always).collect();
        let mut trust: Vec<Vec<Trust>> = files.iter().map(all_given).collect();
        let mut may_run = vec![true; files.len()];
        let mut packs: Vec<Option<PackProblem>> = files.iter().map(|_| None).collect();
        for ((file, trust), problem) in files.iter().zip(&mut trust).zip(&mut packs) {
            if let Some(pack) = &file.pack {
                (*trust, *problem) = decide_pack(file, pack, policy);
            }
        }
        let mut missing = Vec::new();
        let native = || files.iter().filter(|file| file.language.is_none());
        let reads = |name: &str| {
            agents.named.iter().any(|agent| agent.name() == name)
                || native().any(|file| file.config.agents.iter().any(|agent| agent == name))
        };
        let projects = projects(files, runner, policy);
        let directories: Vec<&Path> = projects.iter().map(|project| &*project.directory).collect();
        let (decided, problems) = policy.open(&directories);
        for (project, trusted) in projects.iter().zip(decided) {
            let project_files = || project.files.iter().filter_map(|index| files.get(*index));
            let entries: Vec<&HookEntry> = project_files().flat_map(|file| &file.hooks).collect();
            let decisions = trusted.decide(&entries, &project.directory);
            let mut decided = decisions.trust.into_iter();
            for index in &project.files {
                if let Some(may_run) = may_run.get_mut(*index) {
                    // If the store cannot be read, its contents are unknown.
                    *may_run = !trusted.is_empty() || problems.is_some();
                }
                for slot in trust.get_mut(*index).into_iter().flatten() {
                    // There is one decision per hook; without one, the hook is not trusted.
                    *slot = decided.next().unwrap_or(Trust::NEVER);
                }
            }
            // A project's event declaration takes effect if a trusted hook of it listens to it.
            for file in project_files() {
                let listening = project.files.iter().filter_map(|index| {
                    Some(files.get(*index)?.hooks.iter().zip(trust.get(*index)?))
                });
                let trusted = listening.flatten().filter(|(_, trust)| trust.is_trusted());
                let trusted: Vec<&HookEntry> = trusted.map(|(entry, _)| entry).collect();
                for definition in &file.declared {
                    if trusted.iter().any(|entry| definition.matches_row(entry.event.row())) {
                        // If the event is declared differently by another file, its guards block.
                        let _ = events.declare(definition.clone());
                    }
                }
            }
            let has_errors = |file: &&SettingsFile| {
                file.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
            };
            let broken = project_files().find(has_errors).and_then(|file| file.path.clone());
            let absence = broken.map_or(Absence::Gone, Absence::BrokenSettings);
            let guards = decisions.gone.into_iter().filter_map(|grant| {
                if !grant.may_guard() || !grant.is_in_settings_of(reads) {
                    return None;
                }
                let known_event = match &*grant.event {
                    WILDCARD => EventDefinition::wildcard(),
                    name => events.from_name(name),
                };
                let event = match (known_event, &absence) {
                    (Some(event), _) => event,
                    (None, Absence::BrokenSettings(_)) => {
                        events.declare(EventDefinition::new(grant.event.as_str())).ok()?
                    }
                    (None, Absence::Gone) => {
                        EventDefinition::new(grant.event.as_str()).event().ok()?
                    }
                };
                // Whatever removed it from the settings, the guard's copy keeps running.
                let is_gone = matches!(absence, Absence::Gone);
                let running =
                    is_gone.then(|| trusted.removed_hook(&grant, &project.directory)).flatten();
                Some(MissingGuard {
                    running,
                    foreign: foreign_hook(&grant, agents),
                    event,
                    grant,
                    project: project.directory.clone(),
                    absence: absence.clone(),
                })
            });
            missing.extend(guards);
        }
        Self { trust, may_run, missing, problems, packs }
    }
}

/// Returns the trusted hook of another agent, with only the fields that decide what it matches and which agents run
/// it themselves.
fn foreign_hook(grant: &Grant, agents: &Agents) -> Option<Arc<ForeignHook>> {
    let (language, event) = grant.foreign_event()?;
    let named = || agents.named.iter().copied().find(|agent| agent.name() == language);
    Some(Arc::new(ForeignHook {
        language: agents.known.get(language).or_else(named)?,
        event: event.to_owned(),
        matcher: None,
        condition: None,
        command: ForeignCommand::Shell { text: grant.command.clone(), shell: None },
        directory: None,
        folder: None,
        variables: Vec::new(),
        plugin_root: None,
        is_user: false,
        is_system: false,
        is_explicit: false,
        runs_once: false,
        loop_limit: None,
        is_discovered: grant.in_agent_file,
    }))
}

/// A project that may have missing guards.
struct Project {
    directory: PathBuf,
    /// Its files, by index.
    files: Vec<usize>,
}

fn projects(files: &[SettingsFile], runner: &Runner, policy: &TrustPolicy) -> Vec<Project> {
    let mut found: Vec<Project> = Vec::new();
    let mut known: HashMap<PathBuf, usize> = HashMap::new();
    for (index, file) in files.iter().enumerate() {
        if file.source != HookSource::Project {
            continue;
        }
        let directory = file.project(runner.project());
        let position = *known.entry(directory.to_path_buf()).or_insert_with(|| {
            let directory = directory.to_path_buf();
            found.push(Project { directory, files: Vec::new() });
            found.len() - 1
        });
        found[position].files.push(index);
    }
    // If settings files are given explicitly, the project's were not searched. Without a store, no
    // missing guard can be known.
    let searches = matches!(policy, TrustPolicy::Store(_))
        && (!found.is_empty() || files.iter().all(|file| file.source != HookSource::Explicit));
    if searches {
        // A deleted settings file takes its guards with it, even one of an outer project.
        for directory in runner.directories().flat_map(guarded_directories) {
            if !known.contains_key(&directory) {
                known.insert(directory.clone(), found.len());
                found.push(Project { directory, files: Vec::new() });
            }
        }
    }
    found
}

/// A trusted guard that is missing from the settings.
pub(super) struct MissingGuard {
    /// The trusted copy that runs nevertheless.
    pub(super) running: Option<Arc<TrustedHook>>,
    /// The hook of another agent that it was.
    pub(super) foreign: Option<Arc<ForeignHook>>,
    pub(super) event: HookEventName,
    pub(super) grant: Arc<Grant>,
    project: PathBuf,
    absence: Absence,
}

/// The reason why a guard is missing.
#[derive(Clone)]
enum Absence {
    /// Its project's settings no longer contain it.
    Gone,
    /// Its project's settings file has errors, which may be the reason.
    BrokenSettings(PathBuf),
}

impl MissingGuard {
    /// Returns the project that it was trusted in.
    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// Returns why it blocks if no copy of it runs.
    pub(super) fn suspension(&self) -> Suspension {
        match &self.absence {
            Absence::BrokenSettings(file) => Suspension::BrokenSettings {
                file: file.clone(),
                revoke: self.grant.revoke_command(&self.project).into(),
            },
            Absence::Gone => Suspension::Removed {
                project: self.project.clone(),
                review: self.grant.removal_command(&self.project).into(),
            },
        }
    }

    /// Returns the warning for every caller that fires its event, if its copy runs. One that blocks
    /// has its own message.
    pub(super) fn notice(&self) -> Option<String> {
        self.running.as_ref()?;
        Some(format!(
            "the trusted guard `{}` is not in the settings of {} any more; it runs on from its copy; put it back, or \
             agree to its removal with `{}`",
            shortened(self.grant.display_name()),
            self.project.shown(),
            self.grant.removal_command(&self.project)
        ))
    }
}
