//! The patterns and names of fields that say what is left out.

use std::borrow::Cow;
use std::collections::HashSet;

use fancy_regex::{Regex, RegexBuilder};

use super::replaced::{OwnWords, Replacing, replaced, replaced_in_text};
use crate::javascript::to_rust_pattern;

/// What stands for what was left out.
pub const REDACTED: &str = "[redacted]";

/// How many matches of one pattern are looked for in a text; behind the last one, all is left out.
/// It bounds what a pattern may cost that looks through the whole text for each match.
const MAX_MATCHES: usize = 1_000;

/// How often a pattern with lookaround or backreferences may go back in a text before the text is
/// left out as a whole. Other patterns need not go back.
const MAX_BACKTRACKS: usize = 10_000_000;

/// Replaces secrets in texts and in JSON.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    patterns: Vec<Pattern>,
    /// Names of fields, in lower case.
    fields: HashSet<String>,
    withheld: Option<String>,
}

#[derive(Debug, Clone)]
struct Pattern {
    regex: Regex,
    /// Whether it asks what is around a match: where the text begins or ends, say.
    looks_around: bool,
}

/// What asks for that in a pattern. That a `$` may be escaped only costs time.
const LOOKS_AROUND: [&str; 5] = ["^", "$", "(?=", "(?!", "(?<"];

/// Why a text cannot be a pattern of a redaction, if it cannot.
pub(crate) fn pattern_problem(source: &str) -> Option<String> {
    compile(source).err()
}

fn compile(source: &str) -> Result<Pattern, String> {
    let invalid = |reason: String| {
        let reason = crate::text::shortened(&reason);
        format!("is not a regular expression: {reason}")
    };
    let translated = to_rust_pattern(source).map_err(|error| invalid(error.to_string()))?;
    let built = RegexBuilder::new(&translated.pattern).backtrack_limit(MAX_BACKTRACKS).build();
    let regex = built.map_err(|error| invalid(error.to_string()))?;
    let looks_around = LOOKS_AROUND.iter().any(|it| source.contains(it));
    match regex.is_match("") {
        Ok(false) => Ok(Pattern { regex, looks_around }),
        _ => Err("matches the empty text, and so nothing in particular".to_owned()),
    }
}

impl Redaction {
    /// Leaves out what the patterns match, and the values of the fields. Patterns are in the flavour of
    /// matchers, and compared with upper and lower case; names of fields are not.
    pub fn new<'t>(
        patterns: impl IntoIterator<Item = &'t str>,
        fields: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let mut redaction = Self::default();
        for source in patterns {
            match compile(source) {
                Ok(pattern) => redaction.patterns.push(pattern),
                // Neither the pattern nor what is wrong with it: it may be the secret itself.
                Err(_) => return Self::withholding("one of the patterns cannot be used"),
            }
        }
        redaction.fields.extend(fields.into_iter().map(str::to_ascii_lowercase));
        redaction
    }

    /// Leaves out everything, since it is not known what is to be left out.
    pub fn withholding(why: impl Into<String>) -> Self {
        Self { withheld: Some(why.into()), ..Self::default() }
    }

    /// Whether nothing is left out.
    pub fn is_none(&self) -> bool {
        self.patterns.is_empty() && self.fields.is_empty() && self.withheld.is_none()
    }

    /// Why all values are left out, if they are.
    pub fn withheld(&self) -> Option<&str> {
        self.withheld.as_deref()
    }

    /// The text without what is to be left out.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.withheld.is_some() && !text.is_empty() {
            return Cow::Borrowed(REDACTED);
        }
        if self.is_none() {
            return Cow::Borrowed(text);
        }
        replaced_in_text(text, self)
    }

    /// JSON without what is to be left out; `None` where nothing is. `json` must be valid.
    pub fn json(&self, json: &str, own: OwnWords<'_>) -> Option<String> {
        if self.is_none() {
            return None;
        }
        replaced(json, self, own)
    }

    /// Whether the value of the field of that name is left out.
    pub fn is_field(&self, name: &str) -> bool {
        !self.fields.is_empty() && self.fields.contains(&name.to_ascii_lowercase())
    }

    /// Replaces what these patterns match in the text as it stands.
    fn matched<'t>(&self, text: &'t str, is_asked: impl Fn(&Pattern) -> bool) -> Cow<'t, str> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for pattern in self.patterns.iter().filter(|it| is_asked(it)) {
            for (count, matched) in pattern.regex.find_iter(text).enumerate() {
                match matched {
                    Ok(matched) if count < MAX_MATCHES => {
                        found.push((matched.start(), matched.end()));
                    }
                    Ok(matched) => {
                        found.push((matched.start(), text.len()));
                        break;
                    }
                    // Given up: it may have matched anywhere.
                    Err(_) => return Cow::Borrowed(REDACTED),
                }
            }
        }
        found.retain(|(start, end)| start < end);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable();
        let mut out = String::with_capacity(text.len());
        let (mut copied, mut until) = (0, None);
        for (start, end) in found {
            match until {
                // What overlaps is replaced together.
                Some(covered) if start < covered => until = Some(end.max(covered)),
                _ => {
                    let from = until.unwrap_or(copied);
                    out.push_str(text.get(from..start).unwrap_or_default());
                    out.push_str(REDACTED);
                    (copied, until) = (end, Some(end));
                }
            }
        }
        out.push_str(text.get(until.unwrap_or(copied)..).unwrap_or_default());
        Cow::Owned(out)
    }
}

impl Replacing for Redaction {
    fn replacement(&self) -> &'static str {
        REDACTED
    }

    fn in_plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.withheld {
            Some(_) if !text.is_empty() => Cow::Borrowed(REDACTED),
            _ => self.matched(text, |_| true),
        }
    }

    fn in_token<'t>(&self, token: &'t str) -> Cow<'t, str> {
        match self.withheld {
            Some(_) => Cow::Borrowed(token),
            None => self.matched(token, |pattern| pattern.looks_around),
        }
    }

    fn is_field(&self, name: &str) -> bool {
        Self::is_field(self, name)
    }

    fn withholds(&self) -> bool {
        self.withheld.is_some()
    }
}
