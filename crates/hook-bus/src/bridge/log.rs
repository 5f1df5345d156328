//! The log of agents' calls: one line per call.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use hook_files::{private_folder, regular_file};
use hook_json::ObjectWriter;
use hook_json::text::truncated_with_count;
use hook_protocol::timestamp;

/// The size in bytes from which the file is rotated.
const ROTATE_SIZE: u64 = 4 << 20;
/// The maximum length of a reason in bytes.
const MAX_REASON: usize = 2 << 10;

/// A call to be logged, already redacted.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) agent: &'static str,
    pub(super) event: String,
    pub(super) session: String,
    pub(super) project: String,
    /// The process that answered: `server` or `bridge`.
    pub(super) answered_by: &'static str,
    pub(super) tool: Option<String>,
    /// The subject of the call: a command, a file, or the beginning of the prompt.
    pub(super) subject: Option<String>,
    /// The decision that the agent got.
    pub(super) decision: &'static str,
    pub(super) reason: Option<String>,
    pub(super) milliseconds: u64,
}

impl Call {
    /// Appends the call and its outcome to the log.
    pub(super) fn append(&self, log: &Path, code: u8, warnings: usize) -> io::Result<()> {
        private_folder::make(log.parent().unwrap_or(Path::new("/")))?;
        if fs::metadata(log).is_ok_and(|metadata| metadata.len() > ROTATE_SIZE) {
            // One old file is kept. A concurrent call may have rotated already.
            let _ = fs::rename(log, log.with_extension("jsonl.1"));
        }
        let mut line = self.line(code, warnings);
        line.push(b'\n');
        regular_file::append(log)?.write_all(&line)
    }

    fn line(&self, code: u8, warnings: usize) -> Vec<u8> {
        let reason = self.reason.as_deref().map(|reason| truncated_with_count(reason, MAX_REASON));
        ObjectWriter::line(|out| {
            out.text("at", &timestamp());
            out.text("agent", self.agent);
            out.text("event", &self.event);
            out.text("session", &self.session);
            out.text("project", &self.project);
            out.text("by", self.answered_by);
            out.optional_text("tool", self.tool.as_deref());
            out.optional_text("about", self.subject.as_deref());
            out.text("decision", self.decision);
            out.optional_text("reason", reason.as_deref());
            out.integer("exitCode", code.into());
            out.integer("milliseconds", self.milliseconds.into());
            out.integer("warnings", warnings as i128);
        })
    }
}
