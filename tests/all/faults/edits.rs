//! A hook sees every edit, whatever the agent calls it (faults 51 to 55).

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// A script that refuses `.env` files by the list of files that every input has.
const GUARD: &str =
    r#"grep -q '"path":"[^"]*\.env"' && { echo "keep away from .env" >&2; exit 2; }; exit 0"#;

fn hook(command: &str) -> Value {
    json!([{"type": "command", "command": command, "failBehavior": "block"}])
}

/// A project whose user has these settings.
fn with_users(settings: &Value) -> Project {
    let project = Project::new();
    let path = project.home().join(".config/hooks/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
    project
}

/// Has an agent ask whether it may call a tool.
fn asked(project: &Project, agent: &str, tool: &str, arguments: &Value) -> Finished {
    let cwd = project.path().display().to_string();
    let (event, input) = match agent {
        "gemini" => (
            "BeforeTool",
            json!({"session_id": "s", "transcript_path": "/t", "cwd": cwd,
            "hook_event_name": "BeforeTool", "timestamp": "2026-11-24T00:00:00Z",
            "tool_name": tool, "tool_input": arguments}),
        ),
        "vscode" => (
            "PreToolUse",
            json!({"sessionId": "s", "hookEventName": "PreToolUse",
            "transcript_path": "/t", "cwd": cwd, "timestamp": "2026-11-24T00:00:00Z",
            "tool_name": tool, "tool_input": arguments, "tool_use_id": "1"}),
        ),
        "copilot" => (
            "preToolUse",
            json!({"sessionId": "s", "timestamp": 1, "cwd": cwd,
            "toolName": tool, "toolArgs": arguments}),
        ),
        _ => (
            "PreToolUse",
            json!({"session_id": "s", "transcript_path": "/t", "cwd": cwd,
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments,
            "tool_use_id": "1"}),
        ),
    };
    Hook::new(project, &["bridge", agent, event]).stdin(input.to_string()).run()
}

/// Whether an answer refuses; that there is one is asserted.
fn refuses(finished: &Finished) -> bool {
    assert_eq!(finished.status, 0, "{finished:?}");
    assert!(!finished.stderr.contains("error"), "{finished:?}");
    finished.stdout.contains("deny")
}

fn patch(files: &str) -> Value {
    json!({"command": format!("*** Begin Patch\n{files}*** End Patch\n")})
}

#[test]
fn fault_51_a_guard_for_a_kind_sees_the_edits_of_every_agent() {
    let by_kind = json!({"kind": "file_write", "pathPattern": "*.env"});
    let by_name = json!({"tool": ["write_file", "edit"], "pathPattern": "*.env"});
    let by_text = json!("Write|edit");
    for matcher in [by_kind, by_name, by_text] {
        let definition = json!([{"matcher": matcher, "hooks": hook(GUARD)}]);
        let project = with_users(&json!({"hooks": {"BeforeTool": definition}}));
        let of = |name: &str| project.path().join(name).display().to_string();
        for (name, refused) in [(".env", true), ("notes.txt", false)] {
            let edit = json!({"file_path": of(name), "old_string": "a", "new_string": "b"});
            let write = json!({"file_path": of(name), "content": "b"});
            let update = patch(&format!("*** Update File: {name}\n@@\n-a\n+b\n"));
            for (agent, tool, arguments) in [
                ("claude", "Edit", &edit),
                ("claude", "Write", &write),
                ("gemini", "replace", &edit),
                ("gemini", "write_file", &write),
                ("codex", "apply_patch", &update),
                ("vscode", "create_file", &json!({"filePath": of(name), "content": "b"})),
                ("copilot", "create", &json!({"path": of(name), "file_text": "b"})),
            ] {
                let finished = asked(&project, agent, tool, arguments);
                assert_eq!(refuses(&finished), refused, "{matcher} {agent} {tool} {finished:?}");
            }
        }
        // A command that applies a patch writes files, too, by whatever name.
        if matcher.get("kind").is_some() {
            let command = format!(
                "apply_patch <<'END'\n{}END",
                patch("*** Delete File: .env\n")["command"].as_str().unwrap()
            );
            let finished = asked(&project, "codex", "Bash", &json!({"command": command}));
            assert!(refuses(&finished), "{finished:?}");
        }
        let checked = Hook::new(&project, &["check"]).run();
        assert!(checked.stdout.contains("no problems"), "{checked:?}");
    }
}

#[test]
fn fault_51_a_matcher_for_a_tool_that_no_agent_has_is_a_warning_with_the_nearest_name() {
    let definitions = json!([
        {"matcher": {"tool": ["Bsh", "edit"]}, "hooks": hook("exit 2")},
        {"matcher": "Edt|Write", "hooks": hook("exit 2")},
        {"matcher": {"tool": "mcp__github__get_file"}, "hooks": hook("exit 2")},
    ]);
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": definitions}}));
    let checked = Hook::new(&project, &["check", "--settings=settings.json", "--json"]).run();
    let found: Vec<Value> = checked.lines();
    let found = found.iter().filter(|it| it["rule"] == "unknown-tool");
    let found: Vec<_> = found.map(|it| (it["suggestion"].clone(), it["path"].clone())).collect();
    let expected = [
        (json!("Bash"), json!("hooks.BeforeTool[0].matcher.tool[0]")),
        (json!("Edit"), json!("hooks.BeforeTool[1].matcher")),
    ];
    assert_eq!(found, expected, "{}", checked.stdout);
    let shown = Hook::new(&project, &["check", "--settings=settings.json"]).run();
    assert!(shown.stdout.contains("it is called `run_shell_command` here"), "{}", shown.stdout);
}

/// Settings of Claude Code for edits, whose script looks at the path alone.
fn claudes(project: &Project) {
    let script = r#"tee -a "$CLAUDE_PROJECT_DIR/asked" | grep -q '"file_path":"[^"]*\.env"' && { echo "not .env" >&2; exit 2; }; exit 0"#;
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": script}]}]}});
    let path = project.home().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
}

#[test]
fn fault_52_a_patch_is_asked_about_file_by_file() {
    let project = with_users(&json!({"hooksConfig": {"agents": ["claude"]}}));
    claudes(&project);
    project.write("old.txt", "a\nb\n");
    project.write(".env", "KEY=1\n");
    for files in [
        "*** Add File: .env\n+x\n",
        "*** Update File: .env\n@@\n-KEY=1\n+KEY=2\n",
        "*** Delete File: .env\n",
        "*** Update File: .env\n*** Move to: moved\n@@\n-KEY=1\n+KEY=2\n",
        "*** Update File: old.txt\n*** Move to: .env\n@@\n-a\n+c\n",
        "*** Add File: a\n+x\n*** Update File: old.txt\n@@\n-a\n+c\n*** Delete File: .env\n",
    ] {
        let finished = asked(&project, "codex", "apply_patch", &patch(files));
        assert!(finished.stdout.contains("not .env"), "{files} {finished:?}");
    }
    // Models apply patches by a command, too.
    let by_shell = |files: &str| json!({"command": format!("apply_patch <<'END'\n*** Begin Patch\n{files}*** End Patch\nEND")});
    let finished = asked(&project, "codex", "Bash", &by_shell("*** Add File: .env\n+x\n"));
    assert!(finished.stdout.contains("not .env"), "{finished:?}");
    let finished = asked(&project, "codex", "Bash", &by_shell("*** Add File: notes\n+x\n"));
    assert!(!refuses(&finished), "{finished:?}");
    fs::remove_file(project.path().join("asked")).unwrap();
    let harmless = "*** Add File: new.txt\n+x\n*** Update File: old.txt\n@@\n-a\n+c\n";
    let finished = asked(&project, "codex", "apply_patch", &patch(harmless));
    assert!(!refuses(&finished), "{finished:?}");
    let calls = project.read("asked");
    let calls: Vec<Value> =
        serde_json::Deserializer::from_str(&calls).into_iter().map(Result::unwrap).collect();
    let calls: Vec<_> = calls.iter().map(|it| (&it["tool_name"], &it["tool_input"])).collect();
    let of = |name: &str| project.path().join(name);
    let written = json!({"file_path": of("new.txt"), "content": "x\n"});
    let edited = json!({"file_path": of("old.txt"), "old_string": "a", "new_string": "c"});
    assert_eq!(calls, [(&json!("Write"), &written), (&json!("Edit"), &edited)]);
}

#[test]
fn fault_52_a_patch_of_too_many_files_or_that_cannot_be_read_is_refused() {
    let project = with_users(&json!({"hooksConfig": {"agents": ["claude"]}}));
    claudes(&project);
    let many: String = (0..10_000).map(|it| format!("*** Add File: f{it}\n+x\n")).collect();
    for (patch, why) in [
        (patch(&many), "10000 files"),
        (json!({"command": "*** Begin Patch\n*** Add File: .env\n+x\n"}), "cannot be read"),
        (json!({"command": 7}), "no patch"),
    ] {
        let finished = asked(&project, "codex", "apply_patch", &patch);
        assert!(refuses(&finished) && finished.stdout.contains(why), "{why} {finished:?}");
    }
    // Hooks for something else are not concerned.
    let shell = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}]}});
    fs::write(project.home().join(".claude/settings.json"), shell.to_string()).unwrap();
    assert!(!refuses(&asked(&project, "codex", "apply_patch", &patch(&many))));
}

