//! Qwen Code, with the events of Claude Code and the tools of Gemini CLI.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ForeignHook, ProcessOutput};

use super::claude::{self, TOOL_FAILURE, TOOL_RESULT, blocking, tool_event, with_subject};
use super::claude::{apply_specific, read_common_fields};
use super::gemini::GEMINI;
use super::kind::{EventSet, HookKind};
use super::matching;
use super::paths::{Plugins, SettingsPaths};
use super::settings::OPTIONAL_KEYS;
use super::table::{
    Agent, AgentEvent, Checked, Coverage, Entry, Expansion, Family, MatcherRule, Subject, Timeouts,
    Tool, Variable, WindowsShell, sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict, put, put_specific};

const AGENT_FIELDS: &[(&str, &str)] = &[
    ("agent_id", "agent_id"),
    ("agent_type", "agent_type"),
    ("prompt_response", "last_assistant_message"),
    ("stop_hook_active", "stop_hook_active"),
];
const AGENT_MISSING: &[(&str, &str)] = &[("agent_id", "\"\""), ("agent_type", "\"\"")];

const EVENTS: &[AgentEvent] = &[
    tool_event("PreToolUse", Event::BeforeTool),
    AgentEvent {
        coverage: Coverage::Succeeded,
        fields: TOOL_RESULT,
        ..tool_event("PostToolUse", Event::AfterTool)
    },
    AgentEvent {
        fields: TOOL_FAILURE,
        blocks: false,
        ..tool_event("PostToolUseFailure", Event::ToolError)
    },
    blocking(AgentEvent {
        fields: &[("calls", "tool_calls")],
        total_timeout_secs: Some(15),
        ..AgentEvent::new("PostToolBatch", Event::ToolBatch)
    }),
    AgentEvent {
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("suggestions", "permission_suggestions"),
        ],
        approves: true,
        ..tool_event("PermissionRequest", Event::PermissionRequest)
    },
    AgentEvent {
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("reason", "reason")],
        defaults: &[("by", "\"auto\"")],
        blocks: false,
        ..tool_event("PermissionDenied", Event::PermissionDenied)
    },
    claude::PROMPT_SUBMIT,
    claude::PROMPT_EXPANSION,
    claude::STOP,
    blocking(AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: AGENT_FIELDS,
        defaults: AGENT_MISSING,
        ..AgentEvent::new("SubagentStop", Event::SubagentStop)
    }),
    AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        defaults: AGENT_MISSING,
        ..AgentEvent::new("SubagentStart", Event::SubagentStart)
    },
    AgentEvent {
        subject: Subject::Field("error"),
        fields: &[("error", "error"), ("error_details", "error_details")],
        defaults: &[("error", "\"\"")],
        ..AgentEvent::new("StopFailure", Event::TurnFailed)
    },
    AgentEvent {
        subject: Subject::Field("source"),
        fields: &[("source", "source"), ("model", "model")],
        text_is_context: true,
        ..AgentEvent::new("SessionStart", Event::SessionStart)
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        fields: &[("reason", "reason")],
        ..AgentEvent::new("SessionEnd", Event::SessionEnd)
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "custom_instructions")],
        ..AgentEvent::new("PreCompact", Event::PreCompress)
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("summary", "compact_summary")],
        ..AgentEvent::new("PostCompact", Event::PostCompress)
    },
    AgentEvent {
        subject: Subject::Field("notification_type"),
        fields: &[("message", "message"), ("notification_type", "notification_type")],
        ..AgentEvent::new("Notification", Event::Notification)
    },
    AgentEvent::foreign_only("MessageDisplay"),
    AgentEvent::foreign_only("SessionDelete"),
    blocking(AgentEvent::foreign_only("TodoCreated")),
    blocking(AgentEvent::foreign_only("TodoCompleted")),
    with_subject("InstructionsLoaded", "file_path"),
];

const TOOLS: &[Tool] = &[
    tool("replace", "edit"),
    tool("replace", "notebook_edit"),
    Tool { native: "list_directory", foreign: "list_directory", fields: &[("dir_path", "path")] },
    tool("google_web_search", "web_search"),
    tool("write_todos", "todo_write"),
    tool("ask_user", "ask_user_question"),
    tool("invoke_agent", "agent"),
];

