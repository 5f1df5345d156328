//! JavaScript regular expressions as patterns for the `fancy-regex` crate.
//!
//! Matchers are written for JavaScript: `new RegExp(source)` without flags, with the web syntax of
//! Annex B. The two languages look alike and differ silently (`\d` and `\b` know Unicode in Rust,
//! `\z` is a plain letter in JavaScript), so each construct is parsed as JavaScript would and
//! written anew in a form that means the same to the engine.
//!
//! Refused although JavaScript accepts it, because the engine would answer wrongly: reading a group
//! whose value JavaScript forgets between the rounds of a repetition or, in a lookbehind, one
//! further right; a lookbehind alternative that varies in length and holds an assertion or a
//! reference; groups nested too deep; too large repetitions; escapes in group names.
//!
//! Known differences:
//!
//! - JavaScript matches UTF-16 units, Rust characters: an emoji is one here and two there, so `^.$`
//!   accepts it, `^..$` does not, and a quantifier repeats all of it. Two escapes side by side
//!   (`\ud83d\ude00`) are the character they spell; elsewhere half of one never matches, except that
//!   a class judges characters by their first half.
//! - An upper bound beyond [`EXPANSION_LIMIT`], as in `a{0,99999}`, counts as none.
//! - Letters of group names are Rust's, not `ID_Start`. Inline flags and using a name twice are
//!   errors, as in ECMAScript 2024.
//! - A match fails at the engine's backtracking limit, where JavaScript goes on.

use std::collections::HashMap;
use std::{iter, mem};

/// How many parts the repetitions of one pattern may expand to: the engine copies a part for each
/// round it counts, without limit inside a lookbehind, so a short line could take all memory.
const EXPANSION_LIMIT: usize = 10_000;
/// The engine refuses groups nested 64 deep; the rest is for what one construct may add.
const NESTING_LIMIT: usize = 60;

const NEVER: &str = r"[^\x{0}-\x{10FFFF}]";
const ANYTHING: &str = r"[\x{0}-\x{10FFFF}]";
const NOT_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";
const SPACE: &str =
    r"[\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]";
const NOT_SPACE: &str =
    r"[^\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]";
/// The engine's own `\b` takes letters of all scripts for word characters.
const BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
const NO_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";
/// `fancy-regex` 0.20 rewrites `a+b?a+` into `a+(?:ba+)?`, which a single `a` matches too. This
/// matches the empty text, costs nothing, and keeps the rewrite from seeing the parts as neighbours.
const REWRITE_BARRIER: &str = "a{0}";

/// Why a text cannot be used as a JavaScript regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{construct} at position {position}")]
pub(crate) struct JavaScriptPatternError {
    /// Counted in UTF-16 units from 0, as JavaScript does.
    position: usize,
    construct: &'static str,
}

type Outcome<T> = Result<T, JavaScriptPatternError>;

fn refuse<T>(position: usize, construct: &'static str) -> Outcome<T> {
    Err(JavaScriptPatternError { position, construct })
}

/// Translates a JavaScript regular expression into a `fancy-regex` pattern with the same answers.
///
/// # Errors
///
/// If JavaScript refuses the text, or no such pattern is known (see the module's documentation).
/// The engine may still refuse a pattern as too large.
pub(crate) fn to_rust_pattern(source: &str) -> Result<String, JavaScriptPatternError> {
    let units = source.encode_utf16().collect();
    let mut translator = Translator { units, ..Translator::default() };
    translator.find_groups()?;
    translator.position = 0;
    translator.translate()?;
    Ok(translator.output)
}

/// A part of the translation, such as a quantifier may follow.
#[derive(Default)]
struct Piece {
    start: usize,
    groups_before: usize,
    /// The fewest characters it matches, and whether it can match more.
    shortest: usize,
    varies: bool,
    /// It looks around or refers to a group.
    hard: bool,
    /// The engine may see it as a repetition when it looks for some to rewrite.
    may_repeat: bool,
    /// Into how many parts the engine expands it.
    size: usize,
    /// It reads a group that a further round may skip, and would see the value of an earlier one.
    reads_optional: bool,
}

#[derive(Default, Clone, Copy)]
struct Group {
    closed: bool,
    /// What is around it can match without it.
    optional: bool,
    /// The engine keeps a value that JavaScript forgets in a new or empty round, or finds another.
    forgotten: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[default]
    Plain,
    Capture,
    Lookahead,
    Lookbehind,
}