/// What one file has the agent stop for stops it, whatever is said of the others.
#[test]
fn fault_52_a_stop_over_one_file_is_not_lost_among_the_others() {
    let stop = r#"grep -q one.txt && echo '{"continue":false,"stopReason":"enough"}' || echo '{"systemMessage":"fine"}'"#;
    let definition = json!([{"language": "claude", "matcher": "Write", "hooks": [{"type": "command", "command": stop}]}]);
    let project = with_users(&json!({"hooks": {"PostToolUse": definition}}));
    let arguments = patch("*** Add File: one.txt\n+x\n*** Add File: two.txt\n+x\n");
    let input =
        json!({"tool_name": "apply_patch", "tool_input": arguments, "tool_response": "Done"});
    let fire = ["fire", "AfterTool", "--json", "--input", &input.to_string()];
    let response = &Hook::new(&project, &fire).run().lines()[0];
    assert_eq!(response["processed"]["shouldStop"], true, "{response}");
}

/// An allow of the hooks that are for some of the files approves no others.
#[test]
fn fault_52_an_approval_of_some_files_approves_no_patch() {
    let project = with_users(&json!({"hooksConfig": {"agents": ["claude"]}}));
    let allow = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": allow}]}]}});
    let path = project.home().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
    project.write("old.txt", "a\n");
    let added = "*** Add File: a.md\n+x\n";
    let allowed = |files: &str| {
        let patch = patch(files)["command"].clone();
        let finished = asked(&project, "copilot", "apply_patch", &patch);
        assert_eq!(finished.status, 0, "{finished:?}");
        finished.stdout.contains("\"allow\"")
    };
    assert!(allowed(added));
    assert!(!allowed(&format!("{added}*** Update File: old.txt\n@@\n-a\n+b\n")));
    // Nor a command that does more than to apply it.
    let command =
        format!("rm -r build; apply_patch <<'E'\n*** Begin Patch\n{added}*** End Patch\nE");
    let finished = asked(&project, "copilot", "bash", &json!({"command": command}));
    assert!(!finished.stdout.contains("\"allow\""), "{finished:?}");
}

