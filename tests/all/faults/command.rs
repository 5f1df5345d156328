//! The `hook` command when something of its own fails: it ends with the code of the table in
//! docs/exit-codes.md, in words, and never with a panic.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use hook_tests::{Hook, Project, hook_binary};
use rustix::process::getuid;
use serde_json::{Value, json};

use super::project_with;

const PROMPT: &str = r#"{"prompt":"p"}"#;

/// A project whose one hook of BeforeAgent is a guard.
fn guarded(command: &str) -> Project {
    project_with(&[json!({"command": command, "failBehavior": "block"})])
}

/// A project whose one hook of BeforeAgent is none.
fn unguarded() -> Project {
    project_with(&[json!({"command": "true"})])
}

/// The command, in a project, to be run where something is wrong.
fn hook(project: &Project, arguments: &[&str]) -> Command {
    in_shell(project, "", arguments)
}

/// The same, run by a shell that first does something.
fn in_shell(project: &Project, first: &str, arguments: &[&str]) -> Command {
    let mut command = project.command("bash");
    command
        .args(["-c", &format!("{first}\nexec \"$0\" \"$@\"")])
        .arg(hook_binary())
        .args(arguments)
        .stdin(Stdio::null());
    command
}

/// How a command ended, and what it said on stderr.
fn ended(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked") && !said.contains("hook itself failed"), "{said}");
    (output.status.code(), said)
}

fn ended_with_input(command: &mut Command, input: &[u8]) -> (Option<i32>, String) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    ended(command.stdin(file))
}

#[test]
fn fault_44_input_that_is_no_object_blocks_only_where_there_is_a_guard() {
    // The guard lets everything pass that it is asked about.
    for (project, expected) in [(guarded("true"), 2), (unguarded(), 64)] {
        let fire = ["fire", "BeforeAgent", "--settings=settings.json"];
        for input in ["{nonsense", "[1]", "7", "null", "\"text\"", "{} {}", "\u{0}", "{\"a\":"] {
            let as_hook = &mut hook(&project, &[&fire[..], &["--as-hook"]].concat());
            let (code, said) = ended_with_input(as_hook, input.as_bytes());
            assert_eq!(code, Some(expected), "{input}: {said}");
            assert!(said.starts_with("error: standard input is "), "{input}: {said}");
            assert_eq!(said.contains("counts as a block"), expected == 2, "{said}");
            if input.contains('\0') {
                continue;
            }
            for more in [&[][..], &["--json"]] {
                let given = [&fire[..], &["--input", input], more].concat();
                assert_eq!(ended(&mut hook(&project, &given)).0, Some(expected), "{input}");
            }
        }
        let ok = &mut hook(&project, &[&fire[..], &["--as-hook"]].concat());
        assert_eq!(ended_with_input(ok, PROMPT.as_bytes()).0, Some(0));
        // There is no event that a guard could be of.
        for more in [&[][..], &["--json"], &["--as-hook"]] {
            let misspelt = [&["fire", "BeforeAgents", "--settings=settings.json"], more].concat();
            let (code, said) = ended(&mut hook(&project, &misspelt));
            assert_eq!(code, Some(64), "{said}");
            assert!(said.contains("did you mean BeforeAgent?"), "{said}");
        }
    }
}

