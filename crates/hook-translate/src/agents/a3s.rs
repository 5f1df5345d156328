//! The words of A3S, for hooks that were written in them. It asks nobody here.

mod generation;

use std::time::Duration;

use hook_core::HookEventName as Event;
use hook_core::event::output::{Decision, HookOutput};
use hook_core::failure::{HookFailure, InvalidAnswer};
use hook_core::language::{Ended, HomeAnswer};
use hook_core::{JsonObject, RawJson};

use super::claude::{self, object_on, reason};
use super::kind::COMMANDS;
use super::matching;
use super::places::Places;
use super::settings::CONDITIONAL;
use super::table::{Agent, AgentEvent, Base, Directory, Expands, SettingsForm, Subject, Timeouts};
use super::verdict::{Said, Verdict, put};
use super::written::Comments;

/// The tool of an event, which may be refused.
const fn about_tool(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { subject: Subject::Tool, fields, blocks: true, ..AgentEvent::of(name, ours) }
}

const fn other(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { fields, blocks: true, ..AgentEvent::of(name, ours) }
}

const TOOL: &[(&str, &str)] = &[("tool_name", "tool"), ("tool_input", "args")];

/// A name with a dot is a field of a field.
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
    expands: Expands::Never,
    matches: matching::claude,
    answer,
    say,
    directory: Directory::OfEvent,
    takes_any_case: false,
    ignores: &[],
    entry: None,
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
    has_one_switch: false,
    notes: &[
        "An answer is `{\"action\": \"continue\"}`, `block`, `retry` (with `delay` in milliseconds) or `skip`. Exit code 2 blocks.",
        "`modified.args` replaces the arguments, `modified.messages` those of a model call; any other key is a warning.",
        "Names with a dot are fields of fields, such as `context.workingDirectory`.",
    ],
};

/// What a hook has answered: an action on standard output, or exit 2 for a block.
fn answer(event: &AgentEvent, ended: &Ended<'_>) -> HomeAnswer {
    match ended.code {
        Some(0) => {}
        Some(2) => {
            let output = Some(HookOutput::deny(reason(ended.stderr)));
            return HomeAnswer { output, ..HomeAnswer::default() };
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return HomeAnswer { failure, ..HomeAnswer::default() };
        }
    }
    if ended.stdout.trim().is_empty() {
        return HomeAnswer::default();
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
    let mut warnings = Vec::new();
    let modified = fields.get("modified").filter(|it| !it.is_null());
    if let Some(modified) = modified {
        let Ok(modified) = modified.to_object() else { return wrong("`modified` is no object") };
        for (name, value) in modified.iter() {
            match change(event, name, value) {
                Some((ours, value)) => {
                    output.hook_specific_output.get_or_insert_default().insert(ours, value);
                }
                None => warnings.push(format!(
                    "`modified.{}` changes nothing on {}",
                    hook_core::text::shortened(name),
                    event.name
                )),
            }
        }
    }
    HomeAnswer { output: Some(output), warnings, ..HomeAnswer::default() }
}

/// A change in our words: the arguments as a whole, or the messages of a model call.
fn change(event: &AgentEvent, name: &str, value: &RawJson) -> Option<(&'static str, RawJson)> {
    let is_object = value.to_object().is_ok();
    let known = match name {
        "args" if event.is(Event::BeforeTool) && is_object => "updatedInput",
        "messages" if event.is(Event::BeforeModel) && value.to_items().is_some() => "messages",
        _ => return None,
    };
    Some((known, value.clone()))
}

fn wrong(why: &str) -> HomeAnswer {
    let hint = "A3S takes nothing of such an answer".to_owned();
    let failure = Some(HookFailure::InvalidAnswer(InvalidAnswer::new(why.to_owned(), hint)));
    HomeAnswer { failure, ..HomeAnswer::default() }
}

/// What is said in the words of A3S.
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

/// A value as it stands in a field of that name.
pub(super) fn value_of(their_name: &str, value: RawJson) -> RawJson {
    match their_name {
        "result.success" => RawJson::from_bool(value.to_bool() != Some(true)),
        "result.output" => {
            let fields = value.to_object().unwrap_or_default();
            let known = ["output", "llmContent", "text"].iter().filter_map(|name| fields.get(name));
            let text = value.to_text().or_else(|| known.filter_map(RawJson::to_text).next());
            RawJson::from_text(&text.unwrap_or_else(|| value.as_str().to_owned()))
        }
        _ => value,
    }
}
