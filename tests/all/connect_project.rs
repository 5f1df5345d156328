//! Entries in files that a project shares: who has `hook` elsewhere, or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use hook_tests::{Finished, Hook, Project};
use serde_json::Value;

fn run(project: &Project, arguments: &[&str]) -> Finished {
    let unset = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "QWEN_HOME"];
    let hook = Hook::new(project, arguments);
    unset.iter().fold(hook, |hook, name| hook.env(name, "")).run()
}

/// Agents, the file of a project, the event before a tool and the end of a turn.
const AGENTS: [(&str, &str, &str, &str); 6] = [
    ("claude", ".claude/settings.local.json", "PreToolUse", "Stop"),
    ("gemini", ".gemini/settings.json", "BeforeTool", "AfterAgent"),
    ("qwen", ".qwen/settings.json", "PreToolUse", "Stop"),
    ("codex", ".codex/hooks.json", "PreToolUse", "Stop"),
    ("cursor", ".cursor/hooks.json", "preToolUse", "stop"),
    ("copilot", ".github/hooks/hook.json", "preToolUse", "agentStop"),
];

/// The command that stands there for an event.
fn command(project: &Project, file: &str, event: &str) -> String {
    let written: Value = serde_json::from_str(&project.read(file)).unwrap();
    let entry = &written["hooks"][event][0];
    let hook = if entry["hooks"].is_array() { &entry["hooks"][0] } else { entry };
    let command = if hook["bash"].is_string() { &hook["bash"] } else { &hook["command"] };
    command.as_str().unwrap().to_owned()
}

/// A program called `hook` in that folder, which says its own path and what it is to do.
fn install(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join("hook");
    fs::write(&path, "#!/bin/sh\necho \"$0 $*\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a command as agents do.
fn shell(project: &Project, shell: &str, command: &str, path: &str) -> Output {
    let mut process = Command::new(shell);
    process.args(["-c", command]).current_dir(project.path().join("below")).env_clear();
    process.env("HOME", project.home()).env("PATH", path).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

const SYSTEM: &str = "/usr/bin:/bin";

/// A project in which an agent is connected by a binary that is nowhere else.
fn connected(agent: &str) -> Project {
    let project = Project::new();
    fs::create_dir_all(project.path().join("below")).unwrap();
    let (_, _, before, end) = AGENTS.iter().find(|(name, ..)| *name == agent).unwrap();
    let events = format!("--events={before},{end}");
    let done = run(&project, &["connect", agent, "--scope", "project", &events]);
    assert_eq!(done.status, 0, "{done:?}");
    project
}

/// What the entry names last.
fn written() -> String {
    hook_tests::hook_binary().parent().unwrap().display().to_string()
}

#[test]
fn fault_62_an_entry_of_a_project_finds_hook_wherever_it_is() {
    for (agent, file, event, _) in AGENTS {
        let project = connected(agent);
        let command = command(&project, file, event).replace(&written(), "/nowhere");
        let ending = format!("bridge {agent} {event}");
        let folder = project.path().parent().unwrap().to_path_buf();
        for name in ["sh", "bash"] {
            let ran = |path: &str| text(&shell(&project, name, &command, path).stdout);
            // By PATH, but from no folder of the project or of packages.
            let elsewhere = folder.join("else where");
            install(&elsewhere);
            let inside = [project.path().join("bin"), folder.join("node_modules/.bin")];
            inside.iter().for_each(|folder| install(folder));
            let link = folder.join("link");
            let _ = std::os::unix::fs::symlink(project.path(), &link);
            let inside = inside.map(|folder| folder.display().to_string()).join(":");
            let path = format!(
                "{inside}:{}:bin::{}:{SYSTEM}",
                link.join("bin").display(),
                elsewhere.display()
            );
            let real = fs::canonicalize(&elsewhere).unwrap();
            assert_eq!(ran(&path), format!("{}/hook {ending}", real.display()), "{agent} {name}");
            // The usual places come first.
            let usual = project.home().join(".local/bin");
            install(&usual);
            assert_eq!(ran(&path), format!("{}/hook {ending}", usual.display()), "{agent} {name}");
            fs::remove_file(usual.join("hook")).unwrap();
            assert_eq!(ran(&format!("{inside}:{SYSTEM}")), "", "{agent} {name}");
        }
    }
}

#[test]
fn fault_62_a_home_behind_a_link_is_no_part_of_a_project() {
    let outer = Project::new();
    let (home, link) = (outer.path().join("real"), outer.path().join("link"));
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let work = home.join("work/below");
    fs::create_dir_all(&work).unwrap();
    fs::create_dir_all(home.join(".git")).unwrap();
    install(&home.join("bin"));
    let project = connected("claude");
    let entry = command(&project, ".claude/settings.local.json", "PreToolUse");
    let entry = entry.replace(&written(), "/nowhere");
    for home in [link.clone(), link.join("")] {
        let mut process = Command::new("sh");
        process.args(["-c", &entry]).current_dir(&work).env_clear().env("HOME", home);
        let ran = process.env("PATH", format!("{}:{SYSTEM}", link.join("bin").display())).output();
        let ran = text(&ran.unwrap().stdout);
        assert!(ran.ends_with("real/bin/hook bridge claude PreToolUse"), "{ran}");
    }
}

#[test]
fn fault_62_a_binary_in_a_usual_place_leaves_no_path_in_the_file() {
    let project = Project::new();
    let binary = project.home().join(".local/bin/hook");
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    hook_tests::copy_hook_binary(&binary);
    let mut connect = project.command(&binary);
    connect.args(["connect", "codex", "--scope", "project"]).env("CODEX_HOME", "");
    assert!(connect.status().unwrap().success());
    let written = project.read(".codex/hooks.json");
    assert!(!written.contains(&project.home().display().to_string()), "{written}");
    // Elsewhere it is found where it was, last.
    let project = connected("codex");
    let command = command(&project, ".codex/hooks.json", "PreToolUse");
    assert!(command.contains(&written_word()), "{command}");
}

fn written_word() -> String {
    format!("_h={}", written())
}

#[test]
fn fault_62_where_hook_is_nowhere_that_is_said_and_a_guard_refuses() {
    const GUARD: &str = r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command",
        "failBehavior": "block", "command": "true"}]}]}}"#;
    for (agent, file, event, end) in AGENTS {
        let project = connected(agent);
        let gone = |event: &str| {
            let command = command(&project, file, event).replace(&written(), "/nowhere");
            shell(&project, "sh", &command, SYSTEM)
        };
        // What is on standard error these would show on each call.
        let is_said = !matches!(agent, "gemini" | "qwen");
        let output = gone(event);
        assert_eq!(output.status.code(), Some(0), "{agent}: {output:?}");
        assert_eq!(text(&output.stderr).contains("not installed"), is_said, "{agent}: {output:?}");
        project.write(".hooks/settings.json", &GUARD.replace("block", "continue"));
        assert_eq!(gone(event).status.code(), Some(0), "{agent}");
        project.write(".hooks/settings.json", GUARD);
        let output = gone(event);
        assert_eq!(output.status.code(), Some(2), "{agent}: {output:?}");
        assert!(text(&output.stderr).contains("guards of this project"), "{agent}: {output:?}");
        assert_eq!(text(&output.stdout), "", "{agent}");
        // To refuse the end of a turn would be to go on.
        assert_eq!(gone(end).status.code(), Some(0), "{agent}");
    }
}

