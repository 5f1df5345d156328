//! Codex CLI.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::claude::parse_object;
use super::kind::{EventSet, HookKind};
use super::paths::{Plugins, SettingsPaths};
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Checked, Directory, Entry, ExitTwo, Expansion, Family, Layout,
    MatcherRule, SettingsForm, Subject, Timeouts, Variable, WindowsShell, sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict, put, put_specific};

const TOOL_CALL: &[(&str, &str)] =
    &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("tool_call_id", "tool_use_id")];

const fn blocking(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const STOP: &[(&str, &str)] =
    &[("prompt_response", "last_assistant_message"), ("stop_hook_active", "stop_hook_active")];

const EVENTS: &[AgentEvent] = &[
    blocking(AgentEvent {
        subject: Subject::Tool,
        fields: TOOL_CALL,
        ..AgentEvent::new("PreToolUse", Event::BeforeTool)
    }),
    blocking(AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_response"),
            ("tool_call_id", "tool_use_id"),
        ],
        ..AgentEvent::new("PostToolUse", Event::AfterTool)
    }),
    blocking(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input")],
        approves: true,
        ..AgentEvent::new("PermissionRequest", Event::PermissionRequest)
    }),
    blocking(AgentEvent {
        fields: &[("prompt", "prompt")],
        text_is_context: true,
        ..AgentEvent::new("UserPromptSubmit", Event::BeforeAgent)
    }),
    blocking(AgentEvent {
        fields: STOP,
        defaults: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        ..AgentEvent::new("Stop", Event::AfterAgent)
    }),
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
        text_is_context: true,
        ..AgentEvent::new("SubagentStart", Event::SubagentStart)
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
        timeout: Some(1_000),
        timeout_cap: Some(3_000),
        ..AgentEvent::new("SessionEnd", Event::SessionEnd)
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger")],
        ..AgentEvent::new("PreCompact", Event::PreCompress)
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger")],
        ..AgentEvent::new("PostCompact", Event::PostCompress)
    },
    AgentEvent {
        timeout: Some(1_000),
        timeout_cap: Some(3_000),
        ..AgentEvent::new("Interrupt", Event::Interrupt)
    },
];

const KINDS: &[HookKind] = &[
    HookKind::new("command", EventSet::All),
    HookKind::new("mcp_tool", EventSet::AllExcept(&["SessionEnd"])),
    HookKind::new("prompt", EventSet::None),
    HookKind::new("agent", EventSet::None),
];

