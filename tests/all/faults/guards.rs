//! Which hooks there are, and that no guard vanishes: inner projects, identity, matchers that cannot
//! match, guards that changed or are gone.

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_protocol::{HookEventName, HookOutput, RequestInput};
use hook_run::HandlerHook;
use hook_settings::parse;
use hook_settings::{FailBehavior, HookSource};
use hook_tests::{Hook, Project, fields};
use hook_trust::{TrustPolicy, TrustStore};
use serde_json::{Value, json};

use super::prompt;

/// Settings with these definitions of one event.
fn settings(event: &str, definitions: Value) -> String {
    json!({"hooks": {event: definitions}}).to_string()
}

/// A hook that says something to the user.
fn saying(text: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": format!("echo {text}")}]})
}

/// A system on that directory with its native files, all of them trusted.
fn native(directory: impl Into<std::path::PathBuf>) -> HookSystem {
    let builder = HookSystem::builder(directory).native_settings(None);
    builder.trust(TrustPolicy::Everything).build().unwrap()
}

/// What each hook wrote, in plan order.
fn written(response: &HookExecutionResponse) -> Vec<String> {
    response.hooks.iter().map(|hook| super::stdout(hook).trim().to_owned()).collect()
}

#[tokio::test]
async fn fault_38_an_inner_project_adds_its_hooks_to_those_around_it() {
    let project = Project::new();
    let says = |name: &str| {
        let command = format!("echo {name} $HOOK_PROJECT_DIR");
        settings("BeforeAgent", json!([{"hooks": [{"type": "command", "command": command}]}]))
    };
    let same = || json!({"hooks": [{"type": "command", "name": "same", "command": "$HOOK_PROJECT_DIR/same.sh"}]});
    project.write(".git/HEAD", "");
    project.write(".hooks/settings.json", &says("outer"));
    project.write("a/.hooks/settings.json", &says("middle"));
    project.write("a/b/.hooks/settings.json", &says("inner"));
    let root = project.path().display().to_string();

    let response = prompt(&native(project.path().join("a/b"))).await;
    let all = [format!("inner {root}/a/b"), format!("middle {root}/a"), format!("outer {root}")];
    assert_eq!(written(&response), all);

    // The binary finds the same from a directory without settings of its own.
    std::fs::create_dir(project.path().join("a/b/c")).unwrap();
    for directory in ["", "a", "a/b"] {
        let trust = Hook::new(&project, &["trust", "--yes"]).directory(directory).run();
        assert_eq!(trust.status, 0, "{}", trust.stderr);
    }
    let fired = Hook::new(&project, &["fire", "BeforeAgent", "--json"]).directory("a/b/c").run();
    let line = &fired.lines()[0];
    let hooks = line["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), 3, "{line}");

    // The same words in two projects are two hooks: each has its own script.
    for (directory, word) in [("", "outer"), ("a", "middle")] {
        let settings = settings("BeforeAgent", json!([same()]));
        project
            .write(format!("{directory}/.hooks/settings.json").trim_start_matches('/'), &settings);
        let script = project.write(
            format!("{directory}/same.sh").trim_start_matches('/'),
            &format!("#!/bin/sh\necho {word}\n"),
        );
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(script, executable).unwrap();
    }
    let response = prompt(&native(project.path().join("a"))).await;
    assert_eq!(written(&response), ["middle", "outer"]);
}

#[tokio::test]
async fn fault_38_settings_are_looked_for_around_a_repository_too() {
    let project = Project::new();
    project.write(".hooks/settings.json", &settings("BeforeAgent", json!([saying("outside")])));
    project.write("r/a/b/x", "");
    project.write("r/.git/HEAD", "ref: refs/heads/main\n");
    let directory = project.path().join("r/a/b");
    assert_eq!(written(&prompt(&native(&directory)).await), ["outside"]);
    project.write("r/.hooks/settings.json", &settings("BeforeAgent", json!([saying("root")])));
    assert_eq!(written(&prompt(&native(&directory)).await), ["root", "outside"]);

    // What cannot be read is no reason to look past it.
    project.write("r/a/.hooks/settings.json/x", "");
    let response = prompt(&native(&directory)).await;
    assert_eq!(written(&response), ["root", "outside"]);
    let warned = |warning: &String| warning.contains("r/a/.hooks/settings.json");
    assert!(response.processed.warnings.iter().any(warned), "{:?}", response.processed.warnings);
}

/// A trusted guard of `BeforeAgent` that refuses, with an `inner` directory below its project.
fn with_inner() -> Project {
    let project = Project::new();
    let guard = json!({"type": "command", "name": "guard", "failBehavior": "block",
        "command": "exit 2"});
    project.write(SETTINGS, &settings("BeforeAgent", json!([{"hooks": [guard]}])));
    project.write("inner/file", "");
    assert_eq!(Hook::new(&project, &["trust", "--yes"]).run().status, 0);
    project
}

/// What `hook fire` decides in the `inner` directory.
fn fired_in_inner(project: &Project) -> Value {
    let fired = Hook::new(project, &["fire", "BeforeAgent", "--json"]).directory("inner").run();
    fired.lines().remove(0)["processed"]["decision"].clone()
}

#[test]
fn fault_38_a_repository_inside_keeps_no_guard_of_the_project_out() {
    let git = "git -c user.name=a -c user.email=a@b -c protocol.file.allow=always";
    let repository = format!("{git} init -q ~/r && {git} -C ~/r commit -q --allow-empty -m a");
    for make in [
        "touch inner/.git".to_owned(),
        format!("{git} init -q inner"),
        format!("{git} init -q inner && rm -r .hooks"),
        format!("{repository} && rm -r inner && {git} -C ~/r worktree add -q $PWD/inner"),
        format!("{repository} && rm -r inner && {git} init -q && {git} submodule add -q ~/r inner"),
    ] {
        let project = with_inner();
        // Its rules need no trust.
        let rule = "[[rule]]\nid = \"x\"\nprompt = \"deploy\"\ndeny = \"no\"\n";
        project.write(".hooks/rules/team.toml", rule);
        let made = project.command("sh").args(["-c", &make]).output().unwrap();
        assert!(made.status.success(), "{make}: {}", String::from_utf8_lossy(&made.stderr));
        assert_eq!(fired_in_inner(&project), "block", "{make}");
        let revoked = Hook::new(&project, &["trust", "--revoke", "guard"]).run();
        assert_eq!(revoked.status, 0, "{make}: {revoked:?}");
        assert_eq!(fired_in_inner(&project), "proceed", "{make}");
        if !make.contains("rm -r .hooks") {
            let input = json!({"prompt": "deploy"}).to_string();
            let fire = ["fire", "BeforeAgent", "--input", &input];
            assert_eq!(Hook::new(&project, &fire).directory("inner").run().status, 2, "{make}");
        }
    }
}

#[tokio::test]
async fn an_inner_project_switches_nothing_off_around_it() {
    let project = Project::new();
    let named = |name: &str| json!([{"hooks": [{"type": "command", "name": name, "command": format!("echo {name}")}]}]);
    project.write(".hooks/settings.json", &settings("BeforeAgent", named("guard")));
    let inner = json!({"hooksConfig": {"enabled": false, "disabled": ["guard"]},
        "hooks": {"BeforeAgent": named("inner")}});
    project.write("inner/.hooks/settings.json", &inner.to_string());
    let response = prompt(&native(project.path().join("inner"))).await;
    assert_eq!(written(&response), ["guard"]);
}

#[tokio::test]
async fn two_hooks_with_the_same_command_and_other_variables_both_run() {
    let hook =
        |env: Value| json!({"type": "command", "name": "one", "command": "echo $A$B", "env": env});
    let hooks = [
        hook(json!({"A": "1"})),
        hook(json!({"A": "2", "B": "3"})),
        hook(json!({"B": "3", "A": "2"})),
        hook(json!({"A": "1"})),
    ];
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": hooks}]}}));
    assert_eq!(written(&prompt(&project.system()).await), ["1", "23"]);
    let checked = Hook::new(&project, &["check", "--settings=settings.json", "--json"]).run();
    let duplicates = checked.lines().iter().filter(|it| it["rule"] == "duplicate-hook").count();
    assert_eq!(duplicates, 2, "{}", checked.stdout);
}

/// Fires an event and waits for the verdict.
async fn fire(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    let request = HookExecutionRequest::new(event, fields(input));
    let response = tokio::time::timeout(super::PROMPT, system.bus().request(request)).await;
    response.expect("a verdict in time")
}

/// What the caller is warned of, once each.
fn warned(response: &HookExecutionResponse, word: &str) -> usize {
    response.processed.warnings.iter().filter(|warning| warning.contains(word)).count()
}

#[tokio::test]
async fn fault_36_a_guard_whose_matcher_can_match_nothing_is_asked_about_everything() {
    let tool = |name: &str| json!({"tool_name": name, "tool_input": {}});
    let start = json!({"source": "resume"});
    for (event, matcher, input, says) in [
        ("BeforeTool", "write_file|(edit", tool("write_file"), "is not a regular expression"),
        ("BeforeTool", "[edit", tool("other"), "is not a regular expression"),
        ("BeforeTool", "write_file$|^$edit^", tool("other"), ""),
        ("BeforeTool", "^$", tool("other"), "can match no tool"),
        ("BeforeTool", "write_file, edit", tool("edit"), "probably matches no tool"),
        ("SessionStart", "startup|resume", start, "never matches"),
    ] {
        for behavior in ["block", "continue"] {
            let project = Project::with_settings(&json!({"hooks": {event: [{"matcher": matcher,
                "hooks": [{"type": "command", "name": "guard", "failBehavior": behavior,
                    "command": "echo 'refused' >&2; exit 2"}]}]}}));
            let response = fire(&project.system(), event, input.clone()).await;
            // One that only looks odd is left as it is.
            let is_broken = !says.is_empty();
            let runs = is_broken && behavior == "block";
            assert_eq!(response.processed.is_blocking_decision(), runs, "{matcher} {behavior}");
            match is_broken {
                true => assert_eq!(warned(&response, says), 1, "{matcher} {behavior}"),
                false => assert_eq!(warned(&response, "guard"), 0, "{matcher} {behavior}"),
            }
            let elsewhere = fire(&project.system(), "BeforeAgent", json!({"prompt": "p"})).await;
            assert_eq!(warned(&elsewhere, "guard"), 0, "{matcher} is about another event");
        }
    }
}

#[tokio::test]
async fn fault_36_functions_of_the_host_are_asked_about_everything_too() {
    for behavior in [FailBehavior::Block, FailBehavior::Continue] {
        let guard = HandlerHook::inline(HookEventName::BeforeTool, "guard", |_| {
            Ok(Some(HookOutput::deny("refused")))
        });
        let guard = guard.matcher("write_file|(edit").fail_behavior(behavior);
        let system = HookSystem::builder(".").handler(guard).build().unwrap();
        let input = json!({"tool_name": "edit", "tool_input": {}});
        let response = fire(&system, "BeforeTool", input).await;
        let blocks = behavior == FailBehavior::Block;
        assert_eq!(response.processed.is_blocking_decision(), blocks);
        assert_eq!(warned(&response, "is not a regular expression"), 1);
    }
}

#[tokio::test]
async fn hooks_switched_while_settings_are_read_again_stay_switched() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [saying("ran")]}}));
    let system = std::sync::Arc::new(project.system());
    assert!(system.set_hook_enabled("echo ran", false).is_err(), "nothing is there to switch yet");
    system.initialize().await.unwrap();
    for round in 0..20 {
        let enabled = round % 2 == 1;
        let reloading = std::sync::Arc::clone(&system);
        let reload = tokio::spawn(async move { reloading.reload().await });
        tokio::task::yield_now().await;
        assert_eq!(system.set_hook_enabled("echo ran", enabled).unwrap(), 1);
        reload.await.unwrap().unwrap();
        assert_eq!(prompt(&system).await.hooks.len(), usize::from(enabled), "round {round}");
    }
}

