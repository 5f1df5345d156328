//! A3S, for hooks written in its format. A3S itself is never a client here.

mod generation;
mod modified;

use std::time::Duration;

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::UPDATED_INPUT;
use super::claude::{self, parse_object, stderr_reason};
use super::kind::COMMAND_ONLY;
use super::paths::SettingsPaths;
use super::settings::OPTIONAL_KEYS;
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Directory, Expansion, Family, Layout, MatcherRule, SettingsForm,
    Subject, Timeouts, sample_answer,
};
use super::verdict::{AgentResponse, Verdict, put};

/// An event about a tool that hooks may refuse.
const fn tool_event(
    name: &'static str,
    native: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { subject: Subject::Tool, ..blocking_event(name, native, fields) }
}

const fn blocking_event(
    name: &'static str,
    native: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent {
        fields,
        blocks: true,
        complete: Some(modified::apply),
        ..AgentEvent::new(name, native)
    }
}

const TOOL_FIELDS: &[(&str, &str)] = &[("tool_name", "tool"), ("tool_input", "args")];

/// Names with a dot are fields of a field.
const EVENTS: &[AgentEvent] = &[
    tool_event(
        "PreToolUse",
        Event::BeforeTool,
        &[
            ("tool_name", "tool"),
            ("tool_input", "args"),
            ("cwd", "context.workingDirectory"),
            ("recent_tools", "context.recentTools"),
            ("token_usage", "context.tokenUsage"),
        ],
    ),
    AgentEvent {
        defaults: &[("tool_response", "\"\"")],
        ..tool_event(
            "PostToolUse",
            Event::AfterTool,
            &[
                ("tool_name", "tool"),
                ("tool_input", "args"),
                ("is_error", "result.success"),
                ("tool_response", "result.output"),
                ("exit_code", "result.exitCode"),
                ("duration_ms", "result.duration"),
            ],
        )
    },
    AgentEvent {
        defaults: &[("error", "\"\"")],
        ..tool_event(
            "ToolError",
            Event::ToolError,
            &[
                ("tool_name", "tool"),
                ("tool_input", "args"),
                ("error", "error"),
                ("exit_code", "exitCode"),
            ],
        )
    },
    tool_event("PermissionRequest", Event::PermissionRequest, TOOL_FIELDS),
    AgentEvent {
        defaults: UNKNOWN_BY,
        ..tool_event(
            "PermissionGranted",
            Event::PermissionGranted,
            &[("tool_name", "tool"), ("tool_input", "args"), ("by", "by")],
        )
    },
    AgentEvent {
        defaults: UNKNOWN_BY,
        ..tool_event(
            "PermissionDenied",
            Event::PermissionDenied,
            &[("tool_name", "tool"), ("tool_input", "args"), ("by", "by"), ("reason", "reason")],
        )
    },
    AgentEvent {
        foreign_value: Some(generation::value),
        native_fields: Some(generation::request),
        ..blocking_event(
            "GenerateStart",
            Event::BeforeModel,
            &[
                ("prompt", "prompt"),
                ("system_prompt", "systemPrompt"),
                ("llm_request.model", "model"),
                ("tools", "tools"),
            ],
        )
    },
    AgentEvent {
        foreign_value: Some(generation::value),
        native_fields: Some(generation::request_and_response),
        ..blocking_event(
            "GenerateEnd",
            Event::AfterModel,
            &[
                ("prompt", "prompt"),
                ("llm_response.text", "response.text"),
                ("tool_calls", "response.toolCalls"),
                ("usage", "response.usage"),
                ("duration_ms", "response.duration"),
                ("llm_request.model", "model"),
            ],
        )
    },
    AgentEvent {
        defaults: &[("source", "\"startup\"")],
        ..blocking_event(
            "SessionStart",
            Event::SessionStart,
            &[("source", "source"), ("model", "model"), ("system_prompt", "systemPrompt")],
        )
    },
    AgentEvent {
        defaults: &[("reason", "\"other\"")],
        ..blocking_event(
            "SessionEnd",
            Event::SessionEnd,
            &[
                ("reason", "reason"),
                ("total_tokens", "totalTokens"),
                ("total_tool_calls", "totalToolCalls"),
                ("duration_ms", "duration"),
            ],
        )
    },
    AgentEvent {
        defaults: AUTO_TRIGGER,
        ..blocking_event(
            "PreCompact",
            Event::PreCompress,
            &[
                ("trigger", "trigger"),
                ("messages", "messages"),
                ("used_tokens", "usedTokens"),
                ("max_tokens", "maxTokens"),
            ],
        )
    },
    AgentEvent {
        defaults: AUTO_TRIGGER,
        ..blocking_event(
            "PostCompact",
            Event::PostCompress,
            &[
                ("trigger", "trigger"),
                ("summary", "summary"),
                ("message_count_before", "messageCountBefore"),
                ("message_count_after", "messageCountAfter"),
            ],
        )
    },
    AgentEvent {
        defaults: &[("used_tokens", "0"), ("max_tokens", "0"), ("threshold", "0")],
        ..blocking_event(
            "ContextWarning",
            Event::ContextWarning,
            &[
                ("used_tokens", "usedTokens"),
                ("max_tokens", "maxTokens"),
                ("threshold", "threshold"),
            ],
        )
    },
];

