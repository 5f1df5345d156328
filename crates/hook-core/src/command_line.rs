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

/// The variable that a command's first word begins with, without assignments before it: `X` of
/// `$X/guard.sh` and of `"${X}"/guard.sh`. `None` for one that has a default, as `${X:-y}` has.
pub(crate) fn leading_variable(command: &str) -> Option<String> {
    let words: Vec<Vec<Piece>> = Words::of(command).collect();
    let at = words.iter().position(|word| !is_assignment(word))?;
    let (dollar, rest) = words.get(at)?.split_first()?;
    if dollar.character != '$' || dollar.meant == Meant::Literally {
        return None;
    }
    let (name, _) = variable_name(rest, dollar.stretch)?;
    // It may be one of those that the command assigns itself.
    let assigned = |word: &Vec<Piece>| {
        let written: String = word.iter().map(|piece| piece.character).collect();
        written.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['=', '+']))
    };
    (!words.iter().take(at).any(assigned)).then_some(name)
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
mod tests;
