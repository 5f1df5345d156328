//! Commands on Windows that need no shell.

use crate::PROJECT_DIRECTORY;

/// Returns the words of a command that means the same to every shell of Windows, and so needs none:
/// a program and its arguments.
///
/// Words are separated by blanks. A word may be quoted, `"…"` or `'…'`, wholly or in part; quotes
/// themselves cannot be in it. A backslash is one. Of variables, those with the project's directory
/// are replaced (`$HOOK_PROJECT_DIR`, `${HOOK_PROJECT_DIR}`), but for those in single quotes.
///
/// `None` for everything else: operators, other variables, patterns, several lines, open quotes.
pub fn windows_words(command: &str, project: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = command.trim_matches([' ', '\t', '\r', '\n']);
    while !rest.is_empty() {
        let (word, behind) = word(rest, project)?;
        words.push(word);
        rest = behind.trim_start_matches([' ', '\t']);
    }
    (!words.is_empty()).then_some(words)
}

/// Returns the first word of a text, and what follows it.
fn word<'t>(text: &'t str, project: &str) -> Option<(String, &'t str)> {
    let mut word = String::new();
    let mut rest = text;
    loop {
        let Some(first) = rest.chars().next() else { return Some((word, rest)) };
        match first {
            ' ' | '\t' => return Some((word, rest)),
            '\'' => {
                let (quoted, behind) = rest.get(1..)?.split_once('\'')?;
                word.push_str(one_line(quoted)?);
                rest = behind;
            }
            '"' => {
                let (quoted, behind) = rest.get(1..)?.split_once('"')?;
                word.push_str(&with_project(one_line(quoted)?, project)?);
                rest = behind;
            }
            _ => {
                let end = rest.find([' ', '\t', '\'', '"']).unwrap_or(rest.len());
                let (bare, behind) = rest.split_at(end);
                if !is_plain(bare) {
                    return None;
                }
                word.push_str(&with_project(bare, project)?);
                rest = behind;
            }
        }
    }
}

/// Checks that no shell gives a character another meaning outside of quotes, but for variables and
/// their braces.
fn is_plain(text: &str) -> bool {
    let mut before = ' ';
    let mut is_open = false;
    text.chars().all(|character| {
        let is_plain = match character {
            '{' => !std::mem::replace(&mut is_open, true) && before == '$',
            '}' => std::mem::replace(&mut is_open, false),
            _ => character.is_alphanumeric() || r"$_+:,./\=-".contains(character),
        };
        before = character;
        is_plain
    })
}

/// Replaces the variables with the project's directory; `None` if there is another one.
fn with_project(text: &str, project: &str) -> Option<String> {
    // A grave accent is PowerShell's escape.
    if text.contains('`') {
        return None;
    }
    let mut replaced = String::new();
    let mut parts = text.split('$');
    replaced.push_str(parts.next()?);
    for part in parts {
        let behind = PROJECT_DIRECTORY.iter().find_map(|name| {
            let braced = part
                .strip_prefix('{')
                .and_then(|inner| inner.strip_prefix(name)?.strip_prefix('}'));
            let bare = part.strip_prefix(name).filter(|behind| {
                !behind
                    .starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == ':')
            });
            braced.or(bare)
        })?;
        replaced.push_str(project);
        replaced.push_str(behind);
    }
    Some(replaced)
}

fn one_line(text: &str) -> Option<&str> {
    (!text.contains(['\r', '\n'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::windows_words;

    #[test]
    fn a_program_and_plain_words_need_no_shell() {
        let project = r"C:\a project";
        for (command, expected) in [
            ("guard.exe --now", &["guard.exe", "--now"][..]),
            (r"C:\tools\guard.exe  x=1,2", &[r"C:\tools\guard.exe", "x=1,2"]),
            (
                r#""C:\Program Files\a & b\g.exe" "50%" '^!' """#,
                &[r"C:\Program Files\a & b\g.exe", "50%", "^!", ""],
            ),
            (r#""$HOOK_PROJECT_DIR/.hooks/g.py" x"#, &[r"C:\a project/.hooks/g.py", "x"]),
            (r"${HOOK_PROJECT_DIR}\g.exe", &[r"C:\a project\g.exe"]),
            (r#"$CLAUDE_PROJECT_DIR/g" b".exe"#, &[r"C:\a project/g b.exe"]),
            ("'$HOOK_PROJECT_DIR'", &["$HOOK_PROJECT_DIR"]),
            ("grüße.exe 日本", &["grüße.exe", "日本"]),
            ("\t g.exe \r\n", &["g.exe"]),
        ] {
            assert_eq!(
                windows_words(command, project).as_deref(),
                Some(expected_words(expected).as_slice()),
                "{command}"
            );
        }
    }

    fn expected_words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_a_shell_would_read_otherwise_is_left_to_it() {
        for command in [
            "",
            "  ",
            "a | b",
            "a; b",
            "a && b",
            "a > b",
            "a < b",
            "a %b%",
            "a ^b",
            "a !b!",
            "a *.txt",
            "a ~",
            "a (b)",
            "a @b",
            "a `b",
            "a $x",
            "a $env:x",
            "a \"$x\"",
            "a \"$(b)\"",
            "a \"`b\"",
            "a 'b",
            "a \"b",
            "a\nb",
            "a \"b\nc\"",
            "a {b}",
            "& a",
            "a #b",
            "$HOOK_PROJECT_DIRECTORY",
            "${HOOK_PROJECT_DIR",
            "$HOOK_PROJECT_DIR:x",
        ] {
            assert_eq!(windows_words(command, "C:\\p"), None, "{command}");
        }
    }
}
