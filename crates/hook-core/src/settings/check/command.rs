//! Commands that cannot be started, or that the shell cannot read to their end.

use super::{Finding, Findings, path_of};
use crate::settings::{Rule, SettingsFile};
use crate::text::shortened;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    if !cfg!(unix) {
        // There, commands are PowerShell's.
        return;
    }
    for entry in &file.hooks {
        let Some(range) = &entry.spans.command else { continue };
        if entry.command.contains('\0') {
            // As a guard it blocks: it fails each time.
            let message = "the command has a NUL in it, and fails each time";
            let path = path_of(entry, "command");
            findings.add(Finding::new(Rule::InvalidCommand, range, path, message));
            continue;
        }
        let Some(open) = open_quote(&entry.command) else { continue };
        let message = format!(
            "the quote that begins at `{}` is not closed: the shell refuses the command",
            shortened(open)
        );
        findings.add(Finding::new(Rule::OpenQuote, range, path_of(entry, "command"), message));
    }
}

/// The rest of a command from the quote on that nothing closes; `None` where there is none, or where
/// only the shell can tell.
fn open_quote(command: &str) -> Option<&str> {
    // Quotes nest in substitutions, and mean nothing in a here-document.
    if command.contains("$(") || command.contains('`') || command.contains("<<") {
        return None;
    }
    let mut opened: Option<(usize, Quote)> = None;
    let mut before = ' ';
    let mut characters = command.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match (opened, character) {
            (None, '\'') if before == '$' => opened = Some((at, Quote::Escaping('\''))),
            (None, '\'') => opened = Some((at, Quote::Literal)),
            (None, '"') => opened = Some((at, Quote::Escaping('"'))),
            (None, '#') if before.is_whitespace() || ";&|()".contains(before) => {
                while characters.next_if(|(_, it)| *it != '\n').is_some() {}
            }
            (None | Some((_, Quote::Escaping(_))), '\\') => drop(characters.next()),
            (Some((_, Quote::Literal)), '\'') => opened = None,
            (Some((_, Quote::Escaping(end))), _) if character == end => opened = None,
            _ => {}
        }
        before = character;
    }
    command.get(opened?.0..)
}

/// How a stretch in quotes is read.
#[derive(Debug, Clone, Copy)]
enum Quote {
    /// Everything stands for itself.
    Literal,
    /// A backslash takes the meaning from what comes after it; this ends it.
    Escaping(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether bash itself reads the command to its end.
    fn is_read(command: &str) -> bool {
        let bash = std::process::Command::new("bash").args(["-n", "-c", command]).output();
        bash.unwrap().status.success()
    }

    #[test]
    fn what_is_found_is_what_bash_refuses() {
        for (command, open) in [
            ("echo \"it's\"", None),
            ("echo 'it''s'", None),
            ("echo it's", Some("'s")),
            ("echo \"a\\\"b\"", None),
            ("echo \"a\\\"", Some("\"a\\\"")),
            ("echo \\' \\\"", None),
            ("echo 'a\\'", None),
            ("echo $'a\\'b'", None),
            ("echo $'a\\'", Some("'a\\'")),
            ("true # it's", None),
            ("true;# it's\necho 'x", Some("'x")),
            ("echo a#'b", Some("'b")),
            ("grep -q \"rm", Some("\"rm")),
        ] {
            assert_eq!(open_quote(command), open, "{command}");
            assert_eq!(is_read(command), open.is_none(), "{command}");
        }
        // What only the shell can tell is not guessed.
        assert_eq!(open_quote("echo \"$(echo \"it's\")\""), None);
    }
}
