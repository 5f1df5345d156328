//! Hooks in the words of A3S.

use hook_tests::Project;
use serde_json::{Value, json};

use super::{answer, bridge, case, play, settings, with};

fn base() -> Value {
    json!({"eventType": "", "sessionId": "s", "timestamp": 1_795_333_221_886_u64, "metadata": {}})
}

fn call() -> Value {
    json!({"tool": "Bash", "args": {"command": "rm -rf /", "timeout": 5},
        "context": {"workingDirectory": "/PROJECT", "recentTools": [], "tokenUsage": {}}})
}

#[test]
fn actions_mean_what_they_mean_there() {
    let blocked = |reason: &str| json!({"action": "block", "reason": reason});
    let on = json!({"action": "continue"});
    let say = |script| case("PreToolUse", call(), script, Value::Null);
    let cases = [
        (r#"echo '{"action":"continue"}'"#, on.clone()),
        (r#"echo '{"action":"block","reason":"r"}'"#, blocked("r")),
        ("echo no >&2; exit 2", blocked("no")),
        // A retry is a denial where nobody fires again.
        (r#"echo '{"action":"retry","delay":10,"reason":"busy"}'"#, blocked("busy")),
        (r#"echo '{"action":"skip"}'"#, on.clone()),
        // It replaces the arguments as a whole.
        (
            r#"echo '{"action":"continue","modified":{"args":{"command":"ls"}}}'"#,
            json!({"action": "continue", "modified": {"args": {"command": "ls"}}}),
        ),
        // What is none of these is a failure, and lets things go on.
        (r#"echo '{"action":"maybe"}'"#, on.clone()),
        ("echo text", on),
    ];
    let cases = cases.map(|(script, answer)| super::Case { answer, ..say(script) });
    play("a3s", &base(), true, cases.into());
}

#[test]
fn a_key_that_changes_nothing_is_said_and_a_guard_that_answers_nonsense_denies() {
    let project = Project::new();
    let said = with(&base(), "PreToolUse", &call(), &project);
    let script = r#"echo '{"action":"continue","modified":{"prompt":"p"}}'"#;
    let theirs = settings("PreToolUse", json!({"type": "command", "command": script}), None, true);
    let finished = bridge(&project, "a3s", &theirs, "PreToolUse", &said);
    assert!(finished.stderr.contains("`modified.prompt` changes nothing"), "{finished:?}");
    let guard = json!({"type": "command", "command": "echo nonsense", "failClosed": true});
    let theirs = settings("PreToolUse", guard, None, true);
    let finished = bridge(&project, "a3s", &theirs, "PreToolUse", &said);
    assert_eq!(answer(&finished)["action"], "block", "{finished:?}");
}
