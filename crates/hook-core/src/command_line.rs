//! What a shell command's text says of what it will start, without running anything.

/// Variables that hold the project directory; all but the first for scripts written elsewhere.
pub(crate) const PROJECT_DIRECTORY: [&str; 4] =
    ["HOOK_PROJECT_DIR", "LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// What bash would not look for as a program: `compgen -b -k`, as far as it is made of plain
/// characters.
const SHELL_WORDS: [&str; 77] = [
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
];

/// Whether bash itself knows what to do with this word, if a command begins with it.
pub(crate) fn is_shell_word(word: &str) -> bool {
    SHELL_WORDS.contains(&word) || matches!(word, "[" | "[[" | "{" | "}" | "!")
}

/// The words of a command that is plain, or nothing.
pub(crate) fn plain_words(command: &str) -> Option<Vec<String>> {
    let words: Vec<String> = command
        .trim_matches([' ', '\t', '\n'])
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let first = words.first()?;
    let plain = words.iter().flat_map(|word| word.bytes()).all(is_plain);
    let program = !first.contains('=') && !first.starts_with('%') && !is_shell_word(first);
    (plain && program).then_some(words)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_@%+:,./=-".contains(&byte)
}

/// One character of a word, and how it is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    character: char,
    meant: Meant,
}

/// What the shell takes a character for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    /// For whatever it can mean.
    Freely,
    /// For itself, unless it expands to something.
    InQuotes,
    /// For itself.
    Literally,
}

/// The words of a shell text's first command, up to the first operator or line's end.
struct Words<'c> {
    characters: std::iter::Peekable<std::str::Chars<'c>>,
}

impl<'c> Words<'c> {
    fn of(command: &'c str) -> Self {
        Self { characters: command.trim_start().chars().peekable() }
    }
}

impl Iterator for Words<'_> {
    type Item = Vec<Piece>;

    fn next(&mut self) -> Option<Vec<Piece>> {
        while self.characters.next_if(|it| it.is_whitespace() && *it != '\n').is_some() {}
        let mut word = Vec::new();
        let (mut quote, mut quoted) = (None, false);
        while let Some(character) = self.characters.peek().copied() {
            let ends = character.is_whitespace() || ";|&<>()".contains(character);
            if quote.is_none() && ends {
                break;
            }
            self.characters.next();
            let meant = match (quote, character) {
                (None, '\'' | '"') => {
                    (quote, quoted) = (Some(character), true);
                    continue;
                }
                (Some(open), _) if open == character => {
                    quote = None;
                    continue;
                }
                (None | Some('"'), '\\') => {
                    let escaped = self.characters.next();
                    word.extend(escaped.map(|it| Piece { character: it, meant: Meant::Literally }));
                    continue;
                }
                (None, _) => Meant::Freely,
                (Some('"'), _) => Meant::InQuotes,
                (Some(_), _) => Meant::Literally,
            };
            word.push(Piece { character, meant });
        }
        (quoted || !word.is_empty()).then_some(word)
    }
}

/// The first word of a shell command, without its quotes; nothing in it is expanded.
pub(crate) fn first_word(command: &str) -> Option<String> {
    let word: String = Words::of(command).next()?.iter().map(|piece| piece.character).collect();
    (!word.is_empty()).then_some(word)
}

/// What of a path stands behind a variable that holds the project directory.
pub(crate) fn in_project_directory(word: &str) -> Option<&str> {
    PROJECT_DIRECTORY.iter().find_map(|name| {
        let rest = word.strip_prefix('$')?;
        let braced =
            rest.strip_prefix('{').and_then(|rest| rest.strip_prefix(name)?.strip_prefix('}'));
        braced.or_else(|| rest.strip_prefix(name))?.strip_prefix('/')
    })
}

