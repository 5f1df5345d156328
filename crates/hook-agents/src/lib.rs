//! Other agents: their events, their tools, the input and answers of their hooks, and the responses
//! to the agents themselves.
//!
//! Each agent is a table ([`Agent`]) in its own file, with functions only for what a table cannot
//! express. The table is the [`Language`] of the agent's hooks when they run here. It also parses
//! the agent's requests ([`Agent::parse_request`]) and renders the responses ([`Agent::response`]).
//!
//! # Example
//!
//! ```
//! use hook_agents::Verdict;
//! use hook_json::RawObject;
//!
//! let claude = hook_agents::agent("claude").unwrap();
//! let message = RawObject::parse(
//!     r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse",
//!         "tool_name":"Bash","tool_input":{"command":"ls"}}"#,
//! )?;
//! let request = claude.parse_request(None, &message).unwrap();
//! assert_eq!(request.event_name(), "BeforeTool");
//! assert_eq!(request.input().get("tool_name").unwrap().as_str(), r#""run_shell_command""#);
//!
//! // A hook without objection prints nothing.
//! let response = claude.response(request.foreign_event(), &Verdict::proceed());
//! assert_eq!(response.stdout, "");
//! # Ok::<(), hook_json::JsonError>(())
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | `claude`, `gemini`, `codex`, `cursor`, `copilot`, … | one agent each: its table, and its own rules |
//! | `table`, `kind`, `paths`, `template` | the parts of a table |
//! | `file` | tables from files |
//! | `dispatch`, `templates` | the functions of a table's family |
//! | `request`, `convert`, `caller`, `shape` | an agent's requests, and their conversion to native input |
//! | `verdict`, `refusal`, `output` | the responses to an agent |
//! | `settings`, `syntax`, `yaml`, `words`, `launch`, `matching`, `rule` | the hooks of an agent: settings, start, matchers |
//! | `entry`, `entry_list`, `entry_command`, `edit_error`, `consent`, `capabilities` | the entries of `hook connect`, and what they let hooks do |
//! | `program`, [`scripted`] | an agent's own program: its version, its runs without a user, and a model for them |
//! | `import` | conversion of an agent's hooks to native settings |
//! | `precedence` | which of an agent's settings files counts |
//! | `page`, `record` | the generated pages of docs/agents, and their table |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod a3s;
mod caller;
mod capabilities;
mod claude;
mod codex;
mod codex_file;
mod consent;
mod convert;
mod copilot;
mod cursor;
mod cursor_values;
mod dispatch;
mod edit_error;
mod entry;
mod entry_command;
mod entry_list;
mod file;
mod file_agent;
mod gemini;
#[cfg(test)]
#[path = "tests/generate.rs"]
mod generate;
#[rustfmt::skip]
mod generated;
mod http;
mod import;
mod kind;
mod launch;
mod llxprt;
mod matching;
mod output;
#[cfg(test)]
#[path = "tests/pages.rs"]
mod pages;
mod paths;
mod pi;
mod precedence;
mod program;
mod qwen;
mod record;
mod refusal;
mod request;
mod rule;
pub mod scripted;
#[cfg(test)]
#[path = "tests/seen.rs"]
mod seen;
mod settings;
mod shape;
mod syntax;
mod table;
mod template;
mod templates;
mod verdict;
mod vscode;
mod words;
mod yaml;
mod yaml_entries;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_protocol::{EventDefinition, Events, HookEventName};
use hook_settings::language::{
    ForeignAnswer, ForeignCommand, ForeignDefinition, ForeignFile, ForeignHook, ForeignSettings,
    ForeignSource, HookDirectory, Language, Launch, LaunchContext, Post, ProcessOutput,
};

pub use consent::ConsentStatus;
pub use edit_error::ForeignEditError;
pub use entry_command::{PROJECT_SEARCH, USER_START, windows_word};
pub use file::{AgentFileProblem, BrokenAgentFile, MAX_AGENT_FILE, agent_folder, read_agent};
pub use import::{Import, Loss};
pub use program::{Headless, Program, compare_versions, version_in};
pub use refusal::denial_in_all_forms;
pub use request::{AgentRequest, RequestError};
pub use shape::agent_by_shape;
pub use table::{Agent, Checked, Consent, Entry, WindowsShell};
use table::{AgentEvent, Family, NativeEvent, Reach, Tool, Variable};
pub use verdict::{AgentResponse, Verdict};

