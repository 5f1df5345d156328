//! Splits a command's text into words and operators, as bash does.

use super::lexer::{BLANKS, Lexer, Meaning, Step, is_end_of_word};

/// One character of a word, with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) character: char,
    pub(super) meaning: Meaning,
    /// The index of the character's stretch. Each quotation is one, and so is the text between two
    /// of them. A variable's name ends with the stretch of its `$`.
    pub(super) segment: usize,
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
    offset: usize,
}

impl<'c> Words<'c> {
    pub(super) fn new(command: &'c str) -> Self {
        let trimmed = command.trim_start_matches([' ', '\t', '\n']);
        Self { lexer: Lexer::new(trimmed), offset: command.len() - trimmed.len() }
    }

    /// Skips separators of words.
    pub(super) fn skip_blanks(&mut self) {
        while self.lexer.take_line_continuation()
            || self.lexer.next_if(|character| BLANKS.contains(&character)).is_some()
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
    pub(super) fn next_operator(&mut self) -> Option<Operator> {
        const OPERATORS: [(&str, Operator); 22] = [
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
        let (length, operator) = match OPERATORS.iter().find(|(token, _)| rest.starts_with(token)) {
            Some((token, operator)) if !rest[token.len()..].starts_with("\\\n") => {
                (token.chars().count(), *operator)
            }
            _ => (first.len_utf8().min(1), Operator::Other),
        };
        for _ in 0..length {
            self.lexer.next_if(|_| true);
        }
        Some(operator)
    }

    /// Returns the number of bytes read of the command.
    pub(super) fn position(&self) -> usize {
        self.offset + self.lexer.position()
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
        let (mut is_quoted, mut segment) = (false, 0);
        while let Some(character) = self.lexer.peek() {
            let is_unquoted = self.lexer.is_top_level();
            if is_unquoted && BLANKS.contains(&character) && word.is_empty() && !is_quoted {
                self.lexer.next_if(|_| true);
                continue;
            }
            if is_unquoted && is_end_of_word(character) {
                break;
            }
            self.adjust_before_quote(&mut word, character, segment);
            match self.lexer.step()? {
                Step::Opened => {
                    is_quoted = true;
                    segment += 1;
                }
                Step::Closed => segment += 1,
                Step::LineContinuation => {}
                Step::Character(character, meant) => {
                    word.push(Piece { character, meaning: meant, segment })
                }
            }
        }
        (is_quoted || !word.is_empty()).then_some(word)
    }
}

impl Words<'_> {
    /// Adjusts the meaning of the character before a quote or backslash that comes next.
    fn adjust_before_quote(&self, word: &mut [Piece], next: char, segment: usize) {
        if !"'\"\\".contains(next) {
            return;
        }
        let is_at_line_end = self.lexer.rest().chars().nth(1) == Some('\n');
        if !is_at_line_end
            && let [only @ Piece { character: '~', meaning: Meaning::Unquoted, .. }] = word
        {
            // Next to a quotation, a tilde is literal.
            only.meaning = Meaning::Literal;
        }
        if next != '\\'
            && self.lexer.is_top_level()
            && let Some(last @ Piece { character: '$', meaning: Meaning::Unquoted, .. }) =
                word.last_mut()
            && last.segment == segment
        {
            last.meaning = Meaning::QuotationStart;
        }
    }
}

/// Returns `true` if a word before a command is an assignment.
pub(super) fn is_assignment(word: &[Piece]) -> bool {
    let end =
        word.iter().position(|piece| piece.character == '=' && piece.meaning == Meaning::Unquoted);
    let Some((name, _)) = end.and_then(|end| word.split_at_checked(end)) else { return false };
    let name = match name.split_last() {
        Some((Piece { character: '+', meaning: Meaning::Unquoted, .. }, name)) => name,
        _ => name,
    };
    let (length, plain) = name.iter().fold((0, true), |(length, plain), piece| {
        let is_valid = piece.meaning == Meaning::Unquoted
            && (piece.character.is_ascii_alphabetic()
                || piece.character == '_'
                || (length > 0 && piece.character.is_ascii_digit()));
        (length + 1, plain && is_valid)
    });
    plain && length > 0
}

/// Returns the name of a variable after its `$`, and the rest of the word.
pub(super) fn variable_name(word: &[Piece], segment: usize) -> Option<(String, &[Piece])> {
    let is_in_segment =
        |piece: &Piece| piece.segment == segment && piece.meaning != Meaning::Literal;
    let in_name = |piece: &&Piece| {
        is_in_segment(piece) && (piece.character.is_ascii_alphanumeric() || piece.character == '_')
    };
    let is_braced =
        word.first().is_some_and(|piece| is_in_segment(piece) && piece.character == '{');
    let begin = word.get(usize::from(is_braced)..)?;
    let name: String = begin.iter().take_while(in_name).map(|piece| piece.character).collect();
    let after = begin.get(name.len()..)?;
    match is_braced {
        _ if name.is_empty() || name.starts_with(|character: char| character.is_ascii_digit()) => {
            None
        }
        false => Some((name, after)),
        true => match after.split_first()? {
            (piece, after) if is_in_segment(piece) && piece.character == '}' => Some((name, after)),
            _ => None,
        },
    }
}
