//! Claude Code.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::kind::{EventSet, HookKind, HttpRules, UnencryptedRequests};
use super::paths::{Plugins, SettingsPaths};
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Checked, Coverage, Directory, Entry, ExitTwo, Expansion, Family,
    Layout, MatcherRule, SettingsForm, Subject, Timeouts, Tool, Variable, WindowsShell,
    sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict, put, put_specific};

const TOOL_CALL: &[(&str, &str)] =
    &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("tool_call_id", "tool_use_id")];
pub(super) const TOOL_RESULT: &[(&str, &str)] = &[
    ("tool_name", "tool_name"),
    ("tool_input", "tool_input"),
    ("tool_response", "tool_response"),
    ("tool_call_id", "tool_use_id"),
    ("duration_ms", "duration_ms"),
];
pub(super) const TOOL_FAILURE: &[(&str, &str)] = &[
    ("tool_name", "tool_name"),
    ("tool_input", "tool_input"),
    ("tool_call_id", "tool_use_id"),
    ("error", "error"),
];

/// An event about a tool, as named by Claude Code and agents with its format.
pub(super) const fn tool_event(name: &'static str, native: Event) -> AgentEvent {
    AgentEvent {
        subject: Subject::Tool,
        fields: TOOL_CALL,
        exit_two: ExitTwo::Denies,
        blocks: true,
        ..AgentEvent::new(name, native)
    }
}

pub(super) const fn with_subject(name: &'static str, field: &'static str) -> AgentEvent {
    AgentEvent { subject: Subject::Field(field), ..AgentEvent::foreign_only(name) }
}

pub(super) const fn blocking(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

/// The events of prompts and of the end of a turn, shared by agents with Claude Code's format.
pub(super) const PROMPT_SUBMIT: AgentEvent = blocking(AgentEvent {
    fields: &[("prompt", "prompt")],
    text_is_context: true,
    ..AgentEvent::new("UserPromptSubmit", Event::BeforeAgent)
});
pub(super) const PROMPT_EXPANSION: AgentEvent = blocking(AgentEvent {
    subject: Subject::Field("command_name"),
    fields: &[
        ("command_name", "command_name"),
        ("command_args", "command_args"),
        ("prompt", "prompt"),
    ],
    text_is_context: true,
    ..AgentEvent::new("UserPromptExpansion", Event::PromptExpansion)
});
pub(super) const STOP: AgentEvent = blocking(AgentEvent {
    fields: &[
        ("prompt_response", "last_assistant_message"),
        ("stop_hook_active", "stop_hook_active"),
    ],
    defaults: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
    ..AgentEvent::new("Stop", Event::AfterAgent)
});

pub(super) const EVENTS: &[AgentEvent] = &[
    // "allow" skips the permission prompt (dialects-2026-11.md, Claude Code).
    AgentEvent { approves: true, ..tool_event("PreToolUse", Event::BeforeTool) },
    AgentEvent {
        coverage: Coverage::Succeeded,
        fields: TOOL_RESULT,
        ..tool_event("PostToolUse", Event::AfterTool)
    },
    AgentEvent { fields: TOOL_FAILURE, ..tool_event("PostToolUseFailure", Event::ToolError) },
    blocking(AgentEvent {
        fields: &[("calls", "tool_calls")],
        ..AgentEvent::new("PostToolBatch", Event::ToolBatch)
    }),
    AgentEvent {
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("suggestions", "permission_suggestions"),
        ],
        exit_two: ExitTwo::Nothing,
        approves: true,
        ..tool_event("PermissionRequest", Event::PermissionRequest)
    },
    AgentEvent {
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("reason", "reason")],
        defaults: &[("by", "\"auto\"")],
        exit_two: ExitTwo::Nothing,
        blocks: false,
        ..tool_event("PermissionDenied", Event::PermissionDenied)
    },
    AgentEvent { timeout: Some(30_000), ..PROMPT_SUBMIT },
    PROMPT_EXPANSION,
    STOP,
    blocking(AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[
            ("agent_id", "agent_id"),
            ("agent_type", "agent_type"),
            ("prompt_response", "last_assistant_message"),
            ("stop_hook_active", "stop_hook_active"),
        ],
        defaults: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::new("SubagentStop", Event::SubagentStop)
    }),
    AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        defaults: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::new("SubagentStart", Event::SubagentStart)
    },
    AgentEvent {
        subject: Subject::Field("error"),
        fields: &[("error", "error"), ("error_details", "error_details")],
        defaults: &[("error", "\"\"")],
        exit_two: ExitTwo::Nothing,
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
        timeout: Some(1_500),
        timeout_cap: Some(60_000),
        ..AgentEvent::new("SessionEnd", Event::SessionEnd)
    },
    blocking(AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "custom_instructions")],
        ..AgentEvent::new("PreCompact", Event::PreCompress)
    }),
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("summary", "compact_summary")],
        ..AgentEvent::new("PostCompact", Event::PostCompress)
    },
    AgentEvent {
        subject: Subject::Field("notification_type"),
        fields: &[("message", "message"), ("notification_type", "notification_type")],
        exit_two: ExitTwo::Nothing,
        ..AgentEvent::new("Notification", Event::Notification)
    },
    with_subject("Setup", "trigger"),
    AgentEvent {
        timeout: Some(10_000),
        exit_two: ExitTwo::Nothing,
        ..AgentEvent::foreign_only("MessageDisplay")
    },
    blocking(AgentEvent::foreign_only("TaskCreated")),
    blocking(AgentEvent::foreign_only("TaskCompleted")),
    blocking(AgentEvent::foreign_only("TeammateIdle")),
    AgentEvent { exit_two: ExitTwo::Nothing, ..with_subject("InstructionsLoaded", "load_reason") },
    blocking(with_subject("ConfigChange", "source")),
    AgentEvent::foreign_only("CwdChanged"),
    AgentEvent { exit_two: ExitTwo::Nothing, ..with_subject("DirectoryAdded", "source") },
    AgentEvent {
        subject: Subject::FileName("file_path"),
        ..AgentEvent::foreign_only("FileChanged")
    },
    blocking(AgentEvent::foreign_only("WorktreeCreate")),
    blocking(AgentEvent::foreign_only("WorktreeRemove")),
    blocking(with_subject("Elicitation", "mcp_server_name")),
    blocking(with_subject("ElicitationResult", "mcp_server_name")),
    AgentEvent {
        timeout: Some(30_000),
        blocks_at_timeout: true,
        ..blocking(with_subject("PreModelSwitch", "to_model"))
    },
    AgentEvent {
        timeout: Some(30_000),
        text_is_context: true,
        ..with_subject("PostModelSwitch", "to_model")
    },
];

