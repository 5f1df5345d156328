//! Cursor.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ForeignHook, ProcessOutput};

use super::claude::{parse_object, stderr_reason};
use super::cursor_values;
use super::kind::{EventSet, HookKind};
use super::matching;
use super::paths::{Plugins, SettingsPaths};
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Coverage, Directory, Entry, ExitTwo, Expansion, Family, Layout,
    MatcherRule, OtherForm, Reach, SettingsForm, Subject, Timeouts, Tool, Variable, WindowsShell,
    sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict, put};

const fn blocking(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const SHELL_ONLY: Coverage = Coverage::Tools(&["run_shell_command"]);

const EVENTS: &[AgentEvent] = &[
    blocking(AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_call_id", "tool_use_id"),
        ],
        ..AgentEvent::new("preToolUse", Event::BeforeTool)
    }),
    blocking(AgentEvent {
        coverage: SHELL_ONLY,
        subject: Subject::Field("command"),
        fields: &[("tool_input.command", "command")],
        foreign_value: Some(cursor_values::shell_field),
        extra_fields: &["sandbox"],
        is_unconnected: true,
        ..AgentEvent::new("beforeShellExecution", Event::BeforeTool)
    }),
    blocking(AgentEvent {
        coverage: Coverage::Mcp,
        subject: Subject::Field("tool_name"),
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input")],
        foreign_value: Some(cursor_values::mcp_field),
        extra_fields: &["mcp_server_name"],
        is_unconnected: true,
        ..AgentEvent::new("beforeMCPExecution", Event::BeforeTool)
    }),
    blocking(AgentEvent {
        coverage: Coverage::Tools(&["read_file"]),
        subject: Subject::Constant("Read"),
        fields: &[("tool_input.file_path", "file_path")],
        foreign_value: Some(cursor_values::file_field),
        extra_fields: &["content", "attachments"],
        is_unconnected: true,
        ..AgentEvent::new("beforeReadFile", Event::BeforeTool)
    }),
    AgentEvent {
        coverage: Coverage::Succeeded,
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_output"),
            ("duration_ms", "duration"),
            ("tool_call_id", "tool_use_id"),
        ],
        foreign_value: Some(cursor_values::result_field),
        ..AgentEvent::new("postToolUse", Event::AfterTool)
    },
    AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("error", "error_message"),
        ],
        foreign_value: Some(cursor_values::result_field),
        extra_fields: &["failure_type", "is_interrupt"],
        ..AgentEvent::new("postToolUseFailure", Event::ToolError)
    },
    AgentEvent {
        coverage: SHELL_ONLY,
        subject: Subject::Field("command"),
        fields: &[
            ("tool_input.command", "command"),
            ("tool_response", "output"),
            ("duration_ms", "duration"),
        ],
        foreign_value: Some(cursor_values::shell_field),
        extra_fields: &["sandbox"],
        defaults: &[("tool_response", "\"\"")],
        is_unconnected: true,
        ..AgentEvent::new("afterShellExecution", Event::AfterTool)
    },
    AgentEvent {
        coverage: Coverage::Mcp,
        subject: Subject::Field("tool_name"),
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "result_json"),
            ("duration_ms", "duration"),
        ],
        foreign_value: Some(cursor_values::mcp_field),
        extra_fields: &["mcp_server_name"],
        defaults: &[("tool_response", "\"\"")],
        is_unconnected: true,
        ..AgentEvent::new("afterMCPExecution", Event::AfterTool)
    },
    AgentEvent {
        coverage: Coverage::Tools(&["replace", "write_file"]),
        subject: Subject::Constant("Write"),
        fields: &[("tool_input.file_path", "file_path"), ("tool_input.edits", "edits")],
        defaults: &[("tool_response", "\"\"")],
        is_unconnected: true,
        ..AgentEvent::new("afterFileEdit", Event::AfterTool)
    },
    blocking(AgentEvent {
        subject: Subject::Constant("UserPromptSubmit"),
        fields: &[("prompt", "prompt")],
        foreign_value: Some(cursor_values::file_field),
        extra_fields: &["attachments"],
        ..AgentEvent::new("beforeSubmitPrompt", Event::BeforeAgent)
    }),
    AgentEvent {
        subject: Subject::Constant("Stop"),
        defaults: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        foreign_value: Some(cursor_values::turn_field),
        extra_fields: &["status", "loop_count"],
        blocks: true,
        loop_limit: Some(5),
        ..AgentEvent::new("stop", Event::AfterAgent)
    },
    blocking(AgentEvent {
        subject: Subject::Field("subagent_type"),
        fields: &[("agent_id", "subagent_id"), ("agent_type", "subagent_type"), ("task", "task")],
        defaults: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::new("subagentStart", Event::SubagentStart)
    }),
    AgentEvent {
        subject: Subject::Field("subagent_type"),
        fields: &[("agent_type", "subagent_type"), ("prompt_response", "summary")],
        defaults: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        foreign_value: Some(cursor_values::turn_field),
        extra_fields: &["status", "loop_count"],
        blocks: true,
        loop_limit: Some(5),
        ..AgentEvent::new("subagentStop", Event::SubagentStop)
    },
    AgentEvent {
        defaults: &[("source", "\"startup\"")],
        foreign_value: Some(cursor_values::session_field),
        extra_fields: &["session_id", "is_background_agent"],
        ..AgentEvent::new("sessionStart", Event::SessionStart)
    },
    AgentEvent {
        fields: &[("duration_ms", "duration_ms")],
        defaults: &[("reason", "\"other\"")],
        foreign_value: Some(cursor_values::session_field),
        extra_fields: &["session_id", "reason", "final_status", "is_background_agent"],
        ..AgentEvent::new("sessionEnd", Event::SessionEnd)
    },
    AgentEvent {
        fields: &[("trigger", "trigger")],
        ..AgentEvent::new("preCompact", Event::PreCompress)
    },
    AgentEvent {
        subject: Subject::Constant("AgentResponse"),
        ..AgentEvent::foreign_only("afterAgentResponse")
    },
    AgentEvent {
        subject: Subject::Constant("AgentThought"),
        ..AgentEvent::foreign_only("afterAgentThought")
    },
    blocking(AgentEvent {
        subject: Subject::Constant("TabRead"),
        ..AgentEvent::foreign_only("beforeTabFileRead")
    }),
    AgentEvent {
        subject: Subject::Constant("TabWrite"),
        ..AgentEvent::foreign_only("afterTabFileEdit")
    },
    AgentEvent::foreign_only("workspaceOpen"),
];

