//! pi and oh-my-pi: hooks are functions of modules there, which an extension of ours asks for. Their words
//! are those of hooks in the language `omp`, too.

use hook_core::HookEventName as Event;
use hook_core::event::output::{Decision, HookOutput};
use hook_core::language::{Ended, HomeAnswer};
use hook_core::{JsonObject, RawJson};

use super::claude::{object_on, reason};
use super::kind::COMMANDS;
use super::matching;
use super::places::Places;
use super::settings::CONDITIONAL;
use super::table::{
    Agent, AgentEvent, Base, Directory, Entry, Expands, SettingsForm, Subject, Timeouts, Tool, tool,
};
use super::verdict::{Said, Verdict, put};
use super::written::Comments;

/// The extension that asks, with a place for the commands of its events.
const EXTENSION: &str = include_str!("extension.ts");

/// An event that hooks hear, and no extension of ours asks about.
const fn heard(event: AgentEvent) -> AgentEvent {
    AgentEvent { is_asked_elsewhere: true, ..event }
}

const TOOL_CALL: AgentEvent = AgentEvent {
    subject: Subject::Tool,
    fields: &[("tool_name", "toolName"), ("tool_input", "input"), ("tool_call_id", "toolCallId")],
    blocks: true,
    ..AgentEvent::of("tool_call", Event::BeforeTool)
};
const TOOL_RESULT: AgentEvent = AgentEvent {
    subject: Subject::Tool,
    fields: &[
        ("tool_name", "toolName"),
        ("tool_input", "input"),
        ("tool_response", "content"),
        ("tool_call_id", "toolCallId"),
        ("is_error", "isError"),
    ],
    missing: &[("tool_response", "[]")],
    ..AgentEvent::of("tool_result", Event::AfterTool)
};
const INPUT: AgentEvent = AgentEvent {
    fields: &[("prompt", "text")],
    blocks: true,
    ..AgentEvent::of("input", Event::BeforeAgent)
};
const BEFORE_START: AgentEvent = AgentEvent {
    fields: &[("prompt", "prompt")],
    blocks: true,
    ..AgentEvent::of("before_agent_start", Event::BeforeAgent)
};
const SESSION_START: AgentEvent = AgentEvent {
    fields: &[("source", "reason")],
    missing: &[("source", "\"startup\"")],
    ..AgentEvent::of("session_start", Event::SessionStart)
};
const SESSION_END: AgentEvent = AgentEvent {
    fields: &[("reason", "reason")],
    missing: &[("reason", "\"other\"")],
    ..AgentEvent::of("session_shutdown", Event::SessionEnd)
};
const COMPACT: AgentEvent = AgentEvent {
    fields: &[("trigger", "trigger"), ("preparation", "preparation")],
    missing: &[("trigger", "\"auto\"")],
    blocks: true,
    ..AgentEvent::of("session_before_compact", Event::PreCompress)
};

const fn end(name: &'static str) -> AgentEvent {
    AgentEvent {
        fields: &[
            ("prompt", "prompt"),
            ("prompt_response", "last_assistant_message"),
            ("stop_hook_active", "stop_hook_active"),
            ("messages", "messages"),
        ],
        missing: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        blocks: true,
        ..AgentEvent::of(name, Event::AfterAgent)
    }
}

const CONTEXT: AgentEvent = heard(AgentEvent {
    fields: &[("messages", "messages")],
    ..AgentEvent::of("context", Event::BeforeModel)
});
const AGENT_START: AgentEvent = heard(AgentEvent::of("agent_start", Event::AgentStart));
const TURN_START: AgentEvent = heard(AgentEvent {
    fields: &[("turn_index", "turnIndex"), ("turn_timestamp", "timestamp")],
    ..AgentEvent::of("turn_start", Event::TurnStart)
});
const TURN_END: AgentEvent = heard(AgentEvent {
    fields: &[("turn_index", "turnIndex"), ("message", "message"), ("tool_results", "toolResults")],
    ..AgentEvent::of("turn_end", Event::TurnEnd)
});