#[test]
fn fault_44_what_fails_before_the_hooks_are_known_blocks() {
    let project = unguarded();
    project.write("broken.json", "{");
    project.write("list.json", "[]");
    std::fs::create_dir(project.path().join("folder.json")).unwrap();
    let gone = "mkdir gone; cd gone; rmdir ../gone";
    for (first, named) in [
        (gone, "--no-user"),
        ("", "--settings=no-such-file.json"),
        ("", "--settings=broken.json"),
        ("", "--settings=list.json"),
        ("", "--settings=folder.json"),
        ("", "--project=no-such-folder"),
        ("unset HOME", "--color=never"),
        ("HOME=relative", "--color=never"),
    ] {
        for more in [&[][..], &["--json"], &["--as-hook"]] {
            let fire = [&["fire", "BeforeAgent", "--input", PROMPT, named], more].concat();
            let (code, said) = ended(&mut in_shell(&project, first, &fire));
            assert_eq!(code, Some(2), "{first} {fire:?}: {said}");
            if more != ["--json"] {
                let output = in_shell(&project, first, &fire).output().unwrap();
                let all = [output.stdout, output.stderr].concat();
                let all = String::from_utf8_lossy(&all);
                assert!(all.contains("failBehavior: block") || all.contains("HOME"), "{all}");
            }
        }
        // A command that gives no verdict fails, or does not mind.
        let (code, said) = ended(&mut in_shell(&project, first, &["list", named]));
        assert!(matches!(code, Some(0 | 1)), "{first} list {named}: {code:?} {said}");
    }
}

#[test]
fn fault_44_settings_that_cannot_be_read_are_in_the_verdict() {
    let project = Project::new();
    let home = project.home().join(".config/hooks");
    std::fs::create_dir_all(&home).unwrap();
    let fire = ["fire", "BeforeAgent", "--input", PROMPT];
    let json = [&fire[..], &["--json"]].concat();
    std::fs::write(home.join("settings.json"), "{broken").unwrap();
    let people = Hook::new(&project, &fire).run();
    assert_eq!(people.status, 2, "{people:?}");
    assert!(people.stdout.starts_with("block  BeforeAgent"), "{people:?}");
    assert!(people.stdout.contains("settings.json:1:2: error: the file is not JSON"), "{people:?}");
    let told = Hook::new(&project, &json).run();
    let response = told.lines().remove(0);
    assert_eq!((told.status, &response["processed"]["decision"]), (2, &json!("block")));
    for field in [&response["processed"]["reason"], &response["warnings"][0]] {
        assert!(field.as_str().unwrap().contains("the file is not JSON"), "{response}");
    }

    // A stranger's project cannot block: nobody has agreed to any of it.
    std::fs::write(home.join("settings.json"), "{}").unwrap();
    project.write(".hooks/settings.json", "{broken");
    let people = Hook::new(&project, &fire).run();
    assert_eq!(people.status, 0, "{people:?}");
    assert!(people.stdout.contains("the file is not JSON"), "{people:?}");
    let response = Hook::new(&project, &json).run().lines().remove(0);
    assert!(response["warnings"][0].as_str().unwrap().contains("not JSON"), "{response}");

    // Of what was trusted before a guard may be missing.
    let hooks =
        |text: &str| hook_settings::parse(text, hook_settings::HookSource::Project, None).hooks;
    let entries = hooks(
        &json!({"hooks": {"BeforeAgent": [{"hooks": [
            {"type": "command", "command": "true", "failBehavior": "block"}]}]}})
        .to_string(),
    );
    let store = hook_trust::TrustStore::new(home.join("trust.json"));
    store.grant(&project.path(), &entries).unwrap();
    let people = Hook::new(&project, &fire).run();
    assert_eq!(people.status, 2, "{people:?}");
}

