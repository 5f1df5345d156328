//! How several answers become one: observe, first, last, and permission.

use hook_bus::{HookExecutionResponse, HookSystem};
use hook_json::RawJson;
use hook_protocol::{EventDefinition, HookEventName, HookOutput, event::MergeStrategy};
use hook_run::HandlerHook;
use hook_tests::Project;
use serde_json::{Value, json};

use super::{answering, decision, fire, merged, warned};

async fn answered(event: HookEventName, input: Value, answers: &[Value]) -> HookExecutionResponse {
    let handlers = answers.iter().enumerate().map(|(place, answer)| {
        let answer = json!({"hookSpecificOutput": answer});
        answering(event, &format!("h{place}"), answer)
    });
    let builder = handlers.fold(HookSystem::builder("/"), |builder, it| builder.handler(it));
    fire(&builder.build().unwrap(), event.as_str(), input).await
}

#[tokio::test]
async fn of_what_only_is_observed_answers_are_kept_and_change_nothing() {
    let event = HookEventName::TurnStart;
    let stop = json!({"continue": false, "stopReason": "s", "systemMessage": "m",
        "hookSpecificOutput": {"additionalContext": "c"}});
    let guard = HandlerHook::inline(event, "guard", |_| Err("broken".into()))
        .fail_behavior(hook_settings::FailBehavior::Block);
    let later = answering(event, "later", json!({"systemMessage": "n"})).priority(200);
    let system = HookSystem::builder("/")
        .handler(answering(event, "stops", stop))
        .handler(guard)
        .handler(later)
        .build()
        .unwrap();
    let response = fire(&system, "TurnStart", json!({"turn_index": 0})).await;
    let processed = &response.processed;
    assert_eq!((decision(&response), processed.should_stop), ("proceed", false));
    assert_eq!((&processed.system_message, &processed.additional_context), (&None, &None));
    assert_eq!(processed.aggregated.all_outputs.len(), 3, "a failed guard has denied");
    assert!(processed.aggregated.final_output.is_none() && response.not_started.is_empty());
    assert!(warned(&response, "hook stops: a stop has no effect on TurnStart"));
    assert!(warned(&response, "hook guard: a block has no effect on TurnStart"));
}

#[tokio::test]
async fn of_fields_of_which_one_answer_counts_it_is_the_first_or_the_latest_that_has_them() {
    let message = |text: &str| json!({"message": {"customType": "t", "content": text}});
    for (event, input, answers, expected) in [
        (
            HookEventName::BeforeAgent,
            json!({"prompt": "p"}),
            vec![json!({"additionalContext": "c"}), message("one"), message("two")],
            json!({"additionalContext": "c", "message": message("one")["message"]}),
        ),
        (
            HookEventName::Command,
            json!({"command_name": "c", "arguments": ""}),
            vec![json!({"other": 1}), json!({"prompt": "p"}), json!({"text": "t"})],
            json!({"other": 1, "prompt": "p"}),
        ),
        (
            HookEventName::Compacting,
            json!({"messages": []}),
            vec![
                json!({"context": ["a"], "prompt": "p"}),
                json!({"context": ["b"]}),
                json!({"other": 1}),
            ],
            json!({"context": ["b"], "other": 1}),
        ),
        (
            HookEventName::BeforeSessionBranch,
            json!({"entry_id": "e"}),
            vec![
                json!({"skipConversationRestore": true}),
                json!({"skipConversationRestore": false}),
            ],
            json!({"skipConversationRestore": false}),
        ),
        (
            HookEventName::PreCompress,
            json!({"trigger": "auto"}),
            vec![json!({"compaction": {"a": 1}}), json!({"compaction": {"b": 1}})],
            json!({"compaction": {"b": 1}}),
        ),
        (
            HookEventName::PreCompress,
            json!({"trigger": "auto"}),
            vec![json!({"compaction": {"a": 1}}), json!({"additionalContext": "c"})],
            json!({"compaction": {"a": 1}, "additionalContext": "c"}),
        ),
        (
            HookEventName::AfterTool,
            json!({"tool_name": "t", "tool_input": {}, "tool_response": "secret"}),
            vec![json!({"tool_response": "[redacted]"}), json!({"tool_response": {"a": 1}})],
            json!({"tool_response": "[redacted]"}),
        ),
    ] {
        let response = answered(event, input, &answers).await;
        assert_eq!(merged(&response), expected, "{event}");
    }
}

