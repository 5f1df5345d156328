//! The lexer: what the characters of a shell's text mean, by its quotes, escapes and lines that go
//! on. Whatever here reads such a text reads it through this one.

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

/// What is open: a quotation, or something else in which quotes nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// `'…'`
    SingleQuotes,
    /// `"…"`
    DoubleQuotes,
    /// `$'…'`
    AnsiQuotes,
    /// A substitution or an expansion, with the character that ends it: `$(…)`, `${…}`.
    Nested(char),
}

impl Open {
    fn end(self) -> char {
        match self {
            Self::SingleQuotes | Self::AnsiQuotes => '\'',
            Self::DoubleQuotes => '"',
            Self::Nested(end) => end,
        }
    }
}

/// What the lexer has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// One character, with its escape if it has one.
    Character(char, Meant),
    /// The quote that begins a quotation.
    Opened,
    /// The end of what was opened last.
    Closed,
    /// A backslash at the end of a line: the shell reads as if both were not there.
    LineContinuation,
}

/// What separates the words of bash; other white space does not.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// Whether a word ends before a character that is meant freely.
pub(super) fn is_end_of_word(character: char) -> bool {
    BLANKS.contains(&character) || "\n;|&<>()".contains(character)
}

/// Reads a text from its beginning to its end.
///
/// It opens quotations by itself. Substitutions are opened by those who want to pass over them:
/// to others, what is in them is text like any other.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open>,
    /// Whether a word may begin here.
    at_word: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, at: 0, open: Vec::new(), at_word: true }
    }

    /// How many bytes are read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The character that comes.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// What was opened last and is not closed.
    pub(super) fn innermost(&self) -> Option<Open> {
        self.open.last().copied()
    }

    /// Whether nothing is open.
    pub(super) fn is_at_top(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a comment begins here.
    pub(super) fn is_at_comment(&self) -> bool {
        let is_free = matches!(self.innermost(), None | Some(Open::Nested(_)));
        is_free && self.at_word && self.peek() == Some('#')
    }

    /// Passes what comes, as text that is looked at no further.
    pub(super) fn pass(&mut self, text: &str) {
        self.at = (self.at + text.len()).min(self.text.len());
        self.at_word = false;
    }

    /// Passes what comes, which opens something.
    pub(super) fn open(&mut self, begin: &str, what: Open) {
        self.pass(begin);
        self.at_word = begin.ends_with('(');
        self.open.push(what);
    }

    /// Passes one character that is meant freely, if it is a wanted one.
    pub(super) fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let taken = self.peek().filter(|character| wanted(*character))?;
        self.at += taken.len_utf8();
        self.at_word = is_end_of_word(taken);
        Some(taken)
    }

    /// Passes one line continuation, if it comes; only where no quotation is open.
    pub(super) fn take_line_continuation(&mut self) -> bool {
        let comes = self.rest().starts_with("\\\n");
        if comes {
            self.at += "\\\n".len();
        }
        comes
    }

    /// Passes what comes up to the end of its line.
    pub(super) fn skip_line(&mut self) {
        let rest = self.rest();
        self.pass(rest.split('\n').next().unwrap_or(rest));
    }

    /// Passes the next character; `None` at the end of the text.
    pub(super) fn step(&mut self) -> Option<Step> {
        let was_at_word = self.at_word;
        let character = self.take(|_| true)?;
        let innermost = self.innermost();
        let step = match (innermost, character) {
            (Some(open), _) if open.end() == character => {
                self.open.pop();
                Step::Closed
            }
            (Some(Open::SingleQuotes), _) => Step::Character(character, Meant::Literally),
            (_, '\\') => self.escape(innermost),
            (Some(Open::DoubleQuotes), _) => Step::Character(character, Meant::InQuotes),
            (Some(Open::AnsiQuotes), _) => Step::Character(character, Meant::Literally),
            (None | Some(Open::Nested(_)), '\'') => self.opened(Open::SingleQuotes),
            (None | Some(Open::Nested(_)), '"') => self.opened(Open::DoubleQuotes),
            (None | Some(Open::Nested(_)), _) => Step::Character(character, Meant::Freely),
        };
        self.at_word = match step {
            Step::Character(character, Meant::Freely) => is_end_of_word(character),
            Step::LineContinuation => was_at_word,
            _ => false,
        };
        Some(step)
    }

    fn opened(&mut self, what: Open) -> Step {
        self.open.push(what);
        Step::Opened
    }

    /// What a backslash makes of what comes.
    fn escape(&mut self, innermost: Option<Open>) -> Step {
        let escaped = match innermost {
            Some(Open::AnsiQuotes) => self.take(|_| true),
            _ if self.take(|it| it == '\n').is_some() => return Step::LineContinuation,
            Some(Open::DoubleQuotes) => self.take(|it| "$`\"\\".contains(it)),
            _ => self.take(|_| true),
        };
        Step::Character(escaped.unwrap_or('\\'), Meant::Literally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn comments(text: &str) -> Vec<&str> {
        let mut lexer = Lexer::of(text);
        let mut comments = Vec::new();
        loop {
            if lexer.is_at_comment() {
                let begin = lexer.position();
                lexer.skip_line();
                comments.push(&text[begin..lexer.position()]);
            }
            if lexer.step().is_none() {
                return comments;
            }
        }
    }

    #[test]
    fn comments_begin_where_words_do() {
        for (text, expected) in [
            ("# a\nb # c", vec!["# a", "# c"]),
            ("a#b '# c' \"# d\" \\# e", vec![]),
            ("a;#b\n(#c\n", vec!["#b", "#c"]),
            ("a \\\n# b", vec!["# b"]),
            ("a\\\n# b", vec![]),
            ("a\\ # b", vec![]),
            ("a\r# b", vec![]),
            ("''# b", vec![]),
        ] {
            assert_eq!(comments(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "(\\PC|[ab'\"\\\\$({#\n]){0,40}") {
            let mut lexer = Lexer::of(&text);
            let mut before = 0;
            while lexer.step().is_some() {
                prop_assert!(lexer.position() > before && text.is_char_boundary(lexer.position()));
                before = lexer.position();
            }
            prop_assert_eq!(before, text.len());
        }
    }
}
