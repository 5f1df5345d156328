//! Translates JavaScript regular expressions into patterns for the `fancy-regex` crate.
//!
//! Matchers are JavaScript patterns: `new RegExp(source)` without flags, with the web syntax of
//! Annex B. The two languages look alike but differ silently (`\d` and `\b` are Unicode-aware in
//! Rust, `\z` is a plain letter in JavaScript), so each construct is parsed as JavaScript does and
//! rewritten with the same meaning for the engine (with its `variable-lookbehinds`).
//!
//! Valid JavaScript that is refused because no matcher needs it: references to groups, and escapes
//! by octal number or control letter. Refused because the engine would fail or give a wrong answer:
//! a lookbehind alternative of varying length with an assertion; a lone surrogate (`\ud83d`); deep
//! nesting; large repetitions; escapes in group names.
//!
//! Known differences:
//!
//! - JavaScript matches UTF-16 units, Rust characters. A character beyond U+FFFF counts as one here
//!   and as two in JavaScript: `^.$` accepts it, `^..$` does not.
//! - An upper bound beyond [`EXPANSION_LIMIT`], as in `a{0,99999}`, counts as no bound.
//! - Groups capture nothing. Letters of their names are Rust's, not `ID_Start`; a name may occur
//!   twice if only one of the groups can match, as in ECMAScript 2025. Inline flags are errors.
//! - A match fails at the engine's backtracking limit; JavaScript has none.

use std::collections::HashSet;
use std::mem;

/// The maximum number of parts with repetitions expanded. The engine copies a part for each counted
/// round, without a limit inside a lookbehind, so a short line could use up memory.
const EXPANSION_LIMIT: usize = 10_000;
/// The maximum nesting of groups. The engine refuses 64; one construct may add the difference.
const NESTING_LIMIT: usize = 60;

const NEVER: &str = r"[^\x{0}-\x{10FFFF}]";
const ANYTHING: &str = r"[\x{0}-\x{10FFFF}]";
const NOT_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";
const SPACE: &str =
    r"\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
/// The engine's own `\b` counts letters of all scripts as word characters.
const BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
const NO_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";
/// `fancy-regex` 0.20 rewrites `a+b?a+` into `a+(?:ba+)?`, which a single `a` matches too. This
/// empty match costs nothing and hides from the rewrite that the parts are adjacent.
const REWRITE_BARRIER: &str = "a{0}";

/// The openings of groups in both languages; for lookarounds, `true` if they look behind.
const GROUP_OPENINGS: [(&str, Option<bool>); 5] = [
    ("?:", None),
    ("?=", Some(false)),
    ("?!", Some(false)),
    ("?<=", Some(true)),
    ("?<!", Some(true)),
];

/// The reason why a text is not a supported JavaScript pattern; the position is in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{construct} at position {position}")]
pub(crate) struct JavaScriptPatternError {
    position: usize,
    construct: &'static str,
}

/// A pattern for the engine.
#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) pattern: String,
    /// The number of parts that the engine adds when it copies repeated ones.
    pub(crate) copies: usize,
}

type Outcome<T> = Result<T, JavaScriptPatternError>;

/// Translates a JavaScript regular expression into an equivalent `fancy-regex` pattern.
///
/// # Errors
///
/// If the text is not valid JavaScript or has no known equivalent (see the module's documentation).
/// The engine may still refuse a pattern as too large.
pub(crate) fn to_rust_pattern(source: &str) -> Result<Translation, JavaScriptPatternError> {
    let mut translator = Translator { source, rest: source, ..Translator::default() };
    translator.translate()?;
    Ok(Translation { pattern: translator.output, copies: translator.copies })
}

/// Returns a translated pattern for an engine with ASCII word boundaries but no lookarounds.
pub(crate) fn with_ascii_boundaries(translated: &str) -> String {
    translated.replace(BOUNDARY, r"(?-u:\b)").replace(NO_BOUNDARY, r"(?-u:\B)")
}

/// A part of the translation that a quantifier may follow.
#[derive(Default)]
struct Atom {
    start: usize,
    expansion_before: usize,
    /// The minimum and maximum number of characters that it matches.
    min_len: usize,
    max_len: usize,
    /// The engine's rewrite may treat it, or the part before it, as a repetition.
    may_repeat: bool,
    follows_repetition: bool,
}

/// An open group, or the whole pattern.
#[derive(Default)]
struct Frame<'a> {
    /// The direction of a lookaround: `true` if it looks behind.
    is_lookbehind: Option<bool>,
    nesting: usize,
    content: Atom,
    alternative: Atom,
    /// Names of the groups that can match together with the next part, and of other alternatives.
    names: HashSet<&'a str>,
    other_names: HashSet<&'a str>,
}