#[test]
fn fault_44_settings_behind_a_link_that_leads_nowhere_may_have_guards() {
    let json = ["fire", "BeforeAgent", "--input", PROMPT, "--json"];
    for link in [".config", ".config/hooks", ".config/hooks/settings.json"] {
        let project = Project::new();
        let link = project.home().join(link);
        let _ = std::fs::remove_dir_all(&link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(project.path().join("not-mounted"), &link).unwrap();
        let told = Hook::new(&project, &json).run();
        let response = told.lines().remove(0);
        let decision = &response["processed"]["decision"];
        assert_eq!((told.status, decision), (2, &json!("block")), "{link:?}: {told:?}");
        let warnings = response["warnings"].to_string();
        assert!(warnings.contains(".config/hooks/settings.json: "), "{warnings}");
    }
}

#[test]
fn fault_44_a_file_that_may_not_grow_is_an_output_that_is_full() {
    let project = guarded("echo no >&2; exit 2");
    let fire = ["fire", "BeforeAgent", "--settings=settings.json", "--input", PROMPT, "--json"];
    let limited = &mut in_shell(&project, "ulimit -f 0", &fire);
    let output = File::create(project.path().join("out")).unwrap();
    assert_eq!(limited.stdout(output).status().unwrap().code(), Some(2));
}

#[test]
fn fault_44_a_verdict_keeps_its_code_whatever_becomes_of_its_words() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        // Closed in the children of other tests, some of which have no descriptor to spare.
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        Stdio::from(write)
    };
    let refuses = guarded("echo no >&2; exit 2");
    let fails = guarded("exit 1");
    // The answer is longer than what is written at once.
    let long = guarded("echo no >&2; printf '%01000d' 1 >&2; exit 2");
    let allows = guarded(r#"echo '{"systemMessage":"ok"}'"#);
    let plain = project_with(&[json!({"command": r#"echo '{"systemMessage":"ok"}'"#})]);
    let modes: [&[&str]; 3] = [&[], &["--json"], &["--as-hook"]];
    for (project, into_full, into_closed) in [
        (&refuses, [2; 3], [2; 3]),
        (&fails, [2; 3], [2; 3]),
        (&long, [2; 3], [2; 3]),
        (&allows, [2; 3], [0, 0, 2]),
        (&plain, [1; 3], [0, 0, 1]),
    ] {
        for (index, more) in modes.iter().enumerate() {
            let fire = ["fire", "BeforeAgent", "--settings=settings.json", "--input", PROMPT];
            let fire = [&fire[..], more].concat();
            let code = |stdout: Stdio, stderr: Stdio| {
                hook(project, &fire).stdout(stdout).stderr(stderr).status().unwrap().code()
            };
            assert_eq!(code(full(), Stdio::null()), Some(into_full[index]), "full {fire:?}");
            assert_eq!(code(closed(), Stdio::null()), Some(into_closed[index]), "gone {fire:?}");
            let heard = code(Stdio::null(), Stdio::null());
            assert_eq!(code(Stdio::null(), full()), heard, "{fire:?}");
            assert_eq!(code(Stdio::null(), closed()), heard, "{fire:?}");
            // Both at once, and neither open at all.
            assert_eq!(code(full(), full()), Some(into_full[index]), "{fire:?}");
            let shut = &mut in_shell(project, "exec <&- >&- 2>&-", &fire);
            assert_eq!(shut.status().unwrap().code(), heard, "{fire:?}");
        }
    }
}

#[test]
fn fault_44_the_bridge_refuses_by_its_code_where_nobody_can_read_its_answer() {
    let project = Project::new();
    let file = project.home().join(".config/hooks/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let said = |command: &str, bash: &str, event: &str| {
        let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command",
            "command": command, "failBehavior": "block"}]}]}});
        std::fs::write(&file, hooks.to_string()).unwrap();
        let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(),
            "hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let bridge = &mut in_shell(&project, bash, &["bridge", "claude"]);
        ended_with_input(bridge, input.to_string().as_bytes())
    };
    for bash in ["exec >&-", "exec 1</dev/null", "exec >/dev/null", "exec >/dev/full"] {
        let (code, words) = said("echo no >&2; exit 2", bash, "PreToolUse");
        assert_eq!(code, Some(2), "{bash}: {words}");
        assert!(words.contains("the agent does not read its answer"), "{bash}: {words}");
        assert_eq!(said("true", bash, "PreToolUse").0, Some(0), "{bash}");
    }
    // No version of the agent is known to have that event, and it is about a tool.
    let (code, words) = said("true", "", "PreToolUses");
    assert!(code == Some(2) && words.contains("there is no event `PreToolUses`"), "{words}");
}

