//! Commands and renderers of modules.

use std::sync::Arc;

use hook_bus::module::{CommandError, ModuleApi, RenderOptions};
use hook_json::RawObject;
use hook_run::{HostServices, NewSession, SetupEntry};
use hook_tests::Project;
use serde_json::{Value, json};

use super::{Host, Made};

#[tokio::test]
async fn a_command_moves_between_sessions() {
    let module = Made("handoff", |api: &mut ModuleApi| {
        api.register_command("handoff", "Begins a new session", |arguments, ctx| async move {
            ctx.wait_for_idle().await?;
            let file = ctx.session_manager().session_file().await;
            let message =
                RawObject::parse(format!(r#"{{"role":"user","content":"{arguments}"}}"#))?;
            let session = NewSession::new().parent(file).with(SetupEntry::Message(message));
            assert!(ctx.new_session(session).await?.cancelled);
            assert!(!ctx.branch("e").await?.cancelled);
            ctx.navigate_tree("t", true).await?;
            Ok(Some(format!("handed {arguments}")))
        });
        api.register_command("fails", "", |_arguments, _ctx| async { Err("no luck".into()) });
    });
    let host = Host::of(&[
        ("session.waitForIdle", Value::Null),
        ("session.get", json!({"sessionFile": "/f"})),
        ("session.new", json!({"cancelled": true})),
        ("session.branch", json!({"cancelled": false})),
        ("session.navigateTree", json!({"cancelled": false})),
    ]);
    let services = Arc::clone(&host) as Arc<dyn HostServices>;
    let builder = Project::new().builder().module(module).unwrap();
    let system = builder.host_services(services).build().unwrap();
    let said = system.run_command("handoff", "go on").await.unwrap();
    assert_eq!(said.text.as_deref(), Some("handed go on"));
    let setup = json!([{"message": {"role": "user", "content": "go on"}}]);
    let expected = [
        ("session.waitForIdle", json!({})),
        ("session.get", json!({})),
        ("session.new", json!({"parentSession": "/f", "setup": setup})),
        ("session.branch", json!({"entryId": "e"})),
        ("session.navigateTree", json!({"targetId": "t", "summarize": true})),
    ];
    let expected = expected.map(|(method, params)| (method.to_owned(), params));
    assert_eq!(host.asked(), expected);

    let error = system.run_command("fails", "").await.unwrap_err();
    assert_eq!(error.to_string(), "the command fails of module handoff failed: no luck");
    let error = system.run_command("handof", "").await.unwrap_err();
    assert!(matches!(&error, CommandError::Unknown { known, .. } if known.len() == 2), "{error}");
}

#[tokio::test]
async fn of_equal_names_the_first_that_was_loaded_counts_and_none_is_dropped() {
    let module = |name: &'static str| {
        Made(name, move |api: &mut ModuleApi| {
            api.register_command("same", name, |_arguments, _ctx| async { Ok(None) });
            api.register_message_renderer("kind", move |message, options| {
                vec![format!("{name} {} {}", message.as_str(), options.width).into()]
            });
        })
    };
    let builder = Project::new().builder().module(module("first")).unwrap();
    let system = builder.module(module("second")).unwrap().build().unwrap();
    let modules = system.modules();
    assert_eq!(modules.get_command("same").unwrap().module(), "first");
    assert!(modules.get_command("other").is_none());
    let all = modules.get_registered_commands();
    let described: Vec<_> = all.iter().map(|command| command.description().unwrap()).collect();
    assert_eq!(described, ["first", "second"]);
    let renderer = modules.get_message_renderer("kind").unwrap();
    let lines = renderer.render(&RawObject::empty(), RenderOptions::new(80, false));
    assert_eq!(lines, ["first {} 80".into()]);
    assert!(modules.get_message_renderer("other").is_none());
}