/// A hook that knows patches alone is not asked about what writes nothing.
#[test]
fn fault_53_a_file_that_a_server_reads_is_no_patch() {
    let project = with_users(&json!({"hooksConfig": {"agents": ["codex"]}}));
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "apply_patch", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}});
    let path = project.home().join(".codex/hooks.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
    let read = json!({"path": "notes"});
    let finished = asked(&project, "claude", "mcp__filesystem__read_file", &read);
    assert!(finished.status == 0 && finished.stdout.is_empty(), "{finished:?}");
    let written = json!({"path": "notes", "content": "x"});
    assert!(refuses(&asked(&project, "claude", "mcp__filesystem__write_file", &written)));
}

#[test]
fn fault_53_hooks_that_know_patches_alone_get_writes_and_edits_as_patches() {
    let project = with_users(&json!({"hooksConfig": {"agents": ["codex"]}}));
    let script = r#"grep -q 'File: [^"]*\.env' && { echo "not .env" >&2; exit 2; }; exit 0"#;
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Edit|Write|apply_patch", "hooks": [{"type": "command", "command": script}]}]}});
    let path = project.home().join(".codex/hooks.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
    for (name, refused) in [(".env", true), ("notes.txt", false)] {
        let file = project.path().join(name);
        for (agent, tool, arguments) in [
            ("claude", "Write", json!({"file_path": file, "content": "x"})),
            ("claude", "Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"})),
            (
                "vscode",
                "apply_patch",
                json!({"input": patch(&format!("*** Add File: {name}\n+x\n"))["command"]}),
            ),
        ] {
            let finished = asked(&project, agent, tool, &arguments);
            assert_eq!(refuses(&finished), refused, "{agent} {tool} {finished:?}");
        }
    }
    // What no patch can say is no reason to pass.
    let strange = json!({"file_path": "a\nb", "content": "x"});
    assert!(refuses(&asked(&project, "claude", "Write", &strange)));
}

