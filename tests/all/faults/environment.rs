//! What decides which programs a hook loads, and is nobody's to set but the user's.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

const SETTINGS: &str = ".hooks/settings.json";

/// Variables by which something else would be loaded.
const LOADERS: [&str; 9] = [
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_PATH",
    "RUBYOPT",
    "PERL5LIB",
    "LD_LIBRARY_PATH",
    "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS",
];

/// A hook that writes down what it has of them, and of `MINE`.
fn hook() -> Value {
    let said: String = LOADERS.iter().chain(&["MINE"]).map(|it| format!("${it},")).collect();
    json!({"type": "command", "name": "n", "command": format!("echo \"{said}\" > \"$HOME/seen\"")})
}

fn fire(project: &Project, arguments: &[&str]) -> Finished {
    let fire = ["fire", "SessionEnd"];
    let mut hook = Hook::new(project, &[&fire[..], arguments].concat());
    for name in LOADERS {
        hook = hook.env(name, "/inherited");
    }
    hook.run()
}

fn seen(project: &Project) -> String {
    fs::read_to_string(project.home().join("seen")).unwrap_or_default()
}

fn settings(hook: &Value, config: &Value) -> String {
    json!({"hooksConfig": config, "hooks": {"SessionEnd": [{"hooks": [hook]}]}}).to_string()
}

fn program(project: &Project, path: &str, text: &str) {
    let path = project.write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_hook_starts_without_variables_that_say_what_programs_load() {
    let project = Project::new();
    project.write("settings.json", &settings(&hook(), &json!({})));
    fire(&project, &["--settings=settings.json"]);
    assert_eq!(seen(&project), ",,,,,,,,,,\n");
    // The user may want one.
    let allows = json!({"environment": {"allow": ["PYTHONPATH"]}});
    project.write("settings.json", &settings(&hook(), &allows));
    fire(&project, &["--settings=settings.json"]);
    assert_eq!(seen(&project), "/inherited,,,,,,,,,,\n");
}

#[test]
fn a_project_neither_sets_nor_allows_what_its_hooks_load() {
    let project = Project::new();
    let mut hook = hook();
    let script = format!("#!/bin/sh\n{}\n", hook["command"].as_str().unwrap());
    program(&project, ".hooks/seen.sh", &script);
    hook["command"] = json!("\"$HOOK_PROJECT_DIR\"/.hooks/seen.sh");
    hook["env"] = json!({"PYTHONPATH": "lib", "NODE_OPTIONS": "--import ./x", "MINE": "mine"});
    let allows = json!({"environment": {"allow": ["*"]}});
    project.write(SETTINGS, &settings(&hook, &allows));
    let trusted = Hook::new(&project, &["trust", "--yes", "--opaque"]).run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    fire(&project, &[]);
    assert_eq!(seen(&project), ",,,,,,,,,mine,\n");
    let checked = Hook::new(&project, &["check"]).run();
    assert_eq!(checked.stdout.matches("refused-variable").count(), 2, "{checked:?}");
}

#[test]
fn the_hooks_of_an_agent_in_a_project_set_none_either() {
    let project = Project::new();
    let command = "echo \"$NODE_OPTIONS,$MINE\" > \"$HOME/seen\"";
    let hooks = json!({"version": 1, "hooks": {"sessionEnd": [{"type": "command", "bash": command,
        "env": {"NODE_OPTIONS": "--import ./x", "MINE": "mine"}}]}});
    project.write(".github/hooks/own.json", &hooks.to_string());
    let trust = ["trust", "--yes", "--opaque", "--agent", "copilot"];
    assert_eq!(Hook::new(&project, &trust).run().status, 0);
    let finished = fire(&project, &["--agent", "copilot"]);
    assert_eq!(seen(&project), ",mine\n", "{finished:?}");
    assert!(finished.stderr.contains("start without `NODE_OPTIONS`"), "{finished:?}");
}

#[test]
fn programs_are_not_looked_for_in_the_project() {
    let project = Project::new();
    program(&project, "bin/bash", "#!/bin/sh\necho bash > \"$HOME/evil\"\n");
    program(&project, "bin/own-guard", "#!/bin/sh\necho guard > \"$HOME/evil\"\n");
    let guard = json!({"type": "command", "command": "own-guard | cat", "failBehavior": "block"});
    let plain = json!({"type": "command", "command": "own-guard", "failBehavior": "block"});
    let all = json!({"hooks": {"BeforeTool": [{"hooks": [guard, plain]}]}});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), all.to_string()).unwrap();
    fs::create_dir_all(project.path().join(".git")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let own = project.path().join("bin").display().to_string();
    let fire = ["fire", "BeforeTool", "--tool", "shell"];
    for path in [format!("{own}:{path}"), format!("bin:{path}"), format!("{own}/../bin:{path}")] {
        let finished = Hook::new(&project, &fire).env("PATH", &path).run();
        assert_eq!(finished.status, 2, "{finished:?}");
        assert!(!project.home().join("evil").exists(), "{path}: {finished:?}");
    }
    let doctor = Hook::new(&project, &["doctor"]).env("PATH", &format!("{own}:{path}")).run();
    assert!(doctor.stdout.contains("hooks do not look for programs in"), "{doctor:?}");
}

