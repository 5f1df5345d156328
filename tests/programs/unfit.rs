//! An agent in a process that may not be fit to run hooks, with the settings file that it is given:
//! what became of a tool call, and why (reliability.md, fault 45).

use hook_bus::triggers::{ToolCall, ToolResult, execute_tool_with_hooks};
use hook_bus::{AgentHost, HookSystem};
use hook_json::RawObject;
use hook_protocol::ToolName;
use hook_settings::SettingsSource;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = std::env::args_os().nth(1).ok_or("expected a settings file")?;
    let hooks = HookSystem::builder(".").settings(SettingsSource::explicit(settings));
    let host = AgentHost::new(hooks);
    let call = ToolCall::new(ToolName::new("edit")?, RawObject::empty());
    let result = execute_tool_with_hooks(&host, call, async |_| ToolResult::text("ran")).await;
    let report = format!("{:?}\n{}\n", result.verdict, result.warnings.join("\n"));
    std::io::Write::write_all(&mut std::io::stdout(), report.as_bytes())?;
    Ok(())
}
