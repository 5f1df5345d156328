//! Hooks of VS Code's own agent (Local).

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::HookFailure;
use hook_settings::language::{Ended, ForeignAnswer};

use super::claude::{self, object_on};
use super::kind::COMMANDS;
use super::matching;
use super::places::Places;
use super::table::{
    Agent, AgentEvent, Base, Directory, ExitTwo, Expands, Reach, SettingsForm, Subject, Timeouts,
    Tool, printed, tool,
};
use super::verdict::{Said, Verdict, put, put_specific};
use super::written::Comments;

const fn denying(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const EVENTS: &[AgentEvent] = &[
    denying(AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_call_id", "tool_use_id"),
        ],
        approves: true,
        ..AgentEvent::of("PreToolUse", Event::BeforeTool)
    }),
    denying(AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_response"),
            ("tool_call_id", "tool_use_id"),
        ],
        ..AgentEvent::of("PostToolUse", Event::AfterTool)
    }),
    denying(AgentEvent {
        fields: &[("prompt", "prompt")],
        ..AgentEvent::of("UserPromptSubmit", Event::BeforeAgent)
    }),
    denying(AgentEvent {
        fields: &[("stop_hook_active", "stop_hook_active")],
        missing: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        ..AgentEvent::of("Stop", Event::AfterAgent)
    }),
    denying(AgentEvent {
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        missing: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::of("SubagentStop", Event::SubagentStop)
    }),
    denying(AgentEvent {
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        missing: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::of("SubagentStart", Event::SubagentStart)
    }),
    denying(AgentEvent {
        missing: &[("source", "\"startup\"")],
        ..AgentEvent::of("SessionStart", Event::SessionStart)
    }),
    denying(AgentEvent {
        fields: &[("trigger", "trigger")],
        missing: &[("trigger", "\"auto\"")],
        ..AgentEvent::of("PreCompact", Event::PreCompress)
    }),
];

const FILE_PATH: &[(&str, &str)] = &[("file_path", "filePath")];

pub(super) static AGENT: Agent = Agent {
    name: "vscode",
    title: "VS Code (Local)",
    events: EVENTS,
    tools: &[
        tool("run_shell_command", "run_in_terminal"),
        Tool { ours: "write_file", theirs: "create_file", fields: FILE_PATH },
        Tool {
            ours: "replace",
            theirs: "replace_string_in_file",
            fields: &[
                ("file_path", "filePath"),
                ("old_string", "oldString"),
                ("new_string", "newString"),
            ],
        },
        Tool { ours: "read_file", theirs: "read_file", fields: FILE_PATH },
        tool("apply_patch", "apply_patch"),
        Tool { ours: "list_directory", theirs: "list_dir", fields: &[("dir_path", "path")] },
        Tool { ours: "glob", theirs: "file_search", fields: &[("pattern", "query")] },
        Tool { ours: "grep_search", theirs: "grep_search", fields: &[("pattern", "query")] },
        tool("web_fetch", "fetch_webpage"),
        tool("invoke_agent", "runSubagent"),
        tool("write_todos", "manage_todo_list"),
        tool("replace", "multi_replace_string_in_file"),
        Tool { ours: "replace", theirs: "insert_edit_into_file", fields: FILE_PATH },
        Tool { ours: "replace", theirs: "edit_notebook_file", fields: FILE_PATH },
        tool("run_shell_command", "runTerminalCommand"),
        tool("replace", "editFiles"),
    ],
    mcp: ("mcp_", "_"),
    base: &[
        (Base::Timestamp, "timestamp"),
        (Base::Cwd, "cwd"),
        (Base::Session, "sessionId"),
        (Base::Event, "hookEventName"),
        (Base::Transcript, "transcript_path"),
    ],
    settings: SettingsForm::Both,
    kinds: COMMANDS,
    http: None,
    comments: Comments::AndCommas,
    // Copilot CLI's hooks run, too: `bash` or `powershell`, depending on the system.
    keys: &["windows", "linux", "osx", "bash", "powershell", "cwd", "env"],
    timeout: Timeouts::of(&["timeout", "timeoutSec"], 1_000, 30_000),
    shell: &["/bin/sh", "-c"],
    variables: &[],
    env_file: None,
    expands: Expands::Braces,
    matches: matching::anything,
    answer,
    say,
    directory: Directory::Project,
    takes_any_case: true,
    ignores: &[],
    entry: None,
    top_level: Some("block"),
    caps_continuations: false,
    places: Places {
        variable: None,
        folder: ".copilot",
        project: &[".github/hooks/*.json"],
        user: &["hooks/*.json"],
        system: &[],
        plugins: None,
    },
    is_told_by_place: false,
    runs_too: &[("claude", Reach::All), ("copilot", Reach::All)],
    runs_once: false,
    reads_as_own: None,
    answers: &[
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            "VS Code hooks page (autumn 2026): it approves by itself",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
        printed("PreToolUse", r#"done"#, "VS Code hooks page (autumn 2026): no answer"),
        printed(
            "Stop",
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"go on"}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
    ],
    has_one_switch: false,
    notes: &[
        "Matchers are read and passed over: every hook of an event runs.",
        "What a block at the end of a turn is stands in `hookSpecificOutput`.",
        "Chosen as harness, Copilot, Claude Code and Codex run hooks by their own rules; this page is about VS Code's own agent.",
    ],
};

/// Reads a hook's answer like VS Code.
fn answer(event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    match ended.code {
        Some(0) => {}
        Some(2) => {
            let output = claude::exit_two(event, None, ended.stderr);
            return ForeignAnswer { output, ..ForeignAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    let output = object_on(ended.stdout).map(|fields| of_object(event, &fields));
    ForeignAnswer { output, ..ForeignAnswer::default() }
}

fn of_object(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = HookOutput {
        should_continue: fields.get("continue").and_then(RawJson::to_bool).filter(|it| !it),
        stop_reason: text("stopReason"),
        system_message: text("systemMessage"),
        ..HookOutput::default()
    };
    let specific = fields.get("hookSpecificOutput").and_then(|it| it.to_object().ok());
    let specific = specific.unwrap_or_default();
    claude::take_specific(event, &specific, &mut output);
    // At the end of a turn, the decision is in `hookSpecificOutput`.
    let is_end = matches!(event.name, "Stop" | "SubagentStop");
    let place = if is_end { &specific } else { fields };
    let said = |name: &str| place.get(name).and_then(RawJson::to_text);
    let reason = said("reason").filter(|reason| !reason.is_empty());
    let blocks = said("decision").as_deref() == Some("block") && event.name != "PreToolUse";
    if blocks && (reason.is_some() || !is_end) {
        output.decision = Some(Decision::Deny);
        output.reason = reason;
    }
    output
}

/// Renders the response for VS Code.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "systemMessage", verdict.system_message);
    if verdict.stops() {
        answer.insert("continue", RawJson::from_bool(false));
        put(&mut answer, "stopReason", Some(verdict.why()));
    }
    match event.name {
        "PreToolUse" => specific = verdict.permission(),
        "Stop" | "SubagentStop" if refuses && !verdict.stops() => {
            put(&mut specific, "decision", Some("block"));
            put(&mut specific, "reason", Some(verdict.why()));
        }
        "PostToolUse" if refuses && !verdict.stops() => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.why()));
        }
        // Other events can only be denied by exit code 2.
        _ if refuses && !verdict.stops() => {
            return Said { code: 2, stderr: verdict.why().to_owned(), ..Said::default() };
        }
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context);
    put_specific(&mut answer, event.name, &specific);
    Said::json(&answer)
}
