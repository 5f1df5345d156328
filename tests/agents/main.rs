//! Real agents with hooks of ours: Gemini CLI, Codex CLI, Qwen Code and pi, offline, against a scripted model
//! on loopback.
//!
//! They are installed by `.ci/agents`, into the folder that `HOOK_AGENTS` names or `target/agents`; where
//! they are not there, these tests say so and are passed over.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should end")]

mod agent;

use agent::{Agent, Run};
use hook_agents::scripted::ScriptedCall as Call;
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

/// The edits of each agent, with the tools that it really has. Gemini CLI itself keeps away from a file that
/// is called `.env` alone.
fn edits(agent: Agent, project: &Project) -> Vec<Call> {
    let env = project.path().join("prod.env");
    let patch = |files: &str| {
        Call::Tool("apply_patch", json!(format!("*** Begin Patch\n{files}*** End Patch")))
    };
    match agent {
        Agent::Gemini => vec![
            Call::Tool("write_file", json!({"file_path": env, "content": "KEY=2\n"})),
            Call::Tool(
                "replace",
                json!({"file_path": env, "instruction": "Another key",
                "old_string": "KEY=1", "new_string": "KEY=2"}),
            ),
        ],
        Agent::Qwen => vec![
            Call::Tool("write_file", json!({"file_path": env, "content": "KEY=2\n"})),
            Call::Tool(
                "edit",
                json!({"file_path": env, "old_string": "KEY=1", "new_string": "KEY=2"}),
            ),
        ],
        Agent::Pi => vec![
            Call::Tool("write", json!({"path": "prod.env", "content": "KEY=2\n"})),
            Call::Tool(
                "edit",
                json!({"path": "prod.env", "edits": [{"oldText": "KEY=1", "newText": "KEY=2"}]}),
            ),
        ],
        Agent::Codex => vec![
            patch("*** Add File: new.env\n+KEY=2\n"),
            patch("*** Update File: prod.env\n@@\n-KEY=1\n+KEY=2\n"),
            patch("*** Delete File: prod.env\n"),
            patch("*** Update File: prod.env\n*** Move to: moved\n@@\n-KEY=1\n+KEY=2\n"),
        ],
    }
}

/// A guard of `.env` files in the words of three agents and in ours: where its user keeps it, and how it says
/// no.
fn env_guards() -> [(&'static str, &'static str, Value); 4] {
    let refusing = |field: &str, answer: &str| {
        format!(r#"grep -q '{field}[^"]*\.env' && {{ {answer}; }}; exit 0"#)
    };
    let exit_two = "echo 'keep away from .env' >&2; exit 2";
    let denied = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"keep away from .env"}}'"#;
    let decided = r#"echo '{"decision":"deny","reason":"keep away from .env"}'"#;
    let group = |matcher: Value, command: String| json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]);
    let by_path = |answer: &str| refusing(r#""file_path": *""#, answer);
    [
        (
            "native",
            ".config/hooks/settings.json",
            json!({"BeforeTool": group(json!({"kind": "file_write", "pathPattern": "*.env"}), exit_two.to_owned())}),
        ),
        (
            "claude",
            ".claude/settings.json",
            json!({"PreToolUse": group(json!("Edit|Write"), by_path(denied))}),
        ),
        (
            "gemini",
            ".gemini/settings.json",
            json!({"BeforeTool": group(json!("write_file|replace"), by_path(decided))}),
        ),
        (
            "codex",
            ".codex/hooks.json",
            json!({"PreToolUse": group(json!("apply_patch|Edit|Write"), refusing("File: ", exit_two))}),
        ),
    ]
}

#[test]
fn a_guard_of_files_refuses_each_edit_of_each_agent_in_whoevers_words_it_is_written() {
    for (number, agent) in Agent::all().into_iter().enumerate() {
        let Some(installed) = agent.installed() else { continue };
        for edit in 0..edits(agent, &Project::new()).len() {
            // One guard in the words of Claude Code for each edit, and for one edit those of all others.
            let guards = env_guards();
            let guards = guards.iter().enumerate().filter(|(guard, (words, ..))| {
                *words == "claude"
                    || (edit == 0 && agent.word() != *words)
                    || (*guard == 0 && edit == number)
            });
            for (_, (words, place, hooks)) in guards {
                let project = Project::new();
                let call = edits(agent, &project).swap_remove(edit);
                let write = |path: &str, value: &Value| {
                    let path = project.home().join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, value.to_string()).unwrap();
                };
                if *words != "native" {
                    let agents = json!({"hooksConfig": {"agents": [words]}});
                    write(".config/hooks/settings.json", &agents);
                }
                write(place, &json!({"hooks": hooks}));
                project.write("prod.env", "KEY=1\n");
                let run = installed.run_call(&project, call.clone());
                assert!(run.success, "{}: {}", run.agent, run.output);
                let what = format!("{} {call:?} {words}: {}", run.agent, run.output);
                assert!(run.model_was_told("keep away from .env"), "{what}");
                assert_eq!(project.read("prod.env"), "KEY=1\n", "{what}");
                for made in ["new.env", "moved"] {
                    assert!(!project.path().join(made).exists(), "{what}");
                }
            }
        }
    }
}

