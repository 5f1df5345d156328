//! Plans as groups: priorities, what a group changes for the next, what ends a plan.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use hook_bus::{
    HookExecutionRequest, HookExecutionResponse, HookSystem, JournalEntry, JournalMessage,
};
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::{FailBehavior, HookSource, SettingsSource};
use hook_tests::{Hook, Project, fields, json, request};
use hook_trust::TrustPolicy;
use serde_json::{Value, json};

async fn fire(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    system.bus().request(HookExecutionRequest::new(event, fields(input))).await
}

fn call() -> Value {
    json!({"tool_name": "t", "tool_input": {"a": 0}})
}

/// What hooks were told, in the order in which they were.
type Told = Arc<Mutex<Vec<(String, Value)>>>;

/// A function that notes what it is told and gives that answer.
fn hook(
    told: &Told,
    event: HookEventName,
    name: &str,
    priority: i32,
    answer: Value,
) -> HandlerHook {
    let (told, answer, own) = (Arc::clone(told), fields(answer), name.to_owned());
    let handler = HandlerHook::inline(event, name, move |input| {
        told.lock().unwrap().push((own.clone(), json(input.json())));
        let said = (!answer.is_empty()).then(|| HookOutput::read(answer.clone(), &mut Vec::new()));
        Ok(said)
    });
    handler.priority(priority)
}

fn system(handlers: impl IntoIterator<Item = HandlerHook>) -> HookSystem {
    let builder = HookSystem::builder("/");
    handlers.into_iter().fold(builder, |builder, it| builder.handler(it)).build().unwrap()
}

fn names(told: &Told) -> Vec<String> {
    told.lock().unwrap().iter().map(|(name, _)| name.clone()).collect()
}

fn ran(response: &HookExecutionResponse) -> Vec<&str> {
    response.hooks.iter().map(|it| it.hook.display_name()).collect()
}

/// Who was not started, and who ended the plan before.
fn not_started(response: &HookExecutionResponse) -> Vec<(&str, &str)> {
    let names = response.not_started.iter();
    names.map(|it| (it.hook.display_name(), &*it.ended_by)).collect()
}

const TOOL: HookEventName = HookEventName::BeforeTool;

#[tokio::test]
async fn lower_priorities_run_first_and_equal_ones_stay_in_order() {
    let told = Told::default();
    let hooks = [("d", 200), ("b", 100), ("a", -5), ("c", 100), ("e", 1_000_000)];
    let system = system(hooks.map(|(name, priority)| hook(&told, TOOL, name, priority, json!({}))));
    let response = fire(&system, "BeforeTool", call()).await;
    assert_eq!(names(&told), ["a", "b", "c", "d", "e"]);
    assert_eq!(ran(&response), ["a", "b", "c", "d", "e"]);
}

/// A script that waits until all of these files are there.
fn after(files: &[&str], then: &str) -> String {
    let waits: String = files
        .iter()
        .map(|file| format!("until [ -e {file} ]; do read -t 0.01 <> <(:) || :; done; "))
        .collect();
    format!("{waits}{then}")
}

#[tokio::test]
async fn hooks_of_equal_priority_run_at_once_and_later_ones_after_them() {
    // Each waits for the other, so that they end only if they run together.
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"hooks": [{"type": "command", "name": "late", "priority": 101,
            "command": "[ -e one.done ] && [ -e two.done ] && echo 'both are done'"}]},
        {"priority": 7, "hooks": [
            {"type": "command", "name": "one", "timeout": 30_000,
             "command": format!("touch one; {}", after(&["two"], "touch one.done"))},
            {"type": "command", "name": "two", "timeout": 30_000,
             "command": format!("touch two; {}", after(&["one"], "touch two.done"))},
            {"type": "command", "name": "first", "priority": 6,
             "command": "[ ! -e one ] && [ ! -e two ] && echo 'neither has begun'"}]},
    ]}}));
    let response = fire(&project.system(), "BeforeTool", call()).await;
    assert_eq!(ran(&response), ["first", "one", "two", "late"]);
    assert!(response.hooks.iter().all(|it| it.success), "{:?}", response.hooks);
}

