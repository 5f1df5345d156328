//! Other agents: their events, their tools, the input and answers of their hooks, and the responses
//! to the agents themselves.
//!
//! Each agent is a table ([`Agent`]) in its own file, with functions only for what a table cannot
//! express. The table is the [`Language`] of the agent's hooks when they run here. It also parses
//! the agent's requests ([`Agent::asked`]) and renders the responses ([`Agent::say`]).
//!
//! ```
//! use hook_json::RawObject;
//! use hook_agents::{Verdict};
//!
//! let claude = hook_agents::agent("claude").unwrap();
//! let said = RawObject::parse(
//!     r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse",
//!         "tool_name":"Bash","tool_input":{"command":"ls"}}"#,
//! )?;
//! let asked = claude.asked(None, &said).unwrap();
//! assert_eq!(asked.event_name(), "BeforeTool");
//! assert_eq!(asked.input().get("tool_name").unwrap().as_str(), r#""run_shell_command""#);
//!
//! // Nothing to say is nothing on standard output.
//! assert_eq!(claude.say(asked.foreign_event(), &Verdict::proceed()).stdout, "");
//! # Ok::<(), hook_json::JsonError>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod a3s;
mod asking;
mod claude;
mod codex;
mod consent;
mod copilot;
mod cursor;
mod cursor_values;
mod entry;
mod gemini;
mod heard;
mod http;
mod import;
mod kind;
mod launch;
mod llxprt;
mod matching;
mod output;
mod page;
mod pi;
mod places;
mod precedence;
mod qwen;
mod refusal;
mod rule;
mod settings;
mod shape;
mod table;
mod told;
mod verdict;
mod vscode;
mod written;

use std::path::{Path, PathBuf};

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_protocol::{EventDefinition, Events, HookEventName};
use hook_settings::language::{
    Ended, ForeignAnswer, ForeignCommand, ForeignDefinition, ForeignFile, ForeignHook,
    ForeignSettings, ForeignSource, HookDirectory, Language, Launch, Place, Post,
};

pub use asking::{Asked, NotAsked};
pub use consent::Agreed;
pub use entry::{NotEditable, PROJECT_SEARCH};
pub use import::{Import, Loss};
pub use page::{LEGEND, overview, page};
pub use shape::agent_by_shape;
pub use table::{Agent, Consent, Entry};
use table::{AgentEvent, Ours, Reach, Tool, Variable};
pub use verdict::{Said, Verdict};

/// The field that holds a hook's changed arguments until they are converted to native names.
const UPDATED_INPUT: &str = "updatedInput";

/// All supported agents.
pub static AGENTS: [&Agent; 11] = [
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

/// Returns the agent that reads a settings file, judged by the file's path.
pub fn agent_of(path: &Path) -> Option<&'static Agent> {
    AGENTS.into_iter().filter(|agent| agent.is_told_by_place).find(|agent| {
        let places = &agent.places;
        let of_user = places.user.iter().map(|file| format!("{}/{file}", places.folder));
        let all = places.project.iter().chain(places.system).map(|place| (*place).to_owned());
        all.chain(of_user).any(|place| places::ends_like(path, &place))
    })
}

/// Returns all agents as hook languages.
pub fn languages() -> impl Iterator<Item = &'static dyn Language> {
    AGENTS.into_iter().map(|agent| agent as &'static dyn Language)
}

/// Returns the first agent that maps an event of this name, in any case, to a built-in event, and
/// that built-in event.
pub fn event_elsewhere(name: &str) -> Option<(&'static Agent, HookEventName)> {
    AGENTS.into_iter().find_map(|agent| {
        let event = agent.events.iter().find(|event| event.name.eq_ignore_ascii_case(name))?;
        match event.ours {
            Ours::BuiltIn(ours) => Some((agent, ours)),
            Ours::Declared => None,
        }
    })
}

/// Returns the agent with this name.
pub fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.into_iter().find(|agent| agent.name == name)
}