#[test]
fn fault_54_tools_and_arguments_of_every_spelling_are_known() {
    // VS Code runs what stands in Claude Code's files by itself.
    let script =
        r#"grep -q '"file_path":"[^"]*\.env"' && { echo "not .env" >&2; exit 2; }; exit 0"#;
    let project = with_users(
        &json!({"hooks": {"PreToolUse": [{"language": "claude", "matcher": "Edit|Write",
        "hooks": [{"type": "command", "command": script}]}]}}),
    );
    let env = project.path().join(".env");
    let added = patch("*** Add File: .env\n+x\n")["command"].clone();
    for (agent, tool, arguments) in [
        ("vscode", "create_file", json!({"filePath": env, "content": "x"})),
        (
            "vscode",
            "replace_string_in_file",
            json!({"filePath": env, "oldString": "a", "newString": "b"}),
        ),
        (
            "vscode",
            "multi_replace_string_in_file",
            json!({"replacements": [
            {"filePath": "a.txt", "oldString": "a", "newString": "b"},
            {"filePath": env, "oldString": "a", "newString": "b"}]}),
        ),
        ("vscode", "apply_patch", json!({"input": added})),
        ("copilot", "apply_patch", added.clone()),
        ("copilot", "create", json!({"path": env, "file_text": "x"})),
        (
            "qwen",
            "mcp__fs__write",
            json!({"uri": format!("file://{}", env.display()), "text": "x"}),
        ),
        ("qwen", "mcp__fs__write", json!({"file": env, "text": "x"})),
        ("qwen", "mcp__fs__rename", json!({"from": "a", "to": env})),
    ] {
        let finished = asked(&project, agent, tool, &arguments);
        assert!(finished.stdout.contains("not .env"), "{agent} {tool} {finished:?}");
    }
    // A tool of a server whose name does not say so.
    let input = json!({"tool_name": "write_note", "mcp_context": {"server_name": "notes"},
        "tool_input": {"path": env, "content": "x"}})
    .to_string();
    let finished = Hook::new(&project, &["fire", "BeforeTool", "--input", &input]).run();
    assert!(finished.stdout.contains("not .env"), "{finished:?}");
}

