//! What agents asked, and what they were answered: a line for each call.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use hook_core::files::{private_folder, regular_file};
use hook_core::redact::Redaction;
use hook_core::text::shortened;
use hook_core::{ObjectWriter, timestamp};

/// How long the file grows before it is set aside, in bytes.
const FULL: u64 = 4 << 20;

/// A call, to be written down.
#[derive(Debug)]
pub(super) struct Call<'c> {
    pub(super) agent: &'static str,
    pub(super) event: &'c str,
    pub(super) session: &'c str,
    pub(super) project: &'c Path,
    /// Who answered.
    pub(super) by: &'static str,
    pub(super) tool: Option<&'c str>,
    /// What it was about: the command, the file, the beginning of the prompt.
    pub(super) about: Option<String>,
    pub(super) decision: &'static str,
    pub(super) reason: Option<&'c str>,
    pub(super) code: u8,
    pub(super) milliseconds: u64,
    pub(super) warnings: usize,
}

impl Call<'_> {
    /// Appends it to the log.
    pub(super) fn append(&self, log: &Path, redaction: &Redaction) -> io::Result<()> {
        private_folder::make(log.parent().unwrap_or(Path::new("/")))?;
        if fs::metadata(log).is_ok_and(|it| it.len() > FULL) {
            // One is kept. Another call may have done it meanwhile.
            let _ = fs::rename(log, log.with_extension("jsonl.1"));
        }
        let mut line = self.line(redaction);
        line.push(b'\n');
        regular_file::append(log)?.write_all(&line)
    }

    fn line(&self, redaction: &Redaction) -> Vec<u8> {
        let kept = |text: &str| shortened(&redaction.text(text));
        ObjectWriter::line(|out| {
            out.text("at", &timestamp());
            out.text("agent", self.agent);
            out.text("event", self.event);
            out.text("session", &kept(self.session));
            out.text("project", &self.project.to_string_lossy());
            out.text("by", self.by);
            out.optional_text("tool", self.tool.map(kept).as_deref());
            out.optional_text("about", self.about.as_deref().map(kept).as_deref());
            out.text("decision", self.decision);
            out.optional_text("reason", self.reason.map(kept).as_deref());
            out.integer("exitCode", self.code.into());
            out.integer("milliseconds", self.milliseconds.into());
            out.integer("warnings", self.warnings as i128);
        })
    }
}