/// How groups begin; behind their `(` nothing differs in Rust.
const KINDS: [(&str, Kind); 5] = [
    ("?:", Kind::Plain),
    ("?=", Kind::Lookahead),
    ("?!", Kind::Lookahead),
    ("?<=", Kind::Lookbehind),
    ("?<!", Kind::Lookbehind),
];

/// An open group, or the whole pattern.
#[derive(Default)]
struct Frame {
    kind: Kind,
    nesting: usize,
    /// JavaScript matches a lookbehind from right to left, so groups on the left are not yet set.
    backward: bool,
    has_alternatives: bool,
    content: Piece,
    alternative: Piece,
}

/// Reads UTF-16 units, because JavaScript without the `u` flag does, and writes as it reads. Open
/// groups are a list and not a recursion, so no source exhausts the stack.
#[derive(Default)]
struct Translator {
    units: Vec<u16>,
    position: usize,
    /// Known beforehand, because what `\2` and `\k` mean depends on the groups to come.
    group_count: usize,
    names: HashMap<String, usize>,
    output: String,
    groups: Vec<Group>,
    expansion: usize,
    frame: Frame,
    enclosing: Vec<Frame>,
}

/// The unit as a byte to match on; 0, with which no construct begins, for all beyond ASCII.
fn ascii(unit: u16) -> u8 {
    u8::try_from(unit).unwrap_or(0)
}

/// Writes a range of units as members of a class; high halves as the characters beyond U+FFFF that
/// begin with them, and low halves not at all.
fn push_range(class: &mut String, first: u32, last: u32) {
    let astral = |high: u32| 0x10000 + high.saturating_sub(0xD800) * 0x400;
    let beyond = (astral(first), astral(last.min(0xDBFF) + 1).saturating_sub(1));
    for (first, last) in [(first, last.min(0xD7FF)), (first.max(0xE000), last), beyond] {
        if first <= last {
            class.push_str(&format!(r"\x{{{first:X}}}-\x{{{last:X}}}"));
        }
    }
}

impl Translator {
    fn next(&mut self) -> Option<u16> {
        let unit = self.units.get(self.position).copied();
        self.position += usize::from(unit.is_some());
        unit
    }

    /// The unit to come, as [`ascii`] has it; 0 at the end as well.
    fn peek(&self) -> u8 {
        self.units.get(self.position).map_or(0, |unit| ascii(*unit))
    }

    fn sees(&self, text: &str) -> bool {
        let rest = self.units.iter().skip(self.position);
        rest.take(text.len()).map(|unit| ascii(*unit)).eq(text.bytes())
    }

    fn accept(&mut self, text: &str) -> bool {
        let seen = self.sees(text);
        self.position += if seen { text.len() } else { 0 };
        seen
    }