/// Translates while parsing. Open groups are a list, so no source exhausts the stack.
#[derive(Default)]
struct Translator<'a> {
    source: &'a str,
    rest: &'a str,
    frame: Frame<'a>,
    enclosing: Vec<Frame<'a>>,
    output: String,
    /// The end of the last lookaround in the output.
    lookaround_end: usize,
    /// The end of the last part in the output, if the engine may treat it as a repetition.
    repetition_end: Option<usize>,
    expansion: usize,
    /// The share of copies in the expansion.
    copies: usize,
}

impl<'a> Translator<'a> {
    /// Refuses the construct at the start of the given rest of the source.
    fn refuse<T>(&self, rest: &str, construct: &'static str) -> Outcome<T> {
        Err(JavaScriptPatternError { position: self.source.len() - rest.len(), construct })
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    fn accept(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Restores the position if `read` finds nothing: Annex B reads an incomplete construct as
    /// plain characters.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.rest;
        let found = read(self);
        self.rest = if found.is_some() { self.rest } else { start };
        found
    }

    fn digits(&mut self, radix: u32, max_len: usize) -> &'a str {
        let digits = self.rest.bytes().take(max_len);
        let length = digits.take_while(|byte| char::from(*byte).is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits
    }

    fn decimal(&mut self) -> Option<usize> {
        let digits = self.digits(10, usize::MAX);
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX))
    }

    fn hexadecimal(&mut self, length: usize) -> Option<u32> {
        self.attempt(|this| {
            let digits = this.digits(16, length);
            u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == length)
        })
    }

    fn quantifier(&mut self) -> Option<(usize, Option<usize>)> {
        self.attempt(|this| match this.next()? {
            '*' => Some((0, None)),
            '+' => Some((1, None)),
            '?' => Some((0, Some(1))),
            '{' => {
                let minimum = this.decimal()?;
                let maximum = if this.accept(",") { this.decimal() } else { Some(minimum) };
                this.accept("}").then_some((minimum, maximum))
            }
            _ => None,
        })
    }

    /// Skips the name of a group, after its `?`.
    fn skip_group_name(&mut self) -> Outcome<()> {
        let start = self.rest;
        let is_name_start = |letter: char| letter.is_alphabetic() || "$_".contains(letter);
        let is_name_part =
            |letter: char| letter.is_alphanumeric() || "$_\u{200C}\u{200D}".contains(letter);
        match self.rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            Some((name, rest))
                if name.starts_with(is_name_start) && name.chars().all(is_name_part) =>
            {
                self.rest = rest;
                let has_name = |frame: &Frame<'_>| frame.names.contains(name);
                if has_name(&self.frame) || self.enclosing.iter().any(has_name) {
                    return self.refuse(start, "duplicate group name");
                }
                self.frame.names.insert(name);
                Ok(())
            }
            _ => self.refuse(self.rest, "invalid group name"),
        }
    }

    /// Reads what follows a group's parenthesis. Capturing groups become non-capturing ones, since
    /// nothing refers to them.
    fn group_opening(&mut self) -> Outcome<(&'static str, Option<bool>)> {
        if let Some(opening) = GROUP_OPENINGS.into_iter().find(|(opening, _)| self.accept(opening))
        {
            return Ok(opening);
        }
        if self.accept("?") {
            self.skip_group_name()?;
        }
        Ok(("?:", None))
    }

    fn class_escape(&mut self) -> Option<String> {
        self.attempt(|this| {
            let letter = this.next()?;
            let negation = if letter.is_ascii_uppercase() { "^" } else { "" };
            let set = match letter {
                'd' | 'D' => "0-9",
                'w' | 'W' => "0-9A-Za-z_",
                's' | 'S' => SPACE,
                _ => return None,
            };
            Some(format!("[{negation}{set}]"))
        })
    }

    /// Reads the character, or surrogate, of an escape after its backslash.
    fn character_escape(&mut self, start: &str) -> Outcome<u32> {
        let code = match self.next() {
            Some('t') => Some(0x09),
            Some('n') => Some(0x0A),
            Some('v') => Some(0x0B),
            Some('f') => Some(0x0C),
            Some('r') => Some(0x0D),
            Some('x') => self.hexadecimal(2).or(Some(u32::from('x'))),
            Some('u') => self.hexadecimal(4).or(Some(u32::from('u'))),
            // Their meaning depends on what follows and on all groups of the pattern.
            Some('0'..='9' | 'k' | 'c') => None,
            Some(letter) => Some(u32::from(letter)),
            None => return self.refuse(start, "backslash at the end"),
        };
        match code {
            Some(code) => Ok(code),
            None => self.refuse(start, "unsupported reference, octal number or control letter"),
        }
    }

    fn translate(&mut self) -> Outcome<()> {
        self.frame.content.min_len = usize::MAX;
        loop {
            let start = self.rest;
            if self.quantifier().is_some() {
                return self.refuse(start, "nothing to repeat");
            }
            match self.next() {
                Some('|') => {
                    self.output.push('|');
                    self.end_alternative(start)?;
                }
                Some('(') => self.open_group(start)?,
                Some(')') => self.close_group(start)?,
                Some('^') => self.assertion("^"),
                Some('$') => self.assertion("$"),
                Some('.') => self.character(NOT_LINE_END)?,
                Some('[') => self.class(start)?,
                Some('\\') => self.escape(start)?,
                Some(character) => self.literal(start, u32::from(character))?,
                None if self.enclosing.is_empty() => return Ok(()),
                None => return self.refuse(start, "unclosed group"),
            }
        }
    }

    fn open_group(&mut self, start: &str) -> Outcome<()> {
        let content = Atom { min_len: usize::MAX, ..self.new_atom() };
        let (opening, is_lookbehind) = self.group_opening()?;
        self.output.push('(');
        self.output.push_str(opening);
        // A lookahead may need one more group in the output.
        let nesting = self.frame.nesting + if is_lookbehind.is_some() { 2 } else { 1 };
        if nesting > NESTING_LIMIT {
            return self.refuse(start, "unsupported deeply nested group");
        }
        let alternative = self.new_atom();
        let inner = Frame { is_lookbehind, nesting, content, alternative, ..Frame::default() };
        self.enclosing.push(mem::replace(&mut self.frame, inner));
        Ok(())
    }

    fn end_alternative(&mut self, start: &str) -> Outcome<()> {
        let next = self.new_atom();
        let Frame { is_lookbehind, content, alternative, names, other_names, .. } = &mut self.frame;
        other_names.extend(names.drain());
        let finished = mem::replace(alternative, next);
        content.min_len = content.min_len.min(finished.min_len);
        content.max_len = content.max_len.max(finished.max_len);
        let has_lookaround = self.lookaround_end > finished.start;
        if *is_lookbehind == Some(true) && has_lookaround && finished.min_len != finished.max_len {
            return self.refuse(start, "unsupported lookbehind of varying length");
        }
        Ok(())
    }

    fn close_group(&mut self, start: &str) -> Outcome<()> {
        self.end_alternative(start)?;
        let Some(outer) = self.enclosing.pop() else {
            return self.refuse(start, "unmatched parenthesis");
        };
        let Frame { is_lookbehind, content: mut atom, other_names, .. } =
            mem::replace(&mut self.frame, outer);
        self.frame.names.extend(other_names);
        self.output.push(')');
        if is_lookbehind.is_some() {
            (atom.min_len, atom.max_len, self.lookaround_end) = (0, 0, self.output.len());
        }
        atom.may_repeat = is_lookbehind.is_none();
        if is_lookbehind == Some(true) {
            self.append(&atom);
            return Ok(());
        }
        self.repeat(atom)
    }

    fn escape(&mut self, start: &str) -> Outcome<()> {
        for (letter, boundary) in [("b", BOUNDARY), ("B", NO_BOUNDARY)] {
            if self.accept(letter) {
                self.assertion(boundary);
                self.lookaround_end = self.output.len();
                return Ok(());
            }
        }
        if let Some(set) = self.class_escape() {
            return self.character(&set);
        }
        let code = self.character_escape(start)?;
        self.literal(start, code)
    }

    fn class(&mut self, start: &str) -> Outcome<()> {
        let mut class = String::from(if self.accept("^") { "[^" } else { "[" });
        while !self.accept("]") {
            let first = self.class_member(start, &mut class)?;
            let dash = self.accept("-").then_some(u32::from('-'));
            let is_range = dash.is_some() && !self.rest.starts_with(']');
            let last = if is_range { self.class_member(start, &mut class)? } else { None };
            let (Some(first), Some(last)) = (first, last) else {
                for code in [first, dash, last].into_iter().flatten() {
                    self.push_range(start, &mut class, code, code)?;
                }
                continue;
            };
            self.push_range(start, &mut class, first, last)?;
        }
        match class.as_str() {
            "[" => self.character(NEVER),
            "[^" => self.character(ANYTHING),
            _ => self.character(&(class + "]")),
        }
    }

    /// Reads one character of a class. A set is added to the class and returns `None`.
    fn class_member(&mut self, start: &str, class: &mut String) -> Outcome<Option<u32>> {
        let escaped = self.accept("\\");
        if let Some(set) = if escaped { self.class_escape() } else { None } {
            class.push_str(&set);
            return Ok(None);
        }
        match escaped {
            true if self.accept("b") => Ok(Some(0x08)),
            true => self.character_escape(start).map(Some),
            false => match self.next() {
                Some(character) => Ok(Some(u32::from(character))),
                None => self.refuse(start, "unclosed class"),
            },
        }
    }

    /// Adds a range of units to a class. All surrogates stand for the characters beyond U+FFFF.
    fn push_range(&self, start: &str, class: &mut String, first: u32, last: u32) -> Outcome<()> {
        let covers_surrogates = first <= 0xD800 && (0xDFFF..=0xFFFF).contains(&last);
        if first > last || last > 0xFFFF && first < last {
            return self.refuse(start, "class range out of order");
        }
        if !covers_surrogates && first <= 0xDFFF && last >= 0xD800 {
            return self.refuse(start, "unsupported half of a character");
        }
        let supplementary = if covers_surrogates { (0x10000, 0x10FFFF) } else { (1, 0) };
        for (first, last) in [(first, last.min(0xD7FF)), (first.max(0xE000), last), supplementary] {
            if first <= last {
                class.push_str(&format!(r"\x{{{first:X}}}-\x{{{last:X}}}"));
            }
        }
        Ok(())
    }

    fn literal(&mut self, start: &str, code: u32) -> Outcome<()> {
        match char::from_u32(code) {
            Some(literal) => self.character(&fancy_regex::escape(literal.encode_utf8(&mut [0; 4]))),
            None => self.refuse(start, "unsupported half of a character"),
        }
    }

    fn new_atom(&self) -> Atom {
        let start = self.output.len();
        let follows_repetition = self.repetition_end == Some(start);
        let expansion_before = self.expansion;
        Atom { start, expansion_before, follows_repetition, ..Atom::default() }
    }

    fn character(&mut self, text: &str) -> Outcome<()> {
        let atom = Atom { min_len: 1, max_len: 1, ..self.new_atom() };
        self.output.push_str(text);
        self.repeat(atom)
    }

    fn assertion(&mut self, text: &str) {
        let atom = self.new_atom();
        self.output.push_str(text);
        self.append(&atom);
    }

    /// Adds the last written part to the open group, repeated if a quantifier follows.
    fn repeat(&mut self, mut atom: Atom) -> Outcome<()> {
        let start = self.rest;
        let Some((minimum, maximum)) = self.quantifier() else {
            self.append(&atom);
            return Ok(());
        };
        let lazy = if self.accept("?") { "?" } else { "" };
        if maximum.is_some_and(|maximum| maximum < minimum) {
            return self.refuse(start, "quantifier with numbers out of order");
        }
        if atom.max_len > 0 {
            let bound = maximum.filter(|maximum| *maximum <= EXPANSION_LIMIT);
            let written = &start[..start.len() - self.rest.len()];
            let unbounded = format!("{{{minimum},}}{lazy}");
            self.output.push_str(if bound == maximum { written } else { &unbounded });
            atom.min_len = atom.min_len.saturating_mul(minimum);
            atom.max_len = atom.max_len.saturating_mul(maximum.unwrap_or(usize::MAX).max(1));
            let copies = bound.unwrap_or(minimum).max(1);
            let written = self.expansion + 1 - atom.expansion_before;
            let expanded = written.saturating_mul(copies);
            self.copies = self.copies.saturating_add(expanded - written);
            self.expansion = atom.expansion_before.saturating_add(expanded);
            if copies > 1 && self.expansion > EXPANSION_LIMIT {
                return self.refuse(start, "unsupported large repetition");
            }
        } else if minimum == 0 {
            // The engine does not repeat assertions, and one round has the effect of many; but
            // JavaScript drops an optional round that matches the empty text.
            self.output.insert_str(atom.start, "(?:");
            self.output.push_str("|){0}");
        }
        atom.may_repeat = true;
        self.append(&atom);
        Ok(())
    }

    fn append(&mut self, atom: &Atom) {
        let sequence = &mut self.frame.alternative;
        sequence.min_len = sequence.min_len.saturating_add(atom.min_len);
        sequence.max_len = sequence.max_len.saturating_add(atom.max_len);
        self.expansion += 1;
        if atom.may_repeat && atom.follows_repetition {
            self.output.push_str(REWRITE_BARRIER);
        } else if atom.may_repeat {
            self.repetition_end = Some(self.output.len());
        }
    }
}

#[cfg(test)]
mod tests;