/// A user's guard that is looked for in `PATH`, beside a filter that is.
fn guard_in_path(project: &Project) {
    let guard = json!({"type": "command", "command": "true; own-guard; jq -n 1; exit 2",
        "failBehavior": "block"});
    let all = json!({"hooks": {"BeforeTool": [{"hooks": [guard]}]}});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), all.to_string()).unwrap();
}

#[test]
fn without_a_folder_of_programs_none_is_looked_for_in_the_working_directory() {
    let project = Project::new();
    fs::create_dir(project.path().join(".git")).unwrap();
    guard_in_path(&project);
    for name in ["jq", "own-guard"] {
        program(&project, name, "#!/bin/sh\necho ran > \"$HOME/evil\"\n");
    }
    let fire = ["fire", "BeforeTool", "--tool", "shell"];
    let own = project.path().display().to_string();
    for path in ["", ".", ":", &own] {
        let finished = Hook::new(&project, &fire).env("PATH", path).run();
        assert_eq!(finished.status, 2, "{path}: {finished:?}");
        assert!(!project.home().join("evil").exists(), "{path}: {finished:?}");
    }
    let mut unset = project.command(hook_tests::hook_binary());
    let output = unset.args(fire).env_remove("PATH").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.code() == Some(2) && !project.home().join("evil").exists(), "{output:?}");
}

#[test]
fn programs_are_looked_for_in_no_other_project_either() {
    let project = Project::new();
    guard_in_path(&project);
    let fire = ["fire", "BeforeTool", "--tool", "shell"];
    let evil = "#!/bin/sh\necho ran > \"$HOME/evil\"\n";
    let path = std::env::var("PATH").unwrap();
    for (folder, mark) in [
        ("other/bin", "other/.git"),
        ("other/bin", "other/.hooks"),
        ("other/bin", "other/.cursor"),
        ("around/node_modules/.bin", "around"),
    ] {
        let bin = project.home().join(folder);
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(project.home().join(mark)).unwrap();
        for name in ["bash", "jq"] {
            fs::write(bin.join(name), evil).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:{path}", bin.display());
        let finished = Hook::new(&project, &fire).env("PATH", &path).run();
        assert_eq!(finished.status, 2, "{folder}: {finished:?}");
        assert!(!project.home().join("evil").exists(), "{folder} {mark}: {finished:?}");
        fs::remove_dir_all(project.home().join(folder.split('/').next().unwrap())).unwrap();
    }
    // Repositories of managers of tools are none.
    let bin = project.home().join(".tools/bin");
    fs::create_dir_all(project.home().join(".tools/.git")).unwrap();
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("jq"), evil).unwrap();
    fs::set_permissions(bin.join("jq"), fs::Permissions::from_mode(0o755)).unwrap();
    let finished =
        Hook::new(&project, &fire).env("PATH", &format!("{}:{path}", bin.display())).run();
    assert!(finished.status == 2 && project.home().join("evil").exists(), "{finished:?}");
}

#[test]
fn no_command_starts_an_agent_s_program_of_the_project() {
    let project = Project::new();
    let own = project.path().join("node_modules/.bin").display().to_string();
    let connected = Hook::new(&project, &["connect", "claude"]).run();
    assert_eq!(connected.status, 0, "{connected:?}");
    for name in ["claude", "codex", "git", "node"] {
        let evil = format!("#!/bin/sh\necho {name} >> \"{}/evil\"\n", project.path().display());
        program(&project, &format!("node_modules/.bin/{name}"), &evil);
    }
    let path = std::env::var("PATH").unwrap();
    for path in [format!("{own}:{path}"), format!("node_modules/.bin:{path}")] {
        for arguments in [
            &["doctor"][..],
            &["connect", "--dry-run", "claude"],
            &["connect", "--all"],
            &["connect", "--verify", "claude"],
            &["add", "file:///nowhere"],
        ] {
            Hook::new(&project, arguments).env("PATH", &path).run();
            assert_eq!(project.read("evil"), "", "{arguments:?}");
        }
    }
}

#[test]
fn the_users_folders_are_not_the_projects() {
    let project = Project::new();
    let guard = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 2",
        "failBehavior": "block"}]}]}});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), guard.to_string()).unwrap();
    project.write(".hooks/settings.json", "{}");
    let inside = project.path().join("evil").display().to_string();
    let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let claude = |name: &str, value: &str| {
        let hook = Hook::new(&project, &["bridge", "claude"]).env(name, value);
        hook.stdin(input.to_string()).run()
    };
    for (name, value) in [
        ("XDG_CONFIG_HOME", &*inside),
        ("XDG_STATE_HOME", &inside),
        ("XDG_DATA_HOME", &inside),
        ("HOME", &inside),
        ("XDG_CONFIG_HOME", "/proc/self/cwd/evil"),
        ("HOME", "/proc/self/cwd"),
    ] {
        let refused = claude(name, value);
        assert_eq!(refused.status, 2, "{name}={value}: {refused:?}");
        assert!(refused.stdout.contains("\"permissionDecision\":\"deny\""), "{refused:?}");
        let listed = Hook::new(&project, &["list"]).env(name, value).run();
        assert!(listed.status == 1 && listed.stderr.contains("folder "), "{name}: {listed:?}");
        let fired = Hook::new(&project, &["fire", "BeforeTool"]).env(name, value).run();
        assert_eq!(fired.status, 2, "{name}: {fired:?}");
        assert!(!project.path().join("evil").exists(), "{name}");
    }
}