/// The field that holds a hook's changed arguments until they are converted to native names.
const UPDATED_INPUT: &str = "updatedInput";

/// The agents whose tables are in Rust.
static BUILT_IN: [&Agent; 11] = [
    &claude::AGENT,
    &gemini::AGENT,
    &llxprt::AGENT,
    &qwen::AGENT,
    &codex::AGENT,
    &cursor::AGENT,
    &copilot::AGENT,
    &vscode::AGENT,
    &pi::PI,
    &pi::OMP,
    &a3s::AGENT,
];

/// Returns the agents that are part of the program.
fn shipped() -> impl Iterator<Item = &'static Agent> {
    BUILT_IN.into_iter().chain(generated::FROM_FILES)
}

/// Returns all agents: those that are part of the program, and those of the user's files.
pub fn agents() -> &'static [&'static Agent] {
    static AGENTS: OnceLock<Vec<&'static Agent>> = OnceLock::new();
    AGENTS.get_or_init(|| {
        shipped().chain(file::user_agents(is_shipped).agents.iter().copied()).collect()
    })
}

/// Returns the user's agent files that define no agent.
pub fn broken_agent_files() -> &'static [BrokenAgentFile] {
    &file::user_agents(is_shipped).broken
}

/// Returns `true` if an agent of this name is part of the program.
pub fn is_shipped(name: &str) -> bool {
    shipped().any(|agent| agent.name == name)
}

/// Returns the agent that reads a settings file, judged by the file's path.
pub fn agent_by_path(path: &Path) -> Option<&'static Agent> {
    agents().iter().copied().filter(|agent| agent.is_identified_by_path).find(|agent| {
        let paths = &agent.paths;
        let user_files = paths.user.iter().map(|file| format!("{}/{file}", paths.folder));
        let all = paths.project.iter().chain(paths.system).map(|pattern| (*pattern).to_owned());
        all.chain(user_files).any(|pattern| paths::ends_with_pattern(path, &pattern))
    })
}

/// Returns all agents as hook languages.
pub fn languages() -> impl Iterator<Item = &'static dyn Language> {
    agents().iter().map(|agent| *agent as &'static dyn Language)
}

/// Returns the first agent that maps an event of this name, in any case, to a built-in event, and
/// that built-in event.
pub fn find_foreign_event(name: &str) -> Option<(&'static Agent, HookEventName)> {
    agents().iter().find_map(|agent| {
        let event = agent.events.iter().find(|event| event.name.eq_ignore_ascii_case(name))?;
        match event.native {
            NativeEvent::BuiltIn(native) => Some((*agent, native)),
            NativeEvent::Declared => None,
        }
    })
}

/// Returns the agent with this name.
pub fn agent(name: &str) -> Option<&'static Agent> {
    // The user's files are read only for a name that is not part of the program.
    shipped().find(|agent| agent.name == name).or_else(|| {
        let of_user = &file::user_agents(is_shipped).agents;
        of_user.iter().copied().find(|agent| agent.name == name)
    })
}

impl Agent {
    /// Returns the agent's name in settings and on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the version that the agent's table was checked against.
    pub fn checked(&self) -> Option<Checked> {
        self.checked
    }

    /// Returns the user's settings folder: in `home`, or as given by the agent's own variable.
    pub fn user_folder(&self, home: &Path) -> PathBuf {
        self.paths.user_folder(home)
    }

    /// Returns the project that a settings file belongs to, judged by the file's path.
    fn project_of(&self, path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let pattern =
            self.paths.project.iter().find(|pattern| paths::ends_with_pattern(&path, pattern))?;
        path.ancestors().nth(pattern.split('/').count()).map(Path::to_path_buf)
    }

