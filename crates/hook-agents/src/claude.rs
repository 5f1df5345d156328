//! Claude Code.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignAnswer};

use super::kind::{At, HttpRules, Kind, Plain};
use super::matching;
use super::places::{Places, Plugins};
use super::table::{
    Agent, AgentEvent, Base, Directory, Entry, ExitTwo, Expands, Part, SettingsForm, Subject,
    Timeouts, Tool, Variable, printed, tool,
};
use super::verdict::{Said, Verdict, put, put_specific};
use super::written::Comments;

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
pub(super) const fn about_tool(name: &'static str, ours: Event) -> AgentEvent {
    AgentEvent {
        subject: Subject::Tool,
        fields: TOOL_CALL,
        exit_two: ExitTwo::Denies,
        blocks: true,
        ..AgentEvent::of(name, ours)
    }
}

pub(super) const fn compared(name: &'static str, field: &'static str) -> AgentEvent {
    AgentEvent { subject: Subject::Field(field), ..AgentEvent::own(name) }
}

pub(super) const fn blocking(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

/// The events of prompts and of the end of a turn, shared by agents with Claude Code's format.
pub(super) const PROMPT_SUBMIT: AgentEvent = blocking(AgentEvent {
    fields: &[("prompt", "prompt")],
    plain_is_context: true,
    ..AgentEvent::of("UserPromptSubmit", Event::BeforeAgent)
});
pub(super) const PROMPT_EXPANSION: AgentEvent = blocking(AgentEvent {
    subject: Subject::Field("command_name"),
    fields: &[
        ("command_name", "command_name"),
        ("command_args", "command_args"),
        ("prompt", "prompt"),
    ],
    plain_is_context: true,
    ..AgentEvent::of("UserPromptExpansion", Event::PromptExpansion)
});
pub(super) const STOP: AgentEvent = blocking(AgentEvent {
    fields: &[
        ("prompt_response", "last_assistant_message"),
        ("stop_hook_active", "stop_hook_active"),
    ],
    missing: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
    ..AgentEvent::of("Stop", Event::AfterAgent)
});

const EVENTS: &[AgentEvent] = &[
    // "allow" skips the permission prompt (dialects-2026-11.md, Claude Code).
    AgentEvent { approves: true, ..about_tool("PreToolUse", Event::BeforeTool) },
    AgentEvent {
        part: Part::Succeeded,
        fields: TOOL_RESULT,
        ..about_tool("PostToolUse", Event::AfterTool)
    },
    AgentEvent { fields: TOOL_FAILURE, ..about_tool("PostToolUseFailure", Event::ToolError) },
    blocking(AgentEvent {
        fields: &[("calls", "tool_calls")],
        ..AgentEvent::of("PostToolBatch", Event::ToolBatch)
    }),
    AgentEvent {
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("suggestions", "permission_suggestions"),
        ],
        exit_two: ExitTwo::Nothing,
        approves: true,
        ..about_tool("PermissionRequest", Event::PermissionRequest)
    },
    AgentEvent {
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("reason", "reason")],
        missing: &[("by", "\"auto\"")],
        exit_two: ExitTwo::Nothing,
        blocks: false,
        ..about_tool("PermissionDenied", Event::PermissionDenied)
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
        missing: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::of("SubagentStop", Event::SubagentStop)
    }),
    AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        missing: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::of("SubagentStart", Event::SubagentStart)
    },
    AgentEvent {
        subject: Subject::Field("error"),
        fields: &[("error", "error"), ("error_details", "error_details")],
        missing: &[("error", "\"\"")],
        exit_two: ExitTwo::Nothing,
        ..AgentEvent::of("StopFailure", Event::TurnFailed)
    },
    AgentEvent {
        subject: Subject::Field("source"),
        fields: &[("source", "source"), ("model", "model")],
        plain_is_context: true,
        ..AgentEvent::of("SessionStart", Event::SessionStart)
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        fields: &[("reason", "reason")],
        timeout: Some(1_500),
        timeout_cap: Some(60_000),
        ..AgentEvent::of("SessionEnd", Event::SessionEnd)
    },
    blocking(AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "custom_instructions")],
        ..AgentEvent::of("PreCompact", Event::PreCompress)
    }),
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("summary", "compact_summary")],
        ..AgentEvent::of("PostCompact", Event::PostCompress)
    },
    AgentEvent {
        subject: Subject::Field("notification_type"),
        fields: &[("message", "message"), ("notification_type", "notification_type")],
        exit_two: ExitTwo::Nothing,
        ..AgentEvent::of("Notification", Event::Notification)
    },
    compared("Setup", "trigger"),
    AgentEvent {
        timeout: Some(10_000),
        exit_two: ExitTwo::Nothing,
        ..AgentEvent::own("MessageDisplay")
    },
    blocking(AgentEvent::own("TaskCreated")),
    blocking(AgentEvent::own("TaskCompleted")),
    blocking(AgentEvent::own("TeammateIdle")),
    AgentEvent { exit_two: ExitTwo::Nothing, ..compared("InstructionsLoaded", "load_reason") },
    blocking(compared("ConfigChange", "source")),
    AgentEvent::own("CwdChanged"),
    AgentEvent { exit_two: ExitTwo::Nothing, ..compared("DirectoryAdded", "source") },
    AgentEvent { subject: Subject::FileName("file_path"), ..AgentEvent::own("FileChanged") },
    blocking(AgentEvent::own("WorktreeCreate")),
    blocking(AgentEvent::own("WorktreeRemove")),
    blocking(compared("Elicitation", "mcp_server_name")),
    blocking(compared("ElicitationResult", "mcp_server_name")),
    AgentEvent {
        timeout: Some(30_000),
        blocks_at_timeout: true,
        ..blocking(compared("PreModelSwitch", "to_model"))
    },
    AgentEvent {
        timeout: Some(30_000),
        plain_is_context: true,
        ..compared("PostModelSwitch", "to_model")
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
    Tool { ours: "list_directory", theirs: "LS", fields: &[("dir_path", "path")] },
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
pub(super) const BASE: &[(Base, &str)] = &[
    (Base::Session, "session_id"),
    (Base::Transcript, "transcript_path"),
    (Base::Cwd, "cwd"),
    (Base::Event, "hook_event_name"),
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

const KINDS: &[Kind] = &[
    Kind::new("command", At::All),
    Kind::new("http", At::AllBut(&["SessionStart", "Setup"])),
    Kind::new("mcp_tool", At::AllBut(&["Setup"])),
    Kind { timeout: Some(30_000), ..Kind::new("prompt", At::AllBut(NO_MODEL)) },
    Kind { timeout: Some(60_000), ..Kind::new("agent", At::AllBut(NO_AGENT)) },
];

pub(super) static AGENT: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    events: EVENTS,
    tools: TOOLS,
    mcp: ("mcp__", "__"),
    base: BASE,
    settings: SettingsForm::Groups,
    kinds: KINDS,
    http: Some(HttpRules { plain: Plain::Everywhere, text_is_nothing_at: &["WorktreeCreate"] }),
    comments: Comments::None,
    keys: &["args", "async", "asyncRewake", "onFailure", "shell", "if"],
    timeout: Timeouts::of(&["timeout"], 1_000, 600_000),
    shell: &["/bin/sh", "-c"],
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: Some("CLAUDE_ENV_FILE"),
    expands: Expands::Braces,
    matches: matching::claude,
    answer,
    say,
    directory: Directory::OfEvent,
    takes_any_case: false,
    ignores: &[("PermissionRequest", &["an ask"])],
    entry: Some(Entry {
        file: "settings.json",
        in_project: ".claude/settings.local.json",
        new_file: "{}\n",
        remains: "Claude Code reads it by itself; in a folder that it does not know it asks once whether to trust it",
        consent: None,
    }),
    top_level: Some("block"),
    caps_continuations: true,
    places: Places {
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
    is_told_by_place: true,
    runs_too: &[],
    runs_once: true,
    reads_as_own: None,
    answers: &[
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            "Claude Code hooks reference (2026-08): it skips the permission prompt",
        ),
        printed(
            "PreToolUse",
            r#"{"decision":"approve"}"#,
            "Claude Code hooks reference (2026-08): the older word for it",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
            "Claude Code hooks reference (2026-08): put off until somebody can be asked",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        printed(
            "PreToolUse",
            r#"done"#,
            "Claude Code hooks reference (2026-08): text is for the log",
        ),
        printed(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
            "Claude Code hooks reference (2026-08): it answers the prompt",
        ),
        printed(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        printed(
            "UserPromptSubmit",
            r#"{"decision":"block","reason":"no"}"#,
            "Claude Code hooks reference (2026-08)",
        ),
        printed(
            "UserPromptSubmit",
            r#"done"#,
            "Claude Code hooks reference (2026-08): text is context",
        ),
        printed(
            "Stop",
            r#"{"decision":"block","reason":"go on"}"#,
            "Claude Code hooks reference (2026-08)",
        ),
    ],
    has_one_switch: true,
    notes: &[
        "An object on standard output counts on every exit code; it begins with `{` and ends with `}`. Exit code 2 beats it.",
        "`hookSpecificOutput` must name its event, or nothing of the answer is taken.",
        "A matcher of only letters, digits, `_`, `-`, blanks, `|` and `,` is a list of names; anything else is an expression that is found anywhere. `if` is a permission rule; a command that cannot be parsed matches.",
        "`onFailure: \"block\"` denies where a hook fails; without it a failure, and a timeout, lets things go on, but for a timeout at `PreModelSwitch`, which blocks.",
        "`disableAllHooks` is what the first of these says: the machine's files, a project's local one, its shared one, the user's. It does not reach the machine's hooks from elsewhere, nor, here, the user's from a project's file that was not named. `allowManagedHooksOnly` counts in the machine's. The lists `allowedHttpHookUrls` and `httpHookAllowedEnvVars` of all files are one; that of a project alone holds for its own hooks.",
        "To stop before a tool ends the loop after it, so it is told a denial and a stop.",
        "`WorktreeCreate` answers with a path as the last line; any other exit code than 0 fails it and `WorktreeRemove`.",
        "A failing command is `PostToolUseFailure`, and not `PostToolUse`.",
    ],
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
pub(super) fn object_on(stdout: &str) -> Option<JsonObject> {
    let text = stdout.trim();
    let is_object = text.starts_with('{') && text.ends_with('}');
    is_object.then(|| RawJson::parse(text).ok()?.to_object().ok()).flatten()
}

/// Reads a hook's answer like Claude Code: an object at any exit code, text if it counts as
/// context, and exit code 2 as a denial.
pub(super) fn answer(event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    if goes_on_alone(ended.stdout) {
        return ForeignAnswer::default();
    }
    let object = object_on(ended.stdout);
    let mut read = match &object {
        Some(fields) => match of_object(event, fields) {
            Ok(output) => ForeignAnswer { output: Some(output), ..ForeignAnswer::default() },
            Err(wrong) => ForeignAnswer { failure: Some(wrong), ..ForeignAnswer::default() },
        },
        None => ForeignAnswer::default(),
    };
    match ended.code {
        Some(0) if object.is_none() => {
            let text = ended.stdout.trim();
            if let Some(path) = text.lines().last().filter(|_| event.name == "WorktreeCreate") {
                let path = RawJson::from_text(path.trim());
                read.output = Some(HookOutput::default().with_specific("worktreePath", path));
            }
            if event.plain_is_context && !text.is_empty() {
                read.output = Some(HookOutput::default().with_additional_context(text));
            }
        }
        Some(0) => {}
        Some(2) => {
            read.failure = None;
            read.output = exit_two(event, read.output, ended.stderr);
        }
        // Any other exit code fails a worktree event; at other events the answer still counts.
        Some(_) if event.name.starts_with("Worktree") => {
            read.output = Some(HookOutput::deny(reason(ended.stderr)));
        }
        Some(code) if read.output.is_none() => read.failure = Some(HookFailure::ExitCode { code }),
        _ => {}
    }
    read
}

/// Checks whether a hook first declares itself asynchronous: then its later output is ignored.
fn goes_on_alone(stdout: &str) -> bool {
    let first = stdout.trim_start().lines().next().and_then(object_on);
    first.is_some_and(|it| it.get("async").and_then(RawJson::to_bool) == Some(true))
}

pub(super) fn reason(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { "the hook blocks, and does not say why".into() } else { text.to_owned() }
}

/// Applies exit code 2, whatever the object says. The reason is the object's if that denies, too.
pub(super) fn exit_two(
    event: &AgentEvent,
    said: Option<HookOutput>,
    stderr: &str,
) -> Option<HookOutput> {
    match event.exit_two {
        ExitTwo::Denies => {
            let mut output = said.unwrap_or_default();
            let denies = matches!(output.decision, Some(Decision::Deny | Decision::Block));
            if !denies || output.reason.as_ref().is_none_or(String::is_empty) {
                output.reason = Some(reason(stderr));
            }
            output.decision = Some(Decision::Deny);
            Some(output)
        }
        ExitTwo::Tells => {
            let text = stderr.trim();
            let output = said.unwrap_or_default();
            Some(if text.is_empty() { output } else { output.with_system_message(text) })
        }
        ExitTwo::Nothing => said,
    }
}

/// Converts an answer object to a native output.
///
/// # Errors
/// Returns an error if it names another event: Claude Code then ignores the object.
fn of_object(event: &AgentEvent, fields: &JsonObject) -> Result<HookOutput, HookFailure> {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = take_top(fields);
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
    let specific = specific.to_object().map_err(|_| wrong("hookSpecificOutput is no object"))?;
    if specific.get("hookEventName").and_then(RawJson::to_text).as_deref() != Some(event.name) {
        return Err(wrong("hookSpecificOutput.hookEventName is not the event"));
    }
    take_specific(event, &specific, &mut output);
    Ok(output)
}

/// Reads the top-level fields that all events share.
pub(super) fn take_top(fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    HookOutput {
        should_continue: fields.get("continue").and_then(RawJson::to_bool).filter(|it| !it),
        stop_reason: text("stopReason"),
        system_message: text("systemMessage"),
        suppress_output: fields.get("suppressOutput").and_then(RawJson::to_bool),
        ..HookOutput::default()
    }
}

fn wrong(reason: &str) -> HookFailure {
    let hint = "its home takes nothing of such an answer";
    HookFailure::InvalidAnswer(InvalidAnswer::new(reason.to_owned(), hint.to_owned()))
}

/// Applies `hookSpecificOutput` to a native output.
pub(super) fn take_specific(event: &AgentEvent, specific: &JsonObject, output: &mut HookOutput) {
    let text = |name: &str| specific.get(name).and_then(RawJson::to_text);
    if let Some(word) = text("permissionDecision") {
        let decision = match word.as_str() {
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
    if let Some(context) = specific.get("additionalContext").filter(|it| it.to_text().is_some()) {
        set("additionalContext", context.clone());
    }
    // Before a tool, a wrong type is reported when arguments are converted to native names.
    let can_be = |it: &&RawJson| it.to_object().is_ok() || event.is(Event::BeforeTool);
    if let Some(input) = specific.get("updatedInput").filter(can_be) {
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
    let Some(decided) = specific.get("decision").and_then(|it| it.to_object().ok()) else { return };
    if let Some(input) = decided.get("updatedInput").filter(|it| it.to_object().is_ok()) {
        set("updatedInput", input.clone());
    }
    for name in ["updatedPermissions", "interrupt"] {
        if let Some(value) = decided.get(name) {
            set(name, value.clone());
        }
    }
    match decided.get("behavior").and_then(RawJson::to_text).as_deref() {
        Some("deny") => {
            output.decision = Some(Decision::Deny);
            output.reason = decided.get("message").and_then(RawJson::to_text);
        }
        Some("allow") => output.decision = Some(Decision::Allow),
        _ => {}
    }
}

/// Renders the response for Claude Code.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    if verdict.stops() {
        answer.insert("continue", RawJson::from_bool(false));
        put(&mut answer, "stopReason", Some(verdict.why()));
    }
    put(&mut answer, "systemMessage", verdict.system_message);
    match event.name {
        "PreToolUse" => specific = verdict.permission(),
        "PermissionRequest" => {
            let mut decision = JsonObject::new();
            let word = match () {
                () if verdict.forbids() => Some("deny"),
                () if verdict.allowed && !verdict.asks() => Some("allow"),
                () => None,
            };
            put(&mut decision, "behavior", word);
            put(&mut decision, "message", verdict.reason.filter(|_| verdict.forbids()));
            verdict.copy(&["updatedInput", "updatedPermissions", "interrupt"], &mut decision);
            if word.is_some() {
                specific.insert("decision", decision.to_raw());
            }
        }
        _ if event.name == "PreModelSwitch" && (verdict.forbids() || verdict.asks()) => {
            let word = if verdict.forbids() { "deny" } else { "ask" };
            put(&mut specific, "permissionDecision", Some(word));
            put(&mut specific, "permissionDecisionReason", Some(verdict.why()));
        }
        // Events that cannot ask the user are refused instead.
        _ if event.blocks && (verdict.forbids() && !verdict.stops() || verdict.asks()) => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.why()));
        }
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context);
    verdict.copy(OWN_FIELDS, &mut specific);
    if let Some(sequence) = verdict.extra("terminalSequence") {
        answer.insert("terminalSequence", sequence.clone());
    }
    put_specific(&mut answer, event.name, &specific);
    // These events can only be denied by exit code.
    if matches!(event.name, "TeammateIdle" | "Elicitation" | "ElicitationResult")
        && verdict.forbids()
    {
        return Said { code: 2, stderr: verdict.why().to_owned(), ..Said::default() };
    }
    // The path is the last line of the output.
    if event.name == "WorktreeCreate"
        && let Some(path) = verdict.specific("worktreePath").and_then(RawJson::to_text)
    {
        return Said { stdout: path, ..Said::default() };
    }
    if event.name.starts_with("Worktree") && verdict.forbids() {
        return Said { code: 2, stderr: verdict.why().to_owned(), ..Said::default() };
    }
    Said::json(&answer)
}
