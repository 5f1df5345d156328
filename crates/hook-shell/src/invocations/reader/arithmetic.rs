//! Arithmetic expressions: what they may run, and whether they may fail.

use std::rc::Rc;

use super::{MAX_DEPTH, Reader};
use crate::invocations::argument::UNKNOWN;
use crate::invocations::state::{Definition, Value};
use crate::script::{Command, Operator, Part, Script, Word};

impl Reader<'_> {
    /// Returns `true` for the output of a program that prints a number.
    pub(super) fn counts(&self, script: &Script) -> bool {
        let last = match script.commands.as_slice() {
            [Command::Pipeline(commands)] => commands.last(),
            [only] => Some(only),
            _ => None,
        };
        let Some(Command::Simple(command)) = last else { return false };
        let plain = |word: &Word| match word.parts.as_slice() {
            [Part::Text { text, .. }] => Some(text.clone()),
            _ => None,
        };
        let words: Option<Vec<String>> = command.words.iter().map(plain).collect();
        let words = words.unwrap_or_default();
        match words.split_first() {
            Some((program, arguments)) if matches!(program.as_str(), "wc" | "nproc" | "date") => {
                self.state.functions.get(program) == [Definition::Program]
                    && arguments
                        .iter()
                        .all(|argument| argument.starts_with('-') || argument == "+%s")
                    && (program != "date" || !arguments.is_empty())
            }
            _ => false,
        }
    }

    /// Reads an arithmetic expression, in which values are expressions as well, and run what is in
    /// their subscripts.
    pub(super) fn arithmetic(&mut self, word: &Word) {
        let mut is_known = true;
        let mut expression = String::new();
        for part in &word.parts {
            match part {
                Part::Text { text, .. } => expression.push_str(text),
                _ => expression.push('v'),
            }
            match part {
                Part::Text { text, .. } => is_known &= self.is_number(text, 0),
                Part::Variable { name, operator: None, .. } => {
                    is_known &= self.has_number(name, 0);
                }
                Part::Variable { operator: Some(_), .. } => {
                    let word = Word { parts: vec![part.clone()], range: word.range.clone() };
                    let text = self.text(&word);
                    let is_length =
                        matches!(part, Part::Variable { operator: Some(Operator::Length(_)), .. });
                    is_known &= is_length || self.is_number(&text, 0);
                }
                Part::Substitution { script, .. } => {
                    let text = self.substitution(script);
                    is_known &= self.counts(script) || self.is_number(text.trim_end(), 0);
                }
                Part::Arithmetic(word) => self.arithmetic(word),
                Part::Process { .. } | Part::Array(_) => is_known = false,
            }
        }
        if !is_known {
            let range = self.shown(word.range.clone());
            self.opaque("only running it tells what an expression runs", range);
        }
        if !is_valid(&expression) {
            self.may_abort();
        }
    }

    /// Remembers what is possible where bash may skip the rest of the line.
    pub(super) fn may_abort(&mut self) {
        let mut state = self.state.clone();
        if !self.calls.is_empty() {
            // Parameters and local variables are those outside again.
            state.parameters = Rc::new(vec![None]);
            for (name, values) in &self.locals {
                for value in values {
                    state.variables.add(name, value.clone());
                }
            }
        }
        match &mut self.aborted {
            Some(aborted) => _ = aborted.join(&state),
            None => self.aborted = Some(state),
        }
    }

    /// Returns `true` if a text is an expression that runs nothing.
    pub(super) fn is_number(&mut self, text: &str, depth: usize) -> bool {
        if depth > MAX_DEPTH || text.contains(['$', '`', UNKNOWN]) || !self.step() {
            return false;
        }
        if depth > 0 && !is_valid(text) {
            self.may_abort();
        }
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let changes = text.contains(['=']) || text.contains("++") || text.contains("--");
        for name in text.split(|character| !is_name(character)) {
            if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            if !self.has_number(name, depth + 1) {
                return false;
            }
            if changes && self.state.variables.get(name) != [Value::Initial] {
                self.state.variables.add(name, Value::Number);
            }
        }
        true
    }

    pub(super) fn has_number(&mut self, name: &str, depth: usize) -> bool {
        if name.parse::<usize>().is_ok() || matches!(name, "@" | "*") {
            return match self.value(name) {
                Value::Text(text) => self.is_number(&text, depth + 1),
                Value::List(_) => false,
                _ => true,
            };
        }
        let values = self.state.variables.get(name).to_vec();
        values.into_iter().all(|value| match value {
            Value::Initial | Value::Unset | Value::Number => true,
            Value::Text(text) => self.is_number(&text, depth + 1),
            Value::List(values) => {
                values.iter().all(|value| self.is_number(&value.text, depth + 1))
            }
        })
    }
}

/// Returns `true` for an arithmetic expression that cannot fail, as far as that is easily told.
fn is_valid(expression: &str) -> bool {
    const OPERATORS: [&str; 15] =
        ["&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "+", "-", "*", "<", ">", "=", ","];
    let (mut wants_operand, mut is_variable, mut may_assign) = (true, false, true);
    let mut rest = expression.trim();
    let is_empty = rest.is_empty();
    while let Some(first) = rest.chars().next() {
        let length =
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (operand, behind) = rest.split_at(length);
        if wants_operand && length > 0 {
            let is_number = operand.bytes().all(|byte| byte.is_ascii_digit())
                && (length == 1 || !operand.starts_with('0') && length < 18);
            is_variable = !first.is_ascii_digit();
            if !is_variable && !is_number {
                return false;
            }
            wants_operand = false;
            rest = behind.trim_start();
            continue;
        }
        let increments = ["++", "--"].iter().find_map(|sign| rest.strip_prefix(sign));
        if let (Some(behind), false, true) = (increments, wants_operand, is_variable) {
            is_variable = false;
            rest = behind.trim_start();
            continue;
        }
        if !wants_operand && matches!(first, '/' | '%') {
            // The divisor is a number that is not zero.
            let behind = rest.get(1..).unwrap_or_default().trim_start();
            if !behind.starts_with(|digit: char| matches!(digit, '1'..='9')) {
                return false;
            }
            (wants_operand, may_assign) = (true, false);
            rest = behind;
            continue;
        }
        let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        let Some(operator) = operator.filter(|_| !wants_operand) else { return false };
        let assigns = matches!(*operator, "=" | "+=" | "-=");
        if assigns && !(may_assign && is_variable) {
            return false;
        }
        may_assign = assigns || *operator == ",";
        wants_operand = true;
        rest = rest.get(operator.len()..).unwrap_or_default().trim_start();
    }
    is_empty || !wants_operand
}
