//! What `hook connect` wrote, so that entries can be missed that something else took out.

use std::io;
use std::path::{Path, PathBuf};

use hook_agents::Agent;
use hook_files::{private_folder, regular_file};
use hook_json::RawJson;
use hook_settings::state_home;
use hook_trust::sha256;
use serde_json::json;

use super::entries::Entries;

/// The maximum size of a record, in bytes.
const MAX_LENGTH: u64 = 1 << 16;

/// Returns the record about an agent's settings file.
fn path(agent: &Agent, file: &Path) -> Option<PathBuf> {
    let hash = sha256(file.as_os_str().as_encoded_bytes());
    let name = format!("{}-{}.json", agent.name(), hash.get(..16)?);
    Some(state_home()?.join("hook/connections").join(name))
}

/// Writes down the events that are connected in a file.
///
/// # Errors
/// Returns an error if the record cannot be written.
pub(super) fn write(agent: &Agent, file: &Path, events: &[&str]) -> io::Result<()> {
    let Some(path) = path(agent, file) else { return Ok(()) };
    private_folder::make(path.parent().unwrap_or(Path::new("/")))?;
    std::fs::write(path, json!({"file": file, "events": events}).to_string())
}

/// Forgets a file that was disconnected.
pub(super) fn remove(agent: &Agent, file: &Path) {
    // Without a record there is nothing to forget.
    let _ = path(agent, file).map(std::fs::remove_file);
}

/// Returns the events that were connected in a file of which it has no entries any more.
pub(crate) fn missing(entries: &Entries) -> Vec<String> {
    let Some(path) = path(entries.agent, &entries.file) else { return Vec::new() };
    // A record that cannot be read misses nothing.
    let text = regular_file::read_to_string(&path, MAX_LENGTH).unwrap_or_default();
    let record = RawJson::parse(text).ok().and_then(|record| record.to_object().ok());
    let events = record.and_then(|record| record.get("events")?.to_items()).unwrap_or_default();
    let events = events.iter().filter_map(RawJson::to_text);
    events.filter(|event| entries.commands.iter().all(|(known, _)| known != event)).collect()
}
