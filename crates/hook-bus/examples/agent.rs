//! A small agent under the hooks of docs/examples/agent-session: a scripted model, real tools, and
//! every decision of a hook applied. Works in a copy of that project, and without a network.
//!
//! `cargo run -p hook-bus --example agent`
//!
//! The hooks are those of a project, so it shows them and asks before any runs; `-- --yes` agrees.

#![allow(clippy::print_stdout, reason = "showing what happens is what it is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use futures::stream::{self, StreamExt};
use hook_bus::triggers::{
    BeforeAgentDecision, ChunkHooks, ModelCall, ModelVerdict, ToolCall, ToolContent, ToolResult,
    ToolVerdict, TurnEnd, call_model_with_hooks, execute_tool_with_hooks, fire_after_agent_hook,
    fire_before_agent_hook, fire_session_end_hook, fire_session_start_hook,
};
use hook_bus::{AgentHost, HookExecutionResponse, HookSystem, Sdk, Subscription};
use hook_json::{JsonArray, JsonObject, RawJson, RawObject};
use hook_protocol::{
    HookEventName, OpenInput, RequestInput, SessionEndReason, SessionStartSource, ToolName,
    TurnEndInput, TurnStartInput,
};
use hook_settings::{HookSource, SettingsSource};
use hook_settings::{IN_PROJECT, load};
use hook_trust::{TrustPolicy, TrustStore};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let project = copy_of_the_example(folder.path())?;
    // The copy is gone at the end, and so is what was agreed to. An agent leaves `trust` out, and has
    // the user's own store, which `hook trust` writes.
    let store = TrustStore::new(folder.path().join("trust.json"));
    if !consents(&project, &store)? {
        println!("Without its hooks this agent does nothing.");
        return Ok(());
    }
    let hooks = HookSystem::native(&project).session_id("example").trust(TrustPolicy::Store(store));
    let host = AgentHost::new(hooks).approver(|request| async move {
        println!("  you are asked: {}", request.reason);
        println!("  you say no");
        false
    });
    let system = host.hook_system().ok_or("hooks are off")?;
    let heard = system.bus().subscribe();
    let start = fire_session_start_hook(&host, SessionStartSource::Startup).await;
    for warning in &start.warnings {
        println!("  warning: {warning}");
    }
    let mut agent = Agent {
        host: &host,
        project,
        contents: Vec::new(),
        next: start.advice.for_model.into_iter().map(|text| json!({"text": text})).collect(),
        script: script().into_iter(),
        heard,
    };
    agent.work("Plan the work in src/. My settings: api_key=FAKE-KEY-0000-NOT-A-REAL-KEY").await?;
    fire_session_end_hook(&host, SessionEndReason::Exit).await;
    agent.show_hooks();
    system.shutdown(std::time::Duration::from_secs(5)).await;
    Ok(())
}

/// Shows which hooks the project would run, and asks whether they may.
fn consents(project: &Path, store: &TrustStore) -> Result<bool> {
    let settings = SettingsSource::optional(HookSource::Project, project.join(IN_PROJECT));
    let entries = load(&settings).map(|file| file.hooks).unwrap_or_default();
    let reviews = store.review(project, &entries)?;
    println!("The project's hooks:");
    for review in &reviews {
        println!("  {} {}", review.entry.event, review.entry.command);
    }
    if !std::env::args().any(|argument| argument == "--yes") {
        println!("Run them? [y/N]");
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "yes") {
            return Ok(false);
        }
    }
    store.grant_reviewed(project, &reviews)?;
    Ok(true)
}

/// What the model says, call by call, as chunks of its stream.
fn script() -> Vec<Vec<Value>> {
    let tool =
        |name: &str, arguments: Value| json!({"functionCall": {"name": name, "args": arguments}});
    let text = |text: &str| json!({"text": text});
    let shell = |command: &str| tool("run_shell_command", json!({"command": command}));
    let write = |path: &str, content: &str| {
        tool("write_file", json!({"file_path": path, "content": content}))
    };
    vec![
        vec![text("Let me clean up first."), shell("git push --force origin main")],
        vec![shell("ls hooks | head -3")],
        vec![write("./notes//drafts/../plan.txt", "1. Split setup.   \n2. Test it.\t\n")],
        vec![write("/etc/motd", "planned\n")],
        vec![text("The plan is written. "), text("TODO: the tests of setup are still missing.")],
        vec![text("The setup uses TOKEN=FAKE-TOKEN-1111-NOT-A-REAL-TOKEN; done otherwise.")],
    ]
}

