//! Patterns of words: `*` for any characters, `?` for one, `[…]` for one of some, `{a,b}` for either.

use std::fmt;
use std::marker::PhantomData;

use hook_shell::glob_matches;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A value of a rule file, or a list of some.
#[derive(Debug)]
pub(crate) struct OneOrMany<T = String>(Vec<T>);

impl<T> OneOrMany<T> {
    pub(crate) fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl OneOrMany {
    pub(crate) fn into_patterns(self) -> Result<Vec<WordPattern>, String> {
        self.0.iter().map(|text| WordPattern::parse(text)).collect()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one value or a list of some")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(OneOrMany(vec![T::deserialize(text.into_deserializer())?]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok(OneOrMany(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Ok(OneOrMany(Vec::deserialize(SeqAccessDeserializer::new(list))?))
    }
}

/// The most alternatives that the braces of a pattern stand for.
const MAX_ALTERNATIVES: usize = 64;

/// A pattern of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordPattern {
    Literal(String),
    Glob(Vec<char>),
    Any(Vec<Self>),
}

impl fmt::Display for WordPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) => formatter.write_str(text),
            Self::Glob(pattern) => formatter.write_str(&pattern.iter().collect::<String>()),
            Self::Any(patterns) => {
                let patterns: Vec<_> = patterns.iter().map(Self::to_string).collect();
                formatter.write_str(&patterns.join(" or "))
            }
        }
    }
}

impl WordPattern {
    /// Parses a pattern with braces.
    ///
    /// # Errors
    /// If it has too many alternatives, or braces within braces.
    pub(crate) fn parse(pattern: &str) -> Result<Self, String> {
        let (mut rest, mut done) = (vec![pattern.to_owned()], Vec::new());
        while let Some(text) = rest.pop() {
            if rest.len() + done.len() > MAX_ALTERNATIVES {
                return Err(format!(
                    "`{}` has too many alternatives",
                    pattern.chars().take(80).collect::<String>()
                ));
            }
            let braces = text.split_once('{').and_then(|(before, rest)| {
                let (inside, after) = rest.split_once('}')?;
                inside.contains(',').then_some((before, inside, after))
            });
            let Some((before, inside, after)) = braces else {
                done.push(Self::new(&text));
                continue;
            };
            if inside.contains('{') {
                return Err(format!(
                    "`{}` has braces within braces",
                    pattern.chars().take(80).collect::<String>()
                ));
            }
            let alternatives = inside.rsplit(',');
            rest.extend(alternatives.map(|one| format!("{before}{one}{after}")));
        }
        Ok(match done.len() {
            1 => done.remove(0),
            _ => Self::Any(done),
        })
    }

    /// Creates the pattern of a text without braces.
    pub(crate) fn new(pattern: &str) -> Self {
        match pattern.contains(['*', '?', '[']) {
            true => Self::Glob(pattern.chars().collect()),
            false => Self::Literal(pattern.to_owned()),
        }
    }

    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Glob(_) | Self::Any(_) => None,
        }
    }

    /// Returns all that it matches, if that is some names.
    pub(crate) fn literals(&self) -> Option<Vec<&str>> {
        match self {
            Self::Literal(text) => Some(vec![text]),
            Self::Glob(_) => None,
            Self::Any(patterns) => {
                let names: Option<Vec<_>> = patterns.iter().map(Self::literals).collect();
                Some(names?.concat())
            }
        }
    }

    pub(crate) fn matches(&self, word: &str) -> bool {
        match self {
            Self::Literal(text) => text == word,
            Self::Glob(pattern) => glob_matches(pattern, word),
            Self::Any(patterns) => patterns.iter().any(|pattern| pattern.matches(word)),
        }
    }
}
