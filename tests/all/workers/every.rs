//! Workers under `*`, which say themselves which hooks they have.

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_tests::{Hook, Project, fields};
use serde_json::{Value, json};

use super::{end, fire, is_blocked, started, why, with, worker};

/// A project whose one worker stands under `*`, and declares these.
fn declaring(hooks: &str, answers: &str, more: Value) -> Project {
    let project = Project::new();
    let body = format!(
        "say(type='hook-worker', protocol=1, hooks={hooks})\nfor call in calls():\n    {answers}\n"
    );
    let entry = with(worker(&project, &body), &more);
    let settings = json!({"hooks": {"*": [{"hooks": [entry]}]}});
    project.write("settings.json", &settings.to_string());
    project
}

async fn fire_other(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    system.bus().request(HookExecutionRequest::new(event, fields(input))).await
}

fn names(response: &HookExecutionResponse) -> Vec<&str> {
    response.hooks.iter().map(|result| result.hook.display_name()).collect()
}

#[tokio::test]
async fn its_hooks_run_on_their_own_events_and_on_no_others() {
    let hooks = "[{'hookId': 'no-rm', 'eventName': 'PreToolUse', 'vocabulary': 'a3s', \
                  'matcher': {'tool': 'Bash'}, 'config': {'priority': 5}}, \
                  {'hookId': 'greet', 'eventName': 'BeforeAgent'}]";
    let answers = "answer(call, **({'action': 'block', 'reason': call['input']['args']['c']} if \
                   call['hookId'] == 'no-rm' else {'output': {'decision': 'deny', 'reason': call['hookId']}}))";
    let project = declaring(hooks, answers, json!({"failBehavior": "block"}));
    let system = project.system();
    let input = json!({"tool_name": "run_shell_command", "tool_input": {"c": "x"}});
    let response = fire_other(&system, "BeforeTool", input).await;
    assert_eq!(names(&response), ["no-rm"]);
    assert_eq!(response.processed.reason.as_deref(), Some("x"));
    assert_eq!(response.hooks[0].hook.kind(), "worker");
    assert_eq!(names(&fire(&system, "write_file").await), [""; 0]);
    let greeted = fire_other(&system, "BeforeAgent", json!({"prompt": "p"})).await;
    assert_eq!(greeted.processed.reason.as_deref(), Some("greet"));
    let ended = fire_other(&system, "SessionEnd", json!({"reason": "exit"})).await;
    assert!(ended.hooks.is_empty() && ended.processed.warnings.is_empty());
    assert_eq!(started(&project).len(), 1);
    // A reload keeps the process, and what it has said.
    system.reload().await.unwrap();
    assert!(is_blocked(&fire_other(&system, "BeforeAgent", json!({"prompt": "p"})).await));
    assert_eq!(started(&project).len(), 1);
    let listed: Vec<String> = system
        .hooks()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it.hook.event, it.hook.display_name()))
        .collect();
    assert_eq!(listed, ["* w", "BeforeTool no-rm", "BeforeAgent greet"]);
    end(&project, system).await;
}

#[tokio::test]
async fn until_it_has_said_so_a_guard_blocks_what_can_be_blocked_and_others_are_said() {
    for (body, start_timeout, part) in [
        ("sys.exit(3)", 60_000, "it exited with code 3"),
        ("print('garbage', flush=True)\nfor _ in messages(): pass", 60_000, "no message"),
        ("time.sleep(1000)", 300, "did not say that it is ready within 300ms"),
    ] {
        for (behavior, blocks) in [("block", true), ("continue", false)] {
            let project = Project::new();
            let more = json!({"failBehavior": behavior, "startTimeout": start_timeout});
            let entry = with(worker(&project, body), &more);
            let settings = json!({"hooks": {"*": [{"hooks": [entry]}]}});
            project.write("settings.json", &settings.to_string());
            let system = project.system();
            let response = fire(&system, "write_file").await;
            assert_eq!(is_blocked(&response), blocks, "{body} {behavior}");
            let warnings = response.processed.warnings.join("\n");
            assert!(warnings.contains(part), "{warnings}");
            if blocks {
                assert!(why(&response).contains("has not said which events"), "{}", why(&response));
            }
            // A block means nothing there.
            let ended = fire_other(&system, "SessionEnd", json!({"reason": "exit"})).await;
            assert!(!is_blocked(&ended) && ended.hooks.is_empty());
            end(&project, system).await;
        }
    }
}

