//! Words, texts and signs of a script, without its comments.
//!
//! It is no parser: where a `/` may begin a regular expression or divide, and the two readings would part,
//! the line is looked at as it stands, and what is open at its end makes the script unreadable.

/// A piece of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A name or a keyword.
    Word(&'t str),
    /// A text in quotes of which nothing is made when it runs, and no escape is part.
    Text(&'t str),
    /// Another text.
    MadeText,
    /// A number.
    Number,
    /// A regular expression.
    Pattern,
    /// Any other sign.
    Sign(char),
}

/// Behind these a `/` begins a regular expression, unless they are names of properties.
const BEFORE_PATTERN: [&str; 12] = [
    "return",
    "typeof",
    "case",
    "delete",
    "void",
    "throw",
    "new",
    "instanceof",
    "do",
    "else",
    "in",
    "extends",
];

/// Words that are names of properties or types somewhere and keywords elsewhere: behind them a `/` may be either.
const EITHER: [&str; 12] = [
    "of",
    "yield",
    "await",
    "let",
    "async",
    "as",
    "satisfies",
    "static",
    "default",
    "break",
    "continue",
    "debugger",
];

/// The pieces of a script; `Err` says why it cannot be taken apart.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let at = if text.starts_with("#!") { end_of_line(text, 0) } else { 0 };
    let (found, braces) = (Vec::new(), Vec::new());
    let mut lexer = Lexer { text, at, found, braces, line_ended_at: None, unsure: false };
    lexer.run()?;
    Ok(lexer.found)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Token<'t>>,
    /// For each open brace, whether it stands in a template.
    braces: Vec<bool>,
    /// How many pieces there were at the last end of a line.
    line_ended_at: Option<usize>,
    /// Whether this line may be read in another way.
    unsure: bool,
}

const NO_END: &str = "it has a text or a comment without an end";
const UNSURE: &str = "it may be read in two ways where a `/` stands";

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn run(&mut self) -> Result<(), &'static str> {
        while let Some(sign) = self.rest().chars().next() {
            match sign {
                _ if is_line_end(sign) => {
                    self.unsure = false;
                    self.line_ended_at = Some(self.found.len());
                    self.at += sign.len_utf8();
                }
                _ if sign.is_whitespace() || sign == '\u{feff}' => self.at += sign.len_utf8(),
                '/' if self.rest().starts_with("//") => {
                    self.check_sure()?;
                    self.at = end_of_line(self.text, self.at);
                }
                '/' if self.rest().starts_with("/*") => {
                    self.check_sure()?;
                    let inside = self.rest().get(2..).unwrap_or_default();
                    let length = inside.find("*/").ok_or(NO_END)?;
                    if inside.get(..length).is_some_and(|it| it.contains(is_line_end)) {
                        self.line_ended_at = Some(self.found.len());
                    }
                    self.at += length + 4;
                }
                '/' => self.slash()?,
                '"' | '\'' => self.quoted(sign)?,
                '`' => {
                    self.at += 1;
                    self.template(true)?;
                }
                '{' | '}' if self.unsure && self.braces.contains(&true) => return Err(UNSURE),
                '{' => {
                    self.braces.push(false);
                    self.sign(sign);
                }
                '}' => match self.braces.pop() {
                    Some(true) => {
                        self.at += 1;
                        self.template(false)?;
                    }
                    _ => self.sign(sign),
                },
                '\\' => return Err("it has a name with an escape in it"),
                '<' if self.rest().starts_with("<!--") => return Err("it has a comment of HTML"),
                '-' if self.rest().starts_with("-->") => return Err("it has a comment of HTML"),
                _ if is_name(sign) => self.word(),
                _ => self.sign(sign),
            }
        }
        if self.braces.contains(&true) { Err(NO_END) } else { Ok(()) }
    }

    /// A text or a comment on a line that may be read in another way may be none.
    fn check_sure(&self) -> Result<(), &'static str> {
        if self.unsure { Err(UNSURE) } else { Ok(()) }
    }

    fn sign(&mut self, sign: char) {
        self.found.push(Token::Sign(sign));
        self.at += sign.len_utf8();
    }

    fn word(&mut self) {
        let rest = self.rest();
        let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        self.at += end;
        self.found.push(match word.starts_with(|it: char| it.is_ascii_digit()) {
            true => Token::Number,
            false => Token::Word(word),
        });
    }

    fn quoted(&mut self, quote: char) -> Result<(), &'static str> {
        self.check_sure()?;
        let inside = self.rest().get(1..).unwrap_or_default();
        let mut is_made = false;
        let mut signs = inside.char_indices();
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\\' => {
                    is_made = true;
                    signs.next();
                }
                '\n' | '\r' => return Err(NO_END),
                _ if sign == quote => {
                    let text = inside.get(..at).unwrap_or_default();
                    self.found.push(if is_made { Token::MadeText } else { Token::Text(text) });
                    self.at += at + 2;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(NO_END)
    }

    /// A template from its beginning, or from the end of something that is put into it.
    fn template(&mut self, is_begin: bool) -> Result<(), &'static str> {
        self.check_sure()?;
        let inside = self.rest();
        let mut is_made = !is_begin;
        if !is_begin {
            self.found.push(Token::Sign(';'));
        }
        let mut signs = inside.char_indices();
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\\' => {
                    is_made = true;
                    signs.next();
                }
                '`' => {
                    let text = inside.get(..at).unwrap_or_default();
                    self.found.push(if is_made { Token::MadeText } else { Token::Text(text) });
                    self.at += at + 1;
                    return Ok(());
                }
                '$' if inside.get(at + 1..).is_some_and(|it| it.starts_with('{')) => {
                    self.found.push(Token::MadeText);
                    self.braces.push(true);
                    // What is put in stands by itself.
                    self.found.push(Token::Sign(';'));
                    self.at += at + 2;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(NO_END)
    }

    /// A `/` that begins no comment.
    fn slash(&mut self) -> Result<(), &'static str> {
        let before = self.found.len().checked_sub(2).and_then(|at| self.found.get(at)).copied();
        let is_property = matches!(before, Some(Token::Sign('.' | '#')));
        // A statement or a type may have ended with the line.
        let begins_line = self.line_ended_at == Some(self.found.len());
        match self.found.last().copied() {
            Some(last) if begins_line && !matches!(last, Token::Sign(sign) if sign != ']') => {
                self.divides_or_begins()?;
            }
            // Divides.
            Some(Token::Number | Token::Sign(']') | Token::Text(_) | Token::Pattern) => {
                self.sign('/')
            }
            Some(Token::Word(word)) if BEFORE_PATTERN.contains(&word) && !is_property => {
                return self.pattern();
            }
            Some(Token::Word(word))
                if !EITHER.contains(&word) && !BEFORE_PATTERN.contains(&word) =>
            {
                self.sign('/');
            }
            // `)` closes a condition or a sum, `}` a block or an object; a `.` ends a number, `!` and `>` a type.
            Some(Token::Word(_) | Token::MadeText | Token::Sign(')' | '}' | '!' | '>' | '.')) => {
                self.divides_or_begins()?;
            }
            Some(Token::Sign(sign @ ('+' | '-'))) if before == Some(Token::Sign(sign)) => {
                self.divides_or_begins()?;
            }
            None | Some(Token::Sign(_)) => return self.pattern(),
        }
        Ok(())
    }

    /// What may be a regular expression is read as a division; then nothing behind it on its line may
    /// depend on which of them it is.
    fn divides_or_begins(&mut self) -> Result<(), &'static str> {
        if !self.unsure {
            let line = self.text.get(self.at + 1..end_of_line(self.text, self.at));
            // Alone on its line it cannot begin a regular expression, which ends on it.
            self.unsure = line.is_some_and(|it| it.contains('/'));
        }
        self.sign('/');
        Ok(())
    }

    fn pattern(&mut self) -> Result<(), &'static str> {
        self.check_sure()?;
        let inside = self.rest().get(1..).unwrap_or_default();
        let (mut is_escaped, mut is_class) = (false, false);
        for (at, sign) in inside.char_indices() {
            match sign {
                _ if is_line_end(sign) => break,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => {
                    self.at += at + 2;
                    self.found.push(Token::Pattern);
                    let flags = self.rest().find(|it| !is_name(it));
                    self.at += flags.unwrap_or(self.rest().len());
                    return Ok(());
                }
                _ => {}
            }
        }
        Err("it has a regular expression without an end")
    }
}

