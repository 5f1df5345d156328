//! An agent that has no hooks of its own: before each tool call it asks a fleet of engines.
//!
//! `cargo run -p hook-remote --features nats --example fleet_agent nats://127.0.0.1 run_shell_command`
//!
//! Start `nats-server` and `hook serve --nats nats://127.0.0.1` first; without them it goes on with nothing.

#![expect(clippy::print_stdout, reason = "it is a command")]

use hook_json::RawObject;
use hook_protocol::{BeforeToolInput, PolicyDecision, ToolName};
use hook_remote::nats::{NatsBus, NatsOptions};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "nats://127.0.0.1".to_owned());
    let tool = arguments.next().unwrap_or_else(|| "read_file".to_owned());
    let bus = NatsBus::with(NatsOptions::new(url))?;
    let input = BeforeToolInput::new(ToolName::new(tool)?, RawObject::empty());
    let result = bus.fire_before_tool(input).await;
    match result.decision {
        PolicyDecision::Proceed => println!("the tool runs"),
        decision => println!("{decision:?}: {}", result.reason.unwrap_or_default()),
    }
    Ok(())
}
