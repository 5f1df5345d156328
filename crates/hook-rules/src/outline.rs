//! The outline of a file of rules: where its rules are, and which programs they name. It is found
//! without parsing the file, in a twentieth of the time.

use std::ops::Range;
use std::sync::Arc;

/// The outline of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    text: Arc<str>,
    /// The part before the first rule or test.
    preamble: Range<usize>,
    /// `true` if the preamble has `opaque`.
    pub(crate) sets_opaque: bool,
    rules: Vec<OutlinedRule>,
    /// The programs that the patterns of commands name, in order.
    programs: Vec<Range<usize>>,
}

/// A rule, with its patterns of commands taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OutlinedRule {
    /// The part before `shell`, or all of a rule without it.
    before: Range<usize>,
    /// The part behind the value of `shell`.
    after: Range<usize>,
    patterns: Vec<OutlinedPattern>,
    /// `true` if it is about something else than commands, too.
    has_other_subjects: bool,
    /// `true` if it denies.
    denies: bool,
}

/// A pattern of commands, which is an inline table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OutlinedPattern {
    text: Range<usize>,
    /// The value of `program` in it.
    program: Range<usize>,
    /// The programs that it names, as indices; none if it may be about any program.
    programs: Range<usize>,
}

impl Outline {
    /// Finds the outline of a file without mistakes; `None` if the file is written in another way than
    /// files of rules usually are. What is wrong in a file is not found.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut scanner = Scanner { text, at: 0 };
        let mut outline = Self { text: text.into(), ..Self::default() };
        // The rule that is being read, and where its section begins.
        let mut rule: Option<OutlinedRule> = None;
        let mut begin = 0;
        let mut is_preamble = true;
        loop {
            scanner.skip_blank_lines();
            let at = scanner.at;
            match scanner.peek() {
                Some(b'[') | None => {
                    let section = begin..at;
                    match rule.take() {
                        Some(mut rule) => {
                            match rule.after.start {
                                0 => rule.before = section,
                                _ => rule.after.end = at,
                            }
                            outline.rules.push(rule);
                        }
                        None if is_preamble => outline.preamble = section,
                        None => {}
                    }
                    is_preamble = false;
                    begin = at;
                    match scanner.header() {
                        Some("[[rule]]") => rule = Some(OutlinedRule::default()),
                        Some("[[rule.test]]" | "[[test]]") => {}
                        None if scanner.peek().is_none() => return Some(outline),
                        _ => return None,
                    }
                }
                Some(_) => match (scanner.key()?, &mut rule) {
                    (key, None) if is_preamble => {
                        // Only exceptions are written there, too, and packs have none.
                        outline.sets_opaque = key == "opaque";
                        outline.sets_opaque.then_some(())?;
                        scanner.value()?;
                    }
                    ("shell", Some(rule)) if rule.after.start == 0 => {
                        rule.before = begin..at;
                        rule.patterns = scanner.patterns(&mut outline.programs)?;
                        rule.after.start = scanner.at;
                    }
                    ("shell" | "test", Some(_)) => return None,
                    (key, rule) => {
                        if let Some(rule) = rule {
                            rule.denies |= key == "deny";
                            rule.has_other_subjects |= !KEYS.contains(&key);
                        }
                        scanner.value()?;
                    }
                },
            }
        }
    }
}

impl Outline {
    /// Returns the text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if there are rules about commands of named programs.
    pub(crate) fn names_programs(&self) -> bool {
        !self.programs.is_empty()
    }

    /// Returns `true` if there is a rule that denies commands.
    pub(crate) fn denies_commands(&self) -> bool {
        self.rules.iter().any(|rule| rule.denies && !rule.patterns.is_empty())
    }

    /// Returns the text of a file with the rules that are not about commands of named programs.
    pub(crate) fn others(&self) -> String {
        let mut text = self.part(&self.preamble).to_owned();
        for rule in &self.rules {
            let about_any = rule.patterns.iter().filter(|pattern| pattern.programs.is_empty());
            let about_any: Vec<&str> =
                about_any.flat_map(|pattern| [self.part(&pattern.text), ","]).collect();
            if rule.has_other_subjects || !about_any.is_empty() {
                self.push(rule, &about_any, &mut text);
            }
        }
        text
    }

    /// Returns the text of a file with the rules about commands of a program; `None` if there are none.
    pub(crate) fn about(&self, program: &str) -> Option<String> {
        let mut text = String::new();
        for rule in &self.rules {
            let names_it = |pattern: &&OutlinedPattern| {
                let programs = self.programs.get(pattern.programs.clone()).unwrap_or_default();
                programs.iter().any(|name| self.part(name) == program)
            };
            // With nothing but this program in it: there are lists of a hundred.
            let about_it = rule.patterns.iter().filter(names_it).flat_map(|pattern| {
                let before = pattern.text.start..pattern.program.start;
                let after = pattern.program.end..pattern.text.end;
                [self.part(&before), "\"", program, "\"", self.part(&after), ","]
            });
            let about_it: Vec<&str> = about_it.collect();
            if !about_it.is_empty() {
                self.push(rule, &about_it, &mut text);
            }
        }
        (!text.is_empty()).then_some(text)
    }

