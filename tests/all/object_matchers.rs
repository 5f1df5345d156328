//! Matchers that are objects: tools, paths and commands of the input (reference/events.md).

use std::time::{Duration, Instant};

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_json::RawObject;
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::parse;
use hook_settings::{FailBehavior, HookSource, MatcherFields};
use hook_tests::{Hook, Project, fields};
use hook_trust::{TrustPolicy, TrustStore};
use serde_json::{Value, json};

const SETTINGS: &str = ".hooks/settings.json";

/// Settings with one hook of BeforeTool, which denies.
fn guard(matcher: &Value, fail_behavior: &str) -> Value {
    json!({"hooks": {"BeforeTool": [{"matcher": matcher, "hooks": [denying("guard", fail_behavior)]}]}})
}

fn denying(name: &str, fail_behavior: &str) -> Value {
    json!({"type": "command", "name": name, "failBehavior": fail_behavior,
        "command": "echo 'refused' >&2; exit 2"})
}

async fn call(system: &HookSystem, tool: &str, tool_input: Value) -> HookExecutionResponse {
    fire(system, "BeforeTool", json!({"tool_name": tool, "tool_input": tool_input})).await
}

async fn fire(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    system.bus().request(HookExecutionRequest::new(event, fields(input))).await
}

fn blocks(response: &HookExecutionResponse) -> bool {
    response.processed.is_blocking_decision()
}

fn warned(response: &HookExecutionResponse, word: &str) -> usize {
    response.processed.warnings.iter().filter(|warning| warning.contains(word)).count()
}

#[tokio::test]
async fn a_matcher_asks_for_tools_paths_and_commands_at_once() {
    let matcher = json!({"tool": ["write", "edit"], "toolPattern": "^[we]",
        "pathPattern": ["*.env", "/etc/**"], "commandPattern": "\\brm\\b"});
    let project = Project::with_settings(&guard(&matcher, "continue"));
    let system = project.system();
    for (tool, input, matches) in [
        ("write", json!({"path": ".env", "command": "rm x"}), true),
        (
            "edit",
            json!({"edits": [{"file_path": "../../../../../../../etc/x"}], "cmd": ["sh", "-c", "rm x"]}),
            true,
        ),
        ("read", json!({"path": ".env", "command": "rm x"}), false),
        ("write", json!({"path": "env", "command": "rm x"}), false),
        ("write", json!({"path": ".env", "command": "alarm"}), false),
        ("write", json!({"path": ".env"}), false),
        ("write", json!({}), false),
        ("write", json!({"command": "rm <<E\n*** Update File: a/.env\nE"}), true),
    ] {
        let response = call(&system, tool, input.clone()).await;
        assert_eq!(blocks(&response), matches, "{tool} {input}");
        assert_eq!(response.processed.warnings, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_hook_under_two_matchers_runs_once_where_either_matches() {
    let hook = denying("guard", "continue");
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": {"pathPattern": "*.env"}, "hooks": [hook]},
        {"matcher": {"pathPattern": "*.key"}, "hooks": [hook]},
        {"matcher": "shell", "hooks": [hook]},
    ]}}));
    let system = project.system();
    for (tool, input, times) in [
        ("edit", json!({"path": "a.env"}), 1),
        ("edit", json!({"path": "a.key"}), 1),
        ("edit", json!({"paths": ["a.key", "b.env"]}), 1),
        ("edit", json!({"path": "a"}), 0),
        ("shell", json!({"path": "a"}), 1),
    ] {
        assert_eq!(call(&system, tool, input.clone()).await.hooks.len(), times, "{tool} {input}");
    }
}

#[tokio::test]
async fn a_path_or_command_that_is_no_string_counts_as_a_match() {
    for (key, input, said) in [
        ("pathPattern", json!({"path": {"a": "b"}}), "`path` of the input is not a string"),
        ("commandPattern", json!({"command": 7}), "`command` of the input is not a string"),
    ] {
        let project = Project::with_settings(&guard(&json!({key: "x"}), "continue"));
        let response = call(&project.system(), "edit", input).await;
        assert!(blocks(&response), "{key}");
        assert_eq!(warned(&response, said), 1, "{key}: {:?}", response.processed.warnings);
    }
}