#[tokio::test]
async fn what_it_says_wrong_blocks_where_it_is_a_guard() {
    let hooks = "[{'hookId': 'a', 'eventName': 'PreTolUse', 'vocabulary': 'a3s'}, \
                  {'hookId': 'b', 'eventName': 'BeforeAgent'}]";
    for (behavior, blocks) in [("block", true), ("continue", false)] {
        let project = declaring(hooks, "answer(call)", json!({"failBehavior": behavior}));
        let system = project.system();
        let response = fire_other(&system, "BeforeAgent", json!({"prompt": "p"})).await;
        assert_eq!(is_blocked(&response), blocks, "{behavior}");
        assert_eq!(names(&response), [if blocks { "w" } else { "b" }]);
        let warnings = response.processed.warnings.join("\n");
        assert!(warnings.contains("did you mean `PreToolUse`"), "{warnings}");
        assert_eq!(
            why(&response).contains("did you mean `PreToolUse`"),
            blocks,
            "{}",
            why(&response)
        );
        end(&project, system).await;
    }
}

#[tokio::test]
async fn its_hooks_have_what_settings_say_where_it_says_nothing() {
    let hooks = "[{'hookId': 'a', 'eventName': 'BeforeAgent'}, \
                  {'hookId': 'b', 'eventName': 'BeforeTool', 'config': {'failBehavior': 'continue'}}]";
    let project = declaring(hooks, "os._exit(1)", json!({"failBehavior": "block"}));
    let system = project.system();
    assert!(is_blocked(&fire_other(&system, "BeforeAgent", json!({"prompt": "p"})).await));
    assert!(!is_blocked(&fire(&system, "write_file").await));
    end(&project, system).await;
}

#[tokio::test]
async fn another_process_of_it_may_declare_others() {
    let project = Project::new();
    let body = "event = 'BeforeTool' if os.path.exists('second') else 'BeforeAgent'\n\
                say(type='hook-worker', protocol=1, hooks=[{'hookId': 'h', 'eventName': event}])\n\
                for call in calls():\n    note('second', 1)\n    os._exit(1)\n";
    let entry = with(worker(&project, body), &json!({"failBehavior": "block"}));
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let system = project.system();
    assert!(is_blocked(&fire_other(&system, "BeforeAgent", json!({"prompt": "p"})).await));
    // The next call of what it had starts it again, and it says something else now.
    assert!(is_blocked(&fire_other(&system, "BeforeAgent", json!({"prompt": "p"})).await));
    let response = fire(&system, "write_file").await;
    assert_eq!(names(&response), ["h"]);
    end(&project, system).await;
}