/// The words of a command's first simple command as the shell would expand them, without
/// assignments before them; `None` for a word that only running it can tell.
pub(crate) fn expanded_words(
    command: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<Option<String>> {
    let words = Words::of(command).skip_while(|word| is_assignment(word));
    words.map(|word| expand(&word, &variable)).collect()
}

fn is_assignment(word: &[Piece]) -> bool {
    let name = word.iter().take_while(|piece| piece.character != '=');
    let (length, plain) = name.fold((0, true), |(length, plain), piece| {
        let fits = piece.meant == Meant::Freely
            && (piece.character.is_ascii_alphabetic()
                || piece.character == '_'
                || (length > 0 && piece.character.is_ascii_digit()));
        (length + 1, plain && fits)
    });
    plain && length > 0 && length < word.len()
}

fn expand(word: &[Piece], variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    let mut rest = word;
    while let Some((piece, after)) = rest.split_first() {
        rest = after;
        match (piece.meant, piece.character) {
            (Meant::Literally, character) => text.push(character),
            (_, '$') => {
                let (name, after) = variable_name(rest)?;
                text.push_str(&variable(&name)?);
                rest = after;
            }
            (_, '`') => return None,
            (Meant::Freely, '~') if text.is_empty() => match rest.first() {
                None | Some(Piece { character: '/', .. }) => text.push_str(&variable("HOME")?),
                Some(_) => return None,
            },
            (Meant::Freely, '*' | '?' | '[' | '{' | '!') if word.len() > 1 => return None,
            (Meant::Freely, '#') if text.is_empty() => return None,
            (_, character) => text.push(character),
        }
    }
    Some(text)
}

/// The name of a variable, as it stands behind its `$`, and what comes after it.
fn variable_name(word: &[Piece]) -> Option<(String, &[Piece])> {
    let in_name =
        |piece: &&Piece| piece.character.is_ascii_alphanumeric() || piece.character == '_';
    let braced = word.first().is_some_and(|piece| piece.character == '{');
    let begin = word.get(usize::from(braced)..)?;
    let name: String = begin.iter().take_while(in_name).map(|piece| piece.character).collect();
    let after = begin.get(name.len()..)?;
    match braced {
        _ if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) => None,
        false => Some((name, after)),
        true => match after.split_first()? {
            (Piece { character: '}', .. }, after) => Some((name, after)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expanded(command: &str) -> Vec<Option<String>> {
        expanded_words(command, |name| (name == "HOME").then(|| "/home/a b".to_owned()))
    }

    #[test]
    fn words_are_what_the_shell_would_make_of_them() {
        for (command, expected) in [
            ("./guard.sh --strict; other", vec![Some("./guard.sh"), Some("--strict")]),
            ("  'a b'/c\\ d|cat", vec![Some("a b/c d")]),
            ("A=1 B='x y' guard", vec![Some("guard")]),
            ("A=1", vec![]),
            (
                "\"$HOME\"/x ${HOME}y ~/z ~",
                vec![
                    Some("/home/a b/x"),
                    Some("/home/a by"),
                    Some("/home/a b/z"),
                    Some("/home/a b"),
                ],
            ),
            ("'$HOME' \"~\" \\$HOME", vec![Some("$HOME"), Some("~"), Some("$HOME")]),
            ("$OTHER/x *.sh $(date) `x`", vec![None, None, None]),
            ("\"$(date)\" ${HOME:-x} ~root", vec![None, None, None]),
            ("a\nb", vec![Some("a")]),
            ("'' a", vec![Some(""), Some("a")]),
            ("(a)", vec![]),
            ("[ -f x ]", vec![Some("["), Some("-f"), Some("x"), Some("]")]),
        ] {
            let expected: Vec<Option<String>> =
                expected.into_iter().map(|word| word.map(str::to_owned)).collect();
            assert_eq!(expanded(command), expected, "{command}");
        }
    }

    #[test]
    fn the_project_directory_is_known_by_each_of_its_names() {
        for name in PROJECT_DIRECTORY {
            assert_eq!(in_project_directory(&format!("${name}/a/b")), Some("a/b"));
            assert_eq!(in_project_directory(&format!("${{{name}}}/a")), Some("a"));
            assert_eq!(in_project_directory(&format!("${name}S/a")), None);
            assert_eq!(in_project_directory(&format!("{name}/a")), None);
        }
    }

    proptest! {
        #[test]
        fn any_command_is_taken_apart_without_panic(command in "\\PC{0,40}|[a$ {}\"'\\\\;~=/\n]{0,40}") {
            let _ = (first_word(&command), expanded(&command), plain_words(&command));
        }
    }
}
