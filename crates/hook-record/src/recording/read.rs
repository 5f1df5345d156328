//! Reading a recording.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::Duration;

use hook_json::shape::FieldReader;
use hook_json::text::shortened;
use hook_json::{JsonError, JsonObject, RawJson, ShapeError};
use hook_run::HookIdentity;
use tokio::io::AsyncRead;

use super::request::{RecordedHook, RecordedRequest, RecordedResponse, groups, milliseconds};
use hook_bus::message::kind;
use hook_bus::wire::{Line, LineReader};

/// The version of the format that is read here.
const VERSION: u64 = 1;

const HEADER: &str = "hook-recording";

/// An error of reading a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("failed to read the recording: {0}")]
    Unreadable(#[from] io::Error),
    /// The first line is no header of a recording.
    #[error("line 1: this is no recording: {0}; `hook serve --record FILE` makes one")]
    NoHeader(String),
    /// The format has another version.
    #[error(
        "line 1: the recording has version {0} of the format, and this hook reads version \
         {VERSION}; read it with the hook that made it"
    )]
    Version(String),
    /// A line other than the last is not JSON. A killed recorder leaves the last one incomplete.
    #[error("line {line}: expected one JSON object: {reason}", reason = source.reason())]
    NotJson {
        /// The line's number, from 1.
        line: usize,
        /// The syntax error.
        source: JsonError,
    },
    /// A line has not the fields of a recorded message.
    #[error("line {line}: {source}")]
    Shape {
        /// The line's number, from 1.
        line: usize,
        /// The wrong field and its error.
        source: ShapeError,
    },
}

/// The header of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingHeader {
    /// The version of the engine.
    pub engine: String,
    /// The start of the recording, in UTC, ISO 8601.
    pub started_at: String,
    /// The engine's project.
    pub project: String,
}

/// A gap: messages that the recorder missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingGap {
    /// The time at which the recorder noticed it.
    pub at: Duration,
    /// The number of missed messages.
    pub missed: u64,
}

/// A recording, read completely into memory.
/// ```
/// use hook_record::recording::{RecordedOutcome, Recording};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
///
/// let text = r#"{"type":"hook-recording","version":1,"engine":"0.1.0","startedAt":"2026-01-01T00:00:00.000Z","project":"/p"}
/// {"at":10,"request":0,"message":{"type":"hook-execution-request","eventName":"SessionEnd","input":{"reason":"exit"}}}
/// "#;
/// let recording = Recording::read(text.as_bytes()).await?;
/// assert_eq!(recording.requests[0].subject().as_deref(), Some("exit"));
/// assert_eq!(recording.requests[0].outcome(), RecordedOutcome::Unfinished);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recording {
    /// The header.
    pub header: RecordingHeader,
    /// The requests, in the order in which they were accepted.
    pub requests: Vec<RecordedRequest>,
    /// The gaps.
    pub gaps: Vec<RecordingGap>,
    /// `true` if the last line is incomplete: the engine was killed while writing it.
    pub truncated: bool,
    /// The number of ignored lines, which a later version wrote.
    pub ignored: usize,
    /// The time of the last message, from the start of the recording.
    pub duration: Duration,
}

impl Recording {
    /// Reads a recording. An incomplete last line, lines and messages of unknown types, and unknown
    /// fields are no error; a line of more than [`MAX_LINE`](hook_bus::wire::MAX_LINE) bytes counts as
    /// a missed message.
    ///
    /// # Errors
    /// If it cannot be read, is no recording or has another version, or has an invalid line, whose
    /// number the error gives.
    pub async fn read<R: AsyncRead + Unpin>(reader: R) -> Result<Self, RecordingError> {
        let mut lines = LineReader::new(reader);
        let first = lines.next().await?;
        let mut recording = Self {
            header: header(first)?,
            requests: Vec::new(),
            gaps: Vec::new(),
            truncated: false,
            ignored: 0,
            duration: Duration::ZERO,
        };
        let mut positions = Positions::default();
        while let Some(line) = lines.next().await? {
            let number = line.number();
            let Line::Text { text, .. } = line else {
                recording.gaps.push(RecordingGap { at: recording.duration, missed: 1 });
                continue;
            };
            match RawJson::parse(text).and_then(|value| value.to_object()) {
                Ok(fields) => recording
                    .add_line(fields, &mut positions)
                    .map_err(|source| RecordingError::Shape { line: number, source })?,
                Err(source) => {
                    if lines.next().await?.is_some() {
                        return Err(RecordingError::NotJson { line: number, source });
                    }
                    recording.truncated = true;
                }
            }
        }
        for request in &mut recording.requests {
            // The request may use another name of the event.
            if let Some(name) =
                request.response_value(&["eventName"]).and_then(|name| name.to_text())
            {
                request.event_name = Some(name);
            }
            request.merge_response_hooks();
        }
        Ok(recording)
    }

