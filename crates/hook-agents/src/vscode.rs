//! Hooks of VS Code's own agent (Local).

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::claude::{self, parse_object};
use super::kind::COMMAND_ONLY;
use super::paths::SettingsPaths;
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Directory, ExitTwo, Expansion, Family, Layout, MatcherRule,
    Reach, SettingsForm, Subject, Timeouts, Tool, sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict, put, put_specific};

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
        ..AgentEvent::new("PreToolUse", Event::BeforeTool)
    }),
    denying(AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_response"),
            ("tool_call_id", "tool_use_id"),
        ],
        ..AgentEvent::new("PostToolUse", Event::AfterTool)
    }),
    denying(AgentEvent {
        fields: &[("prompt", "prompt")],
        ..AgentEvent::new("UserPromptSubmit", Event::BeforeAgent)
    }),
    denying(AgentEvent {
        fields: &[("stop_hook_active", "stop_hook_active")],
        defaults: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        ..AgentEvent::new("Stop", Event::AfterAgent)
    }),
    denying(AgentEvent {
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        defaults: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::new("SubagentStop", Event::SubagentStop)
    }),
    denying(AgentEvent {
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        defaults: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::new("SubagentStart", Event::SubagentStart)
    }),
    denying(AgentEvent {
        defaults: &[("source", "\"startup\"")],
        ..AgentEvent::new("SessionStart", Event::SessionStart)
    }),
    denying(AgentEvent {
        fields: &[("trigger", "trigger")],
        defaults: &[("trigger", "\"auto\"")],
        ..AgentEvent::new("PreCompact", Event::PreCompress)
    }),
];

const FILE_PATH: &[(&str, &str)] = &[("file_path", "filePath")];

pub(super) static AGENT: Agent = Agent {
    name: "vscode",
    title: "VS Code (Local)",
    events: EVENTS,
    tools: &[
        tool("run_shell_command", "run_in_terminal"),
        Tool { native: "write_file", foreign: "create_file", fields: FILE_PATH },
        Tool {
            native: "replace",
            foreign: "replace_string_in_file",
            fields: &[
                ("file_path", "filePath"),
                ("old_string", "oldString"),
                ("new_string", "newString"),
            ],
        },
        Tool { native: "read_file", foreign: "read_file", fields: FILE_PATH },
        tool("apply_patch", "apply_patch"),
        Tool { native: "list_directory", foreign: "list_dir", fields: &[("dir_path", "path")] },
        Tool { native: "glob", foreign: "file_search", fields: &[("pattern", "query")] },
        Tool { native: "grep_search", foreign: "grep_search", fields: &[("pattern", "query")] },
        tool("web_fetch", "fetch_webpage"),
        tool("invoke_agent", "runSubagent"),
        tool("write_todos", "manage_todo_list"),
        tool("replace", "multi_replace_string_in_file"),
        Tool { native: "replace", foreign: "insert_edit_into_file", fields: FILE_PATH },
        Tool { native: "replace", foreign: "edit_notebook_file", fields: FILE_PATH },
        tool("run_shell_command", "runTerminalCommand"),
        tool("replace", "editFiles"),
    ],
    mcp: ("mcp_", "_"),
    base_fields: &[
        (BaseField::Timestamp, "timestamp"),
        (BaseField::Cwd, "cwd"),
        (BaseField::Session, "sessionId"),
        (BaseField::Event, "hookEventName"),
        (BaseField::Transcript, "transcript_path"),
    ],
    settings: SettingsForm::Both,
    layout: Layout::OBJECT,
    hook_kinds: COMMAND_ONLY,
    http: None,
    comments: Comments::AndTrailingCommas,
    // Copilot CLI's hooks run, too: `bash` or `powershell`, depending on the system.
    hook_keys: &["windows", "linux", "osx", "bash", "powershell", "cwd", "env"],
    timeout: Timeouts::new(&["timeout", "timeoutSec"], 1_000, 30_000),
    shell: &["/bin/sh", "-c"],
    variables: &[],
    env_file: None,
    expansion: Expansion::Braces,
    matcher: MatcherRule::All,
    family: Family::Vscode,
    directory: Directory::Project,
    accepts_lowercase_initial: true,
    ignores: &[],
    entry: None,
    top_level_denial: Some("block"),
    caps_continuations: false,
    paths: SettingsPaths {
        variable: None,
        folder: ".copilot",
        project: &[".github/hooks/*.json"],
        user: &["hooks/*.json"],
        system: &[],
        plugins: None,
    },
    is_identified_by_path: false,
    reads_files_of: &[("claude", Reach::All), ("copilot", Reach::All)],
    runs_once: false,
    other_form: None,
    sample_answers: &[
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            "VS Code hooks page (autumn 2026): it approves by itself",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
        sample_answer("PreToolUse", r#"done"#, "VS Code hooks page (autumn 2026): no answer"),
        sample_answer(
            "Stop",
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"go on"}}"#,
            "VS Code hooks page (autumn 2026)",
        ),
    ],
    has_global_switch: false,
    notes: &[
        "Matchers are read and passed over: every hook of an event runs.",
        "What a block at the end of a turn is stands in `hookSpecificOutput`.",
        "Chosen as harness, Copilot, Claude Code and Codex run hooks by their own rules; this page is about VS Code's own agent.",
        "Hooks in the frontmatter of custom agents are not read here.",
    ],
    checked: None,
    never_asks: &[],
    program: None,
};