#[test]
fn fault_44_without_descriptors_a_guarded_event_is_blocked() {
    let project = guarded("exit 2");
    // With fewer than four the system cannot load the command.
    for limit in 4..=16 {
        for more in [&[][..], &["--json"], &["--as-hook"]] {
            let fire = ["fire", "BeforeAgent", "--settings=settings.json", "--input", PROMPT];
            let fire = [&fire[..], more].concat();
            let starved = &mut in_shell(&project, &format!("ulimit -n {limit}"), &fire);
            let (code, said) = ended(starved);
            assert_eq!(code, Some(2), "{limit} descriptors, {more:?}: {said}");
        }
    }
}

/// A copy of the binary that another user may run, in a project that it may read.
fn for_another_user(project: &Project) -> std::path::PathBuf {
    let binary = project.path().join("hook");
    // By another process: what was open for writing in this one may not be executed at once.
    let copied = Command::new("cp").arg(hook_binary()).arg(&binary).status();
    assert!(copied.unwrap().success());
    for folder in [project.path().parent().unwrap(), &project.path()] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    binary
}

/// The command with no process or thread left to start, as a user who has no others.
fn starving(project: &Project, binary: &Path, arguments: &[&str]) -> Command {
    let mut command = project.command("prlimit");
    command.arg("--nproc=1").arg(binary).args(arguments).stdin(Stdio::null());
    if getuid().is_root() {
        // The limit does not hold for root.
        command.uid(54_322).gid(54_322);
    }
    command
}

