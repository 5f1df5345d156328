//! The states of a running system's workers, as seen by other processes.

use std::sync::Arc;

use hook_core::{Hook, HookListing};
use hook_json::text::{cut, shortened};
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};
use hook_run::{Worker, WorkerStatus};

/// The maximum number of listed workers; the others are only counted.
const MOST: usize = 256;

/// The maximum length of a reported failure, in bytes.
const FAILURE: usize = 1_024;

/// A worker of a system and its state. The first hook in the settings that calls it identifies it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerState {
    /// The identity of that hook.
    hook: HookSign,
    /// The number of hooks that call it.
    pub hooks: u64,
    /// The worker's status.
    pub status: WorkerStatus,
}

/// A hook's identity within the same settings, even in another process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HookSign {
    event: String,
    name: String,
    kind: String,
    command: String,
    source: String,
    /// The file, line and column.
    place: Option<(Option<String>, u64, u64)>,
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

impl HookSign {
    fn of(hook: &Hook) -> Self {
        let place = hook.place.as_ref().map(|place| {
            let file = place.file.as_ref().map(|file| file.to_string_lossy().into_owned());
            (file, place.line as u64, place.column as u64)
        });
        Self {
            event: hook.event.as_str().to_owned(),
            name: shortened(hook.display_name()),
            kind: hook.kind().as_str().to_owned(),
            command: shortened(hook.command()),
            source: hook.source.to_string(),
            place,
        }
    }

    fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("eventName", &self.event);
        object.text("name", &self.name);
        object.text("type", &self.kind);
        object.text("command", &self.command);
        object.text("source", &self.source);
        if let Some((file, line, column)) = &self.place {
            object.optional_text("file", file.as_deref());
            object.integer("line", (*line).into());
            object.integer("column", (*column).into());
        }
    }

    fn read(fields: &JsonObject) -> Option<Self> {
        // The sender is not trusted: no text may be longer than those written here.
        let short = |text: &String| text.len() <= FAILURE;
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text).filter(short);
        let number = |name: &str| fields.get(name).and_then(RawJson::to_whole_number);
        let place = number("line").map(|line| (text("file"), line, number("column").unwrap_or(0)));
        Some(Self {
            event: text("eventName")?,
            name: text("name")?,
            kind: text("type")?,
            command: text("command")?,
            source: text("source")?,
            place,
        })
    }
}

impl WorkerState {
    /// Returns the worker's display name: the name of its hook, or else its command.
    pub fn name(&self) -> &str {
        &self.hook.name
    }

    /// Checks whether this is the worker of that hook, read from the same settings by this process.
    pub fn is_told_by(&self, hook: &Hook) -> bool {
        self.hook == HookSign::of(hook)
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
        status.failure = status.failure.as_deref().map(|why| cut(why, FAILURE));
        let hook = HookSign::read(&fields)?;
        Some(Self { hook, hooks: fields.get("hooks")?.to_whole_number()?, status })
    }
}

impl WorkerStates {
    /// Returns the current states of these hooks' workers.
    pub(crate) fn of(listings: &[HookListing]) -> Self {
        let mut known: Vec<(&Arc<Worker>, WorkerState)> = Vec::new();
        let may_run = listings.iter().filter(|listing| listing.enabled && listing.trusted);
        // Prefer hooks of every event (`*`), which are in the settings: another process may not
        // know the hooks that their worker declared.
        let (every, others): (Vec<_>, Vec<_>) = may_run.partition(|it| it.hook.event.is_every());
        for hook in every.iter().chain(&others).map(|listing| &listing.hook) {
            let Some(worker) = hook.worker() else { continue };
            match known.iter_mut().find(|(it, _)| Arc::ptr_eq(it, worker)) {
                Some((_, state)) => state.hooks += 1,
                None => {
                    let mut status = worker.status();
                    status.failure = status.failure.as_deref().map(|why| cut(why, FAILURE));
                    known
                        .push((worker, WorkerState { hook: HookSign::of(hook), hooks: 1, status }));
                }
            }
        }
        let omitted = known.len().saturating_sub(MOST) as u64;
        let workers = known.into_iter().take(MOST).map(|(_, state)| state).collect();
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
        let read = |it: RawJson| WorkerState::read(&RawObject::try_from(it).ok()?);
        let workers = fields.get("workers")?.to_items()?;
        let omitted = fields.get("omitted").and_then(RawJson::to_whole_number).unwrap_or_default();
        let omitted = omitted.saturating_add(workers.len().saturating_sub(MOST) as u64);
        let workers = workers.into_iter().take(MOST).map(read).collect::<Option<_>>()?;
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
        let workers = vec![worker; MOST + 1].join(",");
        let said = format!(r#"{{"workers":[{workers}],"omitted":18446744073709551615}}"#);
        let states = WorkerStates::read(&RawObject::parse(said).unwrap().fields()).unwrap();
        assert_eq!((states.workers.len(), states.omitted), (MOST, u64::MAX));
        let failure = states.workers[0].status.failure.as_deref().unwrap();
        assert!(failure.len() < 2 * FAILURE, "{}", failure.len());
    }
}
