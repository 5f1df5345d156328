//! Real agents with hooks of ours: Gemini CLI, Codex CLI, Qwen Code and pi, offline, against a scripted model
//! on loopback.
//!
//! They are installed by `.ci/agents`, into the folder that `HOOK_AGENTS` names or `target/agents`; where
//! they are not there, these tests say so and are passed over.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should end")]

mod agent;
mod model;

use agent::{Agent, Run};
use hook_tests::Project;
use serde_json::{Value, json};

/// Agents that run a tool with the arguments of the model, whatever hooks say.
const HEAR_NO_CHANGE: &[&str] = &["qwen"];

/// Hooks of the user's, in our own form, which every agent is to obey.
fn hooks(hooks: &Value) -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), json!({"hooks": hooks}).to_string()).unwrap();
    project
}

fn command(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

/// Runs each agent that is there with these hooks, and has the model call the shell.
fn each(hooks_of_user: &Value, shell: &str, look: impl Fn(&Run, &Project)) {
    for agent in Agent::all() {
        let Some(agent) = agent.installed() else { continue };
        let project = hooks(hooks_of_user);
        let run = agent.run(&project, shell);
        assert!(run.success, "{}: {}", run.agent, run.output);
        look(&run, &project);
    }
}

#[test]
fn a_denied_tool_does_not_run_and_the_model_is_told_why() {
    let guard = "grep -q touched && { echo 'touching is not allowed' >&2; exit 2; }; exit 0";
    each(&json!({"BeforeTool": command(guard)}), "touch touched", |run, project| {
        assert!(!project.path().join("touched").exists(), "{}", run.agent);
        assert!(run.model_was_told("touching is not allowed"), "{}: {:?}", run.agent, run.requests);
    });
}

#[test]
fn a_tool_runs_with_what_a_hook_made_of_its_input() {
    let change = r#"echo '{"hookSpecificOutput":{"tool_input":{"command":"touch changed"}}}'"#;
    let matched = json!([{"matcher": "run_shell_command", "hooks": [
        {"type": "command", "command": change}]}]);
    each(&json!({"BeforeTool": matched}), "touch as-it-was", |run, project| {
        if HEAR_NO_CHANGE.contains(&run.agent) {
            // Lost, as the bridge says; an agent that hears it one day is found here.
            assert!(project.path().join("as-it-was").exists(), "{}: {}", run.agent, run.output);
            return;
        }
        assert!(project.path().join("changed").exists(), "{}: {}", run.agent, run.output);
        assert!(!project.path().join("as-it-was").exists(), "{}", run.agent);
    });
}

#[test]
fn a_refused_prompt_reaches_no_model() {
    let refuse = "echo 'not that' >&2; exit 2";
    for agent in Agent::all() {
        let Some(agent) = agent.installed() else { continue };
        let project = hooks(&json!({"BeforeAgent": command(refuse)}));
        let run = agent.run(&project, "touch touched");
        assert_eq!(run.requests.len(), 0, "{}: {}", run.agent, run.output);
        assert!(!project.path().join("touched").exists(), "{}", run.agent);
    }
}

#[test]
fn context_reaches_the_model_at_the_start_and_with_the_prompt() {
    let say = |text: &str| {
        command(&format!(r#"echo '{{"hookSpecificOutput":{{"additionalContext":"{text}"}}}}'"#))
    };
    let hooks =
        json!({"SessionStart": say("said at the start"), "BeforeAgent": say("said with it")});
    each(&hooks, "true", |run, _| {
        assert!(run.model_was_told("said at the start"), "{}", run.agent);
        assert!(run.model_was_told("said with it"), "{}", run.agent);
    });
}

#[test]
fn feedback_after_a_tool_reaches_the_model_and_a_stop_makes_it_go_on_once() {
    let feedback = r#"echo '{"decision":"block","reason":"that was not good"}'"#;
    let again = r#"grep -q '"stop_hook_active":true' && exit 0
        echo '{"decision":"block","reason":"do one thing more"}'"#;
    let hooks = json!({"AfterTool": command(feedback), "AfterAgent": command(again)});
    each(&hooks, "true", |run, _| {
        assert!(run.model_was_told("that was not good"), "{}", run.agent);
        assert!(run.model_was_told("do one thing more"), "{}", run.agent);
        // The call, its result, and the one turn more.
        assert_eq!(run.requests.len(), 3, "{}", run.agent);
    });
}

#[test]
fn a_guard_that_crashes_denies_and_a_hook_that_crashes_does_not() {
    for (behavior, runs) in [("block", false), ("continue", true)] {
        let hook = json!([{"hooks": [{"type": "command", "command": "kill -9 $$",
            "failBehavior": behavior}]}]);
        each(&json!({"BeforeTool": hook}), "touch touched", |run, project| {
            let touched = project.path().join("touched").exists();
            assert_eq!(touched, runs, "{} {behavior}: {}", run.agent, run.output);
        });
    }
}
