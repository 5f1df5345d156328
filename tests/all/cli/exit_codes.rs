//! How the command ends: each code of docs/exit-codes.md, by the binary.

use hook_tests::{Hook, Project};
use serde_json::json;

#[test]
fn each_code_is_the_one_that_is_documented() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": "shell", "hooks": [{"type": "command", "command": "exit 2"}]},
        {"matcher": "write", "hooks": [{"type": "command", "command":
            "echo '{\"decision\":\"ask\"}'"}]},
        {"matcher": "stop", "hooks": [{"type": "command", "command":
            "echo '{\"continue\":false}'"}]},
    ]}}));
    project.write(
        "failing.toml",
        "[[test]]\nname = 'a'\nmessage = 'nonsense'\nexpect.decision = 'block'\n",
    );
    let settings = "--settings=settings.json";
    for (arguments, status) in [
        // Things may go on; the work was done.
        (vec!["fire", "BeforeTool", "--tool", "read", settings], 0),
        (vec!["list", settings], 0),
        (vec!["--version"], 0),
        // The engine could not do its job, or a test failed.
        (vec!["fire", "BeforeTool", "--input", "{}", settings], 1),
        (vec!["run", "no-such-file", settings], 1),
        (vec!["test", "failing.toml", settings], 1),
        (vec!["list", "--settings=no-such-file"], 1),
        // A hook blocked, stopped or wants a retry, or asked and got no answer.
        (vec!["fire", "BeforeTool", "--tool", "shell", settings], 2),
        (vec!["fire", "BeforeTool", "--tool", "write", settings], 2),
        (vec!["fire", "BeforeTool", "--tool", "stop", settings], 2),
        // Nor could a guard be asked that may be in there.
        (vec!["fire", "BeforeTool", "--settings=no-such-file"], 2),
        // Wrong usage.
        (vec!["fire", "BeforeLunch", settings], 64),
        (vec!["fire", "BeforeTool", "--input", "[1]", settings], 64),
        (vec!["no-such-command"], 64),
        (vec!["fire", "BeforeTool", "--no-such-flag"], 64),
        (vec!["fire"], 64),
        (vec!["list", "--event", "BeforeLunch", settings], 64),
        (vec!["fire", "BeforeTool", "--input", "nonsense", settings], 64),
        (vec!["list", "--project", "settings.json"], 64),
        (vec!["help", "no-such-topic"], 64),
        // Options that mean nothing to the command.
        (vec!["list", "--timeout=5"], 64),
        (vec!["explain", "BeforeTool", "--session-id=s"], 64),
        (vec!["completions", "bash", "--json"], 64),
        (vec!["help", "exit-codes", "--settings=settings.json"], 64),
        (vec!["completions", "bash", "--project=."], 64),
        (vec!["man", "--no-user"], 64),
        (vec!["check", "settings.json", settings], 64),
        (vec!["man", "no-such-command"], 64),
    ] {
        let finished = Hook::new(&project, &arguments).run();
        assert_eq!(finished.status, status, "{arguments:?}: {finished:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_code_of_a_signal_is_128_and_its_number() {
    let fire =
        ["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#, "--settings=settings.json"];
    for (name, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        // The hook signals the command that runs it.
        let project = Project::with_hook("SessionEnd", &format!("kill -{name} $PPID; sleep 100"));
        let finished = Hook::new(&project, &fire).run();
        assert_eq!(finished.status, 128 + number, "{name}: {finished:?}");
    }
}

#[test]
fn an_option_without_effect_on_a_command_is_refused() {
    let project = Project::new();
    for arguments in [
        &["check", "--strict"][..],
        &["init", "--strict"],
        &["enable", "guard", "--strict"],
        &["trace", "session.hookrec", "--strict"],
        &["tail", "--project", "."],
        &["tail", "--settings", "settings.json"],
        &["tail", "--no-user"],
        &["trust", "--no-user"],
        &["init", "--no-user"],
        &["doctor", "--timeout", "5"],
        &["list", "--session-id", "s"],
        &["completions", "bash", "--json"],
    ] {
        let finished = Hook::new(&project, arguments).run();
        assert_eq!(finished.status, 64, "{arguments:?}: {finished:?}");
        assert!(finished.stderr.contains(" has no effect on this command"), "{finished:?}");
    }
    assert_eq!(Hook::new(&project, &["list", "--strict"]).run().status, 0);
}
