//! `hook test`.

use hook_tests::{Finished, Hook, Project, workspace};
use serde_json::json;

const SETTINGS: &str = "--settings=settings.json";

/// A guard that refuses shells, one that asks about writing, and scenarios of them.
fn project() -> Project {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": "shell", "hooks": [{"type": "command", "name": "guard",
            "command": "echo 'not today' >&2; exit 2"}]},
        {"matcher": "write", "hooks": [{"type": "command", "name": "asks",
            "command": "echo '{\"decision\":\"ask\",\"reason\":\"one\\ntwo\\nthree\"}'"}]},
    ]}}));
    project.write("tests/good.toml", GOOD);
    project.write("tests/below/bad.toml", BAD);
    project.write("tests/below/notes.txt", "no scenario");
    project.write("tests/.hidden/broken.toml", "nonsense");
    project
}

const GOOD: &str = r#"[[test]]
name = "a shell is refused"
event = "BeforeTool"
input = { tool_name = "shell", tool_input = {} }
expect = { decision = "block", reason = "/not +today/", hooks = ["guard"], healthy = false }

[[test]]
name = "nonsense is answered"
message = "nonsense"
expect = { error = "invalid_request" }

[[test]]
name = "reading is nobody's business"
event = "BeforeTool"
input = { tool_name = "read", tool_input = {} }
[test.expect]
decision = "proceed"
hooks = []
response = { output = { success = true } }
"#;

const BAD: &str = r#"# What a shell may do.
[[test]]
name = "a shell is welcome"
event = "BeforeTool"
input = { tool_name = "shell", tool_input = {} }
expect = { decision = "proceed", reason = "/never/", systemMessage = "hello" } # as ever

[[test]]
name = "writing is asked about"
event = "BeforeTool"
input = { tool_name = "write", tool_input = {} }

[test.expect]
decision = "ask" # it does
hooks = [
  "asks", # the first one
  "gone",
]
reason = """
one
2
three"""

[[test]]
name = "nothing is expected"
event = "BeforeTool"
[test.input]
tool_name = "shell"
tool_input = {}

[[test]]
name = "an input that is none"
event = "BeforeTool"
expect.decision = "proceed"
"#;

fn test(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, &[&["test", SETTINGS], arguments].concat()).run()
}

#[test]
fn the_redactor_of_the_page_about_scenarios_can_be_tested_as_it_says() {
    let page = std::fs::read_to_string(workspace().join("docs/scenarios.md")).unwrap();
    let scenario = page.split("```toml\n").nth(2).unwrap().split("```").next().unwrap();
    let script = "import json, re, sys
answer = json.load(sys.stdin)['llm_response']
for candidate in answer['candidates']:
    parts = candidate['content']['parts']
    candidate['content']['parts'] = [re.sub('sk-[0-9]+', '[hidden]', part) for part in parts]
print(json.dumps({'hookSpecificOutput': {'llm_response': {'candidates': answer['candidates']}}}))
";
    let project = Project::with_hook("AfterModel", "python3 redact.py");
    project.write("redact.py", script);
    project.write("scenario.toml", scenario);
    let finished = test(&project, &["scenario.toml"]);
    assert_eq!(finished.status, 0, "{}", finished.stdout);
    project.write("scenario.toml", &scenario.replace("[hidden]", "sk-123"));
    assert_eq!(test(&project, &["scenario.toml"]).status, 1);
}

#[test]
fn what_passes_takes_one_line_a_test() {
    let project = project();
    let finished = test(&project, &["tests/good.toml"]);
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 0
    ----- stdout -----
         Running 3 tests from 1 file
            PASS [   [TIME]] tests/good.toml::a shell is refused
            PASS [   [TIME]] tests/good.toml::nonsense is answered
            PASS [   [TIME]] tests/good.toml::reading is nobody's business
    ------------
         Summary [   [TIME]] 3 tests run: 3 passed, 0 failed, 0 skipped
    ----- stderr -----
    ");
}

