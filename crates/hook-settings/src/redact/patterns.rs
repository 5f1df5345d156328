//! The patterns and field names that are redacted.

use std::borrow::Cow;
use std::collections::HashSet;

use fancy_regex::{Regex, RegexBuilder};

use super::replace::{Exemptions, Replacer, replace_in_json, replace_in_text};
use crate::javascript::to_rust_pattern;

/// The replacement for redacted values.
pub const REDACTED: &str = "[redacted]";

/// The maximum number of matches of one pattern in a text; the rest after the last one is redacted.
/// It bounds the cost of a pattern that searches the whole text for each match.
const MAX_MATCHES: usize = 1_000;

/// The backtracking limit of patterns with lookaround or backreferences; beyond it the whole text
/// is redacted. Other patterns do not backtrack.
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
    /// `true` if the pattern depends on the text around a match, as with anchors.
    looks_around: bool,
}

/// The syntax of patterns that look around. An escaped `$` counts too, which only costs time.
const LOOKS_AROUND: [&str; 5] = ["^", "$", "(?=", "(?!", "(?<"];

/// Returns the reason why a text is not a valid pattern, or `None`.
pub(crate) fn pattern_error(source: &str) -> Option<String> {
    compile(source).err()
}

fn compile(source: &str) -> Result<Pattern, String> {
    let invalid = |reason: String| {
        let reason = hook_json::text::shortened(&reason);
        format!("is not a regular expression: {reason}")
    };
    let translated = to_rust_pattern(source).map_err(|error| invalid(error.to_string()))?;
    let built = RegexBuilder::new(&translated.pattern).backtrack_limit(MAX_BACKTRACKS).build();
    let regex = built.map_err(|error| invalid(error.to_string()))?;
    let looks_around = LOOKS_AROUND.iter().any(|syntax| source.contains(syntax));
    match regex.is_match("") {
        Ok(false) => Ok(Pattern { regex, looks_around }),
        _ => Err("matches the empty text, and so nothing in particular".to_owned()),
    }
}

impl Redaction {
    /// Creates a redaction of the patterns' matches and of the fields' values. Patterns have the
    /// syntax of matchers and are case-sensitive; names of fields are not.
    pub fn new<'t>(
        patterns: impl IntoIterator<Item = &'t str>,
        fields: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let mut redaction = Self::default();
        for source in patterns {
            match compile(source) {
                Ok(pattern) => redaction.patterns.push(pattern),
                // The message has neither pattern nor error: the pattern may be the secret itself.
                Err(_) => return Self::withholding("one of the patterns cannot be used"),
            }
        }
        redaction.fields.extend(fields.into_iter().map(str::to_ascii_lowercase));
        redaction
    }

    /// Creates a redaction of everything, because the patterns are unknown.
    pub fn withholding(reason: impl Into<String>) -> Self {
        Self { withheld: Some(reason.into()), ..Self::default() }
    }

    /// Returns `true` if nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.fields.is_empty() && self.withheld.is_none()
    }

    /// Returns the reason why all values are redacted, if they are.
    pub fn withheld(&self) -> Option<&str> {
        self.withheld.as_deref()
    }

    /// Returns the redacted text.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.withheld.is_some() && !text.is_empty() {
            return Cow::Borrowed(REDACTED);
        }
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        replace_in_text(text, self)
    }

    /// Returns the redacted JSON, or `None` if it needs no change. `json` must be valid.
    pub fn json(&self, json: &str, exempt: Exemptions<'_>) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        replace_in_json(json, self, exempt)
    }

    /// Returns `true` if values of the field are redacted.
    pub fn is_field(&self, name: &str) -> bool {
        !self.fields.is_empty() && self.fields.contains(&name.to_ascii_lowercase())
    }

    /// Redacts matches of the selected patterns in the text, without a search for JSON.
    fn redact_matches<'t>(
        &self,
        text: &'t str,
        is_selected: impl Fn(&Pattern) -> bool,
    ) -> Cow<'t, str> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for pattern in self.patterns.iter().filter(|candidate| is_selected(candidate)) {
            for (count, matched) in pattern.regex.find_iter(text).enumerate() {
                match matched {
                    Ok(matched) if count < MAX_MATCHES => {
                        found.push((matched.start(), matched.end()));
                    }
                    Ok(matched) => {
                        found.push((matched.start(), text.len()));
                        break;
                    }
                    // At the backtracking limit, it may have matched anywhere.
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
        let (mut copied, mut covered_end) = (0, None);
        for (start, end) in found {
            match covered_end {
                // Overlapping matches are replaced together.
                Some(covered) if start < covered => covered_end = Some(end.max(covered)),
                _ => {
                    let from = covered_end.unwrap_or(copied);
                    out.push_str(text.get(from..start).unwrap_or_default());
                    out.push_str(REDACTED);
                    (copied, covered_end) = (end, Some(end));
                }
            }
        }
        out.push_str(text.get(covered_end.unwrap_or(copied)..).unwrap_or_default());
        Cow::Owned(out)
    }
}

impl Replacer for Redaction {
    fn replacement(&self) -> &'static str {
        REDACTED
    }

    fn replace_plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.withheld {
            Some(_) if !text.is_empty() => Cow::Borrowed(REDACTED),
            _ => self.redact_matches(text, |_| true),
        }
    }

    fn replace_token<'t>(&self, token: &'t str) -> Cow<'t, str> {
        match self.withheld {
            Some(_) => Cow::Borrowed(token),
            None => self.redact_matches(token, |pattern| pattern.looks_around),
        }
    }

    fn is_field(&self, name: &str) -> bool {
        Self::is_field(self, name)
    }

    fn withholds_all(&self) -> bool {
        self.withheld.is_some()
    }
}
