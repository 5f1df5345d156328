//! Splits a command's text into words and operators, as bash does.

use super::lexer::{BLANKS, Lexer, Meant, Step, is_end_of_word};

/// One character of a word, with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) character: char,
    pub(super) meant: Meant,
    /// The index of the character's stretch. Each quotation is one, and so is the text between two
    /// of them. A variable's name ends with the stretch of its `$`.
    pub(super) stretch: usize,
}

/// An operator between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// The end of a simple command: `;`, `&&`, `||`, `|`, a line end.
    End,
    /// A duplication, whose next word is a descriptor: `>&2`, `<&-`.
    Duplicate,
    /// A redirection, whose next word is a file: `<`, `>`, `>>`, `&>`.
    Redirect,
    /// Anything else: `&`, `(`, `<<`, `<(`, `;;`.
    Other,
}

/// The words of a shell text's first command, up to the first operator or line end.
pub(super) struct Words<'c> {
    lexer: Lexer<'c>,
    /// The number of bytes before the lexer's text.
    before: usize,
}

impl<'c> Words<'c> {
    pub(super) fn of(command: &'c str) -> Self {
        let begin = command.trim_start_matches([' ', '\t', '\n']);
        Self { lexer: Lexer::of(begin), before: command.len() - begin.len() }
    }

    /// Skips separators of words.
    pub(super) fn skip_blanks(&mut self) {
        while self.lexer.take_line_continuation()
            || self.lexer.take(|it| BLANKS.contains(&it)).is_some()
        {}
    }

    /// Skips the rest of the line, such as a comment.
    pub(super) fn skip_line(&mut self) {
        self.lexer.skip_line();
    }

    /// Returns `true` if a comment begins here.
    pub(super) fn is_at_comment(&self) -> bool {
        self.lexer.is_at_comment()
    }

    /// Takes the operator that comes instead of a word; `None` at the end of the text.
    pub(super) fn operator(&mut self) -> Option<Operator> {
        const SIGNS: [(&str, Operator); 22] = [
            ("<<<", Operator::Other),
            ("&>>", Operator::Redirect),
            (";;&", Operator::Other),
            ("<<", Operator::Other),
            ("<(", Operator::Other),
            (">(", Operator::Other),
            ("<>", Operator::Other),
            ("<&", Operator::Duplicate),
            (">&", Operator::Duplicate),
            (">>", Operator::Redirect),
            (">|", Operator::Redirect),
            ("&>", Operator::Redirect),
            ("&&", Operator::End),
            ("||", Operator::End),
            ("|&", Operator::End),
            (";;", Operator::Other),
            (";&", Operator::Other),
            (";", Operator::End),
            ("|", Operator::End),
            ("\n", Operator::End),
            ("<", Operator::Redirect),
            (">", Operator::Redirect),
        ];
        let rest = self.lexer.rest();
        let first = rest.chars().next()?;
        // A line continuation may split an operator.
        let (length, operator) = match SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some((sign, operator)) if !rest[sign.len()..].starts_with("\\\n") => {
                (sign.chars().count(), *operator)
            }
            _ => (first.len_utf8().min(1), Operator::Other),
        };
        for _ in 0..length {
            self.lexer.take(|_| true);
        }
        Some(operator)
    }

    /// Returns the number of bytes read of the command.
    pub(super) fn position(&self) -> usize {
        self.before + self.lexer.position()
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.lexer.peek()
    }

    /// Returns the unread text.
    pub(super) fn rest(&self) -> &'c str {
        self.lexer.rest()
    }
}

impl Iterator for Words<'_> {
    type Item = Vec<Piece>;

    fn next(&mut self) -> Option<Vec<Piece>> {
        let mut word = Vec::new();
        let (mut is_quoted, mut stretch) = (false, 0);
        while let Some(character) = self.lexer.peek() {
            let is_free = self.lexer.is_at_top();
            if is_free && BLANKS.contains(&character) && word.is_empty() && !is_quoted {
                self.lexer.take(|_| true);
                continue;
            }
            if is_free && is_end_of_word(character) {
                break;
            }
            self.mark_before_quote(&mut word, character, stretch);
            match self.lexer.step()? {
                Step::Opened => {
                    is_quoted = true;
                    stretch += 1;
                }
                Step::Closed => stretch += 1,
                Step::LineContinuation => {}
                Step::Character(character, meant) => word.push(Piece { character, meant, stretch }),
            }
        }
        (is_quoted || !word.is_empty()).then_some(word)
    }
}

impl Words<'_> {
    /// Adjusts the meaning of the character before a quote or backslash that comes next.
    fn mark_before_quote(&self, word: &mut [Piece], comes: char, stretch: usize) {
        if !"'\"\\".contains(comes) {
            return;
        }
        let is_at_line_end = self.lexer.rest().chars().nth(1) == Some('\n');
        if !is_at_line_end && let [only @ Piece { character: '~', meant: Meant::Freely, .. }] = word
        {
            // Next to a quotation, a tilde is literal.
            only.meant = Meant::Literally;
        }
        if comes != '\\'
            && self.lexer.is_at_top()
            && let Some(last @ Piece { character: '$', meant: Meant::Freely, .. }) = word.last_mut()
            && last.stretch == stretch
        {
            last.meant = Meant::OpensQuotation;
        }
    }
}

/// Returns `true` if a word before a command is an assignment.
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

/// Returns the name of a variable after its `$`, and the rest of the word.
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