/// Reads a hook's answer like VS Code.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    match process.code {
        Some(0) => {}
        Some(2) => {
            let output = claude::apply_exit_two(event, None, process.stderr);
            return ForeignAnswer { output, ..ForeignAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    let output = parse_object(process.stdout).map(|fields| read_output(event, &fields));
    ForeignAnswer { output, ..ForeignAnswer::default() }
}

fn read_output(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = HookOutput {
        should_continue: fields
            .get("continue")
            .and_then(RawJson::to_bool)
            .filter(|proceeds| !proceeds),
        stop_reason: text("stopReason"),
        system_message: text("systemMessage"),
        ..HookOutput::default()
    };
    let specific = fields.get("hookSpecificOutput").and_then(|value| value.to_object().ok());
    let specific = specific.unwrap_or_default();
    claude::apply_specific(event, &specific, &mut output);
    // At the end of a turn, the decision is in `hookSpecificOutput`.
    let is_end_of_turn = matches!(event.name, "Stop" | "SubagentStop");
    let holder = if is_end_of_turn { &specific } else { fields };
    let text_in_holder = |name: &str| holder.get(name).and_then(RawJson::to_text);
    let reason = text_in_holder("reason").filter(|reason| !reason.is_empty());
    let blocks =
        text_in_holder("decision").as_deref() == Some("block") && event.name != "PreToolUse";
    if blocks && (reason.is_some() || !is_end_of_turn) {
        output.decision = Some(Decision::Deny);
        output.reason = reason;
    }
    output
}

/// Renders the response for VS Code.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "systemMessage", verdict.system_message);
    if verdict.stops() {
        answer.insert("continue", RawJson::from_bool(false));
        put(&mut answer, "stopReason", Some(verdict.reason_or_default()));
    }
    match event.name {
        "PreToolUse" => specific = verdict.permission(),
        "Stop" | "SubagentStop" if refuses && !verdict.stops() => {
            put(&mut specific, "decision", Some("block"));
            put(&mut specific, "reason", Some(verdict.reason_or_default()));
        }
        "PostToolUse" if refuses && !verdict.stops() => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        // Other events can only be denied by exit code 2.
        _ if refuses && !verdict.stops() => {
            return AgentResponse {
                code: 2,
                stderr: verdict.reason_or_default().to_owned(),
                ..AgentResponse::default()
            };
        }
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context);
    put_specific(&mut answer, event.name, &specific);
    AgentResponse::json(&answer)
}
