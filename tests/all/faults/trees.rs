//! Folders of hooks, and copies of them, that are not what they should be.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use hook_tests::{Finished, Hook, Project, hook_binary};
use serde_json::json;

const SETTINGS: &str = ".hooks/settings.json";

/// A project with a guard that refuses, in a folder with another script.
fn project() -> Project {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
        "command": ".hooks/guard.sh", "failBehavior": "block"}]}]}});
    project.write(SETTINGS, &settings.to_string());
    let script = project.write(".hooks/guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    project.write(".hooks/lib/rules.sh", "true\n");
    project
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

fn fire(project: &Project) -> Finished {
    run(project, &["fire", "BeforeTool", "--tool=shell"])
}

fn copies(project: &Project) -> Vec<PathBuf> {
    let folder = project.home().join(".local/share/hook/trusted");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| !path.ends_with("index") && !path.ends_with("cache")).collect();
    paths.sort();
    paths
}

#[test]
fn fault_86_a_folder_that_cannot_be_covered_makes_its_hooks_opaque_at_once() {
    type Change = fn(&Project);
    let changes: [(&str, Change); 6] = [
        ("more than 2000 files", |project| {
            let folder = project.path().join(".hooks/many");
            fs::create_dir(&folder).unwrap();
            for number in 0..100_000 {
                fs::File::create(folder.join(number.to_string())).unwrap();
            }
        }),
        ("longer than 64 MiB", |project| {
            let file = fs::File::create(project.path().join(".hooks/big")).unwrap();
            file.set_len(1 << 30).unwrap();
        }),
        ("the link .hooks/out leads out of its folder", |project| {
            symlink("../../home", project.path().join(".hooks/out")).unwrap();
        }),
        ("the link .hooks/lib/gone leads out", |project| {
            symlink("nothing", project.path().join(".hooks/lib/gone")).unwrap();
        }),
        ("neither a file nor a folder", |project| {
            let fifo = project.path().join(".hooks/fifo");
            assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        }),
        ("the link .hooks leads out of its folder", |project| {
            let hooks = project.path().join(".hooks");
            fs::rename(&hooks, project.path().join("real")).unwrap();
            symlink("real", hooks).unwrap();
        }),
    ];
    for (expected, change) in changes {
        let project = project();
        change(&project);
        let begun = std::time::Instant::now();
        let refused = run(&project, &["trust", "--yes"]);
        assert!(begun.elapsed() < super::PROMPT, "{expected}: {:?}", begun.elapsed());
        assert_eq!(refused.status, 1, "{expected}: {refused:?}");
        assert!(refused.stdout.contains(expected), "{expected}: {refused:?}");
        assert_eq!(copies(&project), Vec::<PathBuf>::new());
        // It runs in place, and what shows it says so.
        assert_eq!(run(&project, &["trust", "--yes", "--opaque"]).status, 0, "{expected}");
        assert_eq!(fire(&project).status, 2, "{expected}");
        let listed = run(&project, &["list"]);
        assert!(listed.stdout.contains("opaque: runs in place"), "{listed:?}");
        // A trusted copy guards on where its folder becomes one that cannot be covered.
        let project = self::project();
        assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
        change(&project);
        let fired = fire(&project);
        assert!(fired.status == 2 && fired.stdout.contains("reason: no"), "{expected}: {fired:?}");
    }
}

