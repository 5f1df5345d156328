//! The programs of agents: their names, their versions, their transcripts, and how they run once without a user
//! against a scripted model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hook_files::regular_file;
use hook_json::{JsonObject, RawJson, RawObject};

use super::edit_error::ForeignEditError;
use super::entry::{object, root_of};
use super::syntax::without_comments;
use super::table::Agent;

/// The maximum number of files that are searched for the newest transcript.
const MAX_FILES: usize = 50_000;

/// The maximum size of a package's description, in bytes.
const MAX_PACKAGE: u64 = 1 << 20;

/// The members of settings beside `hooks` that decide whether hooks run.
const SWITCHES: [&str; 4] = ["hooksConfig", "disableAllHooks", "allowManagedHooksOnly", "tools"];

/// The program of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The name of its agent.
    agent: &'static str,
    /// The name in `PATH`.
    pub name: &'static str,
    /// The version that its hooks were last checked with, if it could be run.
    pub checked: Option<&'static str>,
    /// The paths of transcripts in the user's folder. A part `*` stands for any name.
    transcripts: &'static [&'static str],
    /// How it runs once without a user, if that is known.
    pub headless: Option<Headless>,
}

/// A run without a user, against a scripted model. `{url}`, `{project}` and `{prompt}` stand for the model's URL, the
/// folder that it works in, and what the user says.
#[derive(Debug, Clone, Copy)]
pub struct Headless {
    /// The arguments.
    pub arguments: &'static [&'static str],
    /// The environment variables.
    pub variables: &'static [(&'static str, &'static str)],
    /// Files in its user's folder.
    pub files: &'static [(&'static str, &'static str)],
    /// Further settings in the file of the entries, as a JSON object.
    settings: &'static str,
}

const GEMINI_SETTINGS: &str = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
    "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}}"#;

const QWEN_SETTINGS: &str = r#"{"security": {"auth": {"selectedType": "openai"}},
    "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
    "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}}"#;

const CODEX_CONFIG: &str = r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[features]
shell_snapshot = false
plugins = false
apps = false
[otel]
exporter = "none"
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."{project}"]
trust_level = "trusted"
"#;

const PI_MODELS: &str = r#"{"providers": {"scripted": {"baseUrl": "{url}/v1", "api": "openai-completions",
    "apiKey": "none", "models": [{"id": "scripted", "name": "scripted", "reasoning": false, "input": ["text"],
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 100000,
    "maxTokens": 4096}]}}}"#;

const PI_VARIABLES: &[(&str, &str)] =
    &[("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")];