#[tokio::test]
async fn what_a_group_changes_is_what_the_next_one_is_told() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let request = json!({"model": "m", "messages": [user("hello")]});
    let response = json!({"text": "hi", "candidates": [
        {"content": {"role": "model", "parts": ["hi"]}, "finishReason": "STOP"}]});
    let other = json!({"text": "ho", "candidates": [
        {"content": {"role": "model", "parts": ["ho"]}, "finishReason": "STOP"}]});
    let after = |value: Value| json!({"tool_name": "t", "tool_input": {}, "tool_response": value});
    for (event, input, change, pointer, expected) in [
        (
            "BeforeTool",
            call(),
            json!({"tool_input": {"b": 1}}),
            "/tool_input",
            json!({"a": 0, "b": 1}),
        ),
        (
            "AfterTool",
            after(json!({"x": 1})),
            json!({"tool_response": {"y": 2}}),
            "/tool_response",
            json!({"y": 2}),
        ),
        (
            "AfterTool",
            after(json!("text")),
            json!({"tool_response": {"y": 2}}),
            "/tool_response",
            json!("text"),
        ),
        ("AfterTool", after(json!(1)), json!({"tool_response": 2.5}), "/tool_response", json!(2.5)),
        ("AfterTool", after(json!(1)), json!({"tool_response": "2"}), "/tool_response", json!(1)),
        ("AfterTool", after(json!([])), json!({"tool_response": {}}), "/tool_response", json!([])),
        (
            "BeforeAgent",
            json!({"prompt": "p"}),
            json!({"additionalContext": "c"}),
            "/prompt",
            json!("p\n\nc"),
        ),
        (
            "BeforeModel",
            json!({"llm_request": request}),
            json!({"llm_request": {"model": "n"}}),
            "/llm_request/model",
            json!("n"),
        ),
        (
            "BeforeModel",
            json!({"llm_request": request, "messages": [1]}),
            json!({"messages": [2]}),
            "/messages",
            json!([2]),
        ),
        (
            "BeforeModel",
            json!({"llm_request": request}),
            json!({"messages": {}}),
            "/messages",
            Value::Null,
        ),
        (
            "AfterModel",
            json!({"llm_request": request, "llm_response": response}),
            json!({"llm_response": other}),
            "/llm_response/text",
            json!("ho"),
        ),
    ] {
        let name = HookEventName::from_name(event).unwrap();
        let told = Told::default();
        let answer = json!({"hookSpecificOutput": change});
        let system = system([
            hook(&told, name, "beside", 1, json!({})),
            hook(&told, name, "changes", 1, answer),
            hook(&told, name, "later", 2, json!({})),
        ]);
        fire(&system, event, input).await;
        let told = told.lock().unwrap();
        let of = |place: usize| told[place].1.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(of(2), expected, "{event} {change}");
        assert_eq!(of(0), of(1), "{event}: those of one group are told the same");
    }
}

#[tokio::test]
async fn sequential_splits_its_own_priority_and_ends_nothing_in_it() {
    let told = Told::default();
    let deny = json!({"decision": "deny", "reason": "r"});
    let change = |n: i32| json!({"hookSpecificOutput": {"tool_input": {"a": n}}});
    let system = system([
        hook(&told, TOOL, "a", 1, change(1)),
        hook(&told, TOOL, "b", 1, change(2)),
        hook(&told, TOOL, "c", 2, change(3)).sequential(true),
        hook(&told, TOOL, "d", 2, deny),
        hook(&told, TOOL, "e", 2, json!({})),
        hook(&told, TOOL, "f", 3, json!({})),
    ]);
    let response = fire(&system, "BeforeTool", call()).await;
    let seen: Vec<(String, Value)> = told
        .lock()
        .unwrap()
        .iter()
        .map(|(name, input)| (name.clone(), input["tool_input"]["a"].clone()))
        .collect();
    let expected = [("a", 0), ("b", 0), ("c", 2), ("d", 3), ("e", 3)];
    assert_eq!(seen, expected.map(|(name, a)| (name.to_owned(), json!(a))));
    assert_eq!(not_started(&response), [("f", "d")]);
}

