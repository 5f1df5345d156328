//! Shell completion of the command line.
//!
//! The script that `hook completions SHELL` prints calls the command itself, with [`VARIABLE`] set
//! to the shell's name. Without that variable, completion is inactive.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::Command;
use clap_complete::engine::CompletionCandidate;
use hook_protocol::Events;
use hook_settings::language::Language;
use hook_settings::{SettingsSource, discover};

use crate::context;
use crate::render::TOPICS;

/// The environment variable that requests completions. Its name is specific to `hook`, so that a
/// variable set for another program cannot keep the engine from working.
pub(crate) const VARIABLE: &str = "HOOK_COMPLETE";

/// The constructor of the whole command, set when completions are requested. The command's
/// arguments refer to this module's completers, so this module cannot name it directly.
pub(crate) static HOOK: OnceLock<fn() -> Command> = OnceLock::new();

/// Completes an event's name: built-in events, and those that the settings declare.
pub(crate) fn event_names(current: &OsStr) -> Vec<CompletionCandidate> {
    events_beginning_with(current, &events_of(&own_sources()))
}

fn events_beginning_with(current: &OsStr, events: &Events) -> Vec<CompletionCandidate> {
    beginning_with(current, events.all().map(|event| (event.as_str(), event.row().moment)))
}

/// Returns the built-in events, and those that readable settings files declare.
fn events_of(sources: &[SettingsSource]) -> Events {
    let mut events = Events::built_in();
    hook_settings::declare_events(sources, &mut events);
    events
}

/// Completes a schema's name: the general schemas, then those of the events.
pub(crate) fn schema_names(current: &OsStr) -> Vec<CompletionCandidate> {
    let whole = hook_bus::schema::NAMES.map(|name| (name, "the schema"));
    beginning_with(current, whole).into_iter().chain(event_names(current)).collect()
}

/// Completes a hook's name, from the settings that the command line or the folder selects. The
/// settings are only read and nothing is run, so they need no trust.
pub(crate) fn hook_names(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = names_with_origin(&own_sources());
    beginning_with(current, names.iter().map(|(name, about)| (name.as_str(), about.as_str())))
}

/// Returns the settings files that this process's command line or folder selects.
fn own_sources() -> Vec<SettingsSource> {
    let Ok(cwd) = std::env::current_dir() else { return Vec::new() };
    let arguments: Vec<OsString> = std::env::args_os().collect();
    sources(&arguments, &cwd)
}

/// Returns the settings files that a command line selects.
fn sources(arguments: &[OsString], cwd: &Path) -> Vec<SettingsSource> {
    let named = values_of("--settings", arguments);
    if !named.is_empty() {
        return named.iter().map(|path| context::explicit_source(&cwd.join(path))).collect();
    }
    let project = values_of("--project", arguments).pop().map(|project| cwd.join(project));
    let project = project.unwrap_or_else(|| hook_settings::nearest_project(cwd));
    let native = discover(&project, hook_settings::config_home().as_deref());
    let named = values_of("--agent", arguments).into_iter();
    let named = named.filter_map(|name| hook_agents::agent(name.to_str()?));
    let agents = hook_settings::Agents {
        named: named.map(|agent| agent as &'static dyn Language).collect(),
        ..hook_settings::Agents::known(hook_agents::languages())
    };
    agents.with_files(native, [project.as_path()])
}

/// Returns the names of the hooks in settings files, each with a description.
fn names_with_origin(sources: &[SettingsSource]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for file in sources.iter().filter_map(hook_settings::load) {
        for hook in file.hooks {
            let about = format!("{}, {}", hook.event, file.source);
            let name = hook.name.unwrap_or(hook.command);
            if is_plain(&name) {
                names.entry(name).or_insert(about);
            }
        }
    }
    names
}

/// Returns `true` if no shell treats a letter of the name specially. Some shells insert completions
/// unquoted, and these names may come from an untrusted project.
fn is_plain(name: &str) -> bool {
    let is_plain_letter =
        |letter: char| letter.is_ascii_alphanumeric() || "_.:@%+,/=-".contains(letter);
    name.chars().all(is_plain_letter) && !name.starts_with('-')
}

/// Completes the name of a command or topic.
pub(crate) fn topics(current: &OsStr) -> Vec<CompletionCandidate> {
    let topics = TOPICS.iter().map(|topic| (topic.name, topic.about));
    beginning_with(current, topics).into_iter().chain(command_names(current)).collect()
}

/// Completes the name of a command.
pub(crate) fn command_names(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(hook) = HOOK.get() else { return Vec::new() };
    let command = hook();
    let about: Vec<(&str, String)> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| (command.get_name(), command.get_about().unwrap_or_default().to_string()))
        .collect();
    beginning_with(current, about.iter().map(|(name, about)| (*name, about.as_str())))
}