#[tokio::test]
async fn a_guard_whose_matcher_cannot_be_used_is_asked_about_everything() {
    for (matcher, said) in [
        (json!({"pathPattern": "[a"}), "`pathPattern` `[a` cannot be used"),
        (json!({"pathPattern": ["a", "b/"]}), "`pathPattern` `b/` cannot be used"),
        (json!({"toolPattern": "("}), "`toolPattern` `(` is not a regular expression"),
        (json!({"tool": "x", "commandPattern": "["}), "`commandPattern` `[` is not a regular"),
        (json!({"tool": "write|edit"}), "`tool` `write|edit` matches no tool"),
        (json!({"tool": "x", "path": "y"}), "cannot be read"),
        (json!({"tool": 7}), "cannot be read"),
        (json!({"tool": []}), "cannot be read"),
        (json!(["x"]), "cannot be read"),
        (json!(7), "cannot be read"),
    ] {
        for behavior in ["block", "continue"] {
            let project = Project::with_settings(&guard(&matcher, behavior));
            let system = project.system();
            let response = call(&system, "other", json!({"path": "other"})).await;
            let guards = behavior == "block";
            assert_eq!(blocks(&response), guards, "{matcher} {behavior}");
            let warnings = &response.processed.warnings;
            assert!(!warnings.is_empty(), "{matcher} {behavior}");
            if guards {
                assert_eq!(warned(&response, said), 1, "{matcher}: {warnings:?}");
                let everything = "runs for everything, since its failBehavior is block";
                assert_eq!(warned(&response, everything), 1, "{matcher}: {warnings:?}");
            }
        }
    }
    // Also where there is nothing that a matcher is compared with.
    for (behavior, runs) in [("block", 1), ("continue", 0)] {
        let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [
            {"matcher": {"pathPattern": "["}, "hooks": [denying("guard", behavior)]}]}}));
        let response = fire(&project.system(), "BeforeAgent", json!({"prompt": "p"})).await;
        assert_eq!(response.hooks.len(), runs, "{behavior}");
        assert_eq!(warned(&response, "cannot be used"), 1, "{behavior}");
    }
    // A matcher for a tool, of an event that is about none.
    let hooks = [denying("guard", "block")];
    let project = Project::with_settings(&json!({"hooks": {"SessionStart": [
        {"matcher": {"tool": "edit"}, "hooks": hooks}]}}));
    let response = fire(&project.system(), "SessionStart", json!({"source": "startup"})).await;
    assert!(blocks(&response));
    assert_eq!(warned(&response, "the event is about no tool"), 1);
}

#[tokio::test]
async fn relative_paths_begin_where_the_request_says() {
    let project = Project::with_settings(&guard(&json!({"pathPattern": "!src/**"}), "continue"));
    let system = project.system();
    let root = project.path().to_string_lossy().into_owned();
    for (cwd, path, outside) in [
        (json!(null), "src/a".to_owned(), false),
        (json!(null), "src/../../a".to_owned(), true),
        (json!(null), format!("{root}/src/a"), false),
        (json!(""), format!("{root}/src/a"), false),
        // From the project on, whatever folder of it the agent works in.
        (json!("sub"), format!("{root}/src/a"), false),
        (json!("sub"), format!("{root}/sub/src/a"), true),
        (json!("./sub/.."), "src/a".to_owned(), false),
        (json!("/other"), "src/a".to_owned(), false),
        (json!("/other"), "../other/src/a".to_owned(), false),
        (json!("/other"), format!("{root}/src/a"), true),
    ] {
        let mut input = json!({"tool_name": "edit", "tool_input": {"path": path}});
        if !cwd.is_null() {
            input["cwd"] = cwd.clone();
        }
        let response = fire(&system, "BeforeTool", input).await;
        assert_eq!(blocks(&response), outside, "{path} from {cwd}");
    }
}

