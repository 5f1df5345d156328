//! pi and oh-my-pi. Their hooks are functions of modules; an extension written by `hook connect`
//! calls `hook bridge`. Hooks in the language `omp`, and modules, use their format, too.
//!
//! | file | contents |
//! | --- | --- |
//! | `content` | tool responses as content parts, and back |
//! | `results` | the return values of handlers |
//! | `fields` | the fields of their inputs without a native field |
//! | `events` | the event tables |

mod content;
mod events;
mod fields;
mod results;

use hook_json::{JsonObject, RawJson};
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::kind::COMMAND_ONLY;
use super::paths::SettingsPaths;
use super::settings::OPTIONAL_KEYS;
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Checked, Directory, Entry, Expansion, Family, Layout,
    MatcherRule, SettingsForm, Timeouts, Tool, WindowsShell, tool,
};
use super::verdict::{AgentResponse, Verdict, put};

/// The extension, with a placeholder for the commands of its events.
const EXTENSION: &str =
    concat!(include_str!("../extension/start.ts"), include_str!("../extension/pi.ts"));

const TOOLS: &[Tool] = &[
    tool("run_shell_command", "bash"),
    Tool { native: "read_file", foreign: "read", fields: &[("file_path", "path")] },
    Tool { native: "write_file", foreign: "write", fields: &[("file_path", "path")] },
    Tool {
        native: "replace",
        foreign: "edit",
        fields: &[("file_path", "path"), ("old_string", "oldText"), ("new_string", "newText")],
    },
    Tool { native: "grep_search", foreign: "grep", fields: &[("dir_path", "path")] },
    Tool { native: "glob", foreign: "find", fields: &[("dir_path", "path")] },
    Tool { native: "list_directory", foreign: "ls", fields: &[("dir_path", "path")] },
];

const NEXT_STEP: &str = "the extension is loaded when it starts; in a folder that it does not know it may ask whether to \
                       trust it";

pub(super) static PI: Agent = BASE;
pub(super) static OMP: Agent = Agent {
    name: "omp",
    title: "oh-my-pi",
    notes: &[
        "It is pi with events of its own: a refused prompt ends the run before the model is called.",
        "A hook that fails before a tool denies, as a handler that throws does.",
        "Hooks have it go on eight times in a row at most.",
    ],
    events: events::OMP,
    ignores: &[("tool_call", &["context"])],
    entry: Some(Entry {
        file: "extensions/hook.ts",
        in_project: Some(".omp/extensions/hook.ts"),
        new_file: EXTENSION,
        on_windows: WindowsShell::Cmd,
        next_step: NEXT_STEP,
        fields: &[],
        fail_closed: &[],
        consent: None,
    }),
    paths: no_settings_paths(".omp/agent"),
    checked: Some(Checked { version: "18.2.3", date: "2026-11", seen: true }),
    ..BASE
};

/// The paths of an agent without hook files.
const fn no_settings_paths(folder: &'static str) -> SettingsPaths {
    let variable = Some("PI_CODING_AGENT_DIR");
    SettingsPaths { variable, folder, project: &[], user: &[], system: &[], plugins: None }
}

const BASE: Agent = Agent {
    name: "pi",
    title: "pi",
    events: events::PI,
    tools: TOOLS,
    mcp: ("mcp_", "_"),
    base_fields: &[
        (BaseField::Event, "type"),
        (BaseField::Session, "session_id"),
        (BaseField::Transcript, "transcript_path"),
        (BaseField::Cwd, "cwd"),
    ],
    settings: SettingsForm::Both,
    layout: Layout::OBJECT,
    hook_kinds: COMMAND_ONLY,
    http: None,
    comments: Comments::None,
    hook_keys: OPTIONAL_KEYS,
    timeout: Timeouts::new(&["timeout"], 1_000, 60_000),
    shell: &["bash", "-c"],
    variables: &[],
    env_file: None,
    expansion: Expansion::None,
    matcher: MatcherRule::Claude,
    family: Family::Pi,
    directory: Directory::Event,
    accepts_lowercase_initial: false,
    ignores: &[("tool_call", &["context"])],
    entry: Some(Entry {
        file: "extensions/hook.ts",
        in_project: Some(".pi/extensions/hook.ts"),
        new_file: EXTENSION,
        on_windows: WindowsShell::Cmd,
        next_step: NEXT_STEP,
        fields: &[],
        fail_closed: &[],
        consent: None,
    }),
    top_level_denial: None,
    caps_continuations: true,
    paths: no_settings_paths(".pi/agent"),
    is_identified_by_path: false,
    reads_files_of: &[],
    runs_once: false,
    other_form: None,
    sample_answers: &[],
    has_global_switch: false,
    notes: &[
        "Hooks are functions of extensions there. The extension that `hook connect` writes asks `hook bridge`, and does what it answers.",
        "A hook that fails before a tool denies, as a handler that throws does.",
        "To go on after the end of a turn is a message that the extension sends, eight times in a row at most.",
        "A refused tool result is replaced by the reason.",
        "Commands of modules are commands there, such as `/handoff`, and may change the session. Hooks that stay alive may ask pi's user, where it has one.",
    ],
    checked: Some(Checked { version: "0.73.1", date: "2026-11", seen: true }),
    never_asks: &[],
    program: None,
};

/// Reads the value that a handler returned.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    results::read_answer(event, process)
}

/// Renders the response for the extension, which carries it out.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let mut lost = Vec::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "notify", verdict.system_message);
    let flag = |answer: &mut JsonObject, name: &str| answer.insert(name, RawJson::from_bool(true));
    if verdict.stops() {
        flag(&mut answer, "abort");
    }
    match event.name {
        "tool_call" => {
            if refuses {
                flag(&mut answer, "block");
                put(&mut answer, "reason", Some(verdict.reason_or_default()));
            }
            if verdict.asks() {
                flag(&mut answer, "ask");
            }
            if let Some(input) = verdict.tool_input {
                answer.insert("input", input.clone());
            }
            if verdict.additional_context.is_some() {
                lost.push("context before a tool");
            }
        }
        "tool_result" if refuses => {
            answer.insert("content", content::text_part(verdict.reason_or_default()));
            flag(&mut answer, "isError");
        }
        "tool_result" => {
            if let Some(response) = verdict.specific("tool_response") {
                answer.insert("content", content::parts_of(response));
            }
        }
        "input" if refuses => {
            put(&mut answer, "action", Some("handled"));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        "before_agent_start" | "context" if refuses => {
            flag(&mut answer, "block");
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        "context" => match verdict.specific("messages") {
            Some(messages) => answer.insert("messages", messages.clone()),
            None if verdict.specific("llm_request").is_some() => {
                lost.push("messages in the form of requests");
            }
            None => {}
        },
        "session_before_compact" if refuses => flag(&mut answer, "cancel"),
        // A stop lets the turn end.
        "agent_end" | "session_stop" if refuses && !verdict.stops() => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        "agent_end" | "session_stop" => {}
        _ if refuses => lost.push("a refusal there"),
        _ => {}
    }
    if event.name != "tool_call" {
        put(&mut answer, "context", verdict.additional_context);
    }
    AgentResponse { lost, ..AgentResponse::json(&answer) }
}