pub(super) static AGENT: Agent = Agent {
    name: "codex",
    title: "Codex CLI",
    events: EVENTS,
    tools: &[
        tool("run_shell_command", "Bash"),
        tool("apply_patch", "apply_patch"),
        tool("invoke_agent", "spawn_agent"),
    ],
    mcp: ("mcp__", "__"),
    base_fields: &[
        (BaseField::Session, "session_id"),
        (BaseField::TranscriptOrNull, "transcript_path"),
        (BaseField::Cwd, "cwd"),
        (BaseField::Event, "hook_event_name"),
    ],
    settings: SettingsForm::Groups,
    layout: Layout::OBJECT,
    hook_kinds: KINDS,
    http: None,
    comments: Comments::None,
    hook_keys: &["async", "commandWindows", "command_windows"],
    timeout: Timeouts::new(&["timeout"], 1_000, 600_000),
    shell: &["bash", "-c"],
    variables: &[
        ("PLUGIN_ROOT", Variable::PluginRoot),
        ("CLAUDE_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: None,
    expansion: Expansion::Braces,
    matcher: MatcherRule::Codex,
    family: Family::Codex,
    directory: Directory::Event,
    accepts_lowercase_initial: false,
    ignores: &[("PreToolUse", &["an ask: it is a denial"]), ("PermissionRequest", &["an ask"])],
    entry: Some(Entry {
        file: "hooks.json",
        in_project: Some(".codex/hooks.json"),
        new_file: "{}\n",
        on_windows: WindowsShell::Cmd,
        next_step: "Codex skips hooks that were not reviewed, without a word: start it, enter /hooks and trust them; again after each change",
        fields: &[],
        fail_closed: &[],
        consent: None,
    }),
    top_level_denial: None,
    caps_continuations: false,
    paths: SettingsPaths {
        variable: Some("CODEX_HOME"),
        folder: ".codex",
        project: &[".codex/hooks.json", ".codex/config.toml"],
        user: &["hooks.json", "config.toml"],
        system: &["etc/codex/hooks.json"],
        plugins: Some(Plugins {
            folders: "plugins/*",
            files: &["hooks/hooks.json"],
            manifest: ".codex-plugin/plugin.json",
            installed: None,
            enabled: None,
        }),
    },
    is_identified_by_path: true,
    reads_files_of: &[],
    runs_once: false,
    other_form: None,
    sample_answers: &[
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}"#,
            "Codex hooks page (autumn 2026): an allow only carries other arguments",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "Codex hooks page (autumn 2026): a failed run",
        ),
        sample_answer(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            "Codex hooks page (autumn 2026)",
        ),
        sample_answer("PreToolUse", r#"done"#, "Codex hooks page (autumn 2026): ignored"),
        sample_answer(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
            "Codex hooks page (autumn 2026): it answers the prompt",
        ),
        sample_answer(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}"#,
            "Codex hooks page (autumn 2026)",
        ),
        sample_answer(
            "Stop",
            r#"{"decision":"block","reason":"go on"}"#,
            "Codex hooks page (autumn 2026)",
        ),
    ],
    has_global_switch: false,
    notes: &[
        "An object counts on exit code 0 only, and a field that Codex does not know makes all of it void. Exit code 2 without standard error is a failed run.",
        "To stop, or to ask, is a failed run before a tool, which then runs: so an ask is told as a denial.",
        "Changed arguments need `permissionDecision: \"allow\"` beside them; a denial needs a reason.",
        "Other events' text on standard output is nothing; `Stop`, `SubagentStop` and `Interrupt` want an object.",
        "A matcher of only letters, digits, `_` and `|` is a list of names. `apply_patch` is matched as `Edit` and `Write`, too, and `spawn_agent` as `Agent`.",
        "`PostToolUse` runs after a command that failed, too. `SessionEnd` and `Interrupt` wait three seconds at most.",
        "A value of another type, an unknown `type`, or a key beside `description` and `hooks` makes Codex run none of a file's hooks; in `config.toml` it does not start. `hook check` says so, and `hook connect` writes no entry there.",
        "A hook is run once its hash is in `config.toml`, as `/hooks` writes it; a changed one is skipped without a word.",
        "Managed hooks in `requirements.toml` are not read here.",
    ],
    checked: Some(Checked { version: "0.169.0", date: "2026-11", seen: true }),
    never_asks: &[],
    program: None,
};

/// The allowed top-level fields of an answer. Any other field makes the whole answer invalid.
const TOP_LEVEL_FIELDS: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// The allowed fields of `hookSpecificOutput`, by event.
const SPECIFIC_FIELDS: &[(&str, &[&str])] = &[
    (
        "PreToolUse",
        &[
            "hookEventName",
            "permissionDecision",
            "permissionDecisionReason",
            "updatedInput",
            "additionalContext",
        ],
    ),
    ("PermissionRequest", &["hookEventName", "decision"]),
    ("PostToolUse", &["hookEventName", "additionalContext", "updatedMCPToolOutput"]),
    ("UserPromptSubmit", &["hookEventName", "additionalContext"]),
    ("SessionStart", &["hookEventName", "additionalContext"]),
    ("SubagentStart", &["hookEventName", "additionalContext"]),
];

/// Events at which plain text is a failed run instead of being ignored.
const JSON_ONLY_EVENTS: &[&str] = &["Stop", "SubagentStop", "Interrupt"];