static PROGRAMS: [Program; 9] = [
    Program {
        agent: "claude",
        name: "claude",
        checked: Some("2.1.330"),
        transcripts: &["projects/*/*.jsonl"],
        headless: Some(Headless {
            arguments: &[
                "-p",
                "{prompt}",
                "--output-format",
                "stream-json",
                "--verbose",
                "--permission-mode",
                "bypassPermissions",
            ],
            variables: &[
                ("ANTHROPIC_BASE_URL", "{url}"),
                ("ANTHROPIC_API_KEY", "none"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("CLAUDE_CODE_MAX_RETRIES", "0"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
                ("DISABLE_TELEMETRY", "1"),
                // Root may not bypass permissions elsewhere.
                ("IS_SANDBOX", "1"),
            ],
            files: &[("../.claude.json", r#"{"hasCompletedOnboarding": true}"#)],
            settings: "{}",
        }),
    },
    Program {
        agent: "gemini",
        name: "gemini",
        checked: Some("0.61.0"),
        transcripts: &["tmp/*/chats/*"],
        headless: Some(Headless {
            arguments: &[
                "-m",
                "gemini-2.5-flash",
                "--approval-mode",
                "yolo",
                "--output-format",
                "stream-json",
                "-p",
                "{prompt}",
            ],
            variables: &[
                ("GEMINI_API_KEY", "none"),
                ("GEMINI_CLI_NO_RELAUNCH", "true"),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
                ("GEMINI_TELEMETRY_ENABLED", "false"),
                ("GOOGLE_GEMINI_BASE_URL", "{url}"),
            ],
            files: &[],
            settings: GEMINI_SETTINGS,
        }),
    },
    Program { agent: "llxprt", name: "llxprt", checked: None, transcripts: &[], headless: None },
    Program {
        agent: "qwen",
        name: "qwen",
        checked: Some("0.24.4"),
        transcripts: &["projects/*/chats/*"],
        headless: Some(Headless {
            arguments: &[
                "--auth-type",
                "openai",
                "--approval-mode",
                "yolo",
                "--output-format",
                "stream-json",
                "-p",
                "{prompt}",
            ],
            variables: &[
                ("OPENAI_API_KEY", "none"),
                ("OPENAI_BASE_URL", "{url}/v1"),
                ("OPENAI_MODEL", "scripted"),
                ("QWEN_CODE_NO_RELAUNCH", "true"),
            ],
            files: &[],
            settings: QWEN_SETTINGS,
        }),
    },
    Program {
        agent: "codex",
        name: "codex",
        checked: Some("0.169.0"),
        transcripts: &["sessions/*/*/*/*.jsonl"],
        headless: Some(Headless {
            arguments: &["exec", "--skip-git-repo-check", "--json", "-C", "{project}", "{prompt}"],
            variables: &[("MODEL_KEY", "none")],
            files: &[("config.toml", CODEX_CONFIG)],
            settings: "{}",
        }),
    },
    Program {
        agent: "cursor",
        name: "cursor-agent",
        checked: None,
        transcripts: &[],
        headless: None,
    },
    Program {
        agent: "copilot",
        name: "copilot",
        checked: Some("1.0.102"),
        transcripts: &["session-state/*/events.jsonl"],
        headless: Some(Headless {
            arguments: &["-p", "{prompt}", "--allow-all-tools", "--no-color"],
            variables: &[
                ("COPILOT_ALLOW_ALL", "true"),
                ("COPILOT_AUTO_UPDATE", "false"),
                ("COPILOT_MODEL", "scripted"),
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_PROVIDER_API_KEY", "none"),
                ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
                ("COPILOT_PROVIDER_TYPE", "openai"),
            ],
            files: &[],
            settings: "{}",
        }),
    },
    Program {
        agent: "pi",
        name: "pi",
        checked: Some("0.73.1"),
        transcripts: &["sessions/*/*.jsonl"],
        headless: Some(Headless {
            arguments: &[
                "--provider",
                "scripted",
                "--model",
                "scripted",
                "--mode",
                "json",
                "-p",
                "{prompt}",
            ],
            variables: PI_VARIABLES,
            files: &[("models.json", PI_MODELS)],
            settings: "{}",
        }),
    },
    Program {
        agent: "omp",
        name: "omp",
        checked: Some("18.2.3"),
        transcripts: &["sessions/*/*.jsonl"],
        headless: Some(Headless {
            arguments: &[
                "--provider",
                "scripted",
                "--model",
                "scripted",
                "--mode",
                "json",
                "-p",
                "{prompt}",
            ],
            variables: PI_VARIABLES,
            // JSON is YAML.
            files: &[("models.yml", PI_MODELS)],
            settings: "{}",
        }),
    },
];

impl Agent {
    /// Returns the agent's program, if it is known.
    pub fn program(&self) -> Option<Program> {
        let named = |name| {
            let seen = self.checked.filter(|checked| checked.seen);
            let checked = seen.map(|checked| checked.version);
            Program { agent: self.name, name, checked, transcripts: &[], headless: None }
        };
        let known = || PROGRAMS.iter().find(|program| program.agent == self.name).copied();
        self.program.map(named).or_else(known)
    }

    /// Returns `true` if the agent can run once without its user, to be tried.
    pub fn can_be_tried(&self) -> bool {
        self.program().is_some_and(|program| program.headless.is_some())
    }

    /// Returns what a version of the agent lacks at these events: the version that has it, and the events, or the
    /// parts of answers, that only that one has.
    pub fn missing_in(&self, version: &str, events: &[&str]) -> BTreeMap<&'static str, String> {
        let mut missing: BTreeMap<&'static str, String> = BTreeMap::new();
        for event in self.events.iter().filter(|event| events.contains(&event.name)) {
            let newer =
                event.since.iter().filter(|it| compare_versions(version, it.version).is_lt());
            for since in newer {
                let text = missing.entry(since.version).or_default();
                let separator = if text.is_empty() { "" } else { ", " };
                let part = since.part.map(|part| format!("`{part}` at ")).unwrap_or_default();
                text.push_str(&format!("{separator}{part}{}", event.name));
            }
        }
        missing
    }

    /// Returns the folder of the user's settings in a home where no variable names another.
    pub fn default_user_folder(&self, home: &Path) -> PathBuf {
        home.join(self.paths.folder)
    }

    /// Returns settings for a run of the agent that only shows whether the entries work: these entries, the switches
    /// for hooks, and what the run itself needs.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn trial_settings(
        &self,
        text: &str,
        headless: &Headless,
    ) -> Result<String, ForeignEditError> {
        if self.uses_extension() {
            return Ok(text.to_owned());
        }
        let root = root_of(&without_comments(text, self.comments))?;
        let mut settings = RawObject::parse(headless.settings)
            .map(|settings| settings.fields())
            .unwrap_or_else(|_| JsonObject::new());
        for (name, value) in object(&root, "settings")?.iter() {
            match name {
                "hooks" => settings.insert(name, self.only_entries(value)?),
                "version" => settings.insert(name, value.clone()),
                _ if SWITCHES.contains(&name) => settings.insert(name, value.clone()),
                _ => {}
            }
        }
        Ok(settings.to_raw().as_str().to_owned())
    }

    /// Returns `hooks` without those of the user.
    fn only_entries(&self, hooks: &RawJson) -> Result<RawJson, ForeignEditError> {
        let mut kept = JsonObject::new();
        for (event, value) in object(hooks, "hooks")?.iter() {
            let Some(items) = value.to_items() else {
                kept.insert(event, value.clone());
                continue;
            };
            // What is no object is a switch, such as the name of a hook that is off.
            let is_kept = |item: &&RawJson| {
                item.to_object().is_err() || self.commands(item, event).next().is_some()
            };
            kept.insert(event, RawJson::from_items(items.iter().filter(is_kept)));
        }
        Ok(kept.to_raw().into())
    }
}

impl Program {
    /// Returns the version that belongs to the program at a path: of the package that it is in, or as a part of its
    /// real path. `None` if neither is there; then only the program knows it.
    pub fn version_at(&self, path: &Path) -> Option<String> {
        let path = path.canonicalize().ok()?;
        let folders =
            path.ancestors().skip(1).take_while(|folder| !folder.ends_with("node_modules"));
        let package = folders.filter_map(|folder| {
            let text = regular_file::read_to_string(&folder.join("package.json"), MAX_PACKAGE);
            RawObject::parse(text.ok()?).ok()?.fields().get("version")?.to_text()
        });
        let is_in_package = path.iter().any(|part| part == "node_modules");
        let package = package.filter(|_| is_in_package).find(|version| is_version(version));
        package.or_else(|| {
            let parts = path.iter().rev().filter_map(|part| part.to_str());
            parts.map(str::to_owned).find(|part| is_version(part))
        })
    }

    /// Returns the time at which a transcript in the user's folder was last written.
    pub fn last_transcript(&self, user_folder: &Path) -> Option<SystemTime> {
        let mut left = MAX_FILES;
        let newest = self.transcripts.iter().filter_map(|pattern| {
            newest(user_folder, &pattern.split('/').collect::<Vec<_>>(), &mut left)
        });
        newest.max()
    }
}

/// Returns the newest time of the files that a pattern of names leads to.
fn newest(folder: &Path, pattern: &[&str], left: &mut usize) -> Option<SystemTime> {
    let (name, rest) = pattern.split_first()?;
    if !name.contains('*') {
        let path = folder.join(name);
        return match rest {
            [] => path.metadata().ok()?.modified().ok(),
            rest => newest(&path, rest, left),
        };
    }
    let suffix = name.trim_start_matches('*');
    let mut last = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        *left = left.checked_sub(1)?;
        if !entry.file_name().to_string_lossy().ends_with(suffix) {
            continue;
        }
        last = last.max(match rest {
            [] => entry.metadata().ok().and_then(|metadata| metadata.modified().ok()),
            rest => newest(&entry.path(), rest, left),
        });
    }
    last
}

/// Returns the version in a program's own words, such as `codex-cli 0.169.0`.
pub fn version_in(text: &str) -> Option<String> {
    let words =
        text.split(|character: char| character.is_whitespace() || "(),".contains(character));
    let mut words = words.map(|word| word.trim_start_matches('v'));
    words.find(|word| is_version(word)).map(str::to_owned)
}

/// Checks whether a word is a version: at least two numbers with dots between them.
pub(super) fn is_version(word: &str) -> bool {
    let numbers = word.split(['-', '+']).next().unwrap_or_default();
    numbers.contains('.') && numbers.split('.').all(|part| part.parse::<u64>().is_ok())
}

/// Compares two versions by their numbers.
pub fn compare_versions(one: &str, other: &str) -> std::cmp::Ordering {
    let numbers = |version: &str| -> Vec<u64> {
        let numbers = version.split(['-', '+']).next().unwrap_or_default().split('.');
        numbers.map(|part| part.parse().unwrap_or(0)).collect()
    };
    numbers(one).cmp(&numbers(other))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn versions_are_found_and_compared_by_their_numbers() {
        for (text, version) in [
            ("codex-cli 0.169.0\n", Some("0.169.0")),
            ("2.1.330 (Claude Code)", Some("2.1.330")),
            ("v0.73.1-beta.2", Some("0.73.1-beta.2")),
            ("WARNING: no version\n0.61.0", Some("0.61.0")),
            ("none 2026", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
        assert_eq!(compare_versions("2.1.9", "2.1.330"), Ordering::Less);
        assert_eq!(compare_versions("2.1.330", "2.1.330"), Ordering::Equal);
        assert_eq!(compare_versions("2.2", "2.1.330"), Ordering::Greater);
    }

    #[test]
    fn a_trial_has_the_entries_and_the_switches_and_no_other_hook() {
        let gemini = crate::agent("gemini").unwrap();
        let headless = gemini.program().unwrap().headless.unwrap();
        let text = r#"{"mcpServers": {"x": {}}, "hooksConfig": {"enabled": false}, "hooks": {"disabled": ["a"],
            "BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]},
            {"matcher": "x", "hooks": [{"type": "command", "command": "/b/hook bridge gemini BeforeTool"}]}]}}"#;
        let settings = gemini.trial_settings(text, &headless).unwrap();
        for (part, is_kept) in [
            ("mcpServers", false),
            ("mine", false),
            ("bridge gemini BeforeTool", true),
            ("\"matcher\"", true),
            ("\"disabled\"", true),
            ("hooksConfig", true),
            ("gemini-api-key", true),
        ] {
            assert_eq!(settings.contains(part), is_kept, "{part}: {settings}");
        }
        assert!(gemini.trial_settings("[", &headless).is_err());
    }
}
