//! A module in Rust: it asks before `rm -rf`, and redacts keys in what tools read (docs/modules.md).
//!
//! `cargo run -p hook-bus --example module`

#![allow(clippy::print_stdout, reason = "showing what happens is what it is for")]

use std::error::Error;

use hook_bus::module::{HookModule, ModuleApi};
use hook_bus::triggers::{ToolCall, ToolResult, execute_tool_with_hooks};
use hook_bus::{AgentHost, HookSystem};
use hook_json::{RawJson, RawObject};
use hook_protocol::ToolName;
use hook_run::ModuleAnswer;
use serde_json::{Value, json};

struct Careful;

impl HookModule for Careful {
    fn path(&self) -> &str {
        "careful"
    }

    fn register(&self, api: &mut ModuleApi) {
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
        api.on("tool_result", |event, _ctx| async move {
            if event.tool_name().as_deref() != Some("read") || event.is("isError") {
                return Ok(None);
            }
            let mut parts = Vec::new();
            for part in event.items("content") {
                let mut part: Value = serde_json::from_str(part.as_str())?;
                if let Some(text) = part["text"].as_str() {
                    part["text"] = json!(redacted(text));
                }
                parts.push(RawJson::parse(part.to_string())?);
            }
            Ok(Some(ModuleAnswer::content(&parts)))
        });
    }
}

/// A text without the values of `API_KEY=…`.
fn redacted(text: &str) -> String {
    const KEY: &str = "API_KEY=";
    let mut parts = text.split(KEY);
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.find(char::is_whitespace).map_or("", |at| &part[at..]);
        done.push_str(KEY);
        done.push_str(if after.len() == part.len() { "" } else { "[REDACTED]" });
        done.push_str(after);
    }
    done
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let host = AgentHost::new(HookSystem::builder(".").module(Careful)?);
    for (tool, input) in [
        ("run_shell_command", json!({"command": "rm -rf build"})),
        ("run_shell_command", json!({"command": "ls"})),
        ("read_file", json!({"file_path": ".env"})),
    ] {
        let call = ToolCall::new(ToolName::new(tool)?, RawObject::try_from(&input)?);
        let result = execute_tool_with_hooks(&host, call, async |_input| {
            ToolResult::text("API_KEY=FAKE-0000 and more")
        })
        .await;
        println!("{tool} {input}: {:?}", result.llm_content);
    }
    Ok(())
}