fn is_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '$' | '\u{200c}' | '\u{200d}')
}

fn is_line_end(sign: char) -> bool {
    matches!(sign, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn end_of_line(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.find(is_line_end).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<&str> {
        let word = |token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        };
        tokens(text).unwrap_or_default().into_iter().filter_map(word).collect()
    }

    #[test]
    fn comments_texts_and_patterns_are_no_words() {
        for (text, expected) in [
            ("a // b\nc", vec!["a", "c"]),
            ("a /* b\n */ c", vec!["a", "c"]),
            ("a('b', \"c\", `d`) + e", vec!["a", "e"]),
            ("`a ${b(`c ${d}`)} e` + f", vec!["b", "d", "f"]),
            ("a = /b\"[/]c/g.test(d)", vec!["a", "test", "d"]),
            ("return /'/.exec(a)", vec!["return", "exec", "a"]),
            ("a / b / c", vec!["a", "b", "c"]),
            ("(a + b) / 2; c", vec!["a", "b", "c"]),
            ("#!/usr/bin/node 'x\na", vec!["a"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_not_read() {
        for text in [
            "if (x) /\"/.test(y); import(z); /\"/",
            "if (x) /`/.test(y)\nimport(z) // `",
            "a! / 'b' / 2",
            "if (x) /[/*]/.y",
            "'a\nb'",
            "`a",
            "/* a",
            "a = /b",
            "\\u0065val(a)",
            "<!-- `\n",
            "export default /\"/; await import('./e'); /\"/;",
            "if (i) break\n/\"/; await import('./e'); /\"/",
            "if (i) continue /* \n */ /\"/; await import('./e'); /\"/",
            "debugger\n/\"/; await import('./e'); /\"/",
            "this.#in / \"[await import('./e')].length / 1\"",
            "let x: string[]\n/\"/; void import('./e'); /\"/",
            "type X = string\n/\"/; void import('./e'); /\"/",
            "type X = 1\n/\"/; void import('./e'); /\"/",
        ] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_stands_behind_the_first_line_is_read() {
        for text in ["\u{feff}#!/*\nimport('./e'); // */", "#!/*\nimport('./e') // */"] {
            assert_eq!(words(text), ["import"], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_without_panic(text in "[ab/*'\"`\\\\{}$()\n!. é\u{2028}]{0,40}") {
            let _ = tokens(&text);
        }
    }
}
