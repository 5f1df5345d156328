//! Patterns of words: `*` for any characters, `?` for one, `[…]` for one of some, `{a,b}` for either.

use std::fmt;
use std::marker::PhantomData;

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
    pub(crate) fn into_patterns(self) -> Vec<WordPattern> {
        self.0.iter().map(|text| WordPattern::new(text)).collect()
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

/// A pattern of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordPattern {
    Literal(String),
    Glob(Vec<char>),
    Any(Vec<Self>),
}

impl WordPattern {
    pub(crate) fn new(pattern: &str) -> Self {
        let braces = pattern.split_once('{').and_then(|(before, rest)| {
            let (inside, after) = rest.split_once('}')?;
            inside.contains(',').then_some((before, inside, after))
        });
        if let Some((before, inside, after)) = braces {
            let alternatives = inside.split(',').take(64);
            return Self::Any(
                alternatives.map(|one| Self::new(&format!("{before}{one}{after}"))).collect(),
            );
        }
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

    pub(crate) fn matches(&self, word: &str) -> bool {
        match self {
            Self::Literal(text) => text == word,
            Self::Glob(pattern) => glob_matches(pattern, word),
            Self::Any(patterns) => patterns.iter().any(|pattern| pattern.matches(word)),
        }
    }
}

/// Returns `true` if a text matches a glob of `*`, `?` and `[…]`.
pub(crate) fn glob_matches(pattern: &[char], text: &str) -> bool {
    let (mut at, mut read, mut last_star) = (0, 0, None);
    let character_at = |read: usize| text.get(read..).and_then(|rest| rest.chars().next());
    while let Some(character) = character_at(read) {
        match match_one(pattern.get(at..).unwrap_or_default(), character) {
            Some(length) => {
                at += length;
                read += character.len_utf8();
            }
            None if pattern.get(at) == Some(&'*') => {
                last_star = Some((at, read));
                at += 1;
            }
            None => match last_star {
                Some((star, begun)) => {
                    at = star + 1;
                    read = begun + character_at(begun).map_or(1, char::len_utf8);
                    last_star = Some((star, read));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|rest| *rest == '*')
}

/// Returns the length of the pattern's first part if it matches a character; a star does not.
fn match_one(pattern: &[char], character: char) -> Option<usize> {
    match pattern.first()? {
        '*' => None,
        '?' => Some(1),
        '[' => {
            let end = pattern.iter().skip(2).position(|end| *end == ']')? + 2;
            let class = pattern.get(1..end)?;
            let (class, is_negated) = match class.first() {
                Some('!' | '^') => (class.get(1..)?, true),
                _ => (class, false),
            };
            let mut is_in = false;
            let mut rest = class;
            while let Some((first, after)) = rest.split_first() {
                match after {
                    ['-', last, after @ ..] => {
                        is_in |= (*first..=*last).contains(&character);
                        rest = after;
                    }
                    _ => {
                        is_in |= *first == character;
                        rest = after;
                    }
                }
            }
            (is_in != is_negated).then_some(end + 1)
        }
        literal => (*literal == character).then_some(1),
    }
}
