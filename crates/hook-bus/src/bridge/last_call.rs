//! The last call of each agent, by event: the modification times of empty files, of which there is one for each event
//! in an agent's table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use hook_agents::Agent;
use hook_files::{private_folder, regular_file};

/// The precision of the times: a call soon after another one writes nothing.
const PRECISION: Duration = Duration::from_secs(5);

/// Returns the folder of an agent's files.
fn folder(state: &Path, agent: &Agent) -> PathBuf {
    state.join("calls").join(agent.name())
}

/// Notes a call of an event that the agent has.
pub(super) fn note(state: &Path, agent: &Agent, event: &str) -> io::Result<()> {
    // The name of a file comes from the table, never from input.
    let Some(event) = agent.event_names().find(|known| *known == event) else { return Ok(()) };
    let folder = folder(state, agent);
    let path = folder.join(event);
    let last = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
    let now = SystemTime::now();
    // A time in the future is not one of a call.
    if last.is_ok_and(|last| now.duration_since(last).is_ok_and(|age| age < PRECISION)) {
        return Ok(());
    }
    let file = match regular_file::append(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private_folder::make(&folder)?;
            regular_file::append(&path)
        }
        opened => opened,
    };
    file?.set_modified(now)
}

/// Returns the time of the last call of each event that was called.
pub(super) fn all(state: &Path, agent: &Agent) -> BTreeMap<String, SystemTime> {
    let folder = folder(state, agent);
    let time = |event: &str| fs::symlink_metadata(folder.join(event)).ok()?.modified().ok();
    agent.event_names().filter_map(|event| Some((event.to_owned(), time(event)?))).collect()
}