/// Packs that come with `hook`: each agent is to delete what is not the project's, to do nothing wrong, and one thing more
/// by a command, a redirection, a patch or a tool.
#[test]
fn packs_refuse_in_each_agent() {
    let shell = |text: &str| Call::Shell(text.to_owned());
    for agent in Agent::all() {
        let Some(installed) = agent.installed() else { continue };
        let more = match agent {
            // A question ends a run without a user.
            Agent::Gemini => (shell("cat < .env > seen"), "Please"),
            Agent::Codex => (
                Call::Tool(
                    "apply_patch",
                    json!(
                        "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=1\n+KEY=2\n*** End Patch"
                    ),
                ),
                "this changes secrets",
            ),
            Agent::Qwen => (shell("touch seen; git push --force"), "a force push"),
            Agent::Pi => (
                Call::Tool("write", json!({"path": ".env", "content": "KEY=2\n"})),
                "this changes secrets",
            ),
        };
        for (call, reason) in [
            (shell("rm -rf ~/Documents"), "delete"),
            (shell("git init -q && echo 'never rm -rf ~' > done"), ""),
            more,
        ] {
            let project = Project::new();
            std::fs::create_dir(project.home().join("Documents")).unwrap();
            project.write(".env", "KEY=1\n");
            let packs = ["add", "shell-safety", "git-safety", "secrets"];
            assert_eq!(installed.hook(&project, &packs).status, 0);
            let run = installed.run_call(&project, call.clone());
            let what = format!("{} {call:?}: {}", run.agent, run.output);
            assert!(run.success, "{what}");
            assert!(run.model_was_told(reason), "{what} {:?}", run.requests);
            assert!(project.home().join("Documents").exists(), "{what}");
            assert_eq!(project.read(".env"), "KEY=1\n", "{what}");
            assert!(!project.path().join("seen").exists(), "{what}");
            assert_eq!(project.path().join("done").exists(), reason.is_empty(), "{what}");
        }
    }
}

/// A hook file of Cursor and a plugin of Claude Code, which no one has put into the agent's own settings.
#[test]
fn every_agent_obeys_a_cursor_file_and_a_claude_plugin_through_one_connection() {
    for (shell, reason) in [
        ("touch by-cursor", "Cursor does not want it"),
        ("touch by-plugin", "the plugin does not want it"),
    ] {
        for agent in Agent::all() {
            let Some(agent) = agent.installed() else { continue };
            let project = Project::new();
            let write = |path: &str, text: &str| {
                let path = project.home().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            };
            let config = json!({"hooksConfig": {"agents": ["cursor", "claude"]}});
            write(".config/hooks/settings.json", &config.to_string());
            let by_cursor = r#"grep -q by-cursor && echo '{"permission":"deny","agent_message":"Cursor does not want it"}'; exit 0"#;
            let cursor =
                json!({"version": 1, "hooks": {"beforeShellExecution": [{"command": by_cursor}]}});
            write(".cursor/hooks.json", &cursor.to_string());
            let plugin = ".claude/plugins/guard";
            write(
                &format!("{plugin}/guard.sh"),
                "grep -q by-plugin && { echo 'the plugin does not want it' >&2; exit 2; }; exit 0",
            );
            let hook =
                json!({"type": "command", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/guard.sh\""});
            let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
            write(&format!("{plugin}/hooks/hooks.json"), &hooks.to_string());
            let run = agent.run(&project, shell);
            assert!(run.success, "{}: {}", run.agent, run.output);
            let touched = project.path().join(shell.trim_start_matches("touch "));
            assert!(!touched.exists(), "{}: {}", run.agent, run.output);
            assert!(run.model_was_told(reason), "{}: {:?}", run.agent, run.requests);
        }
    }
}

/// The examples of docs/examples/modules, as a user of pi keeps them, beside the settings.
#[test]
fn modules_do_in_pi_what_they_do_here() {
    let Some(pi) = Agent::Pi.installed() else { return };
    let project = |shown: &str| {
        let project = hooks(&json!({}));
        let modules = project.home().join(".config/hooks/modules");
        std::fs::create_dir_all(&modules).unwrap();
        let examples = hook_tests::workspace().join("docs/examples/modules");
        for name in ["guard.ts", "redact.ts", "context.ts"] {
            std::fs::copy(examples.join(name), modules.join(name)).unwrap();
        }
        // Node strips no types before 22.18; what pi does that with is among its packages.
        pi.lend_jiti(&modules);
        project.write("keys.txt", shown);
        project
    };
    let guarded = project("");
    let run = pi.run(&guarded, "rm -rf keys.txt");
    assert!(run.success, "{}", run.output);
    assert!(guarded.path().join("keys.txt").exists(), "{}", run.output);
    assert!(run.model_was_told("rm -rf blocked (no UI)"), "{:?}", run.requests);
    let redacted = project("API_KEY=abc123 rest");
    let run = pi.run_call(&redacted, Call::Tool("read", json!({"path": "keys.txt"})));
    assert!(run.success, "{}", run.output);
    assert!(run.model_was_told("API_KEY=[REDACTED] rest"), "{:?}", run.requests);
    assert!(!run.model_was_told("abc123"), "{:?}", run.requests);
    // Messages of extensions reach the model as the user's; those for debugging do not.
    for (kind, is_told) in [("debug-only", false), ("for-the-model", true)] {
        let project = project("");
        let extension = format!(
            "export default (pi) => pi.on('before_agent_start', () => \
             ({{ message: {{ customType: '{kind}', content: 'said-by-extension', display: true }} }}));"
        );
        let folder = project.home().join(".pi/agent/extensions");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("speaker.ts"), extension).unwrap();
        let run = pi.run(&project, "true");
        assert!(run.success, "{}", run.output);
        assert_eq!(run.model_was_told("said-by-extension"), is_told, "{kind}: {:?}", run.requests);
    }
}

