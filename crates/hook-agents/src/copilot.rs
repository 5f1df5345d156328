//! GitHub Copilot CLI. Its events have two forms: its own, and Claude Code's with Claude's names.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignAnswer, ForeignHook, ProcessOutput};

use super::claude::{self, parse_object, stderr_reason};
use super::kind::{EventSet, HookKind, HttpRules, UnencryptedRequests};
use super::matching;
use super::paths::{Plugins, SettingsPaths};
use super::syntax::Comments;
use super::table::{
    Agent, AgentEvent, BaseField, Checked, Consent, ConsentForm, Coverage, Directory, Entry,
    ExitTwo, Expansion, Family, Layout, MatcherRule, Reach, SettingsForm, Since, Subject, Timeouts,
    Tool, Variable, WindowsShell, sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict, put};

const OWN_CALL: &[(&str, &str)] = &[("tool_name", "toolName"), ("tool_input", "toolArgs")];
const CLAUDE_CALL: &[(&str, &str)] = &[("tool_name", "tool_name"), ("tool_input", "tool_input")];
const OWN_BASE: &[(BaseField, &str)] = &[
    (BaseField::Session, "sessionId"),
    (BaseField::Milliseconds, "timestamp"),
    (BaseField::Cwd, "cwd"),
    (BaseField::Transcript, "transcriptPath"),
];
const CLAUDE_BASE: &[(BaseField, &str)] = &[
    (BaseField::Event, "hook_event_name"),
    (BaseField::Session, "session_id"),
    (BaseField::Timestamp, "timestamp"),
    (BaseField::Cwd, "cwd"),
    (BaseField::Transcript, "transcript_path"),
];
const OWN_TOOLS: &[Tool] = &[
    tool("run_shell_command", "bash"),
    Tool { native: "read_file", foreign: "view", fields: &[("file_path", "path")] },
    Tool {
        native: "write_file",
        foreign: "create",
        fields: &[("file_path", "path"), ("content", "file_text")],
    },
    Tool {
        native: "replace",
        foreign: "edit",
        fields: &[("file_path", "path"), ("old_string", "old_str"), ("new_string", "new_str")],
    },
    tool("glob", "glob"),
    tool("grep_search", "grep"),
    tool("web_fetch", "web_fetch"),
    tool("google_web_search", "web_search"),
    tool("invoke_agent", "task"),
    tool("ask_user", "ask_user"),
    tool("run_shell_command", "powershell"),
    tool("apply_patch", "apply_patch"),
    Tool {
        native: "replace",
        foreign: "str_replace_editor",
        fields: &[("file_path", "path"), ("old_string", "old_str"), ("new_string", "new_str")],
    },
    tool("grep_search", "rg"),
    tool("write_todos", "update_todo"),
];

/// The event of a prompt, which a hook may answer instead of the model.
const PROMPT: &str = "userPromptSubmitted";

/// An event in Copilot's own form.
const fn own_form(event: AgentEvent) -> AgentEvent {
    AgentEvent { base_fields: Some(OWN_BASE), tools: Some(OWN_TOOLS), ..event }
}

/// An event in Claude Code's form.
const fn claude_form(event: AgentEvent) -> AgentEvent {
    AgentEvent {
        base_fields: Some(CLAUDE_BASE),
        tools: Some(claude::TOOLS),
        is_unconnected: true,
        ..event
    }
}