/// Claude Code's form, which Cursor accepts, too.
const CLAUDE_FORM: OtherForm = OtherForm {
    events: &[
        ("PreToolUse", "preToolUse"),
        ("PostToolUse", "postToolUse"),
        ("UserPromptSubmit", "beforeSubmitPrompt"),
        ("Stop", "stop"),
        ("SubagentStop", "subagentStop"),
        ("SessionStart", "sessionStart"),
        ("SessionEnd", "sessionEnd"),
        ("PreCompact", "preCompact"),
    ],
    tools: &[("Bash", "Shell"), ("Edit", "Write")],
    unsupported_tools: &["Glob", "WebFetch", "WebSearch"],
};

const PATH: &[(&str, &str)] = &[("file_path", "path")];
const PATH_AND_CONTENTS: &[(&str, &str)] = &[("file_path", "path"), ("content", "contents")];

const KINDS: &[HookKind] =
    &[HookKind::new("command", EventSet::All), HookKind::new("prompt", EventSet::All)];

pub(super) static AGENT: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    events: EVENTS,
    tools: &[
        tool("run_shell_command", "Shell"),
        tool("read_file", "Read"),
        tool("write_file", "Write"),
        tool("replace", "Write"),
        tool("replace", "StrReplace"),
        // The same tools with the argument names that Cursor's models use.
        Tool { native: "read_file", foreign: "Read", fields: PATH },
        Tool { native: "write_file", foreign: "Write", fields: PATH_AND_CONTENTS },
        Tool { native: "replace", foreign: "StrReplace", fields: PATH },
        tool("delete_file", "Delete"),
        tool("apply_patch", "ApplyPatch"),
        tool("glob", "Glob"),
        tool("list_directory", "LS"),
        tool("web_fetch", "WebFetch"),
        tool("google_web_search", "WebSearch"),
        tool("write_todos", "TodoWrite"),
        tool("grep_search", "Grep"),
        tool("invoke_agent", "Task"),
    ],
    mcp: ("MCP:", ""),
    base_fields: &[
        (BaseField::Session, "conversation_id"),
        (BaseField::Event, "hook_event_name"),
        (BaseField::Roots, "workspace_roots"),
        (BaseField::TranscriptOrNull, "transcript_path"),
        (BaseField::Cwd, "cwd"),
    ],
    settings: SettingsForm::Flat,
    layout: Layout::OBJECT,
    hook_kinds: KINDS,
    http: None,
    comments: Comments::None,
    hook_keys: &["failClosed", "loop_limit"],
    timeout: Timeouts::new(&["timeout"], 1_000, 60_000),
    shell: &["bash", "-c"],
    variables: &[
        ("CURSOR_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CURSOR_VERSION", Variable::InputField("cursor_version")),
        ("CURSOR_USER_EMAIL", Variable::InputField("user_email")),
        ("CURSOR_TRANSCRIPT_PATH", Variable::Transcript),
        ("CURSOR_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: None,
    expansion: Expansion::Braces,
    matcher: MatcherRule::Cursor,
    family: Family::Cursor,
    directory: Directory::File,
    accepts_lowercase_initial: false,
    ignores: &[
        ("preToolUse", &["an ask: it is a denial", "context"]),
        ("beforeReadFile", &["an ask: it is a denial"]),
    ],
    entry: Some(Entry {
        file: "hooks.json",
        in_project: Some(".cursor/hooks.json"),
        new_file: "{\"version\": 1}\t\n",
        on_windows: WindowsShell::PowerShell,
        next_step: "Cursor reads it by itself, in workspaces that it trusts",
        fields: &[],
        fail_closed: &[],
        consent: None,
    }),
    top_level_denial: Some("deny"),
    caps_continuations: true,
    paths: SettingsPaths {
        variable: None,
        folder: ".cursor",
        project: &[".cursor/hooks.json"],
        user: &["hooks.json"],
        system: &["etc/cursor/hooks.json"],
        plugins: Some(Plugins {
            folders: "plugins/*",
            files: &["hooks/hooks.json"],
            manifest: ".cursor-plugin/plugin.json",
            installed: None,
            enabled: None,
        }),
    },
    is_identified_by_path: true,
    reads_files_of: &[("claude", Reach::All)],
    runs_once: false,
    other_form: Some(CLAUDE_FORM),
    sample_answers: &[
        sample_answer(
            "preToolUse",
            r#"{"permission":"allow"}"#,
            "cursor.com/docs/hooks (2026); the CLI asks all the same",
        ),
        sample_answer(
            "preToolUse",
            r#"{"permission":"ask"}"#,
            "cursor.com/docs/hooks (2026): accepted and not enforced",
        ),
        sample_answer("preToolUse", r#"{"permission":"deny"}"#, "cursor.com/docs/hooks (2026)"),
        sample_answer(
            "preToolUse",
            r#"{"updated_input":{"command":"ls"}}"#,
            "cursor.com/docs/hooks (2026)",
        ),
        sample_answer("preToolUse", r#"done"#, "cursor.com/docs/hooks (2026): a failed run"),
        sample_answer(
            "beforeShellExecution",
            r#"{"permission":"allow"}"#,
            "cursor.com/docs/hooks (2026); the CLI asks all the same",
        ),
        sample_answer(
            "beforeShellExecution",
            r#"{"permission":"ask"}"#,
            "cursor.com/docs/hooks (2026)",
        ),
        sample_answer(
            "beforeShellExecution",
            r#"{"permission":"deny"}"#,
            "cursor.com/docs/hooks (2026)",
        ),
        sample_answer("beforeReadFile", r#"{"permission":"deny"}"#, "cursor.com/docs/hooks (2026)"),
        sample_answer(
            "beforeSubmitPrompt",
            r#"{"continue":false}"#,
            "cursor.com/docs/hooks (2026)",
        ),
        sample_answer("stop", r#"{"followup_message":"go on"}"#, "cursor.com/docs/hooks (2026)"),
    ],
    has_global_switch: false,
    notes: &[
        "The same call is asked about as `preToolUse` and as `beforeShellExecution`, `beforeMCPExecution` or `beforeReadFile`; `hook connect` writes the first. Hooks of all of them run.",
        "Exit code 2 denies; any other is a failure, which `failClosed` makes a denial.",
        "Matchers are expressions; some events are compared with a word that is always the same.",
        "Hooks of the user's run in `~/.cursor`.",
        "A message may be written `userMessage` and `agentMessage`, as in 1.7.",
        "Groups under Claude Code's names of events are its own, too: matchers may name tools as Claude Code does, no loop limit holds, and matchers that name `Glob`, `WebFetch` or `WebSearch` are passed over.",
    ],
    checked: None,
    never_asks: &[],
    program: None,
};

/// Matches by an expression. In Claude Code's form, tools also have Claude's names.
pub(super) fn matches(event: &AgentEvent, hook: &ForeignHook, input: &JsonObject) -> bool {
    let (Some(pattern), Some(subject)) = (matching::pattern(hook), matching::subject(event, input))
    else {
        return true;
    };
    let is_other_form = hook.event != event.name && event.subject == Subject::Tool;
    let aliases = CLAUDE_FORM
        .tools
        .iter()
        .filter(|(_, cursor_name)| is_other_form && *cursor_name == subject);
    let names = aliases.map(|(foreign, _)| *foreign);
    names.chain([subject.as_str()]).any(|subject| matching::is_match_or_literal(pattern, subject))
}

/// Checks whether the event's answers have `permission`.
fn has_permission(event: &AgentEvent) -> bool {
    matches!(
        event.name,
        "preToolUse"
            | "beforeShellExecution"
            | "beforeMCPExecution"
            | "beforeReadFile"
            | "beforeTabFileRead"
            | "subagentStart"
    )
}

/// Reads a hook's answer like Cursor: an object at exit code 0, a denial at exit code 2. Anything
/// else is a failure.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    match process.code {
        Some(0) => {}
        Some(2) if event.exit_two == ExitTwo::Denies => {
            let parsed = parse_object(process.stdout).map(|fields| read_output(event, &fields));
            let mut output = parsed.unwrap_or_default();
            if output.decision != Some(Decision::Deny) || output.reason.is_none() {
                output.reason = Some(stderr_reason(process.stderr));
            }
            output.decision = Some(Decision::Deny);
            return ForeignAnswer { output: Some(output), ..ForeignAnswer::default() };
        }
        Some(2) => return ForeignAnswer::default(),
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    if process.stdout.trim().is_empty() {
        return ForeignAnswer::default();
    }
    match parse_object(process.stdout) {
        Some(fields) => {
            ForeignAnswer { output: Some(read_output(event, &fields)), ..ForeignAnswer::default() }
        }
        None => {
            let hint = "Cursor takes nothing of such an answer".to_owned();
            let error = InvalidAnswer::new("standard output is no object".to_owned(), hint);
            let failure = Some(HookFailure::InvalidAnswer(error));
            ForeignAnswer { failure, ..ForeignAnswer::default() }
        }
    }
}

fn read_output(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| fields.get(name));
        values.find_map(RawJson::to_text)
    };
    let mut output = HookOutput::default();
    let specific = fields.get("hookSpecificOutput").and_then(|value| value.to_object().ok());
    // In Claude Code's form, the reason is for the user.
    let claude_reason =
        specific.as_ref().and_then(|value| value.get("permissionDecisionReason")?.to_text());
    let user_message = text(&["user_message", "userMessage"]);
    let user_message = user_message.or(claude_reason.filter(|_| has_permission(event)));
    let agent_message = text(&["agent_message", "agentMessage"]);
    let claude_permission =
        specific.as_ref().and_then(|value| value.get("permissionDecision")?.to_text());
    if has_permission(event) {
        let permission = text(&["permission"]).or(claude_permission);
        output.decision = match permission.as_deref() {
            Some("deny") => Some(Decision::Deny),
            // Cursor cannot ask about a subagent, and refuses it.
            Some("ask") if event.name == "subagentStart" => Some(Decision::Deny),
            Some("ask") if event.name != "preToolUse" => Some(Decision::Ask),
            Some("allow") => Some(Decision::Allow),
            _ => None,
        };
        output.reason = agent_message.clone().or_else(|| user_message.clone());
    } else if event.name == "beforeSubmitPrompt" {
        if fields.get("continue").and_then(RawJson::to_bool) == Some(false) {
            output.decision = Some(Decision::Deny);
            output.reason.clone_from(&user_message);
        }
    } else if matches!(event.name, "stop" | "subagentStop") {
        // Claude Code's fields, at the top level or in `hookSpecificOutput`.
        let claude_follow_up = |fields: &JsonObject| {
            let decision = fields.get("decision").and_then(RawJson::to_text);
            let reason = fields.get("reason").and_then(RawJson::to_text);
            reason.filter(|_| decision.as_deref() == Some("block"))
        };
        let message = text(&["followup_message", "followupMessage"]);
        let message = message.or_else(|| claude_follow_up(fields));
        let message = message.or_else(|| specific.as_ref().and_then(claude_follow_up));
        if let Some(message) = message.filter(|message| !message.trim().is_empty()) {
            output.decision = Some(Decision::Deny);
            output.reason = Some(message);
        }
    }
    let mut set = |name: &str, value: &RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value.clone());
    };
    let claude_updated = specific.as_ref().and_then(|value| value.get("updatedInput"));
    let updated = fields.get("updated_input").or(claude_updated);
    if let Some(updated) = updated.filter(|_| event.name == "preToolUse") {
        set("updatedInput", updated);
    }
    let context = fields.get("additional_context").filter(|context| context.to_text().is_some());
    if let Some(context) = context.filter(|_| matches!(event.name, "postToolUse" | "sessionStart"))
    {
        set("additionalContext", context);
    }
    if let Some(env) = fields.get("env").filter(|_| event.name == "sessionStart") {
        set("env", env);
    }
    for (name, event_name) in
        [("updated_mcp_tool_output", "postToolUse"), ("pluginPaths", "workspaceOpen")]
    {
        if let Some(value) = fields.get(name).filter(|_| event.name == event_name) {
            set(name, value);
        }
    }
    for (name, value) in [("user_message", &user_message), ("agent_message", &agent_message)] {
        if let Some(value) = value {
            set(name, &RawJson::from_text(value));
        }
    }
    output
}

