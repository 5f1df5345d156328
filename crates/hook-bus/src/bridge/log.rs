//! What agents asked, and what they were answered: a line for each call.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use hook_core::files::{private_folder, regular_file};
use hook_core::{ObjectWriter, timestamp};

/// How long the file grows before it is set aside, in bytes.
const FULL: u64 = 4 << 20;

/// A call, to be written down, without what is to be left out.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) agent: &'static str,
    pub(super) event: String,
    pub(super) session: String,
    pub(super) project: String,
    /// Who answered.
    pub(super) by: &'static str,
    pub(super) tool: Option<String>,
    /// What it was about: the command, the file, the beginning of the prompt.
    pub(super) about: Option<String>,
    /// What the agent was told.
    pub(super) decision: &'static str,
    pub(super) reason: Option<String>,
    pub(super) milliseconds: u64,
}

impl Call {
    /// Appends it to the log, with what became of it.
    pub(super) fn append(&self, log: &Path, code: u8, warnings: usize) -> io::Result<()> {
        private_folder::make(log.parent().unwrap_or(Path::new("/")))?;
        if fs::metadata(log).is_ok_and(|it| it.len() > FULL) {
            // One is kept. Another call may have done it meanwhile.
            let _ = fs::rename(log, log.with_extension("jsonl.1"));
        }
        let mut line = self.line(code, warnings);
        line.push(b'\n');
        regular_file::append(log)?.write_all(&line)
    }

    fn line(&self, code: u8, warnings: usize) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("at", &timestamp());
            out.text("agent", self.agent);
            out.text("event", &self.event);
            out.text("session", &self.session);
            out.text("project", &self.project);
            out.text("by", self.by);
            out.optional_text("tool", self.tool.as_deref());
            out.optional_text("about", self.about.as_deref());
            out.text("decision", self.decision);
            out.optional_text("reason", self.reason.as_deref());
            out.integer("exitCode", code.into());
            out.integer("milliseconds", self.milliseconds.into());
            out.integer("warnings", warnings as i128);
        })
    }
}
