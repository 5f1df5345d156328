//! Codex CLI.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignAnswer};

use super::claude::object_on;
use super::kind::{At, Kind};
use super::matching;
use super::places::{Places, Plugins};
use super::table::{
    Agent, AgentEvent, Base, Directory, Entry, ExitTwo, Expands, SettingsForm, Subject, Timeouts,
    Variable, printed, tool,
};
use super::verdict::{Said, Verdict, put, put_specific};
use super::written::Comments;

const TOOL_CALL: &[(&str, &str)] =
    &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("tool_call_id", "tool_use_id")];

const fn denying(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const STOP: &[(&str, &str)] =
    &[("prompt_response", "last_assistant_message"), ("stop_hook_active", "stop_hook_active")];

const EVENTS: &[AgentEvent] = &[
    denying(AgentEvent {
        subject: Subject::Tool,
        fields: TOOL_CALL,
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
        subject: Subject::Tool,
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input")],
        approves: true,
        ..AgentEvent::of("PermissionRequest", Event::PermissionRequest)
    }),
    denying(AgentEvent {
        fields: &[("prompt", "prompt")],
        plain_is_context: true,
        ..AgentEvent::of("UserPromptSubmit", Event::BeforeAgent)
    }),
    denying(AgentEvent {
        fields: STOP,
        missing: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        ..AgentEvent::of("Stop", Event::AfterAgent)
    }),
    denying(AgentEvent {
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
        plain_is_context: true,
        ..AgentEvent::of("SubagentStart", Event::SubagentStart)
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
        timeout: Some(1_000),
        timeout_cap: Some(3_000),
        ..AgentEvent::of("SessionEnd", Event::SessionEnd)
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger")],
        ..AgentEvent::of("PreCompact", Event::PreCompress)
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger")],
        ..AgentEvent::of("PostCompact", Event::PostCompress)
    },
    AgentEvent {
        timeout: Some(1_000),
        timeout_cap: Some(3_000),
        ..AgentEvent::of("Interrupt", Event::Interrupt)
    },
];

const KINDS: &[Kind] = &[
    Kind::new("command", At::All),
    Kind::new("mcp_tool", At::AllBut(&["SessionEnd"])),
    Kind::new("prompt", At::None),
    Kind::new("agent", At::None),
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
    base: &[
        (Base::Session, "session_id"),
        (Base::TranscriptOrNull, "transcript_path"),
        (Base::Cwd, "cwd"),
        (Base::Event, "hook_event_name"),
    ],
    settings: SettingsForm::Groups,
    kinds: KINDS,
    http: None,
    comments: Comments::None,
    keys: &["async", "commandWindows", "command_windows"],
    timeout: Timeouts::of(&["timeout"], 1_000, 600_000),
    shell: &["bash", "-c"],
    variables: &[
        ("PLUGIN_ROOT", Variable::PluginRoot),
        ("CLAUDE_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: None,
    expands: Expands::Braces,
    matches: matching::codex,
    answer,
    say,
    directory: Directory::OfEvent,
    takes_any_case: false,
    ignores: &[("PreToolUse", &["an ask: it is a denial"]), ("PermissionRequest", &["an ask"])],
    entry: Some(Entry {
        file: "hooks.json",
        in_project: ".codex/hooks.json",
        new_file: "{}\n",
        remains: "Codex skips hooks that were not reviewed, without a word: start it, enter /hooks and trust them; again after each change",
        consent: None,
    }),
    top_level: None,
    caps_continuations: false,
    places: Places {
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
    is_told_by_place: true,
    runs_too: &[],
    runs_once: false,
    reads_as_own: None,
    answers: &[
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}"#,
            "Codex hooks page (autumn 2026): an allow only carries other arguments",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
            "Codex hooks page (autumn 2026): a failed run",
        ),
        printed(
            "PreToolUse",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            "Codex hooks page (autumn 2026)",
        ),
        printed("PreToolUse", r#"done"#, "Codex hooks page (autumn 2026): ignored"),
        printed(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
            "Codex hooks page (autumn 2026): it answers the prompt",
        ),
        printed(
            "PermissionRequest",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}"#,
            "Codex hooks page (autumn 2026)",
        ),
        printed(
            "Stop",
            r#"{"decision":"block","reason":"go on"}"#,
            "Codex hooks page (autumn 2026)",
        ),
    ],
    has_one_switch: false,
    notes: &[
        "An object counts on exit code 0 only, and a field that Codex does not know makes all of it void. Exit code 2 without standard error is a failed run.",
        "To stop, or to ask, is a failed run before a tool, which then runs: so an ask is told as a denial.",
        "Changed arguments need `permissionDecision: \"allow\"` beside them; a denial needs a reason.",
        "Other events' text on standard output is nothing; `Stop`, `SubagentStop` and `Interrupt` want an object.",
        "A matcher of only letters, digits, `_` and `|` is a list of names. `apply_patch` is matched as `Edit` and `Write`, too, and `spawn_agent` as `Agent`.",
        "`PostToolUse` runs after a command that failed, too. `SessionEnd` and `Interrupt` wait three seconds at most.",
        "A hook is run once its hash is in `config.toml`, as `/hooks` writes it; a changed one is skipped without a word.",
    ],
};

/// The allowed top-level fields of an answer. Any other field makes the whole answer invalid.
const TOP: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// The allowed fields of `hookSpecificOutput`, by event.
const SPECIFIC: &[(&str, &[&str])] = &[
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
const JSON_ONLY: &[&str] = &["Stop", "SubagentStop", "Interrupt"];

fn failed(reason: &str) -> ForeignAnswer {
    let hint = "Codex takes nothing of such an answer".to_owned();
    let failure = HookFailure::InvalidAnswer(InvalidAnswer::new(reason.to_owned(), hint));
    ForeignAnswer { failure: Some(failure), ..ForeignAnswer::default() }
}

/// Reads a hook's answer like Codex: an object of known fields at exit code 0, or a denial with a
/// reason at exit code 2.
fn answer(event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    match ended.code {
        Some(0) => {}
        Some(2) if event.exit_two == ExitTwo::Denies && !ended.stderr.trim().is_empty() => {
            let output = HookOutput::deny(ended.stderr.trim());
            return ForeignAnswer { output: Some(output), ..ForeignAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    let text = ended.stdout.trim();
    if text.is_empty() {
        return ForeignAnswer::default();
    }
    let Some(fields) = object_on(text) else {
        return match () {
            () if text.starts_with(['{', '[']) || JSON_ONLY.contains(&event.name) => {
                failed("standard output is no object")
            }
            () if event.plain_is_context => ForeignAnswer {
                output: Some(HookOutput::default().with_additional_context(text)),
                ..ForeignAnswer::default()
            },
            () => ForeignAnswer::default(),
        };
    };
    match of_object(event, &fields) {
        Ok(output) => ForeignAnswer { output: Some(output), ..ForeignAnswer::default() },
        Err(reason) => failed(&reason),
    }
}

fn of_object(event: &AgentEvent, fields: &JsonObject) -> Result<HookOutput, String> {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    if let Some((name, _)) = fields.iter().find(|(name, _)| !TOP.contains(name)) {
        return Err(format!("`{name}` is not known"));
    }
    if event.name == "Interrupt" && fields.iter().any(|(name, _)| name != "systemMessage") {
        return Err("only `systemMessage` is known".to_owned());
    }
    let stops = fields.get("continue").and_then(RawJson::to_bool) == Some(false);
    let is_of_call = matches!(event.name, "PreToolUse" | "PermissionRequest");
    let suppresses = fields.get("suppressOutput").and_then(RawJson::to_bool) == Some(true);
    if is_of_call && (stops || text("stopReason").is_some())
        || suppresses && (is_of_call || event.name == "PostToolUse")
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
    if let Some(specific) = fields.get("hookSpecificOutput").filter(|it| !it.is_null()) {
        let specific = specific.to_object().map_err(|_| "hookSpecificOutput is no object")?;
        take_specific(event, &specific, &mut output)?;
    }
    Ok(output)
}

fn take_specific(
    event: &AgentEvent,
    specific: &JsonObject,
    output: &mut HookOutput,
) -> Result<(), String> {
    let known = SPECIFIC.iter().find(|(name, _)| *name == event.name).map(|(_, known)| *known);
    let known = known.ok_or("hookSpecificOutput is not known there")?;
    if let Some((name, _)) = specific.iter().find(|(name, _)| !known.contains(name)) {
        return Err(format!("`hookSpecificOutput.{name}` is not known"));
    }
    let text = |name: &str| specific.get(name).and_then(RawJson::to_text);
    if text("hookEventName").as_deref() != Some(event.name) {
        return Err("hookSpecificOutput.hookEventName is not the event".to_owned());
    }
    let updated = specific.get("updatedInput").filter(|it| it.to_object().is_ok());
    match text("permissionDecision").as_deref() {
        None => {}
        Some("deny") => {
            let reason = text("permissionDecisionReason").filter(|it| !it.trim().is_empty());
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
    if let Some(context) = specific.get("additionalContext").filter(|it| it.to_text().is_some()) {
        set("additionalContext", context);
    }
    let Some(decided) = specific.get("decision").and_then(|it| it.to_object().ok()) else {
        return Ok(());
    };
    for name in ["updatedInput", "updatedPermissions", "interrupt"] {
        if decided.get(name).is_some_and(|it| !it.is_null() && it.to_bool() != Some(false)) {
            return Err(format!("`decision.{name}` is not obeyed"));
        }
    }
    match decided.get("behavior").and_then(RawJson::to_text).as_deref() {
        Some("deny") => {
            output.decision = Some(Decision::Deny);
            output.reason = decided.get("message").and_then(RawJson::to_text);
        }
        Some("allow") => output.decision = Some(Decision::Allow),
        _ => return Err("a decision without a behavior".to_owned()),
    }
    Ok(())
}

/// Renders the response for Codex. An ask becomes a denial, since Codex would reject the ask and
/// run the tool.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    let mut answer = JsonObject::new();
    let mut specific = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "systemMessage", verdict.system_message);
    let has_context = SPECIFIC
        .iter()
        .any(|(name, known)| *name == event.name && known.contains(&"additionalContext"));
    match event.name {
        "PreToolUse" => {
            let updated = verdict.tool_input.filter(|_| !refuses);
            let word = if refuses { Some("deny") } else { updated.map(|_| "allow") };
            put(&mut specific, "permissionDecision", word);
            put(&mut specific, "permissionDecisionReason", refuses.then(|| verdict.why()));
            if let Some(input) = updated {
                specific.insert("updatedInput", input.clone());
            }
        }
        "PermissionRequest" => {
            let word = if verdict.forbids() {
                Some("deny")
            } else {
                (verdict.allowed && !verdict.asks()).then_some("allow")
            };
            let mut decision = JsonObject::new();
            put(&mut decision, "behavior", word);
            put(&mut decision, "message", verdict.forbids().then(|| verdict.why()));
            if word.is_some() {
                specific.insert("decision", decision.to_raw());
            }
        }
        "Interrupt" => {}
        _ if verdict.stops() && event.name != "SubagentStart" && event.name != "SessionEnd" => {
            answer.insert("continue", RawJson::from_bool(false));
            put(&mut answer, "stopReason", Some(verdict.why()));
        }
        "PreCompact" if refuses => {
            answer.insert("continue", RawJson::from_bool(false));
            put(&mut answer, "stopReason", Some(verdict.why()));
        }
        _ if event.blocks && refuses => {
            put(&mut answer, "decision", Some("block"));
            put(&mut answer, "reason", Some(verdict.why()));
        }
        _ => {}
    }
    put(&mut specific, "additionalContext", verdict.additional_context.filter(|_| has_context));
    put_specific(&mut answer, event.name, &specific);
    Said::json(&answer)
}
