//! What is written down of an agent: tables, and functions only where a table cannot say it.

use hook_core::event::input::EventInput;
use hook_core::language::{Ended, ForeignAnswer, ForeignHook};
use hook_core::{HookEventName, JsonObject, RawJson, RawObject};

use super::kind::{HttpRules, Kind};
use super::places::Places;
use super::verdict::{Said, Verdict};
use super::written::Comments;

/// One agent, in tables.
#[derive(Debug)]
pub struct Agent {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) events: &'static [AgentEvent],
    pub(super) tools: &'static [Tool],
    /// What tools of MCP servers are called: what stands before the server, and before the tool.
    pub(super) mcp: (&'static str, &'static str),
    pub(super) base: &'static [(Base, &'static str)],
    pub(super) settings: SettingsForm,
    /// The kinds of its hooks; one that does not say its kind is of the first.
    pub(super) kinds: &'static [Kind],
    /// The rules of those that are posted, where it has such.
    pub(super) http: Option<HttpRules>,
    /// What its settings may have beside JSON.
    pub(super) comments: Comments,
    /// Keys of a hook that it knows, of those that not every agent does.
    pub(super) keys: &'static [&'static str],
    pub(super) timeout: Timeouts,
    pub(super) shell: &'static [&'static str],
    /// Variables that its hooks have.
    pub(super) variables: &'static [(&'static str, Variable)],
    /// The variable that names a file into which hooks at the start of a session write variables for it.
    pub(super) env_file: Option<&'static str>,
    /// What of these variables is replaced in a command before the shell sees it.
    pub(super) expands: Expands,
    pub(super) matches: fn(&AgentEvent, &ForeignHook, &JsonObject) -> bool,
    pub(super) answer: fn(&AgentEvent, &Ended<'_>) -> ForeignAnswer,
    pub(super) say: fn(&AgentEvent, &Verdict<'_>) -> Said,
    /// Where a hook runs that names no directory.
    pub(super) directory: Directory,
    /// Whether the first letter of an event's name may be a small one.
    pub(super) takes_any_case: bool,
    /// What it does not do of what it is answered, by its event; that a denial means nothing there is said
    /// of the event.
    pub(super) ignores: &'static [(&'static str, &'static [&'static str])],
    /// Where `hook connect` writes; `None` where it cannot.
    pub(super) entry: Option<Entry>,
    /// The word of a denial at the top level of an answer, where that is no error: other agents that read its
    /// files may obey that alone.
    pub(super) top_level: Option<&'static str>,
    /// Whether it ends a turn by itself that hooks have had it go on with too often.
    pub(super) caps_continuations: bool,
    /// Where it keeps its hooks.
    pub(super) places: Places,
    /// Whether a file that is named is known as its own by where it stands. One of Gemini CLI's is read as
    /// ours are.
    pub(super) is_told_by_place: bool,
    /// Other agents whose files it reads by itself, beside plugins: of projects alone, or of the user, too.
    pub(super) runs_too: &'static [(&'static str, Reach)],
    /// Whether the same hook runs only once for one event.
    pub(super) runs_once: bool,
    /// Hooks in another agent's form that it runs as its own.
    pub(super) reads_as_own: Option<OtherForm>,
    /// Answers of its hooks as they are printed, of which its page says what they mean in other agents.
    pub(super) answers: &'static [Printed],
    /// Whether what one of its files says of all hooks holds for those of its other files, by precedence.
    pub(super) has_one_switch: bool,
    /// What its page says beside the tables, in a sentence or two each.
    pub(super) notes: &'static [&'static str],
}

/// An answer of a hook, and where it stands what it means at home.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) event: &'static str,
    pub(super) text: &'static str,
    pub(super) source: &'static str,
}

pub(super) const fn printed(
    event: &'static str,
    text: &'static str,
    source: &'static str,
) -> Printed {
    Printed { event, text, source }
}

/// The form of another agent, in groups, in which an agent may have hooks of its own.
#[derive(Debug)]
pub(super) struct OtherForm {
    /// Events: as they are called there, and by the agent.
    pub(super) events: &'static [(&'static str, &'static str)],
    /// Tools, for matchers: as they are called there, and by the agent.
    pub(super) tools: &'static [(&'static str, &'static str)],
    /// What no matcher may name: the agent does not run such hooks.
    pub(super) without: &'static [&'static str],
}

