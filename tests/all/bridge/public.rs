//! What public hooks rely on that no table says: found by running real ones.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{answer, settings};

const DENY: &str = "echo no >&2; exit 2";

fn claude(project: &Project) -> Value {
    json!({"session_id": "s", "cwd": project.path(), "transcript_path": "",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})
}

fn shell_of_cursor(project: &Project) -> Value {
    json!({"conversation_id": "c", "hook_event_name": "beforeShellExecution", "command": "ls",
        "cursor_version": "2.4.0", "user_email": "me@example.com", "workspace_roots": [project.path()]})
}

fn run(project: &Project, arguments: &[&str], said: &Value) -> hook_tests::Finished {
    Hook::new(project, &[&["bridge"], arguments].concat()).stdin(said.to_string()).run()
}

/// Cursor runs a user's hooks in its own folder, and a plugin's in the plugin's.
#[test]
fn relative_commands_of_cursor_begin_where_its_hooks_live() {
    let project = Project::new();
    let theirs =
        json!({"version": 1, "hooks": {"beforeShellExecution": [{"command": "./guard.sh"}]}});
    for (folder, rest) in [(".cursor", &[][..]), ("plugin", &["--plugin-root"])] {
        let folder = project.home().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("guard.sh"), format!("#!/bin/sh\n{DENY}\n")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.join("guard.sh"), mode).unwrap();
        }
        let file = folder.join("hooks.json");
        std::fs::write(&file, theirs.to_string()).unwrap();
        let (file, folder) = (file.display().to_string(), folder.display().to_string());
        let mut arguments = vec!["cursor", "beforeShellExecution", "--settings", &file];
        arguments.extend(rest);
        if !rest.is_empty() {
            arguments.push(&folder);
        }
        let finished = run(&project, &arguments, &shell_of_cursor(&project));
        assert_eq!(answer(&finished)["permission"], "deny", "{finished:?}");
    }
}

