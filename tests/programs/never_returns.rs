//! An agent whose blocking handler never returns: another event is served meanwhile, and the
//! process ends all the same (reliability.md, fault 20).

use std::sync::Arc;
use std::time::Duration;

use hook_bus::HookSystem;
use hook_protocol::{
    BeforeAgentInput, HookEventName, HookOutput, SessionEndInput, SessionEndReason,
};
use hook_run::HandlerHook;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stuck = HandlerHook::blocking(HookEventName::BeforeAgent, "stuck", |_| {
        loop {
            std::thread::park();
        }
    });
    let quick = HandlerHook::inline(HookEventName::SessionEnd, "quick", |_| {
        Ok(Some(HookOutput::allow().with_system_message("served meanwhile")))
    });
    let system = HookSystem::builder(".")
        .handler(stuck.timeout(Duration::from_secs(1)))
        .handler(quick)
        .build()?;
    let system = Arc::new(system);
    let fired = Arc::clone(&system);
    let stuck =
        tokio::spawn(
            async move { fired.fire_before_agent(BeforeAgentInput::new(String::new())).await },
        );
    while system.status().in_flight == 0 {
        tokio::task::yield_now().await;
    }
    let quick = system.fire_session_end(SessionEndInput::new(SessionEndReason::Exit)).await;
    assert!(!stuck.is_finished(), "the other handler has not returned yet");
    let stuck = stuck.await?;
    let said = quick.system_message.unwrap_or_default();
    let errors: Vec<_> = stuck.aggregated.errors.iter().map(|error| &error.message).collect();
    let threads = system.status().abandoned_threads;
    let report = format!("{said}\n{errors:?}\n{threads} thread abandoned\n");
    std::io::Write::write_all(&mut std::io::stdout(), report.as_bytes())?;
    Ok(())
}