struct Agent<'a> {
    host: &'a AgentHost,
    project: PathBuf,
    /// The conversation, as the SDK has it.
    contents: Vec<Value>,
    /// What hooks want the model to know, to be said with the next message.
    next: Vec<Value>,
    script: std::vec::IntoIter<Vec<Value>>,
    /// Every response on the bus, to show what each hook did.
    heard: Subscription<HookExecutionResponse>,
}

impl Agent<'_> {
    /// Works on a prompt until the turn is over and no hook wants more.
    async fn work(&mut self, prompt: &str) -> Result<()> {
        println!("\nYou: {prompt}");
        let mut prompt = prompt.to_owned();
        self.tell(OpenInput::new(HookEventName::AgentStart, JsonObject::new())?).await;
        loop {
            let before = fire_before_agent_hook(self.host, &*prompt).await;
            self.show_hooks();
            let BeforeAgentDecision::Proceed { prompt: text } = before.decision else {
                println!("  the prompt goes no further: {:?}", before.decision);
                return Ok(());
            };
            self.say("user", vec![json!({"text": text})]);
            let Some(answer) = self.turn().await? else { return Ok(()) };
            let after = fire_after_agent_hook(self.host, (&*prompt, &*answer)).await;
            self.show_hooks();
            match after.end {
                TurnEnd::Continue { prompt: next } => {
                    println!("\nThe agent goes on: {next}");
                    prompt = next;
                }
                end => {
                    println!("\nThe turn ends: {end:?}");
                    return Ok(());
                }
            }
        }
    }

    /// Calls the model, and the tools that it wants, until it wants none; its answer, unless a hook
    /// stops the agent.
    async fn turn(&mut self) -> Result<Option<String>> {
        for index in 0_u64.. {
            self.tell(TurnStartInput::new(index)).await;
            let request =
                RawObject::try_from(&json!({"model": "scripted", "contents": self.contents}))?;
            let call = ModelCall::new(Sdk::GenAi, request);
            let chunks: Vec<Value> = self.script.next().unwrap_or_default();
            let mut answer =
                call_model_with_hooks(self.host, call, ChunkHooks::Complete, async |request| {
                    println!("\nThe model is asked:{}", user_texts(&request));
                    let chunks = chunks.into_iter().map(|part| {
                        let content = json!({"role": "model", "parts": [part]});
                        RawObject::try_from(&json!({"candidates": [{"content": content}]}))
                    });
                    Ok::<_, hook_json::JsonError>(stream::iter(chunks))
                })
                .await;
            while let Some(chunk) = answer.next().await {
                chunk?;
            }
            let result = answer.finish().await?;
            self.show_hooks();
            match result.verdict {
                ModelVerdict::Called | ModelVerdict::Answered => {}
                ModelVerdict::Blocked { .. } => println!("  a hook answers for the model"),
                stopped => {
                    println!("  the agent stops: {stopped:?}");
                    return Ok(None);
                }
            }
            // What hooks want the model to know next time.
            if let Some(text) = result.for_next_request {
                self.next.push(json!({"text": text}));
            }
            let response = result.response.ok_or("the model said nothing")?;
            let response: Value = serde_json::from_str(response.as_str())?;
            let parts = response["candidates"][0]["content"]["parts"].clone();
            let parts: Vec<Value> = parts.as_array().cloned().unwrap_or_default();
            let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            if !text.is_empty() {
                println!("Model: {text}");
            }
            self.say("model", parts.clone());
            let calls: Vec<&Value> = parts.iter().map(|part| &part["functionCall"]).collect();
            let calls: Vec<&Value> = calls.into_iter().filter(|call| call.is_object()).collect();
            let is_last = calls.is_empty();
            let mut results = Vec::new();
            for call in calls {
                let Some(result) = self.call_tool(call).await? else { return Ok(None) };
                results.push(result);
            }
            let given = RawJson::parse(json!(results).to_string())?;
            let given = JsonArray::try_from(given).map_err(|_| "results are a list")?;
            self.tell(TurnEndInput::new(index, RawJson::from_text(&text), given)).await;
            if is_last {
                return Ok(Some(text));
            }
            self.say("user", results);
        }
        Ok(None)
    }

    /// Tells hooks of something that asks nothing of them.
    async fn tell(&mut self, input: impl Into<RequestInput>) {
        if let Some(system) = self.host.hook_system() {
            system.fire(input).await;
        }
        self.show_hooks();
    }

    /// Calls a tool as the model wants it, or as hooks let it; nothing if a hook stops the agent.
    async fn call_tool(&mut self, call: &Value) -> Result<Option<Value>> {
        let name = call["name"].as_str().unwrap_or_default();
        println!("Model calls {name}: {}", call["args"]);
        let tool = ToolCall::new(ToolName::new(name)?, RawObject::try_from(&call["args"])?);
        let project = self.project.clone();
        let result = execute_tool_with_hooks(self.host, tool, async |input: RawObject| {
            run_tool(name, &input, &project)
        })
        .await;
        self.show_hooks();
        let text = match &result.llm_content {
            ToolContent::Text(text) => text.trim_end().replace('\n', "\n    "),
            ToolContent::Parts(parts) => format!("{parts:?}"),
        };
        if let ToolVerdict::Stopped { reason, .. } = &result.verdict {
            println!("  the agent stops: {reason}");
            return Ok(None);
        }
        println!("  the model gets: {text}");
        Ok(Some(json!({"functionResponse": {"name": name, "response": {"output": text}}})))
    }

    fn say(&mut self, role: &str, mut parts: Vec<Value>) {
        if role == "user" {
            parts.append(&mut self.next);
        }
        self.contents.push(json!({"role": role, "parts": parts}));
    }

    /// Shows what the hooks of the events since the last time have answered.
    fn show_hooks(&mut self) {
        use futures::FutureExt;
        while let Some(Some(Ok(response))) = self.heard.next().now_or_never() {
            for result in &response.hooks {
                let event = response.event.map_or("?", |event| event.as_str());
                let name = result.hook.display_name();
                match (&result.output, &result.failure) {
                    (Some(output), _) => println!("  {event} {name}: {}", output.to_raw().as_str()),
                    (None, Some(failure)) => println!("  {event} {name} failed: {failure}"),
                    (None, None) => {}
                }
            }
        }
    }
}

