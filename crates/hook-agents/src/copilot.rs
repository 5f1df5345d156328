//! GitHub Copilot CLI. Its events have two forms: its own, and Claude Code's with Claude's names.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::HookFailure;
use hook_settings::language::{Ended, ForeignAnswer, ForeignHook};

use super::claude::{self, object_on, reason};
use super::kind::{At, HttpRules, Kind, Plain};
use super::matching;
use super::places::{Places, Plugins};
use super::table::{
    Agent, AgentEvent, Base, Consent, Directory, Entry, ExitTwo, Expands, Form, Part, Reach,
    SettingsForm, Subject, Timeouts, Tool, Variable, printed, tool,
};
use super::verdict::{Said, Verdict, put};
use super::written::Comments;

const OWN_CALL: &[(&str, &str)] = &[("tool_name", "toolName"), ("tool_input", "toolArgs")];
const CLAUDES_CALL: &[(&str, &str)] = &[("tool_name", "tool_name"), ("tool_input", "tool_input")];
const OWN_BASE: &[(Base, &str)] = &[
    (Base::Session, "sessionId"),
    (Base::Milliseconds, "timestamp"),
    (Base::Cwd, "cwd"),
    (Base::Transcript, "transcriptPath"),
];
const CLAUDES_BASE: &[(Base, &str)] = &[
    (Base::Event, "hook_event_name"),
    (Base::Session, "session_id"),
    (Base::Timestamp, "timestamp"),
    (Base::Cwd, "cwd"),
    (Base::Transcript, "transcript_path"),
];
const OWN_TOOLS: &[Tool] = &[
    tool("run_shell_command", "bash"),
    Tool { ours: "read_file", theirs: "view", fields: &[("file_path", "path")] },
    Tool {
        ours: "write_file",
        theirs: "create",
        fields: &[("file_path", "path"), ("content", "file_text")],
    },
    Tool {
        ours: "replace",
        theirs: "edit",
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
        ours: "replace",
        theirs: "str_replace_editor",
        fields: &[("file_path", "path"), ("old_string", "old_str"), ("new_string", "new_str")],
    },
    tool("grep_search", "rg"),
    tool("write_todos", "update_todo"),
];

/// An event in Copilot's own form.
const fn own(event: AgentEvent) -> AgentEvent {
    AgentEvent { base: Some(OWN_BASE), tools: Some(OWN_TOOLS), ..event }
}

/// An event in Claude Code's form.
const fn claudes(event: AgentEvent) -> AgentEvent {
    AgentEvent {
        base: Some(CLAUDES_BASE),
        tools: Some(claude::TOOLS),
        is_asked_elsewhere: true,
        ..event
    }
}