#[cfg(unix)]
#[test]
fn fault_55_every_input_about_a_tool_has_its_files_with_links_resolved() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": {"pathPattern": "**/secrets/*"}, "hooks": hook("cat > seen; exit 2")}]}}));
    project.write("secrets/key", "k");
    std::os::unix::fs::symlink("secrets", project.path().join("docs")).unwrap();
    std::os::unix::fs::symlink("secrets/later", project.path().join("dangling")).unwrap();
    let secrets = project.path().canonicalize().unwrap().join("secrets");
    let fire = |tool: &str, arguments: Value| {
        let input = json!({"tool_name": tool, "tool_input": arguments}).to_string();
        let arguments = ["fire", "BeforeTool", "--settings=settings.json", "--input", &input];
        Hook::new(&project, &[&arguments[..], &["--show-input"]].concat()).run()
    };
    for (tool, arguments, name, access) in [
        ("Read", json!({"file_path": "docs/key"}), "key", "read"),
        ("write_file", json!({"path": "dangling", "content": "x"}), "later", "write"),
        (
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Add File: docs/new\n+x\n*** End Patch"}),
            "new",
            "write",
        ),
        (
            "mcp__files__write",
            json!({"path": "./docs/../docs/key", "content": "x"}),
            "key",
            "write",
        ),
    ] {
        let finished = fire(tool, arguments);
        let seen: Value = serde_json::from_str(&project.read("seen")).unwrap();
        let file = json!([{"path": secrets.join(name), "access": access}]);
        assert_eq!((finished.status, &seen["files"]), (2, &file), "{finished:?}");
        assert!(finished.stdout.contains("\"files\": ["), "{}", finished.stdout);
    }
    assert_eq!(fire("Read", json!({"file_path": "notes"})).status, 0);
}

/// A project with one hook of Claude Code's in settings of the user's.
fn with_claudes(matcher: &str, command: &str) -> Project {
    with_users(&json!({"hooks": {"PreToolUse": [{"language": "claude", "matcher": matcher,
        "hooks": [{"type": "command", "command": command}]}]}}))
}

/// What a host is answered that calls a tool: the decision, its reason, and the arguments as hooks leave them.
fn fired(project: &Project, tool: &str, arguments: &Value) -> Value {
    let input = json!({"tool_name": tool, "tool_input": arguments}).to_string();
    let arguments = ["fire", "BeforeTool", "--json", "--input", &input];
    let finished = Hook::new(project, &arguments).run();
    serde_json::from_str(finished.stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn fault_54_a_command_is_one_under_whatever_argument() {
    let guard = r#"grep -q '"command":"[^"]*rm -rf' && { echo "not that" >&2; exit 2; }; exit 0"#;
    let project = with_claudes("Bash", guard);
    let decided = |tool: &str, arguments: Value| {
        fired(&project, tool, &arguments)["processed"]["decision"].clone()
    };
    for (tool, arguments) in [
        ("run_shell_command", json!({"command": ["rm", "-rf", "/"]})),
        ("exec_command", json!({"cmd": "rm -rf /"})),
        ("run_commands", json!({"commands": ["ls", "rm -rf /"]})),
        ("write_stdin", json!({"session_id": 1, "chars": "rm -rf /\n"})),
        ("shell", json!({"line": "rm -rf /"})),
        // Nobody knows by which of them it goes.
        ("exec_command", json!({"command": "ls", "cmd": "rm -rf /"})),
        ("exec_command", json!({"command": 7})),
    ] {
        assert_eq!(decided(tool, arguments.clone()), "block", "{tool} {arguments}");
    }
    for (tool, arguments) in
        [("shell", json!({"command": "ls"})), ("write_stdin", json!({"session_id": 1}))]
    {
        assert_eq!(decided(tool, arguments.clone()), "proceed", "{tool} {arguments}");
    }
    // Ours is compared with the same.
    let project = with_users(&json!({"hooks": {"BeforeTool": [{
        "matcher": {"commandPattern": "rm -rf"}, "hooks": hook("exit 2")}]}}));
    let asked = fired(&project, "write_stdin", &json!({"chars": "rm -rf /"}));
    assert_eq!(asked["processed"]["decision"], "block", "{asked}");
}

#[test]
fn fault_54_a_change_takes_the_place_of_every_spelling() {
    let changed = |hook: &str, tool: &str, arguments: &Value| {
        let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "allow", "updatedInput": serde_json::from_str::<Value>(hook).unwrap()}});
        let project = with_claudes("*", &format!("echo '{output}'"));
        let response = fired(&project, tool, arguments);
        let modified = &response["processed"]["modified"]["tool_input"];
        (response["processed"]["decision"].clone(), modified.clone())
    };
    let safe = r#"{"command":"echo safe"}"#;
    let (_, modified) = changed(safe, "exec_command", &json!({"cmd": "rm -rf /"}));
    assert_eq!(modified, json!({"cmd": "echo safe"}));
    let both = json!({"file_path": "a", "filePath": "a", "content": "x"});
    let elsewhere = r#"{"file_path":"b","content":"y"}"#;
    let (_, modified) = changed(elsewhere, "create_file", &both);
    assert_eq!(modified, json!({"file_path": "b", "filePath": "b", "content": "y"}));
    // A shell would read what a hook wrote as commands.
    let command = "apply_patch '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch'";
    let (_, modified) = changed(elsewhere, "Bash", &json!({"command": command}));
    assert_eq!(modified, Value::Null);
}

#[test]
fn fault_55_a_hook_is_asked_about_each_file_that_is_listed() {
    let script =
        r#"grep -q '"file_path":"[^"]*\.env"' && { echo "not .env" >&2; exit 2; }; exit 0"#;
    for matcher in ["Read|Edit|Write", "*"] {
        let project = with_claudes(matcher, script);
        fs::create_dir_all(project.path().join("sub")).unwrap();
        for (tool, arguments) in [
            ("read_files", json!({"paths": ".env"})),
            ("view", json!({"uri": ".env"})),
            ("read_file", json!({"file_path": "a", "paths": [["b", ".env"], 7]})),
            ("editFiles", json!({"path": "a", "files": [{"uri": ".env"}]})),
            ("delete_file", json!({"path": "a", "paths": [{"uri": ".env"}]})),
            ("mcp_fs_write", json!({"path": "a", "files": [{"name": ".env"}], "text": "x"})),
            ("mcp_fs_write_file", json!({"path": ".env", "content": "x"})),
            (
                "Bash",
                json!({"command": "apply_patch <<E\n*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch\nE"}),
            ),
        ] {
            let response = fired(&project, tool, &arguments);
            assert_eq!(response["processed"]["decision"], "block", "{matcher} {tool} {response}");
        }
        let response = fired(&project, "write_file", &json!({"file_path": "a", "content": "x"}));
        assert_eq!(response["processed"]["decision"], "proceed", "{matcher} {response}");
    }
    // A call may work in a directory of its own.
    let project = with_claudes("Write", r#"grep -q '"file_path":"[^"]*/sub/' && exit 2; exit 0"#);
    let patch = patch("*** Add File: a\n+x\n")["command"].clone();
    let response = fired(&project, "apply_patch", &json!({"patch": patch, "workdir": "sub"}));
    assert_eq!(response["processed"]["decision"], "block", "{response}");
}

