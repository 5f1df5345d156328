//! `hook explain`: which hooks would run, and why each other one would not.

use hook_settings::HookSource;
use hook_tests::{Hook, Project};
use hook_trust::TrustStore;
use serde_json::{Value, json};

fn command(name: &str, command: &str) -> Value {
    json!({"type": "command", "name": name, "command": command})
}

fn write_user_settings(project: &Project, settings: &Value) {
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

fn trust(project: &Project, is_trusted: impl Fn(&str) -> bool) {
    let settings = project.read(".hooks/settings.json");
    let mut entries = hook_settings::parse(&settings, HookSource::Project, None).hooks;
    entries.retain(|entry| entry.name.as_deref().is_some_and(&is_trusted));
    let store = TrustStore::new(project.home().join(".config/hooks/trust.json"));
    store.grant(&project.path(), &entries).unwrap();
}

/// A project with a hook for every reason not to run.
fn project() -> Project {
    let project = Project::new();
    let settings = json!({
    "hooksConfig": {"defaultTimeout": 5000, "disabled": ["resting"]},
    "hooks": {
        "BeforeTool": [
            {"matcher": "write_file|edit", "hooks": [
                command("guard", "./guard.sh --strict"),
                command("common", "exit 0 # everybody's"),
            ]},
            {"matcher": "run_shell_command", "hooks": [command("shell-guard", "exit 0")]},
            {"hooks": [
                command("stranger", "exit 0"),
                command("resting", "exit 0"),
                command("annoying", "exit 0"),
            ]},
        ],
        "AfterTool": [{"hooks": [command("after", "exit 0")]}],
    }});
    project.write(".hooks/settings.json", &format!("{settings:#}\n"));
    trust(&project, |name| name != "stranger");
    write_user_settings(
        &project,
        &json!({
        "hooksConfig": {"disabled": ["annoying"]},
        "hooks": {"BeforeTool": [{"sequential": true, "hooks": [
            command("common", "exit 0 # everybody's"),
            {"type": "command", "command": "exit 0 # nameless", "timeout": 1500, "failBehavior": "block"},
        ]}]}}),
    );
    project
}

#[test]
fn each_hook_runs_or_is_said_why_it_does_not() {
    let project = project();
    let finished = Hook::new(&project, &["explain", "BeforeTool", "--tool", "edit"]).run();
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name edit
      ✓ 1  guard              write_file|edit    project [PROJECT]/.hooks/settings.json:13:11
          timeout [TIME] (defaultTimeout of its file); started directly; if it fails, things go on
      ✓ 2  common             *                  user [HOME]/.config/hooks/settings.json:1:93
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      -    shell-guard        run_shell_command  project [PROJECT]/.hooks/settings.json:28:11
          its matcher `run_shell_command` does not match the tool_name `edit`
      -    stranger           *                  project [PROJECT]/.hooks/settings.json:37:11
          it is the project's, and not trusted
      -    resting            *                  project [PROJECT]/.hooks/settings.json:42:11
          off by `disabled` in the project settings, [PROJECT]/.hooks/settings.json
      -    annoying           *                  project [PROJECT]/.hooks/settings.json:47:11
          off by `disabled` in the user settings, [HOME]/.config/hooks/settings.json
      -    common             write_file|edit    project [PROJECT]/.hooks/settings.json:18:11
          it is the same hook as one of the user settings, [HOME]/.config/hooks/settings.json:1:93, which runs in its place
      ✓ 3  exit 0 # nameless  *                  user [HOME]/.config/hooks/settings.json:1:161
          timeout [TIME] (its own); started by bash; if it fails, that blocks

    3 of 8 run, one after the other: `common` is in a sequential definition, [HOME]/.config/hooks/settings.json:1:93
    1 hook listens to other events; --all lists them
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    ");
    let other = Hook::new(&project, &["explain", "BeforeTool", "--all"]).run();
    insta::assert_snapshot!(other.shown(&project), @r"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name write_file (a sample; --tool or --input gives another)
      ✓ 1  guard              write_file|edit    project [PROJECT]/.hooks/settings.json:13:11
          timeout [TIME] (defaultTimeout of its file); started directly; if it fails, things go on
      ✓ 2  common             *                  user [HOME]/.config/hooks/settings.json:1:93
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      -    shell-guard        run_shell_command  project [PROJECT]/.hooks/settings.json:28:11
          its matcher `run_shell_command` does not match the tool_name `write_file`
      -    stranger           *                  project [PROJECT]/.hooks/settings.json:37:11
          it is the project's, and not trusted
      -    resting            *                  project [PROJECT]/.hooks/settings.json:42:11
          off by `disabled` in the project settings, [PROJECT]/.hooks/settings.json
      -    annoying           *                  project [PROJECT]/.hooks/settings.json:47:11
          off by `disabled` in the user settings, [HOME]/.config/hooks/settings.json
      -    common             write_file|edit    project [PROJECT]/.hooks/settings.json:18:11
          it is the same hook as one of the user settings, [HOME]/.config/hooks/settings.json:1:93, which runs in its place
      ✓ 3  exit 0 # nameless  *                  user [HOME]/.config/hooks/settings.json:1:161
          timeout [TIME] (its own); started by bash; if it fails, that blocks

    3 of 8 run, one after the other: `common` is in a sequential definition, [HOME]/.config/hooks/settings.json:1:93

      - after  *  project [PROJECT]/.hooks/settings.json:58:11
          it listens to AfterTool
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    ");
}

#[test]
fn json_says_it_hook_by_hook() {
    let project = project();
    let explain = ["explain", "BeforeTool", "--tool", "edit", "--json"];
    let lines = Hook::new(&project, &explain).run().lines();
    let shown: Vec<_> = lines
        .iter()
        .map(|line| {
            let reasons = line["reasons"].as_array().unwrap();
            let codes: Vec<_> = reasons.iter().map(|reason| reason["code"].clone()).collect();
            json!([line["name"], line["source"], line["runs"], line["position"], codes])
        })
        .collect();
    assert_eq!(
        shown,
        [
            json!(["guard", "project", true, 1, []]),
            json!(["common", "user", true, 2, []]),
            json!(["shell-guard", "project", false, null, ["not_matched"]]),
            json!(["stranger", "project", false, null, ["untrusted"]]),
            json!(["resting", "project", false, null, ["disabled"]]),
            json!(["annoying", "project", false, null, ["disabled"]]),
            json!(["common", "project", false, null, ["duplicate"]]),
            json!(["exit 0 # nameless", "user", true, 3, []]),
        ]
    );
    let user_settings = project.home().join(".config/hooks/settings.json");
    let project_settings = project.path().join(".hooks/settings.json");
    assert_eq!(
        lines[0],
        json!({"event": "BeforeTool", "name": "guard", "type": "command",
            "command": "./guard.sh --strict", "matcher": "write_file|edit", "priority": 100, "sequential": false, "async": false,
            "source": "project", "file": project_settings, "line": lines[0]["line"], "column": lines[0]["column"],
            "timeout": 5000, "timeoutFrom": "file", "failBehavior": "continue", "start": "direct",
            "subject": "edit", "runs": true, "position": 1, "group": 1, "mode": "sequential",
            "modeFrom": "common", "reasons": [], "warnings": []})
    );
    assert_eq!(
        lines[5]["reasons"],
        json!([{"code": "disabled", "source": "user", "file": user_settings,
            "setting": "hooksConfig.disabled",
            "message": format!("off by `disabled` in the user settings, {}", user_settings.display())}])
    );
    let duplicate = &lines[6]["reasons"][0];
    assert_eq!(duplicate["file"], json!(user_settings), "{duplicate}");
    assert!(duplicate["line"].is_u64() && duplicate["column"].is_u64(), "{duplicate}");
    let nameless = &lines[7];
    assert_eq!(
        json!([
            nameless["timeout"],
            nameless["timeoutFrom"],
            nameless["failBehavior"],
            nameless["start"]
        ]),
        json!([1500, "hook", "block", "shell"])
    );
    let all = Hook::new(&project, &[&explain[..], &["--all"]].concat()).run().lines();
    let last = all.last().unwrap();
    assert_eq!((all.len(), &last["reasons"][0]["code"]), (9, &json!("other_event")));
    assert_eq!(last["subject"], Value::Null, "nobody compared it");
}

#[test]
fn a_hook_that_changed_since_it_was_trusted_is_not_called_a_stranger() {
    let project = Project::new();
    project.write("guard.sh", "exit 0");
    let settings = json!({"hooks": {"SessionEnd": [{"hooks": [command("guard", "sh ./other.sh"),
        command("script", "./guard.sh")]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    trust(&project, |_| true);
    let changed = settings.to_string().replace("./guard.sh\"", "./guard.sh\",\"timeout\":1000");
    project.write(".hooks/settings.json", &changed);
    let finished = Hook::new(&project, &["explain", "SessionEnd"]).run();
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 0
    ----- stdout -----
    SessionEnd with reason exit (a sample; --input gives another)
      ✓ 1  guard   *  project [PROJECT]/.hooks/settings.json:1:35
          timeout [TIME] (the engine's default); started directly; if it fails, things go on
      -    script  *  project [PROJECT]/.hooks/settings.json:1:95
          it is the project's, and has changed since it was trusted; `hook trust` shows what changed

    1 of 2 runs
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    ");
    let listed = Hook::new(&project, &["list"]).run();
    insta::assert_snapshot!(listed.shown(&project), @r"
    status: 0
    ----- stdout -----
    SessionEnd
      ✓ guard   *  project [PROJECT]/.hooks/settings.json:1:35
      ! script  *  project [PROJECT]/.hooks/settings.json:1:95
          it is the project's, and has changed since it was trusted; `hook trust` shows what changed
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    ");
    let json = Hook::new(&project, &["explain", "SessionEnd", "--json"]).run().lines();
    assert_eq!(json[1]["reasons"][0]["changed"], true);
    assert_eq!(Hook::new(&project, &["list", "--json"]).run().lines()[1]["changed"], true);
}

#[test]
fn a_pattern_where_words_are_compared_exactly_gets_a_hint() {
    let project = Project::with_settings(&json!({"hooks": {"SessionStart": [
        {"matcher": "startup|resume", "hooks": [command("two-words", "exit 0")]},
        {"matcher": ".*", "hooks": [command("everything", "exit 0")]},
        {"matcher": "startup", "hooks": [command("right", "exit 0")]},
    ]}}));
    let explain = ["explain", "SessionStart", "--settings=settings.json"];
    let finished = Hook::new(&project, &explain).run();
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 0
    ----- stdout -----
    SessionStart with source startup (a sample; --input gives another)
      -    two-words   startup|resume  explicit settings.json:1:64
          its matcher `startup|resume` is not the source `startup`
          warning: the matcher `startup|resume` never matches: it is compared exactly with `source`, which is one of startup, resume, clear, compress
          hint: matchers of `source` are no regular expressions; write one definition for each of `startup`, `resume`
      -    everything  .*              explicit settings.json:1:148
          its matcher `.*` is not the source `startup`
          warning: the matcher `.*` never matches: it is compared exactly with `source`, which is one of startup, resume, clear, compress
          hint: matchers of `source` are no regular expressions; leave the matcher out to match every source
      ✓ 1  right       startup         explicit settings.json:1:238
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on

    1 of 3 runs
    ----- stderr -----
    settings.json:1:64: warning: hooks.SessionStart[0].hooks[0]: the matcher `startup|resume` never matches: it is compared exactly with `source`, which is one of startup, resume, clear, compress
    settings.json:1:148: warning: hooks.SessionStart[1].hooks[0]: the matcher `.*` never matches: it is compared exactly with `source`, which is one of startup, resume, clear, compress
    ");
    let resumed = [&explain[..], &["--input", r#"{"source":"resume"}"#, "--json"]].concat();
    let lines = Hook::new(&project, &resumed).run().lines();
    assert!(lines.iter().all(|line| line["runs"] == false), "{lines:?}");
    assert!(lines[0]["hint"].as_str().unwrap().ends_with("`startup`, `resume`"));
}

#[test]
fn a_matcher_that_does_not_compile_or_is_given_up_is_said() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": "[write", "hooks": [command("broken", "exit 0")]},
        {"matcher": r"^(?:(?!b)a|a)*$", "hooks": [command("hard", "exit 0")]},
    ]}}));
    let tool = format!("{}b", "a".repeat(60));
    let explain = ["explain", "BeforeTool", "--tool", &tool, "--settings=settings.json"];
    insta::assert_snapshot!(Hook::new(&project, &explain).run().shown(&project), @"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab
      -    broken  [write           explicit settings.json:1:54
          its matcher `[write` does not match the tool_name `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab`
          warning: the matcher `[write` is not a regular expression and is compared literally: unclosed class at position 0
      ✓ 1  hard    ^(?:(?!b)a|a)*$  explicit settings.json:1:148
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
          warning: matching `^(?:(?!b)a|a)*$` took too many steps and counts as a match; simplify the matcher

    1 of 2 runs
    ----- stderr -----
    settings.json:1:54: warning: hooks.BeforeTool[0].hooks[0]: the matcher `[write` is not a regular expression and is compared literally: unclosed class at position 0
    ");
}

#[test]
fn where_nothing_is_found_it_says_where_it_looked() {
    let project = Project::new();
    let nothing = Hook::new(&project, &["explain", "Notification"]).run();
    insta::assert_snapshot!(nothing.shown(&project), @r"
    status: 0
    ----- stdout -----
    Notification
    no hook listens to Notification
    looked for:
      project  is not there  [PROJECT]/.hooks/settings.json
      user     is not there  [HOME]/.config/hooks/settings.json
      system   is not there  /etc/hooks/settings.json
    ----- stderr -----
    ");
    write_user_settings(&project, &json!({"hooks": {}}));
    let empty = Hook::new(&project, &["explain", "SessionEnd"]).run();
    insta::assert_snapshot!(empty.shown(&project), @r"
    status: 0
    ----- stdout -----
    SessionEnd with reason exit (a sample; --input gives another)
    no hook listens to SessionEnd
    looked for:
      project  is not there  [PROJECT]/.hooks/settings.json
      user     is there      [HOME]/.config/hooks/settings.json
      system   is not there  /etc/hooks/settings.json
    ----- stderr -----
    ");
    let json = Hook::new(&project, &["explain", "SessionEnd", "--json"]).run();
    assert_eq!((json.status, json.stdout.as_str(), json.stderr.as_str()), (0, "", ""));
}

#[test]
fn hooks_that_run_at_once_are_said_to() {
    let project = Project::with_settings(&json!({"hooks": {"Notification": [{"hooks": [
        command("one", "exit 0"), command("two", "exit 0")]}]}}));
    let explain = ["explain", "Notification", "--settings=settings.json"];
    insta::assert_snapshot!(Hook::new(&project, &explain).run().shown(&project), @r"
    status: 0
    ----- stdout -----
    Notification
      ✓ 1  one  *  explicit settings.json:1:37
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on
      ✓ 2  two  *  explicit settings.json:1:88
          timeout [TIME] (the engine's default); started by bash; if it fails, things go on

    2 of 2 run, all at once
    ----- stderr -----
    ");
}

#[test]
fn what_it_cannot_explain_is_wrong_usage() {
    let project = Project::new();
    for (arguments, said) in [
        (vec!["BeforeTools"], "did you mean BeforeTool?"),
        (vec!["xyzzy"], "the events are BeforeTool, AfterTool"),
        (vec!["BeforeTool", "--input", "{"], "--input is not JSON"),
        (vec!["BeforeTool", "--input", "[]"], "--input is an array, and not an object"),
        (vec!["BeforeTool", "--tool", ""], "field `tool_name`: expected a non-empty string"),
        (vec!["SessionStart", "--input", r#"{"source":"boot"}"#], "expected one of `startup`"),
        (vec![], "<EVENT>"),
    ] {
        let finished = Hook::new(&project, &[&["explain"], &arguments[..]].concat()).run();
        assert_eq!(finished.status, 64, "{arguments:?}: {finished:?}");
        assert!(finished.stderr.contains(said), "{arguments:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
    let useless = Hook::new(&project, &["explain", "SessionEnd", "--tool", "edit"]).run();
    assert_eq!(useless.status, 0);
    assert!(useless.stderr.contains("SessionEnd is not about a tool"), "{}", useless.stderr);
}
