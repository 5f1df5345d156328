//! Where modules and hook files are found.

use std::os::unix::fs::PermissionsExt;

use hook_tests::Project;
use serde_json::{Value, json};

use super::{GUARD, fired, has_node, project, run, shell, verdict};

fn names(project: &Project, options: &[&str]) -> Vec<String> {
    let all = [&["list", "--json"], options].concat();
    let listed = run(project, &all).lines();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let name =
        |it: &Value| format!("{} {} {}", text(it, "source"), text(it, "event"), text(it, "name"));
    listed.iter().map(name).collect()
}

#[test]
fn modules_are_found_by_name_then_those_that_are_listed_each_once() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    for path in [".hooks/modules/b.mjs", ".hooks/modules/a.js", "lib/c.mjs", "d.mjs"] {
        project.write(path, "export default () => {}");
    }
    project.write(".hooks/modules/package.json", r#"{"type": "module"}"#);
    project.write(".hooks/modules/a.d.ts", "export {}");
    project.write(
        ".hooks/settings.json",
        r#"{"hooksConfig": {"modules": ["lib/c.mjs", "./.hooks/modules/a.js"]},
            "hooks": {"*": [{"hooks": [{"type": "module", "path": ".hooks/../.hooks/modules/b.mjs"}]}]}}"#,
    );
    let config = project.home().join(".config/hooks/modules");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("u.mjs"), "export default () => {}").unwrap();
    let user = config.join("u.mjs").display().to_string();
    let listed = names(&project, &["--module", "d.mjs"]);
    let mut d = project.path().join("d.mjs").display().to_string();
    d.insert_str(0, "explicit * ");
    assert_eq!(
        listed,
        [
            "project * .hooks/modules/b.mjs",
            "project * .hooks/modules/a.js",
            "project * lib/c.mjs",
            &format!("user * {user}"),
            &d,
        ]
    );
}

#[test]
fn a_folder_of_modules_makes_a_project() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    project.write(".hooks/modules/guard.mjs", GUARD);
    project.write("below/file", "");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let finished =
        hook_tests::Hook::new(&project, &["fire", "BeforeTool", "--json", "--input", "-"])
            .directory("below")
            .stdin(shell("rm -rf x").to_string())
            .run();
    assert_eq!(verdict(&finished.lines()[0]), ("block", "not that"));
}

#[test]
fn a_module_that_is_found_is_switched_off_by_its_name() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    project.write(".hooks/modules/guard.mjs", GUARD);
    let disabled = run(&project, &["disable", ".hooks/modules/guard.mjs"]);
    assert_eq!(disabled.status, 0, "{disabled:?}");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let response = fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response).0, "proceed");
    assert_eq!(run(&project, &["enable", ".hooks/modules/guard.mjs"]).status, 0);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let response = fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response), ("block", "not that"));
}

#[test]
fn what_is_known_of_modules_that_are_not_loaded_is_said() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    project.write(".hooks/modules/guard.mjs", GUARD);
    let explained = run(&project, &["explain", "BeforeTool"]).stdout;
    assert!(explained.contains("may listen to BeforeTool"), "{explained}");
    assert!(explained.contains("? .hooks/modules/guard.mjs"), "{explained}");
    assert!(
        explained.contains("not trusted") && !explained.contains("no hook listens"),
        "{explained}"
    );
    let fired = run(&project, &["fire", "BeforeTool", "--tool", "run_shell_command"]).stdout;
    assert!(fired.contains("1 hook that says itself what it listens to is not trusted"), "{fired}");
    project.write(".hooks/modules/guard.mjs", "export default () => { throw new Error('no'); }");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let listed = run(&project, &["list"]).stdout;
    assert!(listed.contains("✗ .hooks/modules/guard.mjs"), "{listed}");
    let explained = run(&project, &["explain", "tool_call"]);
    assert!(explained.stderr.contains("calls so is BeforeTool here"), "{explained:?}");
}

#[test]
fn a_named_module_runs_without_settings() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    project.write("guard.mjs", GUARD);
    let response = fired(&project, &["--module", "guard.mjs"], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response), ("block", "not that"));
    let missing = run(&project, &["fire", "BeforeTool", "--module", "gard.mjs"]);
    assert_ne!(missing.status, 0, "{missing:?}");
    assert!(missing.stderr.contains("gard.mjs"), "{missing:?}");
}

