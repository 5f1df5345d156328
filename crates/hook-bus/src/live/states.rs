//! The states of a running system's workers, as seen by other processes.

use std::sync::Arc;

use hook_core::{Hook, HookListing};
use hook_json::text::{shortened, truncated_with_count};
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};
use hook_run::{Worker, WorkerStatus};

/// The maximum number of listed workers; the others are only counted.
const MAX_LISTED: usize = 256;

/// The maximum length of a reported failure, in bytes.
const MAX_FAILURE_LEN: usize = 1_024;

/// A worker of a system and its state. The first hook in the settings that calls it identifies it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerState {
    /// The identity of that hook.
    hook: HookFingerprint,
    /// The number of hooks that call it.
    pub hooks: u64,
    /// The worker's status.
    pub status: WorkerStatus,
}

/// A hook's identity within the same settings, even in another process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HookFingerprint {
    event: String,
    name: String,
    kind: String,
    command: String,
    source: String,
    /// The file, line and column.
    location: Option<(Option<String>, u64, u64)>,
}

/// The states of a system's workers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStates {
    /// The workers of hooks that are trusted and switched on, in the order of their hooks.
    pub workers: Vec<WorkerState>,
    /// The number of workers not listed.
    pub omitted: u64,
}

impl HookFingerprint {
    fn of(hook: &Hook) -> Self {
        let location = hook.location.as_ref().map(|location| {
            let file = location.file.as_ref().map(|file| file.to_string_lossy().into_owned());
            (file, location.line as u64, location.column as u64)
        });
        Self {
            event: hook.event.as_str().to_owned(),
            name: shortened(hook.display_name()),
            kind: hook.kind().as_str().to_owned(),
            command: shortened(hook.command()),
            source: hook.source.to_string(),
            location,
        }
    }

    fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("eventName", &self.event);
        object.text("name", &self.name);
        object.text("type", &self.kind);
        object.text("command", &self.command);
        object.text("source", &self.source);
        if let Some((file, line, column)) = &self.location {
            object.optional_text("file", file.as_deref());
            object.integer("line", (*line).into());
            object.integer("column", (*column).into());
        }
    }

    fn read(fields: &JsonObject) -> Option<Self> {
        // The sender is not trusted: no text may be longer than those written here.
        let is_short = |text: &String| text.len() <= MAX_FAILURE_LEN;
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text).filter(is_short);
        let number = |name: &str| fields.get(name).and_then(RawJson::to_u64);
        let location =
            number("line").map(|line| (text("file"), line, number("column").unwrap_or(0)));
        Some(Self {
            event: text("eventName")?,
            name: text("name")?,
            kind: text("type")?,
            command: text("command")?,
            source: text("source")?,
            location,
        })
    }
}

impl WorkerState {
    /// Returns the worker's display name: the name of its hook, or else its command.
    pub fn name(&self) -> &str {
        &self.hook.name
    }

    /// Checks whether this is the worker of that hook, read from the same settings by this process.
    pub fn is_worker_of(&self, hook: &Hook) -> bool {
        self.hook == HookFingerprint::of(hook)
    }

    fn write(&self, object: &mut ObjectWriter<'_>) {
        self.hook.write(object);
        object.integer("hooks", self.hooks.into());
        object.object("worker", |object| self.status.write(object));
    }

    fn read(object: &RawObject) -> Option<Self> {
        let fields = object.fields();
        let status = RawObject::try_from(fields.get("worker")?.clone()).ok()?;
        let mut status = WorkerStatus::read_back(&status)?;
        status.failure =
            status.failure.as_deref().map(|why| truncated_with_count(why, MAX_FAILURE_LEN));
        let hook = HookFingerprint::read(&fields)?;
        Some(Self { hook, hooks: fields.get("hooks")?.to_u64()?, status })
    }
}

impl WorkerStates {
    /// Returns the current states of these hooks' workers.
    pub(crate) fn of(listings: &[HookListing]) -> Self {
        let mut states: Vec<(&Arc<Worker>, WorkerState)> = Vec::new();
        let may_run = listings.iter().filter(|listing| listing.enabled && listing.trusted);
        // Prefer hooks of every event (`*`), which are in the settings: another process may not
        // know the hooks that their worker declared.
        let (wildcard, specific): (Vec<_>, Vec<_>) =
            may_run.partition(|listing| listing.hook.event.is_wildcard());
        for hook in wildcard.iter().chain(&specific).map(|listing| &listing.hook) {
            let Some(worker) = hook.worker() else { continue };
            match states.iter_mut().find(|(other, _)| Arc::ptr_eq(other, worker)) {
                Some((_, state)) => state.hooks += 1,
                None => {
                    let mut status = worker.status();
                    status.failure = status
                        .failure
                        .as_deref()
                        .map(|why| truncated_with_count(why, MAX_FAILURE_LEN));
                    states.push((
                        worker,
                        WorkerState { hook: HookFingerprint::of(hook), hooks: 1, status },
                    ));
                }
            }
        }
        let omitted = states.len().saturating_sub(MAX_LISTED) as u64;
        let workers = states.into_iter().take(MAX_LISTED).map(|(_, state)| state).collect();
        Self { workers, omitted }
    }

    /// Writes the fields of a message.
    pub(crate) fn write(&self, object: &mut ObjectWriter<'_>) {
        object.objects("workers", &self.workers, |object, state| state.write(object));
        if self.omitted > 0 {
            object.integer("omitted", self.omitted.into());
        }
    }

    /// Reads the fields that [`write`](Self::write) wrote; `None` for any others.
    pub(crate) fn read(fields: &JsonObject) -> Option<Self> {
        let read_state = |value: RawJson| WorkerState::read(&RawObject::try_from(value).ok()?);
        let workers = fields.get("workers")?.to_items()?;
        let omitted = fields.get("omitted").and_then(RawJson::to_u64).unwrap_or_default();
        let omitted = omitted.saturating_add(workers.len().saturating_sub(MAX_LISTED) as u64);
        let workers =
            workers.into_iter().take(MAX_LISTED).map(read_state).collect::<Option<_>>()?;
        Some(Self { workers, omitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_server_says_is_bounded() {
        let worker = r#"{"eventName":"BeforeTool","name":"w","type":"worker","command":"c","source":"user",
            "hooks":1,"worker":{"state":"broken","restarts":5,"droppedAnswers":0,"failure":"FAILURE"}}"#;
        let worker = worker.replace("FAILURE", &"x".repeat(100_000));
        let workers = vec![worker; MAX_LISTED + 1].join(",");
        let json = format!(r#"{{"workers":[{workers}],"omitted":18446744073709551615}}"#);
        let states = WorkerStates::read(&RawObject::parse(json).unwrap().fields()).unwrap();
        assert_eq!((states.workers.len(), states.omitted), (MAX_LISTED, u64::MAX));
        let failure = states.workers[0].status.failure.as_deref().unwrap();
        assert!(failure.len() < 2 * MAX_FAILURE_LEN, "{}", failure.len());
    }
}
