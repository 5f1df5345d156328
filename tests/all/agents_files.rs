//! Files in which agents keep their own hooks, run because settings or the command line name the agents.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// A project whose user has these settings of ours.
fn with_user_settings(settings: &Value) -> Project {
    let project = Project::new();
    of_user(&project, ".config/hooks/settings.json", &settings.to_string());
    project
}

/// Writes a file below the user's home.
fn of_user(project: &Project, path: &str, text: &str) {
    let path = project.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).env("CLAUDE_CONFIG_DIR", "").env("CODEX_HOME", "").run()
}

/// Settings of Claude Code or Codex with one hook.
fn in_groups(event: &str, matcher: &str, command: &str) -> String {
    let hook = json!({"type": "command", "command": command});
    json!({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}}).to_string()
}

/// What Gemini CLI says before a command runs.
fn gemini_asks(project: &Project, command: &str) -> Finished {
    let said = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": "BeforeTool", "timestamp": "2026-11-23T00:00:00.000Z",
        "tool_name": "run_shell_command", "tool_input": {"command": command}});
    Hook::new(project, &["bridge", "gemini"]).stdin(said.to_string()).run()
}

#[test]
fn a_cursor_file_and_a_claude_plugin_guard_another_agent() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["cursor", "claude"]}}));
    let cursor = json!({"version": 1, "hooks": {"beforeShellExecution": [{"command":
        r#"grep -q 'rm -rf' && echo '{"permission":"deny","agentMessage":"not by cursor"}'; true"#}]}});
    of_user(&project, ".cursor/hooks.json", &cursor.to_string());
    let plugin = ".claude/plugins/cache/market/guard/1.0.0";
    of_user(
        &project,
        &format!("{plugin}/scripts/guard.sh"),
        "grep -q secret && { echo \"not by $(basename \"$CLAUDE_PLUGIN_ROOT\")\" >&2; exit 2; }; exit 0",
    );
    of_user(
        &project,
        &format!("{plugin}/hooks/hooks.json"),
        &in_groups("PreToolUse", "Bash", "sh \"${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh\""),
    );
    let installed = json!({"version": 2, "plugins": {"guard@market": [
        {"scope": "user", "installPath": project.home().join(plugin), "version": "1.0.0"}]}});
    of_user(&project, ".claude/plugins/installed_plugins.json", &installed.to_string());
    of_user(&project, ".claude/settings.json", r#"{"enabledPlugins": {"guard@market": true}}"#);

    let denied = |command: &str| -> Value {
        let finished = gemini_asks(&project, command);
        assert_eq!(finished.status, 0, "{finished:?}");
        serde_json::from_str(&finished.stdout).unwrap_or_default()
    };
    assert_eq!(denied("rm -rf /")["reason"], "not by cursor");
    assert_eq!(denied("cat secret")["reason"], "not by 1.0.0");
    assert_eq!(denied("ls")["decision"], Value::Null);

    // A plugin that is off does nothing there, and nothing here.
    of_user(&project, ".claude/settings.json", r#"{"enabledPlugins": {"guard@market": false}}"#);
    assert_eq!(denied("cat secret")["decision"], Value::Null);
}

#[test]
fn what_the_asking_agent_runs_by_itself_is_left_out() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude", "cursor"]}}));
    of_user(
        &project,
        ".claude/settings.json",
        &in_groups("PreToolUse", "Bash", "echo ran >> \"$HOME/claude\""),
    );
    let cursor = json!({"version": 1, "hooks": {"preToolUse": [{"command": "echo ran >> \"$HOME/cursor\""}]}});
    of_user(&project, ".cursor/hooks.json", &cursor.to_string());
    let ran = |agent: &str| std::fs::read_to_string(project.home().join(agent)).unwrap_or_default();
    let claude = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let asked = Hook::new(&project, &["bridge", "claude"]).stdin(claude.to_string()).run();
    assert_eq!((asked.status, &*ran("claude"), &*ran("cursor")), (0, "", "ran\n"), "{asked:?}");
    // Cursor reads the files of Claude Code, too.
    let cursor = json!({"conversation_id": "c", "generation_id": "g", "hook_event_name": "preToolUse",
        "workspace_roots": [project.path()], "tool_name": "Shell", "tool_input": {"command": "ls"}});
    let asked = Hook::new(&project, &["bridge", "cursor"]).stdin(cursor.to_string()).run();
    assert_eq!((asked.status, &*ran("claude"), &*ran("cursor")), (0, "", "ran\n"), "{asked:?}");
    gemini_asks(&project, "ls");
    assert_eq!((&*ran("claude"), &*ran("cursor")), ("ran\n", "ran\nran\n"));
}

#[test]
fn hooks_of_a_project_run_once_they_are_trusted_and_until_they_change() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    project.write("guard.sh", "echo 'the guard says no' >&2; exit 2");
    project.write(
        ".claude/settings.json",
        &in_groups("PreToolUse", "Bash", "sh \"$CLAUDE_PROJECT_DIR\"/guard.sh"),
    );
    let fire = || run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]);
    let untrusted = fire();
    assert_eq!(untrusted.status, 0, "{untrusted:?}");
    assert!(untrusted.stderr.contains("1 hook is not trusted"), "{untrusted:?}");
    let trusted = run(&project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert!(
        trusted.stdout.contains("guard.sh") && trusted.stdout.contains("claude"),
        "{trusted:?}"
    );
    let blocked = fire();
    assert_eq!(blocked.status, 2, "{blocked:?}");
    assert!(blocked.stdout.contains("the guard says no"), "{blocked:?}");
    // What it starts has changed.
    project.write("guard.sh", "exit 0");
    let changed = fire();
    assert!(
        changed.status == 2 && changed.stdout.contains("changed since it was trusted"),
        "{changed:?}"
    );
}

#[test]
fn fault_109_a_hook_of_an_agent_that_writes_beside_itself_blocks_only_what_it_matches() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    project.write(".claude/hooks/count.sh", "echo 1 >> .claude/hooks/state.json");
    let command = "sh \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/count.sh";
    project.write(".claude/settings.json", &in_groups("PreToolUse", "Write", command));
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let fire = |tool: &str| {
        let input = json!({"tool_name": tool, "tool_input": {"file_path": "a", "content": "b"}});
        run(&project, &["fire", "BeforeTool", "--input", &input.to_string()])
    };
    assert_eq!(fire("write_file").status, 0);
    let again = fire("write_file");
    assert_eq!(again.status, 2, "{again:?}");
    for part in [
        ".claude/hooks/state.json is new",
        "`hook trust --agent claude`",
        "belongs outside of .claude/hooks",
    ] {
        assert!(again.stdout.contains(part), "{part}: {again:?}");
    }
    let other = fire("read_file");
    assert_eq!(other.status, 0, "{other:?}");
    // Not what settings say now counts, but what was trusted.
    project.write(".claude/settings.json", &in_groups("PreToolUse", "Read", command));
    assert_eq!((fire("write_file").status, fire("read_file").status), (2, 0));
}

#[test]
fn a_trusted_guard_that_changes_blocks_whatever_its_matcher_was() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["cursor"]}}));
    let settings = |command: &str| {
        json!({"version": 1, "hooks": {"preToolUse": [
        {"command": command, "matcher": "Shell", "failClosed": true}]}})
        .to_string()
    };
    project.write(".cursor/hooks.json", &settings("cat >/dev/null; echo '{}'"));
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let fire = || run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]);
    assert_eq!(fire().status, 0, "{:?}", fire());
    // The same command of another kind is not what was trusted.
    let changed =
        settings("cat >/dev/null; echo '{}'").replace("preToolUse", "beforeShellExecution");
    project.write(".cursor/hooks.json", &changed);
    assert_eq!(fire().status, 2, "{:?}", fire());
}