#[test]
fn fault_44_without_threads_nothing_panics_and_a_guarded_event_is_blocked() {
    for (project, verdict) in [(guarded("true"), 2), (unguarded(), 0)] {
        let binary = for_another_user(&project);
        let settings = "--settings=settings.json";
        project.write("session.jsonl", "{}\n");
        project.write("a.toml", "[[test]]\nname = 'a'\nmessage = 'nonsense'\n");
        // As a hook it needs a thread to read its input.
        for (arguments, expected) in [
            (vec!["fire", "BeforeAgent", "--input", PROMPT, settings], verdict),
            (vec!["fire", "BeforeAgent", "--input", PROMPT, settings, "--json"], verdict),
            (vec!["fire", "BeforeAgent", settings, "--as-hook"], verdict.max(1)),
            (vec!["run", "session.jsonl", settings], 1),
            (vec!["test", "a.toml", settings], 1),
            (vec!["serve", "--stdio", settings], 1),
            (vec!["list", settings], 0),
            (vec!["explain", "BeforeAgent", settings, "--json"], 0),
            (vec!["schema", "settings"], 0),
        ] {
            let (code, said) = ended(&mut starving(&project, &binary, &arguments));
            assert_eq!(code, Some(expected), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn fault_44_without_threads_nobody_can_look_at_what_was_trusted_and_a_guard_blocks() {
    for (behavior, expected) in [("block", 2), ("continue", 0)] {
        let project = Project::new();
        let hook = json!({"type": "command", "command": "true", "failBehavior": behavior});
        let settings = json!({"hooks": {"BeforeAgent": [{"hooks": [hook]}]}});
        project.write(".hooks/settings.json", &settings.to_string());
        assert_eq!(Hook::new(&project, &["trust", "--yes"]).run().status, 0);
        let binary = for_another_user(&project);
        // It keeps the same decisions as the other user.
        let shared = Command::new("chmod").args(["-R", "a+rX"]).arg(project.home()).status();
        assert!(shared.unwrap().success());
        let fire = ["fire", "BeforeAgent", "--input", PROMPT, "--json"];
        let mut starved = starving(&project, &binary, &fire);
        let (code, said) = ended(&mut starved);
        assert_eq!(code, Some(expected), "{said}");
        let answer = starved.output().unwrap().stdout;
        let response: Value = serde_json::from_slice(&answer).unwrap();
        let error = response["hooks"][0]["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("failed to start a thread that reads"), "{response}");
    }
}

#[test]
fn every_command_ends_with_a_code_of_the_table_whatever_surrounds_it() {
    let project = unguarded();
    project.write("session.jsonl", "{}\n");
    project.write("a.toml", "[[test]]\nname = 'a'\nmessage = 'nonsense'\n");
    let recording = json!({"type": "hook-recording", "version": 1});
    project.write("a.hookrec", &format!("{recording}\n"));
    let commands: [&[&str]; 22] = [
        &["fire", "BeforeAgent"],
        &["fire", "BeforeAgent", "--as-hook"],
        &["explain", "BeforeAgent"],
        &["list"],
        &["check"],
        &["test", "a.toml"],
        &["test", "a.toml", "--list"],
        &["run", "session.jsonl"],
        &["run", "-"],
        &["serve", "--stdio"],
        &["tail", "--socket", "no-such-socket"],
        &["replay", "a.hookrec"],
        &["trace", "a.hookrec"],
        &["enable", "no-such-hook"],
        &["disable", "no-such-hook"],
        &["trust", "--list"],
        &["doctor"],
        &["schema", "settings"],
        &["completions", "bash"],
        &["man"],
        &["help", "exit-codes"],
        &["--help"],
    ];
    let conditions = [
        "",
        "exec <&-",
        "exec >&-",
        "exec 2>&-",
        "exec <&- >&- 2>&-",
        "exec >/dev/full",
        "exec 2>/dev/full",
        "exec >/dev/full 2>/dev/full",
        "exec < .",
        "unset HOME",
        "export HOME=$'/no\\xffsuch' XDG_CONFIG_HOME=relative",
        "export HOOK_LOG='=[nonsense' COLUMNS=x TERM=dumb",
        "export HOOK_LOG=trace; exec 2>/dev/full",
        "cd \"$(printf 'sub\\xff')\"",
        "mkdir gone; cd gone; rmdir ../gone",
        "ulimit -n 6",
        "set -- \"$@\" $'\\xff\\xfe'",
        "set -- \"$@\" --project $'\\xff\\xfe'",
        "set -- \"$@\" --settings $'\\xff\\xfe'",
        "set -- \"$@\" --no-such-option",
    ];
    let strange: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"sub\xff");
    std::fs::create_dir(project.path().join(strange)).unwrap();
    for condition in conditions {
        for arguments in commands {
            let (code, said) = ended(&mut in_shell(&project, condition, arguments));
            assert!(
                matches!(code, Some(0 | 1 | 2 | 64)),
                "{condition}: {arguments:?} ended with {code:?}: {said}"
            );
            assert!(code != Some(2) || arguments[0] == "fire", "{condition}: {arguments:?}");
        }
    }
}

#[test]
fn fault_40_what_is_no_regular_file_is_refused_at_once() {
    let project = unguarded();
    let made = Command::new("mkfifo").arg("fifo").current_dir(project.path()).status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", project.path().join("zero")).unwrap();
    let settings = "--settings=settings.json";
    for name in ["fifo", "zero", "/dev/null", ".hooks-folder"] {
        std::fs::create_dir_all(project.path().join(".hooks-folder")).unwrap();
        let kind = match name {
            "fifo" => "a FIFO",
            ".hooks-folder" => "a directory",
            _ => "a device",
        };
        let at = format!("@{name}");
        let named = format!("--settings={name}");
        for arguments in [
            vec!["fire", "BeforeAgent", "--input", &at, settings],
            vec!["list", &named],
            vec!["check", name],
            vec!["test", name, settings],
            vec!["replay", name, settings],
            vec!["trace", name],
        ] {
            if name == ".hooks-folder" && arguments[0] == "test" {
                continue;
            }
            let mut refused = project.command("timeout");
            refused.arg("60").arg(hook_binary()).args(&arguments).stdin(Stdio::null());
            let (code, said) = ended(&mut refused);
            assert_ne!(code, Some(124), "{arguments:?} waited");
            let all = refused.output().unwrap();
            let all = String::from_utf8_lossy(&[all.stdout, all.stderr].concat()).into_owned();
            assert!(all.contains(kind), "{arguments:?}: {said} {all}");
        }
    }
}
