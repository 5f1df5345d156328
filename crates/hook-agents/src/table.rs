//! The description of an agent: tables, with functions only for what a table cannot express.

use std::path::Path;

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::HookEventName;
use hook_protocol::event::input::EventInput;
use hook_settings::language::ForeignAnswer;

use super::kind::{HookKind, HttpRules};
use super::paths::SettingsPaths;
use super::syntax::Comments;
use super::template::EventAnswers;

/// One agent, as tables.
#[derive(Debug)]
pub struct Agent {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) events: &'static [AgentEvent],
    pub(super) tools: &'static [Tool],
    /// The prefix of MCP tool names, and the separator between server and tool.
    pub(super) mcp: (&'static str, &'static str),
    pub(super) base_fields: &'static [(BaseField, &'static str)],
    pub(super) settings: SettingsForm,
    /// The layout of its settings files around the hooks.
    pub(super) layout: Layout,
    /// The supported kinds of hooks. A hook without a `type` is of the first kind.
    pub(super) hook_kinds: &'static [HookKind],
    /// The rules for `http` hooks, if supported.
    pub(super) http: Option<HttpRules>,
    /// The comments and trailing commas that its settings may have beside JSON.
    pub(super) comments: Comments,
    /// The optional keys of a hook that this agent supports.
    pub(super) hook_keys: &'static [&'static str],
    pub(super) timeout: Timeouts,
    pub(super) shell: &'static [&'static str],
    /// The environment variables of its hooks.
    pub(super) variables: &'static [(&'static str, Variable)],
    /// The variable that names a file, in which `SessionStart` hooks put session variables.
    pub(super) env_file: Option<&'static str>,
    /// The syntax of variables that are replaced in a command before the shell runs.
    pub(super) expansion: Expansion,
    /// The comparison of matchers with the hook's input.
    pub(super) matcher: MatcherRule,
    /// The family, which reads the answers of hooks and renders responses.
    pub(super) family: Family,
    /// The working directory of a hook that names none.
    pub(super) directory: Directory,
    /// `true` if the first letter of an event name may be lowercase.
    pub(super) accepts_lowercase_initial: bool,
    /// The parts of an answer that the agent ignores, by event. Ignored denials are not listed
    /// here: see [`AgentEvent::blocks`].
    pub(super) ignores: &'static [(&'static str, &'static [&'static str])],
    /// The file that `hook connect` writes; `None` if the agent cannot be connected.
    pub(super) entry: Option<Entry>,
    /// The value of a top-level `decision` that denies, if the agent tolerates one. Other agents
    /// that read this agent's files may obey nothing else.
    pub(super) top_level_denial: Option<&'static str>,
    /// `true` if the agent itself ends a turn that hooks have continued too often.
    pub(super) caps_continuations: bool,
    /// The paths of its settings files.
    pub(super) paths: SettingsPaths,
    /// `true` if a path identifies a file as this agent's. Gemini CLI's files are instead read as
    /// native settings.
    pub(super) is_identified_by_path: bool,
    /// Other agents whose files, plugins aside, this agent reads itself, and which of their files.
    pub(super) reads_files_of: &'static [(&'static str, Reach)],
    /// `true` if identical hooks run only once per event.
    pub(super) runs_once: bool,
    /// Another agent's form in which it accepts hooks as its own.
    pub(super) other_form: Option<OtherForm>,
    /// Sample answers of its hooks. Its page shows what they mean for other agents.
    pub(super) sample_answers: &'static [SampleAnswer],
    /// `true` if a switch for all hooks in one file applies to the other files, by precedence.
    pub(super) has_global_switch: bool,
    /// Notes for its page, of a sentence or two each.
    pub(super) notes: &'static [&'static str],
    /// The version that its table was checked against; `None` for tables without a file.
    pub(super) checked: Option<Checked>,
    /// The actions that it never asks about.
    pub(super) never_asks: &'static [&'static str],
    /// The name of its program in `PATH`, if its table is from a file that says it.
    pub(super) program: Option<&'static str>,
}

/// The version of an agent that a table was checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// The version.
    pub version: &'static str,
    /// The date, as YYYY-MM-DD.
    pub date: &'static str,
    /// `true` if the agent was run; `false` if its code or documentation was read.
    pub seen: bool,
}

/// A sample answer of a hook, and the source that documents it.
#[derive(Debug)]
pub(super) struct SampleAnswer {
    pub(super) event: &'static str,
    pub(super) text: &'static str,
    pub(super) source: &'static str,
}

