//! Commands: bash's grammar, read once from start to end.

use std::sync::{Arc, OnceLock};

use super::state::{End, Parser, PendingDocument, is_metacharacter};
use super::{
    Assignment, Command, GroupKind, Part, Redirect, RedirectKind, RedirectTarget, Script,
    SimpleCommand, Word,
};

/// The maximum length of an arithmetic expression that is told from nested subshells.
const MAX_ARITHMETIC: usize = 1_000;

/// Words that begin or end a compound command.
const RESERVED: [&str; 22] = [
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "select", "then", "time", "until", "while", "{", "}", "in", "]]",
];

impl<'t> Parser<'t> {
    pub(super) fn script(mut self) -> Script {
        let mut commands = Vec::new();
        loop {
            commands.append(&mut self.list());
            if self.at >= self.text.len() {
                break;
            }
            // Bash would refuse the rest, but may have run the lines before.
            self.mark_unread("it has a syntax error");
            self.at += self.rest().chars().next().map_or(1, char::len_utf8);
        }
        self.finish_documents();
        Script {
            commands,
            unread: self.unread,
            has_own_text: false,
            open_quote: self.open_quote,
            bash_quotes: self.bash_quotes,
        }
    }

    /// Reads the commands of `$(…)` or `<(…)` after the parenthesis.
    pub(super) fn nested_script(&mut self) -> Script {
        let mut commands = Vec::new();
        if self.enter() {
            self.substitutions += 1;
            commands = self.list_until_parenthesis();
            self.substitutions -= 1;
            self.leave();
        }
        Script { commands, ..Script::default() }
    }

    /// Parses a text inside of this one that has its own escapes.
    pub(super) fn inner_script(&mut self, text: &str) -> Script {
        if !self.enter() {
            return Script::default();
        }
        let mut parser = Parser::new(text);
        parser.depth = self.depth;
        let mut script = parser.script();
        script.has_own_text = true;
        self.leave();
        if let Some(reason) = script.unread {
            self.mark_unread(reason);
        }
        script
    }