fn invalid_answer(reason: &str) -> ForeignAnswer {
    let hint = "Codex takes nothing of such an answer".to_owned();
    let failure = HookFailure::InvalidAnswer(InvalidAnswer::new(reason.to_owned(), hint));
    ForeignAnswer { failure: Some(failure), ..ForeignAnswer::default() }
}

/// Reads a hook's answer like Codex: an object of known fields at exit code 0, or a denial with a
/// reason at exit code 2.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    match process.code {
        Some(0) => {}
        Some(2) if event.exit_two == ExitTwo::Denies && !process.stderr.trim().is_empty() => {
            let output = HookOutput::deny(process.stderr.trim());
            return ForeignAnswer { output: Some(output), ..ForeignAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    let text = process.stdout.trim();
    if text.is_empty() {
        return ForeignAnswer::default();
    }
    let Some(fields) = parse_object(text) else {
        return match () {
            () if text.starts_with(['{', '[']) || JSON_ONLY_EVENTS.contains(&event.name) => {
                invalid_answer("standard output is no object")
            }
            () if event.text_is_context => ForeignAnswer {
                output: Some(HookOutput::default().with_additional_context(text)),
                ..ForeignAnswer::default()
            },
            () => ForeignAnswer::default(),
        };
    };
    match read_output(event, &fields) {
        Ok(output) => ForeignAnswer { output: Some(output), ..ForeignAnswer::default() },
        Err(reason) => invalid_answer(&reason),
    }
}

fn read_output(event: &AgentEvent, fields: &JsonObject) -> Result<HookOutput, String> {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    if let Some((name, _)) = fields.iter().find(|(name, _)| !TOP_LEVEL_FIELDS.contains(name)) {
        return Err(format!("`{name}` is not known"));
    }
    if event.name == "Interrupt" && fields.iter().any(|(name, _)| name != "systemMessage") {
        return Err("only `systemMessage` is known".to_owned());
    }
    let stops = fields.get("continue").and_then(RawJson::to_bool) == Some(false);
    let is_about_call = matches!(event.name, "PreToolUse" | "PermissionRequest");
    let suppresses = fields.get("suppressOutput").and_then(RawJson::to_bool) == Some(true);
    if is_about_call && (stops || text("stopReason").is_some())
        || suppresses && (is_about_call || event.name == "PostToolUse")
    {
        return Err(format!("it cannot be stopped or suppressed on {}", event.name));
    }
    let mut output = HookOutput { system_message: text("systemMessage"), ..HookOutput::default() };
    // Codex starts a subagent despite a stop.
    if stops && event.name != "SubagentStart" {
        output.should_continue = Some(false);
        output.stop_reason = text("stopReason");
    }
    match (text("decision").as_deref(), text("reason")) {
        (None, None) => {}
        (None, Some(_)) if event.name == "PostToolUse" => {
            return Err("a reason without a decision".to_owned());
        }
        (None, Some(_)) => {}
        (Some("block"), Some(reason)) if event.blocks && !reason.trim().is_empty() => {
            output.decision = Some(Decision::Deny);
            output.reason = Some(reason);
        }
        (Some(_), _) => return Err("a decision that is not known, or has no reason".to_owned()),
    }
    if let Some(specific) = fields.get("hookSpecificOutput").filter(|specific| !specific.is_null())
    {
        let specific = specific.to_object().map_err(|_| "hookSpecificOutput is no object")?;
        apply_specific(event, &specific, &mut output)?;
    }
    Ok(output)
}

fn apply_specific(
    event: &AgentEvent,
    specific: &JsonObject,
    output: &mut HookOutput,
) -> Result<(), String> {
    let known =
        SPECIFIC_FIELDS.iter().find(|(name, _)| *name == event.name).map(|(_, known)| *known);
    let known = known.ok_or("hookSpecificOutput is not known there")?;
    if let Some((name, _)) = specific.iter().find(|(name, _)| !known.contains(name)) {
        return Err(format!("`hookSpecificOutput.{name}` is not known"));
    }
    let text = |name: &str| specific.get(name).and_then(RawJson::to_text);
    if text("hookEventName").as_deref() != Some(event.name) {
        return Err("hookSpecificOutput.hookEventName is not the event".to_owned());
    }
    let updated = specific.get("updatedInput").filter(|updated| updated.to_object().is_ok());
    match text("permissionDecision").as_deref() {
        None => {}
        Some("deny") => {
            let reason =
                text("permissionDecisionReason").filter(|reason| !reason.trim().is_empty());
            output.reason = Some(reason.ok_or("a denial without a reason")?);
            output.decision = Some(Decision::Deny);
        }
        Some("allow") if updated.is_some() => output.decision = Some(Decision::Allow),
        Some(_) => return Err("a permissionDecision that is not obeyed".to_owned()),
    }
    let mut set = |name: &str, value: &RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value.clone());
    };
    if let Some(updated) = updated.filter(|_| text("permissionDecision").is_some()) {
        set("updatedInput", updated);
    }
    if let Some(context) =
        specific.get("additionalContext").filter(|context| context.to_text().is_some())
    {
        set("additionalContext", context);
    }
    let Some(decision) = specific.get("decision").and_then(|decision| decision.to_object().ok())
    else {
        return Ok(());
    };
    for name in ["updatedInput", "updatedPermissions", "interrupt"] {
        if decision
            .get(name)
            .is_some_and(|value| !value.is_null() && value.to_bool() != Some(false))
        {
            return Err(format!("`decision.{name}` is not obeyed"));
        }
    }
    match decision.get("behavior").and_then(RawJson::to_text).as_deref() {
        Some("deny") => {
            output.decision = Some(Decision::Deny);
            output.reason = decision.get("message").and_then(RawJson::to_text);
        }
        Some("allow") => output.decision = Some(Decision::Allow),
        _ => return Err("a decision without a behavior".to_owned()),
    }
    Ok(())
}