pub(super) const fn sample_answer(
    event: &'static str,
    text: &'static str,
    source: &'static str,
) -> SampleAnswer {
    SampleAnswer { event, text, source }
}

/// Another agent's grouped form, in which an agent may have hooks of its own.
#[derive(Debug)]
pub(super) struct OtherForm {
    /// Pairs of event names: the other agent's, and this agent's.
    pub(super) events: &'static [(&'static str, &'static str)],
    /// Pairs of tool names for matchers: the other agent's, and this agent's.
    pub(super) tools: &'static [(&'static str, &'static str)],
    /// Tools that no matcher may name: the agent does not run such hooks.
    pub(super) unsupported_tools: &'static [&'static str],
}

impl OtherForm {
    /// Checks whether a hook with this matcher is skipped.
    pub(super) fn skips(&self, matcher: Option<&str>) -> bool {
        let matcher = matcher.unwrap_or_default();
        self.unsupported_tools.iter().any(|tool| matcher.contains(tool))
    }
}

/// The file of the entries by which an agent calls `hook bridge`.
#[derive(Debug)]
pub struct Entry {
    /// The path in the user's folder: of a file, or of a folder of scripts.
    pub file: &'static str,
    /// The path in a project, of a file that is not committed if the agent has one. `None` if the
    /// agent only reads the user's.
    pub in_project: Option<&'static str>,
    /// The text of a file without hooks, or of an extension or a script with a placeholder for its commands.
    pub new_file: &'static str,
    /// How the agent runs an entry's command on Windows.
    pub on_windows: WindowsShell,
    /// The next step for the user.
    pub next_step: &'static str,
    /// Further fields of an entry, each with its value as JSON, in which `{event}` is the event.
    pub(super) fields: &'static [(&'static str, &'static str)],
    /// Further fields of an entry whose failure has to deny, likewise.
    pub(super) fail_closed: &'static [(&'static str, &'static str)],
    /// The agent's consent file, if consent can be written for the user.
    pub(super) consent: Option<Consent>,
}

/// How an agent runs commands on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowsShell {
    /// Without a shell: a program, and arguments beside it.
    None,
    /// By cmd.exe.
    Cmd,
    /// By PowerShell.
    PowerShell,
}

/// The consent that an agent requires before it runs entries, if it can be written to a file.
#[derive(Debug)]
pub struct Consent {
    /// The question for the user.
    pub question: &'static str,
    /// The path in the user's folder; `None` for the file of the entries.
    pub file: Option<&'static str>,
    pub(super) form: ConsentForm,
}

/// The JSON form of a consent.
#[derive(Debug)]
pub(super) enum ConsentForm {
    /// The folder as an item of the array with this name.
    ArrayItem(&'static str),
    /// The folder as a member name, with this value.
    MemberValue(&'static str),
    /// A switch in an object: the names of the object and of the switch.
    Switch(&'static str, &'static str),
}

/// One event of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentEvent {
    pub(super) name: &'static str,
    pub(super) native: NativeEvent,
    /// The part of the native event that this one covers.
    pub(super) coverage: Coverage,
    /// The value that matchers are compared with.
    pub(super) subject: Subject,
    /// The effect of exit code 2.
    pub(super) exit_two: ExitTwo,
    /// `true` if plain text on standard output is context for the model.
    pub(super) text_is_context: bool,
    /// `true` if a block has an effect.
    pub(super) blocks: bool,
    /// `true` if an allow spares the user a question. Only then is it one for other agents.
    pub(super) approves: bool,
    /// `true` if a hook that times out blocks.
    pub(super) blocks_at_timeout: bool,
    /// `true` if a hook blocks that reports an error, times out or gives an invalid answer.
    pub(super) blocks_on_failure: bool,
    /// Pairs of payload fields: the native name, and the agent's.
    pub(super) fields: &'static [(&'static str, &'static str)],
    /// Further fields of the agent that have no native field, or not always. They are sent if
    /// `value` returns one.
    pub(super) extra_fields: &'static [&'static str],
    /// Computes an agent's field that is no copy of a native field, from the native input.
    pub(super) foreign_value: Option<fn(&str, &JsonObject) -> Option<RawJson>>,
    /// Completes an answer that replaces only a part of the hook's input.
    pub(super) complete: Option<fn(&mut ForeignAnswer, &EventInput, &RawObject)>,
    /// Computes native fields that combine several fields of the agent's request.
    pub(super) native_fields: Option<fn(&JsonObject, &mut JsonObject)>,
    /// Required native fields that the agent does not send, with their values as JSON.
    pub(super) defaults: &'static [(&'static str, &'static str)],
    /// The default timeout of its hooks in milliseconds, if it differs from the agent's.
    pub(super) timeout: Option<u64>,
    /// The agent's time limit for all its hooks together, whatever their timeouts, in seconds.
    pub(super) total_timeout_secs: Option<u64>,
    /// The maximum timeout of one hook, in milliseconds.
    pub(super) timeout_cap: Option<u64>,
    /// The default of how many times in a row one of its hooks may continue the agent.
    pub(super) loop_limit: Option<u64>,
    /// The fields of every input, and the tools, if they differ from the agent's.
    pub(super) base_fields: Option<&'static [(BaseField, &'static str)]>,
    pub(super) tools: Option<&'static [Tool]>,
    /// `true` if another event covers the same moment, so that this one is not connected.
    pub(super) is_unconnected: bool,
    /// `true` if its hooks are not in groups, unlike those of other events.
    pub(super) is_flat: bool,
    /// The first versions of the agent that have the event, or obey a part of an answer.
    pub(super) since: &'static [Since],
    /// `true` if changed arguments are laid over those of the model instead of taking their place.
    pub(super) merges_input: bool,
    /// The answers that count, for families whose answers are templates.
    pub(super) answers: EventAnswers,
}

