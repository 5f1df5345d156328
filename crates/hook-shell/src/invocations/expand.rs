//! Words to arguments: variables, braces, tildes and blanks.

use super::reader::Reader;
use super::{Argument, UNKNOWN};
use crate::script::{Operator, Part, Word};

/// The maximum number of arguments that the braces of one word make.
const MAX_ALTERNATIVES: usize = 64;
/// The maximum length of an expanded word in characters.
const MAX_LENGTH: usize = 64 << 10;

/// The meaning of a character of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Quoted,
    Unquoted,
    /// Unquoted, from a variable: blanks separate words.
    Split,
    /// Separates words even in quotes, as in `"$@"`.
    Separator,
}

type Marked = Vec<(char, Mark)>;

impl Reader<'_> {
    /// Expands a word to arguments.
    pub(super) fn arguments(&mut self, word: &Word) -> Vec<Argument> {
        if let [Part::Text { text, is_quoted }] = word.parts.as_slice()
            && (*is_quoted || !text.contains(['*', '?', '[', '{', '~']))
        {
            return vec![Argument::plain(text.clone())];
        }
        let mut marked = Marked::new();
        let mut has_quotes = false;
        self.mark(word, false, &mut marked, &mut has_quotes);
        let mut arguments = Vec::new();
        for alternative in braces(marked) {
            let alternative = self.tilde(alternative);
            split(&alternative, has_quotes, &mut arguments);
        }
        arguments
    }

    /// Expands a word to one text, as in an assignment or a here-document.
    pub(super) fn text(&mut self, word: &Word) -> String {
        let mut marked = Marked::new();
        self.mark(word, false, &mut marked, &mut false);
        self.tilde(marked).into_iter().map(|(character, _)| character).collect()
    }

    fn mark(&mut self, word: &Word, in_quotes: bool, marked: &mut Marked, has_quotes: &mut bool) {
        for part in &word.parts {
            if marked.len() > MAX_LENGTH {
                marked.push((UNKNOWN, Mark::Quoted));
                return;
            }
            match part {
                Part::Text { text, is_quoted } => {
                    *has_quotes |= is_quoted;
                    let mark = if *is_quoted || in_quotes { Mark::Quoted } else { Mark::Unquoted };
                    marked.extend(text.chars().map(|character| (character, mark)));
                }
                Part::Variable { name, is_quoted, operator } => {
                    let is_quoted = *is_quoted || in_quotes;
                    *has_quotes |= is_quoted && name != "@";
                    self.variable(name, is_quoted, operator.as_ref(), marked, has_quotes);
                }
                Part::Substitution { script, is_quoted } => {
                    *has_quotes |= is_quoted;
                    let output = self.substitution(script);
                    let mark = if *is_quoted || in_quotes { Mark::Quoted } else { Mark::Split };
                    extend(marked, output.trim_end_matches('\n'), mark);
                }
                Part::Process { script, reads: true } => {
                    self.process_input(script);
                    extend(marked, "/dev/fd/63", Mark::Quoted);
                }
                Part::Process { script, reads: false } => {
                    let output = self.substitution(script);
                    self.process_outputs.push(output);
                    extend(marked, "/dev/fd/63", Mark::Quoted);
                }
                Part::Arithmetic(word) => {
                    // Expanded for its substitutions only.
                    self.text(word);
                    marked.push((UNKNOWN, Mark::Quoted));
                }
            }
        }
    }

    fn variable(
        &mut self,
        name: &str,
        is_quoted: bool,
        operator: Option<&Operator>,
        marked: &mut Marked,
        has_quotes: &mut bool,
    ) {
        let mark = if is_quoted { Mark::Quoted } else { Mark::Split };
        if let Some(parameters) =
            self.parameters.as_ref().filter(|_| name == "@" && operator.is_none())
        {
            for (index, parameter) in parameters.iter().enumerate() {
                if index > 0 {
                    marked.push((' ', Mark::Separator));
                }
                extend(marked, &parameter.text, mark);
            }
            return;
        }
        let value = self.value(name);
        match (operator, value) {
            (Some(Operator::Default(word)), None) => {
                self.mark(word, is_quoted, marked, has_quotes);
            }
            (Some(Operator::Default(word) | Operator::Required(word)), Some(value)) => {
                self.text(word);
                extend(marked, &value, mark);
            }
            (Some(Operator::Alternative(word)), _) => {
                self.mark(word, is_quoted, marked, has_quotes)
            }
            (Some(Operator::Other(word) | Operator::Required(word)), _) => {
                self.text(word);
                marked.push((UNKNOWN, mark));
            }
            (None, Some(value)) => extend(marked, &value, mark),
            (None, None) => marked.push((UNKNOWN, mark)),
        }
    }

    fn tilde(&mut self, mut marked: Marked) -> Marked {
        let name_end =
            marked.iter().position(|(character, _)| *character == '/').unwrap_or(marked.len());
        let is_plain = marked.first() == Some(&('~', Mark::Unquoted))
            && marked.iter().take(name_end).all(|(_, mark)| *mark == Mark::Unquoted);
        if is_plain {
            let name: String =
                marked.iter().take(name_end).skip(1).map(|(character, _)| *character).collect();
            let home = match name.as_str() {
                "" => self.known_value("HOME"),
                "+" => self.cwd_text(),
                "root" => "/root".to_owned(),
                _ => format!("/home/{name}"),
            };
            marked.splice(..name_end, home.chars().map(|character| (character, Mark::Quoted)));
        }
        marked
    }
}

