//! The keys of an agent file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

/// An agent file. What it leaves out is as in its family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentFile {
    pub(super) name: Spanned<String>,
    pub(super) title: Spanned<String>,
    pub(super) family: FamilyName,
    pub(super) checked: Checked,
    /// The name of its program in `PATH`, if that says its version.
    pub(super) program: Option<Spanned<String>>,
    /// The case of the fields on a hook's standard input.
    #[serde(default)]
    pub(super) casing: Casing,
    /// Fields on standard input that have another name than in the family.
    #[serde(default)]
    pub(super) fields: BTreeMap<Spanned<String>, String>,
    /// The comparison of matchers.
    #[serde(default)]
    pub(super) matchers: Matchers,
    #[serde(default = "default_shell")]
    pub(super) shell: Vec<String>,
    /// The prefix of the names of MCP tools, and the separator of server and tool.
    #[serde(default = "default_mcp")]
    pub(super) mcp: (String, String),
    /// The environment variables of hooks.
    #[serde(default)]
    pub(super) variables: BTreeMap<Spanned<String>, Spanned<String>>,
    /// `true` if the agent itself ends a turn that hooks have continued too often.
    #[serde(default)]
    pub(super) caps_turns: bool,
    /// `true` if an answer object also counts with an exit code other than 0.
    #[serde(default)]
    pub(super) object_at_any_code: bool,
    /// `true` if paths identify the files as this agent's.
    #[serde(default = "yes")]
    pub(super) own_files: bool,
    pub(super) files: Files,
    #[serde(default)]
    pub(super) timeout: Timeout,
    pub(super) connect: Option<Connect>,
    #[serde(rename = "event")]
    pub(super) events: Vec<Event>,
    #[serde(rename = "tool", default)]
    pub(super) tools: Vec<ToolName>,
    /// Other agents whose files it reads, each with `projects` or `all`.
    #[serde(default)]
    pub(super) reads_files_of: BTreeMap<Spanned<String>, ReachName>,
    #[serde(default)]
    pub(super) never_asks: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) notes: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FamilyName {
    ClaudeLike,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checked {
    pub(super) version: Spanned<String>,
    pub(super) date: Spanned<String>,
    pub(super) by: CheckedBy,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CheckedBy {
    Running,
    Reading,
}

#[derive(Debug, Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Casing {
    #[default]
    Snake,
    Camel,
}

#[derive(Debug, Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Matchers {
    #[default]
    Claude,
    Expression,
    WholeExpression,
    ExactOrExpression,
    Glob,
    All,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReachName {
    Projects,
    All,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Files {
    /// The user's folder, below the home directory.
    pub(super) folder: Spanned<String>,
    /// The variable that names another folder.
    pub(super) variable: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) project: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) user: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) system: Vec<Spanned<String>>,
    /// The names of files that are the object of events itself, without `hooks` around it.
    #[serde(default)]
    pub(super) bare: Vec<Spanned<String>>,
    /// The key of the object of events; `hooks` if it is left out.
    pub(super) wrapper: Option<Spanned<String>>,
    /// `true` if a file may have several objects of events, each under any key.
    #[serde(default)]
    pub(super) named: bool,
    /// Hooks in groups with a matcher, or each with its own.
    #[serde(default)]
    pub(super) form: Form,
    /// The key by which hooks name their event, if `hooks` is a list of them.
    pub(super) event_key: Option<Spanned<String>>,
    #[serde(default = "default_matcher_key")]
    pub(super) matcher_key: Spanned<String>,
    /// The key of the object with a hook's kind and command, if the hook has one.
    pub(super) action_key: Option<Spanned<String>>,
    /// The key by which a hook can be off.
    pub(super) switch_key: Option<Spanned<String>>,
    /// The key of a hook's working directory.
    pub(super) directory_key: Option<Spanned<String>>,
    /// `false` if hooks say no kind by `type`.
    #[serde(default = "yes")]
    pub(super) typed: bool,
    /// The optional keys of hooks that count.
    #[serde(default)]
    pub(super) hook_keys: Vec<Spanned<String>>,
    /// The kinds of hooks that only the agent can run, each with what it does.
    #[serde(default)]
    pub(super) other_kinds: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Debug, Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    #[default]
    Groups,
    Flat,
    Both,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Timeout {
    /// The key of a hook's timeout; hooks have none without it.
    pub(super) key: Option<String>,
    pub(super) unit: Unit,
    /// In `unit`, as the next one.
    pub(super) default: u64,
    pub(super) max: Option<u64>,
}

