//! `hook help`.

use hook_core::HookEventName;
use hook_tests::{Hook, Project};
use serde_json::{Value, json};

fn help(arguments: &[&str]) -> String {
    let project = Project::new();
    Hook::new(&project, &[&["help"], arguments].concat()).run().shown(&project)
}

#[test]
fn help_of_a_command_is_what_the_command_says_itself() {
    let project = Project::new();
    for command in ["fire", "test", "help"] {
        let asked = Hook::new(&project, &["help", command]).run();
        let itself = Hook::new(&project, &[command, "--help"]).run();
        assert_eq!(asked, itself);
    }
    let asked = Hook::new(&project, &["help"]).run();
    assert_eq!(asked, Hook::new(&project, &["--help"]).run());
}

#[test]
fn exit_codes_are_a_table() {
    insta::assert_snapshot!(help(&["exit-codes"]), @r"
    status: 0
    ----- stdout -----
    Exit codes of hook
      0        things may go on; the work was done
      1        the engine could not do its job, or a test failed
      2        a hook blocked or stopped, or asked and got no answer
      64       wrong usage: an unknown command, flag, event filter or help topic, a
               missing argument, an input that is not a JSON object, `--project`
               that is a file (1 if there is nothing)
      128 + n  ended by signal n: 129 for SIGHUP, 130 for SIGINT, 131 for SIGQUIT,
               143 for SIGTERM

    Where something of its own fails
      64       the command line is wrong, or names no event
      64 or 2  the event's input is not JSON, or no object
      0        standard output was closed
      1 or 2   no working directory, home, settings, input, thread, descriptor or
               room for output
      1 or 2   a mistake in `hook` itself

      Of two codes, the second is that of `hook fire` if a hook of the event has
      `failBehavior: block`, or may have. A verdict keeps its code.

      A closed output pipe is no failure. `hook COMMAND --help` says more where it
      differs, docs/exit-codes.md says it for each command.
    ----- stderr -----
    ");
    insta::assert_snapshot!(help(&["exit-codes", "--json"]), @r#"
    status: 0
    ----- stdout -----
    {"exitCodes":[{"code":"0","meaning":"things may go on; the work was done"},{"code":"1","meaning":"the engine could not do its job, or a test failed"},{"code":"2","meaning":"a hook blocked or stopped, or asked and got no answer"},{"code":"64","meaning":"wrong usage"},{"code":"128 + n","meaning":"ended by signal n"}]}
    ----- stderr -----
    "#);
}

#[test]
fn the_protocol_fits_a_narrow_terminal_and_names_every_event_and_field() {
    let page = help(&["protocol"]);
    insta::assert_snapshot!(page, @r#"
    status: 0
    ----- stdout -----
    What a hook reads
      One JSON object on standard input, which it need not read. Every event has:
      session_id         Identifies the agent's session.
      transcript_path    The file with the session's transcript; empty when there is
                         none.
      cwd                The agent's working directory.
      hook_event_name    The event.
      timestamp          When the event happened, ISO 8601.

      And it has fields of its own; ? marks what may be missing, () a type other
      than string. Unknown fields are passed on.

    Events
      BeforeTool           a tool is about to run
        reads    tool_name, tool_input (object), mcp_context? (object)
        matcher  tool_name, regular expression
        block    the tool does not run
      AfterTool            a tool ran
        reads    tool_name, tool_input (object), tool_response (any), mcp_context?
                 (object)
        matcher  tool_name, regular expression
        block    the reason replaces the result's content
      BeforeAgent          a prompt was submitted
        reads    prompt
        block    the prompt is refused
      AfterAgent           the agent finished its turn
        reads    prompt, prompt_response, stop_hook_active (boolean)
        block    the agent goes on working, with the reason as prompt
      SessionStart         a session begins
        reads    source (startup, resume, clear, compress)
        matcher  source, exactly
        block    means nothing
      SessionEnd           a session ends
        reads    reason (exit, clear, logout, prompt_input_exit, other)
        matcher  reason, exactly
        block    means nothing
      PreCompress          the conversation is about to be compressed
        reads    trigger (manual, auto)
        matcher  trigger, exactly
        block    means nothing
      BeforeModel          the model is about to be called
        reads    llm_request (object)
        block    the model is not called
      AfterModel           the model answered
        reads    llm_request (object), llm_response (object)
        block    an error response takes the response's place
      BeforeToolSelection  the tools of a model call are about to be chosen
        reads    llm_request (object), available_tools? (array)
        block    no tools may be called (NONE)
      Notification         the agent tells the user something
        reads    message, notification_type?, details? (object), level?
        block    means nothing

      A matcher is compared with one field, exactly or as a JavaScript regular
      expression that may match anywhere in it. Without one, or with *, a hook is
      for all.

    What its exit code means
      0        its standard output is its answer
      2        a denial; standard error is the reason
      other    it failed; standard error is a warning for user and model
      none     killed or too slow: it failed. Things go on after a failure; with
               failBehavior block it is a denial

    What it writes to standard output
      Nothing, or one JSON object. All of it is optional. Anything else is a message
      to the user and the model. Logs go to standard error.
      continue (boolean)          `false` stops the agent.
      stopReason                  Why it stops.
      suppressOutput (boolean)    `true` hides the message from the display.
      systemMessage               A message for the user and the model.
      decision                    `block` or `deny` forbids, `ask` asks the user,
                                  `allow` or `approve` lets it happen.
      reason                      Why it is decided so.
      hookSpecificOutput (object) What only this event knows.

      Fields of hookSpecificOutput:
      hookEventName               The event, for scripts that say it.
      additionalContext           Text for the model.
      permissionDecision          BeforeTool: Counts like `decision`; the stronger
                                  of both wins.
      permissionDecisionReason    BeforeTool: Why it is decided so.
      tool_input (object)         BeforeTool: Fields that replace those of the
                                  tool's input.
      llm_request (object)        BeforeModel: Fields that replace those of the
                                  request.
      llm_response (object)       BeforeModel, AfterModel: A response that takes the
                                  place of the model's.
      toolConfig (object)         BeforeToolSelection: Which tools may be called.
      clearContext (boolean)      AfterAgent: `true` asks for the conversation to be
                                  cleared.

    Its environment
      HOOK_PROJECT_DIR   the project directory; also as CLAUDE_, GEMINI_ and
                         LLXPRT_PROJECT_DIR
      HOOK_EVENT_NAME    the event
      HOOK_SESSION_ID    the session
      HOOK_DEPTH         1, and one more for each engine around this one

    A hook in sh

      #!/bin/sh
      # Keeps the agent out of /etc. Settings: "matcher": "write_file|edit"
      grep -Eq '"(file_)?path": *"/etc/' || exit 0
      echo "/etc is off limits" >&2
      exit 2

    A hook in Python

      #!/usr/bin/env python3
      # Denies /etc, and reminds the model of the tests. For BeforeTool.
      import json, sys
      event = json.load(sys.stdin)
      given = event["tool_input"]
      path = str(given.get("file_path") or given.get("path") or "")
      if path.startswith("/etc/"):
          answer = {"decision": "deny", "reason": path + " is off limits"}
      elif path.endswith(".py"):
          context = "Run the tests after changing " + path
          answer = {"hookSpecificOutput": {"additionalContext": context}}
      else:
          answer = {}
      print(json.dumps(answer))

      Try it with `hook fire`. docs/protocol.md has every detail.
    ----- stderr -----
    "#);
    assert!(page.lines().all(|line| line.chars().count() <= 80));
    for event in HookEventName::all() {
        for name in event.row().fields.iter().map(|field| field.name).chain([event.as_str()]) {
            assert!(page.contains(name), "{name}");
        }
    }
    let project = Project::new();
    let json = Hook::new(&project, &["help", "protocol", "--json"]).run().lines();
    assert_eq!(json[0]["events"].as_array().unwrap().len(), HookEventName::COUNT);
    let event = &json[0]["events"][0];
    let field = |name: &str, kind: &str, required: bool| {
        let of_name = |field: &&Value| field["name"] == name;
        let field = event["fields"].as_array().unwrap().iter().find(of_name).unwrap();
        assert_eq!((&field["type"], &field["required"]), (&json!(kind), &json!(required)));
        assert_ne!(field["meaning"], "");
    };
    field("tool_name", "string", true);
    field("tool_input", "object", true);
    field("mcp_context", "object", false);
    assert_eq!(event["name"], "BeforeTool");
    assert_eq!(event["aliases"], json!(["before_tool"]));
    assert_eq!(event["moment"], "a tool is about to run");
    assert_eq!(event["matcher"], json!({"field": "tool_name", "compared": "regular expression"}));
    assert_eq!(event["blockMeans"], "the tool does not run");
}

#[test]
fn the_hooks_on_the_page_of_the_protocol_work() {
    let page = help(&["protocol"]);
    let tests = Value::from("Run the tests after changing a.py");
    for (first_line, run, reason, context) in [
        ("#!/bin/sh", "sh ./guard", "/etc is off limits", Value::Null),
        ("#!/usr/bin/env python3", "python3 ./guard", "/etc/motd is off limits", tests),
    ] {
        let from = page.find(first_line).unwrap();
        let script: String = page[from..]
            .lines()
            .take_while(|line| !line.is_empty())
            .fold(String::new(), |script, line| {
                script + line.strip_prefix("  ").unwrap_or(line) + "\n"
            });
        let project = Project::with_hook("BeforeTool", run);
        project.write("guard", &script);
        for (path, status, reason, context) in [
            ("/etc/motd", 2, &json!(reason), &Value::Null),
            ("a.py", 0, &Value::Null, &context),
            ("notes.txt", 0, &Value::Null, &Value::Null),
        ] {
            let input = json!({"tool_name": "edit", "tool_input": {"path": path}}).to_string();
            let fire = ["fire", "BeforeTool", "--settings=settings.json", "--json", "--input"];
            let finished = Hook::new(&project, &[&fire[..], &[&input]].concat()).run();
            assert_eq!(finished.status, status, "{path}: {finished:?}\n{script}");
            let processed = &finished.lines()[0]["processed"];
            assert_eq!(&processed["reason"], reason, "{path}: {finished:?}");
            assert_eq!(&processed["additionalContext"], context, "{path}: {finished:?}");
        }
    }
}

#[test]
fn an_unknown_topic_has_a_suggestion() {
    insta::assert_snapshot!(help(&["protocoll"]), @r#"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: there is no command or topic "protocoll"; did you mean protocol?
    "#);
    insta::assert_snapshot!(help(&["fier"]), @r#"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: there is no command or topic "fier"; did you mean fire?
    "#);
    assert!(help(&["xyzzy"]).contains("there are fire, "), "{}", help(&["xyzzy"]));
}

#[test]
fn help_needs_no_project() {
    let project = Project::new();
    project.write(".hooks/settings.json", "{");
    let finished = Hook::new(&project, &["help", "protocol"]).run();
    assert_eq!((finished.status, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let useless = Hook::new(&project, &["help", "protocol", "--project", "no-such-folder"]).run();
    assert_eq!(useless.status, 64, "{useless:?}");
}