/// Renders the response for Cursor.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    if has_permission(event) {
        // Cursor ignores an ask before a tool, and before a file is read.
        let can_ask = matches!(event.name, "beforeShellExecution" | "beforeMCPExecution");
        let permission = match () {
            () if verdict.forbids() || verdict.asks() && !can_ask => Some("deny"),
            // Only `preToolUse` can change arguments; the tool must not run unchanged.
            () if verdict.tool_input.is_some() && event.name != "preToolUse" => Some("deny"),
            () if verdict.asks() => Some("ask"),
            () if verdict.allowed => Some("allow"),
            () => None,
        };
        put(&mut answer, "permission", permission);
        if let Some(input) = verdict.tool_input.filter(|_| event.name == "preToolUse" && !refuses) {
            answer.insert("updated_input", input.clone());
        }
        if refuses {
            insert_messages(&mut answer, verdict);
        }
    } else if event.name == "beforeSubmitPrompt" {
        if refuses {
            answer.insert("continue", RawJson::from_bool(false));
            put(&mut answer, "user_message", Some(verdict.reason_or_default()));
        }
    } else if matches!(event.name, "stop" | "subagentStop") && refuses && !verdict.stops() {
        put(&mut answer, "followup_message", Some(verdict.reason_or_default()));
    }
    if matches!(event.name, "postToolUse" | "sessionStart") {
        put(&mut answer, "additional_context", verdict.additional_context);
        // A result cannot be refused, so the model gets the reason as context.
        if refuses && verdict.additional_context.is_none() {
            put(&mut answer, "additional_context", Some(verdict.reason_or_default()));
        }
    }
    let own_fields: &[&str] = match event.name {
        "sessionStart" => &["env"],
        "postToolUse" => &["updated_mcp_tool_output"],
        "workspaceOpen" => &["pluginPaths"],
        "preCompact" => &["user_message"],
        _ => &[],
    };
    verdict.copy_fields(own_fields, &mut answer);
    AgentResponse::json(&answer)
}

/// Adds the messages of a refusal. Cursor's own hooks have separate ones for the user and the
/// model; they are used if one is the whole reason. Otherwise both get the reason.
fn insert_messages(answer: &mut JsonObject, verdict: &Verdict<'_>) {
    let names = ["user_message", "agent_message"];
    let own_messages = names.map(|name| verdict.specific(name));
    let is_reason =
        |message: &&RawJson| message.to_text().as_deref() == Some(verdict.reason_or_default());
    let has_whole_reason = own_messages.iter().flatten().any(is_reason);
    for (name, message) in names.into_iter().zip(own_messages) {
        match message {
            Some(message) if has_whole_reason => answer.insert(name, message.clone()),
            None if has_whole_reason => {}
            _ => put(answer, name, Some(verdict.reason_or_default())),
        }
    }
}