/// The agent's tools.
fn run_tool(name: &str, input: &RawObject, project: &Path) -> ToolResult {
    let fields = input.fields();
    let text = |name| fields.get(name).and_then(|value| value.to_text()).unwrap_or_default();
    let done = match name {
        "run_shell_command" => Command::new("bash")
            .args(["-c", &text("command")])
            .current_dir(project)
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned()),
        "write_file" => {
            let path = project.join(text("file_path"));
            std::fs::create_dir_all(path.parent().unwrap_or(project))
                .and_then(|()| std::fs::write(&path, text("content")))
                .map(|()| format!("wrote {}", text("file_path")))
        }
        other => return ToolResult::failed(format!("there is no tool {other}")),
    };
    match done {
        Ok(text) => ToolResult::text(text),
        Err(error) => ToolResult::failed(format!("failed to run {name}: {error}")),
    }
}

/// What the user says in a request, a line for each text.
fn user_texts(request: &RawObject) -> String {
    let request: Value = serde_json::from_str(request.as_str()).unwrap_or_default();
    let contents = request["contents"].as_array().cloned().unwrap_or_default();
    let of_user = contents.iter().filter(|content| content["role"] == "user");
    let parts = of_user.flat_map(|content| content["parts"].as_array().into_iter().flatten());
    parts.filter_map(|part| part["text"].as_str()).map(|text| format!("\n    {text}")).collect()
}

/// Copies the example project, so that the agent can write in it.
fn copy_of_the_example(to: &Path) -> Result<PathBuf> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/agent-session");
    let project = to.join("agent-session");
    let status = Command::new("cp").arg("-R").arg(&example).arg(&project).status()?;
    match status.success() {
        true => Ok(project),
        false => Err(format!("failed to copy {}", example.display()).into()),
    }
}