#[tokio::test]
async fn what_ends_a_plan_ends_later_priorities_and_names_whom_it_kept_out() {
    let stop = json!({"continue": false});
    let retry = json!({"decision": "retry"});
    let deny = json!({"decision": "deny"});
    let cancel = json!({"hookSpecificOutput": {"cancel": true}});
    let after = json!({"tool_name": "t", "tool_input": {}, "tool_response": 1});
    let failed = json!({"tool_name": "t", "tool_input": {}, "error": "e"});
    for (event, input, answer, ends) in [
        ("BeforeTool", call(), deny.clone(), true),
        ("BeforeTool", call(), stop.clone(), true),
        ("BeforeTool", call(), retry.clone(), true),
        ("BeforeTool", call(), json!({"hookSpecificOutput": {"permissionDecision": "deny"}}), true),
        ("BeforeTool", call(), json!({"decision": "ask"}), false),
        ("BeforeTool", call(), cancel.clone(), false),
        ("BeforeTool", call(), json!({"skipRemaining": "true"}), false),
        ("BeforeTool", call(), json!({"skipRemaining": true}), true),
        ("AfterTool", after.clone(), retry.clone(), false),
        ("ToolError", failed.clone(), deny.clone(), false),
        ("ToolError", failed, retry.clone(), true),
        ("BeforeSessionSwitch", json!({"reason": "new"}), cancel.clone(), true),
        ("PreCompress", json!({"trigger": "auto"}), cancel, true),
        ("SessionEnd", json!({"reason": "exit"}), deny.clone(), false),
        ("TurnStart", json!({"turn_index": 0}), stop, false),
        ("TurnStart", json!({"turn_index": 0}), json!({"skipRemaining": true}), true),
    ] {
        let name = HookEventName::from_name(event).unwrap();
        let told = Told::default();
        let system = system([
            hook(&told, name, "ends", 1, answer.clone()),
            hook(&told, name, "beside", 1, json!({})),
            hook(&told, name, "later", 2, json!({})),
            hook(&told, name, "last", 3, json!({})),
        ]);
        system.initialize().await.unwrap();
        let mut journal = system.bus().subscribe::<JournalEntry>();
        let response = fire(&system, event, input).await;
        let expected: &[(&str, &str)] =
            if ends { &[("later", "ends"), ("last", "ends")] } else { &[] };
        assert_eq!(not_started(&response), expected, "{event} {answer}");
        assert_eq!(names(&told).len(), if ends { 2 } else { 4 }, "{event} {answer}");
        let written: Vec<Value> =
            expected.iter().map(|(name, by)| json!({"name": name, "type": "inline", "source": "in-process", "endedBy": by})).collect();
        let said = |response: &HookExecutionResponse| {
            json(&response.to_json())["notStarted"].as_array().cloned().unwrap_or_default()
        };
        assert_eq!(said(&response), written, "{event} {answer}");
        let in_journal = loop {
            if let JournalMessage::Response(response) =
                &journal.next().await.unwrap().unwrap().message
            {
                break said(response);
            }
        };
        assert_eq!(in_journal, written, "{event} {answer}");
    }
}

#[test]
fn a_recording_says_which_hooks_were_not_started() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "no", "priority": 1, "command": "exit 2"},
        {"type": "command", "name": "later", "command": "touch ran"}]}]}}));
    let arguments = ["serve", "--stdio", "--settings", "settings.json", "--record", "s.hookrec"];
    let served = Hook::new(&project, &arguments)
        .stdin(format!("{}\n", request("BeforeTool", &call(), "c")))
        .run();
    assert_eq!(served.status, 0, "{}", served.stderr);
    let recorded = project.read("s.hookrec");
    assert!(
        recorded.contains(
            r#""notStarted":[{"name":"later","type":"command","source":"explicit","endedBy":"no"}]"#
        ),
        "{recorded}"
    );
    assert!(!project.path().join("ran").exists());
}

/// A system of a project's and its user's hooks, all of which may run.
fn sources(project: &Project, theirs: &Value, users: &Value) -> HookSystem {
    let of_project = project
        .write("project.json", &json!({"hooks": {"BeforeTool": [{"hooks": theirs}]}}).to_string());
    let of_user = project
        .write("user.json", &json!({"hooks": {"BeforeTool": [{"hooks": users}]}}).to_string());
    HookSystem::builder(project.path())
        .settings(SettingsSource::optional(HookSource::Project, of_project))
        .settings(SettingsSource::optional(HookSource::User, of_user))
        .trust(TrustPolicy::Everything)
        .build()
        .unwrap()
}

fn command(name: &str, priority: i32, command: &str) -> Value {
    json!({"type": "command", "name": name, "priority": priority, "command": command})
}

const SKIP: &str = r#"echo '{"skipRemaining":true,"decision":"allow","hookSpecificOutput":{"tool_input":{"a":9}}}'"#;