    fn list_until_parenthesis(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        loop {
            commands.append(&mut self.list());
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return commands;
                }
                Some(_) => {
                    self.mark_unread("it has a syntax error");
                    self.at += self.rest().chars().next().map_or(1, char::len_utf8);
                }
                None => {
                    self.mark_unread("a parenthesis has no end");
                    return commands;
                }
            }
        }
    }

    /// Skips blanks, line continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') => {
                    let rest = self.rest();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                    return;
                }
                _ => return,
            }
        }
    }

    /// Takes a line end, and the here-documents behind it.
    fn newline(&mut self) {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            self.document(document);
        }
    }

    pub(super) fn skip_newlines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.newline(),
                _ => return,
            }
        }
    }

    fn document(&mut self, document: PendingDocument) {
        let start = self.at;
        let mut text = String::new();
        let mut has_end = false;
        while !self.rest().is_empty() {
            let line_start = self.at;
            let mut line = self.take_line().to_owned();
            // Bash joins lines before it looks for the delimiter, unless that is quoted.
            while !document.is_quoted && is_continued(&line) && !self.rest().is_empty() {
                line.pop();
                line.push_str(self.take_line());
            }
            let shown = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
            if shown == document.delimiter {
                has_end = true;
                break;
            }
            // In a substitution the delimiter may have the closing parenthesis behind it.
            let behind = shown.strip_prefix(document.delimiter.as_str());
            if self.substitutions > 0 && behind.is_some_and(|rest| rest.starts_with(')')) {
                let tabs = line.len() - shown.len();
                self.at = line_start + tabs + document.delimiter.len();
                has_end = true;
                break;
            }
            text.push_str(shown);
            text.push('\n');
        }
        if !has_end {
            self.mark_unread("a here-document has no end");
        }
        let range = start..self.at;
        let word = match document.is_quoted {
            true => Word { parts: vec![Part::Text { text, is_quoted: true }], range },
            false => {
                let mut parser = Parser::new(&text);
                parser.depth = self.depth;
                let parts = parser.word_until(End::Text).parts;
                if let Some(reason) = parser.unread {
                    self.mark_unread(reason);
                }
                Word { parts, range }
            }
        };
        // It is set once, here.
        let _ = document.text.set(word);
    }

    fn take_line(&mut self) -> &'t str {
        let line = self.rest().split('\n').next().unwrap_or_default();
        self.at = (self.at + line.len() + 1).min(self.text.len());
        line
    }

    fn finish_documents(&mut self) {
        for document in std::mem::take(&mut self.pending) {
            self.document(document);
        }
    }

    /// Returns the unquoted word of plain characters that comes next.
    fn next_plain_word(&self) -> Option<&'t str> {
        let rest = self.rest();
        let length =
            rest.bytes().position(|byte| is_metacharacter(byte) || b"\"'\\$`".contains(&byte));
        let length = length.unwrap_or(rest.len());
        let ends = rest.as_bytes().get(length).is_none_or(|byte| is_metacharacter(*byte));
        rest.get(..length).filter(|word| ends && !word.is_empty())
    }

    /// Returns the reserved word that comes next.
    fn reserved(&self) -> Option<&'t str> {
        // Reserved words are short; a long word is not looked at again and again.
        let first = self.peek()?;
        if !(first.is_ascii_lowercase() || b"!{}[]".contains(&first)) {
            return None;
        }
        let window = self.rest().as_bytes();
        let length = window.iter().take(10).take_while(|byte| !is_metacharacter(**byte)).count();
        let word = self.rest().get(..length)?;
        RESERVED.contains(&word).then_some(word)
    }

    fn take_reserved(&mut self, wanted: &str) -> bool {
        self.skip_newlines();
        let is_next = self.reserved() == Some(wanted);
        if is_next {
            self.at += wanted.len();
        }
        is_next
    }

    /// Reads commands up to the end of a compound command, or of the text.
    fn list(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        loop {
            self.skip_newlines();
            match self.peek() {
                None | Some(b')') => return commands,
                Some(b';') if matches!(self.peek_at(1), Some(b';' | b'&')) => return commands,
                Some(b'&') => {
                    self.at += 1;
                    self.must_not_continue();
                    if let Some(command) = commands.pop() {
                        commands.push(Command::Group {
                            kind: GroupKind::Subshell,
                            sections: vec![vec![command]],
                            words: Vec::new(),
                            redirects: Vec::new(),
                        });
                    }
                }
                Some(b';') => {
                    self.at += 1;
                    self.must_not_continue();
                }
                Some(_) => {
                    const ENDS: [&str; 8] =
                        ["do", "done", "elif", "else", "esac", "fi", "then", "}"];
                    if self.reserved().is_some_and(|word| ENDS.contains(&word)) {
                        return commands;
                    }
                    let before = self.at;
                    commands.extend(self.chain());
                    if self.at == before {
                        return commands;
                    }
                }
            }
        }
    }

    /// Reads pipelines with `&&` and `||` between them.
    fn chain(&mut self) -> Option<Command> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let if_success = match (self.peek(), self.peek_at(1)) {
                (Some(b'&'), Some(b'&')) => true,
                (Some(b'|'), Some(b'|')) => false,
                _ => break,
            };
            self.at += 2;
            self.skip_newlines();
            let Some(command) = self.pipeline() else {
                self.mark_unread("it has a syntax error");
                break;
            };
            rest.push((if_success, command));
        }
        Some(match rest.is_empty() {
            true => first,
            false => Command::Chain { first: Box::new(first), rest },
        })
    }

    fn pipeline(&mut self) -> Option<Command> {
        let mut first = None;
        let mut rest = Vec::new();
        let mut is_negated = false;
        loop {
            self.skip_blanks();
            while let Some(word @ ("!" | "time")) = self.reserved() {
                is_negated |= word == "!";
                self.at += word.len();
                self.skip_blanks();
                while word == "time"
                    && self.next_plain_word().is_some_and(|option| matches!(option, "-p" | "--"))
                {
                    self.at += 2;
                    self.skip_blanks();
                }
            }
            match &first {
                None => first = self.command(),
                Some(_) => rest.extend(self.command()),
            }
            self.skip_blanks();
            match (self.peek(), self.peek_at(1)) {
                (Some(b'|'), Some(b'|')) => break,
                (Some(b'|'), Some(b'&')) => self.at += 2,
                (Some(b'|'), _) => self.at += 1,
                _ => break,
            }
            let behind = self.rest().strip_prefix("\\\n");
            if behind.is_some_and(|rest| rest.starts_with(['|', '&', '\\'])) {
                self.mark_unread("a line end divides an operator");
            }
            self.skip_newlines();
        }
        let command = match rest.is_empty() {
            true => first?,
            false => Command::Pipeline(first.into_iter().chain(rest).collect()),
        };
        Some(if is_negated { Command::Negated(Box::new(command)) } else { command })
    }

    fn command(&mut self) -> Option<Command> {
        if !self.enter() {
            return None;
        }
        let command = self.compound_or_simple();
        self.leave();
        command
    }

    fn compound_or_simple(&mut self) -> Option<Command> {
        if self.peek() == Some(b'(') {
            if self.peek_at(1) == Some(b'(') && self.is_arithmetic(self.at + 2) {
                self.at += 2;
                let word = self.word_until(End::Arithmetic);
                let word = Word { range: word.range.clone(), parts: vec![Part::Arithmetic(word)] };
                return Some(self.group(GroupKind::Braces, Vec::new(), vec![word]));
            }
            self.at += 1;
            self.must_not_continue();
            let body = self.list_until_parenthesis();
            return Some(self.group(GroupKind::Subshell, vec![body], Vec::new()));
        }
        self.divided_word();
        let word = self.reserved();
        if let Some(word) = word.filter(|word| !matches!(*word, "in" | "]]" | "}")) {
            self.at += word.len();
        }
        match word {
            Some("{") => {
                let sections = self.body("}", &[]);
                Some(self.group(GroupKind::Braces, sections, Vec::new()))
            }
            Some("if") => {
                let sections = self.body("fi", &["then", "elif", "else"]);
                Some(self.group(GroupKind::If, sections, Vec::new()))
            }
            Some(word @ ("while" | "until")) => {
                let mut sections = self.body("done", &["do"]);
                if word == "until"
                    && let Some(condition) = sections.first_mut()
                    && let Some(last) = condition.pop()
                {
                    condition.push(Command::Negated(Box::new(last)));
                }
                Some(self.group(GroupKind::Loop, sections, Vec::new()))
            }
            Some(word @ ("for" | "select")) => Some(self.for_loop(word == "select")),
            Some("case") => Some(self.case()),
            Some("function") => {
                self.skip_blanks();
                let name = self.word().unwrap_or_default();
                self.skip_blanks();
                if self.rest().starts_with('(') {
                    self.at += 1;
                    self.skip_blanks();
                    self.at += usize::from(self.peek() == Some(b')'));
                }
                self.function(&name)
            }
            Some("coproc") => {
                self.skip_blanks();
                // A name may stand before a compound command.
                self.mark_unread("it has a `coproc`");
                self.command()
            }
            Some("[[") => Some(self.condition()),
            _ => self.simple(),
        }
    }

    /// Reads lists, with the given words between them, up to a closing word.
    fn body(&mut self, end: &str, between: &[&str]) -> Vec<Vec<Command>> {
        let mut sections = Vec::new();
        loop {
            sections.push(self.list());
            match self.reserved() {
                Some(word) if word == end => {
                    self.at += word.len();
                    return sections;
                }
                Some(word) if between.contains(&word) => self.at += word.len(),
                _ => {
                    self.mark_unread("it has a syntax error");
                    return sections;
                }
            }
        }
    }

    fn group(&mut self, kind: GroupKind, sections: Vec<Vec<Command>>, words: Vec<Word>) -> Command {
        let redirects = self.redirects();
        Command::Group { kind, sections, words, redirects }
    }

    /// Marks a reserved word that a line end divides, or that ends in one.
    fn divided_word(&mut self) {
        let rest = self.rest();
        let length = rest.bytes().take(10).take_while(|byte| !is_metacharacter(*byte)).count();
        let is_divided = rest.as_bytes().get(length) == Some(&b'\n')
            && rest.get(..length).and_then(|word| word.strip_suffix('\\')).is_some_and(|word| {
                !word.is_empty() && RESERVED.iter().any(|reserved| reserved.starts_with(word))
            });
        if is_divided {
            self.mark_unread("a line end divides a word");
        }
    }

    fn for_loop(&mut self, is_menu: bool) -> Command {
        self.skip_blanks();
        if self.rest().starts_with("((") {
            self.at += 2;
            let word = self.word_until(End::Arithmetic);
            let word = Word { range: word.range.clone(), parts: vec![Part::Arithmetic(word)] };
            self.skip_newlines();
            self.at += usize::from(self.peek() == Some(b';'));
            let sections = vec![Vec::new(), self.loop_body()];
            return self.group(GroupKind::Loop, sections, vec![word]);
        }
        let variable = self.word().as_ref().and_then(plain_text).unwrap_or_default();
        let mut values = None;
        if self.take_reserved("in") {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                match self.word() {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
            if is_menu {
                // What is no number of the menu.
                words.push(Word {
                    parts: vec![Part::Text { text: String::new(), is_quoted: true }],
                    range: 0..0,
                });
            }
            values = Some(words);
        }
        self.skip_newlines();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        let body = self.loop_body();
        let redirects = self.redirects();
        Command::For { variable, values, body, redirects }
    }

    fn loop_body(&mut self) -> Vec<Command> {
        let sections = match self.take_reserved("{") {
            true => self.body("}", &[]),
            false => self.body("done", &["do"]),
        };
        sections.into_iter().flatten().collect()
    }

    fn case(&mut self) -> Command {
        self.skip_blanks();
        let mut words: Vec<Word> = self.word().into_iter().collect();
        if !self.take_reserved("in") {
            self.mark_unread("it has a syntax error");
        }
        let mut sections = Vec::new();
        let mut has_default = false;
        while !self.take_reserved("esac") {
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            loop {
                self.skip_blanks();
                let pattern = self.word();
                has_default |= pattern.as_ref().is_some_and(|pattern| {
                    matches!(pattern.parts.as_slice(),
                        [Part::Text { text, is_quoted: false }] if text == "*")
                });
                words.extend(pattern);
                self.skip_blanks();
                if self.peek() != Some(b'|') {
                    break;
                }
                self.at += 1;
            }
            if self.peek() != Some(b')') {
                self.mark_unread("it has a syntax error");
                break;
            }
            self.at += 1;
            sections.push(self.list());
            match self.rest() {
                rest if rest.starts_with(";;&") => self.at += 3,
                rest if rest.starts_with(";;") || rest.starts_with(";&") => self.at += 2,
                _ => {}
            }
        }
        self.group(GroupKind::Case { has_default }, sections, words)
    }

    fn condition(&mut self) -> Command {
        let mut words = Vec::new();
        loop {
            if self.rest().trim_start_matches([' ', '\t', '\n']).starts_with('#') {
                self.mark_unread("a condition has a comment");
            }
            self.skip_newlines();
            match (self.peek(), self.peek_at(1)) {
                (None, _) => {
                    self.mark_unread("a condition has no end");
                    break;
                }
                (Some(b'<' | b'>'), Some(b'(')) => words.extend(self.word()),
                (Some(byte), _) if is_metacharacter(byte) => {
                    self.at += 1;
                    self.must_not_continue();
                }
                (Some(_), _) => {
                    let is_end = self.next_plain_word() == Some("]]");
                    words.extend(self.word());
                    if is_end {
                        break;
                    }
                }
            }
        }
        words.pop();
        let words = arithmetic_operands(words);
        self.group(GroupKind::Braces, Vec::new(), words)
    }

    fn function(&mut self, name: &Word) -> Option<Command> {
        self.skip_newlines();
        let Some(name) = plain_text(name) else {
            self.mark_unread("a function has no plain name");
            return self.command();
        };
        let body = self.command()?;
        Some(Command::Function { name, body: Arc::new(body) })
    }

    fn simple(&mut self) -> Option<Command> {
        let start = self.at;
        let mut command = SimpleCommand::default();
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect() {
                command.redirects.push(redirect);
                end = self.at;
                continue;
            }
            let Some(word) = self.word() else { break };
            end = self.at;
            if command.words.is_empty()
                && let Some(assignment) = assignment(&word)
            {
                command.assignments.push(assignment);
                continue;
            }
            let is_first = command.words.is_empty() && command.assignments.is_empty();
            command.words.push(word);
            if is_first {
                self.skip_blanks();
                if self.peek() == Some(b'(') {
                    self.at += 1;
                    self.skip_blanks();
                    match self.peek() {
                        Some(b')') => self.at += 1,
                        _ => self.mark_unread("it has a syntax error"),
                    }
                    let name = command.words.pop().unwrap_or_default();
                    return self.function(&name);
                }
            }
        }
        command.range = start..end;
        let is_empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty();
        (!is_empty).then_some(Command::Simple(command))
    }

    fn redirects(&mut self) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return redirects,
            }
        }
    }

    fn redirect(&mut self) -> Option<Redirect> {
        const OPERATORS: [(&str, RedirectKind); 12] = [
            ("<<<", RedirectKind::Input),
            ("<<-", RedirectKind::Input),
            ("<<", RedirectKind::Input),
            ("<>", RedirectKind::ReadWrite),
            ("<&", RedirectKind::Duplicate),
            ("<", RedirectKind::Read),
            ("&>>", RedirectKind::Write),
            ("&>", RedirectKind::Write),
            (">>", RedirectKind::Write),
            (">|", RedirectKind::Write),
            (">&", RedirectKind::Duplicate),
            (">", RedirectKind::Write),
        ];
        let rest = self.rest();
        // A descriptor: digits, or a variable in braces.
        let descriptor = match rest.bytes().next()? {
            b'0'..=b'9' => rest.bytes().take(6).take_while(u8::is_ascii_digit).count(),
            b'{' => {
                let name = rest
                    .bytes()
                    .skip(1)
                    .take(64)
                    .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                    .count();
                if rest.as_bytes().get(name + 1) == Some(&b'}') { name + 2 } else { 0 }
            }
            b'<' | b'>' => 0,
            b'&' if rest.starts_with("&>") => 0,
            _ => return None,
        };
        let behind = rest.get(descriptor..)?;
        let (sign, kind) = OPERATORS.iter().find(|(sign, _)| behind.starts_with(sign))?;
        if descriptor > 0 && sign.starts_with('&') {
            return None;
        }
        // `<(…)` and `>(…)` are words.
        if behind.starts_with("<(") || behind.starts_with(">(") {
            return None;
        }
        let number = rest.get(..descriptor).and_then(|digits| digits.parse().ok());
        self.at += descriptor + sign.len();
        self.must_not_continue();
        self.skip_blanks();
        let word = self.word().unwrap_or_else(|| {
            self.mark_unread("a redirection has no file");
            Word::default()
        });
        let target = match *sign {
            "<<" | "<<-" => {
                let text = Arc::new(OnceLock::new());
                let is_quoted = word
                    .parts
                    .iter()
                    .any(|part| !matches!(part, Part::Text { is_quoted: false, .. }));
                let delimiter = plain_text(&word).unwrap_or_else(|| {
                    self.mark_unread("the delimiter of a here-document has expansions");
                    String::new()
                });
                self.pending.push(PendingDocument {
                    delimiter,
                    strips_tabs: *sign == "<<-",
                    is_quoted,
                    text: text.clone(),
                });
                RedirectTarget::Document(text)
            }
            _ => RedirectTarget::Word(word),
        };
        let descriptor = if descriptor == 0 { None } else { Some(number.unwrap_or(u32::MAX)) };
        Some(Redirect { kind: *kind, descriptor, target })
    }

    /// Returns `true` if the parentheses opened before `at` close together, as in `((…))`.
    pub(super) fn is_arithmetic(&mut self, at: usize) -> bool {
        let mut open = 0_usize;
        let bytes = self.text.as_bytes();
        let mut has_quotes = false;
        let mut quote = None;
        let mut indices = at..bytes.len().min(at + MAX_ARITHMETIC);
        while let Some((index, byte)) =
            indices.next().and_then(|index| Some((index, *bytes.get(index)?)))
        {
            match (byte, quote) {
                (b'\\', None | Some(b'"')) => {
                    has_quotes = true;
                    indices.next();
                }
                (_, Some(end)) => quote = Some(end).filter(|end| *end != byte),
                (b'"' | b'\'', None) => {
                    has_quotes = true;
                    quote = Some(byte);
                }
                (b'(', None) => open += 1,
                (b')', None) if open == 0 => {
                    let is_arithmetic = bytes.get(index + 1) == Some(&b')');
                    if is_arithmetic && has_quotes {
                        self.mark_unread("an arithmetic expression has quotes");
                    }
                    return is_arithmetic;
                }
                (b')', None) => open -= 1,
                // Commands rather than an expression.
                (b';' | b'\n', None) if open == 0 => return false,
                _ => {}
            }
        }
        self.mark_unread("an expression in parentheses is too long");
        true
    }
}