/// The native and Claude Code's tool names.
pub(super) const TOOLS: &[Tool] = &[
    tool("run_shell_command", "Bash"),
    tool("write_file", "Write"),
    tool("replace", "Edit"),
    tool("read_file", "Read"),
    tool("glob", "Glob"),
    tool("grep_search", "Grep"),
    Tool { native: "list_directory", foreign: "LS", fields: &[("dir_path", "path")] },
    tool("web_fetch", "WebFetch"),
    tool("google_web_search", "WebSearch"),
    tool("write_todos", "TodoWrite"),
    tool("ask_user", "AskUserQuestion"),
    tool("invoke_agent", "Agent"),
    tool("invoke_agent", "Task"),
    tool("run_shell_command", "PowerShell"),
    tool("replace", "MultiEdit"),
    tool("replace", "NotebookEdit"),
    tool("read_file", "NotebookRead"),
];

/// The fields of every input.
pub(super) const BASE: &[(BaseField, &str)] = &[
    (BaseField::Session, "session_id"),
    (BaseField::Transcript, "transcript_path"),
    (BaseField::Cwd, "cwd"),
    (BaseField::Event, "hook_event_name"),
];

/// Events without `prompt` hooks: the session has no model yet, or the event waits for no answer.
const NO_MODEL: &[&str] = &[
    "SessionStart",
    "Setup",
    "Notification",
    "MessageDisplay",
    "SubagentStart",
    "StopFailure",
    "InstructionsLoaded",
    "ConfigChange",
];
const NO_AGENT: &[&str] = &[
    "SessionStart",
    "Setup",
    "Notification",
    "MessageDisplay",
    "SubagentStart",
    "StopFailure",
    "InstructionsLoaded",
    "ConfigChange",
    "PermissionRequest",
];

const KINDS: &[HookKind] = &[
    HookKind::new("command", EventSet::All),
    HookKind::new("http", EventSet::AllExcept(&["SessionStart", "Setup"])),
    HookKind::new("mcp_tool", EventSet::AllExcept(&["Setup"])),
    HookKind { timeout: Some(30_000), ..HookKind::new("prompt", EventSet::AllExcept(NO_MODEL)) },
    HookKind { timeout: Some(60_000), ..HookKind::new("agent", EventSet::AllExcept(NO_AGENT)) },
];

