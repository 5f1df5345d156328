//! Cursor.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName as Event;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::{Ended, ForeignAnswer, ForeignHook};

use super::claude::{object_on, reason};
use super::cursor_values;
use super::kind::{At, Kind};
use super::matching;
use super::places::{Places, Plugins};
use super::table::{
    Agent, AgentEvent, Base, Directory, Entry, ExitTwo, Expands, OtherForm, Part, Reach,
    SettingsForm, Subject, Timeouts, Tool, Variable, printed, tool,
};
use super::verdict::{Said, Verdict, put};
use super::written::Comments;

const fn denying(event: AgentEvent) -> AgentEvent {
    AgentEvent { exit_two: ExitTwo::Denies, blocks: true, ..event }
}

const SHELL: Part = Part::Tools(&["run_shell_command"]);

const EVENTS: &[AgentEvent] = &[
    denying(AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_call_id", "tool_use_id"),
        ],
        ..AgentEvent::of("preToolUse", Event::BeforeTool)
    }),
    denying(AgentEvent {
        part: SHELL,
        subject: Subject::Field("command"),
        fields: &[("tool_input.command", "command")],
        value: Some(cursor_values::of_shell),
        beside: &["sandbox"],
        is_asked_elsewhere: true,
        ..AgentEvent::of("beforeShellExecution", Event::BeforeTool)
    }),
    denying(AgentEvent {
        part: Part::Mcp,
        subject: Subject::Field("tool_name"),
        fields: &[("tool_name", "tool_name"), ("tool_input", "tool_input")],
        value: Some(cursor_values::of_server),
        beside: &["mcp_server_name"],
        is_asked_elsewhere: true,
        ..AgentEvent::of("beforeMCPExecution", Event::BeforeTool)
    }),
    denying(AgentEvent {
        part: Part::Tools(&["read_file"]),
        subject: Subject::Word("Read"),
        fields: &[("tool_input.file_path", "file_path")],
        value: Some(cursor_values::of_file),
        beside: &["content", "attachments"],
        is_asked_elsewhere: true,
        ..AgentEvent::of("beforeReadFile", Event::BeforeTool)
    }),
    AgentEvent {
        part: Part::Succeeded,
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "tool_output"),
            ("duration_ms", "duration"),
            ("tool_call_id", "tool_use_id"),
        ],
        value: Some(cursor_values::of_result),
        ..AgentEvent::of("postToolUse", Event::AfterTool)
    },
    AgentEvent {
        subject: Subject::Tool,
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("error", "error_message"),
        ],
        value: Some(cursor_values::of_result),
        beside: &["failure_type", "is_interrupt"],
        ..AgentEvent::of("postToolUseFailure", Event::ToolError)
    },
    AgentEvent {
        part: SHELL,
        subject: Subject::Field("command"),
        fields: &[
            ("tool_input.command", "command"),
            ("tool_response", "output"),
            ("duration_ms", "duration"),
        ],
        value: Some(cursor_values::of_shell),
        beside: &["sandbox"],
        missing: &[("tool_response", "\"\"")],
        is_asked_elsewhere: true,
        ..AgentEvent::of("afterShellExecution", Event::AfterTool)
    },
    AgentEvent {
        part: Part::Mcp,
        subject: Subject::Field("tool_name"),
        fields: &[
            ("tool_name", "tool_name"),
            ("tool_input", "tool_input"),
            ("tool_response", "result_json"),
            ("duration_ms", "duration"),
        ],
        value: Some(cursor_values::of_server),
        beside: &["mcp_server_name"],
        missing: &[("tool_response", "\"\"")],
        is_asked_elsewhere: true,
        ..AgentEvent::of("afterMCPExecution", Event::AfterTool)
    },
    AgentEvent {
        part: Part::Tools(&["replace", "write_file"]),
        subject: Subject::Word("Write"),
        fields: &[("tool_input.file_path", "file_path"), ("tool_input.edits", "edits")],
        value: Some(cursor_values::of_file),
        beside: &["edits"],
        missing: &[("tool_response", "\"\"")],
        is_asked_elsewhere: true,
        ..AgentEvent::of("afterFileEdit", Event::AfterTool)
    },
    denying(AgentEvent {
        subject: Subject::Word("UserPromptSubmit"),
        fields: &[("prompt", "prompt")],
        value: Some(cursor_values::of_file),
        beside: &["attachments"],
        ..AgentEvent::of("beforeSubmitPrompt", Event::BeforeAgent)
    }),
    AgentEvent {
        subject: Subject::Word("Stop"),
        missing: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        value: Some(cursor_values::of_turn),
        beside: &["status", "loop_count"],
        blocks: true,
        loop_limit: Some(5),
        ..AgentEvent::of("stop", Event::AfterAgent)
    },
    denying(AgentEvent {
        subject: Subject::Field("subagent_type"),
        fields: &[("agent_id", "subagent_id"), ("agent_type", "subagent_type"), ("task", "task")],
        missing: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        ..AgentEvent::of("subagentStart", Event::SubagentStart)
    }),
    AgentEvent {
        subject: Subject::Field("subagent_type"),
        fields: &[("agent_type", "subagent_type"), ("prompt_response", "summary")],
        missing: &[("agent_id", "\"\""), ("agent_type", "\"\"")],
        value: Some(cursor_values::of_turn),
        beside: &["status", "loop_count"],
        blocks: true,
        loop_limit: Some(5),
        ..AgentEvent::of("subagentStop", Event::SubagentStop)
    },
    AgentEvent {
        missing: &[("source", "\"startup\"")],
        value: Some(cursor_values::of_session),
        beside: &["session_id", "is_background_agent"],
        ..AgentEvent::of("sessionStart", Event::SessionStart)
    },
    AgentEvent {
        fields: &[("duration_ms", "duration_ms")],
        missing: &[("reason", "\"other\"")],
        value: Some(cursor_values::of_session),
        beside: &["session_id", "reason", "final_status", "is_background_agent"],
        ..AgentEvent::of("sessionEnd", Event::SessionEnd)
    },
    AgentEvent {
        fields: &[("trigger", "trigger")],
        ..AgentEvent::of("preCompact", Event::PreCompress)
    },
    AgentEvent { subject: Subject::Word("AgentResponse"), ..AgentEvent::own("afterAgentResponse") },
    AgentEvent { subject: Subject::Word("AgentThought"), ..AgentEvent::own("afterAgentThought") },
    denying(AgentEvent {
        subject: Subject::Word("TabRead"),
        ..AgentEvent::own("beforeTabFileRead")
    }),
    AgentEvent { subject: Subject::Word("TabWrite"), ..AgentEvent::own("afterTabFileEdit") },
    AgentEvent::own("workspaceOpen"),
];

