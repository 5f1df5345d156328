//! Words to arguments: variables, braces, tildes and blanks.

use super::Reader;
use crate::invocations::argument::{Argument, UNKNOWN, UNKNOWN_TEXT};
use crate::invocations::state::{MAX_VALUES, Value};
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
    /// Expands words to arguments.
    pub(super) fn arguments<'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word>,
    ) -> Vec<Argument> {
        let words = words.into_iter();
        let mut arguments = Vec::with_capacity(words.size_hint().0);
        words.for_each(|word| self.add_arguments(word, &mut arguments));
        arguments
    }

    /// Adds the arguments that a word expands to.
    pub(super) fn add_arguments(&mut self, word: &Word, arguments: &mut Vec<Argument>) {
        if let [Part::Text { text, is_quoted }] = word.parts.as_slice()
            && (*is_quoted || !text.contains(['*', '?', '[', '{', '~']))
        {
            let is_small = self.expand(text.len());
            return arguments.push(Argument::plain(if is_small { text } else { UNKNOWN_TEXT }));
        }
        let mut marked = Marked::new();
        let mut has_quotes = false;
        self.mark(word, false, &mut marked, &mut has_quotes);
        let separators = match marked.iter().any(|(_, mark)| *mark == Mark::Split) {
            true => self.text_value("IFS"),
            false => String::new(),
        };
        for alternative in braces(marked) {
            let alternative = self.tilde(alternative);
            split(&alternative, has_quotes, &separators, arguments);
        }
    }

    /// Expands a word to one text, as in an assignment or a here-document.
    pub(super) fn text(&mut self, word: &Word) -> String {
        let mut marked = Marked::new();
        self.mark(word, false, &mut marked, &mut false);
        self.tilde(marked).into_iter().map(|(character, _)| character).collect()
    }

    fn mark(&mut self, word: &Word, in_quotes: bool, marked: &mut Marked, has_quotes: &mut bool) {
        for part in &word.parts {
            if marked.len() > MAX_LENGTH || !self.expand(0) {
                marked.push((UNKNOWN, Mark::Quoted));
                return;
            }
            match part {
                Part::Text { text, is_quoted } => {
                    *has_quotes |= is_quoted;
                    let mark = if *is_quoted || in_quotes { Mark::Quoted } else { Mark::Unquoted };
                    if self.expand(text.len()) {
                        marked.extend(text.chars().map(|character| (character, mark)));
                    }
                }
                Part::Variable { name, is_quoted, operator, .. } => {
                    let is_quoted = *is_quoted || in_quotes;
                    *has_quotes |= is_quoted && name != "@";
                    self.variable(name, is_quoted, operator.as_ref(), marked, has_quotes);
                }
                Part::Substitution { script, is_quoted } => {
                    *has_quotes |= is_quoted;
                    let output = self.substitution(script);
                    let mark = if *is_quoted || in_quotes { Mark::Quoted } else { Mark::Split };
                    self.extend(marked, output.trim_end_matches('\n'), mark);
                }
                Part::Process { script, reads: true } => {
                    self.process_input(script);
                    self.extend(marked, "/dev/fd/63", Mark::Quoted);
                }
                Part::Process { script, reads: false } => {
                    let output = self.substitution(script);
                    self.process_outputs.push(output);
                    self.extend(marked, "/dev/fd/63", Mark::Quoted);
                }
                Part::Arithmetic(word) => {
                    self.arithmetic(word);
                    marked.push((UNKNOWN, Mark::Quoted));
                }
                Part::Array(words) => {
                    self.arguments(words);
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
        let value = self.value(name);
        let is_empty = match &value {
            Value::Text(text) => text.is_empty(),
            Value::List(values) => values.is_empty(),
            _ => false,
        };
        // A text of which nothing is known may be empty, a variable of the environment unset.
        let may_be_empty = matches!(&value,
            Value::Text(text) if !text.is_empty() && text.chars().all(|character| character == UNKNOWN));
        let is_unset = matches!(value, Value::Unset);
        let has_value =
            !matches!(operator, Some(Operator::Length(_) | Operator::Alternative { .. }));
        if matches!(value, Value::Initial) && has_value && self.environment.len() < MAX_VALUES {
            self.environment.push(name.to_owned());
        }
        match operator {
            Some(Operator::Default { word, replaces_empty, assigns }) => {
                let takes_word = is_unset
                    || matches!(value, Value::Initial)
                    || is_empty && *replaces_empty
                    || may_be_empty && self.either("-");
                if !takes_word {
                    self.text(word);
                    return self.value_itself(name, &value, mark, marked);
                }
                if *assigns {
                    let text = self.text(word);
                    self.assign(name, vec![Value::Text(text)]);
                }
                self.mark(word, is_quoted, marked, has_quotes);
            }
            Some(Operator::Alternative { word, ignores_empty }) => {
                let is_left_out = is_unset
                    || is_empty && *ignores_empty
                    || (may_be_empty || matches!(value, Value::Initial)) && self.either("+");
                match is_left_out {
                    true => _ = self.text(word),
                    false => self.mark(word, is_quoted, marked, has_quotes),
                }
            }
            Some(Operator::Required(word)) => {
                self.text(word);
                self.value_itself(name, &value, mark, marked);
            }
            Some(Operator::Trim { sign, pattern }) => {
                let pattern = self.text(pattern);
                let text = match &value {
                    Value::Text(text) => trimmed(text, sign, &pattern),
                    _ => UNKNOWN.to_string(),
                };
                self.extend(marked, &text, mark);
            }
            Some(Operator::All) => match &value {
                Value::List(values) => self.all(values, true, mark, marked),
                value => self.value_itself(name, value, mark, marked),
            },
            Some(Operator::Index(word)) => {
                self.arithmetic(word);
                marked.push((UNKNOWN, mark));
            }
            Some(Operator::Indirect(word)) => {
                self.text(word);
                let is_plain = match &value {
                    Value::Text(text) => !text.contains(['$', '`', '[', UNKNOWN]),
                    Value::List(_) => false,
                    Value::Initial | Value::Unset | Value::Number => true,
                };
                if !is_plain {
                    let range = word.range.clone();
                    self.opaque("only running it tells what an expansion runs", range);
                }
                marked.push((UNKNOWN, mark));
            }
            Some(Operator::Length(word) | Operator::Other(word)) => {
                self.text(word);
                marked.push((UNKNOWN, mark));
            }
            None if matches!(name, "@" | "*") => match &value {
                Value::List(values) => self.all(values, name == "@", mark, marked),
                value => self.value_itself(name, value, mark, marked),
            },
            None => self.value_itself(name, &value, mark, marked),
        }
    }

    /// Appends a value without an operator.
    fn value_itself(&mut self, name: &str, value: &Value, mark: Mark, marked: &mut Marked) {
        match value {
            Value::Text(text) => self.extend(marked, text, mark),
            Value::Unset => {}
            Value::List(values) if matches!(name, "@" | "*") => {
                self.all(values, name == "@", mark, marked);
            }
            Value::List(values) => {
                if let Some(first) = values.first() {
                    self.extend(marked, &first.text, mark);
                }
            }
            Value::Initial | Value::Number => marked.push((UNKNOWN, mark)),
        }
    }

    /// Appends all values of a list, as words or in one.
    fn all(&mut self, values: &[Argument], as_words: bool, mark: Mark, marked: &mut Marked) {
        let separator = match as_words || mark == Mark::Split {
            true => (' ', Mark::Separator),
            // The first character of `IFS`.
            false => match self.text_value("IFS").as_str() {
                " \t\n" => (' ', Mark::Quoted),
                _ => (UNKNOWN, Mark::Quoted),
            },
        };
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                marked.push(separator);
            }
            self.extend(marked, &value.text, mark);
        }
    }

    fn extend(&mut self, marked: &mut Marked, text: &str, mark: Mark) {
        let text = if self.expand(text.len()) { text } else { UNKNOWN_TEXT };
        marked.extend(text.chars().take(MAX_LENGTH).map(|character| (character, mark)));
        if text.chars().nth(MAX_LENGTH).is_some() {
            marked.push((UNKNOWN, mark));
            self.opaque("its words expand to too much", 0..0);
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
                "" => self.text_value("HOME"),
                "+" => self.cwd_text(),
                "root" => "/root".to_owned(),
                _ => format!("/home/{name}"),
            };
            marked.splice(..name_end, home.chars().map(|character| (character, Mark::Quoted)));
        }
        marked
    }
}