/// Marks the operands of `-eq` and the like as arithmetic expressions.
fn arithmetic_operands(words: Vec<Word>) -> Vec<Word> {
    const COMPARISONS: [&str; 7] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];
    let is_comparison = |word: Option<&Word>| {
        word.and_then(plain_text).is_some_and(|text| COMPARISONS.contains(&text.as_str()))
    };
    let arithmetic = |(index, word): (usize, &Word)| {
        let before = index.checked_sub(1).and_then(|index| words.get(index));
        match is_comparison(before) || is_comparison(words.get(index + 1)) {
            true => Word { parts: vec![Part::Arithmetic(word.clone())], range: word.range.clone() },
            false => word.clone(),
        }
    };
    words.iter().enumerate().map(arithmetic).collect()
}

/// Returns `true` if a line ends in a backslash that is not escaped.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Returns the text of a word without expansions.
pub(super) fn plain_text(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Text { text: part, .. } => text.push_str(part),
            _ => return None,
        }
    }
    Some(text)
}

/// Splits a word that is an assignment.
fn assignment(word: &Word) -> Option<Assignment> {
    let Some(Part::Text { text, is_quoted: false }) = word.parts.first() else { return None };
    let length =
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, behind) = text.split_at_checked(length)?;
    if name.bytes().next().is_none_or(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if !(behind.starts_with(['=', '[']) || behind.starts_with("+=")) {
        return None;
    }
    let mut parts = vec![Part::Text { text: behind.to_owned(), is_quoted: false }];
    parts.extend(word.parts.iter().skip(1).cloned());
    let mut subscript = None;
    if behind.starts_with('[') {
        let end = parts.iter().position(|part| {
            matches!(part, Part::Text { text, is_quoted: false }
                if text.contains("]=") || text.contains("]+="))
        })?;
        let value = parts.split_off(end);
        let mut value = value.into_iter();
        let Some(Part::Text { text, .. }) = value.next() else { return None };
        let (inside, rest) = text.split_once(']')?;
        parts.push(Part::Text { text: inside.to_owned(), is_quoted: false });
        subscript = Some(Word { parts, range: word.range.clone() });
        parts = vec![Part::Text { text: rest.to_owned(), is_quoted: false }];
        parts.extend(value);
    }
    let Some(Part::Text { text, .. }) = parts.first_mut() else { return None };
    let adds = text.starts_with('+');
    let value = text.strip_prefix('+').unwrap_or(text).strip_prefix('=')?.to_owned();
    *text = value;
    if matches!(parts.first(), Some(Part::Text { text, .. }) if text.is_empty()) {
        parts.remove(0);
    }
    let value = Word { parts, range: word.range.clone() };
    Some(Assignment { name: name.to_owned(), adds, subscript, value })
}