impl Agent {
    /// Returns the agent's name in settings and on the command line.
    pub fn word(&self) -> &'static str {
        self.name
    }

    /// Returns the user's settings folder: in `home`, or as given by the agent's own variable.
    pub fn user_folder(&self, home: &Path) -> PathBuf {
        self.places.of_user(home)
    }

    /// Returns the project that a settings file belongs to, judged by the file's path.
    fn project_of(&self, path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let place = self.places.project.iter().find(|place| places::ends_like(&path, place))?;
        path.ancestors().nth(place.split('/').count()).map(Path::to_path_buf)
    }

    /// Checks whether the agent runs a hook itself, because it reads the hook's file.
    fn runs_itself(&self, hook: &ForeignHook) -> bool {
        let reads = |(name, reach): &(&str, Reach)| {
            *name == hook.language.name()
                && hook.plugin_root.is_none()
                && !hook.is_machines
                && self.takes_over(hook)
                && (*reach == Reach::All || !hook.is_users)
        };
        hook.is_found && (self.name == hook.language.name() || self.runs_too.iter().any(reads))
    }

    /// Returns `true` if the agent takes standard error as the answer of a hook that succeeded and
    /// printed nothing else.
    pub fn reads_standard_error(&self) -> bool {
        let ended = Ended { code: Some(0), stdout: "", stderr: "x" };
        self.events.iter().any(|event| (self.answer)(event, &ended).output.is_some())
    }

    /// Returns `true` if the agent itself ends a turn that hooks have continued too often.
    pub fn counts_continuations(&self) -> bool {
        self.caps_continuations
    }

    /// Checks whether the agent runs a hook from another agent's file. Cursor skips some.
    fn takes_over(&self, hook: &ForeignHook) -> bool {
        self.reads_as_own.as_ref().is_none_or(|form| {
            let is_known = form.events.iter().any(|(theirs, _)| *theirs == hook.event);
            is_known && !form.leaves_out(hook.matcher.as_deref())
        })
    }

    /// Returns the agent's event with this name.
    fn event(&self, name: &str) -> Option<&'static AgentEvent> {
        let known = |name: &str| self.events.iter().find(|event| event.name == name);
        known(name).or_else(|| {
            // Some agents also accept a lowercase first letter.
            let (first, rest) = name.split_at_checked(1).filter(|_| self.takes_any_case)?;
            known(&format!("{}{rest}", first.to_ascii_uppercase()))
        })
    }

    /// Returns the event for a name in settings, which may be in another agent's form.
    fn written_event(&self, name: &str) -> Option<&'static AgentEvent> {
        self.event(name).or_else(|| {
            let form = self.reads_as_own.as_ref()?;
            self.event(form.events.iter().find(|(theirs, _)| *theirs == name)?.1)
        })
    }

    /// Returns the native event for an agent's event.
    fn our_event(&self, event: &AgentEvent, events: &Events) -> Option<HookEventName> {
        match event.ours {
            Ours::BuiltIn(ours) => Some(ours),
            Ours::Declared => events.from_name(event.name),
        }
    }

    /// Returns a hook that is called instead of started, and its native event. The input and the
    /// answer of such a hook are in the agent's format, and a text matcher is compared by the
    /// agent's rules. Returns `None` if the agent has no such event.
    pub fn called(
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
            command: ForeignCommand::Called,
            directory: None,
            folder: None,
            variables: Vec::new(),
            plugin_root: None,
            is_users: true,
            is_machines: false,
            is_named: true,
            runs_once: false,
            loop_limit: None,
            is_found: false,
        };
        Some((self.our_event(event, events)?, hook))
    }

    /// Returns the agent's names of its events.
    pub fn event_names(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().map(|event| event.name)
    }

    /// Returns the native name of an agent's tool.
    pub fn our_tool(&self, foreign_event: &str, name: &str) -> String {
        self.ours(self.event(foreign_event), name, &RawObject::empty()).0
    }

    /// Returns the response to one of the agent's events. An unknown event gets the response to a
    /// verdict that proceeds.
    pub fn say(&self, foreign_event: &str, verdict: &Verdict<'_>) -> Said {
        let Some(event) = self.event(foreign_event) else {
            let nothing = self.events.first().map(|any| (self.say)(any, &Verdict::proceed()));
            return nothing.unwrap_or_default();
        };
        let mut said = (self.say)(event, verdict);
        if said.lost.is_empty() {
            said.lost = self.unheard(event, verdict, &said);
        }
        said
    }

    /// Returns the parts of a verdict that do not change the response.
    fn unheard(&self, event: &AgentEvent, verdict: &Verdict<'_>, said: &Said) -> Vec<&'static str> {
        let is_same = |without: &Verdict<'_>| (self.say)(event, without) == *said;
        let mut lost = Vec::new();
        if verdict.additional_context.is_some()
            && is_same(&Verdict { additional_context: None, ..*verdict })
        {
            lost.push("context there");
        }
        if verdict.system_message.is_some()
            && is_same(&Verdict { system_message: None, ..*verdict })
        {
            lost.push("messages to the user there");
        }
        lost
    }

    /// Returns what the agent ignores in an answer to one of its events, in a few words each.
    pub fn ignores(&self, foreign_event: &str) -> Vec<&'static str> {
        let Some(event) = self.event(foreign_event) else { return Vec::new() };
        let can_block = |ours: HookEventName| ours.row().block_means.is_some();
        let is_deaf = matches!(event.ours, Ours::BuiltIn(ours) if can_block(ours) && !event.blocks);
        let of_event = self.ignores.iter().filter(|(name, _)| *name == event.name);
        let words = of_event.flat_map(|(_, words)| words.iter().copied());
        is_deaf.then_some("a denial").into_iter().chain(words).collect()
    }

    fn tools_of(&self, event: Option<&AgentEvent>) -> &'static [Tool] {
        event.and_then(|event| event.tools).unwrap_or(self.tools)
    }

    /// Converts a tool and its arguments to the agent's names.
    fn theirs(
        &self,
        event: Option<&AgentEvent>,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        if let Some(tool) = self.tools_of(event).iter().find(|tool| tool.ours == name) {
            return (tool.theirs.to_owned(), renamed(arguments, tool.fields.iter().copied()));
        }
        let (before_server, before_tool) = self.mcp;
        let of_server = name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_'));
        match of_server {
            Some((server, tool)) if before_server != "mcp_" => {
                let server = if before_tool.is_empty() { "" } else { server };
                (format!("{before_server}{server}{before_tool}{tool}"), arguments.clone())
            }
            _ => (name.to_owned(), arguments.clone()),
        }
    }

    /// Converts a tool and its arguments to native names.
    fn ours(
        &self,
        event: Option<&AgentEvent>,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        let mut named = self.tools_of(event).iter().filter(|tool| tool.theirs == name);
        let sent = arguments.fields();
        // A tool can have two spellings of its arguments: take the one that was sent.
        if let Some(tool) =
            named.clone().find(|tool| tool.is_spelled_in(&sent)).or_else(|| named.next())
        {
            let fields = tool.fields.iter().map(|(ours, theirs)| (*theirs, *ours));
            return (tool.ours.to_owned(), renamed(arguments, fields));
        }
        let (before_server, before_tool) = self.mcp;
        let of_server = name.strip_prefix(before_server).filter(|_| before_server != "mcp_");
        let name = match of_server {
            Some(tool) if before_tool.is_empty() => format!("mcp_{tool}"),
            // Server names contain hyphens, too, so split at the last one.
            Some(rest) if before_server.is_empty() => match rest.rsplit_once(before_tool) {
                Some((server, tool)) => format!("mcp_{server}_{tool}"),
                None => name.to_owned(),
            },
            Some(rest) => match rest.split_once(before_tool) {
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
        let mut tools = self.tools_of(event).iter().filter(|it| it.ours == tool);
        match tools.find(|tool| tool.is_spelled_in(&sent)) {
            Some(tool) => {
                let fields = tool.fields.iter().filter(|(_, theirs)| sent.get(theirs).is_some());
                renamed(arguments, fields.copied())
            }
            None => self.theirs(event, tool, arguments).1,
        }
    }

    /// Returns the tool's name from a hook's input, as the agent writes it.
    fn tool_told(&self, event: &AgentEvent, told: &RawObject) -> Option<String> {
        let field = event.fields.iter().find(|(ours, _)| *ours == "tool_name")?.1;
        told.fields().get(field)?.to_text()
    }

    /// Converts the tool arguments in a hook's answer to native names.
    fn in_our_names(
        &self,
        event: &AgentEvent,
        told: &RawObject,
        mut answer: ForeignAnswer,
    ) -> ForeignAnswer {
        // Native hooks can change arguments only before a tool runs.
        if !event.is(HookEventName::BeforeTool) {
            return answer;
        }
        let specific =
            answer.output.as_mut().and_then(|output| output.hook_specific_output.as_mut());
        let Some(specific) = specific else { return answer };
        let updated = specific.remove(UPDATED_INPUT).filter(|updated| !updated.is_null());
        match updated.map(|updated| (updated.kind(), RawObject::try_from(updated))) {
            None => {}
            Some((_, Ok(updated))) => {
                let tool = self.tool_told(event, told).unwrap_or_default();
                let (_, arguments) = self.ours(Some(event), &tool, &updated);
                specific.insert("tool_input", arguments);
                specific.insert("toolInputReplaces", RawJson::from_bool(true));
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
    let (_, name) = event.fields.iter().find(|(ours, _)| *ours == "tool_input")?;
    input.fields().get(name)?.to_object().ok()
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
    let is_taken = |name: &str| {
        let mut taking = names.clone().filter(|(from, to)| *to == name && from != to);
        taking.any(|(from, _)| fields.get(from).is_some())
    };
    let kept = fields.iter().filter(|(name, _)| is_renamed(name) || !is_taken(name));
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

    fn our_tool(&self, foreign_event: &str, name: &str) -> Option<String> {
        let ours = Self::our_tool(self, foreign_event, name);
        let (back, _) = self.theirs(self.event(foreign_event), &ours, &RawObject::empty());
        (back == name).then_some(ours)
    }

    fn host_tool(
        &self,
        hook: &ForeignHook,
        input: &EventInput,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        let event = self.written_event(&hook.event);
        let Some(asked) = input.asked.as_deref() else {
            // A host may use this agent's tool names itself; the event's tool name shows it.
            let subject = input.payload.tool_input().and_then(|_| input.payload.match_subject());
            let is_named_so =
                |tool: &Tool| subject == Some(tool.theirs) && tool.ours != tool.theirs;
            return match self.tools_of(event).iter().any(is_named_so) {
                true => (name.to_owned(), arguments.clone()),
                false => self.ours(event, name, arguments),
            };
        };
        match agent(asked.agent).filter(|asks| asks.name != self.name) {
            Some(asks) => {
                let (ours, arguments) = self.ours(event, name, arguments);
                asks.theirs(asks.event(&asked.event), &ours, &arguments)
            }
            None => (name.to_owned(), arguments.clone()),
        }
    }

    fn approves(&self, hook: &ForeignHook) -> bool {
        self.written_event(&hook.event).is_some_and(|event| event.approves)
    }

    fn takes_relative_paths(&self) -> bool {
        // Only pi and oh-my-pi.
        self.is_asked_by_extension()
    }

    fn edits_by_patch(&self) -> bool {
        let has = |ours: &str| self.tools.iter().any(|tool| tool.ours == ours);
        has("apply_patch") && !has("write_file") && !has("replace")
    }

    fn contradiction(&self, hook: &ForeignHook, input: &EventInput) -> Option<String> {
        told::contradiction(self, hook, input)
    }

    fn declared(&self) -> Vec<EventDefinition> {
        let own = self.events.iter().filter(|event| matches!(event.ours, Ours::Declared));
        own.map(|event| {
            let definition = EventDefinition::new(event.name);
            match event.blocks {
                true => definition.block_means("it does not happen"),
                false => definition,
            }
        })
        .collect()
    }

    fn env_file(&self, hook: &ForeignHook) -> Option<&'static str> {
        let event = self.written_event(&hook.event)?;
        self.env_file.filter(|_| event.is(HookEventName::SessionStart))
    }

    fn answers_by_action(&self) -> bool {
        std::ptr::eq(self, &a3s::AGENT)
    }

    fn places(&self, projects: &[PathBuf], home: Option<&Path>) -> Vec<ForeignSource> {
        self.places.files(projects, home)
    }

    fn variable(&self, name: &str) -> Option<HookDirectory> {
        let of_plugin =
            launch::OF_EXTENSION.iter().filter(|_| self.expands != table::Expands::Braces);
        let known = self.variables.iter().chain(of_plugin).find(|(known, _)| *known == name);
        match known?.1 {
            Variable::Project => Some(HookDirectory::Project),
            Variable::Cwd => Some(HookDirectory::OfEvent),
            Variable::PluginRoot => Some(HookDirectory::Plugin),
            Variable::Session | Variable::Transcript | Variable::Said(_) | Variable::Word(_) => {
                None
            }
        }
    }

    fn directory(&self, hook: &ForeignHook, place: &Place<'_>) -> PathBuf {
        launch::directory(self, hook, place)
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

    fn told(&self, hook: &ForeignHook, input: &EventInput) -> Option<RawObject> {
        told::told(self, hook, input)
    }

    fn matches(&self, hook: &ForeignHook, told: &RawObject) -> bool {
        // A hook of an unknown event matches, so that no guard is skipped.
        self.written_event(&hook.event)
            .is_none_or(|event| (self.matches)(event, hook, &told.fields()))
    }

    fn failed(&self, hook: &ForeignHook, failure: &HookFailure) -> Option<HookOutput> {
        let event = self.written_event(&hook.event)?;
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

    fn launch(&self, hook: &ForeignHook, told: &RawObject, place: &Place<'_>) -> Launch {
        launch::launch(self, hook, told, place)
    }

    fn answer(
        &self,
        hook: &ForeignHook,
        input: &EventInput,
        told: &RawObject,
        ended: &Ended<'_>,
    ) -> ForeignAnswer {
        let Some(event) = self.written_event(&hook.event) else { return ForeignAnswer::default() };
        let mut answer = self.in_our_names(event, told, (self.answer)(event, ended));
        if let Some(lay) = event.lay {
            lay(&mut answer, input, told);
        }
        if let (Some(failure), None) = (&answer.failure, &answer.output) {
            answer.output = self.failed(hook, failure);
        }
        let looped = told.fields().get("loop_count").and_then(RawJson::to_whole_number);
        if let (Some(output), Some(limit), Some(looped)) =
            (&mut answer.output, hook.loop_limit, looped)
            && output.decision.is_some()
            && looped >= limit
        {
            output.decision = None;
            let warning = format!("it had the agent go on {limit} times in a row; it ends now");
            answer.warnings.push(warning);
        }
        answer
    }

    fn post(&self, hook: &ForeignHook, place: &Place<'_>) -> Result<Post, String> {
        http::post(self, hook, place)
    }

    fn replied(
        &self,
        hook: &ForeignHook,
        told: &RawObject,
        reply: Result<&str, HookFailure>,
    ) -> ForeignAnswer {
        let Some(event) = self.written_event(&hook.event) else {
            return ForeignAnswer { failure: reply.err(), ..ForeignAnswer::default() };
        };
        let output = reply.as_ref().err().and_then(|failure| self.failed(hook, failure));
        let answer = self.in_our_names(event, told, http::replied(self, event, reply));
        ForeignAnswer { output: output.or(answer.output), ..answer }
    }
}

#[cfg(test)]
mod tests {
    use hook_protocol::tool::our_name;

    use super::*;

    #[test]
    fn each_answer_that_a_page_shows_is_of_an_event() {
        for agent in AGENTS {
            let unknown = agent.answers.iter().find(|it| agent.event(it.event).is_none());
            assert!(unknown.is_none(), "{} {unknown:?}", agent.name);
        }
    }

    #[test]
    fn each_tool_of_an_agent_is_known_by_its_name() {
        for agent in AGENTS {
            let of_events = agent.events.iter().filter_map(|event| event.tools);
            for tools in of_events.chain([agent.tools]) {
                // If two tools share a name, the first one counts.
                let meant = |tool: &&Tool| tools.iter().find(|it| it.theirs == tool.theirs);
                for tool in tools.iter().filter_map(|tool| meant(&tool)) {
                    let found = our_name(tool.theirs);
                    assert_eq!(found, Some(tool.ours), "{} {}", agent.name, tool.theirs);
                }
            }
        }
    }
}