const fn denying(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const NO_TURN: &[(&str, &str)] =
    &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")];
const NO_AGENT: &[(&str, &str)] = &[("agent_id", "\"\""), ("agent_type", "\"\"")];

const EVENTS: &[AgentEvent] = &[
    own(denying(AgentEvent {
        subject: Subject::Tool,
        fields: OWN_CALL,
        approves: true,
        ..AgentEvent::of("preToolUse", Event::BeforeTool)
    })),
    claudes(denying(AgentEvent {
        subject: Subject::Tool,
        fields: CLAUDES_CALL,
        approves: true,
        ..AgentEvent::of("PreToolUse", Event::BeforeTool)
    })),
    own(AgentEvent {
        part: Part::Succeeded,
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "toolName"),
            ("tool_input", "toolArgs"),
            ("tool_response", "toolResult"),
        ],
        ..AgentEvent::of("postToolUse", Event::AfterTool)
    }),
    claudes(AgentEvent {
        part: Part::Succeeded,
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_result"),
        ],
        ..AgentEvent::of("PostToolUse", Event::AfterTool)
    }),
    own(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "toolName"), ("tool_input", "toolArgs"), ("error", "error")],
        ..AgentEvent::of("postToolUseFailure", Event::ToolError)
    }),
    claudes(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input"), ("error", "error")],
        ..AgentEvent::of("PostToolUseFailure", Event::ToolError)
    }),
    own(denying(AgentEvent {
        subject: Subject::Tool,
        fields: &[("tool_name", "toolName"), ("tool_input", "toolInput")],
        approves: true,
        ..AgentEvent::of("permissionRequest", Event::PermissionRequest)
    })),
    claudes(denying(AgentEvent {
        subject: Subject::Tool,
        fields: CLAUDES_CALL,
        approves: true,
        ..AgentEvent::of("PermissionRequest", Event::PermissionRequest)
    })),
    own(AgentEvent {
        fields: &[("prompt", "prompt")],
        ..AgentEvent::of("userPromptSubmitted", Event::BeforeAgent)
    }),
    claudes(AgentEvent {
        fields: &[("prompt", "prompt")],
        ..AgentEvent::of("UserPromptSubmit", Event::BeforeAgent)
    }),
    own(AgentEvent {
        fields: &[("stop_hook_active", "stop_hook_active")],
        missing: NO_TURN,
        blocks: true,
        ..AgentEvent::of("agentStop", Event::AfterAgent)
    }),
    claudes(AgentEvent {
        fields: &[
            ("stop_hook_active", "stop_hook_active"),
            ("prompt_response", "last_assistant_message"),
        ],
        missing: NO_TURN,
        blocks: true,
        ..AgentEvent::of("Stop", Event::AfterAgent)
    }),
    own(AgentEvent {
        subject: Subject::Field("agentName"),
        fields: &[("agent_type", "agentName"), ("prompt_response", "response")],
        missing: NO_AGENT,
        blocks: true,
        ..AgentEvent::of("subagentStop", Event::SubagentStop)
    }),
    claudes(AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        missing: NO_AGENT,
        blocks: true,
        ..AgentEvent::of("SubagentStop", Event::SubagentStop)
    }),
    own(AgentEvent {
        subject: Subject::Field("agentName"),
        fields: &[("agent_type", "agentName")],
        missing: NO_AGENT,
        ..AgentEvent::of("subagentStart", Event::SubagentStart)
    }),
    claudes(AgentEvent {
        subject: Subject::Field("agent_type"),
        fields: &[("agent_id", "agent_id"), ("agent_type", "agent_type")],
        missing: NO_AGENT,
        ..AgentEvent::of("SubagentStart", Event::SubagentStart)
    }),
    own(AgentEvent {
        fields: &[("source", "source")],
        missing: &[("source", "\"startup\"")],
        ..AgentEvent::of("sessionStart", Event::SessionStart)
    }),
    claudes(AgentEvent {
        fields: &[("source", "source")],
        missing: &[("source", "\"startup\"")],
        ..AgentEvent::of("SessionStart", Event::SessionStart)
    }),
    own(AgentEvent {
        fields: &[("reason", "reason")],
        missing: &[("reason", "\"other\"")],
        ..AgentEvent::of("sessionEnd", Event::SessionEnd)
    }),
    claudes(AgentEvent {
        fields: &[("reason", "reason")],
        missing: &[("reason", "\"other\"")],
        ..AgentEvent::of("SessionEnd", Event::SessionEnd)
    }),
    own(AgentEvent {
        fields: &[("error", "error")],
        missing: &[("error", "\"\"")],
        ..AgentEvent::of("errorOccurred", Event::TurnFailed)
    }),
    claudes(AgentEvent {
        fields: &[("error", "error")],
        missing: &[("error", "\"\"")],
        ..AgentEvent::of("ErrorOccurred", Event::TurnFailed)
    }),
    own(AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "customInstructions")],
        ..AgentEvent::of("preCompact", Event::PreCompress)
    }),
    claudes(AgentEvent {
        subject: Subject::Field("trigger"),
        fields: &[("trigger", "trigger"), ("custom_instructions", "custom_instructions")],
        ..AgentEvent::of("PreCompact", Event::PreCompress)
    }),
    own(AgentEvent {
        subject: Subject::Field("notification_type"),
        fields: &[("message", "message"), ("notification_type", "notification_type")],
        ..AgentEvent::of("notification", Event::Notification)
    }),
    own(AgentEvent::own("userPromptTransformed")),
];

const KINDS: &[Kind] = &[
    Kind::new("command", At::All),
    Kind::new("http", At::All),
    Kind {
        impossible: Some("it submits a text in the user's place"),
        ..Kind::new("prompt", At::Only(&["sessionStart", "SessionStart"]))
    },
];

/// Events whose answers can let a tool run, so that their requests must be encrypted.
const GRANTING: &[&str] = &["preToolUse", "PreToolUse", "permissionRequest", "PermissionRequest"];

