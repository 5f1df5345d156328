//! What commands show of groups, of hooks that were not started, of retries and of declared events.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

const SETTINGS: &str = "--settings=settings.json";

/// A hook of a priority that answers so.
fn hook(name: &str, priority: i32, answer: &Value) -> Value {
    json!({"type": "command", "name": name, "priority": priority,
        "command": format!("echo '{answer}'")})
}

/// Four priorities of BeforeTool, the first of which asks for a retry where the tool is a shell.
fn project() -> Project {
    let busy = json!({"decision": "retry", "retryAfterMs": 250, "reason": "busy"});
    let nothing = json!({});
    let deploy = json!({"matching": {"exact": "environment"}, "blockMeans": "it is rolled back"});
    Project::with_settings(&json!({
    "hooksConfig": {"events": {"UnitDeployed": deploy, "AnyTime": {"merge": "observe"}}},
    "hooks": {
        "UnitDeployed": [{"matcher": "production", "hooks": [hook("page", 100, &nothing)]}],
        "AnyTime": [{"hooks": [hook("note", 100, &nothing), hook("later", 101, &nothing)]}],
        "BeforeTool": [
            {"hooks": [hook("last", 200, &nothing)]},
            {"hooks": [hook("usual", 100, &nothing), hook("other", 100, &nothing)]},
            {"sequential": true, "hooks": [hook("one", 50, &nothing), hook("two", 50, &nothing)]},
            {"matcher": "shell", "hooks": [hook("busy", 10, &busy)]},
        ],
        "AfterTool": [{"hooks": [hook("tidy", 100, &nothing), hook("log", 100, &nothing)]},
            {"matcher": "x", "sequential": true, "hooks": [hook("slow", 100, &nothing)]}],
        "PermissionRequest": [{"hooks": [hook("allow", 100, &json!({"decision": "allow"}))]}],
    }}))
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, &[arguments, &[SETTINGS]].concat()).run()
}