    fn part(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Appends a rule with the parts of these patterns of commands.
    fn push(&self, rule: &OutlinedRule, patterns: &[&str], to: &mut String) {
        to.push_str(self.part(&rule.before));
        if !patterns.is_empty() {
            to.push_str("shell = [");
            to.extend(patterns.iter().copied());
            to.push(']');
        }
        to.push_str(self.part(&rule.after));
        to.push('\n');
    }
}

/// The keys of a rule that are no subjects.
const KEYS: [&str; 9] =
    ["id", "deny", "ask", "context", "warn", "agent", "subagent", "permissionMode", "when"];

/// The bytes at which something begins or ends in a list or table.
const SPECIAL: [bool; 256] = bytes(b"\"'[]{}#");
/// The bytes of keys without quotes. A value has also these: `+.:`.
const BARE: [bool; 256] =
    bytes(b"-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

/// The bytes of a program's name that is no pattern and has neither escapes nor several lines.
const NAME: [bool; 256] = {
    let mut others = bytes(b"*?[{\\'\"\n\r");
    let mut at = 0;
    while at < others.len() {
        others[at] = !others[at];
        at += 1;
    }
    others
};

/// Reads TOML that has been parsed before.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips bytes while they are such.
    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !is_skipped(*byte)).unwrap_or(rest.len());
    }

    /// Skips white space, line ends and comments.
    fn skip_blank_lines(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'#') => self.skip(|byte| byte != b'\n'),
                _ => return,
            }
        }
    }

    fn header(&mut self) -> Option<&'t str> {
        let begin = self.at;
        self.skip(|byte| matches!(byte, b'[' | b']' | b'.' | b'a'..=b'z'));
        let header = self.text.get(begin..self.at).filter(|header| !header.is_empty())?;
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        matches!(self.peek(), Some(b'\n' | b'#') | None).then_some(header)
    }

    /// Reads a key that stands without quotes, and the `=` behind it.
    fn key(&mut self) -> Option<&'t str> {
        let begin = self.at;
        self.skip(|byte| BARE[usize::from(byte)]);
        let key = self.text.get(begin..self.at).filter(|key| !key.is_empty())?;
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        self.expect(b'=')?;
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        Some(key)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Reads a text, without the quotes of one that has them on both sides once; escapes are left as
    /// they are.
    fn string(&mut self) -> Option<Range<usize>> {
        let quote = self.peek()?;
        let is_long = self.text.as_bytes().get(self.at..)?.starts_with(&[quote; 3]);
        self.at += if is_long { 3 } else { 1 };
        let begin = self.at;
        loop {
            match quote {
                b'"' => self.skip(|byte| !matches!(byte, b'"' | b'\\')),
                _ => self.skip(|byte| byte != b'\''),
            }
            match self.peek()? {
                b'\\' => self.at += 2,
                _ if !is_long => {
                    self.at += 1;
                    return Some(begin..self.at - 1);
                }
                _ => {
                    let quotes = self.at;
                    self.skip(|byte| byte == quote);
                    if self.at - quotes >= 3 {
                        return Some(begin..self.at);
                    }
                }
            }
        }
    }

    /// Skips a value.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' | b'\'' => {
                    self.string()?;
                }
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b'#' => self.skip(|byte| byte != b'\n'),
                // A number, a date, `true` or `false`.
                byte if depth == 0 && (BARE[usize::from(byte)] || byte == b'+') => {
                    self.skip(|byte| BARE[usize::from(byte)] || matches!(byte, b'+' | b'.' | b':'));
                }
                _ => return None,
            }
            if depth == 0 {
                return Some(());
            }
            self.skip(|byte| !SPECIAL[usize::from(byte)]);
        }
    }

    /// Reads a list, or one value instead of a list.
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.peek() != Some(b'[') {
            return item(self);
        }
        self.at += 1;
        loop {
            self.skip_blank_lines();
            match self.peek()? {
                b']' => break self.at += 1,
                b',' => self.at += 1,
                _ => item(self)?,
            }
        }
        Some(())
    }

    /// Reads the value of `shell`, and adds the programs that are named there.
    fn patterns(&mut self, programs: &mut Vec<Range<usize>>) -> Option<Vec<OutlinedPattern>> {
        let mut patterns = Vec::new();
        self.list(|scanner| {
            patterns.push(scanner.pattern(programs)?);
            Some(())
        })?;
        Some(patterns)
    }

    fn pattern(&mut self, programs: &mut Vec<Range<usize>>) -> Option<OutlinedPattern> {
        let (begin, first) = (self.at, programs.len());
        let (mut program, mut is_about_any) = (begin..begin, false);
        self.expect(b'{')?;
        loop {
            self.skip_blank_lines();
            match self.peek()? {
                b'}' => break self.at += 1,
                b',' => self.at += 1,
                _ if self.key()? == "program" => {
                    program.start = self.at;
                    self.list(|scanner| {
                        let name = scanner.string()?;
                        let bytes = scanner.text.as_bytes().get(name.clone())?;
                        is_about_any |= bytes.iter().any(|byte| !NAME[usize::from(*byte)]);
                        programs.push(name);
                        Some(())
                    })?;
                    program.end = self.at;
                }
                _ => self.value()?,
            }
        }
        if is_about_any {
            programs.truncate(first);
        }
        Some(OutlinedPattern { text: begin..self.at, program, programs: first..programs.len() })
    }
}

/// Returns a table of these bytes.
const fn bytes(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}