/// Claude Code's form, which Cursor accepts, too.
const CLAUDES: OtherForm = OtherForm {
    events: &[
        ("PreToolUse", "preToolUse"),
        ("PostToolUse", "postToolUse"),
        ("UserPromptSubmit", "beforeSubmitPrompt"),
        ("Stop", "stop"),
        ("SubagentStop", "subagentStop"),
        ("SessionStart", "sessionStart"),
        ("SessionEnd", "sessionEnd"),
        ("PreCompact", "preCompact"),
    ],
    tools: &[("Bash", "Shell"), ("Edit", "Write")],
    without: &["Glob", "WebFetch", "WebSearch"],
};

const PATH: &[(&str, &str)] = &[("file_path", "path")];
const PATH_AND_CONTENTS: &[(&str, &str)] = &[("file_path", "path"), ("content", "contents")];

const KINDS: &[Kind] = &[Kind::new("command", At::All), Kind::new("prompt", At::All)];

pub(super) static AGENT: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    events: EVENTS,
    tools: &[
        tool("run_shell_command", "Shell"),
        tool("read_file", "Read"),
        tool("write_file", "Write"),
        tool("replace", "Write"),
        tool("replace", "StrReplace"),
        // The same tools with the argument names that Cursor's models use.
        Tool { ours: "read_file", theirs: "Read", fields: PATH },
        Tool { ours: "write_file", theirs: "Write", fields: PATH_AND_CONTENTS },
        Tool { ours: "replace", theirs: "StrReplace", fields: PATH },
        tool("delete_file", "Delete"),
        tool("apply_patch", "ApplyPatch"),
        tool("glob", "Glob"),
        tool("list_directory", "LS"),
        tool("web_fetch", "WebFetch"),
        tool("google_web_search", "WebSearch"),
        tool("write_todos", "TodoWrite"),
        tool("grep_search", "Grep"),
        tool("invoke_agent", "Task"),
    ],
    mcp: ("MCP:", ""),
    base: &[
        (Base::Session, "conversation_id"),
        (Base::Event, "hook_event_name"),
        (Base::Roots, "workspace_roots"),
        (Base::TranscriptOrNull, "transcript_path"),
        (Base::Cwd, "cwd"),
    ],
    settings: SettingsForm::Flat,
    kinds: KINDS,
    http: None,
    comments: Comments::None,
    keys: &["failClosed", "loop_limit"],
    timeout: Timeouts::of(&["timeout"], 1_000, 60_000),
    shell: &["bash", "-c"],
    variables: &[
        ("CURSOR_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CURSOR_VERSION", Variable::Said("cursor_version")),
        ("CURSOR_USER_EMAIL", Variable::Said("user_email")),
        ("CURSOR_TRANSCRIPT_PATH", Variable::Transcript),
        ("CURSOR_PLUGIN_ROOT", Variable::PluginRoot),
    ],
    env_file: None,
    expands: Expands::Braces,
    matches,
    answer,
    say,
    directory: Directory::OfFile,
    takes_any_case: false,
    ignores: &[
        ("preToolUse", &["an ask: it is a denial", "context"]),
        ("beforeReadFile", &["an ask: it is a denial"]),
    ],
    entry: Some(Entry {
        file: "hooks.json",
        in_project: ".cursor/hooks.json",
        new_file: "{\"version\": 1}\t\n",
        remains: "Cursor reads it by itself, in workspaces that it trusts",
        consent: None,
    }),
    top_level: Some("deny"),
    caps_continuations: true,
    places: Places {
        variable: None,
        folder: ".cursor",
        project: &[".cursor/hooks.json"],
        user: &["hooks.json"],
        system: &["etc/cursor/hooks.json"],
        plugins: Some(Plugins {
            folders: "plugins/*",
            files: &["hooks/hooks.json"],
            manifest: ".cursor-plugin/plugin.json",
            installed: None,
            enabled: None,
        }),
    },
    is_told_by_place: true,
    runs_too: &[("claude", Reach::All)],
    runs_once: false,
    reads_as_own: Some(CLAUDES),
    answers: &[
        printed(
            "preToolUse",
            r#"{"permission":"allow"}"#,
            "cursor.com/docs/hooks (2026); the CLI asks all the same",
        ),
        printed(
            "preToolUse",
            r#"{"permission":"ask"}"#,
            "cursor.com/docs/hooks (2026): accepted and not enforced",
        ),
        printed("preToolUse", r#"{"permission":"deny"}"#, "cursor.com/docs/hooks (2026)"),
        printed(
            "preToolUse",
            r#"{"updated_input":{"command":"ls"}}"#,
            "cursor.com/docs/hooks (2026)",
        ),
        printed("preToolUse", r#"done"#, "cursor.com/docs/hooks (2026): a failed run"),
        printed(
            "beforeShellExecution",
            r#"{"permission":"allow"}"#,
            "cursor.com/docs/hooks (2026); the CLI asks all the same",
        ),
        printed("beforeShellExecution", r#"{"permission":"ask"}"#, "cursor.com/docs/hooks (2026)"),
        printed("beforeShellExecution", r#"{"permission":"deny"}"#, "cursor.com/docs/hooks (2026)"),
        printed("beforeReadFile", r#"{"permission":"deny"}"#, "cursor.com/docs/hooks (2026)"),
        printed("beforeSubmitPrompt", r#"{"continue":false}"#, "cursor.com/docs/hooks (2026)"),
        printed("stop", r#"{"followup_message":"go on"}"#, "cursor.com/docs/hooks (2026)"),
    ],
    has_one_switch: false,
    notes: &[
        "The same call is asked about as `preToolUse` and as `beforeShellExecution`, `beforeMCPExecution` or `beforeReadFile`; `hook connect` writes the first. Hooks of all of them run.",
        "Exit code 2 denies; any other is a failure, which `failClosed` makes a denial.",
        "Matchers are expressions; some events are compared with a word that is always the same.",
        "Hooks of the user's run in `~/.cursor`.",
        "A message may be written `userMessage` and `agentMessage`, as in 1.7.",
        "Groups under Claude Code's names of events are its own, too: matchers may name tools as Claude Code does, no loop limit holds, and matchers that name `Glob`, `WebFetch` or `WebSearch` are passed over.",
    ],
};

/// Matches by an expression. In Claude Code's form, tools also have Claude's names.
fn matches(event: &AgentEvent, hook: &ForeignHook, told: &JsonObject) -> bool {
    let (Some(pattern), Some(subject)) = (matching::pattern(hook), matching::subject(event, told))
    else {
        return true;
    };
    let is_other_form = hook.event != event.name && event.subject == Subject::Tool;
    let others = CLAUDES.tools.iter().filter(|(_, own)| is_other_form && *own == subject);
    let names = others.map(|(theirs, _)| *theirs);
    names.chain([subject.as_str()]).any(|subject| matching::found(pattern, subject))
}

/// Checks whether the event's answers have `permission`.
fn has_permission(event: &AgentEvent) -> bool {
    matches!(
        event.name,
        "preToolUse"
            | "beforeShellExecution"
            | "beforeMCPExecution"
            | "beforeReadFile"
            | "beforeTabFileRead"
            | "subagentStart"
    )
}

/// Reads a hook's answer like Cursor: an object at exit code 0, a denial at exit code 2. Anything
/// else is a failure.
fn answer(event: &AgentEvent, ended: &Ended<'_>) -> ForeignAnswer {
    match ended.code {
        Some(0) => {}
        Some(2) if event.exit_two == ExitTwo::Denies => {
            let said = object_on(ended.stdout).map(|fields| of_object(event, &fields));
            let mut output = said.unwrap_or_default();
            if output.decision != Some(Decision::Deny) || output.reason.is_none() {
                output.reason = Some(reason(ended.stderr));
            }
            output.decision = Some(Decision::Deny);
            return ForeignAnswer { output: Some(output), ..ForeignAnswer::default() };
        }
        Some(2) => return ForeignAnswer::default(),
        code => {
            let failure = Some(HookFailure::ExitCode { code: code.unwrap_or(1) });
            return ForeignAnswer { failure, ..ForeignAnswer::default() };
        }
    }
    if ended.stdout.trim().is_empty() {
        return ForeignAnswer::default();
    }
    match object_on(ended.stdout) {
        Some(fields) => {
            ForeignAnswer { output: Some(of_object(event, &fields)), ..ForeignAnswer::default() }
        }
        None => {
            let hint = "Cursor takes nothing of such an answer".to_owned();
            let wrong = InvalidAnswer::new("standard output is no object".to_owned(), hint);
            let failure = Some(HookFailure::InvalidAnswer(wrong));
            ForeignAnswer { failure, ..ForeignAnswer::default() }
        }
    }
}

fn of_object(event: &AgentEvent, fields: &JsonObject) -> HookOutput {
    let text = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| fields.get(name));
        values.find_map(RawJson::to_text)
    };
    let mut output = HookOutput::default();
    let specific = fields.get("hookSpecificOutput").and_then(|it| it.to_object().ok());
    // In Claude Code's form, the reason is for the user.
    let theirs = specific.as_ref().and_then(|it| it.get("permissionDecisionReason")?.to_text());
    let user = text(&["user_message", "userMessage"]);
    let user = user.or(theirs.filter(|_| has_permission(event)));
    let agent = text(&["agent_message", "agentMessage"]);
    let claudes = specific.as_ref().and_then(|it| it.get("permissionDecision")?.to_text());
    if has_permission(event) {
        let word = text(&["permission"]).or(claudes);
        output.decision = match word.as_deref() {
            Some("deny") => Some(Decision::Deny),
            // Cursor cannot ask about a subagent, and refuses it.
            Some("ask") if event.name == "subagentStart" => Some(Decision::Deny),
            Some("ask") if event.name != "preToolUse" => Some(Decision::Ask),
            Some("allow") => Some(Decision::Allow),
            _ => None,
        };
        output.reason = agent.clone().or_else(|| user.clone());
    } else if event.name == "beforeSubmitPrompt" {
        if fields.get("continue").and_then(RawJson::to_bool) == Some(false) {
            output.decision = Some(Decision::Deny);
            output.reason.clone_from(&user);
        }
    } else if matches!(event.name, "stop" | "subagentStop") {
        // Claude Code's fields, at the top level or in `hookSpecificOutput`.
        let theirs = |fields: &JsonObject| {
            let word = fields.get("decision").and_then(RawJson::to_text);
            let reason = fields.get("reason").and_then(RawJson::to_text);
            reason.filter(|_| word.as_deref() == Some("block"))
        };
        let message = text(&["followup_message", "followupMessage"]);
        let message = message.or_else(|| theirs(fields));
        let message = message.or_else(|| specific.as_ref().and_then(theirs));
        if let Some(message) = message.filter(|message| !message.trim().is_empty()) {
            output.decision = Some(Decision::Deny);
            output.reason = Some(message);
        }
    }
    let mut set = |name: &str, value: &RawJson| {
        output.hook_specific_output.get_or_insert_default().insert(name, value.clone());
    };
    let claudes = specific.as_ref().and_then(|it| it.get("updatedInput"));
    let updated = fields.get("updated_input").or(claudes);
    if let Some(updated) = updated.filter(|_| event.name == "preToolUse") {
        set("updatedInput", updated);
    }
    let context = fields.get("additional_context").filter(|it| it.to_text().is_some());
    if let Some(context) = context.filter(|_| matches!(event.name, "postToolUse" | "sessionStart"))
    {
        set("additionalContext", context);
    }
    if let Some(env) = fields.get("env").filter(|_| event.name == "sessionStart") {
        set("env", env);
    }
    for (name, of) in [("updated_mcp_tool_output", "postToolUse"), ("pluginPaths", "workspaceOpen")]
    {
        if let Some(value) = fields.get(name).filter(|_| event.name == of) {
            set(name, value);
        }
    }
    for (name, value) in [("user_message", &user), ("agent_message", &agent)] {
        if let Some(value) = value {
            set(name, &RawJson::from_text(value));
        }
    }
    output
}

/// Renders the response for Cursor.
fn say(event: &AgentEvent, verdict: &Verdict<'_>) -> Said {
    let mut answer = JsonObject::new();
    let refuses = verdict.forbids() || verdict.asks();
    if has_permission(event) {
        // Cursor ignores an ask before a tool, and before a file is read.
        let can_ask = matches!(event.name, "beforeShellExecution" | "beforeMCPExecution");
        let word = match () {
            () if verdict.forbids() || verdict.asks() && !can_ask => Some("deny"),
            // Only `preToolUse` can change arguments; the tool must not run unchanged.
            () if verdict.tool_input.is_some() && event.name != "preToolUse" => Some("deny"),
            () if verdict.asks() => Some("ask"),
            () if verdict.allowed => Some("allow"),
            () => None,
        };
        put(&mut answer, "permission", word);
        if let Some(input) = verdict.tool_input.filter(|_| event.name == "preToolUse" && !refuses) {
            answer.insert("updated_input", input.clone());
        }
        if refuses {
            put_messages(&mut answer, verdict);
        }
    } else if event.name == "beforeSubmitPrompt" {
        if refuses {
            answer.insert("continue", RawJson::from_bool(false));
            put(&mut answer, "user_message", Some(verdict.why()));
        }
    } else if matches!(event.name, "stop" | "subagentStop") && refuses && !verdict.stops() {
        put(&mut answer, "followup_message", Some(verdict.why()));
    }
    if matches!(event.name, "postToolUse" | "sessionStart") {
        put(&mut answer, "additional_context", verdict.additional_context);
        // A result cannot be refused, so the model gets the reason as context.
        if refuses && verdict.additional_context.is_none() {
            put(&mut answer, "additional_context", Some(verdict.why()));
        }
    }
    let own: &[&str] = match event.name {
        "sessionStart" => &["env"],
        "postToolUse" => &["updated_mcp_tool_output"],
        "workspaceOpen" => &["pluginPaths"],
        "preCompact" => &["user_message"],
        _ => &[],
    };
    verdict.copy(own, &mut answer);
    Said::json(&answer)
}

/// Adds the messages of a refusal. Cursor's own hooks have separate ones for the user and the
/// model; they are used if one is the whole reason. Otherwise both get the reason.
fn put_messages(answer: &mut JsonObject, verdict: &Verdict<'_>) {
    let names = ["user_message", "agent_message"];
    let own = names.map(|name| verdict.specific(name));
    let says_why = |it: &&RawJson| it.to_text().as_deref() == Some(verdict.why());
    let is_all = own.iter().flatten().any(says_why);
    for (name, own) in names.into_iter().zip(own) {
        match own {
            Some(own) if is_all => answer.insert(name, own.clone()),
            None if is_all => {}
            _ => put(answer, name, Some(verdict.why())),
        }
    }
}