#[test]
fn a_list_has_priorities_where_they_matter_and_says_what_declared_events_are() {
    let project = project();
    insta::assert_snapshot!(run(&project, &["list"]).shown(&project), @"
    status: 0
    ----- stdout -----
    BeforeTool
      priority 10
      ✓ busy   shell       explicit settings.json:1:884
      priority 50, one after the other
      ✓ one    *           explicit settings.json:1:718
      ✓ two    *           explicit settings.json:1:786
      priority 100
      ✓ usual  *           explicit settings.json:1:546
      ✓ other  *           explicit settings.json:1:617
      priority 200
      ✓ last   *           explicit settings.json:1:464
    AfterTool
      one after the other where `slow` is among them
      ✓ tidy   *           explicit settings.json:1:1042
      ✓ log    *           explicit settings.json:1:1112
      ✓ slow   x           explicit settings.json:1:1225
    PermissionRequest
      ✓ allow  *           explicit settings.json:1:1329
    UnitDeployed  declared; matchers are compared with environment, exactly; a block means: it is rolled back
      ✓ page   production  explicit settings.json:1:202
    AnyTime  declared; a block means nothing
      priority 100
      ✓ note   *           explicit settings.json:1:296
      priority 101
      ✓ later  *           explicit settings.json:1:366
    ----- stderr -----
    ");
    let names: Vec<Value> = run(&project, &["list", "--event=BeforeTool", "--json"])
        .lines()
        .iter()
        .map(|line| json!([line["name"], line["priority"]]))
        .collect();
    let in_run_order = [("busy", 10), ("one", 50), ("two", 50), ("usual", 100), ("other", 100)];
    let in_run_order = in_run_order.into_iter().chain([("last", 200)]);
    assert_eq!(names, in_run_order.map(|it| json!(it)).collect::<Vec<_>>());
}

#[test]
fn an_explanation_has_groups_and_what_ends_them() {
    let project = project();
    let explain = ["explain", "BeforeTool", "--tool", "read"];
    insta::assert_snapshot!(run(&project, &explain).shown(&project), @"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name read
      priority 10, of which none runs
      -    busy   shell  explicit settings.json:1:884
          its matcher `shell` does not match the tool_name `read`
      priority 50, one after the other
      ✓ 1  one    *      explicit settings.json:1:718
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      ✓ 2  two    *      explicit settings.json:1:786
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      priority 100, all at once
      ✓ 3  usual  *      explicit settings.json:1:546
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      ✓ 4  other  *      explicit settings.json:1:617
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      priority 200
      ✓ 5  last   *      explicit settings.json:1:464
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on

    5 of 6 run, one priority after the other
    a block, a retry or a stop keeps later priorities from starting; skipRemaining does, except for guards and hooks that are trusted more
    7 hooks listen to other events; --all lists them
    ----- stderr -----
    ");
    let groups: Vec<Value> = run(&project, &[&explain[..], &["--json"]].concat())
        .lines()
        .iter()
        .map(|line| json!([line["name"], line["position"], line["group"], line["mode"]]))
        .collect();
    assert_eq!(
        groups,
        [
            json!(["busy", null, null, null]),
            json!(["one", 1, 1, "sequential"]),
            json!(["two", 2, 2, "sequential"]),
            json!(["usual", 3, 3, "parallel"]),
            json!(["other", 4, 3, "parallel"]),
            json!(["last", 5, 4, "parallel"]),
        ]
    );
    let observed = run(&project, &["explain", "AnyTime"]).stdout;
    let last = observed.lines().rev().nth(1).unwrap();
    assert!(last.starts_with("later priorities start when earlier ones are done; "), "{observed}");
}

#[test]
fn a_fired_event_shows_a_retry_with_its_time_and_what_was_not_started() {
    let project = project();
    let fired = run(&project, &["fire", "BeforeTool", "--tool=shell"]);
    insta::assert_snapshot!(fired.shown(&project).replace("[TIME]", "T"), @r#"
    status: 2
    ----- stdout -----
    retry  BeforeTool shell
      reason: busy
      try again: after T

      ↻ busy  retry  exit 0  explicit  T
          stdout   {"decision":"retry","retryAfterMs":250,"reason":"busy"}
      - one    not started, because of `busy`
      - two    not started, because of `busy`
      - usual  not started, because of `busy`
      - other  not started, because of `busy`
      - last   not started, because of `busy`

    1 hook in T; 5 not started
    ----- stderr -----
    note: a sample was used as the input; --show-input shows it, --input gives another
    "#);
    let granted = run(&project, &["fire", "PermissionRequest"]);
    assert!(granted.stdout.contains("\n  granted: yes"), "{}", granted.stdout);
}

const SCENARIO: &str = r#"[[test]]
name = "a shell is asked about again"
event = "BeforeTool"
input = { tool_name = "shell", tool_input = {} }

[test.expect]
decision = "retry"
retryAfterMs = 250
hooks = ["busy"]
notStarted = ["one", "two", "usual", "other", "last"]
granted = false

[[test]]
name = "tests may be run"
event = "PermissionRequest"
input = { tool_name = "shell", tool_input = {} }
expect = { decision = "proceed", granted = true, notStarted = [] }
"#;

#[test]
fn scenarios_expect_retries_grants_and_what_is_not_started() {
    let project = project();
    project.write("good.toml", SCENARIO);
    let passed = run(&project, &["test", "good.toml"]);
    assert_eq!(passed.status, 0, "{}", passed.stdout);
    for (right, wrong, path) in [
        ("= 250", "= 251", "processed.retryAfterMs"),
        ("\"one\", ", "", "notStarted"),
        ("granted = false", "granted = true", "processed.granted"),
        ("granted = true", "granted = false", "processed.granted"),
        ("notStarted = []", "notStarted = [\"x\"]", "notStarted"),
    ] {
        project.write("bad.toml", &SCENARIO.replace(right, wrong));
        let failed = run(&project, &["test", "bad.toml", "--json"]);
        let lines = failed.lines();
        let wrong: Vec<&Value> =
            lines.iter().flat_map(|line| line["mismatches"].as_array().unwrap()).collect();
        assert_eq!((failed.status, wrong.len()), (1, 1), "{path}: {wrong:?}");
        assert_eq!(wrong[0]["path"], path);
        // What was found is written as it was expected before.
        assert_eq!(run(&project, &["test", "bad.toml", "--update"]).status, 0, "{path}");
        assert_eq!(project.read("bad.toml"), SCENARIO, "{path}");
    }
    project.write("odd.toml", &SCENARIO.replace("= 250", "= nan"));
    assert_eq!(run(&project, &["test", "odd.toml"]).status, 1);
}

#[test]
fn an_update_writes_retries_grants_and_what_is_not_started() {
    let project = project();
    let bare = |event: &str| {
        format!(
            "[[test]]\nname = \"{event}\"\nevent = \"{event}\"\n\
            input = {{ tool_name = \"shell\", tool_input = {{}} }}\n\n"
        )
    };
    project.write("new.toml", &(bare("BeforeTool") + &bare("PermissionRequest")));
    let updated = run(&project, &["test", "new.toml", "--update"]);
    assert_eq!(updated.status, 0, "{}", updated.stdout);
    insta::assert_snapshot!(project.read("new.toml"), @r#"
    [[test]]
    name = "BeforeTool"
    event = "BeforeTool"
    input = { tool_name = "shell", tool_input = {} }
    expect = { decision = "retry", hooks = ["busy"], notStarted = ["one", "two", "usual", "other", "last"], retryAfterMs = 250, reason = "busy" }

    [[test]]
    name = "PermissionRequest"
    event = "PermissionRequest"
    input = { tool_name = "shell", tool_input = {} }
    expect = { decision = "proceed", hooks = ["allow"], granted = true }
    "#);
    assert_eq!(run(&project, &["test", "new.toml"]).status, 0);
}

/// What a server records of a shell and of another tool.
fn recorded(project: &Project) {
    let request = |tool: &str| {
        let input = json!({"tool_name": tool, "tool_input": {}});
        json!({"type": "hook-execution-request", "eventName": "BeforeTool", "input": input,
            "correlationId": tool, "deadlineMs": 60_000})
    };
    let script = format!("{}\n{}\n", request("shell"), request("read"));
    let serve = ["serve", "--stdio", "--record", "session.hookrec"];
    let served = Hook::new(project, &[&serve[..], &[SETTINGS]].concat()).stdin(script).run();
    assert_eq!((served.status, served.stderr.as_str()), (0, ""));
}

/// The lines of a trace that are about requests and hooks, in an order that does not hang on which
/// of both requests came first, without times and bars.
fn waterfall(text: &str) -> Vec<String> {
    let waterfall = text.split("\n\n").next().unwrap_or_default();
    let pattern = fancy_regex::Regex::new(r"^ *\+[\d.]+ s|[\d.]+ (µs|ms|s)|[▏▎▍▌▋▊▉█▐▕─]").unwrap();
    let shown = |line: &str| pattern.replace_all(line, "").trim_end().to_owned();
    waterfall.lines().skip(2).map(shown).collect()
}

#[test]
fn a_trace_has_groups_retries_and_what_was_not_started() {
    let project = project();
    recorded(&project);
    let trace = |arguments: &[&str]| {
        let all = [&["trace", "session.hookrec"], arguments].concat();
        Hook::new(&project, &all).env("COLUMNS", "100").run()
    };
    let lines = trace(&["--json"]).lines();
    let of_tool = |tool: &str| lines.iter().find(|line| line["subject"] == tool).unwrap();
    let shell = of_tool("shell");
    assert_eq!((&shell["outcome"], &shell["retryAfterMs"]), (&json!("retry"), &json!(250)));
    assert_eq!(shell["hooks"][0]["group"], Value::Null, "there is one group");
    assert_eq!(shell["notStarted"][4], json!({"name": "last", "endedBy": "busy"}));
    let groups: Vec<Value> = of_tool("read")["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| json!([hook["name"], hook["group"], hook["priority"]]))
        .collect();
    let expected = [("one", 1, 50), ("two", 2, 50), ("usual", 3, 100), ("other", 3, 100)];
    let expected = expected.into_iter().chain([("last", 4, 200)]);
    assert_eq!(groups, expected.map(|it| json!(it)).collect::<Vec<_>>());

    let text = waterfall(&trace(&[]).stdout);
    let at = text.iter().position(|line| line.contains("BeforeTool shell")).unwrap();
    insta::assert_snapshot!(text[at..].iter().take(9).cloned().collect::<Vec<_>>().join("\n"), @"
    BeforeTool shell ↻ retry
                  busy
                  to be tried again after
                busy           ↻ retry
                one            - not started, because of busy
                two            - not started, because of busy
                usual          - not started, because of busy
                other          - not started, because of busy
                last           - not started, because of busy
    ");
    let at = text.iter().position(|line| line.contains("BeforeTool read")).unwrap();
    insta::assert_snapshot!(text[at..].iter().take(6).cloned().collect::<Vec<_>>().join("\n"), @"
    BeforeTool read  ✓ proceed
     group 1    one            ✓ exit 0
     group 2    two            ✓ exit 0
     group 3    usual          ✓ exit 0
                other          ✓ exit 0
     group 4    last           ✓ exit 0
    ");

    let replayed = run(&project, &["replay", "session.hookrec"]);
    assert_eq!(replayed.status, 0, "{}", replayed.stdout);
    let settings = project.read("settings.json");
    project.write(
        "settings.json",
        &settings.replace("250", "300").replace("\"name\":\"one\"", "\"name\":\"uno\""),
    );
    let changed = run(&project, &["replay", "session.hookrec"]).stdout;
    let of_shell = changed.split("changed ").find(|part| part.contains("shell")).unwrap();
    insta::assert_snapshot!(of_shell.split("\n2 requests").next().unwrap(), @"
    BeforeTool shell shell
      retryAfterMs
        - 250
        + 300
      notStarted[one].endedBy
        - busy
        + (nothing)
      notStarted[uno].endedBy
        - (nothing)
        + busy
    ");
}

#[test]
fn groups_that_a_recording_cannot_mean_are_left_out() {
    let hook = super::recorded::hook("one", 0, 1.0, "");
    for groups in [
        json!(7),
        json!([{"priority": "x", "hooks": 1}]),
        json!([{"priority": 1, "hooks": -1}]),
        json!([{"priority": 1e99, "hooks": 1}]),
        json!([null, {"hooks": 4_000_000_000_u64}]),
    ] {
        let recording = super::recorded::Recorded::new().request(0, 1, "AgentStart", &json!({}));
        let recording = recording.decided(
            9,
            1,
            "AgentStart",
            ("proceed", Value::Null),
            std::slice::from_ref(&hook),
        );
        let text = recording.text();
        let mut lines: Vec<&str> = text.lines().collect();
        let mut last: Value = serde_json::from_str(lines.pop().unwrap()).unwrap();
        last["groups"] = groups.clone();
        let last = last.to_string();
        lines.push(&last);
        let project = Project::new();
        project.write("session.hookrec", &(lines.join("\n") + "\n"));
        let traced = Hook::new(&project, &["trace", "session.hookrec", "--json"]).run();
        assert_eq!((traced.status, traced.stderr.as_str()), (0, ""), "{groups}");
        assert_eq!(traced.lines()[0]["hooks"][0]["group"], Value::Null, "{groups}");
    }
}

#[test]
fn a_declared_event_has_a_schema_where_settings_declare_it() {
    let project = project();
    let schema: Value =
        serde_json::from_str(&run(&project, &["schema", "UnitDeployed"]).stdout).unwrap();
    let input = &schema["$defs"]["UnitDeployedInput"];
    assert_eq!(input["properties"]["environment"]["type"], "string");
    assert!(input["required"].as_array().unwrap().contains(&json!("environment")), "{input}");
    let unknown = Hook::new(&project, &["schema", "UnitDeployed"]).run();
    assert_eq!(unknown.status, 64, "nothing declares it here: {}", unknown.stdout);
    let misspelt = run(&project, &["schema", "UnitDeployd"]);
    assert!(misspelt.stderr.contains("did you mean UnitDeployed?"), "{}", misspelt.stderr);
}

#[test]
fn nothing_is_said_of_priorities_without_effect_and_of_declared_events_without_hooks() {
    let project = Project::with_settings(&json!({
        "hooksConfig": {"events": {"UnitDeployed": {}}},
        "hooks": {"AgentStart": [{"sequential": true, "hooks": [
            {"type": "command", "command": "true", "priority": 7}]}]}}));
    let checked = run(&project, &["check"]);
    assert_eq!((checked.status, checked.stderr.as_str()), (0, ""), "{}", checked.stdout);
    assert!(!checked.stdout.contains("warning"), "{}", checked.stdout);
}