pub(super) static AGENT: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    events: EVENTS,
    tools: TOOLS,
    mcp: ("mcp__", "__"),
    base_fields: BASE,
    settings: SettingsForm::Groups,
    layout: Layout::OBJECT,
    hook_kinds: KINDS,
    http: Some(HttpRules {
        unencrypted: UnencryptedRequests::Anywhere,
        object_only_events: &["WorktreeCreate"],
    }),
    comments: Comments::None,
    hook_keys: &["args", "async", "asyncRewake", "onFailure", "shell", "if"],
    timeout: Timeouts::new(&["timeout"], 1_000, 600_000),
    shell: &["/bin/sh", "-c"],
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: Some("CLAUDE_ENV_FILE"),
    expansion: Expansion::Braces,
    matcher: MatcherRule::Claude,
    family: Family::Claude,
    directory: Directory::Event,
    accepts_lowercase_initial: false,
    ignores: &[("PermissionRequest", &["an ask"])],
    entry: Some(Entry {
        file: "settings.json",
        in_project: Some(".claude/settings.local.json"),
        new_file: "{}\n",
        on_windows: WindowsShell::None,
        next_step: "Claude Code reads it by itself; in a folder that it does not know it asks once whether to trust it",
        fields: &[],
        fail_closed: &[],
        consent: None,
    }),
    top_level_denial: Some("block"),
    caps_continuations: true,
    paths: SettingsPaths {
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        project: &[".claude/settings.local.json", ".claude/settings.json"],
        user: &["settings.json"],
        system: &[
            "etc/claude-code/managed-settings.json",
            "etc/claude-code/managed-settings.d/*.json",
        ],
        plugins: Some(Plugins {
            folders: "plugins/*",
            files: &["hooks/hooks.json"],
            manifest: ".claude-plugin/plugin.json",
            installed: Some("plugins/installed_plugins.json"),
            enabled: Some("enabledPlugins"),
        }),
    },
    is_identified_by_path: true,
    reads_files_of: &[],
    runs_once: true,
    other_form: None,
    sample_answers: &[
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            "Claude Code hooks reference (2026-08): it skips the permission prompt",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"decision":"approve"}"#,
            "Claude Code hooks reference (2026-08): the older word for it",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
            "Claude Code hooks reference (2026-08): put off until somebody can be asked",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        sample_answer(
            "PreToolUse",
            r#"done"#,
            "Claude Code hooks reference (2026-08): text is for the log",
        ),
        sample_answer(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
            "Claude Code hooks reference (2026-08): it answers the prompt",
        ),
        sample_answer(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        sample_answer(
            "UserPromptSubmit",
            r#"{"decision":"block","reason":"no"}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        sample_answer(
            "UserPromptSubmit",
            r#"done"#,
            "Claude Code hooks reference (2026-08): text is context",
        ),
        sample_answer(
            "Stop",
            r#"{"decision":"block","reason":"go on"}"#,
            "Claude Code hooks reference (2026-08)",
        ),
    ],
    has_global_switch: true,
    notes: &[
        "An object on standard output counts on every exit code; it begins with `{` and ends with `}`. Exit code 2 beats it.",
        "`hookSpecificOutput` must name its event, or nothing of the answer is taken.",
        "A matcher of only letters, digits, `_`, `-`, blanks, `|` and `,` is a list of names; anything else is an expression that is found anywhere. `if` is a permission rule; a command that cannot be parsed matches.",
        "`onFailure: \"block\"` denies where a hook fails; without it a failure, and a timeout, lets things go on, but for a timeout at `PreModelSwitch`, which blocks.",
        "`disableAllHooks` is what the first of these says: the machine's files, a project's local one, its shared one, the user's. It does not reach the machine's hooks from elsewhere, nor, here, the user's from a project's file that was not named. `allowManagedHooksOnly` counts in the machine's. The lists `allowedHttpHookUrls` and `httpHookAllowedEnvVars` of all files are one; that of a project alone holds for its own hooks.",
        "To stop before a tool ends the loop after it, so it is told a denial and a stop.",
        "`WorktreeCreate` answers with a path as the last line; any other exit code than 0 fails it and `WorktreeRemove`.",
        "A failing command is `PostToolUseFailure`, and not `PostToolUse`.",
        "Hooks in the frontmatter of skills, commands and agents, and the modules of plugins, are not read here.",
    ],
    checked: Some(Checked { version: "2.1.330", date: "2026-11", seen: true }),
    never_asks: &[],
    program: None,
};

/// Fields of `hookSpecificOutput` that only Claude Code has.
const OWN_FIELDS: &[&str] = &[
    "sessionTitle",
    "suppressOriginalPrompt",
    "initialUserMessage",
    "watchPaths",
    "reloadSkills",
    "updatedToolOutput",
    "updatedMCPToolOutput",
    "classifierContext",
    "displayContent",
    "retry",
    "action",
    "content",
    "worktreePath",
];

