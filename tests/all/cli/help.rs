//! `hook help`.

use hook_protocol::HookEventName;
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
      2        a hook blocked, stopped or wants a retry, or asked and got no answer
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
    {"exitCodes":[{"code":"0","meaning":"things may go on; the work was done"},{"code":"1","meaning":"the engine could not do its job, or a test failed"},{"code":"2","meaning":"a hook blocked, stopped or wants a retry, or asked and got no answer"},{"code":"64","meaning":"wrong usage"},{"code":"128 + n","meaning":"ended by signal n"}]}
    ----- stderr -----
    "#);
}

#[test]
fn the_page_of_events_fits_a_narrow_terminal_and_names_every_event_and_field() {
    let page = help(&["events"]);
    insta::assert_snapshot!(page, @"
    status: 0
    ----- stdout -----
    Events
      What stands behind reads are its own fields: ? marks what may be missing, () a
      type other than string. Where nothing is said of a block, it means nothing.

    Tools
      BeforeTool           a tool is about to run
        reads    tool_name, tool_input (object), mcp_context? (object),
                 tool_call_id?, recent_tools? (array), token_usage? (object)
        matcher  tool_name, regular expression
        block    the tool does not run
        retry    the hooks are asked again after a while
      AfterTool            a tool ran
        reads    tool_name, tool_input (object), tool_response (any), mcp_context?
                 (object), tool_call_id?, duration_ms? (number), exit_code?
                 (number), is_error? (boolean)
        matcher  tool_name, regular expression
        block    the reason replaces the result's content
      ToolError            a tool failed
        reads    tool_name, tool_input (object), error, tool_call_id?, exit_code?
                 (number)
        matcher  tool_name, regular expression
        retry    the tool runs again after a while
      ToolBatch            all tool calls of one answer are done
        reads    calls (array)
        block    the turn ends, with the reason

    Permissions
      PermissionRequest    the user is about to be asked whether a tool may run
        reads    tool_name, tool_input (object), tool_call_id?, suggestions? (array)
        matcher  tool_name, regular expression
        block    it is refused, with the reason; the user is not asked
      PermissionGranted    it was granted that a tool runs
        reads    tool_name, tool_input (object), by
        matcher  tool_name, regular expression
      PermissionDenied     it was refused that a tool runs
        reads    tool_name, tool_input (object), by, reason?
        matcher  tool_name, regular expression
        retry    it is asked for once more

    Prompts and commands
      BeforeAgent          a prompt was submitted
        reads    prompt, images? (array)
        block    the prompt is refused
      PromptExpansion      a command became a prompt
        reads    command_name, prompt, command_args?
        matcher  command_name, exactly
        block    the prompt is refused
      Command              a slash command is run
        reads    command_name, arguments
        matcher  command_name, exactly

    The model
      BeforeModel          the model is about to be called
        reads    llm_request (object), messages? (array), prompt?, system_prompt?,
                 tools? (array)
        block    the model is not called
      AfterModel           the model answered
        reads    llm_request (object), llm_response (object), prompt?, tool_calls?
                 (array), usage? (object), duration_ms? (number)
        block    an error response takes the response's place
      BeforeToolSelection  the tools of a model call are about to be chosen
        reads    llm_request (object), available_tools? (array)
        block    no tools may be called (NONE)
      AutoRetryStart       a failed model call is about to be tried again
        reads    attempt (number), max_attempts (number), delay_ms (number), error
      AutoRetryEnd         a failed model call was tried again
        reads    success (boolean), attempt (number)
      RuleTriggered        a stream rule fired
        reads    rules (array)

    Turns
      AfterAgent           the agent finished its turn
        reads    prompt, prompt_response, stop_hook_active (boolean), messages?
                 (array)
        block    the agent goes on working, with the reason as prompt
      TurnStart            a model call with its tools begins
        reads    turn_index (number), turn_timestamp? (number)
      TurnEnd              a model call with its tools is over
        reads    turn_index (number), message (any), tool_results (array),
                 turn_timestamp? (number)
      TurnFailed           a turn ended in an error
        reads    error, error_details? (any)
      TodoReminder         open todos are shown to the model
        reads    todos (array), attempt (number), max_attempts (number)
      AgentStart           the agent begins to work
      Interrupt            the user stopped the turn

    Subagents
      SubagentStart        a subagent is about to start
        reads    agent_id, agent_type, task?
        matcher  agent_type, exactly
        block    the subagent is not started
      SubagentStop         a subagent is done
        reads    agent_id, agent_type, task?, prompt_response?, stop_hook_active?
                 (boolean)
        matcher  agent_type, exactly
        block    the subagent goes on, with the reason as prompt

    Sessions
      SessionStart         a session begins
        reads    source (startup, resume, clear, compress), model?, system_prompt?
        matcher  source, exactly
      SessionEnd           a session ends
        reads    reason (exit, clear, logout, prompt_input_exit, other),
                 total_tokens? (number), total_tool_calls? (number), duration_ms?
                 (number)
        matcher  reason, exactly
      BeforeSessionSwitch  the agent is about to change to another session
        reads    reason (new, resume, fork), target?
        matcher  reason, exactly
        block    the agent stays in its session
      SessionSwitch        the agent changed to another session
        reads    reason (new, resume, fork), previous?
        matcher  reason, exactly
      BeforeSessionBranch  the conversation is about to branch
        reads    entry_id
        block    the conversation does not branch
      SessionBranch        the conversation branched
        reads    entry_id, previous?
      BeforeSessionTree    the agent is about to move in the tree of branches
        reads    preparation (object)
        block    the agent stays where it is
      SessionTree          the agent moved in the tree of branches
        reads    new_leaf_id, old_leaf_id, summary_entry? (any)

    Context and compression
      PreCompress          the conversation is about to be compressed
        reads    trigger (manual, auto), messages? (array), preparation? (object),
                 custom_instructions?, used_tokens? (number), max_tokens? (number)
        matcher  trigger, exactly
        block    the conversation is not compressed, where the agent can still
                 cancel it
      PostCompress         the conversation was compressed
        reads    trigger (manual, auto), summary?, message_count_before? (number),
                 message_count_after? (number)
        matcher  trigger, exactly
      Compacting           the prompt that makes the summary is being made
        reads    messages (array)
      ContextWarning       the use of the context passed a threshold
        reads    used_tokens (number), max_tokens (number), threshold (number)
      AutoCompactionStart  the agent begins to compress its conversation by itself
        reads    reason (threshold, overflow, idle, incomplete)
        matcher  reason, exactly
      AutoCompactionEnd    the agent compressed its conversation by itself, or tried
                           to
        reads    aborted (boolean), will_retry (boolean), result? (any)

    The user
      Notification         the agent tells the user something
        reads    message, notification_type?, details? (object), level?

    Declared events
      Settings declare more, under hooksConfig.events, as hosts and clients do: what
      matchers are compared with, how answers are merged, and what a block means.
      Their fields are whatever the caller sends.

      A matcher that is a text is compared with one field, exactly or as a
      JavaScript regular expression that may match anywhere in it. One that is an
      object asks for tools, paths and commands, too (`hook help settings`). Without
      one, or with *, a hook is for all.

      `hook schema EVENT` describes the fields, `hook fire EVENT` fires a sample,
      and `hook help protocol` says what a hook answers.
    ----- stderr -----
    ");
    assert!(page.lines().all(|line| line.chars().count() <= 80));
    for event in HookEventName::all() {
        for name in event.row().fields.iter().map(|field| field.name).chain([event.as_str()]) {
            assert!(page.contains(name), "{name}");
        }
    }
    let project = Project::new();
    let all = |topic: &str| {
        Hook::new(&project, &["help", topic, "--json"]).run().lines()[0]["events"].clone()
    };
    assert_eq!(all("events"), all("protocol"));
    assert_eq!(all("events")[0]["topic"], "Tools");
}

#[test]
fn the_protocol_fits_a_narrow_terminal_and_names_every_event() {
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

      Every event about a tool has:
      kind               What the tool does.
      files              The files that the arguments name: those of a patch, too,
                         and none of a shell command.
      filesComplete      `false` where files are missing in `files`: there are too
                         many, or one has no readable path.

      Every event of a connected agent has:
      caller             The agent that calls, and what it says of itself.

      And it has fields of its own. Unknown fields are passed on.

    Events
      `hook help events` says of each when it comes, and what a block means.
      Tools                    BeforeTool, AfterTool, ToolError, ToolBatch
      Permissions              PermissionRequest, PermissionGranted,
                               PermissionDenied
      Prompts and commands     BeforeAgent, PromptExpansion, Command
      The model                BeforeModel, AfterModel, BeforeToolSelection,
                               AutoRetryStart, AutoRetryEnd, RuleTriggered
      Turns                    AfterAgent, TurnStart, TurnEnd, TurnFailed,
                               TodoReminder, AgentStart, Interrupt
      Subagents                SubagentStart, SubagentStop
      Sessions                 SessionStart, SessionEnd, BeforeSessionSwitch,
                               SessionSwitch, BeforeSessionBranch, SessionBranch,
                               BeforeSessionTree, SessionTree
      Context and compression  PreCompress, PostCompress, Compacting,
                               ContextWarning, AutoCompactionStart,
                               AutoCompactionEnd
      The user                 Notification

      Settings declare more, under hooksConfig.events, as hosts and clients do: what
      matchers are compared with, how answers are merged, and what a block means.
      Their fields are whatever the caller sends.

      A matcher that is a text is compared with one field, exactly or as a
      JavaScript regular expression that may match anywhere in it. One that is an
      object asks for tools, paths and commands, too (`hook help settings`). Without
      one, or with *, a hook is for all.

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
      decision                    `block` or `deny` forbids, `retry` asks to try
                                  again after a while, `ask` asks the user, `allow`
                                  or `approve` lets it happen.
      reason                      Why it is decided so.
      retryAfterMs (number)       How long to wait before the retry, in
                                  milliseconds; no time by default.
      skipRemaining (boolean)     `true`: hooks of later priorities do not run that
                                  are trusted no more than this one, guards
                                  excepted.
      hookSpecificOutput (object) What only this event knows.

      Fields of hookSpecificOutput:
      hookEventName               The event, for scripts that say it.
      additionalContext           Text for the model.
      permissionDecision          BeforeTool, PermissionRequest: Counts like
                                  `decision`; the stronger of both wins.
      permissionDecisionReason    BeforeTool, PermissionRequest: Why it is decided
                                  so.
      tool_input (object)         BeforeTool: Fields that replace those of the
                                  tool's input.
      toolInputReplaces (boolean) BeforeTool: `true`: `tool_input` takes the place
                                  of all arguments, and is not laid over them.
      llm_request (object)        BeforeModel: Fields that replace those of the
                                  request.
      llm_response (object)       BeforeModel, AfterModel: A response that takes the
                                  place of the model's.
      toolConfig (object)         BeforeToolSelection: Which tools may be called.
      clearContext (boolean)      AfterAgent: `true` asks for the conversation to be
                                  cleared.
      tool_response (any)         AfterTool: A response that takes the place of the
                                  tool's; of the same kind of JSON.
      message (object)            BeforeAgent: A message that is put before the
                                  prompt, with `customType`, `content`, `display`
                                  and `details`; that of the first hook that gives
                                  one.
      messages (array)            BeforeModel: A conversation that takes the place
                                  of this call's, in the agent's own shape.
      env (object)                SessionStart: Variables, as strings, for later
                                  hooks of the session that are trusted no more than
                                  this one.
      cancel (boolean)            PreCompress, BeforeSessionSwitch,
                                  BeforeSessionBranch, BeforeSessionTree: `true`: it
                                  does not happen.
      compaction (object)         PreCompress: What is used in place of the agent's
                                  own compression, in its shape.
      context (array)             Compacting: Texts: more context for the summary.
      prompt                      Compacting, Command: A prompt that is used, or
                                  sent.
      text                        Command: What the user is shown.
      preserveData (object)       Compacting: What is kept beside the summary.
      skipConversationRestore (boolean)
                                  BeforeSessionBranch: `true`: the conversation
                                  stays as it is at the branch.
      summary (object)            BeforeSessionTree: A `summary` of what is left,
                                  with `details`, used where the user wants one.

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

    A worker
      A hook of type worker is started once and stays. It writes a line {"type":
      "hook-worker"}; for each event it reads a line with type hook-call, callId,
      eventName and input, and answers with a line: type hook-answer, the callId,
      and as output what a hook writes. `hook init --worker python` writes one.

      Try it with `hook fire`. docs/reference has every detail.
    ----- stderr -----
    "#);
    assert!(page.lines().all(|line| line.chars().count() <= 80));
    assert!(HookEventName::all().all(|event| page.contains(event.as_str())));
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

#[test]
fn the_page_of_settings_fits_a_narrow_terminal_and_names_every_key_that_is_read() {
    use hook_settings::{CONFIG_FIELDS, DEFINITION_FIELDS, HOOK_FIELDS, MATCHER_FIELDS};
    let page = help(&["settings"]);
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let tables = [&DEFINITION_FIELDS[..], &MATCHER_FIELDS, &HOOK_FIELDS, &CONFIG_FIELDS];
    for field in tables.into_iter().flatten() {
        let begins = |line: &str| line.trim_start().split(' ').next() == Some(field.name);
        assert!(page.lines().any(begins), "{}", field.name);
    }
    // What it shows are settings.
    let example = &page[page.find("  {\n").unwrap()..];
    let example = &example[..example.find("\n  }\n").unwrap() + 5];
    let project = Project::with_settings(&serde_json::from_str(example).unwrap());
    let checked = Hook::new(&project, &["check", "--settings", "settings.json"]).run();
    assert_eq!(checked.status, 0, "{}", checked.stdout);
    let listed = Hook::new(&project, &["list", "--settings", "settings.json"]).run();
    assert!(listed.stdout.contains("secrets"), "{}", listed.stdout);
}
