//! `hook check`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use hook_protocol::Events;
use hook_settings::check::{CheckContext, check};
use hook_settings::{HookSource, SettingsSource};
use hook_settings::{Rule, parse, reload_files};
use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

fn checked(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, &[&["check"], arguments].concat()).run()
}

fn script(project: &Project, path: &str, text: &str, mode: u32) {
    let path = project.write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A project whose own settings are these.
fn project(settings: &str) -> Project {
    let project = Project::new();
    project.write(".hooks/settings.json", settings);
    project
}

/// Settings with one hook for that event.
fn one(event: &str, definition: &str, hook: &str) -> String {
    format!(r#"{{"hooks":{{"{event}":[{{{definition}"hooks":[{{"type":"command",{hook}}}]}}]}}}}"#)
}

#[test]
fn settings_without_a_problem_are_said_to_be_so() {
    let project = project(&one("BeforeTool", r#""matcher":"shell","#, r#""command":"cat""#));
    insta::assert_snapshot!(checked(&project, &[]).shown(&project), @r#"
status: 0
----- stdout -----
no problems in 1 file, 1 hook
----- stderr -----
warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
"#);
}

#[test]
fn every_problem_is_shown_in_its_line_with_what_to_do() {
    let project = project(
        r#"{
  "hooksConfig": { "disabled": ["gaurd"] },
  "hooks": {
    "BeforeTool": [
      { "matcher": "write_file, edit", "hooks": [
        { "type": "command", "command": "./guard.sh --strict", "name": "guard", "timeout": 30 },
        { "type": "command", "command": "\"$HOOK_PROJECT_DIR\"/broken.py", "timeuot": 5000 },
        {
          "type": "command"
        }
      ] }
    ],
    "SessionStart": [{ "matcher": "start|resume", "hooks": [{ "type": "command", "command": "true" }] }]
  }
}
"#,
    );
    script(&project, "broken.py", "#!/no/such/python\n", 0o755);
    insta::assert_snapshot!(checked(&project, &[]).shown(&project), @r#"
    status: 1
    ----- stdout -----
    warning[disabled-unknown]: `gaurd` names no hook
     --> .hooks/settings.json:2:33
      |
    2 |   "hooksConfig": { "disabled": ["gaurd"] },
      |                                 ^^^^^^^
      |
      = help: did you mean `guard`?

    warning[matcher-never-matches]: the matcher `write_file, edit` probably matches no tool: hardly any tool's name has blanks or commas; alternatives are separated by `|`
     --> .hooks/settings.json:5:20
      |
    5 |       { "matcher": "write_file, edit", "hooks": [
      |                    ^^^^^^^^^^^^^^^^^^
      |
      = help: fix the expression, or leave the matcher out to match every tool

    error[script-missing]: `./guard.sh` does not exist: it was looked for at [PROJECT]/guard.sh
     --> .hooks/settings.json:6:41
      |
    6 |         { "type": "command", "command": "./guard.sh --strict", "name": "guard", "timeout": 30 },
      |                                         ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write the script, or fix its path; "$HOOK_PROJECT_DIR"/... begins at the project, wherever the agent works

    warning[timeout-in-seconds]: a timeout of 30 means 30 milliseconds, and looks like seconds
     --> .hooks/settings.json:6:92
      |
    6 |         { "type": "command", "command": "./guard.sh --strict", "name": "guard", "timeout": 30 },
      |                                                                                            ^^
      |
      = help: write 30000 for 30 seconds

    error[interpreter-missing]: `[PROJECT]/broken.py` is to be run by `/no/such/python`, which does not exist
     --> .hooks/settings.json:7:41
      |
    7 |         { "type": "command", "command": "\"$HOOK_PROJECT_DIR\"/broken.py", "timeuot": 5000 },
      |                                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: install it, or fix the script's first line

    warning[unknown-key]: unknown key `timeuot`; it was ignored
     --> .hooks/settings.json:7:76
      |
    7 |         { "type": "command", "command": "\"$HOOK_PROJECT_DIR\"/broken.py", "timeuot": 5000 },
      |                                                                            ^^^^^^^^^
      |
      = help: did you mean `timeout`?

    error[missing-command]: the hook has no `command`, or a blank one; the hook was skipped
     --> .hooks/settings.json:8:9
      |
    8 |         {
      |         ^
      |
      = help: add `"command": "..."` with what is to run, or `"path": "..."` with the module's file

    warning[matcher-never-matches]: the matcher `start|resume` never matches: it is compared exactly with `source`, which is one of startup, resume, clear, compress
      --> .hooks/settings.json:13:35
       |
    13 |     "SessionStart": [{ "matcher": "start|resume", "hooks": [{ "type": "command", "command": "true" }] }]
       |                                   ^^^^^^^^^^^^^^
       |
       = help: did you mean `startup`?
       = help: this event takes no regular expression; write one definition for each word

    3 errors, 5 warnings in 1 file
    ----- stderr -----
    warning: 3 hooks are not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    "#);
}

#[test]
fn a_file_that_is_no_settings_file_is_a_problem_like_others() {
    let project = Project::new();
    project.write("broken.json", "{\n  \"hooks\": {,}\n}");
    let finished = checked(&project, &["broken.json", "absent.json"]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
    status: 1
    ----- stdout -----
    error[not-json]: the file is not JSON: key must be a string; none of its hooks run until this is fixed
     --> broken.json:2:13
      |
    2 |   "hooks": {,}
      |             ^
      |
      = help: fix the syntax here; JSON may have comments and trailing commas

    error[unreadable-file]: failed to read the settings file: No such file or directory (os error 2); none of its hooks run
    --> absent.json
     = help: give the name of a settings file that can be read

    2 errors in 2 files
    ----- stderr -----
    "#);
}

#[test]
fn a_place_far_out_in_a_long_line_is_shown_with_what_is_around_it() {
    let hook = |name: usize| format!(r#"{{"type":"command","command":"true","name":"n{name}"}}"#);
    let hooks: Vec<String> = (0..100).map(hook).collect();
    let project = Project::new();
    project.write(
        "long.json",
        &format!(
            r#"{{"hooks":{{"BeforeTool":[{{"hooks":[{},{{"type":"command","command":"./é.sh"}},{}]}}]}}}}"#,
            hooks.join(","),
            hook(100)
        ),
    );
    insta::assert_snapshot!(checked(&project, &["long.json"]).shown(&project), @r#"
status: 1
----- stdout -----
error[script-missing]: `./é.sh` does not exist: it was looked for at [PROJECT]/é.sh
 --> long.json:1:4953
  |
 ::: 
1 | …,"command":"true","name":"n99"},{"type":"command","command":"./é.sh"},{"type":"command","command":"true","name":"n100"}]…
  |                                                              ^^^^^^^^
  |
  = help: write the script, or fix its path; "$HOOK_PROJECT_DIR"/... begins at the project, wherever the agent works

1 error in 1 file
----- stderr -----
"#);
}

#[test]
fn where_there_are_no_settings_it_says_where_it_looked() {
    let project = Project::new();
    let finished = checked(&project, &[]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
status: 0
----- stdout -----
----- stderr -----
warning: there are no settings; looked for [PROJECT]/.hooks/settings.json, [HOME]/.config/hooks/settings.json, /etc/hooks/settings.json; `hook init` writes a first guard
"#);
}

#[test]
fn the_exit_code_says_whether_something_is_wrong() {
    let clean = one("BeforeTool", "", r#""command":"true""#);
    let hint = clean.replacen('{', r#"{"hookConfig":{},"#, 1);
    let warning = one("BeforeTool", "", r#""command":"true","timeout":5"#);
    let error = one("BeforeTool", "", r#""command":"./absent.sh""#);
    for (settings, status, denied) in
        [(&clean, 0, 0), (&hint, 0, 0), (&warning, 0, 1), (&error, 1, 1)]
    {
        let project = project(settings);
        for json in [&[][..], &["--json"]] {
            assert_eq!(checked(&project, json).status, status, "{settings}");
            assert_eq!(checked(&project, &[json, &["--deny-warnings"]].concat()).status, denied);
        }
    }
    let project = project(&clean);
    assert_eq!(checked(&project, &["--format", "xml"]).status, 64);
    assert_eq!(checked(&project, &["absent.json"]).status, 1);
    assert_eq!(checked(&project, &["--settings", "absent.json"]).status, 1);
}

#[test]
fn json_is_one_problem_a_line() {
    let project = project(&one("BeforeTool", "", r#""command":"./é.sh","timeuot":5"#));
    let finished = checked(&project, &["--json"]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
status: 1
----- stdout -----
{"severity":"error","rule":"script-missing","message":"`./é.sh` does not exist: it was looked for at [PROJECT]/é.sh","file":"[PROJECT]/.hooks/settings.json","line":1,"column":63,"endLine":1,"endColumn":71,"path":"hooks.BeforeTool[0].hooks[0].command","help":"write the script, or fix its path; \"$HOOK_PROJECT_DIR\"/... begins at the project, wherever the agent works"}
{"severity":"warning","rule":"unknown-key","message":"unknown key `timeuot`; it was ignored","file":"[PROJECT]/.hooks/settings.json","line":1,"column":72,"endLine":1,"endColumn":81,"path":"hooks.BeforeTool[0].hooks[0].timeuot","suggestion":"timeout","help":"rename or remove it"}
----- stderr -----
warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
"#);
    assert_eq!(checked(&project, &["--json", "absent.json"]).lines().len(), 1);
}

#[test]
fn what_stands_in_the_wrong_place_or_form_is_told_the_right_one() {
    let hook = r#"{"type":"command","command":"true"}"#;
    for (event, value, found) in [
        ("hooksConfig", "{}".to_owned(), ("misplaced-key", "move `hooksConfig` beside `hooks`")),
        (
            "PreToolUse",
            format!(r#"[{{"hooks":[{hook}]}}]"#),
            ("unknown-event", "what other agents call `PreToolUse` is `BeforeTool` here"),
        ),
        (
            "Xyzzy",
            "[]".to_owned(),
            (
                "unknown-event",
                "use the name of an event, which `hook help events` lists, or declare it under `hooksConfig.events`",
            ),
        ),
        (
            "BeforeTool",
            r#"[{"hooks":[{"type":"command","command":"true","sequential":true}]}]"#.to_owned(),
            ("unknown-key", "move `sequential` to the definition around the hook"),
        ),
        (
            "BeforeTool",
            r#"[{"type":"command","command":"true","timeout":5000}]"#.to_owned(),
            (
                "missing-hooks",
                r#"put the hook into the definition's list: "hooks": [ {"type": "command", "command": "..."} ]"#,
            ),
        ),
        (
            "BeforeTool",
            format!(r#"[{{"hooks":{hook}}}]"#),
            ("wrong-type", "write an array of hooks here"),
        ),
        (
            "BeforeTool",
            format!(r#"[{{"matcher":"*shell","hooks":[{hook}]}}]"#),
            (
                "invalid-pattern",
                "write `.*shell` for any name with `shell` in it, or `shell$` for its end",
            ),
        ),
    ] {
        let project = project(&format!(r#"{{"hooks":{{"{event}":{value}}}}}"#));
        let problems = checked(&project, &["--json"]).lines();
        let problems: Vec<_> = problems.iter().map(|it| (&it["rule"], &it["help"])).collect();
        assert_eq!(problems, [(&json!(found.0), &json!(found.1))], "{value}");
    }
    let project = project(r#"{"hooks":{"PreToolUse":[]}}"#);
    assert_eq!(checked(&project, &["--json"]).lines()[0]["suggestion"], "BeforeTool");
}

/// The rules of the problems of settings with one hook, in the order of their places.
fn rules_of(event: &str, hook: &str) -> Vec<Value> {
    let project = project(&one(event, "", hook));
    checked(&project, &["--json"]).lines().iter().map(|it| it["rule"].clone()).collect()
}

#[test]
fn hooks_under_a_misspelt_event_are_checked_and_do_not_run() {
    let project = project(&one(
        "BeforeTools",
        r#""matcher":"*shell","#,
        r#""command":"./absent.sh","timeout":30,"nmae":"x","failBehavior":"stop""#,
    ));
    let finished = checked(&project, &["--json"]);
    let rules: BTreeSet<String> =
        finished.lines().iter().map(|it| it["rule"].as_str().unwrap().to_owned()).collect();
    let expected = [
        "invalid-fail-behavior",
        "invalid-pattern",
        "script-missing",
        "timeout-in-seconds",
        "unknown-event",
        "unknown-key",
    ];
    assert_eq!(rules, BTreeSet::from(expected.map(str::to_owned)), "{finished:?}");
    assert_eq!(Hook::new(&project, &["list", "--json"]).run().stdout, "");
    // Of what is no event at all, the same; and of what is no list, no more than that.
    assert_eq!(
        rules_of("Xyzzy", r#""command":"./absent.sh""#),
        ["unknown-event", "script-missing"]
    );
    let odd = self::project(r#"{"hooks":{"BeforeTools":7,"disabled":[{"hooks":[{}]}]}}"#);
    assert_eq!(checked(&odd, &["--json"]).lines().len(), 2);
}

#[test]
fn commands_and_names_that_cannot_work_are_problems() {
    for (hook, rules) in [
        (r#""command":"$NO_SUCH_VARIABLE/guard.sh""#, vec!["unset-variable"]),
        (r#""command":"\"${NO_SUCH_VARIABLE}\"/guard.sh""#, vec!["unset-variable"]),
        (r#""command":"A=1 $NO_SUCH_VARIABLE x""#, vec!["unset-variable"]),
        (r#""command":"NO_SUCH=true $NO_SUCH""#, vec![]),
        (r#""command":"${NO_SUCH_VARIABLE:-true}""#, vec![]),
        (r#""command":"$PATH_OF_HOOK/true","env":{"PATH_OF_HOOK":"/bin"}"#, vec![]),
        (r#""command":"\"$HOOK_PROJECT_DIR\"/absent.sh""#, vec!["script-missing"]),
        (r#""command":"cat 'it""#, vec!["open-quote"]),
        (r#""command":"cat \"it's\"""#, vec![]),
        (r#""command":"cat","name":" ""#, vec!["blank-name"]),
        (r#""command":"cat","name":"""#, vec!["blank-name"]),
        (r#""command":"cat \u0000x""#, vec!["invalid-command"]),
    ] {
        assert_eq!(rules_of("BeforeTool", hook), rules, "{hook}");
    }
}

#[test]
fn a_file_that_is_not_utf_8_is_a_problem_with_its_place() {
    let project = Project::new();
    let path = project.write("settings.json", "");
    let text = one("BeforeTool", "", r#""command":"cat 'X'""#);
    let (before, after) = text.split_once('X').unwrap();
    let bytes = [b"\n", before.as_bytes(), b"\xff", after.as_bytes()].concat();
    fs::write(path, bytes).unwrap();
    let problems = checked(&project, &["--json", "settings.json"]).lines();
    assert_eq!(problems.len(), 1, "{problems:?}");
    let problem = &problems[0];
    assert_eq!((&problem["rule"], &problem["line"]), (&json!("not-text"), &Value::Null));
    let place = format!("line 2, column {} on", before.len() + 1);
    assert!(problem["message"].as_str().unwrap().contains(&place), "{problem}");
    // Whoever fires the event is told.
    let fire = ["fire", "BeforeTool", "--settings=settings.json", "--json"];
    let warnings = Hook::new(&project, &fire).run().lines()[0]["warnings"].to_string();
    assert!(warnings.contains("not UTF-8"), "{warnings}");
}

#[test]
fn a_guard_whose_command_has_a_nul_blocks() {
    let hook = r#""command":"true \u0000","failBehavior":"block""#;
    let project = Project::new();
    project.write("settings.json", &one("BeforeTool", "", hook));
    let fire = ["fire", "BeforeTool", "--settings=settings.json", "--json"];
    let finished = Hook::new(&project, &fire).run();
    assert_eq!(finished.status, 2, "{finished:?}");
    assert_eq!(finished.lines()[0]["hooks"][0]["success"], false);
}

#[test]
fn a_definition_with_a_wrong_matcher_is_read_to_its_end_and_does_not_run() {
    let project = project(&one("BeforeTool", r#""matcher":7,"#, r#""command":"true","timeuot":5"#));
    let rules: Vec<_> =
        checked(&project, &["--json"]).lines().iter().map(|it| it["rule"].clone()).collect();
    assert_eq!(rules, ["wrong-type", "unknown-key"]);
    let listed = Hook::new(&project, &["list", "--json"]).run();
    assert_eq!(listed.stdout, "", "{listed:?}");
}

#[test]
fn nothing_is_run() {
    let project =
        project(&one("BeforeTool", "", r#""command":"./touch.sh; touch ran $(touch ran)""#));
    script(&project, "touch.sh", "#!/bin/sh\ntouch ran\n", 0o755);
    let finished = checked(&project, &[]);
    assert_eq!(finished.status, 0, "{finished:?}");
    assert!(!project.path().join("ran").exists());
}

#[test]
fn a_projects_settings_are_checked_as_of_that_project() {
    let project = project(&one("BeforeTool", "", r#""command":"./guard.sh""#));
    script(&project, "guard.sh", "#!/bin/sh\n", 0o755);
    for folder in [project.path().join(".hooks"), project.home()] {
        let settings = project.path().join(".hooks/settings.json");
        let finished = project
            .command(hook_tests::hook_binary())
            .args(["check".as_ref(), settings.as_os_str()])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(finished.status.success(), "{}", String::from_utf8_lossy(&finished.stdout));
    }
}

/// One problem for each rule: settings, and the texts that are marked with the rule's id.
fn problems() -> Vec<(String, Vec<(Rule, &'static str)>)> {
    let tool = |definition: &str, hook: &str| one("BeforeTool", definition, hook);
    let command = |command: &'static str, rule| {
        let text = serde_json::to_string(command).unwrap().leak();
        (tool("", &format!("\"command\":{text}")), vec![(rule, &*text)])
    };
    let more: Vec<String> = (0..120).map(|number| format!("\"x{number}\":0")).collect();
    let mut problems = vec![
        ("{".to_owned(), vec![(Rule::NotJson, "{")]),
        (r#"{"hooks":[]}"#.to_owned(), vec![(Rule::WrongType, "[]")]),
        (r#"{"hooks":{},"hooks":{}}"#.to_owned(), vec![(Rule::DuplicateKey, "\"hooks\"")]),
        (r#"{"hoooks":{}}"#.to_owned(), vec![(Rule::UnknownSection, "\"hoooks\"")]),
        (r#"{"Hooks":{}}"#.to_owned(), vec![(Rule::MisspeltSection, "\"Hooks\"")]),
        (r#"{"hook":{}}"#.to_owned(), vec![(Rule::MisspeltSection, "\"hook\"")]),
        (
            r#"{"hooks":{"BeforeTool":[{"hook":[]}]}}"#.to_owned(),
            vec![(Rule::MissingHooks, "{\"hook\":[]}"), (Rule::UnknownKey, "\"hook\"")],
        ),
        (r#"{"hooks":{"BeforTool":[]}}"#.to_owned(), vec![(Rule::UnknownEvent, "\"BeforTool\"")]),
        (r#"{"hooks":{"enabled":true}}"#.to_owned(), vec![(Rule::MisplacedKey, "\"enabled\"")]),
        (
            r#"{"hooks":{"BeforeTool":[{"hooks":[{"command":"true"}]}]}}"#.to_owned(),
            vec![(Rule::MissingType, r#"{"command":"true"}"#)],
        ),
        (
            r#"{"hooks":{"BeforeTool":[{"hooks":[{"type":"x","command":"true"}]}]}}"#.to_owned(),
            vec![(Rule::UnknownType, "\"x\"")],
        ),
        (
            tool("", r#""command":"true"},{"type":"worker","command":"true""#),
            vec![(Rule::WorkerIsCommand, "\"true\"")],
        ),
        (
            tool("", r#""command":"true"},{"type":"worker","command":"cat","idleTimeout":60"#),
            vec![(Rule::TimeoutInSeconds, "60")],
        ),
        (
            tool("", r#""command":"true","async":true,"failBehavior":"block""#),
            vec![(Rule::AsyncGuard, "true")],
        ),
        (tool("", r#""command":"true","async":true"#), vec![(Rule::AsyncCannotBlock, "true")]),
        (
            tool("", r#""command":" ""#),
            vec![(Rule::MissingCommand, r#"{"type":"command","command":" "}"#)],
        ),
        (tool("", r#""command":"true","env":{"A=B":"c"}"#), vec![(Rule::InvalidVariable, "\"c\"")]),
        (r#"{"hooksConfig":{"maxConcurrent":-1}}"#.to_owned(), vec![(Rule::InvalidNumber, "-1")]),
        (
            r#"{"hooksConfig":{"events":{"BeforeTool":{}}}}"#.to_owned(),
            vec![(Rule::InvalidEvent, "\"BeforeTool\"")],
        ),
        (
            tool(r#""priority":"early","#, r#""command":"true""#),
            vec![(Rule::InvalidNumber, "\"early\"")],
        ),
        (tool("", r#""command":"true","timeout":"9s""#), vec![(Rule::InvalidTimeout, "\"9s\"")]),
        (
            tool("", r#""command":"true","failBehavior":"no""#),
            vec![(Rule::InvalidFailBehavior, "\"no\"")],
        ),
        (
            tool(r#""matcher":"*_file","#, r#""command":"true""#),
            vec![(Rule::InvalidPattern, "\"*_file\"")],
        ),
        (
            tool(r#""matcher":"^edit $","#, r#""command":"true""#),
            vec![(Rule::MatcherNeverMatches, "\"^edit $\"")],
        ),
        (
            one("SessionEnd", r#""matcher":"exit|clear","#, r#""command":"true""#),
            vec![(Rule::MatcherNeverMatches, "\"exit|clear\"")],
        ),
        (
            tool(r#""matcher":{"tool":"Edit","paht":"b"},"#, r#""command":"true""#),
            vec![(Rule::InvalidMatcher, "\"paht\"")],
        ),
        (
            tool(r#""matcher":{"pathPattern":["a","[é"]},"#, r#""command":"true""#),
            vec![(Rule::InvalidMatcher, "\"[é\"")],
        ),
        (
            tool(r#""matcher":{"tool":[]},"#, r#""command":"true""#),
            vec![(Rule::InvalidMatcher, "[]")],
        ),
        (
            tool(r#""matcher":{"commandPattern":7},"#, r#""command":"true""#),
            vec![(Rule::WrongType, "7")],
        ),
        (
            tool(r#""matcher":{"tool":"Bash", "commandPattern" : "[" },"#, r#""command":"true""#),
            vec![(Rule::InvalidMatcher, "\"[\"")],
        ),
        (
            tool(r#""matcher":{"tool":["Edit","Bsh"]},"#, r#""command":"true""#),
            vec![(Rule::UnknownTool, "\"Bsh\"")],
        ),
        (
            tool(r#""matcher":{"tool":"write|edit"},"#, r#""command":"true""#),
            vec![(Rule::MatcherNeverMatches, "\"write|edit\"")],
        ),
        (
            one("SessionStart", r#""matcher":{"tool":"edit"},"#, r#""command":"true""#),
            vec![(Rule::InvalidMatcher, "\"edit\"")],
        ),
        (
            one("BeforeModel", r#""matcher":"gpt","#, r#""command":"true""#),
            vec![(Rule::MatcherIgnored, "\"gpt\"")],
        ),
        (r#"{"hooks":{"BeforeTool":[{"hooks":[]}]}}"#.to_owned(), vec![(Rule::EmptyHooks, "[]")]),
        (tool("", r#""command":"true","timeout":60"#), vec![(Rule::TimeoutInSeconds, "60")]),
        (
            r#"{"hooksConfig":{"defaultTimeout":30}}"#.to_owned(),
            vec![(Rule::TimeoutInSeconds, "30")],
        ),
        (
            r#"{"hooksConfig":{"disabled":["é"]}}"#.to_owned(),
            vec![(Rule::DisabledUnknown, "\"é\"")],
        ),
        (
            tool("", r#""command":"true"},{"type":"command","command":"true""#),
            vec![(Rule::DuplicateHook, "\"true\"")],
        ),
        (format!(r#"{{"hooksConfig":{{{}}}}}"#, more.join(",")), vec![(Rule::TooManyProblems, "")]),
    ];
    problems.extend([
        command("./absent.sh", Rule::ScriptMissing),
        command("A=1 ./folder --flag", Rule::ScriptMissing),
        command("python3 absent.py", Rule::ScriptMissing),
        command("~/absent.sh", Rule::ScriptMissing),
        command("${HOOK_PROJECT_DIR}/plain.sh", Rule::ScriptNotExecutable),
        command("'./without.sh' | cat", Rule::ScriptWithoutShebang),
        command("./fine.sh", Rule::ScriptRelative),
        command("sh ./plain.sh", Rule::ScriptRelative),
        command("./absent-interpreter.sh", Rule::InterpreterMissing),
        command("./absent-env.sh", Rule::InterpreterMissing),
        command("./carriage-return.sh", Rule::InterpreterMissing),
        command("no-such-program --flag", Rule::ProgramNotFound),
        command("$UNKNOWN/guard.sh", Rule::UnsetVariable),
        command("cat \u{0}", Rule::InvalidCommand),
        command("cat it's", Rule::OpenQuote),
        (tool("", r#""command":"true","name":" ""#), vec![(Rule::BlankName, "\" \"")]),
    ]);
    problems
}

/// What is not known to be wrong is not said to be.
const NO_PROBLEM: &[&str] = &[
    "$HOOK_PROJECT_DIR/fine.sh",
    "\"$HOOK_PROJECT_DIR/fine.sh\" && ./whatever",
    "$(echo it\\'s)/guard.sh",
    "\"$(pwd)\"/guard.sh",
    "./*.sh",
    "cat | true",
    "python3 -c 'print(1)'",
    "python3 -m absent.module",
    "sh \"$HOOK_PROJECT_DIR\"/plain.sh",
    "\"$HOOK_PROJECT_DIR\"/env.sh",
    "\"$HOOK_PROJECT_DIR\"/env-s.sh",
    "/bin/sh -c ./x",
    "if true; then ./absent.sh; fi",
    "(cd /; ./absent.sh)",
    "guard() { true; }; guard",
    "[ -f ./absent.sh ]",
    "cd folder && ./absent.sh",
    "true # ./absent.sh",
    "~someone/x.sh",
    "{ true; }",
    "! true",
    "FOO=bar",
];

#[test]
fn each_rule_finds_its_problem_and_marks_it() {
    let project = Project::new();
    script(&project, "plain.sh", "#!/bin/sh\n", 0o644);
    script(&project, "fine.sh", "#!/bin/sh\n", 0o755);
    script(&project, "env.sh", "#!/usr/bin/env sh\n", 0o755);
    script(&project, "env-s.sh", "#! /usr/bin/env -S A=1 sh -e\n", 0o755);
    script(&project, "without.sh", "echo hello\n", 0o755);
    script(&project, "absent-interpreter.sh", "#!/no/such/sh -e\n", 0o755);
    script(&project, "absent-env.sh", "#!/usr/bin/env no-such-program\n", 0o755);
    script(&project, "carriage-return.sh", "#!/bin/sh\r\necho\r\n", 0o755);
    project.write("folder/file", "");
    let mut environment: Vec<_> = std::env::vars_os().filter(|(name, _)| name != "HOME").collect();
    environment.push(("HOME".into(), project.home().into()));
    let surroundings =
        CheckContext { project: project.path(), environment, ..CheckContext::default() };
    let look_as = |source: HookSource, text: &str| {
        let path = project.write("settings.json", text);
        let source = SettingsSource::optional(source, path);
        check(&[source], &surroundings).remove(0).file.diagnostics
    };
    let look = |text: &str| look_as(HookSource::Project, text);
    // Two are those of files that are not text or cannot be read, one is the trust store's, one is reported by an
    // engine that reads its settings again, and three are those of packs.
    let mut seen = BTreeSet::from([
        Rule::UnreadableFile,
        Rule::NotText,
        Rule::TrustStore,
        Rule::UpstreamGone,
        Rule::PackChanged,
        Rule::PackNotAdded,
        Rule::PackForgotten,
    ]);
    for (text, expected) in problems() {
        let found = look(&text);
        let marked = |rule: Rule| {
            let diagnostic = found.iter().find(|it| it.rule == rule);
            let place = &diagnostic.unwrap_or_else(|| panic!("{rule}: {text}: {found:?}")).location;
            let characters = text.chars().skip(place.column.saturating_sub(1));
            characters.take(place.end_column - place.column).collect::<String>()
        };
        for (rule, text) in &expected {
            assert_eq!(marked(*rule), *text);
            seen.insert(*rule);
        }
        let others = found.iter().filter(|it| !expected.iter().any(|(rule, _)| *rule == it.rule));
        let others: Vec<_> = others.filter(|it| it.rule != Rule::UnknownKey).collect();
        assert!(others.is_empty(), "{text}: {others:?}");
        for diagnostic in &found {
            assert!(!diagnostic.help().is_empty());
        }
    }
    for (config, rule, marked) in [
        (r#""auditLevel":"loud""#, Rule::InvalidAuditLevel, r#""loud""#),
        (r#""upstream":["x"]"#, Rule::InvalidUpstream, r#"["x"]"#),
        (
            r#""upstream":{"nats":"tls://b","events":["BeforeTol"]}"#,
            Rule::InvalidUpstream,
            r#""BeforeTol""#,
        ),
        (r#""redact":["x"]"#, Rule::InvalidRedaction, r#"["x"]"#),
        (r#""redact":{"patterns":["x","("]}"#, Rule::InvalidRedaction, r#""(""#),
        (r#""redact":{"patterns":["x*"]}"#, Rule::InvalidRedaction, r#""x*""#),
        (r#""redact":{"fields":"x"}"#, Rule::InvalidRedaction, r#""x""#),
        (r#""redact":{"fields":[1]}"#, Rule::InvalidRedaction, "1"),
        (r#""redact":{"field":["x"]}"#, Rule::InvalidRedaction, r#""field""#),
    ] {
        let text = format!("{{\"hooksConfig\":{{{config}}}}}");
        for source in [HookSource::User, HookSource::System, HookSource::Explicit] {
            let found = look_as(source, &text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].rule, rule);
            let (start, end) = (found[0].location.column - 1, found[0].location.end_column - 1);
            assert_eq!(&text[start..end], marked);
        }
        for source in [HookSource::Project, HookSource::Extension("x".to_owned())] {
            let found = look_as(source, &text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            seen.insert(found[0].rule);
            assert_eq!(found[0].rule, Rule::NotForProjects);
        }
        seen.insert(rule);
    }
    let unknown = look(r#"{"hooksConfig":{"agents":["claude","cluade"]}}"#);
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert_eq!((unknown[0].rule, unknown[0].location.column), (Rule::UnknownAgent, 36));
    seen.insert(Rule::UnknownAgent);
    let unknown = look(r#"{"hooks":{"PreToolUse":[{"language":"cluade","hooks":[{}]}]}}"#);
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert_eq!((unknown[0].rule, unknown[0].location.column), (Rule::UnknownLanguage, 37));
    seen.insert(Rule::UnknownLanguage);
    // What is wrong with another agent's file is said with its place, too.
    let project = Project::new();
    let text = r#"{"hooks":{"preToolUse":[],"Stop":[{"hooks":[{"type":"prompt"},{"type":"agent","prompt":"p"}]}]}}"#;
    let path = project.write(".claude/settings.json", text);
    let source = SettingsSource::explicit(path);
    let source = source.for_language(hook_agents::agent("claude").unwrap(), None);
    for problem in &check(&[source], &CheckContext::default())[0].file.diagnostics {
        let marked = &text[problem.location.column - 1..problem.location.end_column - 1];
        let expected = match problem.rule {
            Rule::ForeignUnused => "[]",
            Rule::ForeignLost => r#"{"type":"agent","prompt":"p"}"#,
            _ => r#"{"type":"prompt"}"#,
        };
        assert_eq!(marked, expected, "{problem:?}");
        seen.insert(problem.rule);
    }
    // Of what is found beside settings.
    let project = Project::new();
    project.write(".hooks/pre/README", "");
    project.write(".hooks/post/sub/README", "");
    project.write(".hooks/rules/sub/README", "");
    let module = r#"{"type":"module","path":"m.mjs"}"#;
    let text = format!(r#"{{"hooks":{{"*":[{{"hooks":[{module},{module}]}}]}}}}"#);
    let path = project.write(".hooks/settings.json", &text);
    project.write("m.mjs", "");
    let source = SettingsSource::optional(HookSource::Project, path);
    let mut unused = Vec::new();
    for problem in &check(&[source], &CheckContext::default())[0].file.diagnostics {
        match problem.rule {
            Rule::UnusedFile => unused.push(problem.location.to_string()),
            _ => {
                let marked = &text[problem.location.column - 1..problem.location.end_column - 1];
                assert_eq!((problem.rule, marked), (Rule::RepeatedModule, module));
            }
        }
        seen.insert(problem.rule);
    }
    for path in ["pre/README", "post/sub", "rules/sub"] {
        assert!(unused.iter().any(|location| location.ends_with(path)), "{path}: {unused:?}");
    }
    // Of what the host lacks.
    let nowhere = CheckContext { lacks_fleets: true, ..CheckContext::default() };
    let upstream = |more: &str| format!(r#"{{"nats":"tls://b","events":["BeforeTool"{more}}}"#);
    for (upstream, rule, said) in [
        (upstream("]"), Rule::UpstreamUnsupported, "its events are blocked"),
        (
            upstream(r#"],"failBehavior":"continue""#),
            Rule::UpstreamUnsupported,
            "its events go on without being asked about",
        ),
        // Said once.
        (upstream(r#","BeforeAgent"]"#), Rule::UpstreamUnsupported, "its events are blocked"),
        (upstream(r#","Nothing"]"#), Rule::InvalidUpstream, "there is no event"),
    ] {
        let text = format!(r#"{{"hooksConfig":{{"upstream":{upstream}}}}}"#);
        let path = project.write("users.json", &text);
        let source = SettingsSource::optional(HookSource::User, path);
        let found = check(std::slice::from_ref(&source), &nowhere).remove(0).file.diagnostics;
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].rule == rule && found[0].message.contains(said), "{found:?}");
        if rule == Rule::UpstreamUnsupported {
            let (start, end) = (found[0].location.column - 1, found[0].location.end_column - 1);
            assert_eq!(text[start..end], upstream);
            let known = check(&[source], &CheckContext::default()).remove(0);
            assert!(known.file.diagnostics.is_empty(), "{known:?}");
        }
        seen.insert(rule);
    }
    // Of modules, which are loaded: `a_module_that_cannot_be_loaded_is_a_problem_with_its_place`.
    seen.insert(Rule::ModuleNotLoaded);
    // Of Codex: `a_file_that_codex_refuses_gets_no_entry_and_is_no_connection`.
    seen.insert(Rule::ForeignRefused);
    // Of rules: `a_mistake_is_reported_with_its_line_and_costs_one_rule`.
    seen.insert(Rule::InvalidRule);
    // Of a project alone.
    let text = one("BeforeTool", "", r#""command":"true","env":{"NODE_OPTIONS":"--import ./x"}"#);
    let file = parse(&text, HookSource::Project, None);
    seen.extend(file.diagnostics.iter().map(|problem| problem.rule));
    // Of what is gone when settings are read again.
    let gone = SettingsSource::optional(HookSource::User, project.path().join("gone.json"));
    let text = r#"{"hooksConfig":{"upstream":{"nats":"tls://b","events":["BeforeTool"]}}}"#;
    let before = parse(text, gone.source.clone(), Some(gone.path.clone()));
    for file in reload_files(&[gone], &[before], false, &mut Events::built_in(), |_| {}) {
        seen.extend(file.diagnostics.iter().map(|problem| problem.rule));
    }
    assert_eq!(seen, Rule::ALL.iter().copied().collect(), "each rule has its problem here");
    for command in NO_PROBLEM {
        let command = serde_json::to_string(command).unwrap();
        let found = look(&one("BeforeTool", "", &format!("\"command\":{command}")));
        assert!(found.is_empty(), "{command}: {found:?}");
    }
}

#[test]
fn what_is_too_much_is_counted() {
    let keys: Vec<String> = (0..120).map(|number| format!("\"x{number}\":0")).collect();
    let disabled: Vec<String> = (0..30).map(|number| format!("\"d{number}\"")).collect();
    let project = project(&format!(
        r#"{{"hooksConfig":{{{},"disabled":[{}]}}}}"#,
        keys.join(","),
        disabled.join(",")
    ));
    let lines = checked(&project, &["--json"]).lines();
    assert_eq!(lines.len(), 101);
    assert_eq!(lines[100]["message"], "50 more problems are not listed");
    assert_eq!((&lines[100]["rule"], lines[100].get("line")), (&json!("too-many-problems"), None));
}

#[test]
fn hooks_are_known_by_name_across_files() {
    let project = Project::new();
    let hook = |name: &str| one("BeforeTool", "", &format!(r#""command":"true","name":"{name}""#));
    let disabling = |name: &str, text: &str| {
        text.replacen('{', &format!(r#"{{"hooksConfig":{{"disabled":["{name}"]}},"#), 1)
    };
    let found = |own: &str, users: &str| {
        let sources = [
            SettingsSource::optional(HookSource::Project, project.write("own.json", own)),
            SettingsSource::optional(HookSource::User, project.write("users.json", users)),
        ];
        let surroundings = CheckContext { project: project.path(), ..CheckContext::default() };
        let files = check(&sources, &surroundings);
        let problems = files.iter().flat_map(|file| &file.file.diagnostics);
        problems.map(|it| format!("{} {}", it.severity.as_str(), it.message)).collect::<Vec<_>>()
    };
    let place = project.path().join("own.json");
    for (own, users, expected) in [
        (hook("a"), disabling("a", r#"{"hooks":{}}"#), None),
        (hook("a"), disabling("aa", &hook("b")), Some("warning `aa` names no hook".to_owned())),
        (hook("a"), disabling("elsewhere", &hook("b")), Some("hint `elsewhere` names no hook".to_owned())),
        (disabling("b", &hook("a")), hook("b"), Some(
            "warning `b` is a hook of the user settings, which project settings cannot switch off".to_owned())),
        (hook("a"), hook("a"), Some(format!(
            "warning the hook `a` is defined already at {}:1:35, for the same event and matcher; it runs once",
            place.display()))),
        (hook("a"), hook("b"), None),
        (hook("a"), hook("a").replace("BeforeTool", "AfterTool"), None),
        (hook("a"), hook("a").replace(r#"[{"hooks""#, r#"[{"matcher":"Bash","hooks""#), None),
    ] {
        assert_eq!(found(&own, &users), Vec::from_iter(expected), "{own} {users}");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_not_the_same_as_no_settings() {
    let project = Project::new();
    let settings = project.write(".hooks/settings.json", "{}");
    std::fs::remove_file(&settings).unwrap();
    std::os::unix::fs::symlink("gone.json", &settings).unwrap();
    let finished = Hook::new(&project, &["check"]).run();
    assert_eq!(finished.status, 1, "{finished:?}");
    assert!(finished.stdout.contains("error[unreadable-file]"), "{finished:?}");
    let fired = Hook::new(&project, &["fire", "BeforeTool", "--json"]).run();
    assert!(fired.lines()[0]["warnings"][0].as_str().unwrap().contains("failed to read"));
}

#[test]
fn what_an_agents_hook_starts_is_looked_for_where_the_agent_starts_it() {
    let project = Project::new();
    let hook = |command: &str| json!({"version": 1, "hooks": {"beforeShellExecution": [{"command": command}]}});
    let cursor = |command: &str| project.write(".cursor/hooks.json", &hook(command).to_string());
    cursor("./hooks/audit.sh");
    let missing = Hook::new(&project, &["check", "--agent", "cursor"]).run();
    assert!(missing.status == 1 && missing.stdout.contains("script-missing"), "{missing:?}");
    cursor("no-such-program --x");
    let missing = Hook::new(&project, &["check", "--agent", "cursor"]).run();
    assert!(missing.stdout.contains("`no-such-program` is not on PATH"), "{missing:?}");
    cursor("true");
    let fine = Hook::new(&project, &["check", "--agent", "cursor"]).run();
    assert!(fine.stdout.starts_with("no problems"), "{fine:?}");
}