const fn blocking(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const NO_TURN: &[(&str, &str)] =
    &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")];
const NO_AGENT: &[(&str, &str)] = &[("agent_id", "\"\""), ("agent_type", "\"\"")];

const EVENTS: &[AgentEvent] = &[
    own_form(blocking(AgentEvent {
        subject: Subject::Tool,
        fields: OWN_CALL,
        approves: true,
        ..AgentEvent::new("preToolUse", Event::BeforeTool)
    })),
    claude_form(blocking(AgentEvent {
        subject: Subject::Tool,
        fields: CLAUDE_CALL,
        approves: true,
        ..AgentEvent::new("PreToolUse", Event::BeforeTool)
    })),
    own_form(AgentEvent {
        coverage: Coverage::Succeeded,
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "toolName"),
            ("tool_input", "toolArgs"),
            ("tool_response", "toolResult"),
        ],
        ..AgentEvent::new("postToolUse", Event::AfterTool)
    }),
    claude_form(AgentEvent {
        coverage: Coverage::Succeeded,
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_result"),
        ],
        ..AgentEvent::new("PostToolUse", Event::AfterTool)
    }),
    own_form(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "toolName"), ("tool_input", "toolArgs"), ("error", "error")],
        ..AgentEvent::new("postToolUseFailure", Event::ToolError)
    }),
    claude_form(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("error", "error")],
        ..AgentEvent::new("PostToolUseFailure", Event::ToolError)
    }),
    own_form(blocking(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "toolName"), ("tool_input", "toolInput")],
        approves: true,
        ..AgentEvent::new("permissionRequest", Event::PermissionRequest)
    })),
    claude_form(blocking(AgentEvent {
        subject: Subject::Tool,
        fields: CLAUDE_CALL,
        approves: true,
        ..AgentEvent::new("PermissionRequest", Event::PermissionRequest)
    })),
    own_form(AgentEvent {
        fields: &[("prompt", "prompt")],
        blocks: true,
        since: &[Since { part: Some("deny"), version: "1.0.78" }],
        ..AgentEvent::new("userPromptSubmitted", Event::BeforeAgent)
    }),
    claude_form(AgentEvent {
        fields: &[("prompt", "prompt")],
        ..AgentEvent::new("UserPromptSubmit", Event::BeforeAgent)
    }),
    own_form(AgentEvent {
        fields: &[("stop_hook_active", "stop_hook_active")],
        defaults: NO_TURN,
        blocks: true,
        ..AgentEvent::new("agentStop", Event::AfterAgent)
    }),
    claude_form(AgentEvent {
        fields: &[
            ("stop_hook_active", "stop_hook_active"),
            ("prompt_response", "last_assistant_message"),
        ],
        defaults: NO_TURN,
        blocks: true,
        ..AgentEvent::new("Stop", Event::AfterAgent)
    }),
    own_form(AgentEvent {
        subject: Subject::Field("agentName"),
        fields: &[("agent_type", "agentName"), ("prompt_response", "response")],
        defaults: NO_AGENT,
        blocks: true,
        ..AgentEvent::new("subagentStop", Event::SubagentStop)
    }),
    claude_form(AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        defaults: NO_AGENT,
        blocks: true,
        ..AgentEvent::new("SubagentStop", Event::SubagentStop)
    }),
    own_form(AgentEvent {
        subject: Subject::Field("agentName"),
        fields: &[("agent_type", "agentName")],
        defaults: NO_AGENT,
        ..AgentEvent::new("subagentStart", Event::SubagentStart)
    }),
    claude_form(AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        defaults: NO_AGENT,
        ..AgentEvent::new("SubagentStart", Event::SubagentStart)
    }),
    own_form(AgentEvent {
        fields: &[("source", "source")],
        defaults: &[("source", "\"startup\"")],
        ..AgentEvent::new("sessionStart", Event::SessionStart)
    }),
    claude_form(AgentEvent {
        fields: &[("source", "source")],
        defaults: &[("source", "\"startup\"")],
        ..AgentEvent::new("SessionStart", Event::SessionStart)
    }),
    own_form(AgentEvent {
        fields: &[("reason", "reason")],
        defaults: &[("reason", "\"other\"")],
        ..AgentEvent::new("sessionEnd", Event::SessionEnd)
    }),
    claude_form(AgentEvent {
        fields: &[("reason", "reason")],
        defaults: &[("reason", "\"other\"")],
        ..AgentEvent::new("SessionEnd", Event::SessionEnd)
    }),
    own_form(AgentEvent {
        fields: &[("error", "error")],
        defaults: &[("error", "\"\"")],
        ..AgentEvent::new("errorOccurred", Event::TurnFailed)
    }),
    claude_form(AgentEvent {
        fields: &[("error", "error")],
        defaults: &[("error", "\"\"")],
        ..AgentEvent::new("ErrorOccurred", Event::TurnFailed)
    }),
    own_form(AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "customInstructions")],
        ..AgentEvent::new("preCompact", Event::PreCompress)
    }),
    claude_form(AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "custom_instructions")],
        ..AgentEvent::new("PreCompact", Event::PreCompress)
    }),
    own_form(AgentEvent {
        subject: Subject::Field("notification_type"),
        fields: &[("message", "message"), ("notification_type", "notification_type")],
        ..AgentEvent::new("notification", Event::Notification)
    }),
    own_form(AgentEvent::foreign_only("userPromptTransformed")),
];