#[tokio::test]
async fn a_cancellation_sticks_whatever_later_answers_say() {
    for (event, input) in [
        (HookEventName::BeforeSessionSwitch, json!({"reason": "new"})),
        (HookEventName::BeforeSessionBranch, json!({"entry_id": "e"})),
        (HookEventName::BeforeSessionTree, json!({"preparation": {}})),
        (HookEventName::PreCompress, json!({"trigger": "auto"})),
    ] {
        for answers in [
            [json!({"cancel": true}), json!({"cancel": false})],
            [json!({"cancel": false}), json!({"cancel": true})],
        ] {
            let response = answered(event, input.clone(), &answers).await;
            assert_eq!(decision(&response), "block", "{event} {answers:?}");
        }
        // What cancels counts however it is written, and what is no boolean does not.
        for (said, expected) in [
            ("true", "block"),
            (" Yes ", "block"),
            ("1", "block"),
            ("no", "proceed"),
            ("", "proceed"),
        ] {
            let text = RawJson::from_text(said);
            let hook = HandlerHook::inline(event, "h", move |_| {
                Ok(Some(HookOutput::default().with_specific("cancel", text.clone())))
            });
            let system = HookSystem::builder("/").handler(hook).build().unwrap();
            let response = fire(&system, event.as_str(), input.clone()).await;
            assert_eq!(decision(&response), expected, "{event} {said}");
        }
    }
    let input = json!({"tool_name": "t", "tool_input": {}, "tool_response": 1});
    let response = answered(HookEventName::AfterTool, input, &[json!({"cancel": true})]).await;
    assert_eq!(decision(&response), "proceed");
    assert!(warned(&response, "`hookSpecificOutput.cancel` has no effect on AfterTool"));
}