const PI_EVENTS: &[AgentEvent] = &[
    TOOL_CALL,
    TOOL_RESULT,
    INPUT,
    SESSION_START,
    SESSION_END,
    COMPACT,
    end("agent_end"),
    heard(BEFORE_START),
    CONTEXT,
    AGENT_START,
    TURN_START,
    TURN_END,
];
const OMP_EVENTS: &[AgentEvent] = &[
    TOOL_CALL,
    TOOL_RESULT,
    BEFORE_START,
    SESSION_START,
    SESSION_END,
    COMPACT,
    end("session_stop"),
    heard(end("agent_end")),
    CONTEXT,
    AGENT_START,
    TURN_START,
    TURN_END,
];

const TOOLS: &[Tool] = &[
    tool("run_shell_command", "bash"),
    Tool { ours: "read_file", theirs: "read", fields: &[("file_path", "path")] },
    Tool { ours: "write_file", theirs: "write", fields: &[("file_path", "path")] },
    Tool {
        ours: "replace",
        theirs: "edit",
        fields: &[("file_path", "path"), ("old_string", "oldText"), ("new_string", "newText")],
    },
    Tool { ours: "grep_search", theirs: "grep", fields: &[("dir_path", "path")] },
    Tool { ours: "glob", theirs: "find", fields: &[("dir_path", "path")] },
    Tool { ours: "list_directory", theirs: "ls", fields: &[("dir_path", "path")] },
];

const REMAINS: &str = "the extension is loaded when it starts; in a folder that it does not know it may ask whether to \
                       trust it";

pub(super) static PI: Agent = FAMILY;
pub(super) static OMP: Agent = Agent {
    name: "omp",
    title: "oh-my-pi",
    notes: &[
        "It is pi with events of its own: a refused prompt ends the run before the model is called.",
        "A hook that fails before a tool denies, as a handler that throws does.",
        "Hooks have it go on eight times in a row at most.",
    ],
    events: OMP_EVENTS,
    ignores: &[("tool_call", &["context"])],
    entry: Some(Entry {
        file: "extensions/hook.ts",
        in_project: ".omp/extensions/hook.ts",
        new_file: EXTENSION,
        remains: REMAINS,
        consent: None,
    }),
    places: no_files(".omp/agent"),
    ..FAMILY
};

/// The user's folder of one that keeps no hooks in files.
const fn no_files(folder: &'static str) -> Places {
    let variable = Some("PI_CODING_AGENT_DIR");
    Places { variable, folder, project: &[], user: &[], system: &[], plugins: None }
}

const FAMILY: Agent = Agent {
    name: "pi",
    title: "pi",
    events: PI_EVENTS,
    tools: TOOLS,
    mcp: ("mcp_", "_"),
    base: &[
        (Base::Event, "type"),
        (Base::Session, "session_id"),
        (Base::Transcript, "transcript_path"),
        (Base::Cwd, "cwd"),
    ],
    settings: SettingsForm::Both,
    kinds: COMMANDS,
    http: None,
    comments: Comments::None,
    keys: CONDITIONAL,
    timeout: Timeouts::of(&["timeout"], 1_000, 60_000),
    shell: &["bash", "-c"],
    variables: &[],
    expands: Expands::Never,
    matches: matching::claude,
    answer,
    say,
    directory: Directory::OfEvent,
    takes_any_case: false,
    ignores: &[("tool_call", &["context"])],
    entry: Some(Entry {
        file: "extensions/hook.ts",
        in_project: ".pi/extensions/hook.ts",
        new_file: EXTENSION,
        remains: REMAINS,
        consent: None,
    }),
    caps_continuations: true,
    places: no_files(".pi/agent"),
    is_told_by_place: false,
    runs_too: &[],
    runs_once: false,
    reads_as_own: None,
    has_one_switch: false,
    notes: &[
        "Hooks are functions of extensions there. The extension that `hook connect` writes asks `hook bridge`, and does what it answers.",
        "A hook that fails before a tool denies, as a handler that throws does.",
        "To go on after the end of a turn is a message that the extension sends, eight times in a row at most.",
        "A refused tool result is replaced by the reason.",
    ],
};

/// What a hook has answered in the words of modules: what a handler returns, on standard output. One that
/// fails is a handler that throws, which before a tool is a denial.
fn answer(event: &AgentEvent, ended: &Ended<'_>) -> HomeAnswer {
    match ended.code {
        Some(0) => {
            let output = object_on(ended.stdout).map(|fields| of_object(event, &fields));
            HomeAnswer { output, ..HomeAnswer::default() }
        }
        Some(2) if event.blocks => {
            let output = Some(HookOutput::deny(reason(ended.stderr)));
            HomeAnswer { output, ..HomeAnswer::default() }
        }
        code => {
            let code = code.unwrap_or(1);
            let failure = Some(hook_core::failure::HookFailure::ExitCode { code });
            let is_call = event.is(Event::BeforeTool);
            let output = is_call.then(|| HookOutput::deny(reason(ended.stderr)));
            let failure = failure.filter(|_| !is_call);
            HomeAnswer { output, failure, ..HomeAnswer::default() }
        }
    }
}