    /// Checks whether the agent runs a hook itself, because it reads the hook's file.
    fn runs_natively(&self, hook: &ForeignHook) -> bool {
        let reads = |(name, reach): &(&str, Reach)| {
            *name == hook.language.name()
                && hook.plugin_root.is_none()
                && !hook.is_system
                && self.accepts_hook(hook)
                && (*reach == Reach::All || !hook.is_user)
        };
        hook.is_discovered
            && (self.name == hook.language.name() || self.reads_files_of.iter().any(reads))
    }

    /// Returns `true` if the agent takes standard error as the answer of a hook that succeeded and
    /// printed nothing else.
    pub fn reads_standard_error(&self) -> bool {
        let ended = ProcessOutput { code: Some(0), stdout: "", stderr: "x" };
        self.events.iter().any(|event| self.read(event, &ended).output.is_some())
    }

    /// Returns `true` if the agent itself ends a turn that hooks have continued too often.
    pub fn counts_continuations(&self) -> bool {
        self.caps_continuations
    }

    /// Checks whether the agent runs a hook from another agent's file. Cursor skips some.
    fn accepts_hook(&self, hook: &ForeignHook) -> bool {
        self.other_form.as_ref().is_none_or(|other_form| {
            let is_known =
                other_form.events.iter().any(|(foreign_name, _)| *foreign_name == hook.event);
            is_known && !other_form.skips(hook.matcher.as_deref())
        })
    }