#[test]
fn agents_are_named_on_the_command_line_and_every_command_knows_them() {
    let project = Project::new();
    of_user(&project, ".claude/settings.json", &in_groups("PreToolUse", "Bash", "exit 2"));
    assert_eq!(run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]).status, 0);
    let named =
        run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command", "--agent", "claude"]);
    assert_eq!(named.status, 2, "{named:?}");
    for command in [&["list"][..], &["explain", "BeforeTool"], &["doctor"]] {
        let shown = run(&project, &[command, &["--agent", "claude"]].concat());
        assert!(shown.stdout.contains(".claude/settings.json"), "{command:?}: {shown:?}");
        let without = run(&project, &[command, &["--agent", "claude", "--no-user"]].concat());
        assert!(
            command == ["doctor"] || !without.stdout.contains("exit 2"),
            "{command:?}: {without:?}"
        );
    }
    let unknown = run(&project, &["list", "--agent", "cluade"]);
    assert_eq!(unknown.status, 64, "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean claude?"), "{unknown:?}");
}

#[test]
fn a_file_that_is_named_beside_an_agent_is_read_as_that_agents() {
    let project = Project::new();
    project.write("theirs.json", &in_groups("PreToolUse", "Bash", "exit 2"));
    let arguments =
        ["fire", "BeforeTool", "--tool", "run_shell_command", "--settings", "theirs.json"];
    let named = run(&project, &[&arguments[..], &["--agent", "claude"]].concat());
    assert_eq!(named.status, 2, "{named:?}");
}