#[test]
fn what_fails_is_shown_with_all_there_is_to_know_and_named_again_at_the_end() {
    let project = project();
    let finished = test(&project, &["tests"]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
    status: 1
    ----- stdout -----
         Running 7 tests from 2 files
            FAIL [   [TIME]] tests/below/bad.toml::a shell is welcome
      processed.decision
        expected: "proceed"
        found:    "block"
      processed.reason
        expected: "/never/"
        found:    "not today"
      processed.systemMessage
        expected: "hello"
        found:    null
      BeforeTool block a shell is welcome
        reason: not today
        ✗ guard explicit [TIME] exit 2 block
      stderr of guard:
        not today

            FAIL [   [TIME]] tests/below/bad.toml::writing is asked about
      processed.reason
        - expected + found
          one
        - 2
        + two
          three
      hooks
        expected: ["asks","gone"]
        found:    ["asks"]
      BeforeTool ask writing is asked about
        reason: one
          two
          three
        ? asks explicit [TIME] exit 0 ask
      stdout of asks:
        {"decision":"ask","reason":"one\ntwo\nthree"}

            PASS [   [TIME]] tests/below/bad.toml::nothing is expected
            FAIL [   [TIME]] tests/below/bad.toml::an input that is none
      processed.decision
        expected: "proceed"
        found:    null
      success
        expected: true
        found:    false
      BeforeTool invalid_payload an input that is none
        error: invalid BeforeTool input: field `tool_name`: expected a non-empty string of at most 1 KiB, found nothing

            PASS [   [TIME]] tests/good.toml::a shell is refused
            PASS [   [TIME]] tests/good.toml::nonsense is answered
            PASS [   [TIME]] tests/good.toml::reading is nobody's business
    ------------
         Summary [   [TIME]] 7 tests run: 4 passed, 3 failed, 0 skipped
            FAIL [   [TIME]] tests/below/bad.toml::a shell is welcome
            FAIL [   [TIME]] tests/below/bad.toml::writing is asked about
            FAIL [   [TIME]] tests/below/bad.toml::an input that is none
    ----- stderr -----
    "#);
}

#[test]
fn a_filter_leaves_the_other_tests_out() {
    let project = project();
    for (arguments, listed) in [
        (vec![], 7),
        (vec!["--filter", "a shell"], 2),
        (vec!["--filter", "good.toml::"], 3),
        (vec!["--filter", "good.toml::a shell", "--filter", "writing"], 2),
        (vec!["--filter", "tests/good.toml::a shell is refused", "--exact"], 1),
    ] {
        let list = [&["tests", "tests/good.toml", "--list"], &arguments[..]].concat();
        let finished = test(&project, &list);
        assert_eq!(
            (finished.status, finished.stdout.lines().count()),
            (0, listed),
            "{arguments:?}"
        );
    }
    let one = test(&project, &["tests", "--filter", "good.toml::a shell"]);
    insta::assert_snapshot!(one.shown(&project), @r"
    status: 0
    ----- stdout -----
         Running 1 test from 1 file
            PASS [   [TIME]] tests/good.toml::a shell is refused
    ------------
         Summary [   [TIME]] 1 test run: 1 passed, 0 failed, 6 skipped
    ----- stderr -----
    ");
    let none = test(&project, &["tests", "--filter", "good.toml::a shell", "--exact"]);
    insta::assert_snapshot!(none.shown(&project), @r#"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: no test to play: no FILE::NAME is "good.toml::a shell"; `hook test tests --list` shows them all
    "#);
}

#[test]
fn tests_are_listed_with_their_file_and_in_json_with_their_line() {
    let project = project();
    let list = test(&project, &["tests", "--list"]);
    insta::assert_snapshot!(list.shown(&project), @r"
    status: 0
    ----- stdout -----
    tests/below/bad.toml::a shell is welcome
    tests/below/bad.toml::writing is asked about
    tests/below/bad.toml::nothing is expected
    tests/below/bad.toml::an input that is none
    tests/good.toml::a shell is refused
    tests/good.toml::nonsense is answered
    tests/good.toml::reading is nobody's business
    ----- stderr -----
    ");
    let json = test(&project, &["tests/good.toml", "--list", "--json"]);
    insta::assert_snapshot!(json.shown(&project), @r#"
    status: 0
    ----- stdout -----
    {"file":"tests/good.toml","test":"a shell is refused","line":1}
    {"file":"tests/good.toml","test":"nonsense is answered","line":7}
    {"file":"tests/good.toml","test":"reading is nobody's business","line":12}
    ----- stderr -----
    "#);
}

#[test]
fn json_is_one_line_a_test_with_the_response_of_what_failed() {
    let project = project();
    let finished = test(&project, &["tests", "--json"]);
    assert_eq!(finished.status, 1);
    let mut lines = finished.lines();
    assert_eq!(lines.len(), 7);
    let response = lines[0]["response"].take();
    assert_eq!(response["processed"]["decision"], "block");
    assert_eq!(response["hooks"][0]["stderr"], "not today\n");
    assert!(lines[0]["duration"].take().as_f64().is_some_and(|time| time > 0.0));
    assert_eq!(
        lines[0],
        json!({"file": "tests/below/bad.toml", "line": 2, "test": "a shell is welcome",
            "status": "failed", "passed": false, "duration": null, "response": null, "mismatches": [
            {"path": "processed.decision", "key": "expect.decision",
                "expected": "proceed", "found": "block"},
            {"path": "processed.reason", "key": "expect.reason",
                "expected": "/never/", "found": "not today"},
            {"path": "processed.systemMessage", "key": "expect.systemMessage",
                "expected": "hello", "found": null}]})
    );
    assert_eq!(lines[6]["status"], "passed");
    assert_eq!(lines[6].get("response"), None);
}

#[test]
fn an_update_writes_what_was_found_and_leaves_the_rest_as_it_was() {
    let project = project();
    let finished = test(&project, &["tests", "--update"]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
    status: 1
    ----- stdout -----
         Running 7 tests from 2 files
          UPDATE [   [TIME]] tests/below/bad.toml::a shell is welcome
      expect.decision
        before: "proceed"
        now:    "block"
      expect.reason
        before: "/never/"
        now:    "not today"
      expect.systemMessage
        removed, since nothing is there; it was "hello"
          UPDATE [   [TIME]] tests/below/bad.toml::writing is asked about
      expect.reason
        before: "one\n2\nthree"
        now:    "one\ntwo\nthree"
      expect.hooks
        before: ["asks","gone"]
        now:    ["asks"]
          UPDATE [   [TIME]] tests/below/bad.toml::nothing is expected
      expect.decision
        added: "block"
      expect.hooks
        added: ["guard"]
      expect.reason
        added: "not today"
            FAIL [   [TIME]] tests/below/bad.toml::an input that is none
      expect is not updated: the request failed, which is seldom what a test should expect; if it is, write `error` by hand
      processed.decision
        expected: "proceed"
        found:    null
      success
        expected: true
        found:    false
      BeforeTool invalid_payload an input that is none
        error: invalid BeforeTool input: field `tool_name`: expected a non-empty string of at most 1 KiB, found nothing

            PASS [   [TIME]] tests/good.toml::a shell is refused
            PASS [   [TIME]] tests/good.toml::nonsense is answered
            PASS [   [TIME]] tests/good.toml::reading is nobody's business
    ------------
         Summary [   [TIME]] 7 tests run: 3 passed, 3 updated, 1 failed, 0 skipped
            FAIL [   [TIME]] tests/below/bad.toml::an input that is none
    ----- stderr -----
    "#);
    assert_eq!(project.read("tests/good.toml"), GOOD);
    insta::assert_snapshot!(project.read("tests/below/bad.toml"), @r#"
    # What a shell may do.
    [[test]]
    name = "a shell is welcome"
    event = "BeforeTool"
    input = { tool_name = "shell", tool_input = {} }
    expect = { decision = "block", reason = "not today" } # as ever

    [[test]]
    name = "writing is asked about"
    event = "BeforeTool"
    input = { tool_name = "write", tool_input = {} }

    [test.expect]
    decision = "ask" # it does
    hooks = [
      "asks", # the first one
    ]
    reason = """
    one
    two
    three"""

    [[test]]
    name = "nothing is expected"
    event = "BeforeTool"
    expect = { decision = "block", hooks = ["guard"], reason = "not today" }
    [test.input]
    tool_name = "shell"
    tool_input = {}

    [[test]]
    name = "an input that is none"
    event = "BeforeTool"
    expect.decision = "proceed"
    "#);
    let again = test(&project, &["tests"]);
    assert!(again.stdout.contains("7 tests run: 6 passed, 1 failed"), "{again:?}");
}

#[test]
fn an_update_says_in_json_what_it_wrote() {
    let project = project();
    let finished = test(&project, &["tests/below", "--update", "--json"]);
    let lines = finished.lines();
    let statuses: Vec<_> = lines.iter().map(|line| line["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["updated", "updated", "updated", "failed"]);
    assert_eq!(
        lines[0]["updated"][2],
        json!({"key": "expect.systemMessage", "before": "hello", "after": null})
    );
    assert_eq!(lines[3]["notUpdated"][0]["key"], "expect");
}

#[test]
fn an_update_keeps_line_ends_permissions_and_what_looks_like_an_expression_literal() {
    let project = Project::with_hook("SessionEnd", "echo /etc/ >&2; exit 2");
    let text = "[[test]]\r\nname = 'a'\r\nevent = 'SessionEnd'\r\ninput.reason = 'exit'\r\n\
        expect = { reason = '/var/', decision = 'block' } # so\r\n";
    let path = project.write("a.toml", text);
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, project.path().join("link.toml")).unwrap();
    let updated = test(&project, &["link.toml", "--update"]);
    assert_eq!(updated.status, 0, "{updated:?}");
    let now = project.read("a.toml");
    assert_eq!(now, text.replace("'/var/'", "\"/^/etc/$/\""));
    assert_eq!(test(&project, &["a.toml"]).status, 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(project.path().join("link.toml").is_symlink(), "a link stays a link");
    }
}

#[test]
fn an_update_writes_nothing_of_a_request_that_was_cut_off() {
    let project = Project::with_hook("SessionEnd", "exec sleep 1000");
    let text = "[[test]]\nname = 'a'\nevent = 'SessionEnd'\ninput.reason = 'exit'\n";
    project.write("a.toml", text);
    let finished = test(&project, &["a.toml", "--update", "--timeout", "200"]);
    assert_eq!(finished.status, 1);
    assert!(finished.stdout.contains("not updated: the request was cut off"), "{finished:?}");
    assert_eq!(project.read("a.toml"), text);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_tests_and_no_file_is_touched() {
    // The hook signals the command that runs it.
    let project = Project::with_hook("SessionEnd", "kill -INT $PPID; exec sleep 1000");
    let one = "[[test]]\nname = 'a'\nevent = 'SessionEnd'\ninput.reason = 'exit'\n";
    project.write("a.toml", &one.repeat(3));
    let finished = test(&project, &["a.toml", "--update"]);
    assert_eq!(finished.status, 128 + 2, "{finished:?}");
    assert!(
        finished.stdout.contains("1/3 tests run: 0 passed, 1 failed, 2 skipped"),
        "{finished:?}"
    );
    assert_eq!(project.read("a.toml"), one.repeat(3));
}

#[test]
fn a_file_that_is_named_twice_is_played_once() {
    let project = project();
    let file = project.path().join("tests/good.toml");
    let twice = test(&project, &["tests/good.toml", "./tests/good.toml", file.to_str().unwrap()]);
    assert!(twice.stdout.contains("3 tests run"), "{twice:?}");
}

#[test]
fn fail_fast_begins_no_test_after_a_failure() {
    let project = project();
    let fast = test(&project, &["tests/below/bad.toml", "--fail-fast"]);
    let end = fast.stdout.split("------------\n").nth(1).unwrap();
    assert_eq!(fast.status, 1);
    assert!(end.contains("1/4 tests run: 0 passed, 1 failed, 3 skipped"), "{end}");
    let slow = test(&project, &["tests/below/bad.toml", "--fail-fast", "--no-fail-fast"]);
    assert!(slow.stdout.contains("4 tests run: 1 passed, 3 failed, 0 skipped"), "{slow:?}");
}

/// A hook that goes on only when as many of it run at once as it is told to wait for.
fn together(count: usize) -> String {
    format!(
        "touch here.$$; for _ in $(seq 300); do set -- here.*; [ $# -ge {count} ] && exit 0; \
         sleep 0.1; done; exit 2"
    )
}

#[test]
fn files_are_played_side_by_side_and_so_are_tests_of_a_file_that_says_so() {
    let settings = json!({"hooks": {"SessionEnd": [
        {"hooks": [{"type": "command", "name": "together", "command": together(3)}]}]}});
    let one = |name: &str| {
        format!(
            "[[test]]\nname = '{name}'\nevent = 'SessionEnd'\ninput.reason = 'exit'\n\
             expect.decision = 'proceed'\n"
        )
    };
    let project = Project::with_settings(&settings);
    for name in ["a", "b", "c"] {
        project.write(&format!("tests/{name}.toml"), &one(name));
    }
    let files = test(&project, &["tests", "--jobs", "3"]);
    assert_eq!(files.status, 0, "{files:?}");
    let order: Vec<usize> =
        ["a.toml::a", "b.toml::b", "c.toml::c"].map(|it| files.stdout.find(it).unwrap()).into();
    assert!(order.is_sorted(), "{}", files.stdout);

    let project = Project::with_settings(&settings);
    project.write("all.toml", &format!("parallel = true\n{}{}{}", one("a"), one("b"), one("c")));
    let tests = test(&project, &["all.toml", "--jobs", "3"]);
    assert_eq!(tests.status, 0, "{tests:?}");
}

#[test]
fn tests_of_a_file_are_played_one_after_the_other() {
    // The hook refuses to run beside itself.
    let project = Project::with_hook("SessionEnd", "mkdir busy || exit 2; sleep 0.05; rmdir busy");
    let test_of = |name: usize| {
        format!(
            "[[test]]\nname = '{name}'\nevent = 'SessionEnd'\ninput.reason = 'exit'\n\
             expect.decision = 'proceed'\n"
        )
    };
    project.write("a.toml", &(0..4).map(test_of).collect::<String>());
    let finished = test(&project, &["a.toml", "--jobs", "4"]);
    assert_eq!(finished.status, 0, "{finished:?}");
}

#[test]
fn a_junit_report_has_a_suite_a_file_and_nothing_that_xml_forbids() {
    let project = Project::with_hook(
        "SessionEnd",
        r"printf '{}\n'; printf '\033[31mred\033[0m \001 ]]> <b> & \377' >&2",
    );
    project.write(
        "a.toml",
        "[[test]]\nname = 'a <b>'\nevent = 'SessionEnd'\ninput.reason = 'exit'\n\
         expect.decision = 'block'\n[[test]]\nname = 'two'\nmessage = 'x'\n\
         expect.error = 'invalid_request'\n",
    );
    let finished = test(&project, &["a.toml", "--junit", "out/report.xml"]);
    assert_eq!(finished.status, 1);
    let time = fancy_regex::Regex::new(r#"time="\d+\.\d+""#).unwrap();
    let report = project.read("out/report.xml");
    insta::assert_snapshot!(time.replace_all(&report, "[TIME]"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="hook test" tests="2" skipped="0" failures="1" errors="0" [TIME]>
        <testsuite name="a.toml" tests="2" skipped="0" errors="0" failures="1" [TIME]>
            <testcase name="a &lt;b&gt;" classname="a.toml" [TIME]>
                <failure message="processed.decision: expected &quot;block&quot;, found &quot;proceed&quot;" type="mismatch">processed.decision: expected &quot;block&quot;, found &quot;proceed&quot;</failure>
                <system-out>printf &apos;{}\n&apos;; printf &apos;\033[31mred\033[0m \001 ]]&gt; &lt;b&gt; &amp; \377&apos; &gt;&amp;2:
    {}
    </system-out>
                <system-err>printf &apos;{}\n&apos;; printf &apos;\033[31mred\033[0m \001 ]]&gt; &lt;b&gt; &amp; \377&apos; &gt;&amp;2:
    red  ]]&gt; &lt;b&gt; &amp; �
    </system-err>
            </testcase>
            <testcase name="two" classname="a.toml" [TIME]/>
        </testsuite>
    </testsuites>
    "#);
    // A reader of XML has the last word on it.
    let parse = "import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])";
    let parsed = std::process::Command::new("python3")
        .args(["-c", parse, "out/report.xml"])
        .current_dir(project.path())
        .status();
    assert!(parsed.unwrap().success());
}

#[test]
fn every_broken_file_is_named_with_the_place_before_anything_is_played() {
    let project = Project::with_hook("SessionEnd", "touch ran");
    let test_of = |rest: &str| format!("[[test]]\nname = 'a'\nevent = 'SessionEnd'\n{rest}\n");
    for (name, text) in [
        ("0-good", test_of("input.reason = 'exit'")),
        ("1-unknown", test_of("expect = { decison = 'x' }")),
        ("2-pattern", test_of("expect.output.a = ['b', '/(/']")),
        ("3-word", test_of("expect = { decision = 'deny' }")),
        ("4-both", test_of("message = 'x'")),
        ("5-date", test_of("input = { on = 1979-05-27 }")),
        ("6-number", test_of("[[test.expect.response.hooks]]\nduration = nan")),
        ("7-nonsense", "nonsense".to_owned()),
        ("8-empty", "# nothing".to_owned()),
        ("9a-event", test_of("").replace("SessionEnd", "Stop")),
        ("9b-changed", test_of("expect = { llm_response = { text = 'x' } }")),
    ] {
        project.write(&format!("tests/{name}.toml"), &text);
    }
    let finished = test(&project, &["tests"]);
    assert_eq!(project.read("ran"), "");
    assert!(!project.path().join("ran").exists());
    insta::assert_snapshot!(finished.shown(&project), @r#"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: tests/1-unknown.toml:4:12: not a scenario: unknown key `decison`; did you mean `decision`?
       |
     4 | expect = { decison = 'x' }
       |            ^^^^^^^
    error: tests/2-pattern.toml:4:25: /(/ is not a regular expression: Parsing error at position 1: Opening parenthesis without closing parenthesis
       |
     4 | expect.output.a = ['b', '/(/']
       |                         ^^^^^
    error: tests/3-word.toml:4:23: `decision` is never "deny"; it is one of proceed, ask, retry, block, stop
       |
     4 | expect = { decision = 'deny' }
       |                       ^^^^^^
    error: tests/4-both.toml:2:8: test "a" needs either `event` (with `input`) or `message`, and not both
       |
     2 | name = 'a'
       |        ^^^
    error: tests/5-date.toml:4:16: a date or time has no form in JSON, and no hook ever sees one; write it as a text
       |
     4 | input = { on = 1979-05-27 }
       |                ^^^^^^^^^^
    error: tests/6-number.toml:5:12: an infinite number, or one that is none, has no form in JSON, and no hook ever sees one; write it as a text
       |
     5 | duration = nan
       |            ^^^
    error: tests/7-nonsense.toml:1:9: not a scenario: key with no value, expected `=`
       |
     1 | nonsense
       |         ^
    error: tests/8-empty.toml:1:1: the scenario has no [[test]]
    error: tests/9a-event.toml:3:9: there is no event "Stop"; what other agents call so is AfterAgent here
       |
     3 | event = 'Stop'
       |         ^^^^^^
    error: tests/9b-changed.toml:4:12: not a scenario: unknown key `llm_response`; what hooks answer there is expected as `output = { hookSpecificOutput = { llm_response = ... } }`
       |
     4 | expect = { llm_response = { text = 'x' } }
       |            ^^^^^^^^^^^^
    "#);
}

#[test]
fn what_is_not_there_is_said() {
    let project = Project::new();
    project.write("empty/notes.txt", "");
    let missing = Hook::new(&project, &["test", "no-such.toml"]).run();
    insta::assert_snapshot!(missing.shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to read no-such.toml: No such file or directory (os error 2)
    ");
    let empty = Hook::new(&project, &["test", "empty"]).run();
    insta::assert_snapshot!(empty.shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: there is no *.toml file in or below empty
    ");
    for wrong in [
        vec!["test"],
        vec!["test", "a.toml", "--exact"],
        vec!["test", "a.toml", "--jobs", "0"],
        vec!["test", "a.toml", "--list", "--update"],
    ] {
        assert_eq!(Hook::new(&project, &wrong).run().status, 64, "{wrong:?}");
    }
}

#[test]
fn a_reader_that_leaves_changes_neither_the_verdict_nor_what_is_written() {
    let project = Project::with_hook("SessionEnd", "exit 0");
    project.write(
        "fails.toml",
        "[[test]]\nname = \"a\"\nevent = \"SessionEnd\"\ninput = { reason = \"exit\" }\n\
         expect = { decision = \"block\" }\n",
    );
    let line = "hook test fails.toml --settings settings.json --junit report.xml | true; \
                exit ${PIPESTATUS[0]}";
    let mut bash = project.command("bash");
    let status = bash.args(["-c", line]).env("PATH", hook_tests::path_with_hook()).status();
    let status = status.unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(
        project.read("report.xml").contains("failures=\"1\""),
        "{}",
        project.read("report.xml")
    );
    let own = ["test", "fails.toml", "--settings=settings.json", "--junit", "fails.toml"];
    let refused = Hook::new(&project, &own).run();
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(project.read("fails.toml").starts_with("[[test]]"));
}

#[test]
fn only_hooks_of_the_project_are_tested_unless_the_users_are_wanted() {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo mine >&2; exit 2"}]}]}});
    std::fs::write(folder.join("settings.json"), hooks.to_string()).unwrap();
    project.write(".hooks/settings.json", "{}");
    project.write(
        "own.toml",
        "[[test]]\nname = \"t\"\nevent = \"BeforeTool\"\ninput.tool_name = \"shell\"\n\
         input.tool_input = {}\nexpect = { decision = \"proceed\" }\n",
    );
    let tested = Hook::new(&project, &["test", "own.toml"]).run();
    assert_eq!(tested.status, 0, "{tested:?}");
    let with = Hook::new(&project, &["test", "own.toml", "--user"]).run();
    assert!(with.status == 1 && with.stdout.contains("mine"), "{with:?}");
}