    /// Returns the agent's event with this name.
    fn event(&self, name: &str) -> Option<&'static AgentEvent> {
        let find = |name: &str| self.events.iter().find(|event| event.name == name);
        find(name).or_else(|| {
            // Some agents also accept a lowercase first letter.
            let (first, rest) =
                name.split_at_checked(1).filter(|_| self.accepts_lowercase_initial)?;
            find(&format!("{}{rest}", first.to_ascii_uppercase()))
        })
    }

    /// Returns the event for a name in settings, which may be in another agent's form.
    fn event_in_settings(&self, name: &str) -> Option<&'static AgentEvent> {
        self.event(name).or_else(|| {
            let other_form = self.other_form.as_ref()?;
            self.event(other_form.events.iter().find(|(foreign_name, _)| *foreign_name == name)?.1)
        })
    }

    /// Returns the native event for an agent's event.
    fn native_event(&self, event: &AgentEvent, events: &Events) -> Option<HookEventName> {
        match event.native {
            NativeEvent::BuiltIn(native) => Some(native),
            NativeEvent::Declared => events.from_name(event.name),
        }
    }

    /// Returns a hook that is called instead of started, and its native event. The input and the
    /// answer of such a hook are in the agent's format, and a text matcher is compared by the
    /// agent's rules. Returns `None` if the agent has no such event.
    pub fn registered_hook(
        &'static self,
        foreign_event: &str,
        matcher: Option<String>,
        events: &Events,
    ) -> Option<(HookEventName, ForeignHook)> {
        let event = self.event(foreign_event)?;
        let hook = ForeignHook {
            language: self,
            event: event.name.to_owned(),
            matcher,
            condition: None,
            command: ForeignCommand::Registered,
            directory: None,
            folder: None,
            variables: Vec::new(),
            plugin_root: None,
            is_user: true,
            is_system: false,
            is_explicit: true,
            runs_once: false,
            loop_limit: None,
            is_discovered: false,
        };
        Some((self.native_event(event, events)?, hook))
    }

    /// Returns the agent's names of its events.
    pub fn event_names(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().map(|event| event.name)
    }

    /// Returns the native name of an agent's tool.
    pub fn native_tool_name(&self, foreign_event: &str, name: &str) -> String {
        self.native_call(self.event(foreign_event), name, &RawObject::empty()).0
    }

    /// Returns the response to one of the agent's events. An unknown event gets the response to a
    /// verdict that proceeds.
    pub fn response(&self, foreign_event: &str, verdict: &Verdict<'_>) -> AgentResponse {
        let Some(event) = self.event(foreign_event) else {
            let empty = self.events.first().map(|first| self.render(first, &Verdict::proceed()));
            return empty.unwrap_or_default();
        };
        let mut response = self.render(event, verdict);
        if response.lost.is_empty() {
            response.lost = self.unsupported_parts(event, verdict, &response);
        }
        response
    }

    /// Returns the parts of a verdict that do not change the response.
    fn unsupported_parts(
        &self,
        event: &AgentEvent,
        verdict: &Verdict<'_>,
        response: &AgentResponse,
    ) -> Vec<&'static str> {
        let is_unchanged = |reduced: &Verdict<'_>| self.render(event, reduced) == *response;
        let mut lost = Vec::new();
        if verdict.additional_context.is_some()
            && is_unchanged(&Verdict { additional_context: None, ..*verdict })
        {
            lost.push("context there");
        }
        if verdict.system_message.is_some()
            && is_unchanged(&Verdict { system_message: None, ..*verdict })
        {
            lost.push("messages to the user there");
        }
        lost
    }

    /// Returns what the agent ignores in an answer to one of its events, in a few words each.
    pub fn ignores(&self, foreign_event: &str) -> Vec<&'static str> {
        let Some(event) = self.event(foreign_event) else { return Vec::new() };
        let can_block = |ours: HookEventName| ours.row().block_means.is_some();
        let ignores_denial =
            matches!(event.native, NativeEvent::BuiltIn(ours) if can_block(ours) && !event.blocks);
        let event_ignores = self.ignores.iter().filter(|(name, _)| *name == event.name);
        let parts = event_ignores.flat_map(|(_, parts)| parts.iter().copied());
        let absent = (self.family == Family::Templates).then(|| templates::ignored_parts(event));
        let denial = ignores_denial.then_some("a denial");
        denial.into_iter().chain(parts).chain(absent.into_iter().flatten()).collect()
    }

    fn tools_of(&self, event: Option<&AgentEvent>) -> &'static [Tool] {
        event.and_then(|event| event.tools).unwrap_or(self.tools)
    }

    /// Converts a tool and its arguments to the agent's names.
    fn foreign_call(
        &self,
        event: Option<&AgentEvent>,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        if let Some(tool) = self.tools_of(event).iter().find(|tool| tool.native == name) {
            return (tool.foreign.to_owned(), renamed(arguments, tool.fields.iter().copied()));
        }
        let (mcp_prefix, mcp_separator) = self.mcp;
        let mcp_parts = name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_'));
        match mcp_parts {
            Some((server, tool)) if mcp_prefix != "mcp_" => {
                let server = if mcp_separator.is_empty() { "" } else { server };
                (format!("{mcp_prefix}{server}{mcp_separator}{tool}"), arguments.clone())
            }
            _ => (name.to_owned(), arguments.clone()),
        }
    }

    /// Converts a tool and its arguments to native names.
    fn native_call(
        &self,
        event: Option<&AgentEvent>,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        let mut candidates = self.tools_of(event).iter().filter(|tool| tool.foreign == name);
        let sent = arguments.fields();
        // A tool can have two spellings of its arguments: take the one that was sent.
        if let Some(tool) = candidates
            .clone()
            .find(|tool| tool.uses_foreign_names(&sent))
            .or_else(|| candidates.next())
        {
            let fields = tool.fields.iter().map(|(native, foreign)| (*foreign, *native));
            return (tool.native.to_owned(), renamed(arguments, fields));
        }
        let (mcp_prefix, mcp_separator) = self.mcp;
        let mcp_rest = name.strip_prefix(mcp_prefix).filter(|_| mcp_prefix != "mcp_");
        let name = match mcp_rest {
            Some(tool) if mcp_separator.is_empty() => format!("mcp_{tool}"),
            // Server names contain hyphens, too, so split at the last one.
            Some(rest) if mcp_prefix.is_empty() => match rest.rsplit_once(mcp_separator) {
                Some((server, tool)) => format!("mcp_{server}_{tool}"),
                None => name.to_owned(),
            },
            Some(rest) => match rest.split_once(mcp_separator) {
                Some((server, tool)) => format!("mcp_{server}_{tool}"),
                None => name.to_owned(),
            },
            None => name.to_owned(),
        };
        (name, arguments.clone())
    }

    /// Converts the arguments of a tool for an answer to one of the agent's events, in the spelling
    /// that the agent itself sent.
    pub fn arguments(
        &self,
        foreign_event: &str,
        tool: &str,
        arguments: &RawObject,
        input: &RawObject,
    ) -> RawObject {
        let event = self.event(foreign_event);
        let sent = event.and_then(|event| sent_arguments(event, input)).unwrap_or_default();
        let mut tools = self.tools_of(event).iter().filter(|candidate| candidate.native == tool);
        match tools.find(|tool| tool.uses_foreign_names(&sent)) {
            Some(tool) => {
                let fields = tool.fields.iter().filter(|(_, foreign)| sent.get(foreign).is_some());
                renamed(arguments, fields.copied())
            }
            None => self.foreign_call(event, tool, arguments).1,
        }
    }

    /// Returns the tool's name from a hook's input, as the agent writes it.
    fn input_tool_name(&self, event: &AgentEvent, input: &RawObject) -> Option<String> {
        let field = event.fields.iter().find(|(native, _)| *native == "tool_name")?.1;
        convert::field_at(&input.fields(), field)?.to_text()
    }

    /// Converts the tool arguments in a hook's answer to native names.
    fn with_native_arguments(
        &self,
        event: &AgentEvent,
        foreign_input: &RawObject,
        mut answer: ForeignAnswer,
    ) -> ForeignAnswer {
        // Native hooks can change arguments only before a tool runs.
        if !event.maps_to(HookEventName::BeforeTool) {
            return answer;
        }
        let specific =
            answer.output.as_mut().and_then(|output| output.hook_specific_output.as_mut());
        let Some(specific) = specific else { return answer };
        let updated = specific.remove(UPDATED_INPUT).filter(|updated| !updated.is_null());
        match updated.map(|updated| (updated.kind(), RawObject::try_from(updated))) {
            None => {}
            Some((_, Ok(updated))) => {
                let tool = self.input_tool_name(event, foreign_input).unwrap_or_default();
                let (_, arguments) = self.native_call(Some(event), &tool, &updated);
                specific.insert("tool_input", arguments);
                specific.insert("toolInputReplaces", RawJson::from_bool(!event.merges_input));
            }
            Some((found, Err(_))) => {
                let reason = format!("changed arguments must be an object, found {found}");
                answer.invalid.push(InvalidAnswer::new(reason, "write all arguments as an object"));
            }
        }
        answer
    }
}

