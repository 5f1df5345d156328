//! A small agent that its users extend by modules: those of docs/examples/modules, or those that are named.
//! Its model is scripted, its tools are two, and its session is a list of messages. Modules ask its user, change
//! what the model sees, and begin another session.
//!
//! `cargo run -p hook-bus --example modules [FILE...]`

#![allow(clippy::print_stdout, reason = "showing what happens is what it is for")]

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::triggers::{
    ModelCall, ToolCall, ToolResult, execute_tool_with_hooks, fire_before_model_hook,
};
use hook_bus::{AgentHost, HookExecutionRequest, HookSystem, MessageBus, Sdk};
use hook_json::{JsonArray, RawJson, RawObject};
use hook_protocol::{
    BeforeSessionSwitchInput, RequestInput, SessionSwitchInput, SwitchReason, ToolName,
};
use hook_run::{HostCall, HostCallError, HostServices};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const EXAMPLES: [&str; 4] = ["guard.ts", "redact.ts", "context.ts", "handoff.ts"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let named: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/modules");
    let modules = match named.is_empty() {
        true => EXAMPLES.map(|name| examples.join(name)).to_vec(),
        false => named,
    };
    let session = Arc::new(Session::default());
    let bus = MessageBus::new();
    let services = Services { session: Arc::clone(&session), bus: bus.clone() };
    let hooks = HookSystem::builder(".").bus(bus).module_files(modules);
    let host = AgentHost::new(hooks.host_services(Arc::new(services)));
    let system = host.hook_system().ok_or("hooks are off")?;
    system.initialize().await?;
    system.load_modules().await?;
    for module in system.loaded_modules()? {
        if let Some(error) = &module.error {
            return Err(format!("{}: {error}", module.name).into());
        }
    }
    session.say("user", "Clean up, then look at the settings.");
    session.say("custom", "the last turn took 12 ms");
    call_tool(&host, "run_shell_command", json!({"command": "rm -rf build"})).await?;
    call_tool(&host, "read_file", json!({"file_path": ".env"})).await?;
    ask_model(&host, &session).await?;
    println!("\nYou: /handoff");
    if let Some(text) = system.run_command("handoff", "").await?.text {
        println!("  {}", text.escape_debug());
    }
    session.say("user", "And now?");
    ask_model(&host, &session).await?;
    system.shutdown(std::time::Duration::from_secs(5)).await;
    Ok(())
}

/// Shows what the model is asked, once modules have seen it.
async fn ask_model(host: &AgentHost, session: &Session) -> Result<()> {
    let messages = RawJson::parse(Value::from(session.messages()).to_string())?;
    let request = RawObject::try_from(&json!({"model": "scripted", "messages": []}))?;
    let mut call = ModelCall::new(Sdk::Stable, request);
    call.messages = Some(JsonArray::try_from(messages).map_err(|_| "messages are a list")?);
    let hooks = fire_before_model_hook(host, &call).await;
    for warning in &hooks.warnings {
        println!("warning: {warning}");
    }
    println!("\nThe model is asked:");
    for message in hooks.messages.or(call.messages).map(|it| it.to_items()).unwrap_or_default() {
        let message: Value = serde_json::from_str(message.as_str())?;
        println!("  {}: {}", message["role"].as_str().unwrap_or("?"), text_of(&message["content"]));
    }
    Ok(())
}

/// Calls a tool as the model wants it, or as modules let it. The tools only pretend.
async fn call_tool(host: &AgentHost, name: &str, input: Value) -> Result<()> {
    println!("\nModel calls {name}: {input}");
    let call = ToolCall::new(ToolName::new(name)?, RawObject::try_from(&input)?);
    let result = execute_tool_with_hooks(host, call, async |_input| match name {
        "read_file" => ToolResult::text("API_KEY=FAKE-0000 and more"),
        _ => ToolResult::text("done"),
    })
    .await;
    println!("  the model gets: {:?}", result.llm_content);
    Ok(())
}

/// What is said: a list of messages.
#[derive(Debug, Default)]
struct Session {
    messages: Mutex<Vec<Value>>,
}

impl Session {
    fn messages(&self) -> Vec<Value> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a message; the agent's own notes are `custom`, and of a type that modules know.
    fn say(&self, role: &str, text: &str) {
        let mut message = json!({"role": role, "content": text});
        if role == "custom" {
            message["customType"] = json!("debug-only");
        }
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// Forgets the conversation, and begins with what a module has written.
    fn begin(&self, setup: &Value) {
        let written = setup.as_array().into_iter().flatten();
        let messages = written.filter_map(|entry| entry.get("message").cloned()).collect();
        *self.messages.lock().unwrap_or_else(PoisonError::into_inner) = messages;
        println!("  a new session begins");
    }
}

/// What modules get of this agent: its user, and its session.
#[derive(Debug)]
struct Services {
    session: Arc<Session>,
    bus: MessageBus,
}

impl HostServices for Services {
    fn offers(&self, method: &str) -> bool {
        ["ui.confirm", "session.get", "session.waitForIdle", "session.new"].contains(&method)
    }

    fn call(
        &self,
        call: HostCall,
    ) -> BoxFuture<'static, std::result::Result<RawJson, HostCallError>> {
        let (session, bus) = (Arc::clone(&self.session), self.bus.clone());
        async move {
            let params: Value = serde_json::from_str(call.params.as_str()).unwrap_or_default();
            let result = match call.method.as_str() {
                "ui.confirm" => confirm(&call.hook, &params),
                "session.get" => json!({"isIdle": true, "entries": session.messages()}),
                "session.waitForIdle" => Value::Null,
                "session.new" => begin(&session, &bus, &call, &params).await,
                method => return Err(HostCallError::unsupported(method)),
            };
            let result = RawJson::parse(result.to_string());
            result.map_err(|error| HostCallError::failed(error.to_string()))
        }
        .boxed()
    }
}

/// Begins another session, unless a hook is against it.
async fn begin(session: &Session, bus: &MessageBus, call: &HostCall, params: &Value) -> Value {
    // They are fired while a hook runs: its token gives them places of their own.
    let fire = async |input: RequestInput| {
        let request = HookExecutionRequest::typed(input).with_run_token(&*call.run_token);
        bus.request(request).await.processed
    };
    let before = fire(BeforeSessionSwitchInput::new(SwitchReason::New).into()).await;
    let is_refused = before.is_blocking_decision();
    if !is_refused {
        session.begin(&params["setup"]);
        fire(SessionSwitchInput::new(SwitchReason::New).into()).await;
    }
    json!({"cancelled": is_refused})
}

/// Asks the user. An agent that does other things meanwhile would wait for the answer in its future.
fn confirm(asker: &str, params: &Value) -> Value {
    let text = |name: &str| params[name].as_str().unwrap_or_default().escape_debug().to_string();
    print!("  {asker} asks: {}: {} [y/N] ", text("title"), text("message"));
    let mut answer = String::new();
    let is_read =
        std::io::stdout().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    println!();
    json!(is_read.is_ok() && matches!(answer.trim(), "y" | "yes"))
}

/// The text of a message, which is one, or has parts.
fn text_of(content: &Value) -> String {
    match content.as_array() {
        Some(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        None => content.as_str().unwrap_or_default().to_owned(),
    }
}
