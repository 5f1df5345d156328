//! How several answers become one: observe, first, last, and permission.

use hook_bus::{HookExecutionResponse, HookSystem};
use hook_core::{EventDefinition, HandlerHook, HookEventName, event::MergeStrategy};
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
        .fail_behavior(hook_core::FailBehavior::Block);
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
        let answers = [json!({"cancel": "true"}), json!({"cancel": false})];
        let response = answered(event, input, &answers).await;
        assert_eq!(decision(&response), "proceed", "{event}");
    }
    let input = json!({"tool_name": "t", "tool_input": {}, "tool_response": 1});
    let response = answered(HookEventName::AfterTool, input, &[json!({"cancel": true})]).await;
    assert_eq!(decision(&response), "proceed");
    assert!(warned(&response, "`hookSpecificOutput.cancel` has no effect on AfterTool"));
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
        .handler(guard.fail_behavior(hook_core::FailBehavior::Block))
        .build()
        .unwrap();
    let response = fire(&system, "PermissionRequest", input).await;
    assert_eq!((decision(&response), response.processed.granted), ("block", false));
}