#[test]
fn a_plugin_of_copilot_finds_its_folder() {
    let project = Project::new();
    let script = "[ -n \"$CLAUDE_PLUGIN_ROOT\" ] && sh \"${PLUGIN_ROOT}/x.sh\"";
    project.write("plugin/x.sh", "echo '{\"permissionDecision\":\"allow\"}'");
    let theirs =
        json!({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": script}]}});
    project.write("plugin/hooks.json", &theirs.to_string());
    let said = json!({"sessionId": "s", "timestamp": 1, "cwd": project.path(), "toolName": "bash", "toolArgs": {}});
    let arguments =
        ["copilot", "preToolUse", "--settings", "plugin/hooks.json", "--plugin-root", "plugin"];
    let finished = run(&project, &arguments, &said);
    assert_eq!(answer(&finished)["permissionDecision"], "allow", "{finished:?}");
}

/// Gemini reads its own words only.
#[test]
fn denials_in_the_words_of_others_mean_nothing_to_gemini() {
    let project = Project::new();
    let said = json!({"session_id": "s", "cwd": project.path(), "transcript_path": "", "timestamp": "t",
        "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
    for output in [
        r#"{"hookSpecificOutput":{"hookEventName":"BeforeTool","permissionDecision":"deny","permissionDecisionReason":"R"}}"#,
        r#"{"permissionDecision":"deny"}"#,
        r#"{"hookSpecificOutput":{"updatedInput":{"command":"x"}}}"#,
    ] {
        let hook = json!({"type": "command", "command": format!("echo '{output}'")});
        project.write("theirs.json", &settings("BeforeTool", hook, None, true).to_string());
        let finished = run(&project, &["gemini", "BeforeTool", "--settings", "theirs.json"], &said);
        let heard = answer(&finished);
        assert!(
            heard["decision"].is_null() && heard["hookSpecificOutput"].is_null(),
            "{output}: {finished:?}"
        );
    }
}

#[test]
fn keys_that_an_agent_does_not_know_do_nothing_in_its_files() {
    let project = Project::new();
    for (hook, denies) in [
        (json!({"type": "command", "command": "exit 1", "failClosed": true}), false),
        (json!({"type": "command", "command": "exit 0", "linux": DENY}), false),
        (json!({"type": "command", "command": DENY, "cwd": "/nowhere"}), true),
        (json!({"type": "command", "bash": DENY}), false),
        (json!({"type": "command", "command": DENY}), true),
    ] {
        project.write("theirs.json", &settings("PreToolUse", hook.clone(), None, true).to_string());
        let finished = run(&project, &["claude", "--settings", "theirs.json"], &claude(&project));
        assert_eq!(finished.stdout.contains("deny"), denies, "{hook}: {finished:?}");
    }
}

#[test]
fn comments_are_read_where_the_home_reads_them() {
    let project = Project::new();
    let hook = json!({"type": "command", "command": DENY});
    let text = settings("PreToolUse", hook, None, true).to_string();
    let text = format!("// mine\n{}", text.replace("}]}]", "},]}]"));
    project.write("theirs.json", &text);
    let said = json!({"timestamp": "t", "cwd": project.path(), "sessionId": "s",
        "hookEventName": "PreToolUse", "tool_name": "run_in_terminal", "tool_input": {"command": "ls"}});
    let finished = run(&project, &["vscode", "--settings", "theirs.json"], &said);
    assert!(finished.stdout.contains("deny"), "{finished:?}");
    let finished = run(&project, &["claude", "--settings", "theirs.json"], &claude(&project));
    assert_eq!(finished.stdout, "", "{finished:?}");
}

#[test]
fn hooks_of_codex_may_stand_in_its_toml() {
    let project = Project::new();
    let toml = format!(
        "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"{DENY}\"\n"
    );
    project.write("config.toml", &toml);
    let mut said = claude(&project);
    said["model"] = json!("m");
    let finished = run(&project, &["codex", "--settings", "config.toml"], &said);
    assert!(finished.stdout.contains("deny"), "{finished:?}");
    project.write("config.toml", "[[hooks");
    let finished = run(&project, &["codex", "--settings", "config.toml"], &said);
    assert!(finished.stdout.is_empty() && finished.stderr.contains("not TOML"), "{finished:?}");
}

#[test]
fn a_hook_of_claude_that_says_that_it_goes_on_by_itself_decides_nothing() {
    let project = Project::new();
    let hook = json!({"type": "command", "command": "echo '{\"async\":true}'; echo '{\"metrics\":1}'; exit 2"});
    project.write("theirs.json", &settings("PreToolUse", hook, None, true).to_string());
    let finished = run(&project, &["claude", "--settings", "theirs.json"], &claude(&project));
    assert_eq!((finished.status, &*finished.stdout), (0, ""), "{finished:?}");
}

/// Only what stands within counts at the end of a turn, and only with a reason.
#[test]
fn vs_code_goes_on_by_what_is_said_within() {
    let project = Project::new();
    let said = json!({"timestamp": "t", "cwd": project.path(), "sessionId": "s",
        "hookEventName": "Stop", "stop_hook_active": false});
    for (output, goes_on) in [
        (r#"{"decision":"block","reason":"g"}"#, false),
        (r#"{"hookSpecificOutput":{"decision":"block"}}"#, false),
        (r#"{"hookSpecificOutput":{"decision":"block","reason":"g"}}"#, true),
    ] {
        let hook = json!({"type": "command", "command": format!("echo '{output}'")});
        project.write("theirs.json", &settings("Stop", hook, None, true).to_string());
        let finished = run(&project, &["vscode", "Stop", "--settings", "theirs.json"], &said);
        assert_eq!(finished.stdout.contains("block"), goes_on, "{output}: {finished:?}");
    }
}

/// The agent works in a folder of the project; the file says which project.
#[test]
fn a_file_that_was_named_says_whose_project_it_is() {
    let project = Project::new();
    project.write(".github/hooks/guard.sh", "echo '{\"permissionDecision\":\"allow\"}'");
    let theirs = json!({"version": 1, "hooks": {"preToolUse": [
        {"type": "command", "bash": "sh ./.github/hooks/guard.sh"}]}});
    project.write(".github/hooks/h.json", &theirs.to_string());
    project.write("sub/file", "");
    let said = json!({"sessionId": "s", "timestamp": 1, "cwd": project.path().join("sub"),
        "toolName": "bash", "toolArgs": {"command": "ls"}});
    let arguments = ["copilot", "preToolUse", "--settings", ".github/hooks/h.json"];
    let finished = run(&project, &arguments, &said);
    assert_eq!(answer(&finished)["permissionDecision"], "allow", "{finished:?}");
}

#[test]
fn expressions_of_another_flavour_are_none() {
    let project = Project::new();
    let hook = json!({"type": "command", "command": DENY});
    let mut said = claude(&project);
    said["model"] = json!("m");
    for (matcher, denies) in [("^(?!mcp__).*", false), ("Ba.h", true)] {
        let theirs = settings("PreToolUse", hook.clone(), Some(matcher), true);
        project.write("theirs.json", &theirs.to_string());
        let finished = run(&project, &["codex", "--settings", "theirs.json"], &said);
        assert_eq!(finished.stdout.contains("deny"), denies, "{matcher}: {finished:?}");
    }
}

#[test]
fn a_hook_of_cursor_finds_what_cursor_said_in_its_variables() {
    let project = Project::new();
    let hook = json!({"command": "echo \"$CURSOR_VERSION $CURSOR_USER_EMAIL\" > seen"});
    project.write("theirs.json", &settings("beforeShellExecution", hook, None, false).to_string());
    let arguments = ["cursor", "--settings", "theirs.json"];
    assert_eq!(run(&project, &arguments, &shell_of_cursor(&project)).status, 0);
    assert_eq!(project.read("seen"), "2.4.0 me@example.com\n");
}

/// Where an agent says no folder, hooks run in the project.
#[test]
fn an_empty_working_directory_stops_no_hook() {
    let project = Project::new();
    let hook = json!({"command": "echo '{\"permission\":\"deny\"}'"});
    project.write("theirs.json", &settings("beforeShellExecution", hook, None, false).to_string());
    let mut said = shell_of_cursor(&project);
    said["cwd"] = json!("");
    let finished = run(&project, &["cursor", "--settings", "theirs.json"], &said);
    assert_eq!(answer(&finished)["permission"], "deny", "{finished:?}");
}

#[test]
fn what_cannot_be_asked_about_is_said() {
    let project = Project::new();
    let hook = json!({"type": "command", "command": DENY});
    project.write("theirs.json", &settings("PreToolUse", hook, None, true).to_string());
    let mut said = claude(&project);
    said["tool_name"] = json!(7);
    let finished = run(&project, &["claude", "--settings", "theirs.json"], &said);
    assert!(finished.stderr.contains("hooks were not asked"), "{finished:?}");
}

/// Some agents write the arguments of a tool as a text.
#[test]
fn arguments_that_are_no_object_are_asked_about_as_a_command() {
    let project = Project::new();
    let mut said = claude(&project);
    let users = project.home().join(".config/hooks/settings.json");
    std::fs::create_dir_all(users.parent().unwrap()).unwrap();
    std::fs::write(&users, r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "cat > seen; exit 2"}]}]}}"#).unwrap();
    for written in [json!("ls"), json!(["ls", "-l"]), json!(7)] {
        said["tool_input"] = written.clone();
        let finished = run(&project, &["claude"], &said);
        assert_eq!(answer(&finished)["hookSpecificOutput"]["permissionDecision"], "deny");
        let seen: Value = serde_json::from_str(&project.read("seen")).unwrap();
        assert_eq!(seen["tool_input"]["command"], written, "{finished:?}");
    }
}
