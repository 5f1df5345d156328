//! Events that clients declare.

use std::time::Duration;

use hook_tests::{Project, Served, SocketServed, request};
use serde_json::json;

fn deploy() -> serde_json::Value {
    json!({"type": "hook-define-event", "eventName": "DeployFinished",
        "matching": {"exact": "environment"}, "merge": "or-decision", "blockMeans": "it is rolled back"})
}

#[tokio::test]
async fn an_event_of_a_client_holds_for_the_server_and_goes_with_its_last_declarer() {
    let project = Project::new();
    project.write("settings.json", "{}");
    let served = SocketServed::start(&project, &[]).await;
    let (mut one, mut other) = (served.client().await, served.client().await);
    let asked = request("DeployFinished", &json!({"environment": "production", "by": "me"}), "r");
    assert_eq!(other.ask(&asked).await["error"]["code"], "unsupported_event");
    let defined = json!({"type": "hook-event-defined", "eventName": "DeployFinished"});
    assert_eq!(one.ask(&deploy()).await, defined);
    assert_eq!(other.ask(&asked).await["success"], true);
    assert_eq!(other.ask(&deploy()).await, defined);
    let mut differs = deploy();
    differs["merge"] = json!("observe");
    let refused = other.ask(&differs).await;
    assert_eq!(refused["error"]["code"], "invalid_request");
    drop(one);
    // The server notices in its own time; another connection is served after that.
    assert_eq!(other.ask(&asked).await["success"], true);
    let mut missing = asked.clone();
    missing["input"] = json!({"by": "me"});
    assert_eq!(other.ask(&missing).await["error"]["code"], "invalid_payload");
    drop(other);
    let mut last = served.client().await;
    let forgotten = async {
        while last.ask(&asked).await["error"]["code"] != "unsupported_event" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), forgotten).await.unwrap();
}

#[tokio::test]
async fn what_is_no_declaration_is_answered_with_the_field_that_is_wrong() {
    let project = Project::new();
    project.write("settings.json", "{}");
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    for (field, value, said) in [
        ("eventName", json!(7), "eventName"),
        ("eventName", json!("a b"), "letter"),
        ("eventName", json!("BeforeTool"), "built-in event"),
        ("matching", json!({"exact": "a", "pattern": "b"}), "matching"),
        ("matching", json!([]), "matching"),
        ("merge", json!("some"), "merge"),
        ("blockMeans", json!({}), "blockMeans"),
        ("blocksMean", json!("x"), "blocksMean"),
    ] {
        let mut message = deploy();
        message[field] = value;
        message["correlationId"] = json!("d-1");
        let answered = client.ask(&message).await;
        assert_eq!(answered["correlationId"], "d-1", "{message}");
        assert_eq!(answered["error"]["code"], "invalid_request", "{message}");
        let text = answered["error"]["message"].as_str().unwrap();
        assert!(text.contains(said), "{message}: {text}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_answered_under_its_own_id() {
    let project = Project::new();
    project.write("settings.json", "{}");
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    for message in [
        json!({"type": "hook-audit", "level": "much"}),
        json!({"type": "hook-exec-request", "eventName": "BeforeTool", "input": {}}),
        json!({"type": "hook-define-event"}),
    ] {
        let mut message = message;
        message["correlationId"] = json!("m-1");
        let answered = client.ask(&message).await;
        assert_eq!(answered["correlationId"], "m-1", "{message}");
        assert_eq!(answered["error"]["code"], "invalid_request", "{message}");
    }
    let mut numbered = deploy();
    numbered["correlationId"] = json!(7);
    assert_eq!(client.ask(&numbered).await["error"]["code"], "invalid_request");
}

#[tokio::test]
async fn guards_in_settings_of_an_event_that_is_declared_later_block_until_settings_are_read_again()
{
    let project = Project::with_settings(&json!({"hooks": {"DeployFinished": [{"hooks": [
        {"type": "command", "name": "guard", "failBehavior": "block",
            "command": "grep -q staging"}]}]}}));
    let mut client = Served::start(&project).await;
    client.ask(&deploy()).await;
    let asked = request("DeployFinished", &json!({"environment": "staging"}), "r");
    let answered = client.ask(&asked).await;
    assert_eq!(answered["error"]["code"], "planning_failed");
    assert_eq!(answered["processed"]["decision"], "block");
    let reloaded = client.ask(&json!({"type": "hook-reload"})).await;
    assert_eq!(reloaded["totalHooks"], 1, "{reloaded}");
    assert_eq!(client.ask(&asked).await["processed"]["decision"], "proceed");
    let mut other = asked.clone();
    other["input"]["environment"] = json!("production");
    assert_eq!(client.ask(&other).await["processed"]["decision"], "block");
}
