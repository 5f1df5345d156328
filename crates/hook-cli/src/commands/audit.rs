//! `hook audit verify`: checks that the files of an audit are unchanged.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hook_bus::audit::{Verified, verify};
use hook_json::ObjectWriter;

use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::{Printer, Tone};
use crate::render::counted;

/// An action on the files of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// Look whether no line was changed or taken out
    Verify,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each line that `hook serve --audit FILE` writes holds the SHA-256 of the line
before it (`previous`). Name files that were moved away first, the oldest first.
The hash of the last line is printed: kept elsewhere, it shows later by
`--contains` that no line was cut off behind it.

Examples:
  hook audit verify audit.jsonl
  hook audit verify audit.jsonl.1 audit.jsonl --json
  hook audit verify audit.jsonl --contains \"$(cat /mnt/safe/last)\"

Exit code: 1 if a line was changed or is missing; else 0.")]
pub(crate) struct Arguments {
    /// What to do
    action: Action,
    /// Files of an audit, the oldest first
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The hash of a line that must be there, as an earlier run has printed it
    #[arg(long, value_name = "HASH")]
    contains: Option<String>,
}

pub(crate) async fn run(
    arguments: &Arguments,
    json: bool,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let Action::Verify = arguments.action;
    let report = verify(&arguments.files, arguments.contains.as_deref());
    let report = report.map_err(CommandError::AuditFile)?;
    let is_intact = report.problems.is_empty();
    if json {
        printer.message(&message(&report)).await?;
    } else {
        printer.text(&text(&report, arguments.contains.is_some(), printer)).await?;
    }
    Ok(if is_intact { exit_code::PROCEED } else { exit_code::FAILURE })
}

fn message(report: &Verified) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.bool("valid", report.problems.is_empty());
        out.integer("lines", report.lines.into());
        out.optional_text("last", report.last.as_deref());
        out.texts("problems", &report.problems);
        out.texts("notes", &report.notes);
    })
}

/// Returns the report as text. `is_end_known` is `true` if a hash was named that must be there.
fn text(report: &Verified, is_end_known: bool, printer: &Printer) -> String {
    let mut out = String::new();
    let marked = [(Tone::Bad, "✗", &report.problems), (Tone::Quiet, "-", &report.notes)];
    for (tone, mark, lines) in marked {
        for line in lines {
            out.push_str(&format!("{} {line}\n", printer.paint(tone, mark)));
        }
    }
    let lines = counted(usize::try_from(report.lines).unwrap_or(usize::MAX), "line");
    let (tone, verdict) = match report.problems.len() {
        0 => (Tone::Good, format!("{lines}, in order and unchanged")),
        count => (Tone::Bad, format!("{lines}, {}", counted(count, "problem"))),
    };
    out.push_str(&format!("{}\n", printer.paint(tone, &verdict)));
    if let Some(last) = &report.last {
        out.push_str(&format!("last {last}\n"));
        if !is_end_known {
            let mark = printer.paint(Tone::Quiet, "-");
            out.push_str(&format!(
                "{mark} whether lines were cut off at the end nothing here shows: keep that hash elsewhere, and name it \
                 with --contains\n"
            ));
        }
    }
    out
}