#[test]
fn a_misspelt_agent_is_said() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["cluade"]}}));
    let checked = run(&project, &["check"]);
    assert_eq!(checked.status, 1, "{checked:?}");
    assert!(checked.stdout.contains("write `claude`"), "{checked:?}");
}

#[test]
fn an_agents_hook_is_switched_off_in_the_users_own_settings() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    let theirs = in_groups("PreToolUse", "Bash", "exit 2");
    of_user(&project, ".claude/settings.json", &theirs);
    let fire = || run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]);
    assert_eq!(fire().status, 2);
    let disabled = run(&project, &["disable", "exit 2"]);
    assert_eq!(disabled.status, 0, "{disabled:?}");
    assert_eq!(fire().status, 0, "{:?}", fire());
    let text = std::fs::read_to_string(project.home().join(".claude/settings.json")).unwrap();
    assert_eq!(text, theirs);
    assert_eq!(run(&project, &["enable", "exit 2"]).status, 0);
    assert_eq!(fire().status, 2);
}

/// What a project says is about its own plugins, and no file becomes a project's that is somebody else's.
#[test]
fn a_project_switches_off_no_plugin_of_the_users_and_takes_no_file_over() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    of_user(
        &project,
        ".claude/plugins/guard/hooks/hooks.json",
        &in_groups("PreToolUse", "Bash", "echo no >&2; exit 2"),
    );
    let denies = || gemini_asks(&project, "ls").stdout.contains("deny");
    assert!(denies());
    project.write(".claude/settings.json", r#"{"enabledPlugins": {"guard": false}}"#);
    assert!(denies(), "a project's word on the user's plugin");
    let theirs = project.home().join(".claude/plugins/guard/hooks/hooks.json");
    for path in [
        theirs.display().to_string(),
        "../../../../home/.claude/plugins/guard/hooks/hooks.json".into(),
    ] {
        project.write(
            ".claude/plugins/x/.claude-plugin/plugin.json",
            &json!({"name": "x", "hooks": path}).to_string(),
        );
        assert!(denies(), "{path}");
        let listed = run(&project, &["list"]);
        assert!(!listed.stdout.contains("not trusted"), "{listed:?}");
    }
    of_user(&project, ".claude/settings.json", r#"{"enabledPlugins": {"guard": false}}"#);
    assert!(!denies());
}

/// What decides which file runs is part of what is trusted.
#[test]
fn a_folder_that_a_variable_names_is_the_one_that_was_reviewed() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["copilot"]}}));
    let settings = |cwd: &str, env: Value| {
        let hook = json!({"type": "command", "bash": "sh ./c.sh", "cwd": cwd, "env": env});
        let all = json!({"version": 1, "hooks": {"preToolUse": [hook]}});
        project.write(".github/hooks/h.json", &all.to_string());
    };
    project.write("sub/c.sh", "exit 0");
    for (cwd, env) in
        [("$D", json!({"D": "sub"})), ("h$HOME", json!({})), ("sub", json!({"S": "q$TERM"}))]
    {
        settings(cwd, env);
        let trusted = run(&project, &["trust", "--yes"]);
        assert_eq!(trusted.status, 1, "{cwd}: {trusted:?}");
    }
    settings("sub", json!({"S": "x"}));
    let trusted = run(&project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert!(trusted.stdout.contains("sub/c.sh"), "{trusted:?}");
}

#[test]
fn an_agent_does_not_say_where_a_projects_hooks_find_their_files() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    project.write("guard.sh", "echo 'the guard says no' >&2; exit 2");
    project.write(
        ".claude/settings.json",
        &in_groups("PreToolUse", "Bash", "sh \"$CLAUDE_PROJECT_DIR\"/guard.sh"),
    );
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let elsewhere = project.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("guard.sh"), "exit 0").unwrap();
    let fired = Hook::new(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"])
        .env("CLAUDE_PROJECT_DIR", &elsewhere.display().to_string())
        .run();
    assert_eq!(fired.status, 2, "{fired:?}");
}