/// Parses standard output as an object, unless it is other text.
pub(super) fn parse_object(stdout: &str) -> Option<JsonObject> {
    let text = stdout.trim();
    let is_object = text.starts_with('{') && text.ends_with('}');
    is_object.then(|| RawJson::parse(text).ok()?.to_object().ok()).flatten()
}

/// Reads a hook's answer like Claude Code: an object at any exit code, text if it counts as
/// context, and exit code 2 as a denial.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    if is_async(process.stdout) {
        return ForeignAnswer::default();
    }
    let object = parse_object(process.stdout);
    let mut answer = match &object {
        Some(fields) => match read_output(event, fields) {
            Ok(output) => ForeignAnswer { output: Some(output), ..ForeignAnswer::default() },
            Err(error) => ForeignAnswer { failure: Some(error), ..ForeignAnswer::default() },
        },
        None => ForeignAnswer::default(),
    };
    match process.code {
        Some(0) if object.is_none() => {
            let text = process.stdout.trim();
            if let Some(path) = text.lines().last().filter(|_| event.name == "WorktreeCreate") {
                let path = RawJson::from_text(path.trim());
                answer.output = Some(HookOutput::default().with_specific("worktreePath", path));
            }
            if event.text_is_context && !text.is_empty() {
                answer.output = Some(HookOutput::default().with_additional_context(text));
            }
        }
        Some(0) => {}
        Some(2) => {
            answer.failure = None;
            answer.output = apply_exit_two(event, answer.output, process.stderr);
        }
        // Any other exit code fails a worktree event; at other events the answer still counts.
        Some(_) if event.name.starts_with("Worktree") => {
            answer.output = Some(HookOutput::deny(stderr_reason(process.stderr)));
        }
        Some(code) if answer.output.is_none() => {
            answer.failure = Some(HookFailure::ExitCode { code })
        }
        _ => {}
    }
    answer
}

/// Checks whether a hook first declares itself asynchronous: then its later output is ignored.
fn is_async(stdout: &str) -> bool {
    let first = stdout.trim_start().lines().next().and_then(parse_object);
    first.is_some_and(|object| object.get("async").and_then(RawJson::to_bool) == Some(true))
}

pub(super) fn stderr_reason(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { "the hook blocks, and does not say why".into() } else { text.to_owned() }
}

/// Applies exit code 2, whatever the object says. The reason is the object's if that denies, too.
pub(super) fn apply_exit_two(
    event: &AgentEvent,
    parsed: Option<HookOutput>,
    stderr: &str,
) -> Option<HookOutput> {
    match event.exit_two {
        ExitTwo::Denies => {
            let mut output = parsed.unwrap_or_default();
            let denies = matches!(output.decision, Some(Decision::Deny | Decision::Block));
            if !denies || output.reason.as_ref().is_none_or(String::is_empty) {
                output.reason = Some(stderr_reason(stderr));
            }
            output.decision = Some(Decision::Deny);
            Some(output)
        }
        ExitTwo::Notifies => {
            let text = stderr.trim();
            let output = parsed.unwrap_or_default();
            Some(if text.is_empty() { output } else { output.with_system_message(text) })
        }
        ExitTwo::Nothing => parsed,
    }
}

/// Converts an answer object to a native output.
///
/// # Errors
/// Returns an error if it names another event: Claude Code then ignores the object.
fn read_output(event: &AgentEvent, fields: &JsonObject) -> Result<HookOutput, HookFailure> {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = read_common_fields(fields);
    match text("decision").as_deref() {
        Some("block") if event.blocks => output.decision = Some(Decision::Deny),
        Some("approve") if event.name == "PreToolUse" => output.decision = Some(Decision::Allow),
        _ => {}
    }
    output.reason = text("reason");
    if let Some(sequence) = fields.get("terminalSequence") {
        output.extra.insert("terminalSequence", sequence.clone());
    }
    let Some(specific) = fields.get("hookSpecificOutput") else { return Ok(output) };
    let specific =
        specific.to_object().map_err(|_| invalid_answer("hookSpecificOutput is no object"))?;
    if specific.get("hookEventName").and_then(RawJson::to_text).as_deref() != Some(event.name) {
        return Err(invalid_answer("hookSpecificOutput.hookEventName is not the event"));
    }
    apply_specific(event, &specific, &mut output);
    Ok(output)
}