/// Returns the tool's arguments from the input of an agent's event.
fn sent_arguments(event: &AgentEvent, input: &RawObject) -> Option<JsonObject> {
    let (_, name) = event.fields.iter().find(|(native, _)| *native == "tool_input")?;
    convert::field_at(&input.fields(), name)?.to_object().ok()
}

/// Renames arguments. An argument that already has one of the new names, but is not the tool's, is
/// dropped in favor of the one that the tool reads: hooks must see the latter.
fn renamed(
    arguments: &RawObject,
    names: impl Iterator<Item = (&'static str, &'static str)> + Clone,
) -> RawObject {
    if names.clone().next().is_none() {
        return arguments.clone();
    }
    let fields = arguments.fields();
    let name_of = |name: &str| {
        let renamed = names.clone().find(|(from, _)| *from == name);
        renamed.map_or_else(|| name.to_owned(), |(_, to)| to.to_owned())
    };
    let is_renamed = |name: &str| names.clone().any(|(from, _)| from == name);
    let is_replaced = |name: &str| {
        let mut replacing = names.clone().filter(|(from, to)| *to == name && from != to);
        replacing.any(|(from, _)| fields.get(from).is_some())
    };
    let kept = fields.iter().filter(|(name, _)| is_renamed(name) || !is_replaced(name));
    let kept = kept.map(|(name, value)| (name_of(name), value.clone()));
    kept.collect::<JsonObject>().to_raw()
}

impl Language for Agent {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn native_tool(&self, foreign_event: &str, name: &str) -> Option<String> {
        let native = Self::native_tool_name(self, foreign_event, name);
        let (round_trip, _) =
            self.foreign_call(self.event(foreign_event), &native, &RawObject::empty());
        (round_trip == name).then_some(native)
    }

