//! Calls of other languages that run programs.

use super::arguments::{CallArguments, is_flag, is_option};
use super::tokens::Token;
use super::values::Values;
use crate::invocations::argument::{Argument, UNKNOWN};
use crate::invocations::started::Started;

/// Named arguments that change nothing about what is run.
const HARMLESS: [&str; 14] = [
    "args",
    "bufsize",
    "capture_output",
    "check",
    "close_fds",
    "encoding",
    "errors",
    "start_new_session",
    "stderr",
    "stdin",
    "stdout",
    "text",
    "timeout",
    "universal_newlines",
];

/// Returns what a call that runs a program starts: a text, or a list of words.
pub(super) fn run(
    name: &str,
    mut given: CallArguments<'_>,
    values: &mut Values<'_>,
) -> Option<Started> {
    // Python's `os.spawnlp(mode, …)`.
    if name.starts_with("spawn")
        && !matches!(name, "spawn" | "spawnSync")
        && !given.positional.is_empty()
    {
        given.positional.remove(0);
    }
    let by_name =
        given.named.iter().find(|(name, _)| *name == "args").map(|(_, value)| value.clone());
    let first = given.positional.first().cloned().or(by_name)?;
    let is_list = first.first() == Some(&Token::Sign('['));
    let mut words = match values.list(&first) {
        Some(words) => words,
        None => vec![values.only_value(&first)],
    };
    let (mut cwd, mut is_shell, mut is_unknown) = (None, false, false);
    for (name, value) in &given.named {
        match *name {
            "cwd" => cwd = Some(values.only_value(value)),
            "shell" => is_shell = !matches!(value.as_slice(), [Token::Name("False")]),
            // What a shell reads may be a program.
            "stdin" => {
                is_unknown |=
                    !matches!(value.last(), Some(Token::Name("PIPE" | "DEVNULL" | "None")))
            }
            name => is_unknown |= !HARMLESS.contains(&name),
        }
    }
    for argument in given.positional.iter().skip(1) {
        match argument.as_slice() {
            [Token::Text(text)] => words.push(text.clone()),
            argument if is_option(argument) => {
                let names = |wanted: &[&str]| {
                    argument
                        .iter()
                        .any(|it| matches!(it, Token::Name(name) if wanted.contains(name)))
                };
                is_unknown |= argument.first() == Some(&Token::Sign('{'))
                    && (names(&["cwd", "env", "input", "argv0"])
                        || argument.contains(&Token::Sign('.')));
                is_shell |= names(&["shell"]);
            }
            argument if is_flag(argument) => {}
            argument => match values.list(argument) {
                Some(list) => {
                    // The first word names the program to itself.
                    let is_named = name.starts_with("execv")
                        || name.starts_with("spawnv")
                        || name.starts_with("posix");
                    words.extend(list.into_iter().skip(usize::from(is_named)));
                }
                None => match values.only_value(argument) {
                    word if word.contains(UNKNOWN) => is_unknown = true,
                    word => words.push(word),
                },
            },
        }
    }
    if (name.starts_with("execl") || name.starts_with("spawnl")) && words.len() > 1 {
        words.remove(1);
    }
    // What a program reads may be one.
    const READERS: [&str; 9] =
        ["sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "perl"];
    let is_reader = |word: &String| READERS.contains(&word.rsplit('/').next().unwrap_or(word));
    is_unknown |= words.len() == 1 && words.iter().all(is_reader);
    let is_text = is_shell || !is_list && words.len() == 1;
    let is_known = |text: &String| !text.contains(UNKNOWN);
    Some(match words.as_slice() {
        [] => return None,
        _ if is_unknown || cwd.as_ref().is_some_and(|cwd| !is_known(cwd)) => {
            Started::unknown_program()
        }
        [program, ..] if program.starts_with(UNKNOWN) => Started::unknown_program(),
        words if is_text && !words.iter().all(is_known) => Started::unknown_program(),
        words if is_text => Started::text(in_folder(cwd.as_deref(), words.join(" "))),
        words if cwd.is_some() || words.iter().any(|word| word.starts_with('~')) => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            Started::text(in_folder(cwd.as_deref(), words.join(" ")))
        }
        words => Started::Program(words.iter().map(Argument::plain).collect()),
    })
}

fn in_folder(folder: Option<&str>, text: String) -> String {
    match folder {
        Some(folder) => format!("cd {} && {text}", quoted(folder)),
        None => text,
    }
}

/// Returns a word as a shell reads it, but for `~`, which stands for the home directory.
fn quoted(word: &str) -> String {
    match word.strip_prefix('~').map(|rest| rest.strip_prefix('/').unwrap_or(rest)) {
        Some("") => "~".to_owned(),
        Some(rest) => format!("~/{}", crate::quote(rest)),
        None => crate::quote(word),
    }
}