/// What another user than the superuser, who may read everything, gets of the command.
fn run_as_nobody(project: &Project, arguments: &[&str]) -> Finished {
    const NOBODY: u32 = 65_534;
    let mut command = project.command(hook_binary());
    command.args(arguments).env("NO_COLOR", "1");
    if rustix_is_root() {
        let around = project.path().parent().unwrap().to_path_buf();
        let owner = format!("{NOBODY}:{NOBODY}");
        assert!(
            std::process::Command::new("chown")
                .arg("-R")
                .arg(owner)
                .arg(around)
                .status()
                .unwrap()
                .success()
        );
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    Finished {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn rustix_is_root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

#[test]
fn fault_86_a_file_that_cannot_be_read_is_not_covered_and_what_a_copy_was_made_of_cannot_be_written_to()
 {
    let project = project();
    let secret = project.write(".hooks/lib/secret.py", "x = 1\n");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let refused = run_as_nobody(&project, &["trust", "--yes"]);
    assert!(refused.stdout.contains(".hooks/lib/secret.py cannot be read"), "{refused:?}");
    assert_eq!(refused.status, 1);
    fs::remove_file(&secret).unwrap();
    let script = "#!/bin/sh\necho x >> \"$0\" || echo 'not there' >&2\nexit 2\n";
    project.write(".hooks/guard.sh", script);
    assert_eq!(run_as_nobody(&project, &["trust", "--yes"]).status, 0);
    for _ in 0..2 {
        let fired = run_as_nobody(&project, &["fire", "BeforeTool", "--tool=shell"]);
        assert!(fired.status == 2 && fired.stdout.contains("not there"), "{fired:?}");
    }
}

#[test]
fn fault_86_names_that_differ_only_in_case_are_two_files() {
    let project = project();
    project.write(".hooks/lib/Rules.sh", "false\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let copy = copies(&project)[0].join(".hooks/lib");
    let read = |name: &str| fs::read_to_string(copy.join(name)).unwrap();
    assert_eq!((&*read("rules.sh"), &*read("Rules.sh")), ("true\n", "false\n"));
    project.write(".hooks/lib/Rules.sh", "true\n");
    project.write(".hooks/lib/rules.sh", "false\n");
    assert_eq!(run(&project, &["trust"]).status, 1, "they are not each other");
}

#[test]
fn fault_86_a_copy_that_was_changed_or_removed_blocks_until_it_is_restored() {
    type Change = fn(&PathBuf);
    let changes: [Change; 3] = [
        |copy| {
            assert!(
                std::process::Command::new("chmod")
                    .args(["-R", "u+w"])
                    .arg(copy)
                    .status()
                    .unwrap()
                    .success()
            );
            fs::remove_dir_all(copy).unwrap();
        },
        |copy| {
            let script = copy.join(".hooks/guard.sh");
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            fs::write(script, "#!/bin/sh\nexit 0\n").unwrap();
        },
        |copy| {
            let script = copy.join(".hooks/guard.sh");
            fs::set_permissions(script, fs::Permissions::from_mode(0o400)).unwrap();
        },
    ];
    for change in changes {
        let project = project();
        assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
        assert!(fire(&project).stdout.contains("reason: no"));
        change(&copies(&project)[0]);
        let fired = fire(&project);
        assert_eq!(fired.status, 2, "{fired:?}");
        assert!(fired.stdout.contains("was changed or removed since it was trusted"), "{fired:?}");
        for command in
            [&["doctor"][..], &["list"], &["trust", "--list"], &["explain", "BeforeTool"]]
        {
            let shown = run(&project, command);
            assert!(shown.stdout.contains("changed or"), "{shown:?}");
            assert!(shown.stdout.contains("`hook trust`"), "{shown:?}");
            assert_eq!(shown.status, i32::from(command == ["doctor"]), "{shown:?}");
        }
        let restored = run(&project, &["trust"]);
        assert_eq!(restored.status, 0, "{restored:?}");
        assert!(restored.stderr.contains("restored"), "{restored:?}");
        assert!(fire(&project).stdout.contains("reason: no"));
    }
}

#[test]
fn fault_86_a_disk_that_is_full_while_copying_trusts_nothing_and_leaves_nothing() {
    let project = project();
    project.write(".hooks/words.txt", &"x".repeat(256 << 10));
    let limited = "ulimit -f 64; exec \"$0\" trust --yes";
    let mut command = project.command("bash");
    let ended = command.args(["-c", limited]).arg(hook_binary()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains("failed to copy what it runs") && said.contains("nothing else was"),
        "{said}"
    );
    assert_eq!(copies(&project), Vec::<PathBuf>::new());
    assert_eq!(run(&project, &["trust", "--list", "--json"]).lines().len(), 0);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
}

#[test]
fn fault_86_several_who_trust_the_same_at_once_get_one_copy_and_unused_ones_go() {
    let project = project();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(run(&project, &["trust", "--yes"]).status, 0));
        }
    });
    let first = copies(&project);
    assert_eq!(first.len(), 1);
    assert!(fire(&project).stdout.contains("reason: no"));
    project.write(".hooks/guard.sh", "#!/bin/sh\necho other >&2\nexit 2\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(copies(&project).len(), 2, "the one before may be used again");
    assert_eq!(run(&project, &["trust", "--revoke", "--yes"]).status, 0);
    assert_eq!(copies(&project), Vec::<PathBuf>::new());
}

#[test]
fn fault_86_two_stores_of_one_user_remove_none_of_each_other_s_copies() {
    let (project, other) = (project(), project());
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    other.write(".hooks/lib/rules.sh", "false\n");
    let config = project.home().join("config").display().to_string();
    let home = project.home().display().to_string();
    let trusted = Hook::new(&other, &["trust", "--yes"]);
    let trusted = trusted.env("HOME", &home).env("XDG_CONFIG_HOME", &config).run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert!(fire(&project).stdout.contains("reason: no"));
}

#[test]
fn fault_86_a_folder_of_copies_in_the_project_is_refused() {
    let project = project();
    let data = project.path().join("data");
    for data in [data.clone(), PathBuf::from("/proc/self/cwd/data")] {
        fs::create_dir_all(project.path().join("data")).unwrap();
        let ended = Hook::new(&project, &["trust", "--yes"])
            .env("XDG_DATA_HOME", &data.to_string_lossy())
            .run();
        assert_eq!(ended.status, 1, "{ended:?}");
        let is_refused = ["in the project", "through /proc"];
        assert!(is_refused.iter().any(|why| ended.stderr.contains(why)), "{ended:?}");
    }
}

#[test]
fn fault_85_trust_is_taken_back_and_used_again_by_command_also_where_the_project_is_gone() {
    let project = project();
    let digest = || {
        let listed = run(&project, &["trust", "--list", "--json"]).lines();
        let now = listed.iter().find(|line| line["replaced"] == json!(false)).unwrap().clone();
        now["digest"].as_str().unwrap().to_owned()
    };
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let first = digest();
    project.write(".hooks/guard.sh", "#!/bin/sh\necho second >&2\nexit 2\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_ne!(digest(), first);
    let used = run(&project, &["trust", "--use", &first[..16]]);
    assert_eq!(used.status, 0, "{used:?}");
    assert_eq!(digest(), first);
    assert!(fire(&project).stdout.contains("reason: no"));
    let unknown = run(&project, &["trust", "--use", "00000000"]);
    assert!(
        unknown.status == 1 && unknown.stderr.contains("is kept for this project"),
        "{unknown:?}"
    );
    let there = project.path();
    fs::rename(&there, project.home().join("moved")).unwrap();
    let mut hook = std::process::Command::new(hook_binary());
    hook.env("HOME", project.home()).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    hook.args(["trust", "--revoke", "--yes", "--project"]).arg(&there).current_dir(project.home());
    let revoked = hook.output().unwrap();
    let said = String::from_utf8_lossy(&revoked.stdout).into_owned();
    assert!(revoked.status.success() && said.contains("revoked BeforeTool guard"), "{revoked:?}");
    assert_eq!(copies(&project), Vec::<PathBuf>::new());
}

#[test]
fn fault_84_a_bridged_agent_s_user_is_told_once_a_session_that_trusted_copies_run() {
    let project = project();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let ask = |session: &str| {
        let call = json!({"session_id": session, "transcript_path": "", "cwd": project.path(),
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let asked = Hook::new(&project, &["bridge", "claude"]).stdin(call.to_string()).run();
        assert!(asked.stdout.contains("no"), "{asked:?}");
        asked.stdout.matches("changed since you trusted them").count()
    };
    assert_eq!(ask("s"), 0);
    project.write(".hooks/lib/rules.sh", "false\n");
    assert_eq!([ask("s"), ask("s"), ask("t"), ask("s")], [1, 0, 1, 0]);
}

#[test]
fn fault_83_a_first_line_that_may_start_more_than_the_script_needs_its_own_yes() {
    for (line, is_plain) in [
        ("#!.hooks/interp", false),
        ("#!/usr/bin/env -S node --import ./pre.mjs", false),
        ("#!/usr/bin/env -S npx tsx", false),
        ("#!/usr/bin/env -S PYTHONPATH=. python3", false),
        ("#!/usr/bin/env bin/sh", false),
        ("#!/usr/bin/perl -I.", false),
        ("#!/usr/bin/python3 -E", false),
        ("#!/usr/bin/env bash", true),
        ("#!/usr/bin/env -S bash -e", true),
        ("#!/bin/sh -eu", true),
        ("#! /bin/sh", true),
        ("", true),
    ] {
        let project = project();
        project.write(".hooks/guard.sh", &format!("{line}\necho no >&2\nexit 2\n"));
        let trusted = run(&project, &["trust", "--yes"]);
        assert_eq!(trusted.status == 0, is_plain, "{line} {trusted:?}");
        assert_eq!(trusted.stdout.contains("which may run anything"), !is_plain, "{trusted:?}");
    }
    // One of the project's own is not outside of it.
    let project = project();
    let own = project.write("bin/sh", "");
    project.write(".hooks/guard.sh", &format!("#!{}\nexit 2\n", own.display()));
    assert_ne!(run(&project, &["trust", "--yes"]).status, 0);
}

#[test]
fn fault_85_a_guard_of_node_guards_on_where_its_script_or_its_folder_is_gone() {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
        "command": "node .hooks/guard.mjs", "failBehavior": "block"}]}]}});
    project.write(SETTINGS, &settings.to_string());
    project.write(".hooks/guard.mjs", "console.error('no');\nprocess.exit(2);\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert!(fire(&project).stdout.contains("reason: no"));
    fs::remove_file(project.path().join(".hooks/guard.mjs")).unwrap();
    let fired = fire(&project);
    assert!(fired.stdout.contains("reason: no"), "{fired:?}");
    fs::remove_dir_all(project.path().join(".hooks")).unwrap();
    let fired = fire(&project);
    assert!(fired.stdout.contains("reason: no"), "{fired:?}");
}