/// Further tool names for matchers.
const ALIASES: &[(&str, &[&str])] = &[
    ("run_shell_command", &["Shell", "ShellTool", "Bash"]),
    ("edit", &["Edit", "EditTool", "replace"]),
    ("write_file", &["WriteFile", "WriteFileTool", "Write"]),
    ("read_file", &["ReadFile", "ReadFileTool", "Read"]),
    ("grep_search", &["Grep", "GrepTool", "search_file_content", "SearchFiles"]),
    ("glob", &["Glob", "GlobTool", "FindFiles"]),
    ("list_directory", &["ListFiles", "ListFilesTool", "ReadFolder"]),
    ("web_fetch", &["WebFetch", "WebFetchTool"]),
    ("web_search", &["WebSearch", "WebSearchTool"]),
    ("todo_write", &["TodoList", "TodoListTool", "TodoWrite", "TodoWriteTool"]),
    ("agent", &["Agent", "AgentTool", "task", "Task", "TaskTool"]),
    ("ask_user_question", &["AskUserQuestion", "AskUserQuestionTool"]),
    ("notebook_edit", &["NotebookEdit", "NotebookEditTool"]),
    ("exit_plan_mode", &["ExitPlanMode", "ExitPlanModeTool"]),
    ("skill", &["Skill", "SkillTool"]),
    ("save_memory", &["SaveMemory", "SaveMemoryTool"]),
];

/// Matches like Qwen Code: the exact name, a name in a list, or an expression. An invalid
/// expression matches nothing.
pub(super) fn matches(event: &AgentEvent, hook: &ForeignHook, input: &JsonObject) -> bool {
    let Some(pattern) = matching::pattern(hook).filter(|pattern| *pattern != ".*") else {
        return true;
    };
    let Some(subject) = matching::subject(event, input).filter(|subject| !subject.is_empty())
    else {
        return true;
    };
    let aliases = match event.subject {
        Subject::Tool => aliases_of(&subject),
        _ => &[],
    };
    let is_match = |name: &str| name == subject || aliases.contains(&name);
    if is_match(pattern) {
        return true;
    }
    if !pattern.contains('|') || pattern.starts_with(['^', '(']) {
        return matching::is_match(pattern, &subject);
    }
    let entries: Vec<&str> =
        alternatives(pattern).into_iter().filter(|entry| !entry.is_empty()).collect();
    let matches = |entry: &&str| ["*", ".*"].contains(entry) || is_match(entry);
    entries.iter().any(matches)
        || !entries.is_empty() && matching::is_match(&entries.join("|"), &subject)
}

/// Splits an expression at each `|` outside of groups and classes that is not escaped.
fn alternatives(pattern: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    let (mut is_escaped, mut is_in_class) = (false, false);
    for (index, character) in pattern.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if is_in_class => is_in_class = character != ']',
            '[' => is_in_class = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                parts.push(trimmed(pattern.get(begin..index).unwrap_or_default()));
                begin = index + 1;
            }
            _ => {}
        }
    }
    parts.push(trimmed(pattern.get(begin..).unwrap_or_default()));
    parts
}

/// Trims blanks, except for an escaped one.
fn trimmed(part: &str) -> &str {
    let part = part.trim_start();
    let kept = part.trim_end();
    let backslashes = kept.len() - kept.trim_end_matches('\\').len();
    let escaped = part.get(kept.len()..).and_then(|rest| rest.chars().next());
    match escaped.filter(|_| backslashes % 2 == 1) {
        Some(escaped) => part.get(..kept.len() + escaped.len_utf8()).unwrap_or(kept),
        None => kept,
    }
}

/// Returns further names of a tool for matchers.
fn aliases_of(tool: &str) -> &'static [&'static str] {
    ALIASES.iter().find(|(name, _)| *name == tool).map_or(&[], |(_, others)| others)
}

const KINDS: &[HookKind] = &[
    HookKind::new("command", EventSet::All),
    unsupported("http", "how it says an event to a server is not known here"),
    unsupported("prompt", "it asks a model of its own"),
    unsupported("function", "it is a function of a program that is built on it"),
];

const fn unsupported(name: &'static str, reason: &'static str) -> HookKind {
    HookKind { unsupported_reason: Some(reason), ..HookKind::new(name, EventSet::All) }
}

