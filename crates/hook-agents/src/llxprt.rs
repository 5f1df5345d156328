//! llxprt, a fork of Gemini CLI with fewer kinds of answers.

use hook_json::{JsonObject, RawJson};
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::claude::parse_object;
use super::gemini::{self, GEMINI};
use super::paths::{Plugins, SettingsPaths};
use super::table::{
    Agent, AgentEvent, Consent, ConsentForm, Entry, Family, Tool, Variable, WindowsShell,
    sample_answer, tool,
};
use super::verdict::{AgentResponse, Verdict};

const TOOLS: &[Tool] = &[
    // The first name of a tool is the one that is sent; the others are only read.
    tool("read_file", "read_file"),
    tool("replace", "replace"),
    tool("grep_search", "search_file_content"),
    tool("grep_search", "ripgrep"),
    tool("read_file", "read_line_range"),
    tool("replace", "insert_at_line"),
    tool("replace", "delete_line_range"),
    tool("web_fetch", "direct_web_fetch"),
    tool("google_web_search", "exa_web_search"),
    tool("invoke_agent", "task"),
    tool("write_todos", "todo_write"),
];

pub(super) static AGENT: Agent = Agent {
    name: "llxprt",
    title: "llxprt",
    tools: TOOLS,
    mcp: ("mcp__", "__"),
    variables: &[("LLXPRT_PROJECT_DIR", Variable::Cwd)],
    family: Family::Llxprt,
    ignores: &[("BeforeTool", &["an ask: it is a denial"])],
    entry: Some(Entry {
        file: "settings.json",
        in_project: Some(".llxprt/settings.json"),
        new_file: "{}\n",
        on_windows: WindowsShell::PowerShell,
        next_step: "llxprt runs hooks only where its settings say so: add \"hooksConfig\": {\"enabled\": true}; and hooks \
                    of a project for an event take the place of the user's for it: connect such a project, too",
        fields: &[],
        fail_closed: &[],
        consent: Some(Consent {
            question: "Switch hooks on in these settings of llxprt?",
            file: None,
            form: ConsentForm::Switch("hooksConfig", "enabled"),
        }),
    }),
    paths: SettingsPaths {
        variable: Some("LLXPRT_CONFIG_HOME"),
        folder: if cfg!(target_os = "macos") {
            "Library/Preferences/llxprt-code"
        } else {
            ".config/llxprt-code"
        },
        project: &[".llxprt/settings.json"],
        user: &["settings.json"],
        system: &[],
        plugins: Some(Plugins {
            folders: "extensions/*",
            files: &["gemini-extension.json"],
            manifest: "llxprt-extension.json",
            installed: None,
            enabled: None,
        }),
    },
    hook_keys: &[],
    notes: &[
        "An object counts on exit code 0 only; exit code 2 blocks, whatever stands on standard output; any other code is a warning. To ask means to allow.",
        "It runs hooks only with `hooksConfig.enabled`; with `tools.enableHooks: false` none. `hook` takes files without them as if they were on.",
        "Hooks of a project for an event take the place of the user's for it.",
        "On macOS the user's folder is `~/Library/Preferences/llxprt-code`.",
    ],
    sample_answers: &[
        sample_answer(
            "BeforeTool",
            r#"{"decision":"allow"}"#,
            "llxprt docs/hooks and packages/core/src/hooks (2026-08): it lifts no confirmation",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"decision":"ask"}"#,
            "llxprt docs/hooks and packages/core/src/hooks (2026-08): an ask lets the tool run",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"decision":"deny"}"#,
            "llxprt docs/hooks and packages/core/src/hooks (2026-08)",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            "llxprt docs/hooks and packages/core/src/hooks (2026-08)",
        ),
        sample_answer(
            "BeforeTool",
            r#"{"hookSpecificOutput":{"tool_input":{"command":"ls"}}}"#,
            "llxprt docs/hooks and packages/core/src/hooks (2026-08)",
        ),
        sample_answer(
            "BeforeTool",
            r#"done"#,
            "llxprt docs/hooks and packages/core/src/hooks (2026-08): an allow with a message",
        ),
    ],
    checked: None,
    ..GEMINI
};

/// Reads a hook's answer like llxprt: an object at exit code 0, a denial at exit code 2, and a
/// warning at any other.
pub(super) fn read_answer(_event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    let (stdout, stderr) = (process.stdout.trim(), process.stderr.trim());
    match process.code.unwrap_or(1) {
        0 if stdout.is_empty() => ForeignAnswer::default(),
        0 => {
            let mut warnings = Vec::new();
            let output = match parse_object(stdout) {
                Some(fields) => read_output(fields, &mut warnings),
                None => HookOutput::allow().with_system_message(stdout),
            };
            ForeignAnswer { output: Some(output), warnings, ..ForeignAnswer::default() }
        }
        2 => {
            let reason = match stderr {
                "" => "Hook exited with code 2 without an error message",
                text => text,
            };
            ForeignAnswer { output: Some(HookOutput::deny(reason)), ..ForeignAnswer::default() }
        }
        code => {
            let warning = || HookOutput::allow().with_system_message(format!("Warning: {stderr}"));
            let output = (!stderr.is_empty()).then(warning);
            let failure = Some(HookFailure::ExitCode { code });
            ForeignAnswer { output, failure, ..ForeignAnswer::default() }
        }
    }
}

/// Reads Gemini CLI's fields, and a denial in Claude Code's form. An ask counts as an allow.
fn read_output(fields: JsonObject, warnings: &mut Vec<String>) -> HookOutput {
    let specific = fields.get("hookSpecificOutput").and_then(|value| value.to_object().ok());
    let specific_text = |name: &str| specific.as_ref()?.get(name).and_then(RawJson::to_text);
    let (permission, reason) =
        (specific_text("permissionDecision"), specific_text("permissionDecisionReason"));
    let mut output = HookOutput::read(fields, warnings);
    if let Some(specific) = &mut output.hook_specific_output {
        specific.remove("permissionDecision");
        specific.remove("permissionDecisionReason");
    }
    if output.decision == Some(Decision::Ask) {
        output.decision = Some(Decision::Allow);
    }
    if matches!(permission.as_deref(), Some("deny" | "block")) {
        output.decision = Some(Decision::Deny);
        output.reason = reason.or(output.reason);
    }
    output
}

/// Renders the response as for Gemini CLI, but denies instead of asking, which would allow.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    gemini::render_fork(event, verdict, false)
}