/// Returns the candidates that begin with the given text, ignoring case.
fn beginning_with<'c>(
    current: &OsStr,
    candidates: impl IntoIterator<Item = (&'c str, &'c str)>,
) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy().to_lowercase();
    candidates
        .into_iter()
        .filter(|(name, _)| name.to_lowercase().starts_with(&current))
        .map(|(name, about)| CompletionCandidate::new(name).help(Some(about.to_owned().into())))
        .collect()
}

/// Returns an option's values on the command line that is being completed.
fn values_of(option: &str, arguments: &[OsString]) -> Vec<PathBuf> {
    let mut values = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let argument = argument.to_string_lossy();
        if argument == option {
            values.extend(arguments.get(index + 1).map(PathBuf::from));
        } else if let Some(value) =
            argument.strip_prefix(option).and_then(|rest| rest.strip_prefix('='))
        {
            values.push(PathBuf::from(value));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_protocol::{EventDefinition, HookEventName};

    #[test]
    fn the_names_of_hooks_come_from_the_settings_that_the_command_line_means() {
        let folder = tempfile::tempdir().unwrap();
        let hooks =
            |hooks: &str| format!(r#"{{"hooks": {{"BeforeTool": [{{"hooks": [{hooks}]}}]}}}}"#);
        let named = r#"{"type": "command", "name": "guard", "command": "a b"}"#;
        let nameless = r#"{"type": "command", "command": "./c"},
            {"type": "command", "command": "d e"}"#;
        std::fs::create_dir_all(folder.path().join("p/.hooks")).unwrap();
        std::fs::write(folder.path().join("p/.hooks/settings.json"), hooks(named)).unwrap();
        std::fs::write(folder.path().join("own.json"), hooks(nameless)).unwrap();
        std::fs::write(folder.path().join("broken.json"), "nonsense").unwrap();
        for (words, expected) in [
            (vec!["hook", "--project", "p"], vec!["guard"]),
            (vec!["hook", "--settings=own.json"], vec!["./c"]),
            (vec!["hook", "--settings", "own.json", "--project=p"], vec!["./c"]),
            (vec!["hook", "--settings", "broken.json"], vec![]),
            (vec!["hook", "--settings", "none.json"], vec![]),
        ] {
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let mut sources = sources(&words, folder.path());
            // Only files that belong to the test.
            sources.retain(|source| source.path.starts_with(folder.path()));
            let names = names_with_origin(&sources);
            assert_eq!(names.keys().collect::<Vec<_>>(), expected, "{words:?}");
        }
    }

    #[test]
    fn what_is_there_counts_whatever_its_case() {
        let mut events = Events::built_in();
        events.declare(EventDefinition::new("BeforeDeploy")).unwrap();
        let offered = |current: &str| events_beginning_with(current.as_ref(), &events).len();
        assert_eq!(offered("before"), 8);
        assert_eq!(offered(""), HookEventName::COUNT + 1);
        assert_eq!(offered("x"), 0);
    }
}