#[test]
fn hook_files_are_hooks_of_the_tool_that_they_name() {
    let project = Project::new();
    let script = "#!/bin/sh\ncat > seen.json\necho no >&2\nexit 2\n";
    for path in [".hooks/pre/write_file.sh", ".hooks/post/*"] {
        let path = project.write(path, script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project.write(".hooks/pre/README", "no hook");
    let trusted = run(&project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    let write = json!({"tool_name": "write_file", "tool_input": {}});
    let response = fired(&project, &[], "BeforeTool", &write);
    assert_eq!(verdict(&response), ("block", "no"), "{response}");
    assert!(project.read("seen.json").contains("write_file"));
    assert_eq!(verdict(&fired(&project, &[], "BeforeTool", &shell("ls"))).0, "proceed");
    let checked = run(&project, &["check"]);
    assert!(checked.stdout.contains("unused-file"), "{checked:?}");
    project.write(".hooks/pre/write_file.sh", "#!/bin/sh\n");
    let changed = fired(&project, &[], "BeforeTool", &write);
    assert_eq!(verdict(&changed), ("block", "no"), "the trusted copy runs: {changed}");
}

#[test]
fn what_is_wrong_with_an_entry_is_said() {
    let project = project(&[]);
    project.write(
        "settings.json",
        r#"{"hooks": {"*": [{"hooks": [{"type": "module"}, {"type": "module", "path": "a.mjs"},
            {"type": "module", "path": "./a.mjs"}, {"type": "worker", "command": "x", "path": "y"}]}],
            "BeforeTool": [{"hooks": [{"type": "module", "path": "b.mjs"}]}]}}"#,
    );
    let checked = run(&project, &["check", "--settings", "settings.json", "--json"]);
    for part in
        ["no `path`", "stands there already", "no effect but in a module", "a module says itself"]
    {
        assert!(checked.stdout.contains(part), "{part}: {}", checked.stdout);
    }
}

#[test]
fn of_hook_files_of_one_name_that_of_the_most_trusted_source_runs_and_the_others_are_shown() {
    let project = Project::new();
    let script = |name: &str| format!("#!/bin/sh\ncat > {name}.json\necho {name} >&2\nexit 2\n");
    let executable = |path: &std::path::Path, name: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, script(name)).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    // In the words of their folders, both are for the shell.
    let (ours, omp) = (".hooks/pre/run_shell_command", ".omp/hooks/pre/bash");
    executable(&project.path().join(ours), "ours");
    executable(&project.path().join(omp), "omp");
    // The same tool by another name.
    executable(&project.path().join(".hooks/pre/bash"), "another");
    executable(&project.path().join(".claude/hooks/pre/read"), "claude");
    let user = project.home().join(".config/hooks/pre/*");
    executable(&user, "user");
    let fire = |tool: &str| {
        fired(&project, &[], "BeforeTool", &json!({"tool_name": tool, "tool_input": {}}))
    };
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    // Without the agent its folders do not count.
    assert_eq!(verdict(&fire("read_file")), ("block", "user"));
    assert!(project.read("claude.json").is_empty());
    // Whoever names it.
    let users = project.home().join(".config/hooks/settings.json");
    std::fs::write(users, r#"{"hooksConfig": {"agents": ["omp"]}}"#).unwrap();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    fire("read_file");
    let seen: Value = serde_json::from_str(&project.read("claude.json")).unwrap();
    assert_eq!((&seen["type"], &seen["toolName"]), (&json!("tool_call"), &json!("read")));
    let listed = run(&project, &["list", "--json"]).lines();
    let of = |name: &str| listed.iter().find(|it| it["name"] == name).unwrap().clone();
    assert_eq!(of(ours)["enabled"], json!(true));
    assert_eq!(of(omp)["enabled"], json!(false), "{listed:?}");
    assert!(of(omp)["disabledBy"].as_str().unwrap().contains("for the same"), "{listed:?}");
    assert_eq!(of(".hooks/pre/bash")["enabled"], json!(true));
    assert_eq!(verdict(&fire("run_shell_command")), ("block", "another\nours\nuser"));
    std::fs::remove_file(project.path().join(ours)).unwrap();
    assert_eq!(verdict(&fire("run_shell_command")), ("block", "another\nomp\nuser"));
    executable(&project.path().join(ours), "ours");
    executable(&project.home().join(".config/hooks/pre/run_shell_command"), "mine");
    let listed = run(&project, &["list", "--json"]).lines();
    assert_eq!(listed.iter().find(|it| it["name"] == ours).unwrap()["enabled"], json!(false));
}

