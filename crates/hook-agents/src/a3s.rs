//! A3S, for hooks written in its format. A3S itself is never a client here.

mod generation;
mod modified;

use std::time::Duration;

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignAnswer};

use super::UPDATED_INPUT;
use super::claude::{self, object_on, reason};
use super::kind::COMMANDS;
use super::matching;
use super::places::Places;
use super::settings::CONDITIONAL;
use super::table::{
    Agent, AgentEvent, Base, Directory, Expands, SettingsForm, Subject, Timeouts, printed,
};
use super::verdict::{Said, Verdict, put};
use super::written::Comments;

/// An event about a tool that hooks may refuse.
const fn about_tool(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { subject: Subject::Tool, ..other(name, ours, fields) }
}

const fn other(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { fields, blocks: true, lay: Some(modified::lay), ..AgentEvent::of(name, ours) }
}

const TOOL: &[(&str, &str)] = &[("tool_name", "tool"), ("tool_input", "args")];

/// Names with a dot are fields of a field.
const EVENTS: &[AgentEvent] = &[
    about_tool(
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
        missing: &[("tool_response", "\"\"")],
        ..about_tool(
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
        missing: &[("error", "\"\"")],
        ..about_tool(
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
    about_tool("PermissionRequest", Event::PermissionRequest, TOOL),
    AgentEvent {
        missing: NO_ONE,
        ..about_tool(
            "PermissionGranted",
            Event::PermissionGranted,
            &[("tool_name", "tool"), ("tool_input", "args"), ("by", "by")],
        )
    },
    AgentEvent {
        missing: NO_ONE,
        ..about_tool(
            "PermissionDenied",
            Event::PermissionDenied,
            &[("tool_name", "tool"), ("tool_input", "args"), ("by", "by"), ("reason", "reason")],
        )
    },
    AgentEvent {
        value: Some(generation::value),
        made: Some(generation::request),
        ..other(
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
        value: Some(generation::value),
        made: Some(generation::request_and_response),
        ..other(
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
        missing: &[("source", "\"startup\"")],
        ..other(
            "SessionStart",
            Event::SessionStart,
            &[("source", "source"), ("model", "model"), ("system_prompt", "systemPrompt")],
        )
    },
    AgentEvent {
        missing: &[("reason", "\"other\"")],
        ..other(
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
        missing: AUTOMATIC,
        ..other(
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
        missing: AUTOMATIC,
        ..other(
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
        missing: &[("used_tokens", "0"), ("max_tokens", "0"), ("threshold", "0")],
        ..other(
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

const AUTOMATIC: &[(&str, &str)] = &[("trigger", "\"auto\"")];
const NO_ONE: &[(&str, &str)] = &[("by", "\"unknown\"")];

pub(super) static AGENT: Agent = Agent {
    name: "a3s",
    title: "A3S",
    events: EVENTS,
    tools: claude::TOOLS,
    mcp: ("mcp__", "__"),
    base: &[
        (Base::Event, "eventType"),
        (Base::Session, "sessionId"),
        (Base::Milliseconds, "timestamp"),
        (Base::Empty, "metadata"),
    ],
    settings: SettingsForm::Both,
    kinds: COMMANDS,
    http: None,
    comments: Comments::None,
    keys: CONDITIONAL,
    timeout: Timeouts::of(&["timeout"], 1, 5_000),
    shell: &["bash", "-c"],
    variables: &[],
    env_file: None,
    expands: Expands::Never,
    matches: matching::claude,
    answer,
    say,
    directory: Directory::OfEvent,
    takes_any_case: false,
    ignores: &[],
    entry: None,
    top_level: None,
    caps_continuations: true,
    places: Places {
        variable: None,
        folder: ".a3s",
        project: &[],
        user: &[],
        system: &[],
        plugins: None,
    },
    is_told_by_place: false,
    runs_too: &[],
    runs_once: false,
    reads_as_own: None,
    answers: &[
        printed("PreToolUse", r#"{"action":"continue"}"#, "A3S hook system"),
        printed("PreToolUse", r#"{"action":"block","reason":"no"}"#, "A3S hook system"),
        printed(
            "PreToolUse",
            r#"{"action":"continue","modified":{"args":{"command":"ls"}}}"#,
            "A3S hook system",
        ),
    ],
    has_one_switch: false,
    notes: &[
        "An answer is `{\"action\": \"continue\"}`, `block`, `retry` (with `delay` in milliseconds) or `skip`. Exit code 2 blocks.",
        "`modified.args` replaces the arguments of a tool; on `GenerateStart` `modified.prompt` and `modified.systemPrompt` replace those of the call, and `modified.messages` the conversation; on `GenerateEnd` `modified.response` replaces the text, and on `PostToolUse` `modified.result` the output. What cannot be done is an invalid answer.",
        "Names with a dot are fields of fields, such as `context.workingDirectory`.",
    ],
};

/// Reads a hook's answer: an action on standard output, or exit code 2 for a block.
fn answer(_event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    match ended.code {
        Some(0) => {}
        Some(2) => {
            let output = Some(HookOutput::deny(reason(ended.stderr)));
            return ForeignAnswer { output, ..ForeignAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    if ended.stdout.trim().is_empty() {
        return ForeignAnswer::default();
    }
    let Some(fields) = object_on(ended.stdout) else {
        return wrong("standard output is no object");
    };
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = HookOutput { reason: text("reason"), ..HookOutput::default() };
    match text("action").as_deref() {
        Some("continue") => {}
        Some("block") => output.decision = Some(Decision::Deny),
        Some("retry") => {
            output.decision = Some(Decision::Retry);
            let delay = ["delay", "retry_delay_ms"].iter().find_map(|name| fields.get(name));
            let delay = delay.and_then(|it| it.as_str().parse().ok());
            output.retry_after = delay.map(Duration::from_millis);
        }
        Some("skip") => output.skip_remaining = Some(true),
        _ => return wrong("`action` is none of continue, block, retry and skip"),
    }
    if let Some(changes) = fields.get("modified").filter(|it| !it.is_null()) {
        let specific = output.hook_specific_output.get_or_insert_default();
        specific.insert(modified::MODIFIED, changes.clone());
        let arguments = changes.to_object().ok().and_then(|it| it.get("args").cloned());
        if let Some(arguments) = arguments.filter(|it| it.to_object().is_ok()) {
            specific.insert(UPDATED_INPUT, arguments);
        }
    }
    ForeignAnswer { output: Some(output), ..ForeignAnswer::default() }
}

fn wrong(why: &str) -> ForeignAnswer {
    let hint = "A3S takes nothing of such an answer".to_owned();
    let failure = Some(HookFailure::InvalidAnswer(InvalidAnswer::new(why.to_owned(), hint)));
    ForeignAnswer { failure, ..ForeignAnswer::default() }
}

/// Renders the response for A3S.
fn say(_event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    let mut answer = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    put(&mut answer, "action", Some(if refuses { "block" } else { "continue" }));
    put(&mut answer, "reason", refuses.then(|| verdict.why()));
    if let Some(input) = verdict.tool_input {
        let mut modified = JsonObject::new();
        modified.insert("args", input.clone());
        answer.insert("modified", modified.to_raw());
    }
    Said::json(&answer)
}

/// Converts a value to the form of the agent's field with this name.
pub(super) fn value_of(their_name: &str, value: RawJson) -> RawJson {
    match their_name {
        "result.success" => RawJson::from_bool(value.to_bool() != Some(true)),
        "result.output" => RawJson::from_text(&super::output::text_of(&value)),
        _ => value,
    }
}