pub(super) static AGENT: Agent = Agent {
    name: "qwen",
    title: "Qwen Code",
    events: EVENTS,
    tools: TOOLS,
    mcp: ("mcp__", "__"),
    timeout: Timeouts {
        milliseconds_from: Some(1_000),
        ..Timeouts::new(&["timeout"], 1_000, 60_000)
    },
    variables: &[
        ("QWEN_PROJECT_DIR", Variable::Cwd),
        ("GEMINI_PROJECT_DIR", Variable::Cwd),
        ("CLAUDE_PROJECT_DIR", Variable::Cwd),
        ("QWEN_CODE_SESSION_ID", Variable::Session),
    ],
    expansion: Expansion::None,
    matcher: MatcherRule::Qwen,
    family: Family::Qwen,
    ignores: &[(
        "PreToolUse",
        &["a stop: the tool does not run, and the turn goes on", "changed arguments", "context"],
    )],
    entry: Some(Entry {
        file: "settings.json",
        in_project: Some(".qwen/settings.json"),
        new_file: "{}\n",
        on_windows: WindowsShell::Cmd,
        next_step: "Qwen Code reads it by itself when it starts; a project's file only in a folder that it trusts",
        fields: &[],
        fail_closed: &[],
        consent: None,
    }),
    paths: SettingsPaths {
        variable: Some("QWEN_HOME"),
        folder: ".qwen",
        project: &[".qwen/settings.json"],
        user: &["settings.json"],
        system: &["etc/qwen-code/settings.json"],
        plugins: Some(Plugins {
            folders: "extensions/*",
            files: &["hooks/hooks.json"],
            manifest: "qwen-extension.json",
            installed: None,
            enabled: None,
        }),
    },
    notes: &[
        "Standard output is the answer; standard error is it where that is empty, and with exit code 2. An object counts on every exit code.",
        "It hears neither changed arguments nor context before a tool. After a tool only a stop takes the place of the result.",
        "It asks about a prompt once more after each round of tools, with an empty one; `SessionEnd` was never seen.",
        "Matchers may call tools by the names of Claude Code and of its own classes (`Bash`, `ShellTool`).",
    ],
    is_identified_by_path: true,
    hook_kinds: KINDS,
    hook_keys: OPTIONAL_KEYS,
    sample_answers: &[
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            "Qwen Code hooks/types.ts (01ed106f): it lifts no confirmation that is known of",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "Qwen Code hooks/types.ts (01ed106f)",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
            "Qwen Code hooks/types.ts (01ed106f)",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
            "seen in Qwen Code: the tool runs with those of the model",
        ),
        sample_answer(
            "PreToolUse",
            r#"done"#,
            "Qwen Code hooks/types.ts (01ed106f): an allow with a message",
        ),
        sample_answer(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
            "Qwen Code hooks/types.ts (01ed106f): it answers the prompt",
        ),
        sample_answer(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}"#,
            "Qwen Code hooks/types.ts (01ed106f)",
        ),
        sample_answer(
            "Stop",
            r#"{"decision":"block","reason":"go on"}"#,
            "Qwen Code hooks/types.ts (01ed106f)",
        ),
    ],
    checked: Some(Checked { version: "0.24.4", date: "2026-11", seen: true }),
    ..GEMINI
};

/// Checks whether the event is about a tool call that can be denied, allowed or asked about.
fn is_tool_call(event: &AgentEvent) -> bool {
    event.maps_to(Event::BeforeTool)
}

/// Reads a hook's answer like Qwen Code: standard output, or standard error if it is empty or the
/// exit code is 2. An object counts at any code; the meaning of text depends on the code.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    let (stdout, stderr) = (process.stdout.trim(), process.stderr.trim());
    let code = process.code.unwrap_or(1);
    let is_stdout = code != 2 && !stdout.is_empty();
    let text = if is_stdout { stdout } else { stderr };
    let failure = (code != 0 && code != 2).then_some(HookFailure::ExitCode { code });
    if text.is_empty() {
        return ForeignAnswer { failure, ..ForeignAnswer::default() };
    }
    let parsed = RawJson::parse(text).ok().and_then(|value| match value.to_text() {
        // JSON in a JSON string.
        Some(inner) => RawJson::parse(inner).ok(),
        None => Some(value),
    });
    if let Some(fields) = parsed.as_ref().and_then(|value| value.to_object().ok()) {
        let output = Some(read_output(event, &fields));
        return ForeignAnswer { output, failure, ..ForeignAnswer::default() };
    }
    if code == 2 {
        let mut denial = JsonObject::new();
        put(&mut denial, "decision", Some("deny"));
        put(&mut denial, "reason", Some(text));
        let output = Some(read_output(event, &denial));
        return ForeignAnswer { output, ..ForeignAnswer::default() };
    }
    if parsed.is_none() && text.starts_with('{') {
        let reason = "it begins like an object and is no JSON".to_owned();
        let error = InvalidAnswer::new(reason, "Qwen Code takes nothing of it".to_owned());
        let failure = Some(HookFailure::InvalidAnswer(error));
        return ForeignAnswer { failure, ..ForeignAnswer::default() };
    }
    let output = match code {
        0 if is_stdout && event.text_is_context => {
            HookOutput::allow().with_additional_context(text)
        }
        0 => HookOutput::allow().with_system_message(text),
        _ => HookOutput::allow().with_system_message(format!("Warning: {text}")),
    };
    ForeignAnswer { output: Some(output), failure, ..ForeignAnswer::default() }
}