impl Default for Timeout {
    fn default() -> Self {
        let key = Some("timeout".to_owned());
        Self { key, unit: Unit::Seconds, default: 60, max: None }
    }
}

#[derive(Debug, Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Connect {
    /// The file in the user's folder.
    pub(super) file: Spanned<String>,
    /// The file in a project.
    pub(super) project: Option<Spanned<String>>,
    /// The extension that the file is, instead of settings.
    pub(super) extension: Option<ExtensionName>,
    /// `true` if hooks are scripts with the names of events, and the file is their folder.
    #[serde(default)]
    pub(super) scripts: bool,
    /// What is left for the user to do.
    pub(super) next_step: Spanned<String>,
    /// Fields of the file beside entries.
    #[serde(default)]
    pub(super) file_fields: BTreeMap<String, Value>,
    /// Further fields of an entry; `{event}` in a text is the event.
    #[serde(default)]
    pub(super) fields: BTreeMap<String, Value>,
    /// Further fields of an entry by which a failure denies.
    #[serde(default)]
    pub(super) fail_closed: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) windows: Windows,
}

#[derive(Debug, Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ExtensionName {
    Amp,
    Opencode,
}

#[derive(Debug, Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Windows {
    None,
    #[default]
    Cmd,
    PowerShell,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub(super) name: Spanned<String>,
    /// The native event; without one the event is declared under its own name.
    pub(super) native: Option<Spanned<String>>,
    /// The first version that has the event.
    pub(super) since: Option<Spanned<String>>,
    /// The first versions that obey an answer, by the name of its key.
    #[serde(default)]
    pub(super) obeyed_since: BTreeMap<Spanned<String>, Spanned<String>>,
    /// The field that matchers are compared with, if it differs; empty if there is none.
    pub(super) subject: Option<String>,
    /// `true` if the event covers failed tools, too.
    pub(super) failures: Option<bool>,
    /// The native tools that the event is about, or `mcp` for those of MCP servers.
    #[serde(default)]
    pub(super) tools: Vec<Spanned<String>>,
    /// `true` if its hooks are not in groups, unlike those of other events.
    #[serde(default)]
    pub(super) flat: bool,
    /// `false` if `hook connect` leaves it out.
    #[serde(default = "yes")]
    pub(super) connected: bool,
    #[serde(default)]
    pub(super) exit_2: ExitTwoName,
    /// `true` if text on standard output is context.
    #[serde(default)]
    pub(super) text_is_context: bool,
    /// `true` if an allow spares the user a question.
    #[serde(default)]
    pub(super) approves: bool,
    /// Fields of the native event, each with the agent's name of it.
    #[serde(default)]
    pub(super) fields: BTreeMap<Spanned<String>, String>,
    /// Native fields that the agent does not send.
    #[serde(default)]
    pub(super) defaults: BTreeMap<Spanned<String>, Value>,
    pub(super) timeout: Option<u64>,
    pub(super) deny: Option<Spanned<Value>>,
    pub(super) ask: Option<Spanned<Value>>,
    pub(super) allow: Option<Spanned<Value>>,
    pub(super) stop: Option<Spanned<Value>>,
    pub(super) input: Option<Spanned<Value>>,
    /// `true` if changed arguments are laid over those of the model.
    #[serde(default)]
    pub(super) input_merges: bool,
    pub(super) context: Option<Spanned<Value>>,
    pub(super) message: Option<Spanned<Value>>,
    /// The answer without a decision, for an agent that takes silence for a failure.
    pub(super) neutral: Option<Spanned<Value>>,
}

#[derive(Debug, Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ExitTwoName {
    Denies,
    Message,
    #[default]
    Nothing,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolName {
    pub(super) native: Spanned<String>,
    pub(super) name: Spanned<String>,
    /// Arguments with another name: the native one, and the agent's.
    #[serde(default)]
    pub(super) arguments: BTreeMap<String, String>,
}

fn yes() -> bool {
    true
}

fn default_shell() -> Vec<String> {
    vec!["/bin/sh".to_owned(), "-c".to_owned()]
}

fn default_mcp() -> (String, String) {
    ("mcp__".to_owned(), "__".to_owned())
}

fn default_matcher_key() -> Spanned<String> {
    Spanned::new(0..0, "matcher".to_owned())
}
