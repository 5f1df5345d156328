//! What handlers ask of their host, and what they get without one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hook_bus::HookSystem;
use hook_bus::module::ModuleApi;
use hook_json::{JsonObject, RawObject};
use hook_run::{ExecOptions, HookContext, HostServices, ModuleAnswer, Notice};
use hook_tests::Project;
use serde_json::{Value, json};

use super::{Host, Made, fire};

fn shell() -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": "rm -rf x"}})
}

/// The seed's guard.
fn guard(api: &mut ModuleApi) {
    api.on("tool_call", |event, ctx| async move {
        let command = event.tool_argument("command").unwrap_or_default();
        if event.tool_name().as_deref() != Some("bash") || !command.contains("rm -rf") {
            return Ok(None);
        }
        if !ctx.has_ui() {
            return Ok(Some(ModuleAnswer::block("rm -rf blocked (no UI)")));
        }
        let ok = ctx.ui().confirm("Dangerous command", &format!("Allow: {command}")).await;
        Ok((!ok).then(|| ModuleAnswer::block("user denied command")))
    });
}

fn guarded(host: Option<Arc<Host>>) -> HookSystem {
    let builder = Project::new().builder().module(Made("guard", guard)).unwrap();
    match host {
        Some(host) => builder.host_services(host as Arc<dyn HostServices>).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

#[tokio::test]
async fn a_guard_asks_where_there_is_a_user() {
    for (says, reason) in [
        (None, json!("rm -rf blocked (no UI)")),
        (Some(false), json!("user denied command")),
        (Some(true), Value::Null),
    ] {
        let host = says.map(|says| Host::of(&[("ui.confirm", json!(says))]));
        let system = guarded(host.clone());
        let response = fire(&system, "BeforeTool", shell()).await;
        assert_eq!(response["processed"]["reason"], reason, "{response}");
        if let Some(host) = host {
            let params = json!({"title": "Dangerous command", "message": "Allow: rm -rf x"});
            assert_eq!(host.asked(), [("ui.confirm".to_owned(), params)]);
            let asked = host.asked.lock().unwrap();
            assert!(!asked[0].run_token.is_empty() && asked[0].correlation.is_some());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_question_is_not_the_handlers_own_and_ends_all_the_same() {
    for (thinks, reason) in [(540, Value::Null), (700, json!("Hook timed out after 60000ms"))] {
        let host = Host { thinks: Duration::from_secs(thinks), ..Host::default() };
        let host = Arc::new(Host { answers: vec![("ui.confirm", json!(true))], ..host });
        let response = fire(&guarded(Some(host)), "BeforeTool", shell()).await;
        assert_eq!(response["processed"]["reason"], reason, "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_has_sixty_seconds() {
    let slow = Made("slow", |api: &mut ModuleApi| {
        api.on("tool_call", |_event, _ctx| async {
            tokio::time::sleep(Duration::from_secs(61)).await;
            Ok(None)
        });
    });
    let system = Project::new().builder().module(slow).unwrap().build().unwrap();
    let response = fire(&system, "BeforeTool", shell()).await;
    assert_eq!(response["processed"]["decision"], "block", "{response}");
    assert_eq!(response["hooks"][0]["timedOut"], true);
}

/// Asks for everything, and gives what came of it.
async fn everything(ctx: &HookContext) -> Value {
    let ui = ctx.ui();
    ui.notify("n", Notice::Warning).await;
    ui.set_status("k", Some("t")).await;
    ui.set_editor_text("e").await;
    json!({
        "select": ui.select("t", &["a", "b"]).await,
        "confirm": ui.confirm("t", "m").await,
        "input": ui.input("t", None).await,
        "editor": ui.editor("t", Some("p")).await,
        "getEditorText": ui.get_editor_text().await,
        "custom": ui.custom::<String>().is_some(),
        "theme": ui.theme().name(),
        "hasUI": ctx.has_ui(),
        "model": ctx.model().await.map(|it| it.to_text()),
        "isIdle": ctx.is_idle().await,
        "hasQueuedMessages": ctx.has_queued_messages().await,
        "sessionFile": ctx.session_manager().session_file().await,
        "entries": ctx.session_manager().entries().await.len(),
        "abort": ctx.abort().await.is_ok(),
    })
}

async fn asked(host: Option<Arc<Host>>) -> Value {
    let got = Arc::new(Mutex::new(Value::Null));
    let gets = Arc::clone(&got);
    let module = Made("m", move |api: &mut ModuleApi| {
        let gets = Arc::clone(&gets);
        api.on("agent_start", move |_event, ctx| {
            let gets = Arc::clone(&gets);
            async move {
                let all = everything(&ctx).await;
                *gets.lock().unwrap() = all;
                Ok(None)
            }
        });
    });
    let builder = Project::new().builder().module(module).unwrap();
    let builder = match host {
        Some(host) => builder.host_services(host as Arc<dyn HostServices>),
        None => builder,
    };
    let system = builder.build().unwrap();
    fire(&system, "AgentStart", json!({"transcript_path": "/own"})).await;
    got.lock().unwrap().clone()
}

#[tokio::test]
async fn without_a_host_everything_has_its_answer() {
    let expected = json!({"select": null, "confirm": false, "input": null, "editor": null,
        "getEditorText": "", "custom": false, "theme": "default", "hasUI": false, "model": null,
        "isIdle": true, "hasQueuedMessages": false, "sessionFile": "/own", "entries": 0,
        "abort": false});
    assert_eq!(asked(None).await, expected);
    assert_eq!(asked(Some(Host::of(&[]))).await, expected);
}

#[tokio::test]
async fn a_host_is_asked_for_everything() {
    let session = json!({"isIdle": false, "hasQueuedMessages": true, "model": "m", "sessionFile": "/f",
        "entries": [1, 2]});
    let host = Host::of(&[
        ("ui.select", json!("a")),
        ("ui.confirm", json!(true)),
        ("ui.input", json!("i")),
        ("ui.editor", json!("e")),
        ("ui.getEditorText", json!("g")),
        ("session.get", session),
        ("session.abort", Value::Null),
    ]);
    let expected = json!({"select": "a", "confirm": true, "input": "i", "editor": "e",
        "getEditorText": "g", "custom": false, "theme": "default", "hasUI": true, "model": "m",
        "isIdle": false, "hasQueuedMessages": true, "sessionFile": "/f", "entries": 2, "abort": true});
    assert_eq!(asked(Some(Arc::clone(&host))).await, expected);
    let shown = &host.asked()[..3];
    assert_eq!(shown[0], ("ui.notify".to_owned(), json!({"message": "n", "type": "warning"})));
    assert_eq!(shown[1], ("ui.setStatus".to_owned(), json!({"key": "k", "text": "t"})));
    assert_eq!(shown[2], ("ui.setEditorText".to_owned(), json!({"text": "e"})));
}

#[tokio::test]
async fn a_module_speaks_to_its_host_once_there_is_one() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let says = Arc::clone(&said);
    let module = Made("m", move |api: &mut ModuleApi| {
        let handle = api.handle().clone();
        let early = futures::FutureExt::now_or_never(handle.append_entry("early", None));
        says.lock().unwrap().push(early.unwrap().unwrap_err().to_string());
        let says = Arc::clone(&says);
        api.on("agent_start", move |_event, _ctx| {
            let (handle, says) = (handle.clone(), Arc::clone(&says));
            async move {
                let message =
                    RawObject::parse(r#"{"customType":"t","content":"c","display":true}"#)?;
                handle.send_message(message, JsonObject::new()).await?;
                handle.append_entry("kept", Some(hook_json::RawJson::from_bool(true))).await?;
                let args = ["-c", "echo out; echo err >&2; exit 3"];
                let ran = handle.exec("sh", &args, ExecOptions::new()).await?;
                says.lock().unwrap().push(format!("{ran:?}"));
                Ok(None)
            }
        });
    });
    let host =
        Host::of(&[("session.sendMessage", Value::Null), ("session.appendEntry", Value::Null)]);
    let services = Arc::clone(&host) as Arc<dyn HostServices>;
    let project = Project::new();
    let builder = project.builder().module(module).unwrap();
    let system = builder.host_services(services).build().unwrap();
    let response = fire(&system, "AgentStart", json!({})).await;
    assert_eq!(response["warnings"], Value::Null, "{response}");
    let said = said.lock().unwrap();
    assert!(said[0].contains("the host is not ready"), "{}", said[0]);
    assert_eq!(
        said[1],
        r#"ExecResult { stdout: "out\n", stderr: "err\n", code: 3, killed: false }"#
    );
    let message = json!({"message": {"customType": "t", "content": "c", "display": true}});
    let entry = json!({"customType": "kept", "data": true});
    assert_eq!(
        host.asked(),
        [("session.sendMessage".to_owned(), message), ("session.appendEntry".to_owned(), entry)]
    );
}

#[tokio::test]
async fn what_a_handler_leaves_behind_asks_nobody() {
    let host = Host::of(&[("ui.confirm", json!(true))]);
    let (kept, mut left) = tokio::sync::mpsc::channel(1);
    let module = Made("leaves", move |api: &mut ModuleApi| {
        let kept = kept.clone();
        api.on("tool_call", move |_event, ctx| {
            let kept = kept.clone();
            async move {
                kept.send(ctx).await?;
                Ok(None)
            }
        });
    });
    let builder = Project::new().builder().module(module).unwrap();
    let system = builder.host_services(host.clone() as Arc<dyn HostServices>).build().unwrap();
    fire(&system, "BeforeTool", shell()).await;
    let ctx: HookContext = left.recv().await.unwrap();
    assert!(!ctx.ui().confirm("t", "m").await, "whose tool call is over agrees to nothing");
    assert_eq!(host.asked(), []);
}
