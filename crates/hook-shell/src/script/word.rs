//! Words: quotes, variables and substitutions.

use super::state::{End, Parser, is_metacharacter};
use super::{Operator, Part, Word};

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Appends a text to the last part if that is of the same kind.
fn push_text(parts: &mut Vec<Part>, added: &str, quoted: bool) {
    if let Some(Part::Text { text, is_quoted }) = parts.last_mut()
        && *is_quoted == quoted
    {
        text.push_str(added);
        return;
    }
    parts.push(Part::Text { text: added.to_owned(), is_quoted: quoted });
}

fn last_plain(parts: &[Part]) -> &str {
    match parts.last() {
        Some(Part::Text { text, is_quoted: false }) => text,
        _ => "",
    }
}

fn opens_pattern(parts: &[Part]) -> bool {
    last_plain(parts).ends_with(['?', '*', '+', '@', '!', '='])
}

/// Returns `true` if a parenthesis here has the values of an array.
fn opens_array(parts: &[Part]) -> bool {
    parts.len() == 1
        && last_plain(parts).strip_suffix('=').is_some_and(|name| {
            let name = name.strip_suffix('+').unwrap_or(name);
            !name.is_empty() && name.bytes().all(is_name_byte)
        })
}

impl Parser<'_> {
    /// Reads a word; `None` if an operator or the end of the text comes next.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.at;
        // Nearly all words have one part.
        let mut parts = Vec::with_capacity(1);
        self.parts(End::Word, &mut parts);
        (self.at > start).then(|| Word { parts, range: start..self.at })
    }

    /// Reads what stands until an end, which is consumed unless it is that of a word.
    pub(super) fn word_until(&mut self, end: End) -> Word {
        let start = self.at;
        let mut parts = Vec::new();
        if self.enter() {
            self.parts(end, &mut parts);
            self.leave();
        }
        Word { parts, range: start..self.at }
    }

    /// Reads the parts of a word; `false` if it has no end.
    fn parts(&mut self, end: End, parts: &mut Vec<Part>) -> bool {
        let quoted = end.is_quoted();
        // Open parentheses of an arithmetic expression.
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match (byte, end) {
                (b'<' | b'>', End::Word) if self.rest().as_bytes().get(1) == Some(&b'(') => {
                    self.at += 2;
                    let script = self.nested_script();
                    parts.push(Part::Process { script, reads: byte == b'>' });
                }
                (b'(', End::Word) if opens_array(parts) => self.array(parts),
                // Patterns such as `@(a|b)`.
                (b'(', End::Word) if opens_pattern(parts) => self.pattern(parts),
                (_, End::Word) if is_metacharacter(byte) => return true,
                (b'"', End::Quote) | (b'}', End::Brace { .. }) | (b']', End::Bracket) => {
                    self.at += 1;
                    return true;
                }
                (b'(', End::Arithmetic) => {
                    open += 1;
                    self.literal(parts, true);
                }
                (b')', End::Arithmetic) if open == 0 => {
                    self.at += 1;
                    match self.peek() {
                        Some(b')') => self.at += 1,
                        _ => self.mark_unread("an arithmetic expression has no end"),
                    }
                    return true;
                }
                (b')', End::Arithmetic) => {
                    open -= 1;
                    self.literal(parts, true);
                }
                (b'\\', _) => self.escape(end, parts),
                (b'\'', End::Word | End::Brace { is_quoted: false } | End::Bracket) => {
                    self.at += 1;
                    let text = self.until_byte(b'\'');
                    push_text(parts, text, true);
                }
                (b'"', End::Text | End::Arithmetic) => self.literal(parts, true),
                (b'"', _) => self.double_quotes(parts),
                (b'$', _) => self.dollar(quoted, parts),
                (b'`', _) => self.backticks(quoted, parts),
                _ => self.literal(parts, quoted),
            }
        }
        match end {
            End::Word | End::Text => return true,
            _ => self.mark_unread("a quotation or an expansion has no end"),
        }
        false
    }

    /// Takes plain characters as they are: one at least, and all that follow without a meaning.
    fn literal(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        let rest = self.rest();
        let is_plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./,:=@%+".contains(&byte)
        };
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let more = rest.as_bytes().iter().skip(first).take_while(|byte| is_plain(**byte)).count();
        let (text, _) = rest.split_at(first + more);
        push_text(parts, text, quoted);
        self.at += text.len();
    }

    /// Takes the text until a byte, and the byte.
    fn until_byte(&mut self, end: u8) -> &str {
        let rest = self.rest();
        let length = rest.as_bytes().iter().position(|byte| *byte == end);
        if length.is_none() {
            self.mark_open_quote(self.at.saturating_sub(1));
        }
        let text = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
        self.at += text.len() + usize::from(length.is_some());
        text
    }

    fn escape(&mut self, end: End, parts: &mut Vec<Part>) {
        self.at += 1;
        let Some(next) = self.rest().chars().next() else {
            push_text(parts, "\\", true);
            return;
        };
        let is_special = match end {
            End::Quote | End::Arithmetic => "$`\"\\\n".contains(next),
            End::Brace { is_quoted: true } => "$`\"\\\n}".contains(next),
            End::Text => "$`\\\n".contains(next),
            End::Word | End::Brace { is_quoted: false } | End::Bracket => true,
        };
        if !is_special {
            push_text(parts, "\\", true);
            return;
        }
        self.at += next.len_utf8();
        if next != '\n' {
            push_text(parts, next.encode_utf8(&mut [0; 4]), true);
        } else if matches!(self.peek(), Some(b'<' | b'>' | b'(' | b')' | b'\\')) {
            // Bash joins the lines before it looks for operators.
            self.mark_unread("a line end divides an operator");
        }
    }

    /// Marks a line end that divides what was read and what follows, which bash joins.
    pub(super) fn must_not_continue(&mut self) {
        if self.rest().starts_with("\\\n") {
            self.mark_unread("a line end divides an operator or a name");
        }
    }

    fn mark_open_quote(&mut self, at: usize) {
        self.mark_unread("a quotation has no end");
        self.open_quote.get_or_insert(at);
    }

    fn double_quotes(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let before = parts.len();
        if self.enter() {
            if !self.parts(End::Quote, parts) {
                self.mark_open_quote(start);
            }
            self.leave();
        }
        if parts.len() == before {
            // An empty quotation makes a word.
            push_text(parts, "", true);
        }
    }

    fn dollar(&mut self, quoted: bool, parts: &mut Vec<Part>) {
        let rest = self.rest().as_bytes();
        match rest.get(1) {
            Some(b'\\') if rest.get(2) == Some(&b'\n') => {
                self.literal(parts, quoted);
                self.must_not_continue();
            }
            Some(b'\'') if !quoted => {
                self.bash_quotes.insert(self.at);
                self.at += 2;
                let text = self.ansi_quotes();
                push_text(parts, &text, true);
            }
            Some(b'"') if !quoted => {
                self.bash_quotes.insert(self.at);
                self.at += 1;
                self.double_quotes(parts);
            }
            Some(b'(') if rest.get(2) == Some(&b'(') && self.is_arithmetic(self.at + 3) => {
                self.at += 3;
                let word = self.word_until(End::Arithmetic);
                parts.push(Part::Arithmetic(word));
            }
            Some(b'[') => {
                self.at += 2;
                let word = self.word_until(End::Bracket);
                parts.push(Part::Arithmetic(word));
            }
            Some(b'(') => {
                self.at += 2;
                self.must_not_continue();
                let script = self.nested_script();
                parts.push(Part::Substitution { script, is_quoted: quoted });
            }
            Some(b'{') => {
                self.at += 2;
                self.braced(quoted, parts);
            }
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let length = rest.iter().skip(1).take_while(|byte| is_name_byte(**byte)).count();
                let name = self.rest().get(1..=length).unwrap_or_default().to_owned();
                let range = self.at..self.at + 1 + length;
                self.at = range.end;
                self.must_not_continue();
                parts.push(Part::Variable { name, is_quoted: quoted, operator: None, range });
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?$!-".contains(byte) => {
                let name = char::from(*byte).to_string();
                let range = self.at..self.at + 2;
                self.at = range.end;
                parts.push(Part::Variable { name, is_quoted: quoted, operator: None, range });
            }
            _ => self.literal(parts, quoted),
        }
    }

    /// Reads `${…}` after its brace.
    fn braced(&mut self, quoted: bool, parts: &mut Vec<Part>) {
        let start = self.at.saturating_sub(2);
        self.must_not_continue();
        // `${#x}` and `${!x}`: not the value of the variable.
        let prefix = match self.rest().as_bytes() {
            [b'#', b'}', ..] => None,
            [byte @ (b'#' | b'!'), ..] => {
                self.at += 1;
                Some(*byte)
            }
            _ => None,
        };
        let rest = self.rest();
        let is_name =
            rest.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_');
        let length = match rest.bytes().next() {
            Some(_) if is_name => rest.bytes().take_while(|byte| is_name_byte(*byte)).count(),
            Some(byte) if byte.is_ascii_digit() => {
                rest.bytes().take_while(u8::is_ascii_digit).count()
            }
            Some(byte) if b"@*#?$!-".contains(&byte) => 1,
            _ => 0,
        };
        let name = rest.get(..length).unwrap_or_default().to_owned();
        self.at += length;
        self.must_not_continue();
        let end = End::Brace { is_quoted: quoted };
        let rest = self.rest();
        let operator = match (prefix, rest.as_bytes()) {
            (None, [b'}', ..]) => {
                self.at += 1;
                None
            }
            (None, [b'[', b'@' | b'*', b']', b'}', ..]) if length > 0 => {
                self.at += 4;
                Some(Operator::All)
            }
            (None, [b':', sign @ (b'-' | b'=' | b'+' | b'?'), ..]) if length > 0 => {
                self.at += 2;
                Some(self.value_operator(*sign, true, end))
            }
            (None, [sign @ (b'-' | b'=' | b'+' | b'?'), ..]) if length > 0 => {
                self.at += 1;
                Some(self.value_operator(*sign, false, end))
            }
            _ => {
                const TRIMS: [&str; 4] = ["%%", "##", "%", "#"];
                let start = self.at;
                let trim = TRIMS.iter().find(|sign| rest.starts_with(**sign));
                let trim = trim.filter(|_| prefix.is_none() && length > 0);
                self.at += trim.map_or(0, |sign| sign.len());
                self.must_not_continue();
                let word = self.word_until(end);
                // Whether quotes are quotes here depends on the operator.
                if quoted && self.has_quotes(start) {
                    self.mark_unread("an expansion within quotes has quotes");
                }
                Some(match (prefix, rest.as_bytes().first()) {
                    (Some(b'#'), _) => Operator::Length(word),
                    (Some(_), _) | (None, Some(b'@')) => Operator::Indirect(word),
                    (None, Some(b'[' | b':')) => Operator::Index(word),
                    _ => match trim {
                        Some(sign) => Operator::Trim { sign, pattern: word },
                        None => Operator::Other(word),
                    },
                })
            }
        };
        let range = start..self.at;
        parts.push(Part::Variable { name, is_quoted: quoted, operator, range });
    }

    /// Reads the word behind `-`, `=`, `+` or `?`.
    fn value_operator(&mut self, sign: u8, has_colon: bool, end: End) -> Operator {
        self.must_not_continue();
        let word = self.word_until(end);
        match sign {
            b'+' => Operator::Alternative { word, ignores_empty: has_colon },
            b'?' => Operator::Required(word),
            _ => Operator::Default { word, replaces_empty: has_colon, assigns: sign == b'=' },
        }
    }

    /// Returns `true` if there are quotes, but for `$'…'` around nothing that could end an expansion.
    fn has_quotes(&self, start: usize) -> bool {
        let mut rest = self.text_between(start);
        while let Some((before, quoted)) = rest.split_once("$'") {
            let end = quoted.split_once('\'').filter(|(inside, _)| {
                !before.contains(['"', '\'']) && !inside.contains(['}', '"', '$', '`'])
            });
            let Some((_, after)) = end else { return true };
            rest = after;
        }
        rest.contains(['"', '\''])
    }

    fn backticks(&mut self, quoted: bool, parts: &mut Vec<Part>) {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.rest().chars().next() else {
                self.mark_unread("a substitution has no end");
                break;
            };
            self.at += next.len_utf8();
            match next {
                '`' => break,
                '\\' => match self.rest().chars().next() {
                    Some(escaped) if "`\\$".contains(escaped) || (quoted && escaped == '"') => {
                        text.push(escaped);
                        self.at += escaped.len_utf8();
                    }
                    _ => text.push('\\'),
                },
                _ => text.push(next),
            }
        }
        let script = self.inner_script(&text);
        parts.push(Part::Substitution { script, is_quoted: quoted });
    }

    /// Reads `$'…'` after its quote.
    fn ansi_quotes(&mut self) -> String {
        let start = self.at.saturating_sub(1);
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let Some(next) = self.rest().chars().next() else {
                self.mark_open_quote(start);
                break;
            };
            self.at += next.len_utf8();
            match next {
                '\'' => break,
                '\\' => self.ansi_escape(&mut bytes),
                _ => bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        // The shell passes no text behind a NUL.
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>) {
        let Some(next) = self.rest().chars().next() else {
            bytes.push(b'\\');
            return;
        };
        self.at += next.len_utf8();
        let plain = match next {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '?' => next as u8,
            'x' if self.peek() == Some(b'{') => {
                let rest = self.rest();
                let length = rest.bytes().skip(1).take_while(u8::is_ascii_hexdigit).count();
                let value =
                    rest.get(1..=length).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                match value.filter(|_| rest.as_bytes().get(length + 1) == Some(&b'}')) {
                    Some(value) => {
                        self.at += length + 2;
                        value as u8
                    }
                    None => return self.mark_unread("a quotation has an escape without an end"),
                }
            }
            'x' => match self.digits(16, 2) {
                Some(value) => value as u8,
                None => return bytes.extend_from_slice(b"\\x"),
            },
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3).unwrap_or_default() as u8
            }
            'u' | 'U' => {
                let length = if next == 'u' { 4 } else { 8 };
                match self.digits(16, length).map(char::from_u32) {
                    Some(Some(character)) => {
                        return bytes
                            .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    _ => {
                        return self.mark_unread("a quotation has a character that does not exist");
                    }
                }
            }
            'c' if matches!(self.peek(), None | Some(b'\\' | b'\'' | 0x80..)) => {
                return self.mark_unread("a quotation has a control character of no letter");
            }
            'c' => {
                let control = self.rest().bytes().next().unwrap_or_default() & 0x1f;
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                control
            }
            _ => {
                bytes.push(b'\\');
                return bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
            }
        };
        bytes.push(plain);
    }

    /// Takes up to so many digits.
    fn digits(&mut self, radix: u32, at_most: usize) -> Option<u32> {
        let rest = self.rest();
        let length = rest.chars().take(at_most).take_while(|digit| digit.is_digit(radix)).count();
        let value = u32::from_str_radix(rest.get(..length)?, radix).ok();
        self.at += length;
        value
    }

    /// Reads the values of an array.
    fn array(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        self.must_not_continue();
        let mut words = Vec::new();
        if self.enter() {
            loop {
                self.skip_newlines();
                match self.word() {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
            self.leave();
        }
        match self.peek() {
            Some(b')') => self.at += 1,
            _ => self.mark_unread("an array has no end"),
        }
        parts.push(Part::Array(words));
    }

    /// Reads a pattern's parentheses as part of a word.
    fn pattern(&mut self, parts: &mut Vec<Part>) {
        self.literal_byte(parts);
        let mut open = 1_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => {
                    open += 1;
                    self.literal_byte(parts);
                }
                b')' => {
                    open -= 1;
                    self.literal_byte(parts);
                    if open == 0 {
                        return;
                    }
                }
                _ if is_metacharacter(byte) => self.literal_byte(parts),
                _ => {
                    let before = self.at;
                    self.parts(End::Word, parts);
                    if self.at == before {
                        break;
                    }
                }
            }
        }
        self.mark_unread("a pattern has no end");
    }

    fn literal_byte(&mut self, parts: &mut Vec<Part>) {
        if let Some(byte) = self.peek() {
            self.at += 1;
            push_text(parts, char::from(byte).encode_utf8(&mut [0; 4]), false);
        }
    }
}