impl AgentEvent {
    /// An event that equals a native one except for its name.
    pub(super) const fn new(name: &'static str, native: HookEventName) -> Self {
        Self {
            name,
            native: NativeEvent::BuiltIn(native),
            coverage: Coverage::All,
            subject: Subject::Nothing,
            exit_two: ExitTwo::Notifies,
            text_is_context: false,
            blocks: false,
            approves: false,
            blocks_at_timeout: false,
            blocks_on_failure: false,
            fields: &[],
            extra_fields: &[],
            foreign_value: None,
            complete: None,
            native_fields: None,
            defaults: &[],
            timeout: None,
            timeout_cap: None,
            loop_limit: None,
            total_timeout_secs: None,
            base_fields: None,
            tools: None,
            is_unconnected: false,
            is_flat: false,
            since: &[],
            merges_input: false,
            answers: EventAnswers::NONE,
        }
    }

    /// Checks whether this event maps to the given native event.
    pub(super) fn maps_to(&self, native: HookEventName) -> bool {
        matches!(self.native, NativeEvent::BuiltIn(own) if own == native)
    }

    /// An event without a native counterpart.
    pub(super) const fn foreign_only(name: &'static str) -> Self {
        Self { native: NativeEvent::Declared, ..Self::new(name, HookEventName::Notification) }
    }
}

/// The first version of an agent that has an event, or obeys a part of an answer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Since {
    /// The part of an answer, by its key in files; `None` for the event itself.
    pub(super) part: Option<&'static str>,
    pub(super) version: &'static str,
}

/// The native event of an agent's event.
#[derive(Debug, Clone, Copy)]
pub(super) enum NativeEvent {
    BuiltIn(HookEventName),
    /// Declared under the agent's name.
    Declared,
}

/// The part of a native event that an agent's event covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    All,
    /// Calls of these native tools.
    Tools(&'static [&'static str]),
    /// Calls of MCP tools.
    Mcp,
    /// Tool calls that succeeded.
    Succeeded,
}

/// The value that matchers are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// No value: every matcher matches.
    Nothing,
    /// A field of the hook's input.
    Field(&'static str),
    /// The name of the tool.
    Tool,
    /// The last part of a path.
    FileName(&'static str),
    /// A constant.
    Constant(&'static str),
}

/// The effect of exit code 2 at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitTwo {
    /// A denial, with standard error as its reason.
    Denies,
    /// A message to the user, from standard error.
    Notifies,
    Nothing,
}

/// The native and the agent's name of a tool, and those of its arguments that are renamed.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) native: &'static str,
    pub(super) foreign: &'static str,
    pub(super) fields: &'static [(&'static str, &'static str)],
}

impl Tool {
    /// Checks whether arguments use the agent's names, and no argument has both names.
    pub(super) fn uses_foreign_names(&self, arguments: &JsonObject) -> bool {
        let has = |name: &str| arguments.get(name).is_some();
        let mut fields = self.fields.iter();
        fields.clone().any(|(_, foreign)| has(foreign))
            && !fields.any(|(native, foreign)| has(native) && has(foreign))
    }
}