fn extend(marked: &mut Marked, text: &str, mark: Mark) {
    marked.extend(text.chars().take(MAX_LENGTH).map(|character| (character, mark)));
}

/// Expands unquoted braces.
fn braces(marked: Marked) -> Vec<Marked> {
    let mut done = Vec::new();
    let mut rest = vec![marked];
    while let Some(marked) = rest.pop() {
        match first_braces(&marked).filter(|_| done.len() + rest.len() < MAX_ALTERNATIVES) {
            Some((start, end, alternatives)) => {
                for alternative in alternatives.into_iter().rev() {
                    let mut expanded: Marked = marked.get(..start).unwrap_or_default().to_vec();
                    expanded.extend(alternative);
                    expanded.extend_from_slice(marked.get(end..).unwrap_or_default());
                    rest.push(expanded);
                }
            }
            None if first_braces(&marked).is_some() => done.push(vec![(UNKNOWN, Mark::Quoted)]),
            None => done.push(marked),
        }
    }
    done
}

/// Returns the range of the first braces with alternatives, and these.
fn first_braces(marked: &Marked) -> Option<(usize, usize, Vec<Marked>)> {
    let is = |index: usize, wanted: char| marked.get(index) == Some(&(wanted, Mark::Unquoted));
    for start in (0..marked.len()).filter(|start| is(*start, '{')).take(MAX_ALTERNATIVES) {
        let (mut depth, mut commas) = (0_usize, Vec::new());
        for at in start..marked.len() {
            if is(at, '{') {
                depth += 1;
            } else if is(at, ',') && depth == 1 {
                commas.push(at);
            } else if is(at, '}') {
                depth -= 1;
                if depth == 0 {
                    let inside = marked.get(start + 1..at)?;
                    if !commas.is_empty() {
                        let mut from = start + 1;
                        let mut alternatives = Vec::new();
                        for comma in commas.into_iter().chain([at]) {
                            alternatives.push(marked.get(from..comma)?.to_vec());
                            from = comma + 1;
                        }
                        return Some((start, at + 1, alternatives));
                    }
                    let text: String = inside.iter().map(|(character, _)| *character).collect();
                    if text.contains("..") {
                        return Some((start, at + 1, vec![vec![(UNKNOWN, Mark::Quoted)]]));
                    }
                    break;
                }
            }
        }
    }
    None
}

/// Splits an expanded word at the blanks of variables.
fn split(marked: &Marked, has_quotes: bool, arguments: &mut Vec<Argument>) {
    let mut current = Argument::default();
    let mut is_open = has_quotes && marked.iter().all(|(_, mark)| *mark == Mark::Quoted);
    for (character, mark) in marked {
        match (character, mark) {
            (_, Mark::Separator) | (' ' | '\t' | '\n', Mark::Split) => {
                if is_open {
                    arguments.push(std::mem::take(&mut current));
                }
                is_open = false;
            }
            _ => {
                current.is_pattern |= *mark != Mark::Quoted && "*?[".contains(*character);
                current.text.push(*character);
                is_open = true;
            }
        }
    }
    if is_open {
        arguments.push(current);
    }
}