/// A project with one guard of `edit`, in its own settings and trusted, and with its store.
fn guarded() -> (Project, TrustStore) {
    let project = Project::new();
    project.write(SETTINGS, &guard(json!({})));
    write_script(&project, "exit 0");
    let store = TrustStore::new(project.home().join("trust.json"));
    let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
    store.grant(&project.path(), &hooks).unwrap();
    (project, store)
}

const SETTINGS: &str = ".hooks/settings.json";

/// Settings with the guard and with these keys in place of its own; `null` takes one away.
fn guard(changes: Value) -> String {
    let mut definition = json!({"matcher": "^edit$"});
    let mut hook = json!({"type": "command", "name": "guard", "failBehavior": "block",
        "command": "$HOOK_PROJECT_DIR/guard.sh"});
    let mut settings = json!({});
    for (key, value) in changes.as_object().into_iter().flatten() {
        match key.as_str() {
            "matcher" => definition[key] = value.clone(),
            "hooksConfig" => settings[key] = value.clone(),
            _ => hook[key] = value.clone(),
        }
    }
    definition["hooks"] = json!([hook]);
    settings["hooks"] = json!({"BeforeTool": [definition]});
    settings.to_string()
}

fn write_script(project: &Project, script: &str) {
    let path = project.write("guard.sh", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn with_store(project: &Project, store: &TrustStore) -> HookSystem {
    let builder = HookSystem::builder(project.path()).native_settings(None);
    builder.trust(TrustPolicy::Store(store.clone())).build().unwrap()
}

/// Whether the tool is blocked, and why.
async fn verdict(system: &HookSystem, tool: &str) -> (bool, String, Vec<String>) {
    let response = fire(system, "BeforeTool", json!({"tool_name": tool, "tool_input": {}})).await;
    let processed = response.processed;
    let (blocks, reason) = (processed.is_blocking_decision(), processed.reason);
    (blocks, reason.unwrap_or_default(), processed.warnings)
}

#[tokio::test]
async fn fault_37_a_trusted_guard_that_changed_blocks_until_a_person_decides() {
    type Change = fn(&Project);
    let changes: [(&str, Change); 5] = [
        ("timeout", |project| drop(project.write(SETTINGS, &guard(json!({"timeout": 1}))))),
        ("env", |project| drop(project.write(SETTINGS, &guard(json!({"env": {"A": "1"}}))))),
        ("weaker", |project| {
            drop(project.write(SETTINGS, &guard(json!({"failBehavior": "continue"}))));
        }),
        ("elsewhere", |project| drop(project.write(SETTINGS, &guard(json!({"matcher": "x"}))))),
        ("command", |project| drop(project.write(SETTINGS, &guard(json!({"command": "true"}))))),
    ];
    for (what, change) in changes {
        let (project, store) = guarded();
        let running = with_store(&project, &store);
        assert_eq!(verdict(&running, "edit").await, (false, String::new(), vec![]), "{what}");
        change(&project);
        running.reload().await.unwrap();
        for system in [running, with_store(&project, &store)] {
            let (blocks, reason, _) = verdict(&system, "edit").await;
            assert!(blocks, "{what}");
            assert!(reason.contains("changed since it was trusted"), "{what}: {reason}");
            assert!(reason.contains("`hook trust`"), "{what}: {reason}");
            // The matcher is that with which it was trusted.
            let (blocks, _, warnings) = verdict(&system, "read").await;
            assert!(!blocks, "{what}");
            let warned = warnings.iter().filter(|it| it.contains("changed since it was trusted"));
            assert_eq!(warned.count(), 1, "{what}: {warnings:?}");
            let call = fields(json!({"tool_name": "edit", "tool_input": {}}));
            let call = RequestInput::read(HookEventName::BeforeTool, call).unwrap();
            let explanation = system.explain(&call).unwrap().hooks.remove(0);
            assert!(explanation.hook.blocks_without_running(), "{what}");
        }
        if what == "env" {
            let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
            store.grant(&project.path(), &hooks).unwrap();
            assert!(!verdict(&with_store(&project, &store), "edit").await.0, "a person decided");
        }
    }
}

#[tokio::test]
async fn fault_84_a_trusted_guard_whose_script_changed_runs_as_it_was_trusted() {
    type Change = fn(&Project);
    let changes: [(&str, Change); 3] = [
        ("script", |project| write_script(project, "exit 2 # another")),
        ("deleted", |project| std::fs::remove_file(project.path().join("guard.sh")).unwrap()),
        ("no program", |project| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            std::fs::set_permissions(project.path().join("guard.sh"), mode).unwrap();
        }),
    ];
    for (what, change) in changes {
        let (project, store) = guarded();
        let running = with_store(&project, &store);
        assert_eq!(verdict(&running, "edit").await, (false, String::new(), vec![]), "{what}");
        change(&project);
        for system in [running, with_store(&project, &store)] {
            let (blocks, reason, warnings) = verdict(&system, "edit").await;
            assert!(!blocks, "{what}: {reason}");
            let warned = warnings.iter().filter(|it| it.contains("changed since you trusted them"));
            assert_eq!(warned.count(), 1, "{what}: {warnings:?}");
        }
    }
}

#[tokio::test]
async fn fault_37_a_hook_that_is_no_guard_is_only_missed() {
    let (project, store) = guarded();
    project.write(SETTINGS, &guard(json!({"failBehavior": "continue"})));
    store.revoke(&project.path()).unwrap();
    let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
    store.grant(&project.path(), &hooks).unwrap();
    project.write(SETTINGS, &guard(json!({"failBehavior": "continue", "timeout": 1})));
    let (blocks, _, warnings) = verdict(&with_store(&project, &store), "edit").await;
    assert!(!blocks);
    assert!(warnings.iter().any(|it| it.contains("not trusted")), "{warnings:?}");
}

#[tokio::test]
async fn fault_38_a_trusted_guard_that_is_gone_or_off_guards_on_until_its_trust_is_taken_back() {
    let off = |config: Value| guard(json!({"hooksConfig": config}));
    let other_event = guard(json!({})).replace("BeforeTool", "AfterTool");
    for (what, settings) in [
        ("no hooks", Some("{}".to_owned())),
        ("no file", None),
        ("another event", Some(other_event)),
        ("disabled", Some(off(json!({"disabled": ["guard"]})))),
        ("all off", Some(off(json!({"enabled": false})))),
    ] {
        let (project, store) = guarded();
        write_script(&project, "exit 2");
        let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
        store.grant(&project.path(), &hooks).unwrap();
        match &settings {
            Some(settings) => drop(project.write(SETTINGS, settings)),
            None => std::fs::remove_file(project.path().join(SETTINGS)).unwrap(),
        }
        let (blocks, _, warnings) = verdict(&with_store(&project, &store), "edit").await;
        assert!(blocks, "{what}");
        let says = |it: &&String| it.contains("guard") && it.contains("hook trust");
        assert_eq!(warnings.iter().filter(says).count(), 1, "{what}: {warnings:?}");
        assert!(!verdict(&with_store(&project, &store), "read").await.0, "{what}");
        if let Some(settings) = settings {
            // Agreed to, it is as the settings say.
            let hooks = parse(&settings, HookSource::Project, None).hooks;
            store.grant(&project.path(), &hooks).unwrap();
            let is_gone = hooks.is_empty();
            assert_eq!(verdict(&with_store(&project, &store), "edit").await.0, is_gone, "{what}");
        }
        store.revoke(&project.path()).unwrap();
        let (blocks, _, warnings) = verdict(&with_store(&project, &store), "edit").await;
        assert!(
            !blocks && !warnings.iter().any(|it| it.contains("removal")),
            "{what}: {warnings:?}"
        );
    }

    // One without a copy blocks.
    let (project, store) = guarded();
    let command = guard(json!({"command": "exit 0"}));
    project.write(SETTINGS, &command);
    let hooks = parse(&command, HookSource::Project, None).hooks;
    store.grant(&project.path(), &hooks).unwrap();
    project.write(SETTINGS, "{}");
    let (blocks, reason, _) = verdict(&with_store(&project, &store), "edit").await;
    assert!(blocks && reason.contains("not in the settings"), "{reason}");

    // Also for who works in a directory below.
    let (project, store) = guarded();
    std::fs::remove_file(project.path().join(SETTINGS)).unwrap();
    project.write("below/file", "");
    let builder = HookSystem::builder(project.path().join("below")).native_settings(None);
    let system = builder.trust(TrustPolicy::Store(store)).build().unwrap();
    let (_, _, warnings) = verdict(&system, "edit").await;
    assert!(warnings.iter().any(|it| it.contains("its removal with `hook trust")), "{warnings:?}");
}

#[tokio::test]
async fn fault_38_where_the_settings_of_a_trusted_guard_are_broken_its_events_block() {
    let (project, store) = guarded();
    for broken in ["", "{", "[]", r#"{"hooks": 7}"#, r#"{"hooks": {"BeforeTool": {}}}"#] {
        project.write(SETTINGS, broken);
        let system = with_store(&project, &store);
        let (blocks, reason, _) = verdict(&system, "edit").await;
        assert!(blocks, "{broken}");
        assert!(reason.contains("which has errors") && reason.contains("guard"), "{reason}");
        assert!(!verdict(&system, "read").await.0, "{broken}");
    }
    store.revoke(&project.path()).unwrap();
    assert!(!verdict(&with_store(&project, &store), "edit").await.0);
}

#[tokio::test]
async fn fault_85_a_trusted_guard_whose_folder_is_gone_guards_on_until_its_trust_is_taken_back() {
    let project = Project::new();
    let settings = guard(json!({"command": ".hooks/guard.sh", "timeout": 9000, "env": {"A": "1"}}));
    project.write(SETTINGS, &settings);
    let script = project.write(".hooks/guard.sh", "#!/bin/sh\n[ $A = 1 ] && exit 2\n");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let store = TrustStore::new(project.home().join("trust.json"));
    let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
    store.grant(&project.path(), &hooks).unwrap();
    std::fs::remove_dir_all(project.path().join(".hooks")).unwrap();
    let (blocks, reason, warnings) = verdict(&with_store(&project, &store), "edit").await;
    assert!(blocks && !reason.contains("trust"), "{reason}");
    let gone =
        warnings.iter().filter(|it| it.contains("runs on from its") && it.contains("its removal"));
    assert_eq!(gone.count(), 1, "{warnings:?}");
    assert!(!verdict(&with_store(&project, &store), "read").await.0, "the matcher holds");
    store.revoke(&project.path()).unwrap();
    let after = verdict(&with_store(&project, &store), "edit").await;
    assert_eq!(after, (false, String::new(), vec![]));
}

/// A hook is told the last of several values, and an agent may act on the first.
#[test]
fn what_is_no_request_is_refused_as_the_guards_of_its_event_want_at_every_door() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "guard", "failBehavior": "block", "command": "cat >> told"}]}]}}));
    let twice = r#"{"tool_name":"rm","tool_input":{},"tool_name":"ls"}"#;
    let context =
        r#"{"tool_name":"t","tool_input":{},"mcp_context":{"server_name":"a","server_name":"b"}}"#;
    let message = |input: &str, more: &str| {
        format!(
            r#"{{"type":"hook-execution-request","eventName":"BeforeTool","input":{input},"correlationId":"c"{more}}}"#
        )
    };
    let good = r#"{"tool_name":"ls","tool_input":{}}"#;
    let lines = [
        (message(twice, ""), "invalid_payload", "`tool_name`: expected one value, found several"),
        (message(context, ""), "invalid_payload", "`mcp_context.server_name`: expected one value"),
        (message(good, r#","input":{}"#), "invalid_request", "`input`: expected one value"),
        (message(good, r#","payload":{}"#), "invalid_request", "`input`: expected one value"),
        (
            message(good, r#","event\u004eame":"BeforeTool""#),
            "invalid_request",
            "`eventName`: expected one value",
        ),
        // Another reader may take the first, which has a guard.
        (
            message(good, r#","eventName":"AfterTool""#),
            "invalid_request",
            "`eventName`: expected one value",
        ),
        (message(good, r#","type":"hook-subscribe""#), "invalid_request", "`type`: expected one"),
        (message(good, r#","typ\u0065":"hook-cancel""#), "invalid_request", "`type`: expected one"),
        (
            message(good, "").replace("execution-request", "exec-request"),
            "invalid_request",
            "hook-exec-request",
        ),
    ];
    let text: String = lines.iter().map(|(line, ..)| format!("{line}\n")).collect();
    let assert_refused = |responses: &[Value]| {
        assert_eq!(responses.len(), lines.len());
        for (response, (line, code, says)) in responses.iter().zip(&lines) {
            assert_eq!(response["error"]["code"], *code, "{line}: {response}");
            assert!(response["error"]["message"].as_str().unwrap().contains(says), "{response}");
            assert_eq!(response["processed"]["decision"], "block", "{line}: {response}");
            assert_eq!(response["correlationId"], "c", "{line}");
        }
    };
    let run = Hook::new(&project, &["run", "--settings=settings.json", "-"]).stdin(text.clone());
    assert_refused(&run.run().lines());
    let serve = ["serve", "--stdio", "--settings=settings.json"];
    let mut served = Hook::new(&project, &serve).stdin(text).run().lines();
    assert_eq!(served.remove(0)["type"], "hook-hello");
    // They are answered in any order.
    let place = |response: &Value| {
        lines.iter().position(|(.., says)| {
            response["error"]["message"].as_str().is_some_and(|message| message.contains(says))
        })
    };
    served.sort_by_key(place);
    assert_refused(&served);
    let fire = ["fire", "BeforeTool", "--settings=settings.json", "--json", "--input", twice];
    let fired = Hook::new(&project, &fire).run();
    assert_eq!(fired.status, 2, "{}", fired.stdout);
    assert_eq!(fired.lines()[0]["error"]["code"], "invalid_payload");
    project.write(
        "twice.toml",
        &format!(
            "[[test]]\nname = 'twice'\nmessage = '{}'\nexpect.error = 'invalid_payload'\n",
            message(twice, "")
        ),
    );
    let tested = Hook::new(&project, &["test", "--settings=settings.json", "twice.toml"]).run();
    assert_eq!(tested.status, 0, "{}", tested.stdout);
    assert!(!project.path().join("told").exists(), "no hook was asked");
}

/// A guard that its author wrote under another agent's name for the event, or under a misspelt one.
#[test]
fn fault_51_a_guard_under_a_name_that_is_no_event_blocks_what_is_meant() {
    for (name, blocks) in [("PreToolUse", true), ("BeforeTol", true), ("Zebra", false)] {
        let project = Project::new();
        let folder = project.home().join(".config/hooks");
        std::fs::create_dir_all(&folder).unwrap();
        let hooks = json!([{"matcher": "run_shell_command", "hooks": [
            {"type": "command", "command": "exit 0", "failBehavior": "block"}]}]);
        std::fs::write(folder.join("settings.json"), json!({"hooks": {name: hooks}}).to_string())
            .unwrap();
        let cwd = project.path();
        let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": cwd,
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "1",
            "tool_input": {"command": "ls"}});
        let asked = Hook::new(&project, &["bridge", "claude"]).stdin(input.to_string()).run();
        assert_eq!(asked.stdout.contains("deny"), blocks, "{name} {asked:?}");
        if blocks {
            assert!(asked.stdout.contains("write `BeforeTool`"), "{asked:?}");
        }
        let other = json!({"tool_name": "read_file", "tool_input": {}}).to_string();
        let fire = ["fire", "BeforeTool", "--json", "--input", &other];
        let response = &Hook::new(&project, &fire).run().lines()[0];
        assert_eq!(response["processed"]["decision"], "proceed", "{name} {response}");
    }
}

/// In its own agent it would be no answer; a guard of ours is not taken to have had no objections.
#[test]
fn fault_56_broken_json_of_a_foreign_guard_is_no_consent() {
    for (printed, blocks) in [
        (r#"{"decision":"deny","#, true),
        (r#"{decision:"deny"}"#, true),
        ("{}", false),
        ("ok", false),
    ] {
        for (behavior, blocks) in [("block", blocks), ("continue", false)] {
            let project = Project::new();
            project.write("printed", printed);
            let command = format!("cat '{}'", project.path().join("printed").display());
            let folder = project.home().join(".config/hooks");
            std::fs::create_dir_all(&folder).unwrap();
            let hooks = json!([{"language": "claude", "hooks": [
                {"type": "command", "command": command, "failBehavior": behavior}]}]);
            let settings = json!({"hooks": {"PreToolUse": hooks}}).to_string();
            std::fs::write(folder.join("settings.json"), settings).unwrap();
            let input = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
            let fire = ["fire", "BeforeTool", "--json", "--input", &input.to_string()];
            let response = &Hook::new(&project, &fire).run().lines()[0];
            let decision = if blocks { "block" } else { "proceed" };
            assert_eq!(response["processed"]["decision"], decision, "{printed} {response}");
        }
    }
}