fn of_object(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let flag = |name: &str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
    let mut output = HookOutput::default();
    let refuses = match event.name {
        "tool_call" => flag("block"),
        "input" => text("action").as_deref() == Some("handled"),
        "session_stop" => text("decision").as_deref() == Some("block"),
        "session_before_compact" => flag("cancel"),
        _ => false,
    };
    if refuses {
        let none = "Tool execution was blocked by a hook";
        let reason =
            text("reason").or_else(|| (event.name == "tool_call").then(|| none.to_owned()));
        output.decision = Some(Decision::Deny);
        output.reason = reason;
    }
    let mut set = |name: &str, value: RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value);
    };
    match event.name {
        "tool_call" => {
            if let Some(input) = fields.get("input").filter(|it| it.to_object().is_ok()) {
                set("updatedInput", input.clone());
            }
        }
        "tool_result" => {
            if let Some(content) = fields.get("content").filter(|it| it.to_items().is_some()) {
                set("tool_response", content.clone());
            }
        }
        "context" => {
            if let Some(messages) = fields.get("messages").filter(|it| it.to_items().is_some()) {
                set("messages", messages.clone());
            }
        }
        "before_agent_start" => {
            let message = fields.get("message").and_then(|it| it.to_object().ok());
            let content = message.as_ref().and_then(|it| it.get("content")).and_then(text_of);
            if let Some(content) = content {
                set("additionalContext", RawJson::from_text(&content));
            }
        }
        _ => {}
    }
    output
}

/// The text of a message's content: a text, or parts.
fn text_of(content: &RawJson) -> Option<String> {
    let part = |part: RawJson| part.to_object().ok()?.get("text")?.to_text();
    let parts =
        || Some(content.to_items()?.into_iter().filter_map(part).collect::<Vec<_>>().join("\n"));
    content.to_text().or_else(parts)
}

/// What is said to the extension, which does it.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
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
                put(&mut answer, "reason", Some(verdict.why()));
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
            answer.insert("content", parts(verdict.why()));
            flag(&mut answer, "isError");
        }
        "tool_result" => {
            if let Some(response) = verdict.specific("tool_response") {
                answer.insert("content", content_of(response));
            }
        }
        "input" if refuses => {
            put(&mut answer, "action", Some("handled"));
            put(&mut answer, "reason", Some(verdict.why()));
        }
        "before_agent_start" if refuses => {
            flag(&mut answer, "block");
            put(&mut answer, "reason", Some(verdict.why()));
        }
        "session_before_compact" if refuses => flag(&mut answer, "cancel"),
        // To stop is to let it end.
        "agent_end" | "session_stop" if refuses && !verdict.stops() => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.why()));
        }
        "agent_end" | "session_stop" => {}
        _ if refuses => lost.push("a refusal there"),
        _ => {}
    }
    if event.name != "tool_call" {
        put(&mut answer, "context", verdict.additional_context);
    }
    Said { lost, ..Said::json(&answer) }
}

/// One part of text.
fn parts(text: &str) -> RawJson {
    let mut part = JsonObject::new();
    put(&mut part, "type", Some("text"));
    put(&mut part, "text", Some(text));
    RawJson::from_items([&RawJson::from(part.to_raw())])
}

/// The parts of a tool's response: those that it has, or its text as one.
pub(super) fn content_of(response: &RawJson) -> RawJson {
    if response.to_items().is_some() {
        return response.clone();
    }
    let fields = response.to_object().unwrap_or_default();
    if let Some(content) = fields.get("content").filter(|it| it.to_items().is_some()) {
        return content.clone();
    }
    let known = ["text", "llmContent", "output"].iter().filter_map(|name| fields.get(name));
    let text = response.to_text().or_else(|| known.filter_map(RawJson::to_text).next());
    parts(&text.unwrap_or_else(|| response.as_str().to_owned()))
}
