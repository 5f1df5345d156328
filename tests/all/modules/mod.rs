//! Modules: the words in which they are told and answer, what their answers come to, and what they may ask
//! of their host.

mod asking;
mod commands;
pub(crate) mod rules;
mod words;
mod wrapper;

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::module::{HookModule, ModuleApi};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_json::RawJson;
use hook_run::{HostCall, HostCallError, HostServices};
use hook_tests::{fields, json};
use serde_json::Value;

/// A module that is a function.
struct Made<F>(&'static str, F);

impl<F: Fn(&mut ModuleApi)> HookModule for Made<F> {
    fn path(&self) -> &str {
        self.0
    }

    fn register(&self, api: &mut ModuleApi) {
        (self.1)(api);
    }
}

pub(crate) async fn fire(system: &HookSystem, event: &str, input: Value) -> Value {
    let request = HookExecutionRequest::new(event, fields(input));
    json(&system.bus().request(request).await.to_json())
}

/// A host that offers what it has an answer for, and notes what it is asked.
#[derive(Debug, Default)]
struct Host {
    answers: Vec<(&'static str, Value)>,
    asked: Mutex<Vec<HostCall>>,
    /// How long a question takes.
    thinks: std::time::Duration,
}

impl Host {
    fn of(answers: &[(&'static str, Value)]) -> Arc<Self> {
        Arc::new(Self { answers: answers.to_vec(), ..Self::default() })
    }

    /// What it was asked, and with what.
    fn asked(&self) -> Vec<(String, Value)> {
        let asked = self.asked.lock().unwrap();
        let params = |call: &HostCall| serde_json::from_str(call.params.as_str()).unwrap();
        asked.iter().map(|call| (call.method.clone(), params(call))).collect()
    }
}

impl HostServices for Host {
    fn offers(&self, method: &str) -> bool {
        self.answers.iter().any(|(known, _)| *known == method)
    }

    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        let answer = self.answers.iter().find(|(known, _)| *known == call.method);
        let answer = match answer {
            Some((_, answer)) => RawJson::parse(answer.to_string())
                .map_err(|error| HostCallError::failed(error.to_string())),
            None => Err(HostCallError::unsupported(&call.method)),
        };
        let thinks = if call.method.starts_with("ui.") { self.thinks } else { Default::default() };
        self.asked.lock().unwrap().push(call);
        async move {
            tokio::time::sleep(thinks).await;
            answer
        }
        .boxed()
    }
}
