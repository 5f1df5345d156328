//! Hooks in the language of another agent that stand in settings of ours.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

fn fire(project: &Project, tool: &str) -> Finished {
    Hook::new(project, &["fire", "BeforeTool", "--tool", tool, "--settings", "settings.json"]).run()
}

fn with(hooks: Value) -> Project {
    Project::with_settings(&json!({"hooks": hooks}))
}

/// A group of Claude Code's with one command.
fn claude(matcher: &str, command: &str) -> Value {
    json!({"language": "claude", "matcher": matcher,
        "hooks": [{"type": "command", "command": command, "timeout": 30}]})
}

#[test]
fn it_does_here_what_it_does_at_home_beside_hooks_of_ours() {
    let says = r#"read -r said; case "$said" in *'"tool_name":"Bash"'*) echo 'no Bash' >&2; exit 2;; esac"#;
    let ours =
        json!({"matcher": "write_file", "hooks": [{"type": "command", "command": "exit 2"}]});
    let project = with(json!({"BeforeTool": [ours], "PreToolUse": [claude("Bash", says)]}));
    let blocked = fire(&project, "run_shell_command");
    assert!(blocked.status == 2 && blocked.stdout.contains("no Bash"), "{blocked:?}");
    assert_eq!(fire(&project, "write_file").status, 2);
    assert_eq!(fire(&project, "read_file").status, 0);
    // Under a name that both have, in any order; and an agent's own event.
    let project = with(json!({
        "SessionStart": [
            {"hooks": [{"type": "command", "command": "echo ours >> \"$HOME/ran\""}]},
            claude("startup", "echo theirs >> \"$HOME/ran\""),
            {"hooks": [
                {"type": "command", "command": "echo hook >> \"$HOME/ran\"", "language": "claude"},
                {"type": "command", "command": "echo last >> \"$HOME/ran\""},
            ]},
        ],
        "WorktreeCreate": [claude("", "exit 1")],
    }));
    let settings = ["--settings", "settings.json"];
    let fired = Hook::new(&project, &[&["fire", "SessionStart"], &settings[..]].concat()).run();
    assert_eq!(fired.status, 0, "{fired:?}");
    let ran = std::fs::read_to_string(project.home().join("ran")).unwrap();
    let mut ran: Vec<&str> = ran.lines().collect();
    ran.sort_unstable();
    assert_eq!(ran, ["hook", "last", "ours", "theirs"]);
    let listed = Hook::new(&project, &[&["list", "--json"], &settings[..]].concat()).run();
    assert!(listed.stdout.contains(r#""event":"WorktreeCreate""#), "{listed:?}");
    assert!(listed.stdout.contains(r#""timeout":30000"#), "{listed:?}");
    let checked = Hook::new(&project, &["check", "settings.json"]).run();
    assert_eq!(checked.status, 0, "{checked:?}");
}

#[test]
fn a_flat_hook_is_written_as_at_home_or_in_a_list() {
    let hook =
        json!({"command": r#"echo '{"permission":"deny","user_message":"no"}'"#, "matcher": "rm"});
    let mut flat = hook.clone();
    flat["language"] = json!("cursor");
    let listed = json!({"language": "cursor", "hooks": [hook]});
    for definition in [flat, listed] {
        let project = with(json!({"beforeShellExecution": [definition]}));
        let input = |command: &str| {
            let input =
                json!({"tool_name": "run_shell_command", "tool_input": {"command": command}});
            let input = input.to_string();
            let arguments =
                ["fire", "BeforeTool", "--settings", "settings.json", "--input", &input];
            Hook::new(&project, &arguments).run()
        };
        assert_eq!(input("rm -r x").status, 2, "{:?}", input("rm -r x"));
        assert_eq!(input("ls").status, 0);
    }
}

#[test]
fn a_language_that_is_not_known_is_an_error_and_its_guards_block() {
    let definition = |more: &str| {
        let text = format!(
            r#"{{"hooks": {{"PreToolUse": [{{"language": "cluade", "hooks": [
                {{"type": "command", "name": "guard", "command": "true"{more}}}]}}]}}}}"#
        );
        let project = Project::new();
        project.write("settings.json", &text);
        project
    };
    let checked = Hook::new(&definition(""), &["check", "settings.json"]).run();
    assert_eq!(checked.status, 1, "{checked:?}");
    assert!(checked.stdout.contains("error[unknown-language]"), "{checked:?}");
    assert!(checked.stdout.contains("write `claude`"), "{checked:?}");
    for (more, status) in [
        ("", 0),
        (r#", "failBehavior": "continue""#, 0),
        (r#", "failBehavior": "block""#, 2),
        (r#", "failBehaviour": "block""#, 2),
        (r#", "failClosed": true"#, 2),
        (r#", "onFailure": "block""#, 2),
    ] {
        let fired = fire(&definition(more), "run_shell_command");
        assert_eq!(fired.status, status, "{more}: {fired:?}");
        assert_eq!(fired.stdout.contains("unknown language `cluade`"), status == 2, "{fired:?}");
    }
}

/// What its language skips would not have been skipped if it were a command.
#[test]
fn a_guard_that_its_language_cannot_read_blocks() {
    for (event, hook) in [
        ("PreToolUse", json!({"type": "comand", "command": "true"})),
        ("PreToolUse", json!({"type": "command"})),
        ("PreToolUse", json!({"command": "true"})),
        ("pretooluse", json!({"type": "command", "command": "true"})),
    ] {
        for (behavior, status) in [("continue", 0), ("block", 2)] {
            let mut hook = hook.clone();
            hook["failBehavior"] = json!(behavior);
            let project = with(json!({event: [{"language": "claude", "hooks": [hook]}]}));
            let fired = fire(&project, "run_shell_command");
            assert_eq!(fired.status, status, "{event}: {fired:?}");
            assert!(fired.stderr.contains("error: hooks."), "{fired:?}");
        }
    }
    // One that does nothing at home guards nothing there.
    let hook = json!({"type": "prompt", "prompt": "?", "failBehavior": "block"});
    let project = with(json!({"SessionStart": [{"language": "claude", "hooks": [hook]}]}));
    let fired = Hook::new(&project, &["fire", "SessionStart", "--settings", "settings.json"]).run();
    assert_eq!(fired.status, 0, "{fired:?}");
    // An empty definition is said.
    let project = with(json!({"PreToolUse": [{"language": "claude", "matcher": "Bash"}]}));
    let checked = Hook::new(&project, &["check", "settings.json"]).run();
    assert_eq!(checked.status, 1, "{checked:?}");
}

#[test]
fn what_is_said_in_our_words_holds_for_it() {
    let guard = json!({"language": "claude", "hooks": [
        {"type": "command", "command": "exit 1", "failBehavior": "block", "name": "theirs"}]});
    let project = with(json!({"PreToolUse": [guard]}));
    assert_eq!(fire(&project, "read_file").status, 2);
    let project = Project::with_settings(&json!({
        "hooksConfig": {"failBehavior": "block"},
        "hooks": {"PreToolUse": [claude("", "exit 1")]},
    }));
    assert_eq!(fire(&project, "read_file").status, 2);
    let project = Project::with_settings(&json!({
        "hooksConfig": {"disabled": ["theirs"]},
        "hooks": {"PreToolUse": [{"language": "claude", "hooks": [
            {"type": "command", "command": "exit 2", "name": "theirs"}]}]},
    }));
    assert_eq!(fire(&project, "read_file").status, 0);
    // The plugin that it comes with.
    let mut of_plugin = claude("", "sh \"${CLAUDE_PLUGIN_ROOT}/guard.sh\"");
    of_plugin["pluginRoot"] = json!("plugin");
    let project = with(json!({"PreToolUse": [of_plugin]}));
    project.write("plugin/guard.sh", "exit 2");
    assert_eq!(fire(&project, "read_file").status, 2, "{:?}", fire(&project, "read_file"));
}

#[test]
fn it_is_trusted_as_every_hook_of_a_project_and_a_change_of_its_language_is_one() {
    let project = Project::new();
    let mut hook = claude("", "sh \"$CLAUDE_PROJECT_DIR\"/guard.sh");
    hook["failBehavior"] = json!("block");
    let settings = |language: &str| {
        let mut hook = hook.clone();
        hook["language"] = json!(language);
        json!({"hooks": {"PreToolUse": [hook]}}).to_string()
    };
    project.write("guard.sh", "exit 0");
    project.write(".hooks/settings.json", &settings("claude"));
    let fire = || Hook::new(&project, &["fire", "BeforeTool", "--tool", "read_file"]).run();
    assert!(fire().stderr.contains("not trusted"), "{:?}", fire());
    let trusted = Hook::new(&project, &["trust", "--yes"]).run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert_eq!(fire().status, 0, "{:?}", fire());
    for changed in ["codex", "cluade"] {
        project.write(".hooks/settings.json", &settings(changed));
        assert_eq!(fire().status, 2, "{changed}: {:?}", fire());
    }
    project.write(".hooks/settings.json", &settings("claude"));
    project.write("guard.sh", "exit 2");
    assert_eq!(fire().status, 2);
    assert!(fire().stderr.contains("changed since"), "{:?}", fire());
}

/// A library that knows no agents says so.
#[test]
fn without_languages_a_parser_says_that_it_knows_none() {
    let text = json!({"hooks": {"PreToolUse": [claude("", "true")]}}).to_string();
    let file = hook_settings::parse(&text, hook_settings::HookSource::User, None);
    assert!(file.hooks.is_empty());
    let said = file.diagnostics[0].to_string();
    assert!(said.contains("this host does not know the language `claude`"), "{said}");
}