    fn host_tool(
        &self,
        hook: &ForeignHook,
        input: &EventInput,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        let event = self.event_in_settings(&hook.event);
        let Some(original) = input.original.as_deref() else {
            // A host may use this agent's tool names itself; the event's tool name shows it.
            let subject = input.payload.tool_input().and_then(|_| input.payload.match_subject());
            let uses_foreign_name =
                |tool: &Tool| subject == Some(tool.foreign) && tool.native != tool.foreign;
            return match self.tools_of(event).iter().any(uses_foreign_name) {
                true => (name.to_owned(), arguments.clone()),
                false => self.native_call(event, name, arguments),
            };
        };
        match agent(original.agent).filter(|client| client.name != self.name) {
            Some(client) => {
                let (native, arguments) = self.native_call(event, name, arguments);
                client.foreign_call(client.event(&original.event), &native, &arguments)
            }
            None => (name.to_owned(), arguments.clone()),
        }
    }

    fn approves(&self, hook: &ForeignHook) -> bool {
        self.event_in_settings(&hook.event).is_some_and(|event| event.approves)
    }

    fn accepts_relative_paths(&self) -> bool {
        // Only pi and oh-my-pi.
        self.uses_extension()
    }

    fn edits_by_patch(&self) -> bool {
        let has = |native: &str| self.tools.iter().any(|tool| tool.native == native);
        has("apply_patch") && !has("write_file") && !has("replace")
    }

    fn contradiction(&self, hook: &ForeignHook, input: &EventInput) -> Option<String> {
        convert::contradiction(self, hook, input)
    }

    fn declared_events(&self) -> Vec<EventDefinition> {
        let foreign_only =
            self.events.iter().filter(|event| matches!(event.native, NativeEvent::Declared));
        foreign_only
            .map(|event| {
                let definition = EventDefinition::new(event.name);
                match event.blocks {
                    true => definition.block_means("it does not happen"),
                    false => definition,
                }
            })
            .collect()
    }