const AUTO_TRIGGER: &[(&str, &str)] = &[("trigger", "\"auto\"")];
const UNKNOWN_BY: &[(&str, &str)] = &[("by", "\"unknown\"")];

pub(super) static AGENT: Agent = Agent {
    name: "a3s",
    title: "A3S",
    events: EVENTS,
    tools: claude::TOOLS,
    mcp: ("mcp__", "__"),
    base_fields: &[
        (BaseField::Event, "eventType"),
        (BaseField::Session, "sessionId"),
        (BaseField::Milliseconds, "timestamp"),
        (BaseField::Empty, "metadata"),
    ],
    settings: SettingsForm::Both,
    layout: Layout::OBJECT,
    hook_kinds: COMMAND_ONLY,
    http: None,
    comments: Comments::None,
    hook_keys: OPTIONAL_KEYS,
    timeout: Timeouts::new(&["timeout"], 1, 5_000),
    shell: &["bash", "-c"],
    variables: &[],
    env_file: None,
    expansion: Expansion::None,
    matcher: MatcherRule::Claude,
    family: Family::A3s,
    directory: Directory::Event,
    accepts_lowercase_initial: false,
    ignores: &[],
    entry: None,
    top_level_denial: None,
    caps_continuations: true,
    paths: SettingsPaths {
        variable: None,
        folder: ".a3s",
        project: &[],
        user: &[],
        system: &[],
        plugins: None,
    },
    is_identified_by_path: false,
    reads_files_of: &[],
    runs_once: false,
    other_form: None,
    sample_answers: &[
        sample_answer("PreToolUse", r#"{"action":"continue"}"#, "A3S hook system"),
        sample_answer("PreToolUse", r#"{"action":"block","reason":"no"}"#, "A3S hook system"),
        sample_answer(
            "PreToolUse",
            r#"{"action":"continue","modified":{"args":{"command":"ls"}}}"#,
            "A3S hook system",
        ),
    ],
    has_global_switch: false,
    notes: &[
        "An answer is `{\"action\": \"continue\"}`, `block`, `retry` (with `delay` in milliseconds) or `skip`. Exit code 2 blocks.",
        "`modified.args` replaces the arguments of a tool; on `GenerateStart` `modified.prompt` and `modified.systemPrompt` replace those of the call, and `modified.messages` the conversation; on `GenerateEnd` `modified.response` replaces the text, and on `PostToolUse` `modified.result` the output. What cannot be done is an invalid answer.",
        "Names with a dot are fields of fields, such as `context.workingDirectory`.",
    ],
    checked: None,
    never_asks: &[],
    program: None,
};

/// Reads a hook's answer: an action on standard output, or exit code 2 for a block.
pub(super) fn read_answer(_event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    match process.code {
        Some(0) => {}
        Some(2) => {
            let output = Some(HookOutput::deny(stderr_reason(process.stderr)));
            return ForeignAnswer { output, ..ForeignAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    if process.stdout.trim().is_empty() {
        return ForeignAnswer::default();
    }
    let Some(fields) = parse_object(process.stdout) else {
        return invalid_answer("standard output is no object");
    };
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = HookOutput { reason: text("reason"), ..HookOutput::default() };
    match text("action").as_deref() {
        Some("continue") => {}
        Some("block") => output.decision = Some(Decision::Deny),
        Some("retry") => {
            output.decision = Some(Decision::Retry);
            let delay = ["delay", "retry_delay_ms"].iter().find_map(|name| fields.get(name));
            let delay = delay.and_then(|milliseconds| milliseconds.as_str().parse().ok());
            output.retry_after = delay.map(Duration::from_millis);
        }
        Some("skip") => output.skip_remaining = Some(true),
        _ => return invalid_answer("`action` is none of continue, block, retry and skip"),
    }
    if let Some(changes) = fields.get("modified").filter(|changes| !changes.is_null()) {
        let specific = output.hook_specific_output.get_or_insert_default();
        specific.insert(modified::MODIFIED, changes.clone());
        let arguments = changes.to_object().ok().and_then(|object| object.get("args").cloned());
        if let Some(arguments) = arguments.filter(|value| value.to_object().is_ok()) {
            specific.insert(UPDATED_INPUT, arguments);
        }
    }
    ForeignAnswer { output: Some(output), ..ForeignAnswer::default() }
}

fn invalid_answer(reason: &str) -> ForeignAnswer {
    let fix = "A3S takes nothing of such an answer".to_owned();
    let failure = Some(HookFailure::InvalidAnswer(InvalidAnswer::new(reason.to_owned(), fix)));
    ForeignAnswer { failure, ..ForeignAnswer::default() }
}

/// Renders the response for A3S.
pub(super) fn render(_event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "action", Some(if refuses { "block" } else { "continue" }));
    put(&mut answer, "reason", refuses.then(|| verdict.reason_or_default()));
    if let Some(input) = verdict.tool_input {
        let mut modified = JsonObject::new();
        modified.insert("args", input.clone());
        answer.insert("modified", modified.to_raw());
    }
    AgentResponse::json(&answer)
}

/// Converts a value to the form of the agent's field with this name.
pub(super) fn foreign_value(foreign_name: &str, value: RawJson) -> RawJson {
    match foreign_name {
        "result.success" => RawJson::from_bool(value.to_bool() != Some(true)),
        "result.output" => RawJson::from_text(&super::output::output_text(&value)),
        _ => value,
    }
}