/// Cursor does not run them, so they are not left out.
#[test]
fn what_cursor_passes_over_in_files_of_claude_code_runs_here() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    let groups = json!({"hooks": {"PreToolUse": [
        {"matcher": "WebFetch", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}});
    of_user(&project, ".claude/settings.json", &groups.to_string());
    let said = json!({"conversation_id": "c", "hook_event_name": "preToolUse",
        "workspace_roots": [project.path()], "tool_name": "WebFetch", "tool_input": {"url": "u"}});
    let asked = Hook::new(&project, &["bridge", "cursor"]).stdin(said.to_string()).run();
    assert!(asked.stdout.contains("deny"), "{asked:?}");
}

/// What one of Claude Code's files says of all hooks holds by its precedence; a project's has no say over the
/// user's guards.
#[test]
fn one_of_claudes_files_switches_off_the_hooks_of_others_by_precedence() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
    let file = |word: &str, switch: Value| {
        let hook = json!({"type": "command", "command": format!("echo {word} >> \"$HOME/ran\"")});
        let mut settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
        if !switch.is_null() {
            settings["disableAllHooks"] = switch;
        }
        settings.to_string()
    };
    let write = |local: Value, shared: Value, user: Value| {
        project.write(".claude/settings.local.json", &file("local", local));
        project.write(".claude/settings.json", &file("shared", shared));
        of_user(&project, ".claude/settings.json", &file("user", user));
    };
    write(json!(null), json!(null), json!(null));
    assert_eq!(run(&project, &["trust", "--yes", "--opaque"]).status, 0);
    let ran = project.home().join("ran");
    for (local, shared, user, expected) in [
        (json!(null), json!(null), json!(null), "local shared user"),
        (json!(null), json!(null), json!(true), ""),
        (json!(false), json!(null), json!(true), "local shared user"),
        (json!(null), json!(true), json!(null), "user"),
        (json!(true), json!(false), json!(null), "user"),
        (json!(false), json!(true), json!(null), "local shared user"),
    ] {
        let about = format!("{local} {shared} {user}");
        write(local, shared, user);
        let _ = std::fs::remove_file(&ran);
        let fired = run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]);
        // Those of the project were trusted, so they are missed.
        let status = if expected.contains("shared") { 0 } else { 2 };
        assert_eq!(fired.status, status, "{about}: {fired:?}");
        let seen = std::fs::read_to_string(&ran).unwrap_or_default();
        let mut seen: Vec<&str> = seen.lines().collect();
        seen.sort_unstable();
        assert_eq!(seen.join(" "), expected, "{about}: {fired:?}");
    }
}

#[test]
fn a_group_whose_hooks_are_no_list_is_said() {
    for group in [
        json!({"matcher": "Bash", "hooks": "/path"}),
        json!({"matcher": "Bash", "hooks": {}}),
        json!({"matcher": "Bash", "type": "command", "command": "exit 2"}),
    ] {
        let project = with_user_settings(&json!({"hooksConfig": {"agents": ["claude"]}}));
        let text = json!({"hooks": {"PreToolUse": [group]}}).to_string();
        of_user(&project, ".claude/settings.json", &text);
        let checked = run(&project, &["check"]);
        assert!(
            checked.stdout.contains("none of its hooks run")
                || checked.stdout.contains("nothing there runs"),
            "{checked:?}"
        );
        let asked = gemini_asks(&project, "ls");
        assert!(asked.stderr.contains("hooks.PreToolUse[0]"), "{asked:?}");
    }
}

/// Writes a program of the user's.
#[cfg(unix)]
fn program_of_user(project: &Project, path: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;

    of_user(project, path, text);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.home().join(path), mode).unwrap();
}

#[cfg(unix)]
#[test]
fn hooks_in_the_yaml_of_hermes_guard_another_agent_without_a_shell() {
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["hermes"]}}));
    let script = r#"#!/bin/sh
grep -q '"tool_name": *"terminal".*rm -r' || exit 0
printf '{"decision": "block", "reason": "%s"}' "$1|$2"
"#;
    program_of_user(&project, ".hermes/guard", script);
    let config = r#"model: {default: a} # mine
base: &base
  command: ~/.hermes/guard "not by $HOME" ;
  timeout: 10
hooks:
  pre_tool_call:
    - <<: *base
      matcher: |
        terminal|execute_.*
    - command: touch star
      matcher: "*"
  on_session_start:
    - command: touch start
      matcher: ignored
