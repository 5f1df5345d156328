//! Printing: data to stdout, diagnostics to stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use hook_json::{ObjectWriter, RawObject, text};
use hook_settings::{Diagnostic, Severity};
use indicatif::{MultiProgress, ProgressDrawTarget};
use serde::Serialize;

use crate::error::CommandError;
use crate::options::Color;
use crate::stdout::Writer;

/// The style of a piece of text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Quiet,
    Good,
    Bad,
    Warning,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Warning => AnsiColor::Yellow.on_default(),
        }
    }
}

/// The width of text if no terminal reports one, in columns.
const DEFAULT_WIDTH: usize = 100;

/// The maximum width of text, whatever the terminal reports, in columns.
const MAX_COLUMNS: usize = 1_000;

/// A printer for stdout and stderr.
#[derive(Debug)]
pub(crate) struct Printer {
    color: Color,
    /// `true` if results are printed as JSON.
    json: bool,
    /// Progress lines, redrawn below all other output on the terminal.
    progress: MultiProgress,
    /// `true` if the command has other work to do than printing.
    ignores_broken_pipe: bool,
    /// `true` if a message was printed, or an attempt was made.
    has_answered: bool,
    stdout: Writer,
}

impl Printer {
    pub(crate) fn new(color: Color, json: bool) -> Self {
        let progress = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Self {
            color,
            json,
            progress,
            ignores_broken_pipe: false,
            has_answered: false,
            stdout: Writer::default(),
        }
    }

    /// Ignores a closed stdout from now on, since the command has other work to do.
    pub(crate) fn ignore_broken_pipe(&mut self) {
        self.ignores_broken_pipe = true;
    }

    /// Returns a printer for text that goes to a file instead of a terminal.
    pub(crate) fn for_file(&self) -> Self {
        let color = match self.color {
            Color::Always => Color::Always,
            Color::Auto | Color::Never => Color::Never,
        };
        Self::new(color, self.json)
    }

    /// Returns the width for text in columns: that of `COLUMNS` or of the terminal, else 100.
    pub(crate) fn width(&self) -> usize {
        let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || terminal_size::terminal_size_of(io::stdout());
        let columns = given.or_else(|| Some(terminal()?.0.0.into()));
        columns.filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH).min(MAX_COLUMNS)
    }

    /// Returns `true` if stdout is a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Returns `true` if stderr is a terminal that can erase lines.
    pub(crate) fn shows_progress(&self) -> bool {
        io::stderr().is_terminal() && is_capable_terminal()
    }

    /// Returns the progress lines on stderr. All other output is printed above them.
    pub(crate) fn progress_lines(&self) -> MultiProgress {
        self.progress.set_draw_target(ProgressDrawTarget::stderr());
        self.progress.clone()
    }

    /// Clears the progress lines, which the next update draws again.
    fn clear_progress(&self) {
        // A closed stderr leaves no way to report this.
        let _ = self.progress.clear();
    }

    /// Prints a protocol message: one line, flushed. A reader that does not read delays only the
    /// command's own next message.
    pub(crate) async fn message(&mut self, line: &[u8]) -> Result<(), CommandError> {
        self.has_answered = true;
        self.write(message_line(line)).await
    }

    /// Returns `true` if a message was printed, or an attempt was made.
    pub(crate) fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Prints an object as one line of JSON.
    pub(crate) async fn object(&mut self, object: &impl Serialize) -> Result<(), CommandError> {
        self.message(&json_line(object)).await
    }

    /// Prints a result: as one line of JSON with `--json`, else as text for people.
    pub(crate) async fn show(&mut self, view: &impl View) -> Result<(), CommandError> {
        match self.json {
            true => self.message(&view.json()).await,
            false => self.text(&view.text(self)).await,
        }
    }

    /// Prints text for people, with control sequences that could move the cursor escaped.
    pub(crate) async fn text(&mut self, text: &str) -> Result<(), CommandError> {
        let shown = text::for_terminal(text, self.colours_stdout()).into_owned();
        self.write(shown.into_bytes()).await
    }

    /// Prints text for programs byte by byte: a script, a page, or an answer for an agent.
    pub(crate) async fn raw(&mut self, text: &str) -> Result<(), CommandError> {
        self.write(text.as_bytes().to_vec()).await
    }

    async fn write(&mut self, text: Vec<u8>) -> Result<(), CommandError> {
        self.clear_progress();
        match self.stdout.write(text).await {
            Err(error) if self.ignores_broken_pipe && error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(())
            }
            written => written.map_err(CommandError::Output),
        }
    }

    /// Prints an error on stderr.
    pub(crate) fn problem(&mut self, text: &str) {
        self.diagnostic("error", Tone::Bad, text);
    }

    /// Prints a warning on stderr.
    pub(crate) fn warning(&mut self, text: &str) {
        self.diagnostic("warning", Tone::Warning, text);
    }

    /// Prints a note on stderr.
    pub(crate) fn remark(&mut self, text: &str) {
        self.diagnostic("note", Tone::Quiet, text);
    }

    /// Prints a problem with the settings on stderr.
    pub(crate) fn settings_problem(&mut self, problem: &Diagnostic) {
        let tone = match problem.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning => Tone::Warning,
            Severity::Hint => Tone::Quiet,
        };
        let text = paint(self.is_coloured(io::stderr().is_terminal()), tone, &problem.to_string());
        self.clear_progress();
        let _ = writeln!(io::stderr(), "{}", indent_continuation(&text));
    }

    /// Prints a hook's message on stderr.
    pub(crate) fn note(&mut self, text: &str) {
        self.clear_progress();
        // A closed stderr leaves no way to report this.
        let _ = writeln!(io::stderr(), "{}", text::escaped_lines(text));
    }

    fn diagnostic(&mut self, label: &str, tone: Tone, text: &str) {
        let label = paint(self.is_coloured(io::stderr().is_terminal()), tone, label);
        self.clear_progress();
        let _ =
            writeln!(io::stderr(), "{label}: {}", indent_continuation(&text::escaped_lines(text)));
    }

    /// Styles text for stdout.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        paint(self.is_coloured(io::stdout().is_terminal()), tone, text)
    }

    /// Returns `true` if text for stdout is styled.
    pub(crate) fn colours_stdout(&self) -> bool {
        self.is_coloured(io::stdout().is_terminal())
    }

    fn is_coloured(&self, terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
                terminal && unset("NO_COLOR") && is_capable_terminal()
            }
        }
    }
}

