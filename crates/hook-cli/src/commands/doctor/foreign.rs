//! Other agents: the files with their own hooks, and their connections to `hook`.

use std::path::Path;

use hook_json::text::{PathText, shortened};
use hook_settings::language::Language;
use hook_settings::{Agents, load};

use crate::commands::connect::entries::{self, Entries, Scope};
use crate::commands::connect::{installed, losses, record};
use crate::context::Context;
use crate::render::{Finding, Health, Section, counted, plural};

/// Returns the findings about the agents' own files.
pub(super) async fn files(context: &Context) -> Section {
    let sources = context.sources();
    let is_read = |path: &Path| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        sources.iter().any(|source| real(&source.path) == real(path))
    };
    let known = Agents::known(hook_agents::languages());
    let all = Agents { named: known.known.all().collect(), ..known };
    let found = all.with_files(Vec::new(), [context.project()]);
    let findings = found.iter().filter_map(|source| {
        let language = source.language?;
        let file = load(source)?;
        let (name, path) = (language.name(), source.path.shown());
        let subject = format!("{} {path}", language.title());
        // The agent calls `hook` by these entries; they are no hooks of their own.
        let entries = match file.entries {
            0 => String::new(),
            entries => format!("; {} of `hook connect`", plural(entries, "entry", "entries")),
        };
        Some(match file.hooks.len() {
            0 => Finding::new(Health::Absent, subject, format!("no hooks of its own{entries}")),
            hooks if is_read(&source.path) => {
                let detail = format!("{}, run here as there{entries}", counted(hooks, "hook"));
                Finding::new(Health::Good, subject, detail)
            }
            hooks => {
                let hooks = counted(hooks, "hook");
                let detail = format!("{hooks} that no other agent runs{entries}");
                Finding::new(Health::Warning, subject, detail).fix(format!(
                    "write \"agents\": [\"{name}\"] into hooksConfig, or give --agent {name}"
                ))
            }
        })
    });
    let mut findings: Vec<Finding> = findings.collect();
    findings.extend(unreviewed(context).await);
    Section { title: "Hooks of other agents", empty: "none found", findings }
}

/// Returns the findings about agents that call `hook`.
pub(super) async fn connections(context: &Context) -> Section {
    let agents = hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    let mut findings = Vec::new();
    for agent in agents {
        let all = Scope::ALL.map(|scope| entries::of(agent, scope, context));
        let connected: Vec<&Entries> =
            all.iter().filter(|entries| !entries.commands.is_empty()).collect();
        findings.extend(connected.iter().map(|entries| connection(entries, context)));
        findings.extend(all.iter().filter_map(missing_entries));
        let Some(entries) = connected.first() else { continue };
        let verify = format!("hook connect --verify {}", agent.name());
        if let Some(silence) = entries.last_calls().silence(agent, &entries.file) {
            findings.push(Finding::new(Health::Bad, agent.title(), silence).fix(&*verify));
        }
        let events: Vec<&str> = entries.commands.iter().map(|(event, _)| event.as_str()).collect();
        for remark in installed::version_remarks(agent, &events).await {
            let fix = match agent.can_be_tried() {
                true => verify.clone(),
                false => format!("update {}", agent.title()),
            };
            findings.push(Finding::new(Health::Warning, agent.title(), remark).fix(fix));
        }
    }
    Section {
        title: "Agents that ask",
        empty: "none is connected; `hook connect` does it",
        findings,
    }
}

/// Returns the finding about entries that were taken out by something else than `hook disconnect`.
fn missing_entries(entries: &Entries) -> Option<Finding> {
    let missing = record::missing(entries);
    let subject = format!("{} ({})", entries.agent.title(), entries.scope.as_str());
    let (file, events) = (entries.file.shown(), missing.join(", "));
    let detail =
        format!("the entries for {events} were taken out of {file}, so nothing is asked there");
    let fix = format!(
        "`hook doctor --fix` puts them back; `hook disconnect {} --scope {}` has them forgotten",
        entries.agent.name(),
        entries.scope.as_str()
    );
    (!missing.is_empty()).then(|| Finding::new(Health::Bad, subject, detail).fix(fix))
}

/// Returns the findings about hooks in this project's files of agents that the user has never reviewed. The agents run
/// them whether or not `hook` does.
async fn unreviewed(context: &Context) -> Vec<Finding> {
    let languages: Vec<&'static dyn Language> = hook_agents::languages().collect();
    let built =
        context.builder().and_then(|builder| Ok(builder.agents(&languages, false).build()?));
    // Errors are reported elsewhere.
    let Ok(system) = built else { return Vec::new() };
    let _ = system.initialize_blocking().await;
    let hooks = system.hooks().unwrap_or_default();
    system.shutdown(std::time::Duration::ZERO).await;
    let sources = context.sources();
    let unreviewed = hooks.iter().filter(|listing| !listing.trusted);
    let findings = unreviewed.filter_map(|listing| {
        let (hook, agent) = (&listing.hook, hook_agents::agent(listing.hook.agent()?)?);
        let file = hook.location.as_ref()?.file.as_deref()?;
        // Those that run here, too, are findings about trust.
        if sources.iter().any(|source| source.path == *file) {
            return None;
        }
        let subject = format!("{} {}", agent.title(), file.shown());
        let name = shortened(hook.display_name());
        let detail = format!("you have never reviewed its hook of {}: {name}", hook.event.as_str());
        let review = context.review_command([agent.name()]);
        let fix = format!("{} runs it itself; `{review}` shows it", agent.title());
        Some(Finding::new(Health::Warning, subject, detail).fix(fix))
    });
    findings.collect()
}

/// Returns the finding about an agent's entries in one file.
fn connection(entries: &Entries, context: &Context) -> Finding {
    let subject = format!("{} ({})", entries.agent.title(), entries.scope.as_str());
    let command = entries.repair_command();
    if entries.stale().is_some() {
        let health = if entries.is_broken() { Health::Bad } else { Health::Warning };
        return Finding::new(health, subject, entries.line()).fix(command);
    }
    match losses::unconnected(entries, context).as_slice() {
        [] => {
            let detail = format!("{}; {}", entries.line(), entries.last_calls().describe());
            Finding::new(Health::Good, subject, detail)
        }
        lost_events => {
            let events = lost_events.join(", ");
            let detail = format!("hooks listen to {events}, which is not connected");
            Finding::new(Health::Warning, subject, detail).fix(command)
        }
    }
}