    /// Goes back to where it was if there is nothing to read: what begins like a construct but is
    /// none, Annex B reads as plain characters.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.position;
        let found = read(self);
        self.position = if found.is_some() { self.position } else { start };
        found
    }

    fn digit(&mut self, radix: u32) -> Option<u32> {
        let digit = char::from(self.peek()).to_digit(radix)?;
        self.position += 1;
        Some(digit)
    }

    fn decimal(&mut self) -> Option<usize> {
        let digits = iter::from_fn(|| self.digit(10)).map(|digit| digit as usize);
        digits.reduce(|value, digit| value.saturating_mul(10).saturating_add(digit))
    }

    fn hexadecimal(&mut self, length: usize) -> Option<u32> {
        self.attempt(|this| (0..length).try_fold(0, |value, _| Some(value * 16 + this.digit(16)?)))
    }

    fn quantifier(&mut self) -> Option<(usize, Option<usize>)> {
        self.attempt(|this| match ascii(this.next()?) {
            b'*' => Some((0, None)),
            b'+' => Some((1, None)),
            b'?' => Some((0, Some(1))),
            b'{' => {
                let minimum = this.decimal()?;
                let maximum = if this.accept(",") { this.decimal() } else { Some(minimum) };
                this.accept("}").then_some((minimum, maximum))
            }
            _ => None,
        })
    }

    fn accept_name_mark(&mut self) -> bool {
        self.sees("?<") && !self.sees("?<=") && !self.sees("?<!") && self.accept("?")
    }

    fn group_name(&mut self) -> Outcome<String> {
        let start = self.position;
        let bracketed = self.accept("<");
        let rest = self.units.iter().skip(self.position);
        let letters: Vec<u16> = rest.copied().take_while(|unit| ascii(*unit) != b'>').collect();
        self.position += letters.len();
        let name = String::from_utf16_lossy(&letters);
        let begins = |letter: char| letter.is_alphabetic() || "$_".contains(letter);
        let fits = |letter: char| letter.is_alphanumeric() || "$_\u{200C}\u{200D}".contains(letter);
        if bracketed && self.accept(">") && name.starts_with(begins) && name.chars().all(fits) {
            return Ok(name);
        }
        refuse(start, "invalid group name")
    }

    fn class_escape(&mut self) -> Option<&'static str> {
        let set = match self.peek() {
            b'd' => "[0-9]",
            b'D' => "[^0-9]",
            b'w' => "[0-9A-Za-z_]",
            b'W' => "[^0-9A-Za-z_]",
            b's' => SPACE,
            b'S' => NOT_SPACE,
            _ => return None,
        };
        self.position += 1;
        Some(set)
    }

    /// The unit an escape stands for, read from behind its backslash.
    fn character_escape(&mut self, in_class: bool) -> Option<u32> {
        let unit = u32::from(self.next()?);
        Some(match char::from_u32(unit)? {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            'x' => self.hexadecimal(2).unwrap_or(unit),
            'u' => self.hexadecimal(4).unwrap_or(unit),
            'c' => match self.peek() {
                b'a'..=b'z' | b'A'..=b'Z' => u32::from(self.next()? & 0x1F),
                b'0'..=b'9' | b'_' if in_class => u32::from(self.next()? & 0x1F),
                _ => {
                    // With nothing to control, the backslash is a character and `c` the next one.
                    self.position -= 1;
                    u32::from('\\')
                }
            },
            '0'..='7' => (0..2).fold(unit - u32::from('0'), |value, _| {
                // An octal number ends where the next digit would no longer fit a byte.
                let digit = if value < 0o40 { self.digit(8) } else { None };
                digit.map_or(value, |digit| value * 8 + digit)
            }),
            _ => unit,
        })
    }

    fn find_groups(&mut self) -> Outcome<()> {
        let mut in_class = false;
        while let Some(unit) = self.next() {
            let position = self.position;
            match ascii(unit) {
                b'\\' => self.position += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'(' if in_class => {}
                b'(' if self.accept_name_mark() => {
                    self.group_count += 1;
                    let name = self.group_name()?;
                    if self.names.insert(name, self.group_count).is_some() {
                        return refuse(position, "group name used twice");
                    }
                }
                b'(' if !self.sees("?") => self.group_count += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn translate(&mut self) -> Outcome<()> {
        loop {
            let position = self.position;
            if self.quantifier().is_some() {
                return refuse(position, "nothing to repeat");
            }
            let Some(unit) = self.next() else { break };
            match ascii(unit) {
                b'|' => {
                    self.output.push('|');
                    self.end_alternative(position)?;
                    self.frame.has_alternatives = true;
                }
                b'(' => self.open_group(position)?,
                b')' => self.close_group(position)?,
                b'^' => self.assertion("^", false),
                b'$' => self.assertion("$", false),
                b'.' => self.set(NOT_LINE_END)?,
                b'[' => self.class(position)?,
                b'\\' => self.escape(position)?,
                _ => self.literal(u32::from(unit))?,
            }
        }
        if self.enclosing.is_empty() { Ok(()) } else { refuse(self.position, "unclosed group") }
    }

    fn open_group(&mut self, position: usize) -> Outcome<()> {
        let content = self.piece();
        let named = self.accept_name_mark();
        let (mark, kind) = if named || !self.sees("?") {
            ("", Kind::Capture)
        } else if let Some(known) = KINDS.into_iter().find(|(mark, _)| self.accept(mark)) {
            known
        } else {
            return refuse(position, "invalid group");
        };
        if named {
            self.group_name()?;
        }
        if kind == Kind::Capture {
            self.groups.push(Group::default());
        }
        self.output.push('(');
        self.output.push_str(mark);
        let (backward, levels) = match kind {
            Kind::Lookahead => (false, 2),
            Kind::Lookbehind => (true, 2),
            Kind::Plain | Kind::Capture => (self.frame.backward, 1),
        };
        let nesting = self.frame.nesting + levels;
        if nesting > NESTING_LIMIT {
            return refuse(position, "too deeply nested group");
        }
        let alternative = self.piece();
        let inner =
            Frame { kind, nesting, backward, content, alternative, has_alternatives: false };
        self.enclosing.push(mem::replace(&mut self.frame, inner));
        Ok(())
    }

    fn end_alternative(&mut self, position: usize) -> Outcome<()> {
        let next = self.piece();
        let ended = mem::replace(&mut self.frame.alternative, next);
        if self.frame.kind == Kind::Lookbehind && ended.hard && ended.varies {
            return refuse(position, "unsupported lookbehind, hard and of varying length,");
        }
        let content = &mut self.frame.content;
        let same = !self.frame.has_alternatives || content.shortest == ended.shortest;
        content.shortest = if same { ended.shortest } else { content.shortest.min(ended.shortest) };
        content.varies |= ended.varies || !same;
        content.hard |= ended.hard;
        content.size = content.size.saturating_add(ended.size);
        content.reads_optional |= ended.reads_optional;
        Ok(())
    }

    fn close_group(&mut self, position: usize) -> Outcome<()> {
        self.end_alternative(position)?;
        let Some(outer) = self.enclosing.pop() else {
            return refuse(position, "unmatched parenthesis");
        };
        self.output.push(')');
        let closed = mem::replace(&mut self.frame, outer);
        let (kind, mut piece) = (closed.kind, closed.content);
        let looks = matches!(kind, Kind::Lookahead | Kind::Lookbehind);
        for group in self.groups.iter_mut().skip(piece.groups_before) {
            group.closed = true;
            group.optional |= closed.has_alternatives || looks;
            group.forgotten |= kind == Kind::Lookbehind && piece.varies;
        }
        piece.may_repeat = kind == Kind::Plain;
        if looks {
            (piece.shortest, piece.varies, piece.hard) = (0, false, true);
        }
        if kind == Kind::Lookbehind {
            self.append(piece);
            return Ok(());
        }
        self.repeat(piece)
    }

    fn escape(&mut self, position: usize) -> Outcome<()> {
        if let Some(set) = self.class_escape() {
            return self.set(set);
        }
        if self.accept("b") || self.accept("B") {
            let small = self.units[self.position - 1] == u16::from(b'b');
            self.assertion(if small { BOUNDARY } else { NO_BOUNDARY }, true);
            return Ok(());
        }
        if !self.names.is_empty() && self.accept("k") {
            let name = self.group_name()?;
            return match self.names.get(&name) {
                Some(number) => self.reference(*number, position),
                None => refuse(position, "reference to an unknown group"),
            };
        }
        let known = 1..=if self.sees("0") { 0 } else { self.group_count };
        let number = self.attempt(|this| this.decimal().filter(|number| known.contains(number)));
        if let Some(number) = number {
            return self.reference(number, position);
        }
        match self.character_escape(false) {
            Some(unit) => self.literal(unit),
            None => refuse(position, "backslash at the end"),
        }
    }

    fn reference(&mut self, number: usize, position: usize) -> Outcome<()> {
        let mut piece = Piece { may_repeat: true, ..self.piece() };
        let mut frames = iter::once(&mut self.frame).chain(self.enclosing.iter_mut().rev());
        if number > self.groups.len() && frames.any(|frame| frame.backward) {
            return refuse(position, "unsupported reference to the right in a lookbehind");
        }
        let group = self.groups.get(number - 1).copied().unwrap_or_default();
        // A group in another alternative, around or later in the innermost frame shared with it is
        // not set when the reference is read; the reference then matches the empty text.
        let shared = frames.find(|frame| frame.content.groups_before < number);
        let set = |frame: &&mut Frame| !frame.backward && frame.alternative.groups_before < number;
        if let Some(frame) = shared.filter(set).filter(|_| group.closed) {
            if group.forgotten {
                return refuse(position, "unsupported reference to a group that may be forgotten");
            }
            frame.alternative.reads_optional |= group.optional;
            self.output.push_str(&match group.optional {
                true => format!(r"(?({number})\k<{number}>)"),
                false => format!(r"\k<{number}>"),
            });
            (piece.varies, piece.hard) = (true, true);
        }
        self.repeat(piece)
    }

    fn class(&mut self, position: usize) -> Outcome<()> {
        let mut class = String::from(if self.accept("^") { "[^" } else { "[" });
        while !self.accept("]") {
            let first = self.class_member(position, &mut class)?;
            let dash = self.accept("-").then_some(u32::from(b'-'));
            let ranged = dash.is_some() && !self.sees("]");
            let last = if ranged { self.class_member(position, &mut class)? } else { None };
            match (first, last) {
                (Some(first), Some(last)) if first <= last => push_range(&mut class, first, last),
                (Some(_), Some(_)) => return refuse(position, "class range out of order"),
                _ => {
                    for unit in [first, dash, last].into_iter().flatten() {
                        push_range(&mut class, unit, unit);
                    }
                }
            }
        }
        match class.as_str() {
            "[" => self.set(NEVER),
            "[^" => self.set(ANYTHING),
            _ => self.set(&(class + "]")),
        }
    }

    /// Reads a unit of a class; a set goes into the class as it is, and is no unit.
    fn class_member(&mut self, position: usize, class: &mut String) -> Outcome<Option<u32>> {
        let escaped = self.accept("\\");
        if let Some(set) = if escaped { self.class_escape() } else { None } {
            class.push_str(set);
            return Ok(None);
        }
        if escaped && !self.names.is_empty() && self.sees("k") {
            return refuse(self.position, "invalid escape");
        }
        let unit = match escaped {
            true if self.accept("b") => Some(0x08),
            true => self.character_escape(true),
            false => self.next().map(u32::from),
        };
        if unit.is_none() { refuse(position, "unclosed class") } else { Ok(unit) }
    }

    fn literal(&mut self, unit: u32) -> Outcome<()> {
        let low = self.attempt(|this| {
            let escaped = (0xD800..0xDC00).contains(&unit) && this.accept("\\u");
            let low = if escaped { this.hexadecimal(4) } else { this.next().map(u32::from) };
            low.filter(|low| (0xD800..0xDC00).contains(&unit) && (0xDC00..0xE000).contains(low))
        });
        let joined = low.map_or(unit, |low| 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        match char::from_u32(joined) {
            Some(character) => self.set(&fancy_regex::escape(character.encode_utf8(&mut [0; 4]))),
            None => self.set(NEVER),
        }
    }

    fn piece(&self) -> Piece {
        let (start, groups_before) = (self.output.len(), self.groups.len());
        Piece { start, groups_before, ..Piece::default() }
    }

    fn set(&mut self, text: &str) -> Outcome<()> {
        let piece = Piece { shortest: 1, size: 1, ..self.piece() };
        self.output.push_str(text);
        self.repeat(piece)
    }

    fn assertion(&mut self, text: &str, hard: bool) {
        let piece = Piece { hard, size: 1, ..self.piece() };
        self.output.push_str(text);
        self.append(piece);
    }

    /// Adds the part just written to the open group, repeated if a quantifier follows.
    fn repeat(&mut self, mut piece: Piece) -> Outcome<()> {
        let position = self.position;
        let Some((minimum, maximum)) = self.quantifier() else {
            self.append(piece);
            return Ok(());
        };
        self.accept("?");
        if maximum.is_some_and(|maximum| maximum < minimum) {
            return refuse(position, "quantifier with numbers out of order");
        }
        let repeats = maximum.is_none_or(|maximum| maximum > 1);
        if repeats && piece.reads_optional {
            return refuse(position, "unsupported repetition that may forget a group it refers to");
        }
        for group in self.groups.iter_mut().skip(piece.groups_before) {
            let doubts = [repeats, group.optional, piece.shortest == 0];
            group.forgotten |= doubts.into_iter().filter(|doubt| *doubt).count() > 1;
            group.optional |= minimum == 0;
        }
        if piece.shortest == 0 && !piece.varies {
            // The engine does not repeat assertions. JavaScript drops optional rounds that match
            // the empty text, and of others one is as good as many.
            if minimum == 0 {
                self.output.insert_str(piece.start, "(?:");
                self.output.push_str("|){0}");
            }
        } else {
            let bound = maximum.filter(|maximum| *maximum <= EXPANSION_LIMIT);
            if bound == maximum {
                // What is left is written alike in both languages.
                let text = &self.units[position..self.position];
                self.output.push_str(&String::from_utf16_lossy(text));
            } else {
                self.output.push_str(&format!("{{{minimum},}}"));
            }
            let copies = bound.unwrap_or(minimum).max(1);
            piece.size = piece.size.saturating_mul(copies);
            self.expansion = self.expansion.saturating_add(if copies > 1 { piece.size } else { 0 });
            piece.shortest = piece.shortest.saturating_mul(minimum);
            piece.varies |= maximum != Some(minimum);
        }
        if self.expansion > EXPANSION_LIMIT {
            return refuse(position, "unsupported large repetition");
        }
        piece.may_repeat = true;
        self.append(piece);
        Ok(())
    }

    fn append(&mut self, piece: Piece) {
        let sequence = &mut self.frame.alternative;
        sequence.shortest = sequence.shortest.saturating_add(piece.shortest);
        sequence.varies |= piece.varies;
        sequence.hard |= piece.hard;
        sequence.size = sequence.size.saturating_add(piece.size);
        sequence.reads_optional |= piece.reads_optional;
        if mem::replace(&mut sequence.may_repeat, piece.may_repeat) && piece.may_repeat {
            self.output.push_str(REWRITE_BARRIER);
            self.frame.alternative.may_repeat = false;
        }
    }
}
