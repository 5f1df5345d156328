//! The lexer: quotes, escapes and line continuations of shell text. Everything in this module reads
//! text through it.

/// The meaning of a character for the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Unquoted: any meaning.
    Unquoted,
    /// In double quotes: literal, unless it starts an expansion.
    DoubleQuoted,
    /// Literal.
    Literal,
    /// The start of a quotation whose text is not decoded: `$'…'` and `$"…"`.
    QuotationStart,
}

/// An open quotation, or another construct in which quotes nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenConstruct {
    /// `'…'`
    SingleQuotes,
    /// `"…"`
    DoubleQuotes,
    /// `$'…'`
    AnsiQuotes,
    /// A substitution or an expansion, with its closing character: `$(…)`, `${…}`.
    Nested(char),
}

impl OpenConstruct {
    fn closing(self) -> char {
        match self {
            Self::SingleQuotes | Self::AnsiQuotes => '\'',
            Self::DoubleQuotes => '"',
            Self::Nested(end) => end,
        }
    }
}

/// One step of the lexer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// One character, with its escape if any.
    Character(char, Meaning),
    /// The opening quote of a quotation.
    Opened,
    /// The end of the innermost construct.
    Closed,
    /// A backslash at the end of a line, which the shell removes with the line end.
    LineContinuation,
}

/// The separators of words in bash; other white space does not separate.
pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// Returns `true` if an unquoted character ends a word.
pub(super) fn is_end_of_word(character: char) -> bool {
    BLANKS.contains(&character) || "\n;|&<>()".contains(character)
}

/// Reads a text from start to end.
///
/// It opens quotations by itself. Callers that skip substitutions open them explicitly; for others,
/// their content is plain text.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    open: Vec<OpenConstruct>,
    /// `true` if a word may begin here.
    at_word_start: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, open: Vec::new(), at_word_start: true }
    }

    /// Returns the number of bytes read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the unread text.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the innermost open construct.
    pub(super) fn innermost(&self) -> Option<OpenConstruct> {
        self.open.last().copied()
    }

    /// Returns `true` if no construct is open.
    pub(super) fn is_top_level(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns `true` if a comment begins here.
    pub(super) fn is_at_comment(&self) -> bool {
        let is_unquoted = matches!(self.innermost(), None | Some(OpenConstruct::Nested(_)));
        is_unquoted && self.at_word_start && self.peek() == Some('#')
    }

    /// Skips the given text, which comes next, without interpreting it.
    pub(super) fn skip(&mut self, text: &str) {
        self.at = (self.at + text.len()).min(self.text.len());
        self.at_word_start = false;
    }

    /// Skips the given text, which comes next, and opens a construct.
    pub(super) fn open(&mut self, opening: &str, construct: OpenConstruct) {
        self.skip(opening);
        self.at_word_start = opening.ends_with('(');
        self.open.push(construct);
    }

    /// Takes the next unquoted character if it is a wanted one.
    pub(super) fn next_if(&mut self, predicate: impl Fn(char) -> bool) -> Option<char> {
        let character = self.peek().filter(|character| predicate(*character))?;
        self.at += character.len_utf8();
        self.at_word_start = is_end_of_word(character);
        Some(character)
    }

    /// Takes a line continuation if it comes next; only valid outside of quotations.
    pub(super) fn take_line_continuation(&mut self) -> bool {
        let is_next = self.rest().starts_with("\\\n");
        if is_next {
            self.at += "\\\n".len();
        }
        is_next
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = self.rest();
        self.skip(rest.split('\n').next().unwrap_or(rest));
    }

    /// Takes the next step; `None` at the end of the text.
    pub(super) fn step(&mut self) -> Option<Step> {
        let was_at_word_start = self.at_word_start;
        let character = self.next_if(|_| true)?;
        let innermost = self.innermost();
        let step = match (innermost, character) {
            (Some(open), _) if open.closing() == character => {
                self.open.pop();
                Step::Closed
            }
            (Some(OpenConstruct::SingleQuotes), _) => Step::Character(character, Meaning::Literal),
            (_, '\\') => self.escape(innermost),
            (Some(OpenConstruct::DoubleQuotes), _) => {
                Step::Character(character, Meaning::DoubleQuoted)
            }
            (Some(OpenConstruct::AnsiQuotes), _) => Step::Character(character, Meaning::Literal),
            (None | Some(OpenConstruct::Nested(_)), '\'') => {
                self.open_quotes(OpenConstruct::SingleQuotes)
            }
            (None | Some(OpenConstruct::Nested(_)), '"') => {
                self.open_quotes(OpenConstruct::DoubleQuotes)
            }
            (None | Some(OpenConstruct::Nested(_)), _) => {
                Step::Character(character, Meaning::Unquoted)
            }
        };
        self.at_word_start = match step {
            Step::Character(character, Meaning::Unquoted) => is_end_of_word(character),
            Step::LineContinuation => was_at_word_start,
            _ => false,
        };
        Some(step)
    }

    fn open_quotes(&mut self, construct: OpenConstruct) -> Step {
        self.open.push(construct);
        Step::Opened
    }

    /// Reads the rest of an escape after its backslash.
    fn escape(&mut self, innermost: Option<OpenConstruct>) -> Step {
        let escaped = match innermost {
            Some(OpenConstruct::AnsiQuotes) => self.next_if(|_| true),
            _ if self.next_if(|character| character == '\n').is_some() => {
                return Step::LineContinuation;
            }
            Some(OpenConstruct::DoubleQuotes) => {
                self.next_if(|character| "$`\"\\".contains(character))
            }
            _ => self.next_if(|_| true),
        };
        Step::Character(escaped.unwrap_or('\\'), Meaning::Literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn comments(text: &str) -> Vec<&str> {
        let mut lexer = Lexer::new(text);
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
            let mut lexer = Lexer::new(&text);
            let mut before = 0;
            while lexer.step().is_some() {
                prop_assert!(lexer.position() > before && text.is_char_boundary(lexer.position()));
                before = lexer.position();
            }
            prop_assert_eq!(before, text.len());
        }
    }
}
