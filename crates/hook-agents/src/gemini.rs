//! Gemini CLI.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::kind::COMMAND_ONLY;
use super::paths::{Plugins, SettingsPaths};
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Checked, Consent, ConsentForm, Coverage, Directory, Entry,
    Expansion, Family, Layout, MatcherRule, SettingsForm, Subject, Timeouts, Variable,
    WindowsShell, sample_answer,
};
use super::verdict::{AgentResponse, Verdict, put, put_specific};

/// The fields of tool events.
const TOOL_FIELDS: &[(&str, &str)] = &[
    ("tool_name", "tool_name"),
    ("tool_input", "tool_input"),
    ("mcp_context", "mcp_context"),
    ("tool_response", "tool_response"),
];

const fn native_event(
    name: &'static str,
    native: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { fields, blocks: true, ..AgentEvent::new(name, native) }
}

const EVENTS: &[AgentEvent] = &[
    AgentEvent {
        subject: Subject::Tool,
        ..native_event("BeforeTool", Event::BeforeTool, TOOL_FIELDS)
    },
    AgentEvent {
        subject: Subject::Tool,
        coverage: Coverage::All,
        ..native_event("AfterTool", Event::AfterTool, TOOL_FIELDS)
    },
    native_event("BeforeAgent", Event::BeforeAgent, &[("prompt", "prompt")]),
    native_event(
        "AfterAgent",
        Event::AfterAgent,
        &[
            ("prompt", "prompt"),
            ("prompt_response", "prompt_response"),
            ("stop_hook_active", "stop_hook_active"),
        ],
    ),
    native_event("BeforeModel", Event::BeforeModel, &[("llm_request", "llm_request")]),
    native_event(
        "AfterModel",
        Event::AfterModel,
        &[("llm_request", "llm_request"), ("llm_response", "llm_response")],
    ),
    native_event(
        "BeforeToolSelection",
        Event::BeforeToolSelection,
        &[("llm_request", "llm_request")],
    ),
    AgentEvent {
        subject: Subject::Field("source"),
        ..native_event("SessionStart", Event::SessionStart, &[("source", "source")])
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        ..native_event("SessionEnd", Event::SessionEnd, &[("reason", "reason")])
    },
    AgentEvent {
        subject: Subject::Field("trigger"),
        ..native_event("PreCompress", Event::PreCompress, &[("trigger", "trigger")])
    },
    native_event(
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
    base_fields: &[
        (BaseField::Session, "session_id"),
        (BaseField::Transcript, "transcript_path"),
        (BaseField::Cwd, "cwd"),
        (BaseField::Event, "hook_event_name"),
        (BaseField::Timestamp, "timestamp"),
    ],
    settings: SettingsForm::Groups,
    layout: Layout::OBJECT,
    hook_kinds: COMMAND_ONLY,
    http: None,
    comments: Comments::Allowed,
    hook_keys: &["env"],
    timeout: Timeouts::new(&["timeout"], 1, 60_000),
    shell: &["bash", "-c"],
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Cwd),
        ("GEMINI_CWD", Variable::Cwd),
        ("GEMINI_SESSION_ID", Variable::Session),
        ("CLAUDE_PROJECT_DIR", Variable::Cwd),
    ],
    env_file: None,
    expansion: Expansion::Quoted,
    matcher: MatcherRule::Gemini,
    family: Family::Gemini,
    directory: Directory::Event,
    accepts_lowercase_initial: false,
    ignores: &[("BeforeTool", &["context"])],
    entry: Some(Entry {
        file: "settings.json",
        in_project: Some(".gemini/settings.json"),
        new_file: "{}\n",
        on_windows: WindowsShell::PowerShell,
        next_step: "Gemini CLI runs hooks only in folders that it trusts: start it in the project once and say yes, or it ends with code 55",
        fields: &[],
        fail_closed: &[],
        consent: Some(Consent {
            question: "Trust this folder for Gemini CLI?",
            file: Some("trustedFolders.json"),
            form: ConsentForm::MemberValue("TRUST_FOLDER"),
        }),
    }),
    top_level_denial: Some("deny"),
    caps_continuations: false,
    paths: SettingsPaths {
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
    is_identified_by_path: false,
    reads_files_of: &[],
    runs_once: true,
    other_form: None,
    sample_answers: &[
        sample_answer(
            "BeforeTool",
            r#"{"decision":"allow"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08): it lifts no confirmation",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"decision":"ask"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"decision":"deny"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"hookSpecificOutput":{"tool_input":{"command":"ls"}}}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        sample_answer(
            "BeforeTool",
            r#"done"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08): an allow with a message",
        ),
        sample_answer(
            "BeforeAgent",
            r#"{"decision":"deny"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
        sample_answer(
            "AfterAgent",
            r#"{"decision":"deny"}"#,
            "Gemini CLI docs/hooks/reference.md and hookRunner.ts (2026-08)",
        ),
    ],
    has_global_switch: false,
    notes: &[
        "Standard output is the answer; standard error is it where standard output is empty. An object counts on every exit code. Text with exit code 1 is a warning, with any other code but 0 a block.",
        "Matchers of tools are expressions that are found anywhere; others are compared as words.",
        "`tool_input` of an answer is laid over the arguments. A response of `BeforeModel` counts only beside a block.",
        "`PreCompress` happens before every call of the model.",
        "Hooks of extensions find `${extensionPath}`, `${workspacePath}` and `${/}` replaced in their text.",
    ],
    checked: Some(Checked { version: "0.61.0", date: "2026-11", seen: true }),
    never_asks: &[],
    program: None,
};

/// Reads a hook's answer like Gemini CLI: standard output, or else standard error. An object counts
/// at any exit code; the meaning of text depends on the exit code.
pub(super) fn read_answer(_event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    let text = match process.stdout.trim() {
        "" => process.stderr.trim(),
        text => text,
    };
    let code = process.code.unwrap_or_default();
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
        let output = Some(HookOutput::read(known_fields(&fields), &mut warnings));
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
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    // Only `BeforeTool` can ask, and it ignores context.
    let is_call = event.name == "BeforeTool";
    let mut response = render_fork(event, verdict, is_call);
    if is_call && verdict.additional_context.is_some() {
        response.lost.push("context before a tool");
    }
    response
}

/// Renders the response for a fork of Gemini CLI.
pub(super) fn render_fork(
    event: &AgentEvent,
    verdict: &Verdict<'_>,
    can_ask: bool,
) -> AgentResponse {
    let mut answer = JsonObject::new();
    if verdict.stops() {
        answer.insert("continue", RawJson::from_bool(false));
        put(&mut answer, "stopReason", Some(verdict.reason_or_default()));
    }
    let decision_name = match verdict.decision_name() {
        Some("ask") if !can_ask => Some("deny"),
        decision_name => decision_name,
    };
    put(&mut answer, "decision", decision_name);
    let reason = if decision_name == Some("deny") {
        Some(verdict.reason_or_default())
    } else {
        verdict.decision_reason()
    };
    put(&mut answer, "reason", reason);
    put(&mut answer, "systemMessage", verdict.system_message);
    if verdict.answer.is_some_and(|answer| answer.suppress_output == Some(true)) {
        answer.insert("suppressOutput", RawJson::from_bool(true));
    }
    let mut specific =
        verdict.answer.and_then(|output| output.hook_specific_output.clone()).unwrap_or_default();
    specific.remove("hookEventName");
    specific.remove("additionalContext");
    put(&mut specific, "additionalContext", verdict.additional_context);
    if let Some(input) = verdict.tool_input {
        specific.insert("tool_input", input.clone());
    }
    put_specific(&mut answer, event.name, &specific);
    AgentResponse { stdout: answer.to_raw().as_str().to_owned(), ..AgentResponse::default() }
}

/// The known top-level fields of an answer. Others, such as those of other agents, are ignored.
const TOP_LEVEL_FIELDS: &[&str] = &[
    "decision",
    "reason",
    "continue",
    "stopReason",
    "systemMessage",
    "suppressOutput",
    "hookSpecificOutput",
];

/// The known fields of `hookSpecificOutput`.
const SPECIFIC_FIELDS: &[&str] = &[
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
fn known_fields(fields: &JsonObject) -> JsonObject {
    let select = |fields: &JsonObject, names: &[&str]| -> JsonObject {
        let select = fields.iter().filter(|(name, _)| names.contains(name));
        select.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    };
    let mut answer = select(fields, TOP_LEVEL_FIELDS);
    if let Some(specific) =
        fields.get("hookSpecificOutput").and_then(|value| value.to_object().ok())
    {
        answer.insert("hookSpecificOutput", select(&specific, SPECIFIC_FIELDS).to_raw());
    }
    answer
}