    /// Adds one line's fields.
    fn add_line(
        &mut self,
        fields: JsonObject,
        positions: &mut Positions,
    ) -> Result<(), ShapeError> {
        let groups = fields.get("groups").cloned();
        let mut fields = FieldReader::new(fields);
        let at = read_u64(&mut fields, "at")?;
        let missed = read_u64(&mut fields, "missed")?;
        let message = fields.object("message")?.map(|message| message.fields());
        let request = read_u64(&mut fields, "request")?;
        let (at, message) = match (at, missed, message) {
            (Some(at), Some(missed), _) => {
                let at = Duration::from_micros(at);
                self.duration = self.duration.max(at);
                self.gaps.push(RecordingGap { at, missed });
                return Ok(());
            }
            (Some(at), None, Some(message)) => (Duration::from_micros(at), message),
            (None, _, Some(_)) => return Err(missing_number("at")),
            _ => {
                self.ignored += 1;
                return Ok(());
            }
        };
        let number = request.ok_or_else(|| missing_number("request"))?;
        self.duration = self.duration.max(at);
        let (position, running) = positions.0.entry(number).or_insert_with(|| {
            self.requests.push(RecordedRequest {
                number,
                at,
                event_name: None,
                message: None,
                hooks: Vec::new(),
                response: None,
                groups: None,
            });
            (self.requests.len() - 1, RunningIndex::default())
        });
        let known = match self.requests.get_mut(*position) {
            Some(request) => {
                request.groups = request.groups.take().or(groups);
                request.add_message(at, message, running)
            }
            None => false,
        };
        self.ignored += usize::from(!known);
        Ok(())
    }
}