impl OtherForm {
    /// Whether a hook with that matcher is passed over.
    pub(super) fn leaves_out(&self, matcher: Option<&str>) -> bool {
        let matcher = matcher.unwrap_or_default();
        self.without.iter().any(|tool| matcher.contains(tool))
    }
}

/// Where the entries are written by which an agent calls us.
#[derive(Debug)]
pub struct Entry {
    /// The file in the user's folder.
    pub file: &'static str,
    /// The file in a project; one that is not committed, where the agent has such.
    pub in_project: &'static str,
    /// A file without any hooks; or an extension, with a place for the commands that it asks.
    pub new_file: &'static str,
    /// What the user still has to do.
    pub remains: &'static str,
    /// How that can be written down for the user, where there is a way.
    pub(super) consent: Option<Consent>,
}

/// What an agent wants before it runs entries, where there is a way to write it down.
#[derive(Debug)]
pub struct Consent {
    /// What the user is asked.
    pub question: &'static str,
    /// The file below the user's folder; without one it is that of the entries.
    pub file: Option<&'static str>,
    pub(super) form: Form,
}

/// How it is written down.
#[derive(Debug)]
pub(super) enum Form {
    /// The folder in an array under that name.
    In(&'static str),
    /// The folder as a name, with that word.
    Is(&'static str),
    /// A switch in an object.
    On(&'static str, &'static str),
}

/// One event of an agent.
#[derive(Debug)]
pub(super) struct AgentEvent {
    /// What it is called.
    pub(super) name: &'static str,
    pub(super) ours: Ours,
    /// Which part of ours it is.
    pub(super) part: Part,
    /// What matchers are compared with.
    pub(super) subject: Subject,
    /// What exit 2 means.
    pub(super) exit_two: ExitTwo,
    /// Whether plain text on standard output is context for the model.
    pub(super) plain_is_context: bool,
    /// Whether a block means something.
    pub(super) blocks: bool,
    /// Whether an allow of its hooks spares the user a question. Only then it is an allow in other agents.
    pub(super) approves: bool,
    /// Whether a hook that takes too long blocks.
    pub(super) blocks_at_timeout: bool,
    /// Whether a hook blocks that says that it failed, takes too long or answers what is none.
    pub(super) blocks_on_failure: bool,
    /// The fields of its payload, ours and theirs.
    pub(super) fields: &'static [(&'static str, &'static str)],
    /// Fields of theirs that are none of ours, or not always: they are told where [`value`](Self::value)
    /// gives them.
    pub(super) beside: &'static [&'static str],
    /// What a field of theirs is told as that is no copy of ours, of the fields of our input.
    pub(super) value: Option<fn(&str, &JsonObject) -> Option<RawJson>>,
    /// Makes of an answer that stands for a part of what the hook was told the whole.
    pub(super) lay: Option<fn(&mut ForeignAnswer, &EventInput, &RawObject)>,
    /// Fields of ours that are made of several of theirs, where the agent asks.
    pub(super) made: Option<fn(&JsonObject, &mut JsonObject)>,
    /// Fields of ours that must be there, and that the agent does not say; as JSON.
    pub(super) missing: &'static [(&'static str, &'static str)],
    /// The timeout of its hooks where it is another than the agent's, in milliseconds.
    pub(super) timeout: Option<u64>,
    /// How long the agent waits for all hooks of it, whatever their timeouts, in seconds.
    pub(super) longest: Option<u64>,
    /// How long one of its hooks may run at most, in milliseconds.
    pub(super) timeout_cap: Option<u64>,
    /// How often in a row one of its hooks may have the agent go on that says nothing of it.
    pub(super) loop_limit: Option<u64>,
    /// The fields that every input has, and the names of tools, where they are others than the agent's.
    pub(super) base: Option<&'static [(Base, &'static str)]>,
    pub(super) tools: Option<&'static [Tool]>,
    /// Whether another event of the agent's asks about the same moment.
    pub(super) is_asked_elsewhere: bool,
}

impl AgentEvent {
    /// An event that is ours under another name, and nothing more.
    pub(super) const fn of(name: &'static str, ours: HookEventName) -> Self {
        Self {
            name,
            ours: Ours::BuiltIn(ours),
            part: Part::All,
            subject: Subject::Nothing,
            exit_two: ExitTwo::Tells,
            plain_is_context: false,
            blocks: false,
            approves: false,
            blocks_at_timeout: false,
            blocks_on_failure: false,
            fields: &[],
            beside: &[],
            value: None,
            lay: None,
            made: None,
            missing: &[],
            timeout: None,
            timeout_cap: None,
            loop_limit: None,
            longest: None,
            base: None,
            tools: None,
            is_asked_elsewhere: false,
        }
    }