const KINDS: &[HookKind] = &[
    HookKind::new("command", EventSet::All),
    HookKind::new("http", EventSet::All),
    HookKind {
        unsupported_reason: Some("it submits a text in the user's place"),
        ..HookKind::new("prompt", EventSet::Only(&["sessionStart", "SessionStart"]))
    },
];

/// Events whose answers can let a tool run, so that their requests must be encrypted.
const APPROVING_EVENTS: &[&str] =
    &["preToolUse", "PreToolUse", "permissionRequest", "PermissionRequest"];

pub(super) static AGENT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    events: EVENTS,
    tools: OWN_TOOLS,
    mcp: ("", "-"),
    base_fields: OWN_BASE,
    settings: SettingsForm::Both,
    layout: Layout::OBJECT,
    hook_kinds: KINDS,
    http: Some(HttpRules {
        unencrypted: UnencryptedRequests::LocalOnly {
            variable: "COPILOT_HOOK_ALLOW_LOCALHOST",
            except_events: APPROVING_EVENTS,
        },
        object_only_events: &[],
    }),
    comments: Comments::AndTrailingCommas,
    hook_keys: &["exec", "args", "bash", "powershell", "cwd", "env"],
    timeout: Timeouts::new(&["timeoutSec", "timeout"], 1_000, 30_000),
    shell: &["bash", "--norc", "--noprofile", "-c"],
    variables: &[
        ("COPILOT_CLI", Variable::Constant("1")),
        ("COPILOT_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("PLUGIN_ROOT", Variable::PluginRoot),
        ("CLAUDE_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: None,
    expansion: Expansion::Braces,
    matcher: MatcherRule::Copilot,
    family: Family::Copilot,
    directory: Directory::Project,
    accepts_lowercase_initial: false,
    ignores: &[("permissionRequest", &["an ask"])],
    entry: Some(Entry {
        file: "hooks/hook.json",
        in_project: Some(".github/hooks/hook.json"),
        new_file: "{\"version\": 1}\t\n",
        on_windows: WindowsShell::PowerShell,
        next_step: "Copilot skips hooks in folders that it does not trust, without a word: start it in the project once and say yes",
        fields: &[],
        fail_closed: &[],
        consent: Some(Consent {
            question: "Trust this folder for Copilot CLI?",
            file: Some("config.json"),
            form: ConsentForm::ArrayItem("trustedFolders"),
        }),
    }),
    top_level_denial: Some("deny"),
    caps_continuations: true,
    paths: SettingsPaths {
        variable: Some("COPILOT_HOME"),
        folder: ".copilot",
        project: &[
            ".github/hooks/*.json",
            ".github/copilot/settings.local.json",
            ".github/copilot/settings.json",
        ],
        user: &["hooks/*.json", "settings.json"],
        system: &["etc/github-copilot/policy.d/*.json"],
        plugins: Some(Plugins {
            folders: "installed-plugins/*/*",
            files: &["hooks.json", "hooks/hooks.json"],
            manifest: "plugin.json",
            installed: None,
            enabled: None,
        }),
    },
    is_identified_by_path: true,
    // VS Code's hooks are in files that are also Copilot's.
    reads_files_of: &[("claude", Reach::Projects), ("vscode", Reach::All)],
    runs_once: false,
    other_form: None,
    sample_answers: &[
        sample_answer(
            "preToolUse",
            r#"{"permissionDecision":"allow"}"#,
            "GitHub Copilot hooks reference (2026): the user is not asked",
        ),
        sample_answer(
            "preToolUse",
            r#"{"permissionDecision":"ask"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        sample_answer(
            "preToolUse",
            r#"{"permissionDecision":"deny"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        sample_answer(
            "preToolUse",
            r#"{"modifiedArgs":{"command":"ls"}}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        sample_answer("preToolUse", r#"done"#, "GitHub Copilot hooks reference (2026): no output"),
        sample_answer(
            "permissionRequest",
            r#"{"behavior":"allow"}"#,
            "GitHub Copilot hooks reference (2026): it answers the prompt",
        ),
        sample_answer(
            "permissionRequest",
            r#"{"behavior":"deny"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        sample_answer(
            "userPromptSubmitted",
            r#"{"handled":true,"responseContent":"not here"}"#,
            "seen, 1.0.102: the model is not asked, and the user sees the text",
        ),
        sample_answer(
            "agentStop",
            r#"{"decision":"block","reason":"go on"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
    ],
    has_global_switch: false,
    notes: &[
        "Each event has two names. Under its own it is told in camel case; under Claude Code's in that one's form.",
        "Before a tool every exit code but 0 denies; a timeout does not. What stands on standard error is shown to nobody.",
        "A matcher is an expression for the whole text.",
        "Lines `{\"type\": \"progress\"}` on standard output are passed over; the rest is one object.",
        "`http` hooks post without encryption only to this machine, where `COPILOT_HOOK_ALLOW_LOCALHOST` is `1`.",
    ],
    checked: Some(Checked { version: "1.0.102", date: "2026-11", seen: true }),
    never_asks: &[],
    program: None,
};

/// Matches like Copilot: an expression for the whole text. Events with Claude Code's names also
/// accept a list of exact names.
pub(super) fn matches(event: &AgentEvent, hook: &ForeignHook, input: &JsonObject) -> bool {
    let (Some(pattern), Some(subject)) = (matching::pattern(hook), matching::subject(event, input))
    else {
        return true;
    };
    if pattern == "**" {
        return true;
    }
    let is_claude_form = event.name.starts_with(|first: char| first.is_ascii_uppercase());
    match matching::names(pattern, "", &['|']).filter(|_| is_claude_form) {
        Some(names) => {
            let copilot_name = copilot_tool_name(&subject);
            names.contains(&subject.as_str())
                || copilot_name.is_some_and(|copilot_name| names.contains(&copilot_name))
        }
        None => matching::is_full_match(pattern, &subject),
    }
}

/// Returns Copilot's name of a tool of Claude Code.
fn copilot_tool_name(claude_name: &str) -> Option<&'static str> {
    let native = claude::TOOLS.iter().find(|tool| tool.foreign == claude_name)?.native;
    OWN_TOOLS.iter().find(|tool| tool.native == native).map(|tool| tool.foreign)
}

fn is_tool_call(event: &AgentEvent) -> bool {
    event.name.eq_ignore_ascii_case("preToolUse")
}

/// Checks whether the event passes context on to the model.
fn accepts_context(event: &AgentEvent) -> bool {
    const EVENTS: [&str; 7] = [
        "sessionStart",
        "subagentStart",
        "notification",
        "postToolUse",
        "postToolUseFailure",
        "userPromptSubmitted",
        "UserPromptSubmit",
    ];
    EVENTS.iter().any(|name| is_named(event, name))
}

/// Checks for this event, in either form.
fn is_named(event: &AgentEvent, name: &str) -> bool {
    event.name.eq_ignore_ascii_case(name)
}

/// Parses standard output as a single object, without its progress lines.
fn parse_output(stdout: &str) -> Option<JsonObject> {
    let is_progress = |line: &&str| {
        let object = parse_object(line);
        object.is_some_and(|fields| {
            fields.get("type").and_then(RawJson::to_text).as_deref() == Some("progress")
        })
    };
    let lines: Vec<&str> = stdout.lines().filter(|line| !is_progress(line)).collect();
    parse_object(&lines.join("\n"))
}

/// Reads a hook's answer like Copilot.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    let parsed = parse_output(process.stdout).map(|fields| read_output(event, &fields));
    match process.code {
        Some(0) => ForeignAnswer { output: parsed, ..ForeignAnswer::default() },
        Some(2) if event.exit_two == ExitTwo::Denies => {
            let mut output = parsed.unwrap_or_default();
            if output.decision != Some(Decision::Deny) || output.reason.is_none() {
                output.reason = Some(stderr_reason(process.stderr));
            }
            output.decision = Some(Decision::Deny);
            ForeignAnswer { output: Some(output), ..ForeignAnswer::default() }
        }
        Some(2) if is_named(event, "postToolUseFailure") => {
            let text = process.stdout.trim();
            let output =
                (!text.is_empty()).then(|| HookOutput::default().with_additional_context(text));
            ForeignAnswer { output, ..ForeignAnswer::default() }
        }
        // Before a tool, any failure but a timeout denies.
        Some(code) if is_tool_call(event) => {
            let text = process.stderr.trim();
            let reason = match text {
                "" => format!("the hook failed with exit code {code}"),
                text => text.to_owned(),
            };
            let output = Some(HookOutput::deny(reason));
            ForeignAnswer { output, ..ForeignAnswer::default() }
        }
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            ForeignAnswer { failure, ..ForeignAnswer::default() }
        }
    }
}

fn read_output(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = HookOutput::default();
    let mut set = |name: &str, value: &RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value.clone());
    };
    // Under Claude Code's event names, its fields are accepted, too.
    let is_claude_form = event.name.starts_with(|first: char| first.is_ascii_uppercase());
    let specific = fields.get("hookSpecificOutput").filter(|_| is_claude_form);
    let specific = specific.and_then(|value| value.to_object().ok());
    let nested_context = specific.as_ref().and_then(|object| object.get("additionalContext"));
    let context = fields.get("additionalContext").or(nested_context);
    let context = context.filter(|context| context.to_text().is_some());
    if let Some(context) = context.filter(|_| accepts_context(event)) {
        set("additionalContext", context);
    }
    if let Some(arguments) = fields.get("modifiedArgs")
        && is_tool_call(event)
    {
        set("updatedInput", arguments);
    }
    for (name, event_name) in [
        ("modifiedResult", "postToolUse"),
        ("modifiedResponse", "subagentStop"),
        ("interrupt", "permissionRequest"),
    ] {
        if let Some(value) = fields.get(name).filter(|_| is_named(event, event_name)) {
            set(name, value);
        }
    }
    if is_tool_call(event) {
        if let Some(specific) = &specific {
            claude::apply_specific(event, specific, &mut output);
        }
        let decision = match text("permissionDecision").as_deref() {
            Some("deny") => Some(Decision::Deny),
            Some("ask") => Some(Decision::Ask),
            Some("allow") => Some(Decision::Allow),
            _ => None,
        };
        if decision.is_some() {
            output.decision = decision;
            output.reason = text("permissionDecisionReason");
        }
    } else if is_named(event, "permissionRequest") {
        match text("behavior").as_deref() {
            Some("deny") => {
                output.decision = Some(Decision::Deny);
                output.reason = text("message");
            }
            Some("allow") => output.decision = Some(Decision::Allow),
            _ => {}
        }
    } else if is_named(event, PROMPT) {
        // The answer takes the model's place.
        if fields.get("handled").and_then(RawJson::to_bool) == Some(true) {
            output.decision = Some(Decision::Deny);
            output.reason = text("responseContent");
        }
    } else if event.blocks && text("decision").as_deref() == Some("block") {
        output.decision = Some(Decision::Deny);
        output.reason = text("reason");
    }
    output
}