#[tokio::test]
async fn an_event_without_a_tool_is_looked_at_as_a_whole() {
    let hooks = [denying("guard", "continue")];
    let definition = |matcher: Value| json!([{"matcher": matcher, "hooks": hooks}]);
    let project = Project::with_settings(&json!({"hooks": {
        "Notification": definition(json!({"pathPattern": "*.env"})),
        "BeforeAgent": definition(json!({"commandPattern": "^deploy"})),
    }}));
    let system = project.system();
    for (event, input, runs) in [
        ("Notification", json!({"message": "m", "details": {"file_path": "a.env"}}), 1),
        ("Notification", json!({"message": "m"}), 0),
        ("BeforeAgent", json!({"prompt": "p", "command": "deploy now"}), 1),
        ("BeforeAgent", json!({"prompt": "deploy"}), 0),
    ] {
        assert_eq!(fire(&system, event, input.clone()).await.hooks.len(), runs, "{event} {input}");
    }
}

#[tokio::test]
async fn functions_of_the_host_have_matchers_of_both_forms() {
    let handler = |name: &str| {
        HandlerHook::inline(HookEventName::BeforeTool, name, |_| Ok(Some(HookOutput::deny("no"))))
    };
    let system = HookSystem::builder("/")
        .handler(handler("text").matcher("^shell$"))
        .handler(handler("object").matcher(MatcherFields::new().tool("edit").path("*.env")))
        .handler(
            handler("broken")
                .matcher(MatcherFields::new().path("[x").command_pattern("x"))
                .fail_behavior(FailBehavior::Block),
        )
        .build()
        .unwrap();
    let names = |response: &HookExecutionResponse| -> Vec<String> {
        response.hooks.iter().map(|it| it.hook.display_name().to_owned()).collect()
    };
    let response = call(&system, "edit", json!({"path": "x/.env"})).await;
    assert_eq!(names(&response), ["object", "broken"]);
    assert_eq!(names(&call(&system, "shell", json!({})).await), ["text", "broken"]);
    assert_eq!(warned(&response, "`pathPattern` `[x` cannot be used"), 1);
}

#[tokio::test]
async fn a_guard_that_only_the_changed_input_matches_is_asked_about_it() {
    for sequential in [true, false] {
        for (behavior, asked) in [("block", true), ("continue", false)] {
            let change = r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b/.env"}}}'"#;
            let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
                {"sequential": sequential, "hooks": [{"type": "command", "name": "change", "command": change}]},
                {"matcher": {"pathPattern": "*.env"}, "hooks": [denying("guard", behavior)]},
            ]}}));
            let response = call(&project.system(), "edit", json!({"path": "a"})).await;
            assert_eq!(blocks(&response), asked, "{behavior}, sequential: {sequential}");
            assert_eq!(response.hooks.len(), if asked { 2 } else { 1 });
        }
    }
    // A guard that changes nothing more, and one that is too late to change anything.
    let change = r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b/.env"}}}'"#;
    let late = r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"elsewhere"}}}'"#;
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"hooks": [{"type": "command", "name": "change", "command": change}]},
        {"matcher": {"pathPattern": "*.env"}, "hooks": [
            {"type": "command", "name": "late", "failBehavior": "block", "command": late}]},
    ]}}));
    let response = call(&project.system(), "edit", json!({"path": "a"})).await;
    assert!(!blocks(&response));
    assert_eq!(warned(&response, "that change of `tool_input` was not applied"), 1);
    let output = response.processed.aggregated.final_output.as_ref().unwrap();
    let specific = output.hook_specific_output.as_ref().unwrap();
    assert_eq!(specific.get("tool_input").unwrap().as_str(), r#"{"path":"b/.env"}"#);
}