/// Renders the response for Codex. An ask becomes a denial, since Codex would reject the ask and
/// run the tool.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "systemMessage", verdict.system_message);
    let accepts_context = SPECIFIC_FIELDS
        .iter()
        .any(|(name, known)| *name == event.name && known.contains(&"additionalContext"));
    match event.name {
        "PreToolUse" => {
            let updated = verdict.tool_input.filter(|_| !refuses);
            let decision_name = if refuses { Some("deny") } else { updated.map(|_| "allow") };
            put(&mut specific, "permissionDecision", decision_name);
            put(
                &mut specific,
                "permissionDecisionReason",
                refuses.then(|| verdict.reason_or_default()),
            );
            if let Some(input) = updated {
                specific.insert("updatedInput", input.clone());
            }
        }
        "PermissionRequest" => {
            let behavior = if verdict.forbids() {
                Some("deny")
            } else {
                (verdict.allowed && !verdict.asks()).then_some("allow")
            };
            let mut decision = JsonObject::new();
            put(&mut decision, "behavior", behavior);
            put(&mut decision, "message", verdict.forbids().then(|| verdict.reason_or_default()));
            if behavior.is_some() {
                specific.insert("decision", decision.to_raw());
            }
        }
        "Interrupt" => {}
        _ if verdict.stops() && event.name != "SubagentStart" && event.name != "SessionEnd" => {
            answer.insert("continue", RawJson::from_bool(false));
            put(&mut answer, "stopReason", Some(verdict.reason_or_default()));
        }
        "PreCompact" if refuses => {
            answer.insert("continue", RawJson::from_bool(false));
            put(&mut answer, "stopReason", Some(verdict.reason_or_default()));
        }
        _ if event.blocks && refuses => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.reason_or_default()));
        }
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context.filter(|_| accepts_context));
    put_specific(&mut answer, event.name, &specific);
    AgentResponse::json(&answer)
}
