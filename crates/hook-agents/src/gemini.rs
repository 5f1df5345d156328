//! Gemini CLI.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::HookFailure;
use hook_settings::language::{Ended, ForeignAnswer};

use super::kind::COMMANDS;
use super::matching;
use super::places::{Places, Plugins};
use super::table::{
    Agent, AgentEvent, Base, Consent, Directory, Entry, Expands, Form, Part, SettingsForm, Subject,
    Timeouts, Variable, printed,
};
use super::verdict::{Said, Verdict, put, put_specific};
use super::written::Comments;

/// The fields of tool events.
const TOOL: &[(&str, &str)] = &[
    ("tool_name", "tool_name"),
    ("tool_input", "tool_input"),
    ("mcp_context", "mcp_context"),
    ("tool_response", "tool_response"),
];

const fn same(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { fields, blocks: true, ..AgentEvent::of(name, ours) }
}

const EVENTS: &[AgentEvent] = &[
    AgentEvent { subject: Subject::Tool, ..same("BeforeTool", Event::BeforeTool, TOOL) },
    AgentEvent {
        subject: Subject::Tool,
        part: Part::All,
        ..same("AfterTool", Event::AfterTool, TOOL)
    },
    same("BeforeAgent", Event::BeforeAgent, &[("prompt", "prompt")]),
    same(
        "AfterAgent",
        Event::AfterAgent,
        &[
            ("prompt", "prompt"),
            ("prompt_response", "prompt_response"),
            ("stop_hook_active", "stop_hook_active"),
        ],
    ),
    same("BeforeModel", Event::BeforeModel, &[("llm_request", "llm_request")]),
    same(
        "AfterModel",
        Event::AfterModel,
        &[("llm_request", "llm_request"), ("llm_response", "llm_response")],
    ),
    same("BeforeToolSelection", Event::BeforeToolSelection, &[("llm_request", "llm_request")]),
    AgentEvent {
        subject: Subject::Field("source"),
        ..same("SessionStart", Event::SessionStart, &[("source", "source")])
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        ..same("SessionEnd", Event::SessionEnd, &[("reason", "reason")])
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        ..same("PreCompress", Event::PreCompress, &[("trigger", "trigger")])
    },
    same(
        "Notification",
        Event::Notification,
        &[
            ("notification_type", "notification_type"),
            ("message", "message"),
            ("details", "details"),
        ],
    ),
];

pub(super) static AGENT: Agent = GEMINI;

/// The base table of Gemini CLI and its forks.
pub(super) const GEMINI: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    events: EVENTS,
    tools: &[],
    mcp: ("mcp_", "_"),
    base: &[
        (Base::Session, "session_id"),
        (Base::Transcript, "transcript_path"),
        (Base::Cwd, "cwd"),
        (Base::Event, "hook_event_name"),
        (Base::Timestamp, "timestamp"),
    ],
    settings: SettingsForm::Groups,
    kinds: COMMANDS,
    http: None,
    comments: Comments::Yes,
    keys: &["env"],
    timeout: Timeouts::of(&["timeout"], 1, 60_000),
    shell: &["bash", "-c"],
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Cwd),
        ("GEMINI_CWD", Variable::Cwd),
        ("GEMINI_SESSION_ID", Variable::Session),
        ("CLAUDE_PROJECT_DIR", Variable::Cwd),
    ],
    env_file: None,
    expands: Expands::Quoted,
    matches: matching::gemini,
    answer,
    say,
    directory: Directory::OfEvent,
    takes_any_case: false,
    ignores: &[("BeforeTool", &["context"])],
    entry: Some(Entry {
        file: "settings.json",
        in_project: ".gemini/settings.json",
        new_file: "{}\n",
        remains: "Gemini CLI runs hooks only in folders that it trusts: start it in the project once and say yes, or it ends with code 55",
        consent: Some(Consent {
            question: "Trust this folder for Gemini CLI?",
            file: Some("trustedFolders.json"),
            form: Form::Is("TRUST_FOLDER"),
        }),
    }),
    top_level: Some("deny"),
    caps_continuations: false,
    places: Places {
        variable: None,
        folder: ".gemini",
        project: &[".gemini/settings.json"],
        user: &["settings.json"],
        system: &["etc/gemini-cli/settings.json"],
        plugins: Some(Plugins {
            folders: "extensions/*",
            files: &["hooks/hooks.json"],
            manifest: "gemini-extension.json",
            installed: None,
            enabled: None,
        }),
    },
    is_told_by_place: false,
    runs_too: &[],
    runs_once: true,
    reads_as_own: None,
    answers: &[
        printed(
            "BeforeTool",
            r#"{"decision":"allow"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08): it lifts no confirmation",
        ),
        printed(
            "BeforeTool",
            r#"{"decision":"ask"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        printed(
            "BeforeTool",
            r#"{"decision":"deny"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        printed(
            "BeforeTool",
            r#"{"hookSpecificOutput":{"tool_input":{"command":"ls"}}}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        printed(
            "BeforeTool",
            r#"done"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08): an allow with a message",
        ),
        printed(
            "BeforeAgent",
            r#"{"decision":"deny"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        printed(
            "AfterAgent",
            r#"{"decision":"deny"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
    ],
    has_one_switch: false,
    notes: &[
        "Standard output is the answer; standard error is it where standard output is empty. An object counts on every exit code. Text with exit code 1 is a warning, with any other code but 0 a block.",
        "Matchers of tools are expressions that are found anywhere; others are compared as words.",
        "`tool_input` of an answer is laid over the arguments. A response of `BeforeModel` counts only beside a block.",
        "`PreCompress` happens before every call of the model.",
        "Hooks of extensions find `${extensionPath}`, `${workspacePath}` and `${/}` replaced in their text.",
    ],
};

