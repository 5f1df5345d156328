//! Hooks that are registered while a system runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hook_bus::{
    HookExecutionRequest, HookExecutionResponse, HookSystem, RegisterError, Registrant,
};
use hook_json::{JsonObject, RawObject};
use hook_protocol::events::{AgentStart, BeforeAgent, BeforeTool};
use hook_protocol::{BeforeAgentInput, EventDefinition, HookEventName};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;
use hook_tests::{Project, fields, json};
use serde_json::json;

fn denies(name: &str) -> HandlerHook {
    let reason = format!("{name} says no");
    HandlerHook::on::<BeforeAgent>(name, move |_input, answer| {
        answer.deny(reason.as_str());
        Ok(())
    })
}

async fn reason(system: &HookSystem) -> Option<String> {
    system.fire_before_agent(BeforeAgentInput::new("p")).await.reason
}

fn names(system: &HookSystem) -> Vec<String> {
    let hooks = system.hooks().unwrap();
    hooks.iter().map(|listing| listing.hook.display_name().to_owned()).collect()
}

#[tokio::test]
async fn a_hook_is_planned_from_the_next_request_on_until_its_guard_is_dropped() {
    let system = HookSystem::builder(".").build().unwrap();
    // Before anything is read, and after.
    let early = system.register(denies("early")).unwrap();
    assert_eq!(reason(&system).await.as_deref(), Some("early says no"));
    drop(early);
    assert_eq!(reason(&system).await, None);
    let late = system.register(denies("late")).unwrap();
    assert_eq!(reason(&system).await.as_deref(), Some("late says no"));
    assert_eq!(names(&system), ["late"]);
    drop(late);
    assert_eq!(reason(&system).await, None);

    system.register(denies("kept")).unwrap().keep();
    assert_eq!(reason(&system).await.as_deref(), Some("kept says no"));
    let listed = system.registrations();
    assert_eq!(listed.len(), 1);
    assert_eq!((&*listed[0].id, listed[0].hook.name()), ("hook-3", "kept"));
}