    /// Whether it is this one of ours.
    pub(super) fn is(&self, ours: HookEventName) -> bool {
        matches!(self.ours, Ours::BuiltIn(own) if own == ours)
    }

    /// An event that none of ours stands for.
    pub(super) const fn own(name: &'static str) -> Self {
        Self { ours: Ours::Declared, ..Self::of(name, HookEventName::Notification) }
    }
}

/// Our event for one of theirs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ours {
    BuiltIn(HookEventName),
    /// It is declared, under the agent's name.
    Declared,
}

/// Which part of our event one of theirs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// Calls of these tools of ours.
    Tools(&'static [&'static str]),
    /// Calls of tools of MCP servers.
    Mcp,
    /// Tools that ran and did not fail.
    Succeeded,
}

/// What matchers are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The event has none: every matcher matches.
    Nothing,
    /// A field of what the hook is told.
    Field(&'static str),
    /// The name of the tool.
    Tool,
    /// The last part of a path.
    FileName(&'static str),
    /// Always this word.
    Word(&'static str),
}

/// What exit code 2 means on an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitTwo {
    /// It is a denial, with standard error as its reason.
    Denies,
    /// The user is told standard error.
    Tells,
    /// Nothing.
    Nothing,
}

/// A tool under our name and theirs, with the arguments that have other names.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) ours: &'static str,
    pub(super) theirs: &'static str,
    pub(super) fields: &'static [(&'static str, &'static str)],
}

impl Tool {
    /// Whether arguments have names of the agent's for this tool, and none of ours in their place.
    pub(super) fn is_spelled_in(&self, arguments: &JsonObject) -> bool {
        let has = |name: &str| arguments.get(name).is_some();
        let mut fields = self.fields.iter();
        fields.clone().any(|(_, theirs)| has(theirs))
            && !fields.any(|(ours, theirs)| has(ours) && has(theirs))
    }
}

pub(super) const fn tool(ours: &'static str, theirs: &'static str) -> Tool {
    Tool { ours, theirs, fields: &[] }
}

/// What every input of ours has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Session,
    Transcript,
    /// The same, `null` where there is none.
    TranscriptOrNull,
    Cwd,
    /// The same, in an array.
    Roots,
    Event,
    Timestamp,
    /// The same, in milliseconds since 1970.
    Milliseconds,
    /// An empty object.
    Empty,
}

/// Which files of another agent one reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of projects.
    Projects,
    /// Those of the user, too.
    All,
}

/// How settings are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsForm {
    /// Groups with a matcher, each with hooks.
    Groups,
    /// Hooks with a matcher each.
    Flat,
    /// Either.
    Both,
}

/// How long hooks may run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// The keys, of which the first that is there counts.
    pub(super) keys: &'static [&'static str],
    /// How many milliseconds the unit has.
    pub(super) unit: u64,
    /// In milliseconds.
    pub(super) default: u64,
    /// The number from which on it is read as milliseconds, whatever the unit.
    pub(super) milliseconds_from: Option<u64>,
}

impl Timeouts {
    /// A unit of so many milliseconds, and the default in milliseconds.
    pub(super) const fn of(keys: &'static [&'static str], unit: u64, default: u64) -> Self {
        Self { keys, unit, default, milliseconds_from: None }
    }
}

/// The value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    Project,
    Cwd,
    Session,
    Transcript,
    PluginRoot,
    /// What the hook is told under that name.
    Said(&'static str),
    Word(&'static str),
}

/// What is replaced in a command before the shell sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expands {
    /// `${NAME}`, by the value as it is.
    Braces,
    /// `$NAME`, by the value in quotes.
    Quoted,
    /// Nothing: the shell does it.
    Never,
}

/// Where a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directory {
    OfEvent,
    Project,
    /// The project for its own files; for others the folder that they stand in.
    OfFile,
}

/// All fields of an object, in their order, one of them with another value.
pub(super) fn with_field(object: &RawObject, name: &str, value: &RawObject) -> RawObject {
    let mut fields = object.fields();
    fields.insert(name, value.clone());
    fields.to_raw()
}
