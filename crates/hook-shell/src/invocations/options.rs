//! Options and operands among arguments.

use super::argument::Argument;
use super::program::Program;

/// Letters of short options with a value, by subcommand of git.
const GIT_LETTERS: &[(&str, &str)] = &[
    ("apply", "pC"),
    ("branch", "u"),
    ("checkout", "bB"),
    ("cherry-pick", "mXS"),
    ("clean", "e"),
    ("clone", "obcju"),
    ("commit", "mFCctSu"),
    ("grep", "eABCmO"),
    ("log", "nSGL"),
    ("merge", "msXFS"),
    ("push", "o"),
    ("rebase", "sxXCS"),
    ("revert", "mXS"),
    ("stash", "m"),
    ("switch", "cC"),
    ("tag", "mFu"),
    ("worktree", "bB"),
];

/// Returns the letters of git's short options with a value behind a subcommand.
pub(super) fn git_letters(subcommand: &str) -> &'static str {
    let letters = GIT_LETTERS.iter().find(|(name, _)| *name == subcommand);
    letters.map_or("", |(_, letters)| letters)
}

/// Returns `true` if an argument is an option: for `-f` also a cluster (`-rf`) up to the first letter
/// with a value, for `--force` also an abbreviation and one with a value other than `false`.
pub fn is_option(argument: &str, option: &str, value_letters: &str) -> bool {
    if argument == option {
        return true;
    }
    if !argument.starts_with('-') {
        return false;
    }
    if let Some(name) = option.strip_prefix("--") {
        let Some(given) = argument.strip_prefix("--") else { return false };
        if name.contains('=') {
            return false;
        }
        let (given, value) = given.split_once('=').unwrap_or((given, ""));
        return value != "false" && !given.is_empty() && name.starts_with(given);
    }
    let mut letters = option.strip_prefix('-').unwrap_or_default().chars();
    let (Some(letter), None, Some(cluster)) =
        (letters.next(), letters.next(), argument.strip_prefix('-'))
    else {
        return false;
    };
    let end = |found: &char| *found == letter || value_letters.contains(*found);
    let mut cluster = cluster.chars().take_while(char::is_ascii_alphanumeric);
    cluster.find(end) == Some(letter)
}

/// Returns the values of options, in `--name value`, `--name=value`, `-n value` and `-nvalue`.
pub(super) fn option_values<'a>(
    arguments: &'a [Argument],
    options: &[impl AsRef<str>],
) -> Vec<&'a str> {
    let mut values = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let text = argument.text.as_str();
        if !text.starts_with('-') {
            continue;
        }
        for option in options.iter().map(AsRef::as_ref) {
            let is_short = option.len() == 2;
            match text.strip_prefix(option) {
                Some("") => {
                    values.extend(arguments.get(index + 1).map(|value| value.text.as_str()))
                }
                Some(rest) if is_short => values.push(rest),
                Some(rest) => values.extend(rest.strip_prefix('=')),
                // The last letter of a cluster takes the value: `-sSLo file`.
                None if is_short
                    && !text.starts_with("--")
                    && is_option(text, option, "")
                    && text.ends_with(&option[1..]) =>
                {
                    values.extend(arguments.get(index + 1).map(|value| value.text.as_str()));
                }
                // `-sofolder/file`
                None if is_short && is_option(text, option, "") => {
                    let value = text.split_once(&option[1..]).map(|(_, value)| value);
                    values.extend(value.filter(|value| value.contains(['/', '.', '~'])));
                }
                None => {}
            }
        }
    }
    values
}

/// Returns `true` if an option's value is the next argument.
fn takes_next(argument: &str, program: &Program) -> bool {
    let mut options = program.options.iter().map(|(option, _)| *option);
    if let Some(name) = argument.strip_prefix("--") {
        let mut options = options.filter_map(|option| option.strip_prefix("--"));
        return !name.contains('=')
            && options.any(|option| option == name || name.len() >= 2 && option.starts_with(name));
    }
    if options.any(|option| option == argument) {
        return true;
    }
    // In a cluster the first letter with a value takes the rest as it, or the next argument.
    let letters = argument.get(1..).unwrap_or_default();
    let first = letters.char_indices().find(|(_, letter)| program.letters.contains(*letter));
    first.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns the indices of operands and of options; values of options are neither.
pub(super) fn indices(program: &Program, arguments: &[Argument]) -> (Vec<usize>, Vec<usize>) {
    let (mut operands, mut options) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter().enumerate();
    while let Some((index, argument)) = rest.next() {
        let text = argument.text.as_str();
        match text {
            "--" => {
                operands.extend(rest.map(|(index, _)| index));
                break;
            }
            // `chmod -x file`
            _ if program.name == "chmod"
                && text.len() > 1
                && text.bytes().skip(1).all(|byte| b"rwxXst".contains(&byte)) =>
            {
                operands.push(index);
            }
            _ if text.len() > 1 && text.starts_with('-') => {
                options.push(index);
                if takes_next(text, program) {
                    rest.next();
                }
            }
            _ => operands.push(index),
        }
    }
    (operands, options)
}