/// Returns a text without a part at its start (`#`) or end (`%`), as far as that is known.
fn trimmed(text: &str, sign: &str, pattern: &str) -> String {
    let is_plain = !pattern.contains(['*', '?', '[', '\\', '(', UNKNOWN]);
    if is_plain && !text.contains(UNKNOWN)
        || text.ends_with(pattern) && sign.starts_with('%') && is_plain
    {
        let rest = match sign.starts_with('%') {
            true => text.strip_suffix(pattern),
            false => text.strip_prefix(pattern),
        };
        return rest.unwrap_or(text).to_owned();
    }
    let is_below =
        text.chars().next().is_some_and(|first| !matches!(first, '/' | '~' | '-' | UNKNOWN))
            && !text.split('/').any(|component| component == "..");
    match is_below && sign.starts_with('%') {
        true => format!("./{UNKNOWN}"),
        false => UNKNOWN.to_string(),
    }
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
    for (count, start) in (0..marked.len()).filter(|start| is(*start, '{')).enumerate() {
        if count == MAX_ALTERNATIVES {
            return Some((0, marked.len(), vec![vec![(UNKNOWN, Mark::Quoted)]]));
        }
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
fn split(marked: &Marked, has_quotes: bool, separators: &str, arguments: &mut Vec<Argument>) {
    let mut current = Argument::default();
    let mut is_open = has_quotes && marked.iter().all(|(_, mark)| *mark == Mark::Quoted);
    for (character, mark) in marked {
        match (character, mark) {
            (character, mark)
                if *mark == Mark::Separator
                    || *mark == Mark::Split && separators.contains(*character) =>
            {
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
