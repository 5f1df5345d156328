//! The hooks that took longest in a recording.

use std::path::Path;
use std::time::Duration;

use hook_record::recording::{Recording, SlowHook};

use crate::commands::trace::read_recording;
use crate::error::Result;
use crate::output::Printer;
use crate::render::{Finding, Health, Section};

/// The duration from which an agent's user notices the wait.
const SLOW: Duration = Duration::from_secs(1);

pub(super) async fn section(path: &Path, printer: &mut Printer) -> Result<Section> {
    let recording = read_recording(path, printer).await?;
    let slowest = recording.summary().slowest;
    let findings = slowest.iter().filter_map(|slow| finding(slow, &recording)).collect();
    Ok(Section { title: "Slowest hooks of the recording", empty: "no hook ran", findings })
}

fn finding(slow: &SlowHook, recording: &Recording) -> Option<Finding> {
    let request = recording.requests.get(slow.request)?;
    let hook = request.hooks.get(slow.hook)?;
    let event = request.event_name.as_deref().unwrap_or("?");
    let subject = request.subject().unwrap_or_default();
    let detail = format!("{} ms for {event} {subject}", slow.duration.as_millis());
    let slow = slow.duration >= SLOW;
    let health = if slow { Health::Warning } else { Health::Good };
    let finding = Finding::new(health, hook.name.as_str(), detail.trim_end());
    Some(match slow {
        true => finding.fix("agents wait for it; do less in it, or give it a shorter timeout"),
        false => finding,
    })
}