#[test]
fn fault_52_a_file_that_moves_is_asked_about_with_its_text() {
    let script = r#"grep -q '"content":"[^"]*SECRET' && exit 2; exit 0"#;
    let project = with_claudes("Write", script);
    project.write("long", &format!("SECRET{}", "x".repeat(2 << 20)));
    let response = fired(&project, "mcp_fs_move", &json!({"source": "long", "destination": "b"}));
    assert_eq!(response["processed"]["decision"], "block", "{response}");
}

#[test]
fn fault_51_an_expression_is_compared_with_our_name_whatever_a_tool_is_called() {
    let project = with_users(
        &json!({"hooks": {"BeforeTool": [{"matcher": "write_.*", "hooks": hook("exit 2")}]}}),
    );
    let patch = patch("*** Add File: a\n+x\n");
    for (tool, arguments) in [
        ("Write", json!({"file_path": "a", "content": "x"})),
        ("ApplyPatch", patch.clone()),
        ("apply_patch", patch),
    ] {
        let response = fired(&project, tool, &arguments);
        assert_eq!(response["processed"]["decision"], "block", "{tool} {response}");
    }
}

/// What an agent is answered whose user has a hook that allows.
fn allowed(matcher: &Value, language: Option<&str>, tool: &str, arguments: &Value) -> bool {
    let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "allow"}});
    let command = format!("echo '{output}'");
    let mut group = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
    if let Some(language) = language {
        group["language"] = json!(language);
    }
    let event = if language.is_some() { "PreToolUse" } else { "BeforeTool" };
    let project = with_users(&json!({"hooks": {event: [group]}}));
    asked(&project, "qwen", tool, arguments).stdout.contains("allow")
}

