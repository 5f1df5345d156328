//! What was not sent in the form of the agent that is named, and input that does not end.

use std::fs;
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use hook_tests::{Finished, Hook, Project, hook_binary};
use serde_json::{Value, json};

use super::answer;

/// A project with a guard of the user's.
fn guarded() -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command",
        "failBehavior": "block", "command": "echo no >&2; exit 2"}]}]}});
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    project
}

fn asked(project: &Project, agent: &str, event: &str, sent: &str) -> Finished {
    Hook::new(project, &["bridge", agent, event]).stdin(sent).run()
}

/// What Grok sends, whichever agent's file it has read.
fn of_grok(project: &Project) -> Value {
    json!({"hookEventName": "pre_tool_use", "sessionId": "s", "cwd": project.path(),
        "workspaceRoot": project.path(), "toolName": "run_terminal_cmd",
        "toolInput": {"command": "rm -rf /"}})
}

/// Agents, the event before a tool, where their own denial stands, and its word.
const AGENTS: [(&str, &str, &str); 7] = [
    ("claude", "PreToolUse", "/hookSpecificOutput/permissionDecision"),
    ("gemini", "BeforeTool", "/decision"),
    ("llxprt", "BeforeTool", "/decision"),
    ("qwen", "PreToolUse", "/hookSpecificOutput/permissionDecision"),
    ("codex", "PreToolUse", "/hookSpecificOutput/permissionDecision"),
    ("cursor", "preToolUse", "/permission"),
    ("vscode", "PreToolUse", "/hookSpecificOutput/permissionDecision"),
];

fn assert_refused_in_every_way(agent: &str, place: &str, finished: &Finished) {
    assert_eq!(finished.status, 2, "{agent}: {finished:?}");
    assert!(!finished.stderr.trim().is_empty(), "{agent}: {finished:?}");
    let answered = answer(finished);
    assert_eq!(answered.pointer(place), Some(&json!("deny")), "{agent}: {answered}");
    // An unknown key makes an answer to Codex invalid.
    let top = answered["decision"].as_str().unwrap_or_default();
    assert_eq!(matches!(top, "deny" | "block"), agent != "codex", "{agent}: {answered}");
}

#[test]
fn fault_57_what_is_not_in_the_agents_form_is_refused_in_every_way() {
    for (agent, event, place) in AGENTS {
        let project = guarded();
        let finished = asked(&project, agent, event, &of_grok(&project).to_string());
        assert_refused_in_every_way(agent, place, &finished);
        // Where nothing guards, nothing is refused.
        let project = Project::new();
        let finished = asked(&project, agent, event, &of_grok(&project).to_string());
        assert_eq!(finished.status, 0, "{agent}: {finished:?}");
        assert!(!finished.stdout.contains("deny"), "{agent}: {finished:?}");
    }
}

/// Cursor and VS Code run what stands in Claude Code's file, and send their own.
#[test]
fn fault_57_who_reads_the_file_of_another_is_refused_as_it_obeys() {
    let project = guarded();
    for sent in [
        json!({"conversation_id": "c", "hook_event_name": "preToolUse", "cursor_version": "2.4.0",
            "workspace_roots": [project.path()], "tool_name": "Shell",
            "tool_input": {"command": "ls"}}),
        json!({"sessionId": "s", "hookEventName": "PreToolUse", "cwd": project.path(),
            "tool_name": "run_in_terminal", "tool_input": {"command": "ls"}}),
    ] {
        let finished = asked(&project, "claude", "PreToolUse", &sent.to_string());
        assert_refused_in_every_way("claude", AGENTS[0].2, &finished);
    }
    // The agent's own form is answered as ever.
    let own = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let finished = asked(&project, "claude", "PreToolUse", &own.to_string());
    let denial = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "no"}});
    assert_eq!((finished.status, answer(&finished)), (0, denial));
}

#[test]
fn fault_57_what_cannot_be_read_is_refused_in_every_way() {
    for (agent, event, place) in AGENTS {
        for sent in ["nonsense", "", "[]", "7", r#"{"tool_name": "Bash""#] {
            let finished = asked(&guarded(), agent, event, sent);
            assert_refused_in_every_way(agent, place, &finished);
        }
    }
    // To refuse the end of a turn would be to go on.
    let finished = asked(&guarded(), "claude", "Stop", "nonsense");
    assert_eq!((finished.status, &*finished.stdout), (1, ""), "{finished:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn fault_122_a_bridge_that_aborts_refuses() {
    use rustix::process::{Pid, Signal, kill_process};

    const ABORT: u64 = 1 << 5;
    let open = Open::start(&guarded(), "claude", "PreToolUse");
    let status = format!("/proc/{}/status", open.child.id());
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let is_handled = || {
        let status = fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & ABORT != 0
    };
    while !is_handled() {
        assert!(std::time::Instant::now() < until, "nothing handles an abort");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&open.child), Signal::ABORT).unwrap();
    let finished = open.finish();
    assert_eq!((finished.status, &*finished.stdout), (2, ""), "{finished:?}");
}

/// A bridge whose standard input stays open.
struct Open {
    child: Child,
    /// Closed when this is dropped.
    stdin: ChildStdin,
}

impl Open {
    fn start(project: &Project, agent: &str, event: &str) -> Self {
        let mut command = project.command(hook_binary());
        command.args(["bridge", agent, event]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        Self { child, stdin }
    }

    /// How it ends while its input is open.
    fn finish(self) -> Finished {
        let Self { child, stdin } = self;
        let id = child.id();
        let (send, ended) = mpsc::channel();
        std::thread::spawn(move || send.send(child.wait_with_output()));
        let output = ended.recv_timeout(Duration::from_secs(60));
        if output.is_err() {
            let id = i32::try_from(id).unwrap();
            let id = rustix::process::Pid::from_raw(id).unwrap();
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
        drop(stdin);
        let output = output.expect("it waits for the end of its input").unwrap();
        Finished {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

#[test]
fn fault_58_an_agent_that_leaves_its_pipe_open_is_answered() {
    let project = guarded();
    let sent = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "echo '}' \"]\" {"}});
    for (before, behind) in [("", ""), (" \r\n\t", "\n"), ("", "{\"more\":"), ("\n", "\u{0}\n]")] {
        let mut open = Open::start(&project, "claude", "PreToolUse");
        for part in [before, &sent.to_string(), behind] {
            // It may have ended before what stands behind is written.
            let _ = open.stdin.write_all(part.as_bytes()).and_then(|()| open.stdin.flush());
        }
        let finished = open.finish();
        let reason = answer(&finished)["hookSpecificOutput"]["permissionDecisionReason"].clone();
        assert_eq!((finished.status, &reason), (0, &json!("no")), "{finished:?}");
    }
}

#[test]
fn fault_58_what_is_broken_is_refused_whether_or_not_the_pipe_is_closed() {
    for sent in ["nonsense", "[1]", "{\"a\":]", "{]"] {
        let project = guarded();
        let mut open = Open::start(&project, "claude", "PreToolUse");
        open.stdin.write_all(sent.as_bytes()).unwrap();
        assert_refused_in_every_way("claude", AGENTS[0].2, &open.finish());
    }
    // What never becomes a value is waited for as long as the agent waits.
    let project = guarded();
    let mut open = Open::start(&project, "codex", "SessionEnd");
    open.stdin.write_all(b"{\"reason\":").unwrap();
    let finished = open.finish();
    assert_ne!(finished.status, 0, "{finished:?}");
    assert!(finished.stderr.contains("no complete JSON value"), "{finished:?}");
}
