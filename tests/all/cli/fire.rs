//! `hook fire`: trying hooks by hand.

use hook_protocol::HookEventName;
use hook_tests::{Finished, Hook, Project, workspace};
use serde_json::{Value, json};

fn command(name: &str, command: &str) -> Value {
    json!({"type": "command", "name": name, "command": command})
}

/// A project whose SessionEnd runs these hooks.
fn with_hooks(sequential: bool, hooks: &[Value]) -> Project {
    Project::with_settings(&json!({"hooks": {"SessionEnd": [
        {"sequential": sequential, "hooks": hooks}]}}))
}

fn fire(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, &[&["fire", "--settings=settings.json"], arguments].concat()).run()
}

/// What is shown, without the word on who had to wait, which is a matter of luck.
fn shown(finished: &Finished, project: &Project) -> String {
    finished.shown(project).replace(", waited [TIME]", "")
}

#[test]
fn without_an_input_every_event_is_fired_with_its_sample() {
    let hooks: serde_json::Map<String, Value> = HookEventName::all()
        .map(|event| {
            (event.to_string(), json!([{"hooks": [command("copy", "cat > $HOOK_EVENT_NAME")]}]))
        })
        .collect();
    let project = Project::with_settings(&json!({"hooks": hooks}));
    let page =
        std::fs::read_to_string(workspace().join("docs/reference/generated/events.md")).unwrap();
    for event in HookEventName::all() {
        let finished = fire(&project, &[event.as_str(), "--json"]);
        assert_eq!(finished.status, 0, "{event}: {finished:?}");
        assert!(finished.stderr.starts_with("note: a sample was used"), "{}", finished.stderr);
        let mut told: Value = serde_json::from_str(&project.read(event.as_str())).unwrap();
        let told = told.as_object_mut().unwrap();
        for base in ["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp"] {
            assert!(told.remove(base).is_some(), "{event} without {base}");
        }
        for added in ["kind", "files"] {
            assert_eq!(told.remove(added).is_some(), event.is_tool_event(), "{event} {added}");
        }
        let sample = event.sample_input();
        assert_eq!(Value::from(told.clone()), hook_tests::value(sample.as_raw()), "{event}");
        assert!(
            page.contains(sample.as_str()),
            "docs/reference/generated/events.md: {event} {}",
            sample.as_str()
        );
    }
}