#[test]
fn the_name_of_a_hook_file_is_the_name_of_a_tool_and_no_pattern() {
    let project = Project::new();
    let script = "#!/bin/sh\necho no >&2\nexit 2\n";
    for path in [
        ".hooks/pre/edit.sh",
        ".hooks/pre/write.file",
        ".hooks/pre/l.s.sh",
        ".omp/hooks/pre/re.d.sh",
    ] {
        let path = project.write(path, script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"agents": ["omp"]}}"#);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let decides = |tool: &str| {
        let response =
            fired(&project, &[], "BeforeTool", &json!({"tool_name": tool, "tool_input": {}}));
        verdict(&response).0.to_owned()
    };
    // By whichever name an agent calls it.
    for named in ["edit", "Edit", "replace", "multi_edit", "write", "write_file"] {
        assert_eq!(decides(named), "block", "{named}");
    }
    for other in ["edits", "multi_editor", "read_file", "lxs", "l.s.x"] {
        assert_eq!(decides(other), "proceed", "{other}");
    }
}

#[test]
fn scripts_that_are_no_modules_are_said() {
    let project = Project::new();
    for path in ["a.cjs", "b.mts", "c.tsx", "d.d.ts", "e.md", "lib/f.mjs", "g/index.mjs"] {
        project.write(&format!(".hooks/modules/{path}"), "export default () => {}");
    }
    let checked = run(&project, &["check", "--json"]);
    for path in ["a.cjs", "b.mts", "c.tsx", "g/index.mjs"] {
        assert!(checked.stdout.contains(&format!("modules/{path}")), "{path}: {checked:?}");
    }
    for path in ["d.d.ts", "e.md", "f.mjs"] {
        assert!(!checked.stdout.contains(path), "{path}: {checked:?}");
    }
}

#[test]
fn hook_files_of_other_folders_hear_of_results_in_the_words_of_those() {
    let project = Project::new();
    for (path, name) in
        [(".claude/hooks/post/read.sh", "claude"), (".omp/hooks/post/bash.sh", "omp")]
    {
        let path = project.write(path, &format!("#!/bin/sh\ncat > {name}.json\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"agents": ["omp"]}}"#);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    for (tool, name, word) in
        [("read_file", "claude", "read"), ("run_shell_command", "omp", "bash")]
    {
        let call = json!({"tool_name": tool, "tool_input": {}});
        fired(&project, &[], "BeforeTool", &call);
        assert!(project.read(&format!("{name}.json")).is_empty(), "{name} is for results");
        let mut result = call;
        result["tool_response"] = json!({"llmContent": "text"});
        fired(&project, &[], "AfterTool", &result);
        let seen: Value = serde_json::from_str(&project.read(&format!("{name}.json"))).unwrap();
        assert_eq!((&seen["type"], &seen["toolName"]), (&json!("tool_result"), &json!(word)));
        assert_eq!(seen["content"], json!([{"type": "text", "text": "text"}]));
    }
}

#[test]
fn a_listed_module_may_lie_in_the_home() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let lib = project.home().join("lib");
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::write(lib.join("guard.mjs"), GUARD).unwrap();
    let users = project.home().join(".config/hooks");
    std::fs::create_dir_all(&users).unwrap();
    let settings = r#"{"hooksConfig": {"modules": ["~/lib/guard.mjs"]}}"#;
    std::fs::write(users.join("settings.json"), settings).unwrap();
    let response = fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response), ("block", "not that"), "{response}");
}