impl RecordedRequest {
    /// Adds one of its messages; returns `false` for an unknown one.
    fn add_message(
        &mut self,
        at: Duration,
        message: JsonObject,
        running: &mut RunningIndex,
    ) -> bool {
        if self.event_name.is_none() {
            self.event_name = message.get("eventName").and_then(RawJson::to_text);
        }
        let message_type = message.get("type").and_then(RawJson::to_text).unwrap_or_default();
        let hook = || message.get("hook").and_then(|hook| hook.to_object().ok());
        match message_type.as_str() {
            kind::REQUEST if self.message.is_none() => {
                (self.at, self.message) = (at, Some(message));
            }
            kind::RESPONSE if self.response.is_none() => {
                self.response = Some(RecordedResponse { at, message: message.to_raw().into() });
            }
            kind::STARTED => match hook() {
                Some(hook) => {
                    running.push(identity(&hook), self.hooks.len());
                    self.hooks.push(RecordedHook::started(&hook, at));
                }
                None => return false,
            },
            kind::FINISHED => match hook() {
                Some(hook) => self.add_finished(at, hook, running),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    fn add_finished(&mut self, at: Duration, result: JsonObject, running: &mut RunningIndex) {
        let started = running.pop(&identity(&result));
        match started.and_then(|position| self.hooks.get_mut(position)) {
            Some(hook) => (hook.end, hook.result) = (Some(at), Some(result)),
            None => self.hooks.push(RecordedHook::inferred(at, result)),
        }
    }

    /// Merges the hooks of the response into those seen while running.
    fn merge_response_hooks(&mut self) {
        let Some(response) = &self.response else { return };
        let answered_at = response.at;
        let results = self.response_value(&["hooks"]).and_then(|hooks| hooks.to_items());
        let recorded_groups = self.groups.take();
        let mut groups = groups(recorded_groups.as_ref());
        let mut unmatched = RunningIndex::default();
        let mut seen: Vec<Option<RecordedHook>> = Vec::with_capacity(self.hooks.len());
        for hook in self.hooks.drain(..) {
            unmatched.push(hook.identity(), seen.len());
            seen.push(Some(hook));
        }
        for result in results.unwrap_or_default() {
            let Ok(result) = result.to_object() else { continue };
            let position = unmatched.pop(&identity(&result));
            let mut hook = match position.and_then(|position| seen.get_mut(position)?.take()) {
                Some(mut hook) => {
                    if hook.end.is_none() {
                        let duration = result.get("duration").and_then(milliseconds);
                        hook.end = duration.and_then(|duration| hook.start.checked_add(duration));
                        hook.estimated = true;
                    }
                    hook.result = Some(result);
                    hook
                }
                None => RecordedHook::inferred(answered_at, result),
            };
            hook.group = groups.next();
            self.hooks.push(hook);
        }
        self.hooks.extend(seen.into_iter().flatten());
    }
}

/// The index of each request by number, with its running hooks.
#[derive(Debug, Default)]
struct Positions(HashMap<u64, (usize, RunningIndex)>);

/// Running hooks: the indices for each hook, first in, first out. Lookup takes constant time.
#[derive(Debug, Default)]
struct RunningIndex(HashMap<HookIdentity, VecDeque<usize>>);

impl RunningIndex {
    fn push(&mut self, hook: HookIdentity, position: usize) {
        self.0.entry(hook).or_default().push_back(position);
    }

    fn pop(&mut self, hook: &HookIdentity) -> Option<usize> {
        self.0.get_mut(hook)?.pop_front()
    }
}

/// Returns the identity of a hook in a message; missing fields are empty.
fn identity(hook: &JsonObject) -> HookIdentity {
    let text = |name: &str| hook.get(name).and_then(RawJson::to_text).unwrap_or_default();
    HookIdentity::reported(&text("name"), &text("type"), &text("source"), "")
}

impl RecordedHook {
    fn started(hook: &JsonObject, start: Duration) -> Self {
        let hook_identity = identity(hook);
        let (name, kind) =
            (hook_identity.display_name().to_owned(), hook_identity.kind().to_owned());
        Self {
            name,
            kind,
            source: hook_identity.source().to_owned(),
            start,
            end: None,
            estimated: false,
            group: None,
            result: None,
        }
    }

    /// Creates a hook of which only the end was recorded; its start is inferred from its duration.
    fn inferred(end: Duration, result: JsonObject) -> Self {
        let duration = result.get("duration").and_then(milliseconds).unwrap_or_default();
        let mut hook = Self::started(&result, end.saturating_sub(duration));
        (hook.end, hook.estimated, hook.result) = (Some(end), true, Some(result));
        hook
    }

    fn identity(&self) -> HookIdentity {
        HookIdentity::reported(&self.name, &self.kind, &self.source, "")
    }
}

fn header(line: Option<Line>) -> Result<RecordingHeader, RecordingError> {
    let header_error = |reason: String| RecordingError::NoHeader(reason);
    let text = match line {
        None => return Err(header_error("the file is empty".to_owned())),
        Some(Line::TooLong { length, .. }) => {
            return Err(header_error(format!("the line has {length} bytes")));
        }
        Some(Line::Text { text, .. }) => text,
    };
    let fields = RawJson::parse(text).and_then(|value| value.to_object());
    let fields = fields.map_err(|_| header_error("its first line is no JSON object".to_owned()))?;
    let mut fields = FieldReader::new(fields);
    let message_type = fields.text("type").map_err(|error| header_error(error.to_string()))?;
    if message_type.as_deref() != Some(HEADER) {
        let found = message_type.map_or("nothing".to_owned(), |found| shortened(&found));
        return Err(header_error(format!("field `type`: expected {HEADER:?}, found {found}")));
    }
    let version = fields.any("version").unwrap_or_else(RawJson::null);
    if version.to_u64() != Some(VERSION) {
        return Err(RecordingError::Version(shortened(version.as_str())));
    }
    // Only for display.
    let mut text = |name| fields.text(name).ok().flatten().unwrap_or_default();
    Ok(RecordingHeader {
        engine: text("engine"),
        started_at: text("startedAt"),
        project: text("project"),
    })
}

fn read_u64(fields: &mut FieldReader, name: &str) -> Result<Option<u64>, ShapeError> {
    let Some(number) = fields.number(name)? else { return Ok(None) };
    let expected = "a whole number";
    let value = number.to_u64();
    value.map(Some).ok_or_else(|| ShapeError::new(name, expected, shortened(number.as_str())))
}

fn missing_number(name: &str) -> ShapeError {
    ShapeError::new(name, "a whole number", "nothing")
}