"#;
    of_user(&project, ".hermes/config.yaml", config);
    let denied = |command: &str| -> Value {
        let asked = gemini_asks(&project, command);
        assert_eq!((asked.status, &*asked.stderr), (0, ""), "{asked:?}");
        serde_json::from_str(&asked.stdout).unwrap_or_default()
    };
    assert_eq!(denied("rm -r build")["reason"], "not by $HOME|;");
    assert_eq!(denied("ls")["decision"], Value::Null);
    assert!(!project.path().join("star").exists());
    let start = run(&project, &["fire", "SessionStart", "--input", r#"{"source": "startup"}"#]);
    assert!(start.status == 0 && project.path().join("start").exists(), "{start:?}");

    let listed = run(&project, &["list"]);
    assert!(listed.stdout.contains(".hermes/config.yaml:1:1"), "{listed:?}");
    let doctor = run(&project, &["doctor"]);
    assert!(doctor.stdout.contains(".hermes/config.yaml: 3 hooks"), "{doctor:?}");
    let checked = run(&project, &["check", "--agent", "hermes"]);
    assert_eq!(checked.status, 0, "{checked:?}");

    // The entries of `hook connect` are none of its hooks.
    of_user(&project, ".hermes/config.yaml", "model: {default: a}\n");
    assert_eq!(run(&project, &["connect", "hermes", "--no-server"]).status, 0);
    let doctor = run(&project, &["doctor"]);
    assert!(doctor.stdout.contains("no hooks of its own; 1 entry"), "{doctor:?}");
}

/// What is broken is said, and blocks as much as it does in the files of others.
#[test]
fn a_file_of_an_agent_that_cannot_be_read_is_said_in_its_line_whatever_its_syntax() {
    let broken = [
        ("claude", ".claude/settings.json", "{\n\"hooks\": }", "1:1", "not JSON"),
        ("kimi", ".kimi-code/config.toml", "a = 1\n[[hooks]\n", "2:9", "not TOML"),
        ("hermes", ".hermes/config.yaml", "hooks:\n  pre_tool_call: ]\n", "2:1", "not YAML"),
    ];
    let outcomes = broken.map(|(agent, path, text, place, message)| {
        let project = with_user_settings(&json!({"hooksConfig": {"agents": [agent]}}));
        of_user(&project, path, text);
        let asked = gemini_asks(&project, "ls");
        assert!(asked.stderr.contains(&format!("{path}:{place}: ")), "{asked:?}");
        assert!(asked.stderr.contains(message), "{asked:?}");
        let checked = run(&project, &["check", "--agent", agent]);
        assert_eq!(checked.status, 1, "{checked:?}");
        (asked.status, asked.stdout)
    });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:?}");
    // One hook that cannot be run is skipped alone.
    let project = with_user_settings(&json!({"hooksConfig": {"agents": ["hermes"]}}));
    let config = "hooks: {pre_tool_call: [{command: \"echo 'open\"}, {command: touch ran}]}";
    of_user(&project, ".hermes/config.yaml", config);
    let asked = gemini_asks(&project, "ls");
    assert!(asked.stderr.contains("hooks.pre_tool_call[0]"), "{asked:?}");
    assert!(asked.stderr.contains("open quote"), "{asked:?}");
    assert!(project.path().join("ran").exists());
}

/// Each agent has its own word for it.
#[test]
fn a_hook_that_has_to_succeed_at_home_has_to_here() {
    let in_group = |word: &str, value: Value| {
        let mut hook = json!({"type": "command", "command": "exit 1"});
        hook[word] = value;
        json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string()
    };
    let vibe = |strict: bool| {
        format!("[[hooks]]\ntype = \"pre_tool\"\ncommand = \"exit 1\"\nstrict = {strict}\n")
    };
    for (agent, path, closed, open) in [
        ("vibe", ".vibe/hooks.toml", vibe(true), vibe(false)),
        (
            "junie",
            ".junie/config.json",
            in_group("blockOnError", json!(true)),
            in_group("blockOnError", json!(false)),
        ),
        (
            "goose",
            ".agents/plugins/a/hooks/hooks.json",
            in_group("on_failure", json!("block")),
            in_group("on_failure", json!("allow")),
        ),
    ] {
        let project = with_user_settings(&json!({"hooksConfig": {"agents": [agent]}}));
        let fire = || run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]);
        of_user(&project, path, &open);
        assert_eq!(fire().status, 0, "{agent}: {:?}", fire());
        of_user(&project, path, &closed);
        assert_eq!(fire().status, 2, "{agent}: {:?}", fire());
    }
}