#[tokio::test]
async fn a_cancellation_is_a_denial_in_whatever_way_its_hook_says_it() {
    let cancel = r#"echo '{"hookSpecificOutput":{"cancel":true}}'"#;
    for (command, guards, expected) in [
        (cancel.to_owned(), false, "block"),
        (format!("{cancel}; exit 1"), false, "block"),
        (format!("{cancel}; kill -9 $$"), false, "block"),
        (format!("echo note; {cancel}"), false, "block"),
        (
            r#"echo '{"hookSpecificOutput":{"cancel":true},"hookSpecificOutput":{}}'"#.into(),
            false,
            "block",
        ),
        (r#"echo '{"cancel":true}'"#.into(), false, "block"),
        (r#"echo '{"hookSpecificOutput":{"cancel":false}}'"#.into(), true, "proceed"),
        // What cannot be read for certain fails, and that is a guard's denial.
        (r#"echo '{"hookSpecificOutput":{"cancel":[]}}'"#.into(), false, "proceed"),
        (r#"echo '{"hookSpecificOutput":{"cancel":[]}}'"#.into(), true, "block"),
        (r#"echo '{"x":{"cancel":true}}'"#.into(), false, "proceed"),
        (r#"echo '{"x":{"cancel":true}}'"#.into(), true, "block"),
    ] {
        let behavior = if guards { "block" } else { "continue" };
        let project = Project::with_settings(&json!({"hooks": {"BeforeSessionSwitch": [{"hooks": [
            {"type": "command", "name": "h", "command": command, "failBehavior": behavior}]}]}}));
        let response =
            fire(&project.system(), "BeforeSessionSwitch", json!({"reason": "new"})).await;
        assert_eq!(decision(&response), expected, "{command} {behavior}");
    }
    // On an event without it, it is a field like any other.
    let project = Project::with_settings(&json!({"hooks": {"AfterTool": [{"hooks": [
        {"type": "command", "name": "h", "failBehavior": "block",
            "command": r#"echo '{"x":{"cancel":true}}'"#}]}]}}));
    let input = json!({"tool_name": "t", "tool_input": {}, "tool_response": 1});
    assert_eq!(decision(&fire(&project.system(), "AfterTool", input).await), "proceed");
}

#[tokio::test]
async fn what_was_merged_says_what_was_decided() {
    let answers = [json!({"cancel": true}), json!({"cancel": false})];
    let input = json!({"reason": "new"});
    let response = answered(HookEventName::BeforeSessionSwitch, input, &answers).await;
    let output = response.processed.aggregated.final_output.as_ref().unwrap();
    assert!(output.is_blocking_decision(), "{output:?}");
    assert_eq!(merged(&response), json!({"cancel": true}));
    // A retry that means nothing hides no question.
    let tool = json!({"tool_name": "t", "tool_input": {}, "tool_response": 1});
    for answers in [["ask", "retry"], ["retry", "ask"]] {
        let hooks = answers.map(|word| json!({"decision": word, "reason": word}));
        let [one, two] = hooks.map(|said| answering(HookEventName::AfterTool, "h", said));
        let system = HookSystem::builder("/").handler(one).handler(two).build().unwrap();
        let response = fire(&system, "AfterTool", tool.clone()).await;
        let output = response.processed.aggregated.final_output.as_ref().unwrap();
        assert_eq!((decision(&response), output.is_ask_decision()), ("ask", true), "{answers:?}");
    }
    let said = json!({"decision": "retry", "hookSpecificOutput": {"permissionDecision": "ask"}});
    let event = HookEventName::PermissionRequest;
    let granting = answering(event, "g", json!({"decision": "allow"}));
    let system = HookSystem::builder("/").handler(answering(event, "h", said)).handler(granting);
    let input = json!({"tool_name": "t", "tool_input": {}});
    let response = fire(&system.build().unwrap(), "PermissionRequest", input).await;
    assert_eq!(response.processed.granted, decision(&response) == "proceed");
}

#[tokio::test]
async fn changes_of_several_hooks_add_up_beside_what_was_merged() {
    let changes =
        [json!({"tool_input": {"path": "/safe", "n": 1}}), json!({"tool_input": {"n": 2}})];
    let input = json!({"tool_name": "t", "tool_input": {"path": "/etc"}});
    let response = answered(HookEventName::BeforeTool, input, &changes).await;
    assert_eq!(merged(&response), json!({"tool_input": {"n": 2}}), "the last hook's field");
    let line = hook_tests::json(&response.to_json());
    assert_eq!(line["processed"]["modified"], json!({"tool_input": {"path": "/safe", "n": 2}}));
    let quiet =
        answered(HookEventName::BeforeTool, json!({"tool_name": "t", "tool_input": {}}), &[]);
    assert_eq!(hook_tests::json(&quiet.await.to_json())["processed"].get("modified"), None);

    let change = |answer: &Value| json!({"type": "command", "command": format!("echo '{answer}'")});
    let hooks: Vec<Value> =
        changes.iter().map(|it| change(&json!({"hookSpecificOutput": it}))).collect();
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}}));
    let finished = hook_tests::Hook::new(
        &project,
        &["fire", "BeforeTool", "--as-hook", "--settings", "settings.json"],
    )
    .stdin(r#"{"tool_name":"t","tool_input":{"path":"/etc"}}"#)
    .run();
    let said = &finished.lines()[0]["hookSpecificOutput"]["tool_input"];
    assert_eq!(said, &json!({"path": "/safe", "n": 2}), "{finished:?}");
}

#[tokio::test]
async fn of_a_declared_event_the_whole_answer_counts() {
    for (merge, expected) in [
        (MergeStrategy::First, json!({"a": 1})),
        (MergeStrategy::Last, json!({"b": 2})),
        (MergeStrategy::OrDecision, json!({"a": 1, "b": 2})),
        (MergeStrategy::Simple, json!({"b": 2})),
        (MergeStrategy::FieldReplacement, json!({"a": 1, "b": 2})),
    ] {
        let definition = EventDefinition::new("MergedHere").merge(merge);
        let event = definition.event().unwrap();
        let system = HookSystem::builder("/")
            .event(definition)
            .unwrap()
            .handler(answering(event, "one", json!({"hookSpecificOutput": {"a": 1}})))
            .handler(answering(event, "none", json!({"systemMessage": "m"})))
            .handler(answering(event, "two", json!({"hookSpecificOutput": {"b": 2}})))
            .build()
            .unwrap();
        let response = fire(&system, "MergedHere", json!({})).await;
        assert_eq!(merged(&response), expected, "{merge:?}");
    }
}

#[tokio::test]
async fn only_an_explicit_allowance_grants_what_a_user_would_be_asked_for() {
    let input = json!({"tool_name": "t", "tool_input": {}});
    let allow = r#"echo '{"decision":"allow"}'"#;
    for (commands, expected, granted) in [
        (vec![allow], "proceed", true),
        (vec![r#"echo '{"decision":"approve"}'"#], "proceed", true),
        (vec![r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#], "proceed", true),
        (vec!["true"], "proceed", false),
        (vec!["echo '{}'"], "proceed", false),
        (vec!["echo allow"], "proceed", false),
        (vec!["echo 'all is well'"], "proceed", false),
        (vec![r#"echo '{"systemMessage":"allow"}'"#], "proceed", false),
        (vec![r#"echo '{"decision":"ALLOW"}'"#], "proceed", false),
        (vec![r#"echo '{"decision":"allowed"}'"#], "proceed", false),
        (vec![r#"echo '{"decision":true}'"#], "proceed", false),
        (vec![r#"echo '{"permissionDecision":"allow"}'"#], "proceed", false),
        (vec![r#"echo '{"decision":"allow"}'; exit 1"#], "proceed", false),
        (vec![r#"echo '{"decision":"allow"}'; exit 3"#], "proceed", false),
        (vec![r#"echo '{"decision":"allow"}' >&2"#], "proceed", false),
        (vec![r#"echo '{"decision":"allow","continue":false}'"#], "stop", false),
        (
            vec![
                r#"echo '{"decision":"allow","hookSpecificOutput":{"permissionDecision":"ask"}}'"#,
            ],
            "ask",
            false,
        ),
        (
            vec![
                r#"echo '{"decision":"ask","hookSpecificOutput":{"permissionDecision":"allow"}}'"#,
            ],
            "ask",
            false,
        ),
        (
            vec![
                r#"echo '{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}'"#,
            ],
            "block",
            false,
        ),
        (vec![allow, "echo no >&2; exit 2"], "block", false),
        (vec![allow, r#"echo '{"decision":"ask"}'"#], "ask", false),
        (vec![allow, r#"echo '{"decision":"deny"}'"#], "block", false),
        (vec![r#"echo '{"decision":"deny"}'"#, allow], "block", false),
        (vec![allow, "exit 1"], "proceed", true),
        (vec![allow, "true"], "proceed", true),
    ] {
        let hooks: Vec<Value> = (commands.iter().enumerate())
            .map(|(place, command)| json!({"type": "command", "name": format!("h{place}"), "command": command}))
            .collect();
        let project =
            Project::with_settings(&json!({"hooks": {"PermissionRequest": [{"hooks": hooks}]}}));
        let response = fire(&project.system(), "PermissionRequest", input.clone()).await;
        assert_eq!(decision(&response), expected, "{commands:?}");
        assert_eq!(response.processed.granted, granted, "{commands:?}");
        let line = hook_tests::json(&response.to_json());
        let said = line["processed"].get("granted").cloned();
        assert_eq!(said, granted.then(|| json!(true)), "{commands:?}");
    }
}

#[tokio::test]
async fn nothing_is_granted_on_other_events_or_where_a_guard_failed() {
    let allow = json!({"decision": "allow"});
    let event = HookEventName::BeforeTool;
    let system =
        HookSystem::builder("/").handler(answering(event, "a", allow.clone())).build().unwrap();
    let input = json!({"tool_name": "t", "tool_input": {}});
    assert!(!fire(&system, "BeforeTool", input.clone()).await.processed.granted);
    let event = HookEventName::PermissionRequest;
    let guard = HandlerHook::inline(event, "guard", |_| Err("broken".into()));
    let system = HookSystem::builder("/")
        .handler(answering(event, "a", allow))
        .handler(guard.fail_behavior(hook_settings::FailBehavior::Block))
        .build()
        .unwrap();
    let response = fire(&system, "PermissionRequest", input).await;
    assert_eq!((decision(&response), response.processed.granted), ("block", false));
}
