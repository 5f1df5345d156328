//! Other agents: the files with their own hooks, and their connections to `hook`.

use std::path::Path;

use hook_json::text::PathText;
use hook_settings::language::Language;
use hook_settings::{Agents, load};

use crate::commands::connect::entries::{self, Scope};
use crate::commands::connect::losses;
use crate::context::Context;
use crate::render::{Finding, Health, Section, counted, plural};

/// Returns the findings about the agents' own files.
pub(super) fn files(context: &Context) -> Section {
    let sources = context.sources();
    let is_read = |path: &Path| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        sources.iter().any(|source| real(&source.path) == real(path))
    };
    let known = Agents::known(hook_agents::languages());
    let all = Agents { named: known.known.all().collect(), ..known };
    let found = all.with_files(Vec::new(), context.project());
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
    Section { title: "Hooks of other agents", empty: "none found", findings: findings.collect() }
}

/// Returns the findings about agents that call `hook`.
pub(super) fn connections(context: &Context) -> Section {
    let agents = hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    let all = agents.flat_map(|agent| Scope::ALL.map(|scope| entries::of(agent, scope, context)));
    let findings = all.filter(|entries| !entries.commands.is_empty()).map(|entries| {
        let subject = format!("{} ({})", entries.agent.title(), entries.scope.as_str());
        let command =
            format!("hook connect {} --scope {}", entries.agent.name(), entries.scope.as_str());
        match entries.stale() {
            None => match losses::unconnected(&entries, context).as_slice() {
                [] => Finding::new(Health::Good, subject, entries.line()),
                lost_events => {
                    let events = lost_events.join(", ");
                    let detail = format!("hooks listen to {events}, which is not connected");
                    Finding::new(Health::Warning, subject, detail).fix(command)
                }
            },
            Some(_) => {
                let health = if entries.is_broken() { Health::Bad } else { Health::Warning };
                Finding::new(health, subject, entries.line()).fix(command)
            }
        }
    });
    let findings = findings.collect();
    Section {
        title: "Agents that ask",
        empty: "none is connected; `hook connect` does it",
        findings,
    }
}
