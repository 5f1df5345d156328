//! The settings files of other agents that the settings or the host name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discovery::{self, searched_directories};
use super::document::parse_root;
use super::load::read_file;
use super::paths::home_directory;
use super::source::{HookSource, SettingsSource};
use crate::language::{Language, Languages};
use hook_json::RawJson;

/// The agents whose own files are read, too.
#[derive(Debug, Clone)]
pub struct Agents {
    /// The agents that settings may name, under `hooksConfig.agents` or as the `language` of hooks.
    pub known: Languages,
    /// The agents that the host names.
    pub named: Vec<&'static dyn Language>,
    /// `true` if the user's files are read.
    pub include_user: bool,
}

impl Agents {
    /// Returns agents that settings may name, without any that the host names.
    pub fn known(known: impl IntoIterator<Item = &'static dyn Language>) -> Self {
        Self { known: known.into_iter().collect(), named: Vec::new(), include_user: true }
    }

    /// Adds the files of the agents that the sources or the host name. They follow the project's,
    /// the user's and the system's sources. Only existing files are added, each once. The sources
    /// themselves may contain hooks in any known language.
    pub fn with_files<'d>(
        &self,
        sources: Vec<SettingsSource>,
        directories: impl IntoIterator<Item = &'d Path>,
    ) -> Vec<SettingsSource> {
        let sources: Vec<_> =
            sources.into_iter().map(|source| source.with_languages(&self.known)).collect();
        let own = sources.iter().filter(|source| source.language.is_none());
        let configured: Vec<String> = own.flat_map(|source| agents_of(&source.path)).collect();
        let is_named = |agent: &&'static dyn Language| {
            self.named.contains(agent) || configured.iter().any(|name| name == agent.name())
        };
        let named = self.named.iter().map(|agent| agent.name().to_owned());
        let all: Arc<[String]> = configured.iter().cloned().chain(named).collect();
        let sources: Vec<_> = sources
            .into_iter()
            .map(|source| SettingsSource { agents: Arc::clone(&all), ..source })
            .collect();
        let mut agents: Vec<_> = self.known.all().filter(is_named).collect();
        let is_unknown = |agent: &&&'static dyn Language| self.known.get(agent.name()).is_none();
        agents.extend(self.named.iter().filter(is_unknown));
        if agents.is_empty() {
            return sources;
        }
        let home = home_directory().filter(|_| self.include_user);
        let mut projects: Vec<PathBuf> = Vec::new();
        for directory in directories.into_iter().flat_map(searched_directories) {
            if !projects.contains(&directory) {
                projects.push(directory);
            }
        }
        let mut found: Vec<SettingsSource> = Vec::new();
        let mut known: HashMap<PathBuf, usize> = HashMap::new();
        for agent in agents {
            for location in agent.sources(&projects, home.as_deref()) {
                let source = SettingsSource::discovered(agent, location);
                if !discovery::exists(&source.path) {
                    continue;
                }
                // A file is read once, by its first agent, as its most trusted source: a project
                // may be its user's HOME directory, or name a file outside of it.
                match known.get(&source.path).and_then(|index| found.get_mut(*index)) {
                    Some(first) if source.source.trust_rank() > first.source.trust_rank() => {
                        *first = source;
                    }
                    Some(_) => {}
                    None => {
                        known.insert(source.path.clone(), found.len());
                        found.push(source);
                    }
                }
            }
        }
        let mut all = sources;
        all.extend(found);
        all.sort_by_key(|source| match source.source {
            HookSource::User => 1,
            HookSource::System => 2,
            _ => 0,
        });
        all
    }
}

/// Returns the agents that a native settings file names. Its errors are reported when it is read.
pub fn agents_of(path: &Path) -> Vec<String> {
    let Ok(bytes) = read_file(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    // Few files name any agent.
    if !text.contains("\"agents\"") {
        return Vec::new();
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let config = parse_root(text).ok().and_then(|root| root.to_object().ok());
    let config = config.and_then(|root| root.get("hooksConfig")?.to_object().ok());
    let named = config.and_then(|config| config.get("agents")?.to_items());
    named.unwrap_or_default().iter().filter_map(RawJson::to_text).collect()
}
