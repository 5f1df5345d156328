//! `hook trace`: shows a recording as a timeline.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_record::recording::Recording;

use super::is_same_file;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::Printer;
use crate::render::{self, Scale, counted};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook serve --stdio --record session.hookrec   make a recording
  hook trace session.hookrec                    a waterfall, here
  hook trace session.hookrec --per-request      each request on its own scale
  hook trace session.hookrec --format html --output trace.html
  hook trace session.hookrec --json | jq 'select(.outcome == \"block\").reason'

The page of --format html needs nothing else.")]
pub(crate) struct Arguments {
    /// The recording, made by `hook serve --record`
    recording: PathBuf,
    /// What to make of it
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the hooks of each request on a scale of its own (text)
    #[arg(long)]
    per_request: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A waterfall in the terminal
    Text,
    /// One page that needs nothing else
    Html,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let path = &arguments.recording;
    if arguments.per_request && (arguments.format != Format::Text || context.json()) {
        let message = "--per-request is for --format text; the page has its own zoom";
        return Err(CommandError::Usage(message.to_owned()));
    }
    if let Some(output) = arguments.output.as_deref().filter(|output| is_same_file(output, path)) {
        return Err(CommandError::would_overwrite("the recording", output));
    }
    let recording = read_recording(path, printer).await?;
    let scale = if arguments.per_request { Scale::Request } else { Scale::Recording };
    let rendered = match arguments.format {
        _ if context.json() => render::trace_json(&recording),
        Format::Text => match &arguments.output {
            Some(_) => render::trace_text(&recording, scale, &printer.for_file()),
            None => render::trace_text(&recording, scale, printer),
        },
        Format::Html => render::trace_page(&recording, &path.to_string_lossy()),
    };
    match &arguments.output {
        Some(file) => tokio::fs::write(file, &rendered)
            .await
            .map_err(CommandError::write("the trace", file))?,
        None if arguments.format == Format::Text && !context.json() => {
            printer.text(&rendered).await?;
        }
        None => printer.raw(&rendered).await?,
    }
    Ok(exit_code::PROCEED)
}

/// Reads a recording, and warns about missing parts.
pub(crate) async fn read_recording(path: &Path, printer: &mut Printer) -> Result<Recording> {
    let file = regular_file::open(path).map_err(CommandError::read("the recording", path))?;
    let recording = Recording::read(tokio::fs::File::from_std(file)).await;
    let recording =
        recording.map_err(|source| CommandError::Recording { path: path.to_path_buf(), source })?;
    let path = path.shown();
    if recording.truncated {
        printer.warning(&format!(
            "{path}: the last line is cut off and left out; the engine was killed, or is still \
             writing"
        ));
    }
    if recording.ignored > 0 {
        let (lines, are) = match recording.ignored {
            1 => ("1 line means".to_owned(), "is"),
            lines => (format!("{lines} lines mean"), "are"),
        };
        printer.warning(&format!(
            "{path}: {lines} nothing to this version of hook and {are} left out"
        ));
    }
    let missed = recording.summary().missed;
    if missed > 0 {
        let messages = counted(missed as usize, "message");
        printer.warning(&format!(
            "{path}: the recorder fell behind and missed {messages}; requests and hooks around there \
             may be incomplete"
        ));
    }
    Ok(recording)
}