    fn env_file(&self, hook: &ForeignHook) -> Option<&'static str> {
        let event = self.event_in_settings(&hook.event)?;
        self.env_file.filter(|_| event.maps_to(HookEventName::SessionStart))
    }

    fn answers_by_action(&self) -> bool {
        std::ptr::eq(self, &a3s::AGENT)
    }

    fn sources(&self, projects: &[PathBuf], home: Option<&Path>) -> Vec<ForeignSource> {
        self.paths.sources(projects, home)
    }

    fn variable(&self, name: &str) -> Option<HookDirectory> {
        let extension_variables = launch::EXTENSION_PLACEHOLDERS
            .iter()
            .filter(|_| self.expansion != table::Expansion::Braces);
        let known =
            self.variables.iter().chain(extension_variables).find(|(known, _)| *known == name);
        match known?.1 {
            Variable::Project => Some(HookDirectory::Project),
            Variable::Cwd => Some(HookDirectory::Event),
            Variable::PluginRoot => Some(HookDirectory::Plugin),
            Variable::Session
            | Variable::Transcript
            | Variable::InputField(_)
            | Variable::Constant(_) => None,
        }
    }

    fn directory(&self, hook: &ForeignHook, context: &LaunchContext<'_>) -> PathBuf {
        launch::directory(self, hook, context)
    }

    fn read(&'static self, text: &str, file: &ForeignFile<'_>) -> ForeignSettings {
        settings::read(self, text, file)
    }

    fn read_definition(
        &'static self,
        definition: &ForeignDefinition<'_>,
        file: &ForeignFile<'_>,
    ) -> ForeignSettings {
        settings::read_definition(self, definition, file)
    }

    fn foreign_input(&self, hook: &ForeignHook, input: &EventInput) -> Option<RawObject> {
        convert::foreign_input(self, hook, input)
    }

    fn matches(&self, hook: &ForeignHook, foreign_input: &RawObject) -> bool {
        // A hook of an unknown event matches, so that no guard is skipped.
        self.event_in_settings(&hook.event)
            .is_none_or(|event| self.compare(event, hook, &foreign_input.fields()))
    }

    fn read_failure(&self, hook: &ForeignHook, failure: &HookFailure) -> Option<HookOutput> {
        let event = self.event_in_settings(&hook.event)?;
        let blocks = match failure {
            HookFailure::TimedOut { .. } => event.blocks_at_timeout || event.blocks_on_failure,
            HookFailure::Reported { .. }
            | HookFailure::Handler { .. }
            | HookFailure::Panicked { .. }
            | HookFailure::InvalidAnswer(_) => event.blocks_on_failure,
            _ => false,
        };
        let reason = match failure {
            // The message of a handler's own error is the reason, without a prefix.
            HookFailure::Reported { message } => message.clone(),
            HookFailure::Handler { source } => source.to_string(),
            failure => failure.to_string(),
        };
        blocks.then(|| HookOutput::deny(reason))
    }

    fn launch(
        &self,
        hook: &ForeignHook,
        foreign_input: &RawObject,
        context: &LaunchContext<'_>,
    ) -> Launch {
        launch::launch(self, hook, foreign_input, context)
    }

    fn read_answer(
        &self,
        hook: &ForeignHook,
        input: &EventInput,
        foreign_input: &RawObject,
        process: &ProcessOutput<'_>,
    ) -> ForeignAnswer {
        let Some(event) = self.event_in_settings(&hook.event) else {
            return ForeignAnswer::default();
        };
        let mut answer =
            self.with_native_arguments(event, foreign_input, self.read(event, process));
        if let Some(complete) = event.complete {
            complete(&mut answer, input, foreign_input);
        }
        if let (Some(failure), None) = (&answer.failure, &answer.output) {
            answer.output = self.read_failure(hook, failure);
        }
        let loop_count = foreign_input.fields().get("loop_count").and_then(RawJson::to_u64);
        if let (Some(output), Some(limit), Some(loop_count)) =
            (&mut answer.output, hook.loop_limit, loop_count)
            && output.decision.is_some()
            && loop_count >= limit
        {
            output.decision = None;
            let warning = format!("it had the agent go on {limit} times in a row; it ends now");
            answer.warnings.push(warning);
        }
        answer
    }

    fn http_request(
        &self,
        hook: &ForeignHook,
        context: &LaunchContext<'_>,
    ) -> Result<Post, String> {
        http::post(self, hook, context)
    }

    fn read_reply(
        &self,
        hook: &ForeignHook,
        foreign_input: &RawObject,
        reply: Result<&str, HookFailure>,
    ) -> ForeignAnswer {
        let Some(event) = self.event_in_settings(&hook.event) else {
            return ForeignAnswer { failure: reply.err(), ..ForeignAnswer::default() };
        };
        let output = reply.as_ref().err().and_then(|failure| self.read_failure(hook, failure));
        let answer =
            self.with_native_arguments(event, foreign_input, http::read_reply(self, event, reply));
        ForeignAnswer { output: output.or(answer.output), ..answer }
    }
}

#[cfg(test)]
mod tests {
    use hook_protocol::tool::native_name;

    use super::*;

    #[test]
    fn each_answer_that_a_page_shows_is_of_an_event() {
        for agent in shipped() {
            let unknown = agent.sample_answers.iter().find(|it| agent.event(it.event).is_none());
            assert!(unknown.is_none(), "{} {unknown:?}", agent.name);
        }
    }

    #[test]
    fn each_tool_of_an_agent_is_known_by_its_name() {
        for agent in shipped() {
            let of_events = agent.events.iter().filter_map(|event| event.tools);
            for tools in of_events.chain([agent.tools]) {
                // If two tools share a name, the first one counts.
                let meant = |tool: &&Tool| tools.iter().find(|it| it.foreign == tool.foreign);
                for tool in tools.iter().filter_map(|tool| meant(&tool)) {
                    let found = native_name(tool.foreign);
                    assert_eq!(found, Some(tool.native), "{} {}", agent.name, tool.foreign);
                }
            }
        }
    }
}
