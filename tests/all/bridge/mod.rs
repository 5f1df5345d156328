//! Hooks of other agents, run by `hook bridge` as at home: one file for each agent, with a case for each
//! rule of its own.

mod a3s;
#[cfg(unix)]
mod approvals;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod doors;
#[cfg(unix)]
mod entries;
#[cfg(unix)]
mod forms;
mod gemini;
#[cfg(unix)]
mod home;
mod http;
mod kinds;
mod llxprt;
mod loopback;
mod matrix;
mod pi;
mod public;
mod qwen;
mod said;
mod server;
mod state;
mod vscode;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// A script and what the agent is to hear.
struct Case {
    /// What the agent calls the event.
    event: &'static str,
    /// What it says beside what it always says.
    said: Value,
    /// What the hook runs.
    script: &'static str,
    /// The answer on standard output; `null` for none.
    answer: Value,
}

fn case(event: &'static str, said: Value, script: &'static str, answer: Value) -> Case {
    Case { event, said, script, answer }
}

/// What an agent says of an event, of whatever it says on each.
fn with(base: &Value, event: &str, said: &Value, project: &Project) -> Value {
    let mut all = base.clone();
    for (name, value) in said.as_object().unwrap() {
        all[name] = value.clone();
    }
    for name in ["hook_event_name", "hookEventName"] {
        if all.get(name).is_some() {
            all[name] = json!(event);
        }
    }
    let cwd = project.path().display().to_string();
    serde_json::from_str(&all.to_string().replace("/PROJECT", &cwd)).unwrap()
}

/// Runs `hook bridge` with a settings file of the agent.
fn bridge(project: &Project, agent: &str, settings: &Value, event: &str, said: &Value) -> Finished {
    project.write("theirs.json", &settings.to_string());
    let arguments = ["bridge", agent, event, "--settings", "theirs.json"];
    Hook::new(project, &arguments).stdin(said.to_string()).run()
}

/// The settings of one hook of an event, in groups or not.
fn settings(event: &str, hook: Value, matcher: Option<&str>, in_groups: bool) -> Value {
    let mut hook = hook;
    let hooks = match in_groups {
        true => {
            let mut group = json!({"hooks": [hook]});
            if let Some(matcher) = matcher {
                group["matcher"] = json!(matcher);
            }
            group
        }
        false => {
            if let Some(matcher) = matcher {
                hook["matcher"] = json!(matcher);
            }
            hook
        }
    };
    // Where hooks are in groups, Codex refuses a file with other keys.
    match in_groups {
        true => json!({"hooks": {event: [hooks]}}),
        false => json!({"version": 1, "hooks": {event: [hooks]}}),
    }
}

fn answer(finished: &Finished) -> Value {
    match finished.stdout.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}

/// Plays cases of one agent, each with exit code 0.
fn play(agent: &str, base: &Value, in_groups: bool, cases: Vec<Case>) {
    let project = Project::new();
    for Case { event, said, script, answer: expected } in cases {
        let said = with(base, event, &said, &project);
        let hook = json!({"type": "command", "command": script});
        let finished =
            bridge(&project, agent, &settings(event, hook, None, in_groups), event, &said);
        assert_eq!(answer(&finished), expected, "{agent} {event} {script}: {}", finished.stderr);
        assert_eq!(finished.status, 0, "{agent} {event} {script}: {finished:?}");
    }
}

/// Whether a hook of an event with a matcher runs.
fn runs(
    agent: &str,
    base: &Value,
    in_groups: bool,
    event: &str,
    said: &Value,
    matcher: &str,
) -> bool {
    let project = Project::new();
    let said = with(base, event, said, &project);
    let hook = json!({"type": "command", "command": "touch \"$PWD/ran\""});
    let settings = settings(event, hook, Some(matcher), in_groups);
    let finished = bridge(&project, agent, &settings, event, &said);
    assert_eq!(finished.status, 0, "{finished:?}");
    project.path().join("ran").exists()
}

/// What a hook is told is what the agent said, and it has the agent's variables and no other agent's.
fn assert_at_home(
    agent: &str,
    base: &Value,
    in_groups: bool,
    events: &[(&str, Value)],
    own: &[&str],
) {
    let project = Project::new();
    for (event, said) in events {
        let said = with(base, event, said, &project);
        let hook = json!({"type": "command", "command": "cat > told; env > variables"});
        let settings = settings(event, hook, None, in_groups);
        project.write("theirs.json", &settings.to_string());
        let arguments = ["bridge", agent, event, "--settings", "theirs.json"];
        let bridged = Hook::new(&project, &arguments)
            .env("CURSOR_VERSION", "9")
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("GEMINI_CLI", "1")
            .env("COPILOT_CLI", "1");
        let finished = bridged.stdin(said.to_string()).run();
        assert_eq!(finished.status, 0, "{agent} {event}: {finished:?}");
        // Byte for byte.
        assert_eq!(project.read("told"), said.to_string(), "{agent} {event}");
        let variables = project.read("variables");
        let has = |name: &str| variables.lines().any(|line| line.starts_with(&format!("{name}=")));
        for name in ["CURSOR_VERSION", "CLAUDE_CODE_ENTRYPOINT", "GEMINI_CLI", "COPILOT_CLI"] {
            let is_own = name.to_lowercase().starts_with(agent);
            assert_eq!(has(name), is_own, "{agent} {event} {name}\n{variables}");
        }
        for name in own {
            assert!(has(name), "{agent} {event} {name}\n{variables}");
        }
        let _ = std::fs::remove_file(project.path().join("told"));
    }
}

/// Waits until something is there.
pub(crate) fn until<T>(look: impl Fn() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "it did not come");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
