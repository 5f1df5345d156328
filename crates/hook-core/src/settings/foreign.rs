//! Settings of other agents: where they keep them, and whether this engine reads what is in them.

use std::path::{Path, PathBuf};

use super::load::load;
use super::load::read_file;
use super::source::{HookSource, SettingsSource};
use crate::json::RawJson;

/// Where one agent keeps hooks, relative to a project and to its user's home.
struct Agent {
    name: &'static str,
    /// Whether its hooks are written as ours are: the same events, answers and units.
    speaks_our_protocol: bool,
    in_project: &'static [&'static str],
    in_home: &'static [&'static str],
}

const AGENTS: [Agent; 6] = [
    Agent {
        name: "Gemini CLI",
        speaks_our_protocol: true,
        in_project: &[".gemini/settings.json"],
        in_home: &[".gemini/settings.json"],
    },
    Agent {
        name: "llxprt",
        speaks_our_protocol: true,
        in_project: &[".llxprt/settings.json"],
        in_home: &[".config/llxprt-code/settings.json"],
    },
    Agent {
        name: "Claude Code",
        speaks_our_protocol: false,
        in_project: &[".claude/settings.json", ".claude/settings.local.json"],
        in_home: &[".claude/settings.json"],
    },
    Agent {
        name: "Codex",
        speaks_our_protocol: false,
        in_project: &[".codex/hooks.json", ".codex/config.toml"],
        in_home: &[".codex/hooks.json", ".codex/config.toml"],
    },
    Agent {
        name: "Cursor",
        speaks_our_protocol: false,
        in_project: &[".cursor/hooks.json"],
        in_home: &[".cursor/hooks.json"],
    },
    Agent {
        name: "Copilot CLI",
        speaks_our_protocol: false,
        in_project: &[".github/copilot/settings.json", ".github/copilot/settings.local.json"],
        in_home: &[".copilot/settings.json"],
    },
];

/// A settings file of another agent.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignFile {
    /// The agent it belongs to.
    pub agent: &'static str,
    /// The file.
    pub path: PathBuf,
    /// How many of its hooks this engine runs when the file is named to it; `None` where the
    /// agent's hooks are written in another way than protocol.md's, which is not read.
    pub usable_hooks: Option<usize>,
    /// Whether there seem to be hooks in it, or it cannot be told.
    pub has_hooks: bool,
}

/// The settings files of other agents that exist for a project and its user.
///
/// Files are looked at, and nothing of them is run.
#[doc(hidden)]
pub fn find_foreign(project: &Path, home: Option<&Path>) -> Vec<ForeignFile> {
    let places = |agent: &Agent| {
        let in_project = agent.in_project.iter().map(|path| project.join(path));
        let in_home = agent.in_home.iter().filter_map(|path| Some(home?.join(path)));
        in_project.chain(in_home).collect::<Vec<_>>()
    };
    let mut files: Vec<ForeignFile> = Vec::new();
    for agent in &AGENTS {
        for path in places(agent).into_iter().filter(|path| path.is_file()) {
            // A project may be its user's home.
            if files.iter().all(|known| known.path != path) {
                let usable_hooks = agent.speaks_our_protocol.then(|| count_hooks(&path));
                let has_hooks =
                    usable_hooks.map_or_else(|| seems_to_have_hooks(&path), |it| it > 0);
                files.push(ForeignFile { agent: agent.name, path, usable_hooks, has_hooks });
            }
        }
    }
    files
}

/// Whether a file has anything under `hooks`, or, where it is no JSON, has the word in it. One that
/// cannot be read may have some.
fn seems_to_have_hooks(path: &Path) -> bool {
    let Ok(bytes) = read_file(path) else { return true };
    let text = String::from_utf8_lossy(&bytes);
    let Ok(settings) = RawJson::parse(&*text).and_then(|json| json.to_object()) else {
        return text.contains("hook");
    };
    settings.get("hooks").is_some_and(|hooks| !matches!(hooks.as_str(), "{}" | "[]" | "null"))
}

fn count_hooks(path: &Path) -> usize {
    let source = SettingsSource::optional(HookSource::Explicit, path);
    load(&source).map_or(0, |file| file.hooks.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_agents_are_found_with_what_can_be_used_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "a"},
            {"type": "command", "command": "b"}]}]}}"#;
        for (path, text) in [
            ("project/.gemini/settings.json", hooks),
            ("project/.claude/settings.json", r#"{"hooks": {"PreToolUse": []}}"#),
            ("home/.config/llxprt-code/settings.json", "nonsense"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let home = folder.path().join("home");
        let found = find_foreign(&folder.path().join("project"), Some(&home));
        let found: Vec<_> = found.iter().map(|file| (file.agent, file.usable_hooks)).collect();
        assert_eq!(found, [("Gemini CLI", Some(2)), ("llxprt", Some(0)), ("Claude Code", None)]);
        let twice =
            find_foreign(&folder.path().join("project"), Some(&folder.path().join("project")));
        assert_eq!(twice.len(), 2, "one file is one file");
    }
}
