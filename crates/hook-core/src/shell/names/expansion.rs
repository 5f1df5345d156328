//! What the words of a command may become: variables, and what only the shell can expand.

use super::simple::Word;
use super::{GAP, MAX_VALUES, Reader, Reading, Values};
use crate::shell::lexer::Meant;
use crate::shell::loaders::is_loader;
use crate::shell::unknown::Unknown;
use crate::shell::words::{Piece, is_assignment, variable_name};

/// Variables of which only the shell knows the value, a number or a few letters.
const SHELL_VALUES: [&str; 12] =
    ["#", "$", "-", "!", "?", "EUID", "HOOK_DEPTH", "LINENO", "PPID", "RANDOM", "SECONDS", "UID"];

impl Reader<'_> {
    /// One word: what it is without its quotes, and what it may become.
    pub(super) fn word(&mut self, pieces: &[Piece], reading: Reading) -> Word {
        let literal: String = pieces.iter().map(|piece| piece.character).collect();
        let assignment = assignment(pieces);
        let is_assignment = assignment.is_some();
        let values = match &assignment {
            Some(Assignment { name, .. }) if name == "PATH" => Values::AllButPath,
            // It matters where the variable is used.
            Some(_) => Values::None,
            None => reading.values,
        };
        let expanded = self.texts(pieces, Reading { values, ..reading });
        if let Some(Assignment { name, is_added, value }) = assignment {
            let mut values = self.texts(value, Reading { shell: false, values, ..reading });
            if is_added {
                values.push(GAP.to_string());
            }
            if reading.shell {
                self.say_if_special(&name);
            }
            self.assign(&name, values);
        } else {
            let names = |text: &str| text == "PATH" || text.starts_with("PATH=");
            if expanded.iter().any(|text| names(text)) {
                self.identifiers.insert("PATH".to_owned());
            }
            if is_identifier(&literal) {
                self.identifiers.insert(literal.clone());
            }
        }
        let is_free = |it: &Piece| it.meant == Meant::Freely && "*?[{".contains(it.character);
        let is_pattern = !matches!(&*literal, "[" | "[[" | "{") && pieces.iter().any(is_free);
        Word { literal, expanded, is_assignment, is_pattern }
    }

    /// Says so of a variable that changes what a command does beyond its words.
    pub(super) fn say_if_special(&mut self, variable: &str) {
        if is_loader(variable) {
            self.unknown(Unknown::Loader(variable.to_owned()));
        }
    }

    pub(super) fn assign(&mut self, name: &str, values: Vec<String>) {
        let known = self.assigned.entry(name.to_owned()).or_default();
        for value in values {
            if !known.contains(&value) && known.len() < MAX_VALUES {
                known.push(value);
            }
        }
        if known.len() == MAX_VALUES {
            known.push(GAP.to_string());
        }
    }

    /// Every text that the shell may make of a word, with a [`GAP`] for what is not known.
    pub(super) fn texts(&mut self, word: &[Piece], reading: Reading) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut rest = word;
        let mut before = None;
        while let Some((piece, after)) = rest.split_first() {
            rest = after;
            let mut values = vec![piece.character.to_string()];
            match (piece.meant, piece.character) {
                (Meant::Literally, _) => {}
                (Meant::OpensQuotation, _) => {
                    values = vec![GAP.to_string()];
                    self.unknown_in(reading, Unknown::Expansion);
                }
                (_, '$') => (values, rest) = self.dollar(rest, piece.stretch, reading),
                (_, '`') => self.unknown_in(reading, Unknown::Substitution),
                // A directory that only the shell knows: `~-`, `~1`, `~root`.
                (Meant::Freely, '~')
                    if matches!(before, None | Some('=' | ':'))
                        && !matches!(
                            rest.first().map(|it| it.character),
                            None | Some('/' | ':')
                        ) =>
                {
                    self.unknown_in(reading, Unknown::Expansion);
                }
                _ => {}
            }
            before = Some(piece.character);
            texts = combined(texts, &values);
            if texts.len() > MAX_VALUES {
                texts.truncate(MAX_VALUES);
                self.unknown(Unknown::TooMuch);
            }
        }
        texts
    }

    /// What a dollar sign and what is behind it stand for.
    fn dollar<'p>(
        &mut self,
        rest: &'p [Piece],
        stretch: usize,
        reading: Reading,
    ) -> (Vec<String>, &'p [Piece]) {
        let itself = (vec!["$".to_owned()], rest);
        if let Some((name, after)) = variable_name(rest, stretch) {
            return (self.values(&name, reading), after);
        }
        let gap = vec![GAP.to_string()];
        let Some(next) = rest.first().filter(|next| next.stretch == stretch) else { return itself };
        let name = next.character.to_string();
        let why = match next.character {
            '(' => Unknown::Substitution,
            ' ' | '\t' | '\n' | '/' | '.' | ')' | '|' => return itself,
            it if it.is_ascii_digit() || "@*".contains(it) || SHELL_VALUES.contains(&&*name) => {
                if reading.values != Values::None {
                    self.unknown_in(reading, Unknown::Variable(name));
                }
                return (gap, rest.get(1..).unwrap_or_default());
            }
            _ => Unknown::Expansion,
        };
        self.unknown_in(reading, why);
        (gap, rest)
    }

    /// Every value that a variable may have.
    fn values(&mut self, name: &str, reading: Reading) -> Vec<String> {
        if name == "PATH" && reading.values == Values::AllButPath {
            return vec![GAP.to_string()];
        }
        let mut values = self.assigned.get(name).cloned().unwrap_or_default();
        let mut is_known = !values.is_empty();
        match (self.variable)(name) {
            Some(value) => {
                is_known = true;
                values.push(value);
            }
            // Before it is set it is nothing.
            None => values.push(String::new()),
        }
        let has_gap = values.iter().any(|value| value.contains(GAP));
        let is_given = name == "PATH" || SHELL_VALUES.contains(&name);
        // `read x` and `for x in` set it to anything.
        if !is_known || is_given || has_gap || self.identifiers.contains(name) {
            if reading.values != Values::None {
                self.unknown_in(reading, Unknown::Variable(name.to_owned()));
            }
            values.push(GAP.to_string());
        }
        values
    }
}

fn is_identifier(text: &str) -> bool {
    !text.starts_with(|it: char| it.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// A word that sets a variable.
struct Assignment<'p> {
    name: String,
    /// Whether the value is added to the one before.
    is_added: bool,
    value: &'p [Piece],
}

fn assignment(word: &[Piece]) -> Option<Assignment<'_>> {
    if !is_assignment(word) {
        return None;
    }
    let end = word.iter().position(|piece| piece.character == '=')?;
    let (name, value) = word.split_at_checked(end)?;
    let name: String = name.iter().map(|piece| piece.character).collect();
    let is_added = name.ends_with('+');
    let name = name.trim_end_matches('+').to_owned();
    Some(Assignment { name, is_added, value: value.get(1..)? })
}

fn combined(texts: Vec<String>, values: &[String]) -> Vec<String> {
    match values {
        [only] => texts.into_iter().map(|text| text + only).collect(),
        _ => texts
            .iter()
            .flat_map(|text| values.iter().map(move |it| format!("{text}{it}")))
            .collect(),
    }
}
