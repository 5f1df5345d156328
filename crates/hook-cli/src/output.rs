//! The one way to the terminal: data to stdout, diagnostics to stderr.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use hook_core::settings::{Diagnostic, Severity};
use indicatif::{MultiProgress, ProgressDrawTarget};

use crate::args::Color;
use crate::error::CommandError;
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

/// More columns than this are not filled, whoever says that they are there.
const MOST_COLUMNS: usize = 1_000;

/// Prints.
#[derive(Debug)]
pub(crate) struct Printer {
    color: Color,
    /// Lines that come and go below everything else that is on the terminal.
    progress: MultiProgress,
    /// Whether the command has more to do than to print.
    works_on: bool,
    stdout: Writer,
}

impl Printer {
    pub(crate) fn new(color: Color) -> Self {
        let progress = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Self { color, progress, works_on: false, stdout: Writer::default() }
    }

    /// From now on it does not matter whether anybody reads: the command has other work to do.
    pub(crate) fn work_on_unread(&mut self) {
        self.works_on = true;
    }

    /// What paints text that goes to a file: nobody's terminal.
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
        // Nobody is left to tell when stderr is closed.
        let _ = self.progress.clear();
    }

    /// Prints a message of the protocol: one line, flushed. Whoever does not read holds up nothing
    /// but the command's own next word.
    pub(crate) async fn message(&mut self, line: &[u8]) -> Result<(), CommandError> {
        let mut line = match self.is_interactive() {
            true => harmless_json(&String::from_utf8_lossy(line)).into_bytes(),
            false => line.to_vec(),
        };
        line.push(b'\n');
        self.write(line).await
    }

    /// Prints text for people.
    pub(crate) async fn text(&mut self, text: &str) -> Result<(), CommandError> {
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
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Prints to stderr what a hook said; as it is, unless a person would see it.
    pub(crate) fn note(&mut self, text: &str) {
        // Nobody is left to tell when stderr is closed.
        let text = if io::stderr().is_terminal() { harmless(text) } else { text.to_owned() };
        self.make_room();
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn diagnostic(&mut self, word: &str, tone: Tone, text: &str) {
        let word = paint(self.is_coloured(io::stderr().is_terminal()), tone, word);
        self.make_room();
        let _ = writeln!(io::stderr(), "{word}: {}", harmless(text));
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

fn is_capable_terminal() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn paint(coloured: bool, tone: Tone, text: &str) -> String {
    let text = harmless(text);
    match coloured {
        true => {
            let style = tone.style();
            format!("{style}{text}{style:#}")
        }
        false => text,
    }
}

/// What hooks and files say must not move the cursor, change colours, ring the bell, or look like
/// something else than it is: who reads a command must see what it says.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\r' if characters.peek() == Some(&'\n') => {}
            character if is_hidden(character) => shown.extend(character.escape_unicode()),
            character => shown.push(character),
        }
    }
    shown
}

/// JSON that means the same, with escapes for what a terminal would obey or not show.
fn harmless_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        match is_hidden(character) {
            true => {
                for unit in character.encode_utf16(&mut units) {
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            }
            false => shown.push(character),
        }
    }
    shown
}

/// Whether a terminal would obey the character, or show nothing of it.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control() || is_unseen(character)
}

/// Characters that are not seen, or that change the order in which others are: soft hyphens, blanks
/// without width, joiners, directions, line separators, fillers, and what can hide a text in a text.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            // The last two of these only choose between a sign as text and as a picture.
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_shown_and_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31mb\u{7}\r\n\tc\u{9b}"), "a\\u{1b}[31mb\\u{7}\n\tc\\u{9b}");
        assert_eq!(harmless("rm x\rls  "), "rm x\\u{d}ls  ");
    }

    #[test]
    fn json_on_a_terminal_means_the_same_and_moves_nothing() {
        let value = serde_json::json!("c1 \u{9b}31m \u{202e}red \u{e0041} é 日");
        let shown = harmless_json(&value.to_string());
        assert!(!shown.chars().any(is_hidden), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        assert!(shown.contains("é 日"));
    }

    #[test]
    fn what_is_not_seen_is_shown() {
        for character in
            "\u{202a}\u{202e}\u{2066}\u{2069}\u{200b}\u{200d}\u{feff}\u{ad}\u{e0041}\u{2028}"
                .chars()
        {
            let text = format!("a{character}b");
            assert_eq!(harmless(&text), format!("a{}b", character.escape_unicode()));
        }
        for text in ["naïve ⚠\u{fe0f} שלום 日本", " "] {
            assert_eq!(harmless(text), text);
        }
    }
}
