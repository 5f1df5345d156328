//! The output of programs, as far as it is known.

use super::Reader;
use crate::invocations::argument::UNKNOWN;
use crate::invocations::find::found_paths;
use crate::invocations::invocation::{Input, Invocation};

impl Reader<'_> {
    /// Returns the output of an invocation; [`UNKNOWN`] if only running it can tell.
    pub(super) fn output_of(&self, invocation: &Invocation) -> String {
        match self.is_output_redirected {
            true => String::new(),
            false => self.known_output(invocation).unwrap_or_else(|| UNKNOWN.to_string()),
        }
    }

    fn known_output(&self, invocation: &Invocation) -> Option<String> {
        let texts: Vec<&str> = invocation.texts().collect();
        Some(match (invocation.program(), texts.as_slice()) {
            ("echo", texts) => echo(texts),
            ("printf", [format]) if !format.contains('%') => unescaped(format),
            ("printf", ["%s" | "%s\\n", text]) => (*text).to_owned(),
            ("cat", texts) if texts.iter().all(|text| *text == "-") => {
                invocation.input.text()?.to_owned()
            }
            ("find", _) => found_paths(invocation)?.join("\n"),
            (program @ ("dirname" | "basename"), [path]) => {
                let path = path.trim_end_matches('/');
                match (path.rsplit_once('/'), program) {
                    (Some(("", _)), "dirname") => "/\n".to_owned(),
                    (Some((folder, _)), "dirname") => format!("{folder}\n"),
                    (None, "dirname") if !path.contains(UNKNOWN) => ".\n".to_owned(),
                    (Some((_, name)), "basename") => format!("{name}\n"),
                    (None, "basename") if !path.is_empty() => format!("{path}\n"),
                    _ => return None,
                }
            }
            // What sets up a shell is trusted as the program is.
            ("ssh-agent" | "brew" | "opam" | "dircolors", _)
            | (
                "direnv" | "pyenv" | "rbenv" | "nodenv" | "starship" | "zoxide" | "mise" | "fnm"
                | "conda" | "thefuck",
                ["hook" | "export" | "init" | "activate" | "env" | "shell.bash", ..],
            ) => String::new(),
            ("pwd", _) => self.cwd_text() + "\n",
            ("mktemp", _) => format!("/tmp/{UNKNOWN}\n"),
            ("git", ["rev-parse", "--show-toplevel"]) if self.is_in_project() => {
                self.surroundings.project.to_owned() + "\n"
            }
            // A push of the current branch is one of `HEAD`.
            (
                "git",
                ["branch", "--show-current"]
                | ["rev-parse", "--abbrev-ref", "HEAD"]
                | ["symbolic-ref", "--short", "HEAD"],
            ) => "HEAD\n".to_owned(),
            ("git", ["ls-files", folders @ ..]) => listed(folders),
            ("git", ["diff", "--name-only", ..]) => listed(&[]),
            ("fd", folders) => listed(folders.get(1..).unwrap_or_default()),
            ("rg", texts) if texts.contains(&"--files") => listed(texts),
            ("rg" | "grep", texts) if texts.iter().any(|text| lists_files(text)) => {
                let has_pattern = texts.iter().any(|text| names_pattern(text));
                let folders = texts.iter().filter(|text| !text.starts_with('-'));
                let folders = folders.skip(usize::from(!has_pattern));
                listed(&folders.copied().collect::<Vec<_>>())
            }
            // It prints where it goes.
            ("cd", texts) if texts.iter().any(|text| text.starts_with('-')) => return None,
            (
                ":" | "true" | "false" | "cd" | "export" | "set" | "test" | "[" | "exit" | "sleep",
                _,
            ) => String::new(),
            _ => return None,
        })
    }

    fn is_in_project(&self) -> bool {
        let rest = self.cwd.as_deref().and_then(|cwd| cwd.strip_prefix(self.surroundings.project));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Returns the paths of files in folders, or in the working directory.
fn listed(folders: &[&str]) -> String {
    let folders = folders.iter().filter(|folder| !folder.starts_with('-'));
    // Each may be a file itself.
    let below = |folder: &&str| format!("{folder}\n{}/{UNKNOWN}\n", folder.trim_end_matches('/'));
    match folders.map(below).collect::<String>() {
        paths if paths.is_empty() => format!("./{UNKNOWN}\n"),
        paths => paths,
    }
}

/// Returns `true` for options of `grep` that give the pattern.
fn names_pattern(option: &str) -> bool {
    option.starts_with("--regexp")
        || option.starts_with("--file")
        || option.starts_with('-') && !option.starts_with("--") && option.contains(['e', 'f'])
}

/// Returns `true` for options of `grep` that print names of files.
fn lists_files(option: &str) -> bool {
    matches!(option, "-l" | "-rl" | "-lr" | "--files" | "--files-with-matches")
}

fn echo(texts: &[&str]) -> String {
    let is_option = |text: &&&str| {
        let letters = text.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|letter| b"neE".contains(&letter))
    };
    let (options, words) = texts.split_at(texts.iter().take_while(is_option).count());
    let has = |letter: char| options.iter().any(|option| option.contains(letter));
    let text = words.join(" ");
    let text = if has('e') { unescaped(&text) } else { text };
    if has('n') { text } else { text + "\n" }
}

/// Decodes the escapes of `printf` and `echo -e`.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = |from: usize, radix: u32, at_most: usize| {
            let digits = after.get(from..).unwrap_or_default();
            digits.chars().take(at_most).take_while(|digit| digit.is_digit(radix)).count()
        };
        let (character, length) = match after.chars().next() {
            Some('n') => ('\n', 1),
            Some('t') => ('\t', 1),
            Some('r') => ('\r', 1),
            Some('\\') => ('\\', 1),
            Some('x') => match digits(1, 16, 2) {
                0 => (UNKNOWN, 1),
                count => (decoded(after.get(1..=count), 16), 1 + count),
            },
            Some(first @ '0'..='7') => {
                let count = digits(0, 8, if first == '0' { 4 } else { 3 });
                (decoded(after.get(..count), 8), count)
            }
            _ => (UNKNOWN, 0),
        };
        out.push(character);
        rest = after.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn decoded(digits: Option<&str>, radix: u32) -> char {
    let value = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok());
    value.filter(|value| *value < 0x80).and_then(char::from_u32).unwrap_or(UNKNOWN)
}

/// Returns the input of a program that reads a text.
pub(super) fn known(text: String) -> Input {
    // Of paths below a folder enough is known.
    let is_path = |line: &str| {
        line.split_once(UNKNOWN).is_none_or(|(folder, _)| {
            folder.ends_with('/') && !folder.contains(char::is_whitespace)
        })
    };
    match !text.lines().all(is_path) {
        true => Input::Unknown,
        false => Input::Text(text),
    }
}