#[test]
fn explain_says_which_hook_file_stands_in_the_place_of_another() {
    let project = Project::new();
    for path in [".hooks/pre/run_shell_command", ".omp/hooks/pre/bash"] {
        let path = project.write(path, "#!/bin/sh\n");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"agents": ["omp"]}}"#);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let explain = ["explain", "BeforeTool", "--tool", "run_shell_command"];
    let explained = run(&project, &[&explain[..], &["--json"]].concat()).lines();
    let of = |name: &str| explained.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(of(".hooks/pre/run_shell_command")["runs"], json!(true), "{explained:?}");
    let shadowed = of(".omp/hooks/pre/bash");
    assert_eq!(shadowed["runs"], json!(false), "{shadowed}");
    let message = shadowed["reasons"][0]["message"].as_str().unwrap();
    assert!(message.contains("for the same"), "{shadowed}");
    let shown = run(&project, &explain).stdout;
    assert!(shown.contains(message), "{shown}");
}

#[test]
fn the_name_of_a_module_among_hook_files_binds_nothing() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let both = "export default (pi) => {
        pi.on('tool_call', (event) => ({ block: true, reason: event.toolName }));
        pi.on('tool_result', () => ({ content: [{ type: 'text', text: 'seen' }] }));
    }";
    project.write(".hooks/pre/write_file.mjs", both);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    for (tool, word) in [("run_shell_command", "bash"), ("write_file", "write")] {
        let call = json!({"tool_name": tool, "tool_input": {}});
        assert_eq!(verdict(&fired(&project, &[], "BeforeTool", &call)), ("block", word));
    }
    let result =
        json!({"tool_name": "read_file", "tool_input": {}, "tool_response": {"llmContent": "a"}});
    let response = fired(&project, &[], "AfterTool", &result);
    assert!(response["output"].to_string().contains("seen"), "{response}");
}

/// An executable file that refuses, with its name as the reason.
fn refuses(project: &Project, path: &str) {
    let file = project.write(path, &format!("#!/bin/sh\necho '{path}' >&2\nexit 2\n"));
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn folders_of_another_agent_make_a_project_where_the_user_names_it() {
    let project = Project::new();
    let users = project.home().join(".config/hooks");
    std::fs::create_dir_all(&users).unwrap();
    std::fs::write(users.join("settings.json"), r#"{"hooksConfig": {"agents": ["omp"]}}"#).unwrap();
    let path = ".omp/hooks/pre/bash.sh";
    refuses(&project, path);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let fired = fired(&project, &[], "BeforeTool", &shell("ls"));
    assert_eq!(verdict(&fired), ("block", path), "{fired}");
}

#[test]
fn only_what_runs_for_the_same_tool_takes_another_s_place() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"agents": ["omp"]}}"#);
    let guard = ".omp/hooks/pre/bash.sh";
    refuses(&project, guard);
    // In the words of its folder it is no tool's name, a module's name says nothing, and one cannot be loaded.
    let script = project.write(".claude/hooks/pre/run_shell_command.sh", "#!/bin/sh\nexit 0\n");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.write(
        ".claude/hooks/pre/bash.mjs",
        "export default (pi) => pi.on('session_start', () => {});",
    );
    project.write(".omp/hooks/pre/bash.mjs", GUARD);
    project.write(".hooks/pre/bash.mjs", "throw new Error('at load');");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let listed = run(&project, &["list", "--json"]).lines();
    let off: Vec<_> = listed.iter().filter(|it| it["enabled"] == json!(false)).collect();
    assert!(off.is_empty(), "{off:?}");
    let response = fired(&project, &[], "BeforeTool", &shell("ls"));
    assert!(verdict(&response).1.starts_with(guard), "{response}");
    std::fs::remove_file(project.path().join(guard)).unwrap();
    // It may have a guard, too.
    project.write(".hooks/pre/bash.mjs", "export default () => {};");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let response = fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response), ("block", "not that"), "{response}");
}

#[test]
fn a_module_with_a_long_path_has_its_handlers() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let greets = GUARD.replace(
        "export default function (pi) {",
        "export default function (pi) { pi.registerCommand('greet', { handler: () => 'hello' });",
    );
    project.write(&format!(".hooks/modules/{}.mjs", "m".repeat(240)), &greets);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let decides =
        |command: &str| verdict(&fired(&project, &[], "BeforeTool", &shell(command))).0.to_owned();
    assert_eq!([decides("ls"), decides("rm -rf x")], ["proceed", "block"]);
    let greeted = run(&project, &["command", "greet"]);
    assert_eq!((greeted.status, greeted.stdout.as_str()), (0, "hello\n"), "{greeted:?}");
}