/// Renders the response for Copilot.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let mut answer = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    if is_tool_call(event) {
        put(&mut answer, "permissionDecision", verdict.decision_name());
        put(&mut answer, "permissionDecisionReason", verdict.decision_reason());
        if let Some(input) = verdict.tool_input {
            answer.insert("modifiedArgs", input.clone());
        }
    } else if is_named(event, "permissionRequest") {
        let behavior = if verdict.forbids() {
            Some("deny")
        } else {
            (verdict.allowed && !verdict.asks()).then_some("allow")
        };
        put(&mut answer, "behavior", behavior);
        put(&mut answer, "message", verdict.forbids().then(|| verdict.reason_or_default()));
        verdict.copy_fields(&["interrupt"], &mut answer);
    } else if is_named(event, PROMPT) && refuses {
        answer.insert("handled", RawJson::from_bool(true));
        put(&mut answer, "responseContent", Some(verdict.reason_or_default()));
    } else if event.blocks && refuses && !verdict.stops() {
        put(&mut answer, "decision", Some("block"));
        put(&mut answer, "reason", Some(verdict.reason_or_default()));
    }
    if accepts_context(event) {
        put(&mut answer, "additionalContext", verdict.additional_context);
    }
    // A result cannot be refused, but replaced.
    if is_named(event, "postToolUse") && refuses {
        let mut result = JsonObject::new();
        put(&mut result, "resultType", Some("failure"));
        put(&mut result, "textResultForLlm", Some(verdict.reason_or_default()));
        answer.insert("modifiedResult", result.to_raw());
        return AgentResponse::json(&answer);
    }
    verdict.copy_fields(&["modifiedResult", "modifiedResponse"], &mut answer);
    AgentResponse::json(&answer)
}