#[tokio::test]
async fn nobody_skips_a_guard_or_a_hook_that_is_trusted_more() {
    let mut guard = command("guard", 5, "cat > told");
    guard["failBehavior"] = json!("block");
    let mut own_guard = command("own guard", 5, "true");
    own_guard["failBehavior"] = json!("block");
    let project = Project::new();
    let theirs = json!([command("skips", 1, SKIP), command("theirs", 5, "true"), own_guard]);
    let users = json!([command("users", 5, "true"), guard]);
    let response = fire(&sources(&project, &theirs, &users), "BeforeTool", call()).await;
    assert_eq!(ran(&response), ["skips", "own guard", "users", "guard"]);
    assert_eq!(not_started(&response), [("theirs", "skips")]);
    let told: Value = serde_json::from_str(&project.read("told")).unwrap();
    assert_eq!(told["tool_input"]["a"], 9, "what it changed before counts");

    let users = json!([command("skips", 1, SKIP), command("users", 5, "true")]);
    let theirs = json!([command("theirs", 5, "true")]);
    let response = fire(&sources(&Project::new(), &theirs, &users), "BeforeTool", call()).await;
    assert_eq!(not_started(&response), [("theirs", "skips"), ("users", "skips")]);

    // A hook that fails skips nobody.
    let failing = format!("{SKIP}; exit 1");
    let theirs = json!([command("skips", 1, &failing), command("theirs", 5, "true")]);
    let response = fire(&sources(&Project::new(), &theirs, &json!([])), "BeforeTool", call()).await;
    assert_eq!(not_started(&response), []);
}

#[tokio::test]
async fn a_guard_of_an_early_priority_is_asked_again_about_later_changes() {
    let told = Told::default();
    let seen = Arc::clone(&told);
    let guard = HandlerHook::inline(TOOL, "guard", move |input| {
        let input = json(input.json());
        seen.lock().unwrap().push(("guard".to_owned(), input.clone()));
        let is_bad = input["tool_input"]["a"] == 9;
        Ok(is_bad.then(|| HookOutput::deny("nine")))
    });
    let guard = guard.priority(1).fail_behavior(FailBehavior::Block);
    for skips in [false, true] {
        let change =
            json!({"skipRemaining": skips, "hookSpecificOutput": {"tool_input": {"a": 9}}});
        let system = system([guard.clone(), hook(&Told::default(), TOOL, "changes", 50, change)]);
        let response = fire(&system, "BeforeTool", call()).await;
        assert_eq!(response.processed.reason.as_deref(), Some("nine"));
        assert!(response.hooks[0].rechecked);
    }
    assert_eq!(names(&told).len(), 4);
}

#[tokio::test]
async fn a_deadline_between_groups_starts_no_more_and_blocks_for_a_guard() {
    for (behavior, expected) in
        [(FailBehavior::Block, "block"), (FailBehavior::Continue, "proceed")]
    {
        let told = Told::default();
        let never =
            HandlerHook::asynchronous(TOOL, "never", |_| std::future::pending()).priority(1);
        let later = hook(&told, TOOL, "later", 2, json!({})).fail_behavior(behavior);
        let system = system([never, later]);
        system.initialize().await.unwrap();
        let request = HookExecutionRequest::new("BeforeTool", fields(call()));
        let response = system.bus().request(request.with_deadline(Duration::from_millis(1))).await;
        assert_eq!(response.error().unwrap().code.as_str(), "deadline_exceeded");
        assert_eq!(response.processed.decision.as_str(), expected);
        assert!(names(&told).is_empty());
    }
}

#[tokio::test]
async fn a_priority_that_is_none_is_said_with_its_place_and_its_guard_still_runs() {
    for wrong in [
        json!("1"),
        json!(1.5),
        json!(null),
        json!(true),
        json!([1]),
        json!({}),
        json!(1_000_001),
        json!(-1_000_001),
        json!(1e300),
    ] {
        for in_definition in [false, true] {
            let mut guard = json!({"type": "command", "name": "guard", "failBehavior": "block", "command": "exit 2"});
            let mut definition = json!({});
            let place = match in_definition {
                true => {
                    definition["priority"] = wrong.clone();
                    "hooks.BeforeTool[0].priority"
                }
                false => {
                    guard["priority"] = wrong.clone();
                    "hooks.BeforeTool[0].hooks[0].priority"
                }
            };
            definition["hooks"] = json!([guard]);
            let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [definition]}}));
            let system = project.system();
            let response = fire(&system, "BeforeTool", call()).await;
            assert_eq!(response.processed.decision.as_str(), "block", "{wrong}");
            if wrong.is_null() {
                continue;
            }
            let diagnostics = system.diagnostics().unwrap();
            assert_eq!(diagnostics[0].location.path, place, "{wrong}");
            assert!(diagnostics[0].message.contains("100 is used"), "{diagnostics:?}");
        }
    }
}