#[test]
fn only_workers_may_stand_there() {
    let project = Project::new();
    let settings = json!({"hooks": {"*": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    project.write("settings.json", &settings.to_string());
    let checked = Hook::new(&project, &["check", "settings.json"]).run();
    assert!(
        checked.stdout.contains("only a worker or a module can stand under `*`"),
        "{checked:?}"
    );
}

#[test]
fn a_projects_worker_under_it_runs_once_it_is_trusted() {
    let project = Project::new();
    let body = "say(type='hook-worker', protocol=1, hooks=[{'hookId': 'h', 'eventName': 'BeforeTool'}])\n\
                for call in calls():\n    answer(call, action='block', reason='trusted')\n";
    let entry = with(worker(&project, body), &json!({"failBehavior": "block"}));
    let settings = json!({"hooks": {"*": [{"hooks": [entry]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    let fire = || Hook::new(&project, &["fire", "BeforeTool", "--tool", "write_file"]).run();
    assert_eq!(fire().status, 0, "it is not trusted");
    let trusted = Hook::new(&project, &["trust", "--yes", "--opaque"]).run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    let fired = fire();
    assert!(fired.status == 2 && fired.stdout.contains("trusted"), "{fired:?}");
    // One that changed blocks unasked, on every event that can be blocked.
    project.write("worker.py", "from prelude import *\n");
    let fired = fire();
    assert!(
        fired.status == 2 && fired.stdout.contains("changed since it was trusted"),
        "{fired:?}"
    );
    let prompt = Hook::new(&project, &["fire", "BeforeAgent"]).run();
    assert_eq!(prompt.status, 2, "{prompt:?}");
    // One that is gone blocks, too.
    project.write(".hooks/settings.json", "{\"hooks\": {}}");
    let fired = Hook::new(&project, &["fire", "BeforeAgent", "--json"]).run();
    assert!(
        fired.status == 2 && fired.stdout.contains("it is trusted, but not in the settings"),
        "{fired:?}"
    );
}

#[tokio::test]
async fn an_event_that_is_declared_later_is_blocked_as_well() {
    let project = Project::new();
    let entry = with(worker(&project, "sys.exit(3)"), &json!({"failBehavior": "block"}));
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let system = project.system();
    assert!(is_blocked(&fire(&system, "t").await));
    let deploy = hook_protocol::EventDefinition::new("Deploy").block_means("it is not deployed");
    let declared = system.declare_event(deploy).unwrap();
    assert!(is_blocked(&fire_other(&system, "Deploy", json!({})).await));
    drop(declared);
    end(&project, system).await;
}

#[tokio::test]
async fn a_guard_among_hooks_that_are_none_blocks_where_it_is_not_understood() {
    let hooks = "[{'hookId': 'a', 'eventName': 'PreTolUse', 'vocabulary': 'a3s', \
                   'config': {'failBehavior': 'block'}}]";
    let project = declaring(hooks, "answer(call)", json!({}));
    let system = project.system();
    assert!(is_blocked(&fire(&system, "t").await));
    end(&project, system).await;
}

#[tokio::test]
async fn a_guard_that_another_process_says_nothing_of_is_asked_all_the_same() {
    let project = Project::new();
    let body = "first = not os.path.exists('second')\n\
                hooks = [{'hookId': 'g', 'eventName': 'BeforeTool'}] if first else []\n\
                say(type='hook-worker', protocol=1, hooks=hooks)\n\
                for call in calls():\n    note('second', 1)\n    os._exit(1)\n";
    let entry = with(worker(&project, body), &json!({"failBehavior": "block"}));
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let system = project.system();
    for _ in 0..3 {
        assert!(is_blocked(&fire(&system, "t").await));
    }
    let warnings = fire(&system, "t").await.processed.warnings.join("\n");
    assert!(warnings.contains("guard `g` any more"), "{warnings}");
    end(&project, system).await;
}

#[tokio::test]
async fn a_worker_that_says_nothing_of_its_hooks_has_not_said_which_they_are() {
    let project = Project::new();
    let body = "ready()\nfor _ in messages(): pass\n";
    let entry = with(worker(&project, body), &json!({"failBehavior": "block"}));
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let system = project.system();
    assert!(is_blocked(&fire(&system, "t").await));
    end(&project, system).await;
}

#[tokio::test]
async fn what_it_declares_goes_off_and_on_with_it() {
    let hooks = "[{'hookId': 'g', 'eventName': 'BeforeTool'}]";
    let project =
        declaring(hooks, "answer(call, action='block')", json!({"failBehavior": "block"}));
    let system = project.system();
    assert!(is_blocked(&fire(&system, "t").await));
    system.set_hook_enabled("w", false).unwrap();
    let response = fire(&system, "t").await;
    assert!(!is_blocked(&response) && response.hooks.is_empty());
    let listed = system.hooks().unwrap();
    for hook in &listed {
        let by: Vec<String> = hook.disabled_by.iter().map(ToString::to_string).collect();
        assert_eq!((hook.enabled, by), (false, vec!["the host, at run time".to_owned()]));
    }
    assert_eq!(listed.len(), 2);
    system.set_hook_enabled("w", true).unwrap();
    assert!(is_blocked(&fire(&system, "t").await));
    end(&project, system).await;
}

/// One that settings switch off, and the host on: it is asked which hooks it has then.
#[tokio::test]
async fn one_that_the_host_switches_on_says_its_hooks_then() {
    let project = Project::new();
    let body = "say(type='hook-worker', protocol=1, hooks=[{'hookId': 'g', 'eventName': 'BeforeTool'}])\n\
                for call in calls(): answer(call, action='block')\n";
    let entry = with(worker(&project, body), &json!({"failBehavior": "block"}));
    let settings =
        json!({"hooks": {"*": [{"hooks": [entry]}]}, "hooksConfig": {"disabled": ["w"]}});
    project.write("settings.json", &settings.to_string());
    let system = project.system();
    let response = fire(&system, "t").await;
    assert!(!is_blocked(&response), "{:?}", response.processed);
    assert!(response.processed.warnings.is_empty());
    assert!(!project.path().join("started").exists());
    system.set_hook_enabled("w", true).unwrap();
    assert_eq!(names(&fire(&system, "t").await), ["g"]);
    end(&project, system).await;
}

#[test]
fn what_stands_for_its_hooks_is_no_hook_in_an_explanation() {
    let project = Project::new();
    let entry = with(worker(&project, "sys.exit(3)"), &json!({"failBehavior": "block"}));
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let explain = |event: &str| {
        Hook::new(&project, &["explain", event, "--settings", "settings.json"]).run().stdout
    };
    let blockable = explain("BeforeTool");
    assert!(
        blockable.contains("w blocks this event until it has said which hooks it has"),
        "{blockable}"
    );
    assert!(!blockable.contains("of 1"), "{blockable}");
    let other = explain("SessionEnd");
    assert!(other.contains("may listen to") && other.contains("? w "), "{other}");
    assert!(!other.contains("no hook listens"), "{other}");
}