fn read_output(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = read_common_fields(fields);
    let decision = match text("decision").as_deref() {
        Some("block" | "deny") if event.blocks => Some(Decision::Deny),
        Some("ask") if is_tool_call(event) => Some(Decision::Ask),
        Some("allow" | "approve") if is_tool_call(event) => Some(Decision::Allow),
        _ => None,
    };
    output.decision = decision.clone();
    output.reason = text("reason");
    if let Some(specific) =
        fields.get("hookSpecificOutput").and_then(|value| value.to_object().ok())
    {
        apply_specific(event, &specific, &mut output);
        // Qwen Code does not support `defer`.
        let decision_name = specific.get("permissionDecision").and_then(RawJson::to_text);
        if decision_name.as_deref() == Some("defer") {
            output.decision = decision;
        }
    }
    let stops = output.should_continue == Some(false);
    match event.name {
        // After a tool, only a stop refuses, and changed arguments are ignored.
        "PostToolUse" => {
            output.decision = stops.then_some(Decision::Deny);
            output.reason = output.stop_reason.take().or(output.reason);
            output.should_continue = None;
        }
        "PreToolUse" => {
            if let Some(specific) = &mut output.hook_specific_output {
                specific.remove("updatedInput");
                specific.remove("additionalContext");
            }
            if stops && !matches!(output.decision, Some(Decision::Deny | Decision::Ask)) {
                output.decision = Some(Decision::Deny);
                output.reason = output.stop_reason.take().or(output.reason);
            }
            output.should_continue = None;
        }
        // At these events a stop continues the turn.
        "Stop" | "SubagentStop" if stops => {
            output.decision = Some(Decision::Deny);
            output.reason = output.stop_reason.take().or(output.reason);
            output.should_continue = None;
        }
        "UserPromptSubmit" | "UserPromptExpansion" | "PostToolBatch" => {}
        // Other events cannot stop.
        _ => output.should_continue = None,
    }
    output
}

/// Renders the response for Qwen Code: always an object with exit code 0, since Qwen reads standard
/// error if standard output is empty.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    let mut lost = Vec::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "systemMessage", verdict.system_message);
    let stop = |answer: &mut JsonObject| {
        answer.insert("continue", RawJson::from_bool(false));
        put(answer, "stopReason", Some(verdict.reason_or_default()));
    };
    match event.name {
        "PreToolUse" => {
            specific = verdict.permission();
            if verdict.stops() {
                lost.push("a stop before a tool: the tool does not run, and the turn goes on");
            }
            if verdict.tool_input.is_some() && !refuses {
                lost.push("changed arguments: the tool runs with those of the model");
            }
            if verdict.additional_context.is_some() {
                lost.push("context before a tool");
            }
        }
        "PermissionRequest" => {
            let mut decision = JsonObject::new();
            let behavior = match () {
                () if verdict.forbids() => Some("deny"),
                () if verdict.allowed && !verdict.asks() => Some("allow"),
                () => None,
            };
            put(&mut decision, "behavior", behavior);
            put(&mut decision, "message", verdict.reason.filter(|_| verdict.forbids()));
            verdict
                .copy_fields(&["updatedInput", "updatedPermissions", "interrupt"], &mut decision);
            if behavior.is_some() {
                specific.insert("decision", decision.to_raw());
            }
        }
        // After a tool, a block is ignored; a stop replaces the result, and the turn continues.
        "PostToolUse" if refuses => stop(&mut answer),
        // A stop would continue the turn.
        "Stop" | "SubagentStop" if verdict.stops() => {}
        _ if event.blocks && refuses => {
            if verdict.stops() {
                stop(&mut answer);
            }
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        _ if refuses => lost.push("a refusal there"),
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context);
    put_specific(&mut answer, event.name, &specific);
    AgentResponse { stdout: answer.to_raw().as_str().to_owned(), lost, ..AgentResponse::default() }
}
