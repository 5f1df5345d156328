//! Scripts of `sed`: the files that they read and write, and the programs that they run.

use super::invocation::Invocation;

/// An effect of a command of `sed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SedEffect<'s> {
    Reads(&'s str),
    Writes(&'s str),
    Runs,
}

/// Returns the scripts in the arguments.
pub(super) fn scripts(invocation: &Invocation) -> Vec<&str> {
    let scripts = invocation.option_values(&["-e", "--expression"]);
    match invocation.operand(0) {
        _ if !scripts.is_empty() => scripts,
        // On macOS, `-i ''` has a suffix behind it.
        "" => vec![invocation.operand(1)],
        script => vec![script],
    }
}

/// Returns the text behind the next delimiter that is not escaped.
fn behind_delimiter(text: &str, delimiter: char) -> &str {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, character)| {
        let is_end = *character == delimiter && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|(at, found)| text.get(at + found.len_utf8()..)).unwrap_or_default()
}

/// Returns what a script of `sed` does with files and programs.
pub(super) fn sed_effects(script: &str) -> Vec<SedEffect<'_>> {
    let mut effects = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|skipped: char| {
            skipped.is_whitespace() || skipped.is_ascii_digit() || ",;$!{}+~".contains(skipped)
        });
        let Some(command) = rest.chars().next() else { break };
        let after = rest.get(command.len_utf8()..).unwrap_or_default();
        let line = after.split('\n').next().unwrap_or_default();
        let behind_line = after.get(line.len()..).unwrap_or_default();
        let file = line.trim();
        match command {
            // An address, with its flags.
            '/' => {
                rest = behind_delimiter(after, '/').trim_start_matches(['I', 'M']);
                continue;
            }
            '\\' => {
                let Some(delimiter) = after.chars().next() else { break };
                let inside = after.get(delimiter.len_utf8()..).unwrap_or_default();
                rest = behind_delimiter(inside, delimiter).trim_start_matches(['I', 'M']);
                continue;
            }
            's' | 'y' => {
                let Some(delimiter) = after.chars().next() else { break };
                let inside = after.get(delimiter.len_utf8()..).unwrap_or_default();
                let flags = behind_delimiter(behind_delimiter(inside, delimiter), delimiter);
                let end = flags.find(|flag: char| !"0123456789gpiImMe".contains(flag));
                let (flags, behind) = flags.split_at(end.unwrap_or(flags.len()));
                if command == 's' && flags.contains('e') {
                    effects.push(SedEffect::Runs);
                }
                rest = behind;
                if let Some(file) = behind.strip_prefix('w').filter(|_| command == 's') {
                    let file = file.split('\n').next().unwrap_or_default();
                    effects.push(SedEffect::Writes(file.trim()));
                    rest = behind.get(1 + file.len()..).unwrap_or_default();
                }
                continue;
            }
            'w' | 'W' => effects.push(SedEffect::Writes(file)),
            'r' | 'R' => effects.push(SedEffect::Reads(file)),
            'e' => effects.push(SedEffect::Runs),
            // The rest of the line is a text, a label or a comment.
            'a' | 'i' | 'c' | '#' | ':' => {}
            _ => {
                rest = after;
                continue;
            }
        }
        rest = behind_line;
    }
    effects
}