#[test]
fn fault_56_an_approval_of_a_part_approves_nothing_more() {
    let of_server = json!({"path": "a", "command": "rm -rf /"});
    let claudes = |matcher: &str, tool: &str, arguments: &Value| {
        allowed(&json!(matcher), Some("claude"), tool, arguments)
    };
    for (matcher, tool, arguments) in [
        ("Read|Grep|Glob", "mcp__sh__run", &of_server),
        ("Read", "mcp__db__query", &json!({"path": "a", "sql": "drop table x"})),
        ("Bash", "mcp__sh__run", &of_server),
        ("Edit|Write", "mcp__fs__delete_file", &json!({"path": "a"})),
        ("Edit|Write", "delete_file", &json!({"path": "a"})),
        (
            "Edit|Write",
            "mcp__fs__write_and_run",
            &json!({"path": "a", "content": "x", "command": "y"}),
        ),
        ("Write", "create_file", &json!({"filePath": "a", "content": "x", "and_run": "y"})),
    ] {
        assert!(!claudes(matcher, tool, arguments), "{matcher} {tool}");
    }
    let kind = json!({"kind": "file_read"});
    assert!(!allowed(&kind, None, "mcp__sh__run", &of_server));
    assert!(allowed(&kind, None, "read_file", &json!({"file_path": "a"})));
    assert!(claudes("Read", "read_file", &json!({"file_path": "a", "limit": 5})));
    assert!(claudes("mcp__sh__.*", "mcp__sh__run", &json!({"id": 1})));
}

#[test]
fn fault_51_a_tool_of_a_server_is_known_by_the_names_of_all_agents() {
    for matcher in [
        json!({"tool": "mcp__github__create_issue"}),
        json!({"toolPattern": "^mcp__github__"}),
        json!("mcp__github__.*"),
        json!({"kind": "mcp"}),
    ] {
        let project = with_users(
            &json!({"hooks": {"BeforeTool": [{"matcher": matcher, "hooks": hook("echo no >&2; exit 2")}]}}),
        );
        for (agent, tool) in [
            ("claude", "mcp__github__create_issue"),
            ("gemini", "mcp_github_create_issue"),
            ("copilot", "github-create_issue"),
        ] {
            let finished = asked(&project, agent, tool, &json!({"title": "x"}));
            assert!(refuses(&finished), "{matcher} {agent} {finished:?}");
        }
    }
    let project = with_claudes("mcp__github__.*", "exit 2");
    let input = json!({"tool_name": "create_issue", "mcp_context": {"server_name": "github"},
        "tool_input": {"title": "x"}})
    .to_string();
    let finished = Hook::new(&project, &["fire", "BeforeTool", "--input", &input]).run();
    assert_eq!(finished.status, 2, "{finished:?}");
}

#[test]
fn fault_55_a_path_is_a_file_of_the_project_wherever_the_agent_works() {
    let project = with_users(&json!({"hooks": {"BeforeTool": [{
        "matcher": {"kind": "file_write", "pathPattern": "secret/**"}, "hooks": hook("exit 2")}]}}));
    fs::create_dir_all(project.path().join("sub")).unwrap();
    project.write(".hooks/settings.json", "{}");
    let secret = project.path().join("secret/a");
    let input = json!({"session_id": "s", "transcript_path": "/t",
        "cwd": project.path().join("sub"), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": secret, "content": "x"}});
    let finished = Hook::new(&project, &["bridge", "claude", "PreToolUse"])
        .env("CLAUDE_PROJECT_DIR", &project.path().display().to_string())
        .stdin(input.to_string())
        .run();
    assert!(finished.stdout.contains("deny"), "{finished:?}");
}

#[cfg(unix)]
#[test]
fn fault_52_a_foreign_hook_is_asked_about_where_a_path_leads() {
    let script = r#"grep -q '"file_path":"'"$PWD"'/secret/' && { echo no >&2; exit 2; }; exit 0"#;
    let project = with_claudes("Write", script);
    fs::create_dir_all(project.path().join("secret")).unwrap();
    std::os::unix::fs::symlink("secret", project.path().join("link")).unwrap();
    for path in ["secret/a", "./secret/a", "x/../secret/a", "link/a", "@secret/a"] {
        let written = json!({"file_path": path, "content": "x"});
        let response = fired(&project, "write_file", &written);
        assert_eq!(response["processed"]["decision"], "block", "{path} {response}");
    }
    let elsewhere = json!({"file_path": "other", "content": "x"});
    assert_eq!(fired(&project, "write_file", &elsewhere)["processed"]["decision"], "proceed");
}

#[test]
fn fault_52_a_patch_in_a_shell_is_read_where_it_applies_or_refused() {
    let script = r#"grep -q '"file_path":"[^"]*/secret/' && { echo no >&2; exit 2; }; exit 0"#;
    let foreign = with_claudes("Write", script);
    let ours = with_users(&json!({"hooks": {"BeforeTool": [{
        "matcher": {"kind": "file_write", "pathPattern": "secret/**"}, "hooks": hook("exit 2")}]}}));
    let patch = "<<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE";
    for (command, decision) in [
        (format!("cd secret && apply_patch {patch}"), "block"),
        (format!("pushd secret; apply_patch {patch}"), "block"),
        (
            format!("D=secret; apply_patch {}", patch.replace("'E'", "E").replace(": a", ": $D/a")),
            "block",
        ),
        ("apply_patch < file".to_owned(), "block"),
        (format!("apply_patch {patch}"), "proceed"),
        ("grep -r apply_patch .".to_owned(), "proceed"),
    ] {
        for project in [&foreign, &ours] {
            let response = fired(project, "Bash", &json!({"command": command}));
            assert_eq!(response["processed"]["decision"], decision, "{command} {response}");
        }
    }
    let response = fired(
        &ours,
        "Bash",
        &json!({"workdir": "secret", "command": format!("apply_patch {patch}")}),
    );
    assert_eq!(response["processed"]["decision"], "block", "{response}");
}

#[test]
fn fault_52_a_change_that_would_lose_the_place_of_a_hunk_is_not_made() {
    let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "updatedInput": {"file_path": "b", "old_string": "x", "new_string": "y"}}});
    let project = with_users(
        &json!({"hooks": {"PreToolUse": [{"language": "claude", "matcher": "Edit",
        "hooks": [{"type": "command", "command": format!("echo '{output}'"), "failBehavior": "block"}]}]}}),
    );
    let asked = |hunk: &str| {
        let patch = patch(&format!("*** Update File: a\n{hunk}\n-x\n+z\n"));
        fired(&project, "apply_patch", &patch)["processed"]["decision"].clone()
    };
    assert_eq!(asked("@@"), "proceed");
    assert_eq!(asked("@@ def f"), "block");
}