/// Indents the further lines of a message, so that none looks like a message of its own.
fn indent_continuation(text: &str) -> String {
    let mut lines = text.trim_end_matches('\n').split('\n');
    let mut continued = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let indent = if line.is_empty() || line.starts_with([' ', '\t']) { "" } else { "  " };
        continued.push_str(&format!("\n{indent}{line}"));
    }
    continued
}

/// A result of a command, for programs and for people.
pub(crate) trait View {
    /// Returns the result as a line of JSON.
    fn json(&self) -> Vec<u8>;

    /// Returns the result as text, with a final newline.
    fn text(&self, printer: &Printer) -> String;
}

/// An object, and the same as text.
impl<S: Serialize, T: Fn(&Printer) -> String> View for (S, T) {
    fn json(&self) -> Vec<u8> {
        json_line(&self.0)
    }

    fn text(&self, printer: &Printer) -> String {
        (self.1)(printer)
    }
}

/// Returns an object as a line of JSON, as [`ObjectWriter::line`] writes it.
pub(crate) fn json_line(object: &impl Serialize) -> Vec<u8> {
    let object = serde_json::to_string(object).map_err(|error| error.to_string());
    let object = object.and_then(|text| RawObject::parse(text).map_err(|error| error.to_string()));
    ObjectWriter::line(|out| match object {
        Ok(object) => out.fields(&object.fields()),
        Err(error) => out.text("error", &error),
    })
}

/// Returns a protocol message as a line for standard output.
pub(crate) fn message_line(line: &[u8]) -> Vec<u8> {
    let mut line = text::escaped_json(&String::from_utf8_lossy(line)).into_owned();
    line.push('\n');
    line.into_bytes()
}

fn is_capable_terminal() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn paint(coloured: bool, tone: Tone, text: &str) -> String {
    let text = text::escaped_lines(text);
    match coloured {
        true => {
            let style = tone.style();
            format!("{style}{text}{style:#}")
        }
        false => text,
    }
}
