//! An agent that answers what modules ask of it, over the wire.

use hook_tests::{Project, Served};
use serde_json::{Value, json};

/// Asks a served engine as a host that offers these methods, with their results. The response, and what the host was asked,
/// in order.
pub(super) async fn conversation(
    project: &Project,
    services: &Value,
    request: &Value,
) -> (Value, Vec<Value>) {
    let mut served = Served::start(project).await;
    let services = services.as_object().unwrap();
    let offered: Vec<&String> = services.keys().collect();
    let hello = json!({"type": "hook-hello", "hostServices": offered});
    served.send(format!("{hello}\n{request}\n")).await;
    let mut asked = Vec::new();
    let response = loop {
        let message = served.receive().await;
        match message["type"].as_str() {
            Some("hook-host-call") => {
                let result = &services[message["method"].as_str().unwrap()];
                let id = &message["hostCallId"];
                let result =
                    json!({"type": "hook-host-result", "hostCallId": id, "result": result});
                served.send(format!("{result}\n")).await;
                asked.push(message);
            }
            Some("hook-execution-response") => break message,
            _ => {}
        }
    };
    let (_, code) = served.finish().await;
    assert_eq!(code, Some(0));
    (response, asked)
}

/// With what a host was asked for that.
pub(super) fn asked_for(asked: &[Value], method: &str) -> Vec<Value> {
    let of_method = asked.iter().filter(|it| it["method"] == method);
    of_method.map(|it| it["params"].clone()).collect()
}