pub(super) static AGENT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    events: EVENTS,
    tools: OWN_TOOLS,
    mcp: ("", "-"),
    base: OWN_BASE,
    settings: SettingsForm::Both,
    kinds: KINDS,
    http: Some(HttpRules {
        plain: Plain::Here { variable: "COPILOT_HOOK_ALLOW_LOCALHOST", not_at: GRANTING },
        text_is_nothing_at: &[],
    }),
    comments: Comments::AndCommas,
    keys: &["exec", "args", "bash", "powershell", "cwd", "env"],
    timeout: Timeouts::of(&["timeoutSec", "timeout"], 1_000, 30_000),
    shell: &["bash", "--norc", "--noprofile", "-c"],
    variables: &[
        ("COPILOT_CLI", Variable::Word("1")),
        ("COPILOT_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("PLUGIN_ROOT", Variable::PluginRoot),
        ("CLAUDE_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: None,
    expands: Expands::Braces,
    matches,
    answer,
    say,
    directory: Directory::Project,
    takes_any_case: false,
    ignores: &[("permissionRequest", &["an ask"])],
    entry: Some(Entry {
        file: "hooks/hook.json",
        in_project: ".github/hooks/hook.json",
        new_file: "{\"version\": 1}\t\n",
        remains: "Copilot skips hooks in folders that it does not trust, without a word: start it in the project once and say yes",
        consent: Some(Consent {
            question: "Trust this folder for Copilot CLI?",
            file: Some("config.json"),
            form: Form::In("trustedFolders"),
        }),
    }),
    top_level: Some("deny"),
    caps_continuations: true,
    places: Places {
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
    is_told_by_place: true,
    // VS Code's hooks are in files that are also Copilot's.
    runs_too: &[("claude", Reach::Projects), ("vscode", Reach::All)],
    runs_once: false,
    reads_as_own: None,
    answers: &[
        printed(
            "preToolUse",
            r#"{"permissionDecision":"allow"}"#,
            "GitHub Copilot hooks reference (2026): the user is not asked",
        ),
        printed(
            "preToolUse",
            r#"{"permissionDecision":"ask"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        printed(
            "preToolUse",
            r#"{"permissionDecision":"deny"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        printed(
            "preToolUse",
            r#"{"modifiedArgs":{"command":"ls"}}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        printed("preToolUse", r#"done"#, "GitHub Copilot hooks reference (2026): no output"),
        printed(
            "permissionRequest",
            r#"{"behavior":"allow"}"#,
            "GitHub Copilot hooks reference (2026): it answers the prompt",
        ),
        printed(
            "permissionRequest",
            r#"{"behavior":"deny"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
        printed(
            "agentStop",
            r#"{"decision":"block","reason":"go on"}"#,
            "GitHub Copilot hooks reference (2026)",
        ),
    ],
    has_one_switch: false,
    notes: &[
        "Each event has two names. Under its own it is told in camel case; under Claude Code's in that one's form.",
        "Before a tool every exit code but 0 denies; a timeout does not. What stands on standard error is shown to nobody.",
        "A matcher is an expression for the whole text.",
        "Lines `{\"type\": \"progress\"}` on standard output are passed over; the rest is one object.",
        "`http` hooks post without encryption only to this machine, where `COPILOT_HOOK_ALLOW_LOCALHOST` is `1`.",
    ],
};

/// Matches like Copilot: an expression for the whole text. Events with Claude Code's names also
/// accept a list of exact names.
fn matches(event: &AgentEvent, hook: &ForeignHook, told: &JsonObject) -> bool {
    let (Some(pattern), Some(subject)) = (matching::pattern(hook), matching::subject(event, told))
    else {
        return true;
    };
    if pattern == "**" {
        return true;
    }
    let is_claudes = event.name.starts_with(|first: char| first.is_ascii_uppercase());
    match matching::names(pattern, "", &['|']).filter(|_| is_claudes) {
        Some(names) => {
            let own = own_name(&subject);
            names.contains(&subject.as_str()) || own.is_some_and(|own| names.contains(&own))
        }
        None => matching::is_whole(pattern, &subject),
    }
}

/// Returns Copilot's name of a tool of Claude Code.
fn own_name(claudes: &str) -> Option<&'static str> {
    let ours = claude::TOOLS.iter().find(|tool| tool.theirs == claudes)?.ours;
    OWN_TOOLS.iter().find(|tool| tool.ours == ours).map(|tool| tool.theirs)
}

fn is_call(event: &AgentEvent) -> bool {
    event.name.eq_ignore_ascii_case("preToolUse")
}

/// Checks whether the event passes context on to the model.
fn takes_context(event: &AgentEvent) -> bool {
    const EVENTS: [&str; 7] = [
        "sessionStart",
        "subagentStart",
        "notification",
        "postToolUse",
        "postToolUseFailure",
        "userPromptSubmitted",
        "UserPromptSubmit",
    ];
    EVENTS.iter().any(|name| is(event, name))
}

/// Checks for this event, in either form.
fn is(event: &AgentEvent, name: &str) -> bool {
    event.name.eq_ignore_ascii_case(name)
}

/// Parses standard output as a single object, without its progress lines.
fn document(stdout: &str) -> Option<JsonObject> {
    let is_progress = |line: &&str| {
        let object = object_on(line);
        object.is_some_and(|it| {
            it.get("type").and_then(RawJson::to_text).as_deref() == Some("progress")
        })
    };
    let lines: Vec<&str> = stdout.lines().filter(|line| !is_progress(line)).collect();
    object_on(&lines.join("\n"))
}

/// Reads a hook's answer like Copilot.
fn answer(event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    let said = document(ended.stdout).map(|fields| of_object(event, &fields));
    match ended.code {
        Some(0) => ForeignAnswer { output: said, ..ForeignAnswer::default() },
        Some(2) if event.exit_two == ExitTwo::Denies => {
            let mut output = said.unwrap_or_default();
            if output.decision != Some(Decision::Deny) || output.reason.is_none() {
                output.reason = Some(reason(ended.stderr));
            }
            output.decision = Some(Decision::Deny);
            ForeignAnswer { output: Some(output), ..ForeignAnswer::default() }
        }
        Some(2) if is(event, "postToolUseFailure") => {
            let text = ended.stdout.trim();
            let output =
                (!text.is_empty()).then(|| HookOutput::default().with_additional_context(text));
            ForeignAnswer { output, ..ForeignAnswer::default() }
        }
        // Before a tool, any failure but a timeout denies.
        Some(code) if is_call(event) => {
            let text = ended.stderr.trim();
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

fn of_object(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let mut output = HookOutput::default();
    let mut set = |name: &str, value: &RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value.clone());
    };
    // Under Claude Code's event names, its fields are accepted, too.
    let is_claudes = event.name.starts_with(|first: char| first.is_ascii_uppercase());
    let specific = fields.get("hookSpecificOutput").filter(|_| is_claudes);
    let specific = specific.and_then(|it| it.to_object().ok());
    let theirs = specific.as_ref().and_then(|it| it.get("additionalContext"));
    let context = fields.get("additionalContext").or(theirs);
    let context = context.filter(|it| it.to_text().is_some());
    if let Some(context) = context.filter(|_| takes_context(event)) {
        set("additionalContext", context);
    }
    if let Some(arguments) = fields.get("modifiedArgs")
        && is_call(event)
    {
        set("updatedInput", arguments);
    }
    for (name, of) in [
        ("modifiedResult", "postToolUse"),
        ("modifiedResponse", "subagentStop"),
        ("interrupt", "permissionRequest"),
    ] {
        if let Some(value) = fields.get(name).filter(|_| is(event, of)) {
            set(name, value);
        }
    }
    if is_call(event) {
        if let Some(specific) = &specific {
            claude::take_specific(event, specific, &mut output);
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
    } else if is(event, "permissionRequest") {
        match text("behavior").as_deref() {
            Some("deny") => {
                output.decision = Some(Decision::Deny);
                output.reason = text("message");
            }
            Some("allow") => output.decision = Some(Decision::Allow),
            _ => {}
        }
    } else if event.blocks && text("decision").as_deref() == Some("block") {
        output.decision = Some(Decision::Deny);
        output.reason = text("reason");
    }
    output
}

/// Renders the response for Copilot.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    let mut answer = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    if is_call(event) {
        put(&mut answer, "permissionDecision", verdict.word());
        put(&mut answer, "permissionDecisionReason", verdict.word_reason());
        if let Some(input) = verdict.tool_input {
            answer.insert("modifiedArgs", input.clone());
        }
    } else if is(event, "permissionRequest") {
        let word = if verdict.forbids() {
            Some("deny")
        } else {
            (verdict.allowed && !verdict.asks()).then_some("allow")
        };
        put(&mut answer, "behavior", word);
        put(&mut answer, "message", verdict.forbids().then(|| verdict.why()));
        verdict.copy(&["interrupt"], &mut answer);
    } else if event.blocks && refuses && !verdict.stops() {
        put(&mut answer, "decision", Some("block"));
        put(&mut answer, "reason", Some(verdict.why()));
    }
    if takes_context(event) {
        put(&mut answer, "additionalContext", verdict.additional_context);
    }
    // A result cannot be refused, but replaced.
    if is(event, "postToolUse") && refuses {
        let mut result = JsonObject::new();
        put(&mut result, "resultType", Some("failure"));
        put(&mut result, "textResultForLlm", Some(verdict.why()));
        answer.insert("modifiedResult", result.to_raw());
        return Said::json(&answer);
    }
    verdict.copy(&["modifiedResult", "modifiedResponse"], &mut answer);
    Said::json(&answer)
}