#[test]
fn fault_62_entries_of_a_project_are_known_again_and_taken_out_to_the_byte() {
    for (agent, file, ..) in AGENTS {
        let project = Project::new();
        // Codex refuses a file with other keys.
        let before = match agent {
            "codex" => "{\n  \"description\": \"mine\",\n  \"hooks\": {}\n}\n",
            _ => "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n",
        };
        project.write(file, before);
        assert_eq!(run(&project, &["connect", agent, "--scope", "project"]).status, 0);
        let listed = run(&project, &["connect", "--list"]).stdout;
        let line = listed.lines().find(|line| line.starts_with(&format!("{agent:<8} project")));
        assert!(line.is_some_and(|line| line.contains(", hook ")), "{agent}: {listed}");
        let again = run(&project, &["connect", agent, "--scope", "project"]);
        assert!(again.stdout.contains("already"), "{again:?}");
        assert_eq!(run(&project, &["disconnect", agent, "--scope", "project"]).status, 0);
        assert_eq!(project.read(file), before, "{agent}");
    }
}

#[test]
fn fault_63_connect_says_when_no_hook_runs_in_the_project() {
    let project = Project::new();
    let said = run(&project, &["connect", "claude"]).stderr;
    assert!(said.contains("no hook runs in this project"), "{said}");
    assert!(said.contains("`hook init --user`") && said.contains("`hook init`"), "{said}");
    // One that is not trusted does not run, either.
    project.write(
        ".hooks/settings.json",
        r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    );
    let said = run(&project, &["connect", "claude"]).stderr;
    assert!(
        said.contains("no hook runs in this project") && said.contains("`hook trust`"),
        "{said}"
    );
    assert_eq!(run(&project, &["init", "--user", "--worker", "python"]).status, 0);
    let said = run(&project, &["connect", "claude"]).stderr;
    assert!(!said.contains("no hook runs"), "{said}");
    // What the connection wrote is still there.
    let user = fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap();
    assert!(user.contains("\"server\": \"auto\"") && user.contains("\"guard\""), "{user}");
}
