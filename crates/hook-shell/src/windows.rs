//! Commands on Windows that need no shell.

use std::ops::Range;

use crate::PROJECT_DIRECTORY;
use crate::programs::{interpreter, options_before_script};

/// Returns the words of a command that means the same to every shell of Windows, and so needs none:
/// a program and its arguments, each with its range in the text.
///
/// Words are separated by blanks. A word may be quoted, `"…"` or `'…'`, wholly or in part; quotes
/// themselves cannot be in it. A backslash is one. Of variables, those with the project's directory
/// are replaced (`$HOOK_PROJECT_DIR`, `${HOOK_PROJECT_DIR}`), but for those in single quotes.
///
/// `None` for everything else: operators, other variables, patterns, several lines, open quotes.
pub fn windows_words(command: &str, project: &str) -> Option<Vec<(String, Range<usize>)>> {
    let mut words = Vec::new();
    let trimmed = command.trim_end_matches([' ', '\t', '\r', '\n']);
    let mut rest = trimmed.trim_start_matches([' ', '\t', '\r', '\n']);
    while !rest.is_empty() {
        let (word, behind) = word(rest, project)?;
        words.push((word, trimmed.len() - rest.len()..trimmed.len() - behind.len()));
        rest = behind.trim_start_matches([' ', '\t']);
    }
    (!words.is_empty()).then_some(words)
}

/// Quotes a path so that [`windows_words`] reads it as one word. A text with both quotes and one of
/// the shell's characters is left to the shell, which does not find it.
pub fn windows_quote(path: &str) -> String {
    let quote = if path.contains('\'') { '"' } else { '\'' };
    format!("{quote}{path}{quote}")
}

/// Returns the name by which tables know a program, which has any case and may end in `.exe`.
pub fn windows_program(name: &str) -> String {
    let name = name.to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// Returns the index of the script that an interpreter is given, if its options are harmless; `None`
/// for any other program. The interpreter's name is that of [`windows_program`].
pub fn windows_script(name: &str, arguments: &[&str]) -> Option<usize> {
    match name {
        "pwsh" | "powershell" => script_of_powershell(arguments),
        // Python's launcher.
        "py" => arguments.first().filter(|script| !script.starts_with('-')).map(|_| 0),
        _ => interpreter(name).and_then(|_| options_before_script(name, arguments)),
    }
}

/// Returns the index of the script behind PowerShell's `-File`, if all options before it are known.
fn script_of_powershell(arguments: &[&str]) -> Option<usize> {
    let mut index = 0;
    loop {
        let option = arguments.get(index)?.to_lowercase();
        index += match option.as_str() {
            "-nologo" | "-noprofile" | "-noninteractive" => 1,
            "-executionpolicy" => 2,
            "-file" => return arguments.get(index + 1).map(|_| index + 1),
            _ => return None,
        };
    }
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
    use super::{windows_program, windows_quote, windows_script, windows_words};

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
            let words = windows_words(command, project).unwrap();
            let texts: Vec<&str> = words.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(texts, expected, "{command}");
            for (text, range) in words {
                let alone = windows_words(&command[range], project).unwrap();
                assert_eq!(alone, [(text, 0..alone[0].1.end)], "{command}");
            }
        }
    }

    #[test]
    fn a_quoted_path_is_one_word() {
        for path in [r"C:\a b\c.exe", r"C:\it's\c", r"C:\$HOOK_PROJECT_DIR\x", "C:\\a`b", "a&b%c"] {
            let words = windows_words(&windows_quote(path), "").unwrap();
            assert_eq!(words, [(path.to_owned(), 0..path.len() + 2)], "{path}");
        }
    }

    #[test]
    fn a_script_is_found_behind_harmless_options() {
        for (command, expected) in [
            (&["python", "g.py"][..], Some(0)),
            (&["Python.EXE", "-u", "g.py"], Some(1)),
            (&["python3", "-c", "x"], None),
            (&["py", "g.py"], Some(0)),
            (&["py", "-3", "g.py"], None),
            (
                &["powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", "g.ps1", "x"],
                Some(4),
            ),
            (&["PWSH.exe", "-FILE", "g.ps1"], Some(1)),
            (&["pwsh", "-Command", "g.ps1"], None),
            (&["pwsh", "-WorkingDirectory", "x", "-File", "g.ps1"], None),
            (&["pwsh", "g.ps1"], None),
            (&["pwsh", "-File"], None),
            (&["cmd", "/c", "g.cmd"], None),
            (&["node", "g.mjs"], Some(0)),
        ] {
            let name = windows_program(command[0]);
            assert_eq!(windows_script(&name, &command[1..]), expected, "{command:?}");
        }
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
