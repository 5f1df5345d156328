//! What one call of an agent leaves for later ones, and what is written down of calls.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// A project whose user has these settings of ours.
fn with_user_settings(settings: &Value) -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    project
}

fn command(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

fn codex(project: &Project, event: &str, said: &Value) -> Finished {
    let mut all = json!({"session_id": "s-1", "transcript_path": null, "cwd": project.path(),
        "hook_event_name": event, "model": "m"});
    for (name, value) in said.as_object().unwrap() {
        all[name] = value.clone();
    }
    Hook::new(project, &["bridge", "codex", event]).stdin(all.to_string()).run()
}

#[test]
fn what_hooks_set_at_the_sessions_start_reaches_later_calls_of_it() {
    let set = r#"echo '{"hookSpecificOutput":{"env":{"GREETING":"hello"}}}'"#;
    let project = with_user_settings(&json!({"hooks": {
        "SessionStart": command(set), "BeforeTool": command("echo \"$GREETING\" >> \"$HOME/seen\"")}}));
    let seen = || std::fs::read_to_string(project.home().join("seen")).unwrap_or_default();
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    codex(&project, "PreToolUse", &tool);
    assert_eq!(seen(), "\n");
    assert_eq!(codex(&project, "SessionStart", &json!({"source": "startup"})).status, 0);
    codex(&project, "PreToolUse", &tool);
    let mut other = tool.clone();
    other["session_id"] = json!("s-2");
    codex(&project, "PreToolUse", &other);
    assert_eq!(seen(), "\nhello\n\n");
    // Nobody else can read it.
    #[cfg(unix)]
    for entry in std::fs::read_dir(project.home().join(".local/state/hook/sessions")).unwrap() {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn hooks_cannot_have_an_agent_go_on_for_ever_that_does_not_count() {
    let project = with_user_settings(&json!({"hooks": {
        "AfterAgent": command("echo 'one thing more' >&2; exit 2")}}));
    let stop = |is_active: bool| {
        let said = json!({"stop_hook_active": is_active, "last_assistant_message": "done"});
        codex(&project, "Stop", &said)
    };
    for turn in 0..8 {
        assert!(stop(turn > 0).stdout.contains("one thing more"), "{turn}");
    }
    let ended = stop(true);
    assert!(!ended.stdout.contains("one thing more"), "{ended:?}");
    assert!(ended.stderr.contains("8 times in a row"), "{ended:?}");
    // A turn that the user began counts anew.
    assert!(stop(false).stdout.contains("one thing more"));
}

#[test]
fn a_hook_of_cursor_has_it_go_on_as_often_as_its_loop_limit_says() {
    let project = Project::new();
    for (limit, looped, goes_on) in [
        (json!(2), 1, true),
        (json!(2), 2, false),
        (json!(null), 99, true),
        (json!("none"), 9, true),
    ] {
        let mut hook = json!({"command": r#"echo '{"followup_message":"again"}'"#});
        hook["loop_limit"] = limit.clone();
        let settings = json!({"version": 1, "hooks": {"stop": [hook]}});
        project.write("theirs.json", &settings.to_string());
        let said = json!({"conversation_id": "c", "hook_event_name": "stop", "status": "completed",
            "loop_count": looped, "workspace_roots": [project.path()]});
        let arguments = ["bridge", "cursor", "stop", "--settings", "theirs.json"];
        let finished = Hook::new(&project, &arguments).stdin(said.to_string()).run();
        assert_eq!(finished.stdout.contains("again"), goes_on, "{limit} {looped}: {finished:?}");
    }
    let settings = json!({"version": 1, "hooks": {"stop": [{"command": r#"echo '{"followup_message":"again"}'"#}]}});
    project.write("theirs.json", &settings.to_string());
    for (looped, goes_on) in [(4, true), (5, false)] {
        let said = json!({"conversation_id": "c", "hook_event_name": "stop", "status": "completed",
            "loop_count": looped, "workspace_roots": [project.path()]});
        let arguments = ["bridge", "cursor", "stop", "--settings", "theirs.json"];
        let finished = Hook::new(&project, &arguments).stdin(said.to_string()).run();
        assert_eq!(finished.stdout.contains("again"), goes_on, "{looped}: {finished:?}");
    }
}

#[test]
fn calls_are_written_down_without_what_is_to_be_left_out() {
    let project = with_user_settings(&json!({
        "hooksConfig": {"redact": {"patterns": ["key-[0-9]+"]}},
        "hooks": {"BeforeTool": command("grep -q 'rm ' && { echo 'no rm with key-7' >&2; exit 2; }; exit 0")}}));
    let log = |arguments: &[&str]| Hook::new(&project, &[&["log"], arguments].concat()).run();
    assert!(log(&[]).stderr.contains("no agent has asked yet"));
    for shell in ["ls key-1", "rm -r x"] {
        codex(
            &project,
            "PreToolUse",
            &json!({"tool_name": "Bash", "tool_input": {"command": shell}}),
        );
    }
    let shown = log(&[]);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{shown:?}");
    assert!(
        lines[0].contains("codex PreToolUse proceed  run_shell_command ls [redacted]"),
        "{shown:?}"
    );
    assert!(
        lines[1].contains("block  run_shell_command rm -r x: no rm with [redacted]"),
        "{shown:?}"
    );
    let named = project.path().canonicalize().unwrap();
    assert!(lines[1].ends_with(named.to_str().unwrap()), "{shown:?}");
    let blocked = log(&["--blocked", "--json", "codex"]);
    let call: Value = serde_json::from_str(blocked.stdout.trim()).unwrap();
    assert_eq!((&call["decision"], &call["by"]), (&json!("block"), &json!("bridge")));
    assert_eq!(log(&["claude"]).stdout, "");
    assert_eq!(log(&["-n", "1"]).stdout.lines().count(), 1);
}

#[test]
fn the_log_says_what_an_agent_was_told_that_cannot_ask() {
    let project = with_user_settings(
        &json!({"hooks": {"BeforeTool": command(r#"echo '{"decision":"ask","reason":"sure?"}'"#)}}),
    );
    let call = json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": project.path(),
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    for (agent, decision) in [("codex", "block"), ("claude", "ask")] {
        Hook::new(&project, &["bridge", agent]).stdin(call.to_string()).run();
        let logged = Hook::new(&project, &["log", "--json", agent]).run();
        let logged: Value = serde_json::from_str(logged.stdout.trim()).unwrap();
        assert_eq!(logged["decision"], decision, "{logged}");
    }
}

/// The folder in which sessions are kept.
fn sessions(project: &Project) -> std::path::PathBuf {
    project.home().join(".local/state/hook/sessions")
}

/// Each call reads, changes and writes what is remembered: of calls at once none loses what another wrote.
#[test]
fn calls_of_a_session_at_once_are_all_counted() {
    let project = with_user_settings(&json!({"hooks": {
        "AfterAgent": command("echo 'one thing more' >&2; exit 2")}}));
    let said = json!({"stop_hook_active": true, "last_assistant_message": "done"});
    let goes_on = std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..9).map(|_| scope.spawn(|| codex(&project, "Stop", &said))).collect();
        let finished = calls.into_iter().map(|call| call.join().unwrap());
        finished.filter(|it| it.stdout.contains("one thing more")).count()
    });
    assert_eq!(goes_on, 8);
}

/// Who holds the lock for ever holds nobody up, and what could not be kept is said.
#[test]
fn a_session_that_others_hold_is_said_and_not_waited_for() {
    let set = r#"echo '{"hookSpecificOutput":{"env":{"GREETING":"hello"}}}'"#;
    let project = with_user_settings(&json!({"hooks": {
        "SessionStart": command(set), "AfterAgent": command("echo more >&2; exit 2")}}));
    let stop = json!({"stop_hook_active": true, "last_assistant_message": "done"});
    assert!(codex(&project, "Stop", &stop).stdout.contains("more"));
    let lock = std::fs::File::options().append(true).open(sessions(&project).join("lock")).unwrap();
    lock.lock().unwrap();
    let begun = std::time::Instant::now();
    let stopped = codex(&project, "Stop", &stop);
    assert!(stopped.stdout.contains("more"), "{stopped:?}");
    assert!(stopped.stderr.contains("was not written down: another process holds"), "{stopped:?}");
    let started = codex(&project, "SessionStart", &json!({"source": "startup"}));
    assert!(started.stderr.contains("is not known to later calls"), "{started:?}");
    assert!(begun.elapsed().as_secs() < 60);
}

#[test]
fn fault_108_an_agent_s_user_is_told_once_a_session_of_each_guard_that_was_taken_out() {
    let project = Project::new();
    let guard = |name: &str| {
        json!({"type": "command", "name": name, "command": format!("sh .hooks/none.sh {name}"),
        "failBehavior": "block"})
    };
    let write = |names: &[&str]| {
        let hooks: Vec<Value> = names.iter().map(|name| guard(name)).collect();
        let settings = json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}});
        project.write(".hooks/settings.json", &settings.to_string());
    };
    project.write(".hooks/none.sh", "exit 0\n");
    write(&["paths", "push"]);
    let trusted = Hook::new(&project, &["trust", "--yes", "--opaque"]).run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    let ask = |session: &str| {
        let call = json!({"session_id": session, "transcript_path": "", "cwd": project.path(),
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        Hook::new(&project, &["bridge", "claude"]).stdin(call.to_string()).run()
    };
    let told = |finished: &Finished, name: &str| {
        let text = format!("the trusted guard `{name}` is not in the settings");
        assert_eq!(finished.stderr.matches(&text).count(), 1, "{finished:?}");
        finished.stdout.contains("systemMessage") && finished.stdout.contains(&text)
    };
    assert_eq!(ask("one").stdout, "");
    write(&["push"]);
    assert!(told(&ask("one"), "paths"));
    assert!(!told(&ask("one"), "paths"));
    assert!(told(&ask("two"), "paths"));
    write(&[]);
    assert!(told(&ask("one"), "push"), "another guard is another notice");
}
