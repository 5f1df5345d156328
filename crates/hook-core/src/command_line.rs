//! What a shell command's text says of what it will start, without running anything.

/// Variables that hold the project directory; all but the first for scripts written elsewhere.
pub(crate) const PROJECT_DIRECTORY: [&str; 4] =
    ["HOOK_PROJECT_DIR", "LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// Programs that run the script which is their first argument.
const INTERPRETERS: [&str; 12] =
    ["bash", "bun", "dash", "node", "perl", "php", "python", "python3", "ruby", "sh", "tsx", "zsh"];

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

/// The name of the interpreter that a word starts, if it is one that runs the script which is its
/// first argument.
pub(crate) fn interpreter(word: &str) -> Option<&str> {
    let name = word.rsplit('/').next()?;
    INTERPRETERS.contains(&name).then_some(name)
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
    /// Which of the word's stretches it belongs to: each quotation is one, and what stands between
    /// two of them. A variable's name does not go beyond the stretch of its `$`.
    stretch: usize,
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

/// What parts the words of bash; other white space does not.
const BLANKS: [char; 2] = [' ', '\t'];

/// The words of a shell text's first command, up to the first operator or line's end.
struct Words<'c> {
    characters: std::iter::Peekable<std::str::Chars<'c>>,
}

impl<'c> Words<'c> {
    fn of(command: &'c str) -> Self {
        let command = command.trim_start_matches([' ', '\t', '\n']);
        Self { characters: command.chars().peekable() }
    }
}

impl Iterator for Words<'_> {
    type Item = Vec<Piece>;

    fn next(&mut self) -> Option<Vec<Piece>> {
        let mut word = Vec::new();
        let (mut quote, mut quoted, mut stretch) = (None, false, 0);
        while let Some(character) = self.characters.peek().copied() {
            if quote.is_none() && BLANKS.contains(&character) && word.is_empty() && !quoted {
                self.characters.next();
                continue;
            }
            if quote.is_none() && is_end_of_word(character) {
                break;
            }
            self.characters.next();
            if "'\"\\".contains(character)
                && self.characters.peek() != Some(&'\n')
                && let [only @ Piece { character: '~', meant: Meant::Freely, .. }] = &mut word[..]
            {
                // Beside a quotation it is nobody's home.
                only.meant = Meant::Literally;
            }
            let (character, meant) = match (quote, character) {
                (None, '\'' | '"') => {
                    (quote, quoted) = (Some(character), true);
                    stretch += 1;
                    continue;
                }
                (Some(open), _) if open == character => {
                    quote = None;
                    stretch += 1;
                    continue;
                }
                (None | Some('"'), '\\') => match (quote, self.characters.peek().copied()) {
                    (_, Some('\n')) => {
                        self.characters.next();
                        continue;
                    }
                    (None, Some(escaped)) | (_, Some(escaped @ ('$' | '`' | '"' | '\\'))) => {
                        self.characters.next();
                        (escaped, Meant::Literally)
                    }
                    _ => ('\\', Meant::Literally),
                },
                (None, _) => (character, Meant::Freely),
                (Some('"'), _) => (character, Meant::InQuotes),
                (Some(_), _) => (character, Meant::Literally),
            };
            word.push(Piece { character, meant, stretch });
        }
        (quoted || !word.is_empty()).then_some(word)
    }
}

fn is_end_of_word(character: char) -> bool {
    BLANKS.contains(&character) || "\n;|&<>()".contains(character)
}