/// Reads the top-level fields that all events share.
pub(super) fn read_common_fields(fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    HookOutput {
        should_continue: fields
            .get("continue")
            .and_then(RawJson::to_bool)
            .filter(|proceeds| !proceeds),
        stop_reason: text("stopReason"),
        system_message: text("systemMessage"),
        suppress_output: fields.get("suppressOutput").and_then(RawJson::to_bool),
        ..HookOutput::default()
    }
}

fn invalid_answer(reason: &str) -> HookFailure {
    let hint = "its home takes nothing of such an answer";
    HookFailure::InvalidAnswer(InvalidAnswer::new(reason.to_owned(), hint.to_owned()))
}

/// Applies `hookSpecificOutput` to a native output.
pub(super) fn apply_specific(event: &AgentEvent, specific: &JsonObject, output: &mut HookOutput) {
    let text = |name: &str| specific.get(name).and_then(RawJson::to_text);
    if let Some(decision_name) = text("permissionDecision") {
        let decision = match decision_name.as_str() {
            "deny" => Some(Decision::Deny),
            // `defer` waits until the user can be asked.
            "ask" | "defer" => Some(Decision::Ask),
            "allow" => Some(Decision::Allow),
            _ => None,
        };
        if decision.is_some() {
            output.decision = decision;
            output.reason = text("permissionDecisionReason").or(output.reason.take());
        }
    }
    let mut set = |name: &str, value: RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value);
    };
    if let Some(context) =
        specific.get("additionalContext").filter(|context| context.to_text().is_some())
    {
        set("additionalContext", context.clone());
    }
    // Before a tool, a wrong type is reported when arguments are converted to native names.
    let is_accepted =
        |input: &&RawJson| input.to_object().is_ok() || event.maps_to(Event::BeforeTool);
    if let Some(input) = specific.get("updatedInput").filter(is_accepted) {
        set("updatedInput", input.clone());
    }
    for name in OWN_FIELDS {
        if let Some(value) = specific.get(name) {
            set(name, value.clone());
        }
    }
    if event.name != "PermissionRequest" {
        return;
    }
    let Some(decision) = specific.get("decision").and_then(|decision| decision.to_object().ok())
    else {
        return;
    };
    if let Some(input) = decision.get("updatedInput").filter(|input| input.to_object().is_ok()) {
        set("updatedInput", input.clone());
    }
    for name in ["updatedPermissions", "interrupt"] {
        if let Some(value) = decision.get(name) {
            set(name, value.clone());
        }
    }
    match decision.get("behavior").and_then(RawJson::to_text).as_deref() {
        Some("deny") => {
            output.decision = Some(Decision::Deny);
            output.reason = decision.get("message").and_then(RawJson::to_text);
        }
        Some("allow") => output.decision = Some(Decision::Allow),
        _ => {}
    }
}

/// Renders the response for Claude Code.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    if verdict.stops() {
        answer.insert("continue", RawJson::from_bool(false));
        put(&mut answer, "stopReason", Some(verdict.reason_or_default()));
    }
    put(&mut answer, "systemMessage", verdict.system_message);
    match event.name {
        "PreToolUse" => specific = verdict.permission(),
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
        _ if event.name == "PreModelSwitch" && (verdict.forbids() || verdict.asks()) => {
            let decision_name = if verdict.forbids() { "deny" } else { "ask" };
            put(&mut specific, "permissionDecision", Some(decision_name));
            put(&mut specific, "permissionDecisionReason", Some(verdict.reason_or_default()));
        }
        // Events that cannot ask the user are refused instead.
        _ if event.blocks && (verdict.forbids() && !verdict.stops() || verdict.asks()) => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context);
    verdict.copy_fields(OWN_FIELDS, &mut specific);
    if let Some(sequence) = verdict.extra("terminalSequence") {
        answer.insert("terminalSequence", sequence.clone());
    }
    put_specific(&mut answer, event.name, &specific);
    // These events can only be denied by exit code.
    if matches!(event.name, "TeammateIdle" | "Elicitation" | "ElicitationResult")
        && verdict.forbids()
    {
        return AgentResponse {
            code: 2,
            stderr: verdict.reason_or_default().to_owned(),
            ..AgentResponse::default()
        };
    }
    // The path is the last line of the output.
    if event.name == "WorktreeCreate"
        && let Some(path) = verdict.specific("worktreePath").and_then(RawJson::to_text)
    {
        return AgentResponse { stdout: path, ..AgentResponse::default() };
    }
    if event.name.starts_with("Worktree") && verdict.forbids() {
        return AgentResponse {
            code: 2,
            stderr: verdict.reason_or_default().to_owned(),
            ..AgentResponse::default()
        };
    }
    AgentResponse::json(&answer)
}