#[test]
fn a_tool_can_be_named_with_the_sample_and_an_input_is_taken_as_it_is() {
    let project = Project::with_hook("BeforeTool", "cat");
    for (arguments, tool_input, sample) in [
        (vec!["--tool=edit"], json!({"path": "notes.txt", "content": "Hello"}), true),
        (vec!["--tool=edit", "--input={}"], json!({}), false),
        (vec![r#"--input={"tool_name":"edit","tool_input":{"a":1}}"#], json!({"a": 1}), false),
    ] {
        let finished = fire(&project, &[&["BeforeTool", "--json"], &arguments[..]].concat());
        let told = &finished.lines()[0]["output"]["allOutputs"][0];
        assert_eq!(told["tool_name"], "edit", "{arguments:?}");
        assert_eq!(told["tool_input"], tool_input, "{arguments:?}");
        assert_eq!(finished.stderr.contains("sample"), sample, "{arguments:?}");
    }
    let refused = fire(&project, &["BeforeTool", "--input={}"]);
    insta::assert_snapshot!(shown(&refused, &project), @r"
    status: 1
    ----- stdout -----
    error  BeforeTool
      error: invalid_payload: invalid BeforeTool input: field `tool_name`: expected a non-empty string of at most 1 KiB, found nothing
    ----- stderr -----
    note: the input names no tool; give it with --tool NAME
    ");
    let misplaced = fire(&project, &["BeforeTool", "--tool=edit", r#"--input={"path":"a"}"#]);
    assert_eq!(
        misplaced.stderr,
        "note: the input has no \"tool_input\", so {} is used; a tool's arguments go under it: \
         --input '{\"tool_input\": {...}}'\n"
    );
    project.write("tool.json", "{}");
    let file = fire(&project, &["BeforeTool", "--input=tool.json"]);
    assert_eq!(file.status, 64);
    assert!(file.stderr.ends_with("; did you mean @tool.json?\n"), "{}", file.stderr);
}

#[test]
fn the_sample_of_a_tool_that_runs_commands_is_a_command() {
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeTool": [{"hooks": [command("copy", "cat")]}],
        "AfterTool": [{"hooks": [command("copy", "cat")]}]}}));
    for tool in ["run_shell_command", "Bash", "exec"] {
        let before = fire(&project, &["BeforeTool", "--json", "--tool", tool]).lines().remove(0);
        let before = &before["output"]["allOutputs"][0];
        assert_eq!(before["tool_input"], json!({"command": "ls -l"}), "{tool}");
        assert_eq!(before["tool_response"], Value::Null, "{tool}");
        let after = fire(&project, &["AfterTool", "--json", "--tool", tool]).lines().remove(0);
        let after = &after["output"]["allOutputs"][0];
        assert_eq!(after["tool_response"], json!({"llmContent": "notes.txt"}), "{tool}");
    }
}

#[test]
fn what_a_hook_probably_meant_otherwise_is_a_warning_beside_it() {
    let project = Project::with_settings(&json!({"hooks": {"SessionStart": [{"hooks": [
        command("noisy", r#"echo loading; echo '{"hookSpecificOutput":{"additionalContext":"c"}}'"#),
        command("misplaced", r#"echo '{"additionalContext":"c","descision":"deny"}'"#),
        command("elsewhere", r#"echo '{"decision":"reject","hookSpecificOutput":{"tool_input":{}}}'"#),
    ]}]}}));
    let finished = fire(&project, &["SessionStart", "--json"]);
    assert_eq!(finished.status, 0);
    let response = finished.lines().remove(0);
    let warnings: Vec<_> =
        (0..3).map(|index| response["hooks"][index]["warnings"].clone()).collect();
    assert_eq!(
        warnings,
        [
            json!([
                "stdout is not one JSON value, so the object in it was not used; send logs to stderr"
            ]),
            json!([
                "`descision` is not known and has no effect; did you mean `decision`?",
                "`additionalContext` has no effect here; it belongs into `hookSpecificOutput`"
            ]),
            json!([
                "decision \"reject\" is not known and has no effect; the words are ask, retry, block, deny, approve, allow",
                "`hookSpecificOutput.tool_input` has no effect on SessionStart"
            ]),
        ]
    );
}

#[test]
fn where_no_hook_ran_it_is_said_why_and_what_is_wrong_is_said_once() {
    let project = Project::new();
    project.write(
        ".hooks/settings.json",
        r#"{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "true"}, {"type": "command"}]}]}}"#,
    );
    project.write(
        "settings.json",
        r#"{"hooksConfig": {"disabled": ["off"]},
            "hooks": {"PreCompress": [{"hooks": [{"type": "command", "name": "off", "command": "true"}]}]}}"#,
    );
    insta::assert_snapshot!(Hook::new(&project, &["fire", "SessionEnd"]).run().shown(&project), @r"
    status: 0
    ----- stdout -----
    proceed  SessionEnd exit
      1 hook of this event did not run, since it is not trusted: `hook trust`
    ----- stderr -----
    [PROJECT]/.hooks/settings.json:1:78: error: hooks.SessionEnd[0].hooks[1]: the hook has no `command`, or a blank one; the hook was skipped
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    note: a sample was used as the input; --show-input shows it, --input gives another
    ");
    insta::assert_snapshot!(fire(&project, &["PreCompress"]).shown(&project), @r"
    status: 0
    ----- stdout -----
    proceed  PreCompress manual
      1 hook of this event is switched off; `hook explain` with the same arguments says why
    ----- stderr -----
    note: a sample was used as the input; --show-input shows it, --input gives another
    ");
}

#[test]
fn a_hook_that_cannot_be_started_has_a_hint() {
    let project = with_hooks(
        false,
        &[command("absent", "no-such-program --here"), command("fails", "exit 1")],
    );
    let seen = fire(&project, &["SessionEnd"]).stdout;
    assert_eq!(seen.matches("hint     `hook check` looks at scripts and interpreters").count(), 1);
}

#[test]
fn who_interrupts_is_told_just_that() {
    // The hook signals the command that runs it.
    let project = Project::with_hook("SessionEnd", "kill -INT $PPID; exec sleep 1000");
    let finished = fire(&project, &["SessionEnd"]);
    assert_eq!(finished.status, 130, "{finished:?}");
    assert!(finished.stdout.contains("error: interrupted\n"), "{}", finished.stdout);
}

#[test]
fn as_a_hook_no_sample_stands_in_for_what_was_not_given() {
    let project = Project::with_hook("BeforeTool", "touch ran");
    let finished = fire(&project, &["BeforeTool", "--as-hook"]);
    assert_eq!((finished.status, finished.stdout.as_str()), (1, ""));
    assert!(finished.stderr.contains("field `tool_name`"), "{}", finished.stderr);
    assert!(!project.path().join("ran").exists());
}

#[test]
fn as_a_hook_it_reads_its_input_where_hooks_do() {
    let project = Project::with_hook(
        "BeforeTool",
        "python3 -c 'import json,sys; sys.exit(print(json.load(sys.stdin)[\"tool_input\"][\"path\"], file=sys.stderr) or 2)'",
    );
    let arguments = ["fire", "BeforeTool", "--as-hook", "--settings=settings.json"];
    let hook = |input: &str| Hook::new(&project, &arguments).stdin(input).run();
    let finished = hook(r#"{"tool_name":"edit","tool_input":{"path":"a.txt"}}"#);
    assert_eq!((finished.status, finished.stderr.as_str()), (2, "a.txt\n"));
    let broken = hook("nonsense");
    assert_eq!(broken.status, 64);
    assert!(broken.stderr.starts_with("error: standard input is not JSON: "), "{}", broken.stderr);
}

#[test]
fn people_see_the_decision_first_and_then_all_that_each_hook_did() {
    let slow = json!({"type": "command", "name": "slow", "timeout": 2000,
        "command": "echo begun; exec sleep 60"});
    let strict = json!({"type": "command", "name": "strict", "failBehavior": "block",
        "command": "exit 7"});
    let project = with_hooks(
        false,
        &[
            command("guard", "echo 'not today' >&2; exit 2"),
            command("asks", r#"echo '{"decision":"ask","reason":"sure?"}'"#),
            command("silent", "true"),
            command("talks", r"echo hello; printf '\033[31mred\a\n' >&2"),
            command("warns", "echo careful >&2; exit 1"),
            command("crashes", "kill -9 $$"),
            slow,
            strict,
            command("leaks", "sleep 4 & echo done"),
            command("blank", "printf ' \\n'"),
            json!({"type": "command", "command": "echo nameless\nexit 0"}),
        ],
    );
    let finished = fire(&project, &["SessionEnd"]);
    insta::assert_snapshot!(shown(&finished, &project), @r#"
    status: 2
    ----- stdout -----
    block  SessionEnd exit
      reason: not today
        hook strict failed: Hook exited with code 7
      message: nameless

      ✗ guard            block         exit 2   explicit  [TIME]
          warning  a block has no effect on SessionEnd
          stderr   not today
      ? asks             ask           exit 0   explicit  [TIME]
          stdout   {"decision":"ask","reason":"sure?"}
      ✓ silent           said nothing  exit 0   explicit  [TIME]
      ✓ talks            proceed       exit 0   explicit  [TIME]
          stdout   hello
          stderr   \u{1b}[31mred\u{7}
      ! warns            failed        exit 1   explicit  [TIME]
          error    Hook exited with code 1
          stderr   careful
      ! crashes          failed        SIGKILL  explicit  [TIME]
          error    Hook was terminated by signal SIGKILL
      ! slow             timed out              explicit  [TIME]
          error    Hook timed out after [TIME]
          stdout   begun
      ✗ strict           block         exit 7   explicit  [TIME]
          error    Hook exited with code 7
          warning  a block has no effect on SessionEnd
      ✓ leaks            proceed       exit 0   explicit  [TIME]
          warning  something the hook started still held its output open after it had exited
          stdout   done
      ✓ blank            said nothing  exit 0   explicit  [TIME]
          stdout   nothing but blanks
      ✓ echo nameless …  proceed       exit 0   explicit  [TIME]
          stdout   nameless

    11 hooks in [TIME]: 2 block, 1 ask, 2 said nothing, 3 proceed, 2 failed, 1 timed out
    ----- stderr -----
    note: a sample was used as the input; --show-input shows it, --input gives another
    "#);
}

#[test]
fn what_hooks_write_is_cut_for_people_unless_they_want_it_all() {
    let project = with_hooks(
        false,
        &[
            command("many", "seq 12; printf 'x%.0s' $(seq 450) >&2"),
            command("one more", "seq 11 >&2"),
            command("long", "yes wide | head -c 300000 >&2"),
        ],
    );
    let cut = fire(&project, &["SessionEnd"]);
    insta::assert_snapshot!(shown(&cut, &project).replace(&"x".repeat(400), "[400 x]"), @r"
    status: 0
    ----- stdout -----
    proceed  SessionEnd exit
      message: 1
        2
        3
        4
        5
        6
        7
        8
        9
        10
        … 2 more lines; --full shows all

      ✓ many      proceed       exit 0  explicit  [TIME]
          stdout   1
                   2
                   3
                   4
                   5
                   6
                   7
                   8
                   9
                   10
                   … 2 more lines; --full shows all
          stderr   [400 x]… 50 more characters; --full shows all
      ✓ one more  said nothing  exit 0  explicit  [TIME]
          stderr   1
                   2
                   3
                   4
                   5
                   6
                   7
                   8
                   9
                   10
                   … 1 more line; --full shows all
      ✓ long      said nothing  exit 0  explicit  [TIME]
          warning  37856 bytes of stderr were cut
          stderr   wide
                   wide
                   wide
                   wide
                   wide
                   wide
                   wide
                   wide
                   wide
                   wide
                   … 52419 more lines; --full shows all

    3 hooks in [TIME]: 1 proceed, 2 said nothing
    ----- stderr -----
    note: a sample was used as the input; --show-input shows it, --input gives another
    ");
    let full = fire(&project, &["SessionEnd", "--full"]);
    assert!(full.stdout.contains("\n               12\n"), "{}", full.stdout);
    assert!(
        full.stdout.contains(&"x".repeat(450)) && !full.stdout.contains("more lines"),
        "all of it"
    );
    let json = fire(&project, &["SessionEnd", "--full", "--json"]).lines();
    assert!(json[0]["hooks"][1]["stderr"].as_str().unwrap().ends_with("\n11\n"));
    let without = fire(&project, &["SessionEnd", "--json"]).lines();
    assert_eq!(without[0]["hooks"][1]["stderr"], Value::Null);
}

#[test]
fn in_a_chain_each_hook_shows_what_it_was_told_itself() {
    let project =
        Project::with_settings(&json!({"hooks": {"BeforeTool": [{"sequential": true, "hooks": [
            command("rename", r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b.txt"}}}'"#),
            command("reads", "true"),
            command("reads too", "true"),
        ]}]}}));
    let input = r#"{"tool_name":"edit","tool_input":{"path":"a.txt","deep":[[],{"n":1e007}]},
        "timestamp":"2026-01-01T00:00:00.000Z"}"#;
    let arguments = ["BeforeTool", "--show-input", "--input", input];
    let finished = fire(&project, &arguments);
    insta::assert_snapshot!(shown(&finished, &project), @r#"
    status: 0
    ----- stdout -----
    proceed  BeforeTool edit
      tool_input: {"path":"b.txt"}

      ✓ rename     proceed       exit 0  explicit  [TIME]
          stdin    {
                     "session_id": "cli",
                     "transcript_path": "",
                     "cwd": "[PROJECT]",
                     "hook_event_name": "BeforeTool",
                     "timestamp": "[INSTANT]",
                     "tool_name": "edit",
                     "tool_input": {
                       "path": "a.txt",
                       "deep": [
                         [],
                         {
                           "n": 1e007
                         }
                       ]
                     },
                     "kind": "file_write",
                     "files": [
                       {
                         "path": "[PROJECT]/a.txt",
                         "access": "write"
                       }
                     ]
                   }
          stdout   {"hookSpecificOutput":{"tool_input":{"path":"b.txt"}}}
      ✓ reads      said nothing  exit 0  explicit  [TIME]
          stdin    {
                     "session_id": "cli",
                     "transcript_path": "",
                     "cwd": "[PROJECT]",
                     "hook_event_name": "BeforeTool",
                     "timestamp": "[INSTANT]",
                     "tool_name": "edit",
                     "tool_input": {
                       "path": "b.txt",
                       "deep": [
                         [],
                         {
                           "n": 1e007
                         }
                       ]
                     },
                     "kind": "file_write",
                     "files": [
                       {
                         "path": "[PROJECT]/b.txt",
                         "access": "write"
                       }
                     ]
                   }
      ✓ reads too  said nothing  exit 0  explicit  [TIME]
          stdin    the same as that of the hook above

    3 hooks in [TIME]: 1 proceed, 2 said nothing
    ----- stderr -----
    "#);
    let json = fire(&project, &[&arguments[..], &["--json"]].concat()).lines();
    let paths: Vec<_> =
        (0..3).map(|index| &json[0]["hooks"][index]["input"]["tool_input"]["path"]).collect();
    assert_eq!(paths, ["a.txt", "b.txt", "b.txt"]);
    let without = fire(&project, &[&arguments[..1], &arguments[2..], &["--json"]].concat());
    assert_eq!(without.lines()[0]["hooks"][0]["input"], Value::Null);
}

#[test]
fn where_no_hook_runs_the_input_is_shown_all_the_same() {
    let project = Project::with_hook("BeforeTool", "true");
    let finished = fire(&project, &["PreCompress", "--show-input"]);
    insta::assert_snapshot!(shown(&finished, &project), @r#"
    status: 0
    ----- stdout -----
    proceed  PreCompress manual
      input    {
                 "trigger": "manual"
               }
      no hook matches; `hook explain` with the same arguments says why
    ----- stderr -----
    note: a sample was used as the input; --input gives another
    "#);
}

#[test]
fn a_misspelt_event_is_answered_with_the_nearest_one() {
    let project = Project::with_hook("BeforeTool", "true");
    insta::assert_snapshot!(shown(&fire(&project, &["BeforeTools"]), &project), @r#"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: there is no event "BeforeTools"; did you mean BeforeTool?
    "#);
    let json = fire(&project, &["BeforeTools", "--json"]);
    assert_eq!(
        (json.status, &json.lines()[0]["error"]["details"]["nearest"]),
        (64, &json!("BeforeTool"))
    );
}

#[test]
fn a_hook_that_had_to_wait_for_a_place_says_so() {
    let project = Project::with_settings(&json!({
        "hooksConfig": {"maxConcurrent": 1},
        "hooks": {"SessionEnd": [{"hooks": [command("one", "sleep 0.1"), command("two", "sleep 0.1")]}]}}));
    let finished = fire(&project, &["SessionEnd"]);
    assert!(finished.shown(&project).contains(", waited [TIME]\n"), "{}", finished.stdout);
}

#[test]
fn a_number_that_is_none_is_answered_with_what_is_expected() {
    let project = Project::with_hook("BeforeTool", "true");
    for (arguments, expected) in [
        (&["fire", "SessionEnd", "--timeout=5s"][..], "expected whole milliseconds, such as 5000"),
        (&["test", "x.toml", "--jobs=0"], "expected a whole number of at least 1"),
        (&["run", "x.jsonl", "--concurrent=many"], "expected a whole number of at least 1"),
    ] {
        let finished = Hook::new(&project, arguments).run();
        assert_eq!(finished.status, 64, "{finished:?}");
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    }
}

#[test]
fn what_does_not_go_together_is_wrong_usage() {
    let project = Project::with_hook("BeforeTool", "true");
    for flag in ["--json", "--show-input", "--full"] {
        let finished = fire(&project, &["BeforeTool", "--as-hook", flag]);
        assert_eq!(finished.status, 64, "{flag}: {finished:?}");
        assert!(finished.stderr.contains(flag), "{}", finished.stderr);
    }
    let useless = fire(&project, &["SessionEnd", "--tool=edit"]);
    assert!(useless.stderr.contains("SessionEnd is not about a tool"), "{}", useless.stderr);
}

#[test]
fn an_input_without_an_end_is_refused() {
    let project = Project::new();
    let fire = ["fire", "BeforeTool", "--input"];
    let device = Hook::new(&project, &[&fire[..], &["@/dev/zero"]].concat()).run();
    assert_eq!(device.status, 1);
    assert!(device.stderr.contains("it is a device, and not a regular file"), "{device:?}");
    let long = Hook::new(&project, &[&fire[..], &["-"]].concat()).stdin(vec![b' '; 65 << 20]).run();
    assert_eq!(long.status, 1);
    assert!(long.stderr.contains("it is longer than 67108864 bytes"), "{long:?}");
}

#[test]
fn a_hook_that_a_deadline_cut_off_is_named() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "quick", "command": "true"},
        {"type": "command", "name": "stuck", "command": "sleep 1000"}]}]}}));
    let fire = ["fire", "BeforeTool", "--timeout", "1500", "--settings=settings.json"];
    let shown = Hook::new(&project, &fire).run();
    assert!(shown.stdout.contains("\n  not done: stuck\n"), "{shown:?}");
    let answer = Hook::new(&project, &[&fire[..], &["--json"]].concat()).run().lines();
    assert_eq!(answer[0]["error"]["details"], json!({"unfinished": ["stuck"]}));
}

#[test]
fn who_ends_a_hook_with_1_is_told_what_refuses() {
    let said = "exit 1 is a failure, and the tool runs; exit 2 refuses";
    let project = Project::with_hook("BeforeTool", "echo no >&2; exit 1");
    let fire = ["fire", "BeforeTool", "--tool=shell", "--settings=settings.json"];
    let finished = Hook::new(&project, &fire).run();
    assert!(finished.status == 0 && finished.stdout.contains(said), "{finished:?}");
    // Where nothing can be refused, that would be no help.
    let project = Project::with_hook("SessionEnd", "exit 1");
    let ended = Hook::new(&project, &["fire", "SessionEnd", "--settings=settings.json"]).run();
    assert!(!ended.stdout.contains(said), "{ended:?}");
    // A guard has refused.
    let guard = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "exit 1", "failBehavior": "block"}]}]}});
    let finished = Hook::new(&Project::with_settings(&guard), &fire).run();
    assert!(finished.status == 2 && !finished.stdout.contains(said), "{finished:?}");
}

#[test]
fn a_script_that_python_does_not_find_refuses_and_is_said_to_be_missing() {
    let said = "exit code 2 is Python's own for a script that it cannot open";
    let fire = ["fire", "BeforeTool", "--tool=shell", "--settings=settings.json"];
    let project = Project::with_hook("BeforeTool", "python3 no-such-guard.py");
    let finished = Hook::new(&project, &fire).run();
    assert!(finished.status == 2 && finished.stdout.contains(said), "{finished:?}");
    // A hook that says something of the kind itself has run.
    let own = "echo \"python3: can't open file 'x': [Errno 2]\nand more\" >&2; exit 2";
    let finished = Hook::new(&Project::with_hook("BeforeTool", own), &fire).run();
    assert!(finished.status == 2 && !finished.stdout.contains(said), "{finished:?}");
}