pub(super) const fn tool(native: &'static str, foreign: &'static str) -> Tool {
    Tool { native, foreign, fields: &[] }
}

/// A field that every native input has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseField {
    Session,
    Transcript,
    /// The transcript, or `null` if there is none.
    TranscriptOrNull,
    Cwd,
    /// The working directory, in an array.
    Roots,
    Event,
    Timestamp,
    /// The timestamp in milliseconds since 1970.
    Milliseconds,
    /// An empty object.
    Empty,
}

/// The files of another agent that an agent reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Project files only.
    Projects,
    /// Project files and the user's.
    All,
}

/// The layout of settings files around the hooks. The default is an object `hooks` by event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The key of the object of events.
    pub(super) wrapper: &'static str,
    /// `true` if there may be several such objects, each under any key.
    pub(super) is_named: bool,
    /// The names of files that are the object of events itself, without `hooks` around it.
    pub(super) bare: &'static [&'static str],
    /// The key by which hooks name their event, if `hooks` is a list of them.
    pub(super) event_key: Option<&'static str>,
    /// The key of a matcher.
    pub(super) matcher_key: &'static str,
    /// The key of the object with a hook's kind and command, if the hook has one.
    pub(super) action_key: Option<&'static str>,
    /// The key by which a hook can be off.
    pub(super) switch_key: Option<&'static str>,
    /// The key of a hook's working directory.
    pub(super) directory_key: Option<&'static str>,
    /// `true` if hooks say their kind by `type`.
    pub(super) is_typed: bool,
}

impl Layout {
    pub(super) const OBJECT: Self = Self {
        wrapper: "hooks",
        is_named: false,
        bare: &[],
        event_key: None,
        matcher_key: "matcher",
        action_key: None,
        switch_key: None,
        directory_key: None,
        is_typed: true,
    };

    /// Checks whether a file is the object of events itself.
    pub(super) fn is_bare(&self, file: &Path) -> bool {
        file.file_name().is_some_and(|name| self.bare.iter().any(|bare| name == *bare))
    }
}

/// The layout of hooks in settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsForm {
    /// Groups with a matcher, each with hooks.
    Groups,
    /// Hooks with a matcher each.
    Flat,
    /// Both layouts.
    Both,
}

/// The timeouts of an agent's hooks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// The keys of a timeout; the first one present counts.
    pub(super) keys: &'static [&'static str],
    /// The unit of a timeout, in milliseconds.
    pub(super) unit: u64,
    /// The default, in milliseconds.
    pub(super) default: u64,
    /// The smallest number that is read as milliseconds, whatever the unit.
    pub(super) milliseconds_from: Option<u64>,
}

impl Timeouts {
    /// Timeouts with a unit and a default, both in milliseconds.
    pub(super) const fn new(keys: &'static [&'static str], unit: u64, default: u64) -> Self {
        Self { keys, unit, default, milliseconds_from: None }
    }
}

/// The family of an agent: the rules by which it reads the answers of its hooks, and by which it
/// is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    A3s,
    Claude,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    Llxprt,
    Pi,
    Qwen,
    Vscode,
    /// Those of the templates of each event.
    Templates,
}

/// The comparison of matchers with the subject of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatcherRule {
    /// Every matcher matches.
    All,
    Claude,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    Qwen,
    /// An expression that is found anywhere. An invalid one, such as `*`, matches nothing.
    Expression,
    /// An expression of the whole text. An invalid one, such as `*`, matches nothing.
    WholeExpression,
    /// The text itself, or an expression of all of it.
    ExactOrExpression,
    /// A pattern with `*` and `?`, of all of a name or of its last part after a dot.
    Glob,
}

/// The source of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    Project,
    Cwd,
    Session,
    Transcript,
    PluginRoot,
    /// A field of the hook's input.
    InputField(&'static str),
    Constant(&'static str),
}

/// The variables that are replaced in a command before the shell runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expansion {
    /// `${NAME}`, by the raw value.
    Braces,
    /// `$NAME`, by the quoted value.
    Quoted,
    /// None: the shell expands them.
    None,
}

/// The working directory of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directory {
    Event,
    Project,
    /// The project for its own files; for other files, the folder that contains them.
    File,
}

/// Returns a copy of an object with one field replaced.
pub(super) fn with_field(object: &RawObject, name: &str, value: &RawObject) -> RawObject {
    let mut fields = object.fields();
    fields.insert(name, value.clone());
    fields.to_raw()
}