#[tokio::test]
async fn a_late_guard_that_does_not_answer_in_time_blocks() {
    let change = r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b/.env"}}}'"#;
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"hooks": [{"type": "command", "name": "change", "command": change}]},
        {"matcher": {"pathPattern": "*.env"}, "hooks": [
            {"type": "command", "name": "late", "failBehavior": "block", "command": "sleep 1000"}]},
    ]}}));
    let system = HookSystem::builder(project.path())
        .native_settings(None)
        .settings(hook_settings::SettingsSource::explicit(project.path().join("settings.json")))
        .deadline(Duration::from_secs(3))
        .build()
        .unwrap();
    let response = call(&system, "edit", json!({"path": "a"})).await;
    assert!(response.error().is_some());
    assert!(blocks(&response), "{:?}", response.processed);
    system.kill();
    system.clean_up().await;
}

#[tokio::test]
async fn trust_covers_the_whole_object() {
    let before = json!({"tool": "edit", "pathPattern": ["*.env", "*.key"]});
    let changes = [
        json!({"tool": "edit", "pathPattern": ["*.env"]}),
        json!({"tool": "edit", "pathPattern": ["*.env", "*.key", "*.x"]}),
        json!({"tool": ["edit", "write"], "pathPattern": ["*.env", "*.key"]}),
        json!({"tool": "edit", "pathPattern": ["*.env", "*.key"], "commandPattern": "a"}),
        json!({"pathPattern": ["*.env", "*.key"]}),
        json!({"tool": "edit", "pathPattern": []}),
        json!("edit"),
        json!(r#"{"tool":"edit","pathPattern":["*.env","*.key"]}"#),
        Value::Null,
    ];
    let project = Project::new();
    let write = |matcher: &Value| project.write(SETTINGS, &guard(matcher, "block").to_string());
    write(&before);
    let store = TrustStore::new(project.home().join("trust.json"));
    let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
    store.grant(&project.path(), &hooks).unwrap();
    let system = || {
        let builder = HookSystem::builder(project.path()).native_settings(None);
        builder.trust(TrustPolicy::Store(store.clone())).build().unwrap()
    };
    let reason =
        |response: &HookExecutionResponse| response.processed.reason.clone().unwrap_or_default();
    let response = call(&system(), "edit", json!({"path": ".env"})).await;
    assert_eq!(reason(&response), "refused");
    // The order of keys, and a list of one, mean the same.
    write(&json!({"pathPattern": ["*.env", "*.key"], "tool": ["edit"]}));
    assert_eq!(reason(&call(&system(), "edit", json!({"path": ".env"})).await), "refused");
    for matcher in changes {
        write(&matcher);
        let system = system();
        // Blocks with the matcher that it was trusted with, and only where that matches.
        let response = call(&system, "edit", json!({"path": "a.key"})).await;
        assert!(blocks(&response), "{matcher}");
        assert!(reason(&response).contains("changed since it was trusted"), "{matcher}");
        for (tool, path) in [("edit", "a"), ("write", "a.key")] {
            let response = call(&system, tool, json!({"path": path})).await;
            assert!(!blocks(&response), "{matcher} {tool} {path}");
        }
    }
}

#[tokio::test]
async fn ten_megabytes_are_no_trouble() {
    let matcher = json!({"pathPattern": ["*.env", "**/x/**"], "commandPattern": "(a|b)*c"});
    let project = Project::with_settings(&guard(&matcher, "block"));
    let system = project.system();
    system.initialize().await.unwrap();
    let list = vec![json!({"path": "a/b", "command": "ab"}); 100_000];
    for input in [
        json!({"path": "a", "content": "*** ".repeat(10 << 18)}),
        json!({"path": "../".repeat(10 << 18), "command": "a".repeat(10 << 20)}),
        json!({"list": list}),
    ] {
        let text = json!({"tool_name": "edit", "tool_input": input}).to_string();
        let input = RawObject::parse(text).unwrap().fields();
        let begun = Instant::now();
        system.bus().request(HookExecutionRequest::new("BeforeTool", input)).await;
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }
}

#[test]
fn the_command_says_which_part_does_not_match() {
    let hook = |name: &str| json!([{"type": "command", "name": name, "command": "exit 2"}]);
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": {"tool": "shell"}, "hooks": hook("tool")},
        {"matcher": {"toolPattern": "^sh"}, "hooks": hook("pattern")},
        {"matcher": {"pathPattern": "*.env"}, "hooks": hook("path")},
        {"matcher": {"pathPattern": ["src/**", "!src/gen/**"]}, "hooks": hook("paths")},
        {"matcher": {"commandPattern": "rm"}, "hooks": hook("command")},
        {"matcher": {"tool": "edit", "pathPattern": "a*"}, "hooks": hook("runs")},
    ]}}));
    let run = |arguments: &[&str]| {
        let input = json!({"tool_name": "edit", "tool_input": {"paths": ["a\u{1b}", "src/gen/b"]}});
        let input = input.to_string();
        let all =
            [arguments, &["BeforeTool", "--settings=settings.json", "--input", &input]].concat();
        Hook::new(&project, &all).run()
    };
    insta::assert_snapshot!(run(&["explain"]).shown(&project), @r#"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name edit
      -    tool     {"tool":"shell"}                          explicit settings.json:1:62
          its tool `shell` does not match: the tool_name is `edit`
      -    pattern  {"toolPattern":"^sh"}                     explicit settings.json:1:158
          its toolPattern `^sh` does not match: the tool_name is `edit`
      -    path     {"pathPattern":"*.env"}                   explicit settings.json:1:259
          its pathPattern `*.env` does not match: the paths are `a\u{1b}`, `src/gen/b`
      -    paths    {"pathPattern":["src/**","!src/gen/**"]}  explicit settings.json:1:374
          its pathPattern `src/**, !src/gen/**` does not match: the paths are `a\u{1b}`, `src/gen/b`
      -    command  {"commandPattern":"rm"}                   explicit settings.json:1:473
          its commandPattern `rm` does not match: the input has no command
      ✓ 1  runs     {"tool":"edit","pathPattern":"a*"}        explicit settings.json:1:585
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on

    1 of 6 runs
    ----- stderr -----
    "#);
    let lines = run(&["explain", "--json"]).lines();
    assert_eq!(lines[2]["matcher"], json!({"pathPattern": "*.env"}));
    let reasons: Vec<&Value> = lines.iter().map(|line| &line["reasons"]).collect();
    assert_eq!(reasons[0][0]["code"], "not_matched");
    assert_eq!(reasons[0][0]["part"], "tool");
    assert_eq!(reasons[0][0]["comparedWith"], json!(["edit"]));
    assert_eq!(reasons[3][0]["part"], "pathPattern");
    assert_eq!(reasons[3][0]["pattern"], "src/**, !src/gen/**");
    assert_eq!(reasons[3][0]["comparedWith"], json!(["a\\u{1b}", "src/gen/b"]));
    assert_eq!(reasons[3][0]["comparedCount"], 2);
    assert_eq!(reasons[4][0]["comparedWith"], json!([]));
    let fired = run(&["fire", "--json"]);
    assert_eq!((fired.status, fired.lines()[0]["hooks"].as_array().unwrap().len()), (2, 1));
    let listed = Hook::new(&project, &["list", "--settings=settings.json"]).run();
    insta::assert_snapshot!(listed.shown(&project), @r#"
    status: 0
    ----- stdout -----
    BeforeTool
      ✓ tool     {"tool":"shell"}                          explicit settings.json:1:62
      ✓ pattern  {"toolPattern":"^sh"}                     explicit settings.json:1:158
      ✓ path     {"pathPattern":"*.env"}                   explicit settings.json:1:259
      ✓ paths    {"pathPattern":["src/**","!src/gen/**"]}  explicit settings.json:1:374
      ✓ command  {"commandPattern":"rm"}                   explicit settings.json:1:473
      ✓ runs     {"tool":"edit","pathPattern":"a*"}        explicit settings.json:1:585
    ----- stderr -----
    "#);
}