/// What any word of a command may mean as the name of a file, to the shell or to a program that it
/// is given to, in order: words, what is behind the `=` of an option, and the same within a word
/// that is a command itself. Not the program that the command begins with.
pub(crate) fn possible_names(
    command: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut names = Vec::new();
    let mut words = Words::of(command);
    let mut at_begin = true;
    loop {
        for word in words.by_ref() {
            if at_begin && is_assignment(&word) {
                continue;
            }
            let written: String = word.iter().map(|piece| piece.character).collect();
            for text in [expand(&word, &variable), Some(written)].into_iter().flatten() {
                // A program without a path is looked for elsewhere.
                if !at_begin || text.contains('/') {
                    names.push(text.clone());
                }
                let parts = |it: char| it.is_whitespace() || "=;|&<>()'\"".contains(it);
                if text.contains(parts) {
                    names.extend(text.split(parts).map(str::to_owned));
                }
            }
            at_begin = false;
        }
        // The operator, or the line's end.
        if words.characters.next().is_none() {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
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
    let end = word.iter().position(|piece| piece.character == '=' && piece.meant == Meant::Freely);
    let Some((name, _)) = end.and_then(|end| word.split_at_checked(end)) else { return false };
    let name = match name.split_last() {
        Some((Piece { character: '+', meant: Meant::Freely, .. }, name)) => name,
        _ => name,
    };
    let (length, plain) = name.iter().fold((0, true), |(length, plain), piece| {
        let fits = piece.meant == Meant::Freely
            && (piece.character.is_ascii_alphabetic()
                || piece.character == '_'
                || (length > 0 && piece.character.is_ascii_digit()));
        (length + 1, plain && fits)
    });
    plain && length > 0
}

fn expand(word: &[Piece], variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    let mut rest = word;
    while let Some((piece, after)) = rest.split_first() {
        rest = after;
        match (piece.meant, piece.character) {
            (Meant::Literally, character) => text.push(character),
            (_, '$') => {
                let (name, after) = variable_name(rest, piece.stretch)?;
                text.push_str(&variable(&name)?);
                rest = after;
            }
            (_, '`') => return None,
            (Meant::Freely, '~') if rest.len() + 1 == word.len() && piece.stretch == 0 => {
                match rest.first() {
                    None | Some(Piece { character: '/', .. }) => text.push_str(&variable("HOME")?),
                    Some(_) => return None,
                }
            }
            // In what looks like an assignment.
            (Meant::Freely, '~') if text.ends_with(['=', ':']) => return None,
            (Meant::Freely, '*' | '?' | '[' | '{' | '!') if word.len() > 1 => return None,
            (Meant::Freely, '#') if text.is_empty() => return None,
            (_, character) => text.push(character),
        }
    }
    Some(text)
}

/// The name of a variable, as it stands behind its `$`, and what comes after it.
fn variable_name(word: &[Piece], stretch: usize) -> Option<(String, &[Piece])> {
    let belongs = |piece: &Piece| piece.stretch == stretch && piece.meant != Meant::Literally;
    let in_name = |piece: &&Piece| {
        belongs(piece) && (piece.character.is_ascii_alphanumeric() || piece.character == '_')
    };
    let braced = word.first().is_some_and(|piece| belongs(piece) && piece.character == '{');
    let begin = word.get(usize::from(braced)..)?;
    let name: String = begin.iter().take_while(in_name).map(|piece| piece.character).collect();
    let after = begin.get(name.len()..)?;
    match braced {
        _ if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) => None,
        false => Some((name, after)),
        true => match after.split_first()? {
            (piece, after) if belongs(piece) && piece.character == '}' => Some((name, after)),
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
    fn escapes_and_lines_that_go_on_are_those_of_the_shell() {
        for (command, expected) in [
            ("\"a\\b\"", Some("a\\b")),
            ("\"a\\$b\\`\\\"\\\\\"", Some("a$b`\"\\")),
            ("./gu\\\nard.sh", Some("./guard.sh")),
            ("\"./gu\\\nard.sh\"", Some("./guard.sh")),
            ("\\\n ./guard.sh", Some("./guard.sh")),
            ("'a\\\nb'", Some("a\\\nb")),
            ("a\\", Some("a\\")),
            ("a\rb\u{a0}c d", Some("a\rb\u{a0}c")),
            ("A+=1 b", Some("b")),
            ("$HO\"ME\"", None),
            ("$'HOME'", None),
            ("$\"HOME\"", None),
            ("$''HOME", None),
            ("\"$\"\"HOME\"", None),
            ("\"$HOME\"b", Some("/home/a bb")),
            ("$HOME''b", Some("/home/a bb")),
            ("$\\HOME", None),
            ("$HO\\\nME", Some("/home/a b")),
        ] {
            let first = expanded(command).into_iter().next().flatten();
            assert_eq!(first.as_deref(), expected, "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_command_is_taken_apart_without_panic(command in "\\PC{0,40}|[a$ {}\"'\\\\;~=/\n]{0,40}") {
            let _ = (expanded(&command), plain_words(&command), possible_names(&command, |_| None));
        }

        /// What is said of a command's words is what bash makes of them.
        #[cfg(unix)]
        #[test]
        fn words_are_what_bash_makes_of_them(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "b", "/", "HOME", "$HOME", "${HOME}", "$", "\"", "\"", "'", "'", "\\", "\\", "\n",
                "\\\n", " ", "\t", "\r", "A=", "A+=1 ", "=", "\"$HOME\"", "~", "#", "\"\"", "''", "{",
                "}", "\u{a0}", "._-",
            ]), 0..10),
        ) {
            let text = pieces.concat();
            let words = expanded_words(&format!("say {text}"), |name| {
                (name == "HOME").then(|| "/h".to_owned())
            });
            // Of what bash says is used what belongs to the first command.
            let mut bash = std::process::Command::new("bash");
            let command = format!("say() {{ printf '%s\\0' $# \"$@\"; exit; }}\nsay {text}");
            let said = bash.args(["-c", &command]).env_clear().env("HOME", "/h").output().unwrap();
            prop_assume!(said.status.success() && said.stderr.is_empty());
            let said = String::from_utf8(said.stdout).unwrap();
            let said: Vec<&str> = said.split_terminator('\0').skip(1).collect();
            let known: Vec<&str> = words.iter().skip(1).map_while(Option::as_deref).collect();
            if known.len() + 1 == words.len() {
                prop_assert_eq!(known, said, "{:?}", text);
            } else {
                // A word that only bash can tell may be many.
                prop_assert!(said.starts_with(&known), "{:?}: {:?} {:?}", text, known, said);
            }
        }
    }
}
