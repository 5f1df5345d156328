//! A recording as trace events for Perfetto and chrome://tracing.
//!
//! Requests and hooks have separate lanes, as many as overlap: events of one lane must not.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

use hook_bus::recording::{RecordedHook, RecordedRequest, Recording};
use hook_json::ObjectWriter;

use super::{
    answered_text, ending, joined_title, microseconds, title, write_grant, write_group,
    write_not_started,
};

/// The process id of the recording.
const PROCESS: i128 = 1;
/// The first lane numbers of requests and of hooks.
const REQUESTS: usize = 1;
const HOOKS: usize = 10_001;

/// Formats a recording.
pub(crate) fn trace_chrome(recording: &Recording) -> String {
    let mut requests = Lanes::default();
    let mut hooks = Lanes::default();
    let mut events = Vec::new();
    let mut hook_spans: Vec<(&RecordedRequest, &RecordedHook)> = Vec::new();
    let mut by_time: Vec<&RecordedRequest> = recording.requests.iter().collect();
    by_time.sort_by_key(|request| request.at);
    for request in by_time {
        let end = if request.response.is_some() { request.end() } else { recording.duration };
        let lane = REQUESTS + requests.lane(request.at, end);
        events.push(Event::Request { request, lane, end });
        hook_spans.extend(request.hooks.iter().map(|hook| (request, hook)));
    }
    hook_spans.sort_by_key(|(_, hook)| hook.start);
    for (request, hook) in hook_spans {
        let end = hook.end.unwrap_or(recording.duration);
        let lane = HOOKS + hooks.lane(hook.start, end);
        events.push(Event::Hook { request, hook, lane, end });
    }
    let all = metadata(requests.count, hooks.count).into_iter().chain(events);
    let all =
        all.chain(recording.gaps.iter().map(|gap| Event::Gap { at: gap.at, missed: gap.missed }));
    let mut out = ObjectWriter::line(|object| {
        object.text("displayTimeUnit", "ms");
        object.object("otherData", |out| {
            let header = &recording.header;
            out.text("engine", &header.engine);
            out.text("startedAt", &header.started_at);
            out.text("project", &header.project);
        });
        object.objects("traceEvents", all, |out, event| event.write(out));
    });
    out.push(b'\n');
    String::from_utf8_lossy(&out).into_owned()
}

/// Allocates lanes, in the order of start times.
#[derive(Debug, Default)]
struct Lanes {
    /// The free lanes.
    free: BTreeSet<usize>,
    /// The used lanes, by the time at which they become free.
    busy: BinaryHeap<Reverse<(Duration, usize)>>,
    count: usize,
}

impl Lanes {
    /// Returns the first free lane, and marks it as used until `end`.
    fn lane(&mut self, start: Duration, end: Duration) -> usize {
        while let Some(Reverse((until, lane))) = self.busy.peek().copied()
            && until <= start
        {
            self.busy.pop();
            self.free.insert(lane);
        }
        let lane = self.free.pop_first().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        // An event takes at least a microsecond, so that it is visible.
        self.busy.push(Reverse((end.max(start + Duration::from_micros(1)), lane)));
        lane
    }
}

enum Event<'r> {
    Process,
    Lane { lane: usize, name: String },
    Request { request: &'r RecordedRequest, lane: usize, end: Duration },
    Hook { request: &'r RecordedRequest, hook: &'r RecordedHook, lane: usize, end: Duration },
    Gap { at: Duration, missed: u64 },
}

fn metadata<'r>(requests: usize, hooks: usize) -> Vec<Event<'r>> {
    let numbered = |name: &str, first: usize, count: usize| -> Vec<Event<'r>> {
        let name = |index: usize| match index {
            0 => name.to_owned(),
            _ => format!("{name} {}", index + 1),
        };
        (0..count).map(|index| Event::Lane { lane: first + index, name: name(index) }).collect()
    };
    let mut events = vec![Event::Process];
    events.extend(numbered("requests", REQUESTS, requests));
    events.extend(numbered("hooks", HOOKS, hooks));
    events
}

impl Event<'_> {
    fn write(&self, out: &mut ObjectWriter<'_>) {
        match self {
            Self::Process => {
                meta(out, "process_name", None);
                out.object("args", |out| out.text("name", "hook"));
            }
            Self::Lane { lane, name } => {
                meta(out, "thread_name", Some(*lane));
                out.object("args", |out| out.text("name", name));
            }
            Self::Request { request, lane, end } => {
                complete(out, &joined_title(request), "request", (request.at, *end), *lane);
                out.object("args", |out| {
                    out.integer("request", request.number.into());
                    out.text("decision", request.outcome().as_str());
                    let reason = answered_text(request, &["processed", "reason"]);
                    out.optional_text("reason", reason.as_deref());
                    let error = answered_text(request, &["error", "message"]);
                    out.optional_text("error", error.as_deref());
                    write_grant(out, request);
                    write_not_started(out, request);
                    if let Some(input) = request.input() {
                        out.raw("input", input);
                    }
                });
            }
            Self::Hook { request, hook, lane, end } => {
                let outcome = hook.outcome();
                complete(out, &hook.name, "hook", (hook.start, *end), *lane);
                out.object("args", |out| {
                    out.integer("request", request.number.into());
                    out.text("event", &title(request).0);
                    out.text("decision", outcome.as_str());
                    out.text("ended", &ending(hook, outcome));
                    write_group(out, hook);
                    for (name, value) in hook.result.iter().flat_map(|result| result.iter()) {
                        if matches!(
                            name,
                            "exitCode" | "signal" | "error" | "warnings" | "queued" | "worker"
                        ) {
                            out.raw(name, value);
                        }
                    }
                });
            }
            Self::Gap { at, missed } => {
                out.text("name", "messages missed");
                out.text("ph", "i");
                out.text("s", "g");
                out.integer("ts", microseconds(*at));
                out.integer("pid", PROCESS);
                out.integer("tid", REQUESTS as i128);
                out.object("args", |out| out.integer("missed", (*missed).into()));
            }
        }
    }
}

fn meta(out: &mut ObjectWriter<'_>, name: &str, lane: Option<usize>) {
    out.text("name", name);
    out.text("ph", "M");
    out.integer("pid", PROCESS);
    if let Some(lane) = lane {
        out.integer("tid", lane as i128);
    }
}

fn complete(
    out: &mut ObjectWriter<'_>,
    name: &str,
    category: &str,
    (start, end): (Duration, Duration),
    lane: usize,
) {
    out.text("name", name);
    out.text("cat", category);
    out.text("ph", "X");
    out.integer("ts", microseconds(start));
    out.integer("dur", microseconds(end.saturating_sub(start)).max(1));
    out.integer("pid", PROCESS);
    out.integer("tid", lane as i128);
}
