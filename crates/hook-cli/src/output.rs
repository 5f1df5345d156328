//! The one way to the terminal: data to stdout, diagnostics to stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use hook_core::settings::{Diagnostic, Severity};
use tokio::io::AsyncWriteExt;

use crate::args::Color;
use crate::error::CommandError;

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

/// Prints.
#[derive(Debug)]
pub(crate) struct Printer {
    color: Color,
    stdout: tokio::io::Stdout,
}

impl Printer {
    pub(crate) fn new(color: Color) -> Self {
        Self { color, stdout: tokio::io::stdout() }
    }

    /// Whether a person reads the output.
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Prints a message of the protocol: one line, flushed. Whoever does not read holds up nothing
    /// but the command's own next word.
    pub(crate) async fn message(&mut self, line: &[u8]) -> Result<(), CommandError> {
        self.write(&[line, b"\n"]).await
    }

    /// Prints text for people.
    pub(crate) async fn text(&mut self, text: &str) -> Result<(), CommandError> {
        self.write(&[text.as_bytes()]).await
    }

    async fn write(&mut self, pieces: &[&[u8]]) -> Result<(), CommandError> {
        let write = async {
            for piece in pieces {
                self.stdout.write_all(piece).await?;
            }
            self.stdout.flush().await
        };
        write.await.map_err(CommandError::Output)
    }

    /// Says what went wrong, on stderr.
    pub(crate) fn problem(&mut self, text: &str) {
        self.diagnostic("error", Tone::Bad, text);
    }

    /// Says what is odd, on stderr.
    pub(crate) fn warning(&mut self, text: &str) {
        self.diagnostic("warning", Tone::Odd, text);
    }

    /// Says what is wrong with the settings, on stderr.
    pub(crate) fn settings_problem(&mut self, problem: &Diagnostic) {
        let tone = match problem.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning => Tone::Odd,
            Severity::Hint => Tone::Quiet,
        };
        let text = paint(self.is_coloured(io::stderr().is_terminal()), tone, &problem.to_string());
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Prints to stderr what a hook said; as it is, unless a person would see it.
    pub(crate) fn note(&mut self, text: &str) {
        // Nobody is left to tell when stderr is closed.
        let text = if io::stderr().is_terminal() { harmless(text) } else { text.to_owned() };
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn diagnostic(&mut self, word: &str, tone: Tone, text: &str) {
        let word = paint(self.is_coloured(io::stderr().is_terminal()), tone, word);
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
                terminal
                    && unset("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
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

/// What hooks and files say must not move the cursor, change colours or ring the bell.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .flat_map(|character| match character {
            '\n' | '\t' => vec![character],
            '\r' => Vec::new(),
            character if character.is_control() => character.escape_unicode().collect(),
            character => vec![character],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_shown_and_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31mb\u{7}\r\n\tc\u{9b}"), "a\\u{1b}[31mb\\u{7}\n\tc\\u{9b}");
    }
}