/// The guard of docs/examples/modules asks pi's own user.
#[test]
fn a_module_asks_the_user_of_pi() {
    let Some(pi) = Agent::Pi.installed() else { return };
    for agrees in [false, true] {
        let project = hooks(&json!({}));
        let modules = project.home().join(".config/hooks/modules");
        std::fs::create_dir_all(&modules).unwrap();
        let example = hook_tests::workspace().join("docs/examples/modules/guard.ts");
        std::fs::copy(example, modules.join("guard.ts")).unwrap();
        pi.lend_jiti(&modules);
        project.write("keys.txt", "");
        let run = pi.run_with_user(&project, "rm -rf keys.txt", agrees);
        assert!(run.output.contains("Allow: rm -rf keys.txt"), "{}", run.output);
        assert_eq!(project.path().join("keys.txt").exists(), !agrees, "{}", run.output);
        assert_eq!(run.model_was_told("user denied command"), !agrees, "{:?}", run.requests);
    }
}

/// Without the binary, pi tells its user so, and goes on unless there is a guard.
#[test]
fn pi_without_the_binary_refuses_only_where_there_is_a_guard() {
    let Some(pi) = Agent::Pi.installed() else { return };
    for guarded in [false, true] {
        let fail_behavior = if guarded { "block" } else { "warn" };
        let hook = json!({"type": "command", "command": "true", "failBehavior": fail_behavior});
        let project = hooks(&json!({"BeforeTool": [{"hooks": [hook]}]}));
        let extension = project.home().join(".pi/agent/extensions/hook.ts");
        let run = pi.run_changed(&project, "touch touched", || {
            let text = std::fs::read_to_string(&extension).unwrap();
            let (_, rest) = text.split_once("{\"").unwrap();
            let (_, rest) = rest.split_once("_h=").unwrap();
            let (folder, _) = rest.split_once(';').unwrap();
            std::fs::write(&extension, text.replace(folder, "/not/there")).unwrap();
        });
        assert_eq!(project.path().join("touched").exists(), !guarded, "{}", run.output);
        assert!(run.output.contains("/not/there/hook"), "{}", run.output);
    }
}

/// `/handoff` of docs/examples/modules is a command of pi's own then, and what it writes is in the new session.
#[test]
fn a_command_of_a_module_goes_on_in_another_session_of_pi() {
    let Some(pi) = Agent::Pi.installed() else { return };
    let project = hooks(&json!({}));
    let modules = project.home().join(".config/hooks/modules");
    std::fs::create_dir_all(&modules).unwrap();
    let example = hook_tests::workspace().join("docs/examples/modules/handoff.ts");
    std::fs::copy(example, modules.join("handoff.ts")).unwrap();
    pi.lend_jiti(&modules);
    let prompts = ["the first session", "/handoff", "and the second"];
    let run = pi.run_prompts(&project, "true", &prompts);
    assert!(run.success, "{}", run.output);
    let last = run.requests.last().unwrap().to_string();
    assert!(last.contains("and the second"), "{last}");
    assert!(last.contains("Continue from prior session summary."), "{last}");
    assert!(!last.contains("the first session"), "{last}");
}

#[test]
fn a_refused_model_call_of_pi_reaches_no_model() {
    let Some(pi) = Agent::Pi.installed() else { return };
    let project = hooks(&json!({"BeforeModel": command("echo 'not now' >&2; exit 2")}));
    let run = pi.run(&project, "touch touched");
    assert_eq!(run.requests.len(), 0, "{}: {:?}", run.output, run.requests);
}

/// What `hook connect --verify` says of each agent that is here.
#[test]
fn each_agent_is_verified_by_hook_itself() {
    for agent in Agent::all() {
        let Some(installed) = agent.installed() else { continue };
        let project = hooks(&json!({}));
        let word = agent.word();
        assert_eq!(installed.hook(&project, &["connect", word, "--yes", "--no-server"]).status, 0);
        let verified = installed.hook(&project, &["connect", "--verify", word, "--json"]);
        let said: Value = serde_json::from_str(verified.stdout.trim()).unwrap_or_default();
        assert_eq!(said["works"], true, "{verified:?}");
        assert!(said["version"].is_string(), "{verified:?}");
    }
}