#[test]
fn fault_50_a_foreign_hook_is_asked_again_about_what_a_rewriter_made() {
    let guard = r#"grep -q '"command":"[^"]*rm -rf' && { echo no >&2; exit 2; }; exit 0"#;
    let rewriter = r#"echo '{"hookSpecificOutput":{"tool_input":{"command":"rm -rf /"}}}'"#;
    let project = with_users(&json!({"hooks": {
        "PreToolUse": [{"language": "claude", "matcher": "Bash",
            "hooks": [{"type": "command", "command": guard}]}],
        "BeforeTool": [{"hooks": [{"type": "command", "command": rewriter, "priority": 200}]}]}}));
    let response = fired(&project, "run_shell_command", &json!({"command": "ls"}));
    assert_eq!(response["processed"]["decision"], "block", "{response}");
}

#[test]
fn fault_57_a_call_that_cannot_be_read_is_refused_where_a_foreign_hook_would_be_asked() {
    let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": 7, "tool_use_id": "1",
        "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "a"}});
    let asked = |project: &Project| {
        Hook::new(project, &["bridge", "qwen", "PreToolUse"]).stdin(input.to_string()).run()
    };
    let finished = asked(&with_claudes("Read", "exit 0"));
    assert!(finished.stdout.contains("deny"), "{finished:?}");
    let finished = asked(&with_users(&json!({"hooks": {}})));
    assert!(!finished.stdout.contains("deny"), "{finished:?}");
}

#[test]
fn fault_51_tools_that_run_commands_are_shells_whatever_they_are_called() {
    let project = with_users(&json!({"hooks": {"BeforeTool": [{
        "matcher": {"kind": "shell", "commandPattern": "rm -rf"}, "hooks": hook("exit 2")}]}}));
    let foreign = with_claudes("Bash", r#"grep -q '"command":"[^"]*rm -rf' && exit 2; exit 0"#);
    for (tool, arguments) in [
        ("mcp__desktop__start_process", json!({"command": "rm -rf /"})),
        ("write_bash", json!({"sessionId": "1", "input": "rm -rf /{enter}"})),
        ("write_powershell", json!({"input": "rm -rf /"})),
        ("ssh", json!({"host": "h", "command": "rm -rf /"})),
    ] {
        for project in [&project, &foreign] {
            let response = fired(project, tool, &arguments);
            assert_eq!(response["processed"]["decision"], "block", "{tool} {response}");
        }
    }
}