/// Behind the commands of their priority, in the order of registration: all of them, each told the same.
#[tokio::test]
async fn registered_hooks_of_a_priority_all_run_whatever_one_of_them_says() {
    let denied = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "command", "command": "echo command >&2; exit 2"}]}]}});
    let project = Project::with_settings(&denied);
    let system = project.system();
    system.initialize().await.unwrap();
    let refuses = |name: &str| {
        HandlerHook::on::<BeforeTool>(name, |_, answer| {
            answer.deny("no");
            Ok(())
        })
    };
    let changes = HandlerHook::on::<BeforeTool>("changes", |_, answer| {
        answer.replace_tool_input(RawObject::parse(r#"{"a":1}"#).unwrap());
        Ok(())
    });
    let _changes = system.register(changes).unwrap();
    let _first = system.register(refuses("first")).unwrap();
    let _second = system.register(refuses("second")).unwrap();
    let _later = system.register(refuses("later").priority(101)).unwrap();
    let input = fields(json!({"tool_name": "t", "tool_input": {}}));
    let request = HookExecutionRequest::new("BeforeTool", input).with_inputs();
    let response: HookExecutionResponse = system.bus().request(request).await;
    let ran: Vec<&str> = response.hooks.iter().map(|it| it.hook.display_name()).collect();
    assert_eq!(ran, ["command", "changes", "first", "second"]);
    let told = response.hooks[3].input.as_ref().unwrap().as_str();
    assert!(told.contains(r#""tool_input":{}"#), "{told}");
    let [not_started] = &response.not_started[..] else { panic!("{:?}", response.not_started) };
    assert_eq!((not_started.hook.display_name(), &*not_started.ended_by), ("later", "command"));
}

#[tokio::test]
async fn registrations_survive_a_reload_and_are_switched_by_name() {
    let project = Project::with_hook("BeforeAgent", "true");
    let system = project.system();
    let _freeze = system.register(denies("freeze")).unwrap();
    system.reload().await.unwrap();
    assert_eq!(reason(&system).await.as_deref(), Some("freeze says no"));
    assert_eq!(system.set_hook_enabled("freeze", false).unwrap(), 1);
    assert_eq!(reason(&system).await, None);
    system.reload().await.unwrap();
    assert_eq!(reason(&system).await, None, "what was switched stays switched");
    assert_eq!(system.set_hook_enabled("freeze", true).unwrap(), 1);
    assert_eq!(reason(&system).await.as_deref(), Some("freeze says no"));
}

#[tokio::test]
async fn a_hook_that_owns_the_registration_of_another_goes_with_it() {
    let system = HookSystem::builder(".").build().unwrap();
    system.initialize().await.unwrap();
    let inner = system.register(denies("inner")).unwrap();
    let outer = HandlerHook::on::<BeforeAgent>("outer", move |_input, _answer| {
        let _ = inner.id();
        Ok(())
    });
    let outer = system.register(outer).unwrap();
    assert_eq!(names(&system), ["inner", "outer"]);
    let dropped = tokio::task::spawn_blocking(move || drop(outer));
    tokio::time::timeout(std::time::Duration::from_secs(10), dropped).await.unwrap().unwrap();
    assert_eq!(names(&system), Vec::<String>::new());
}

#[tokio::test]
async fn an_id_that_is_made_is_none_that_somebody_has() {
    let system = HookSystem::builder(".").build().unwrap();
    let given = ["hook-1", "hook-3"]
        .map(|id| system.register_as(id, denies(id), Registrant::Host).unwrap());
    let made = [(); 3].map(|()| system.register(denies("made")).unwrap());
    let ids: std::collections::HashSet<&str> =
        given.iter().chain(&made).map(|registration| registration.id()).collect();
    assert_eq!(ids.len(), 5, "{ids:?}");
}

#[tokio::test]
async fn a_request_in_flight_keeps_the_plan_that_it_has() {
    let system = Arc::new(HookSystem::builder(".").build().unwrap());
    let (started, wait) = tokio::sync::oneshot::channel();
    let (go, gone) = tokio::sync::oneshot::channel::<()>();
    let channels = Arc::new(std::sync::Mutex::new(Some((started, gone))));
    let slow = HandlerHook::on_async::<BeforeAgent, _>("slow", move |_input, mut answer| {
        let (started, gone) = channels.lock().unwrap().take().unwrap();
        async move {
            started.send(()).unwrap();
            gone.await?;
            answer.deny("at last");
            Ok(answer)
        }
    });
    let slow = system.register(slow).unwrap();
    let asked = Arc::clone(&system);
    let request = tokio::spawn(async move { reason(&asked).await });
    wait.await.unwrap();
    drop(slow);
    let _other = system.register(denies("other")).unwrap();
    go.send(()).unwrap();
    assert_eq!(request.await.unwrap().as_deref(), Some("at last"));
    assert_eq!(reason(&system).await.as_deref(), Some("other says no"));
}

#[tokio::test]
async fn what_cannot_be_registered_is_refused_with_a_reason() {
    let system = HookSystem::builder(".").build().unwrap();
    let refused = |hook: HandlerHook| system.register(hook).unwrap_err();
    let undeclared = EventDefinition::new("NobodyDeclaredThis").event().unwrap();
    let error = refused(HandlerHook::inline(undeclared, "x", |_| Ok(None)));
    assert_eq!(error.code(), "unsupported_event");
    let broken = HandlerHook::on::<BeforeTool>("x", |_, _| Ok(())).matcher("[");
    assert!(matches!(refused(broken), RegisterError::InvalidMatcher { .. }));
    let _first = system.register_as("id", denies("a"), Registrant::Host).unwrap();
    let error = system.register_as("id", denies("b"), Registrant::Host).unwrap_err();
    assert_eq!(error, RegisterError::DuplicateId { id: "id".to_owned() });
    let error = system.register_as("x\n\u{1b}[2J", denies("b\u{1b}"), Registrant::Client);
    assert!(error.is_ok(), "an id is anything");
}

#[tokio::test]
async fn clients_have_limits_and_the_host_has_none() {
    let project = Project::with_settings(&json!({"hooksConfig": {"registration":
        {"maxPerEvent": 2, "maxTotal": 3, "defaultTimeout": 1000}}}));
    let system = project.system();
    system.initialize().await.unwrap();
    let mut kept = Vec::new();
    let mut register = |name: &str, hook: HandlerHook| {
        system.register_as(name, hook, Registrant::Client).map(|it| kept.push(it))
    };
    register("a", denies("a")).unwrap();
    register("b", denies("b")).unwrap();
    let error = register("c", denies("c")).unwrap_err();
    assert_eq!(error.code(), "limit_exceeded");
    assert_eq!(
        error.to_string(),
        "cannot register the hook `c`: clients may register 2 hooks of BeforeAgent; \
         `hooksConfig.registration` of the user's settings sets the limit"
    );
    let observer = || HandlerHook::on::<AgentStart>("o", |_, _| Ok(()));
    register("d", observer()).unwrap();
    let error = register("e", observer()).unwrap_err();
    assert!(error.to_string().contains("may register 3 hooks;"), "{error}");
    for _ in 0..20 {
        kept.push(system.register(denies("host")).unwrap());
    }
    let client = system.hooks().unwrap();
    let client = client.iter().find(|it| it.hook.display_name() == "a").unwrap();
    assert_eq!(client.hook.timeout.as_millis(), 1_000);
    let by_default = HookSystem::builder(".").build().unwrap();
    let ids = (0..11).map(|number| number.to_string());
    let of_ten: Vec<_> =
        ids.map(|id| by_default.register_as(&id, denies(&id), Registrant::Client)).collect();
    assert_eq!(of_ten.iter().filter(|it| it.is_ok()).count(), 10);
}

#[tokio::test]
async fn a_projects_file_sets_no_limits() {
    let project = Project::new();
    project.write(
        ".hooks/settings.json",
        r#"{"hooksConfig": {"registration": {"maxTotal": 0}}, "hooks": {}}"#,
    );
    let system = HookSystem::builder(project.path()).native_settings(None).build().unwrap();
    system.initialize().await.unwrap();
    assert!(system.register_as("a", denies("a"), Registrant::Client).is_ok());
    let said = system.diagnostics().unwrap();
    assert!(said.iter().any(|it| it.rule.id() == "not-for-projects"), "{said:?}");
}

#[tokio::test]
async fn a_registered_guard_blocks_before_settings_are_read_and_when_none_can_be() {
    let project = Project::new();
    project.write("settings.json", "{");
    let system = project.builder().strict().build().unwrap();
    let guard =
        HandlerHook::on::<BeforeTool>("guard", |_, _| Ok(())).fail_behavior(FailBehavior::Block);
    let _guard = system.register(guard).unwrap();
    let asked = HookExecutionRequest::new("BeforeTool", JsonObject::new());
    let response = json(&system.bus().request(asked).await.to_json());
    assert_eq!(response["processed"]["decision"], "block", "{response}");
    assert!(system.may_have_guard(HookEventName::BeforeTool));
}

#[tokio::test]
async fn a_thousand_are_registered_and_the_right_ones_run() {
    let system = HookSystem::builder(".").build().unwrap();
    system.initialize().await.unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let hook = |number: usize| {
        let ran = Arc::clone(&ran);
        HandlerHook::on::<BeforeTool>(format!("h{number}"), move |_, _| {
            ran.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .matcher(format!("^tool{number}$"))
    };
    let mut all: Vec<_> = (0..1_000).map(|number| system.register(hook(number)).unwrap()).collect();
    let fire = async |tool: &str| {
        let input = json!({"tool_name": tool, "tool_input": {}});
        system.bus().request(HookExecutionRequest::new("BeforeTool", fields(input))).await;
        ran.swap(0, Ordering::Relaxed)
    };
    assert_eq!(fire("tool77").await, 1);
    drop(all.remove(77));
    assert_eq!(fire("tool77").await, 0);
    assert_eq!(fire("tool78").await, 1);
}