/// Reads a hook's answer like Gemini CLI: standard output, or else standard error. An object counts
/// at any exit code; the meaning of text depends on the exit code.
fn answer(_event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    let text = match ended.stdout.trim() {
        "" => ended.stderr.trim(),
        text => text,
    };
    let code = ended.code.unwrap_or_default();
    let failure = (code != 0 && code != 2).then_some(HookFailure::ExitCode { code });
    if text.is_empty() {
        return ForeignAnswer { failure, ..ForeignAnswer::default() };
    }
    let parsed = RawJson::parse(text).ok();
    let parsed = parsed.and_then(|value| match value.to_text() {
        // JSON in a JSON string.
        Some(inner) => RawJson::parse(inner).ok(),
        None => Some(value),
    });
    if let Some(fields) = parsed.and_then(|value| value.to_object().ok()) {
        let mut warnings = Vec::new();
        let output = Some(HookOutput::read(known(&fields), &mut warnings));
        return ForeignAnswer { output, failure, warnings, ..ForeignAnswer::default() };
    }
    let output = match code {
        0 => HookOutput::allow().with_system_message(text),
        1 => HookOutput::allow().with_system_message(format!("Warning: {text}")),
        _ => {
            return ForeignAnswer {
                output: Some(HookOutput::deny(text)),
                ..ForeignAnswer::default()
            };
        }
    };
    ForeignAnswer { output: Some(output), failure, ..ForeignAnswer::default() }
}

/// Renders the response for Gemini CLI: always an object with exit code 0, since Gemini reads
/// standard error if standard output is empty.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    // Only `BeforeTool` can ask, and it ignores context.
    let is_call = event.name == "BeforeTool";
    let mut said = said(event, verdict, is_call);
    if is_call && verdict.additional_context.is_some() {
        said.lost.push("context before a tool");
    }
    said
}

/// Renders the response for a fork of Gemini CLI.
pub(super) fn said(event: &AgentEvent, verdict: &Verdict<'_>, can_ask: bool) -> Said {
    let mut answer = JsonObject::new();
    if verdict.stops() {
        answer.insert("continue", RawJson::from_bool(false));
        put(&mut answer, "stopReason", Some(verdict.why()));
    }
    let word = match verdict.word() {
        Some("ask") if !can_ask => Some("deny"),
        word => word,
    };
    put(&mut answer, "decision", word);
    let reason = if word == Some("deny") { Some(verdict.why()) } else { verdict.word_reason() };
    put(&mut answer, "reason", reason);
    put(&mut answer, "systemMessage", verdict.system_message);
    if verdict.answer.is_some_and(|answer| answer.suppress_output == Some(true)) {
        answer.insert("suppressOutput", RawJson::from_bool(true));
    }
    let mut specific =
        verdict.answer.and_then(|it| it.hook_specific_output.clone()).unwrap_or_default();
    specific.remove("hookEventName");
    specific.remove("additionalContext");
    put(&mut specific, "additionalContext", verdict.additional_context);
    if let Some(input) = verdict.tool_input {
        specific.insert("tool_input", input.clone());
    }
    put_specific(&mut answer, event.name, &specific);
    Said { stdout: answer.to_raw().as_str().to_owned(), ..Said::default() }
}

/// The known top-level fields of an answer. Others, such as those of other agents, are ignored.
const TOP: &[&str] = &[
    "decision",
    "reason",
    "continue",
    "stopReason",
    "systemMessage",
    "suppressOutput",
    "hookSpecificOutput",
];

/// The known fields of `hookSpecificOutput`.
const SPECIFIC: &[&str] = &[
    "hookEventName",
    "additionalContext",
    "tool_input",
    "tailToolCallRequest",
    "clearContext",
    "llm_request",
    "llm_response",
    "toolConfig",
];

/// Returns the known fields of an answer.
fn known(fields: &JsonObject) -> JsonObject {
    let kept = |fields: &JsonObject, names: &[&str]| -> JsonObject {
        let kept = fields.iter().filter(|(name, _)| names.contains(name));
        kept.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    };
    let mut answer = kept(fields, TOP);
    if let Some(specific) = fields.get("hookSpecificOutput").and_then(|it| it.to_object().ok()) {
        answer.insert("hookSpecificOutput", kept(&specific, SPECIFIC).to_raw());
    }
    answer
}
