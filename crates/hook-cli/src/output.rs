//! The one way to the terminal: data to stdout, diagnostics to stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use hook_core::settings::{Diagnostic, Severity};
use hook_core::{JsonObject, ObjectWriter, text};
use indicatif::{MultiProgress, ProgressDrawTarget};
use serde_json::Value;

use crate::error::CommandError;
use crate::options::Color;
use crate::stdout::Writer;

/// How a piece of text is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Quiet,
    Good,
    Bad,
    Odd,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Odd => AnsiColor::Yellow.on_default(),
        }
    }
}

/// How wide text is where no terminal says so.
const DEFAULT_WIDTH: usize = 100;

/// More columns than this are not filled, whatever the terminal reports.
const MOST_COLUMNS: usize = 1_000;

/// Prints.
#[derive(Debug)]
pub(crate) struct Printer {
    color: Color,
    /// Lines that come and go below everything else that is on the terminal.
    progress: MultiProgress,
    /// Whether the command has more to do than to print.
    works_on: bool,
    /// Whether a message was printed, or tried to be.
    has_answered: bool,
    stdout: Writer,
}

impl Printer {
    pub(crate) fn new(color: Color) -> Self {
        let progress = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Self { color, progress, works_on: false, has_answered: false, stdout: Writer::default() }
    }

    /// From now on it does not matter whether anybody reads: the command has other work to do.
    pub(crate) fn work_on_unread(&mut self) {
        self.works_on = true;
    }

    /// A printer for text that goes to a file, which is not a terminal.
    pub(crate) fn for_file(&self) -> Self {
        let color = match self.color {
            Color::Always => Color::Always,
            Color::Auto | Color::Never => Color::Never,
        };
        Self::new(color)
    }

    /// How many columns text may take: those of `COLUMNS` or of the terminal, else 100.
    pub(crate) fn width(&self) -> usize {
        let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || terminal_size::terminal_size_of(io::stdout());
        let columns = given.or_else(|| Some(terminal()?.0.0.into()));
        columns.filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH).min(MOST_COLUMNS)
    }

    /// Whether a person reads the output.
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether a person sees stderr, on a terminal that can take back what it shows.
    pub(crate) fn shows_progress(&self) -> bool {
        io::stderr().is_terminal() && is_capable_terminal()
    }

    /// Where progress is drawn; it makes room for everything else that is printed.
    pub(crate) fn progress_lines(&self) -> MultiProgress {
        self.progress.set_draw_target(ProgressDrawTarget::stderr());
        self.progress.clone()
    }

    /// Takes progress from the terminal; it comes back by itself.
    fn make_room(&self) {
        // A closed stderr leaves no way to report this.
        let _ = self.progress.clear();
    }

    /// Prints a message of the protocol: one line, flushed. A reader that does not read holds up nothing
    /// but the command's own next word.
    pub(crate) async fn message(&mut self, line: &[u8]) -> Result<(), CommandError> {
        self.has_answered = true;
        self.write(message_line(line)).await
    }

    /// Whether a message was printed, or tried to be.
    pub(crate) fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Prints an object as a line of JSON.
    pub(crate) async fn object(&mut self, object: &Value) -> Result<(), CommandError> {
        let line = ObjectWriter::line(|out| match JsonObject::try_from(object) {
            Ok(fields) => out.fields(&fields),
            Err(error) => out.text("error", &error.to_string()),
        });
        self.message(&line).await
    }

    /// Prints text for people: nothing in it moves a cursor, whoever it comes from.
    pub(crate) async fn text(&mut self, text: &str) -> Result<(), CommandError> {
        let shown = text::for_terminal(text, self.colours_stdout()).into_owned();
        self.write(shown.into_bytes()).await
    }

    /// Prints text for programs, to the byte: a script, a page, an answer in an agent's language.
    pub(crate) async fn raw(&mut self, text: &str) -> Result<(), CommandError> {
        self.write(text.as_bytes().to_vec()).await
    }

    async fn write(&mut self, text: Vec<u8>) -> Result<(), CommandError> {
        self.make_room();
        match self.stdout.write(text).await {
            Err(error) if self.works_on && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(CommandError::Output),
        }
    }

    /// Says what went wrong, on stderr.
    pub(crate) fn problem(&mut self, text: &str) {
        self.diagnostic("error", Tone::Bad, text);
    }

    /// Says what is odd, on stderr.
    pub(crate) fn warning(&mut self, text: &str) {
        self.diagnostic("warning", Tone::Odd, text);
    }

    /// Says what is worth knowing, on stderr.
    pub(crate) fn remark(&mut self, text: &str) {
        self.diagnostic("note", Tone::Quiet, text);
    }

    /// Says what is wrong with the settings, on stderr.
    pub(crate) fn settings_problem(&mut self, problem: &Diagnostic) {
        let tone = match problem.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning => Tone::Odd,
            Severity::Hint => Tone::Quiet,
        };
        let text = paint(self.is_coloured(io::stderr().is_terminal()), tone, &problem.to_string());
        self.make_room();
        let _ = writeln!(io::stderr(), "{}", continued(&text));
    }

    /// Prints to stderr what a hook said.
    pub(crate) fn note(&mut self, text: &str) {
        self.make_room();
        // A closed stderr leaves no way to report this.
        let _ = writeln!(io::stderr(), "{}", text::lines(text));
    }

    fn diagnostic(&mut self, word: &str, tone: Tone, text: &str) {
        let word = paint(self.is_coloured(io::stderr().is_terminal()), tone, word);
        self.make_room();
        let _ = writeln!(io::stderr(), "{word}: {}", continued(&text::lines(text)));
    }

    /// Styles a piece of text that goes to stdout.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        paint(self.is_coloured(io::stdout().is_terminal()), tone, text)
    }

    /// Whether text for stdout is styled.
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

/// A message whose further lines are indented, so that none of them looks like a message of its own.
fn continued(text: &str) -> String {
    let mut lines = text.trim_end_matches('\n').split('\n');
    let mut continued = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let indent = if line.is_empty() || line.starts_with([' ', '\t']) { "" } else { "  " };
        continued.push_str(&format!("\n{indent}{line}"));
    }
    continued
}

/// A message of the protocol as a line for standard output.
pub(crate) fn message_line(line: &[u8]) -> Vec<u8> {
    let mut line = text::json(&String::from_utf8_lossy(line)).into_owned();
    line.push('\n');
    line.into_bytes()
}

fn is_capable_terminal() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn paint(coloured: bool, tone: Tone, text: &str) -> String {
    let text = text::lines(text);
    match coloured {
        true => {
            let style = tone.style();
            format!("{style}{text}{style:#}")
        }
        false => text,
    }
}
