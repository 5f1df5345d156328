//! What an engine says of itself: on the subject of the engines, and as a NATS service
//! (`$SRV.PING`, `INFO`, `STATS`), so that the broker's own tools show it.

use std::sync::Arc;
use std::time::SystemTime;

use hook_core::ObjectWriter;
use hook_core::event::input::timestamp_before;

use super::message::PROTOCOL;
use super::serving::Server;
use super::subjects::Subjects;
use super::taken::{Counts, Taken};

/// What engines are called among the services of a broker.
pub(super) const SERVICE: &str = "hook-engine";

/// What a message of an engine about itself is called.
pub(super) const ENGINE: &str = "hook-engine";

/// What can be said of an engine.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) server: Arc<Server>,
    pub(super) taken: Arc<Taken>,
    pub(super) subjects: Subjects,
    pub(super) group: Arc<str>,
    pub(super) begun: SystemTime,
}

impl Status {
    /// The line for the subject of the engines.
    pub(super) fn line(&self, state: &str) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("type", ENGINE);
            self.write(out, state);
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>, state: &str) {
        let Self { server, taken, .. } = self;
        let (running, waiting) = taken.now();
        let counts = &taken.counts;
        server.engine().write(out);
        out.integer("protocol", PROTOCOL.into());
        out.text("state", state);
        out.text("subject", &self.subjects.requests());
        out.text("queueGroup", &self.group);
        out.integer("totalHooks", server.system.status().total_hooks as i128);
        out.integer("running", running as i128);
        out.integer("waiting", waiting as i128);
        for (name, counter) in [
            ("taken", &counts.taken),
            ("answered", &counts.answered),
            ("failed", &counts.failed),
            ("cancelled", &counts.cancelled),
            ("busy", &counts.busy),
        ] {
            out.integer(name, Counts::get(counter).into());
        }
    }

    /// The subjects under which tools of the broker ask.
    pub(super) fn asked_under(&self) -> [String; 3] {
        [
            "$SRV.*".to_owned(),
            format!("$SRV.*.{SERVICE}"),
            format!("$SRV.*.{SERVICE}.{}", self.server.id),
        ]
    }

    /// What is answered to one of them.
    pub(super) fn answer(&self, subject: &str, state: &str) -> Option<Vec<u8>> {
        match subject.split('.').nth(1)? {
            "PING" => Some(self.service("ping", |_| {})),
            "INFO" => Some(self.service("info", |out| {
                out.text("description", "Runs hooks of AI agents");
                out.objects("endpoints", &[()], |out, ()| self.endpoint(out));
            })),
            "STATS" => Some(self.service("stats", |out| {
                let began = self.begun.elapsed().unwrap_or_default();
                out.text("started", &timestamp_before(began));
                out.objects("endpoints", &[()], |out, ()| self.statistics(out, state));
            })),
            _ => None,
        }
    }

    fn service(&self, kind: &str, more: impl FnOnce(&mut ObjectWriter<'_>)) -> Vec<u8> {
        ObjectWriter::line(|out| {
            let engine = self.server.engine();
            out.text("type", &format!("io.nats.micro.v1.{kind}_response"));
            out.text("name", SERVICE);
            out.text("id", &engine.id);
            out.text("version", &engine.version);
            out.object("metadata", |out| {
                out.text("subject", &self.subjects.requests());
                out.text("protocol", &PROTOCOL.to_string());
                out.optional_text("settingsHash", engine.settings_hash.as_deref());
            });
            more(out);
        })
    }

    fn endpoint(&self, out: &mut ObjectWriter<'_>) {
        out.text("name", "request");
        out.text("subject", &self.subjects.requests());
        out.text("queue_group", &self.group);
    }

    fn statistics(&self, out: &mut ObjectWriter<'_>, state: &str) {
        let counts = &self.taken.counts;
        let (answered, failed) = (Counts::get(&counts.answered), Counts::get(&counts.failed));
        let nanoseconds = i128::from(Counts::get(&counts.microseconds)) * 1_000;
        let all = i128::from(answered + failed);
        self.endpoint(out);
        out.integer("num_requests", all);
        out.integer("num_errors", failed.into());
        out.text("last_error", "");
        out.integer("processing_time", nanoseconds);
        out.integer("average_processing_time", nanoseconds / all.max(1));
        out.object("data", |out| self.write(out, state));
    }
}
