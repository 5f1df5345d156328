//! Taking a command's text apart into words, as bash does: quotes, escapes, lines that go on.

/// One character of a word, and how it is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) character: char,
    pub(super) meant: Meant,
    /// Which of the word's stretches it belongs to: each quotation is one, and what stands between
    /// two of them. A variable's name does not go beyond the stretch of its `$`.
    pub(super) stretch: usize,
}

/// What the shell takes a character for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// For whatever it can mean.
    Freely,
    /// For itself, unless it expands to something.
    InQuotes,
    /// For itself.
    Literally,
    /// For the begin of a quotation whose text is not read here: `$'…'` and `$"…"`.
    OpensQuotation,
}

/// What stands between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// The next word is read: `<`, `<&`, `<>`, `<<<`.
    Input,
    /// The next word is written: `>`, `>>`, `>|`, `>&`, `&>`, `&>>`.
    Output,
    /// `<<`, `<<-`.
    HereDocument,
    /// `<(`, `>(`.
    ProcessSubstitution,
    /// `(`, `)`: a subshell, a function, an array, arithmetic.
    Parenthesis,
    /// A simple command ends here: `;`, `&&`, `|`, a line's end.
    End,
}

/// What separates the words of bash; other white space does not.
const BLANKS: [char; 2] = [' ', '\t'];

/// The words of a shell text's first command, up to the first operator or line's end.
pub(super) struct Words<'c> {
    characters: std::iter::Peekable<std::str::Chars<'c>>,
}

impl<'c> Words<'c> {
    pub(super) fn of(command: &'c str) -> Self {
        let command = command.trim_start_matches([' ', '\t', '\n']);
        Self { characters: command.chars().peekable() }
    }

    /// Skips what separates words.
    pub(super) fn skip_blanks(&mut self) {
        self.skip_line_continuations();
        while self.characters.next_if(|it| BLANKS.contains(it)).is_some() {
            self.skip_line_continuations();
        }
    }

    /// Skips each backslash at the end of a line: outside of quotes bash reads as if both were not
    /// there.
    fn skip_line_continuations(&mut self) {
        loop {
            let mut ahead = self.characters.clone();
            if (ahead.next(), ahead.next()) != (Some('\\'), Some('\n')) {
                return;
            }
            self.characters = ahead;
        }
    }

    /// Skips a comment, up to the line's end.
    pub(super) fn skip_line(&mut self) {
        while self.characters.next_if(|it| *it != '\n').is_some() {}
    }

    /// Takes the operator that comes where no word does; `None` at the end of the text.
    pub(super) fn operator(&mut self) -> Option<Operator> {
        Some(match self.characters.next()? {
            '<' => match self.take_any(&['(', '<', '&', '>']) {
                Some('(') => Operator::ProcessSubstitution,
                Some('<') => match self.take_any(&['<', '-']) {
                    Some('<') => Operator::Input,
                    _ => Operator::HereDocument,
                },
                _ => Operator::Input,
            },
            '>' => match self.take_any(&['(', '>', '|', '&']) {
                Some('(') => Operator::ProcessSubstitution,
                _ => Operator::Output,
            },
            '&' => match self.take_any(&['>', '&']) {
                Some('>') => {
                    self.take_any(&['>']);
                    Operator::Output
                }
                _ => Operator::End,
            },
            '(' | ')' => Operator::Parenthesis,
            _ => Operator::End,
        })
    }

    /// Takes the next character, if it is one of those.
    fn take_any(&mut self, characters: &[char]) -> Option<char> {
        self.skip_line_continuations();
        self.characters.next_if(|it| characters.contains(it))
    }

    /// The character that comes.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.characters.peek().copied()
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
                // Beside a quotation it stands for itself.
                only.meant = Meant::Literally;
            }
            if quote.is_none()
                && "'\"".contains(character)
                && let Some(last @ Piece { character: '$', meant: Meant::Freely, .. }) =
                    word.last_mut()
                && last.stretch == stretch
            {
                last.meant = Meant::OpensQuotation;
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

/// Whether a word sets a variable, if it stands before a command.
pub(super) fn is_assignment(word: &[Piece]) -> bool {
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

/// The name of a variable, as it stands behind its `$`, and what comes after it.
pub(super) fn variable_name(word: &[Piece], stretch: usize) -> Option<(String, &[Piece])> {
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
