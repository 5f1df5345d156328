//! Commands of commands: pipelines, conditions, loops.

use std::sync::Arc;

use super::outputs::known;
use super::{MAX_COMBINATIONS, MAX_INVOCATIONS, MAX_STEPS, MAX_TEXT, Outcome, Reader};
use crate::invocations::argument::{Argument, UNKNOWN};
use crate::invocations::invocation::{Input, Invocation};
use crate::invocations::paths::FileAccess;
use crate::invocations::state::{Definition, MAX_VALUES, State, Value};
use crate::script::{Command, GroupKind, Redirect, Script, Word};

/// The number of times that a loop is read before what still changes in it counts as unknown.
const MAX_ROUNDS: usize = 6;
/// The maximum depth of loops in loops.
const MAX_LOOPS: usize = 5;

impl Reader<'_> {
    /// Reads commands of a script, in which bash may skip the rest of a line.
    pub(super) fn commands(&mut self, commands: &[Command]) {
        let input = self.input.clone();
        self.in_order(commands, &input, |reader| {
            if let Some(aborted) = &reader.aborted
                && reader.state.join(aborted)
            {
                reader.outcome = None;
            }
        });
    }

    /// Reads commands of a group; what the group reads, they read.
    fn section(&mut self, commands: &[Command], input: &Input) {
        self.in_order(commands, input, |_| {});
    }

    fn in_order(&mut self, commands: &[Command], input: &Input, behind_each: impl Fn(&mut Self)) {
        self.outcome = None;
        let mut output = String::new();
        for command in commands {
            self.output.clear();
            self.command(command, input.clone());
            behind_each(self);
            match output.len() < MAX_TEXT {
                true => output.push_str(&self.output),
                false => output = UNKNOWN.to_string(),
            }
        }
        self.output = output;
    }

    /// Reads the commands of a substitution, and returns their output.
    pub(super) fn substitution(&mut self, script: &Script) -> String {
        let output = std::mem::take(&mut self.output);
        let processes = std::mem::take(&mut self.process_outputs);
        self.captures += 1;
        let is_read = self.deeper(0..0, |reader| {
            reader.apart(|reader| {
                reader.state.ends_on_failure = false;
                match script.has_own_text {
                    true => reader.inside(0..0, |reader| reader.script(script, 0..0)),
                    false => reader.script(script, 0..0),
                }
            });
        });
        self.captures -= 1;
        self.process_outputs = processes;
        let captured = std::mem::replace(&mut self.output, output);
        is_read.map_or_else(|| UNKNOWN.to_string(), |()| captured)
    }

    /// Reads the commands that get what is written to `>(…)`.
    pub(super) fn process_input(&mut self, script: &Script) {
        self.deeper(0..0, |reader| {
            reader.apart(|reader| reader.section(&script.commands, &Input::Unknown));
        });
    }

    pub(super) fn command(&mut self, command: &Command, input: Input) {
        self.outcome = None;
        if !self.step() {
            return;
        }
        if self.reading.invocations.len() >= MAX_INVOCATIONS {
            return self.opaque("it starts too many programs", self.shown(0..0));
        }
        match command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Pipeline(commands) => self.pipeline(commands, input),
            Command::Negated(command) => {
                self.condition(|reader| reader.command(command, input));
                let Outcome { success, failure } = self.take_outcome();
                self.set_outcome(Outcome { success: failure, failure: success });
            }
            Command::Chain { first, rest } => self.chain(first, rest, input),
            Command::Group { kind, sections, words, redirects } => {
                let mut inputs: Vec<Input> = Vec::new();
                let range = words.first().map_or(0..0, |word| word.range.clone());
                self.each_choice(range, |reader| {
                    for word in words {
                        reader.text(word);
                    }
                    let (files, input) = reader.redirects(redirects, input.clone());
                    reader.redirections_of_group(files);
                    inputs.push(input);
                });
                let outcome = self.outcome.take();
                let input = only(inputs);
                match kind {
                    GroupKind::Braces => {
                        // A condition or an expression alone.
                        self.outcome = outcome.filter(|_| sections.is_empty());
                        for section in sections {
                            self.section(section, &input);
                        }
                    }
                    GroupKind::Subshell => self.apart(|reader| {
                        for section in sections {
                            reader.section(section, &input);
                        }
                    }),
                    GroupKind::If => self.if_command(sections, &input),
                    GroupKind::Loop => {
                        let (condition, body) = match sections.as_slice() {
                            [condition, body @ ..] => (condition.as_slice(), body),
                            [] => (&[][..], &[][..]),
                        };
                        self.repeated(|reader| {
                            reader.condition(|reader| reader.section(condition, &input));
                            let Outcome { success, failure } = reader.take_outcome();
                            reader.state = success;
                            for section in body {
                                reader.section(section, &input);
                            }
                            failure
                        });
                    }
                    GroupKind::Case { has_default } => {
                        let mut after = self.state.clone();
                        let before = self.state.clone();
                        after.is_dead |= has_default;
                        let mut from = before;
                        for section in sections {
                            self.state = from.clone();
                            self.section(section, &input);
                            after.join(&self.state);
                            // With `;&` the next one follows.
                            from.join(&self.state);
                        }
                        self.state = after;
                        self.outcome = None;
                    }
                }
            }
            Command::For { variable, values, body, redirects } => {
                self.for_command(variable, values.as_deref(), body, redirects, input);
            }
            Command::Function { name, body } => {
                if !self.bodies.iter().any(|(known, _)| Arc::ptr_eq(known, body)) {
                    self.bodies.push((Arc::clone(body), false));
                }
                self.state.functions.set(name, vec![Definition::Function(Arc::clone(body))]);
            }
        }
        if let Some(since) = &mut self.since_trap {
            since.join(&self.state);
        }
    }

    /// Reads commands each of which decides about the next.
    fn chain(&mut self, first: &Command, rest: &[(bool, Command)], input: Input) {
        self.condition(|reader| reader.command(first, input.clone()));
        let mut joined = self.take_outcome();
        for (index, (if_success, command)) in rest.iter().enumerate() {
            let mut output = std::mem::take(&mut self.output);
            let decisive = if *if_success { &joined.success } else { &joined.failure };
            self.state = decisive.clone();
            // A failure of the last one ends the shell.
            let conditions = usize::from(index + 1 < rest.len());
            self.conditions += conditions;
            self.command(command, input.clone());
            self.conditions -= conditions;
            output.push_str(&self.output);
            self.output = output;
            let outcome = self.take_outcome();
            match if_success {
                true => {
                    joined.success = outcome.success;
                    joined.failure.join(&outcome.failure);
                }
                false => {
                    joined.failure = outcome.failure;
                    joined.success.join(&outcome.success);
                }
            }
        }
        self.set_outcome(joined);
    }

    /// Reads a condition, in which a failure does not end the shell.
    pub(super) fn condition<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.conditions += 1;
        let result = read(self);
        self.conditions -= 1;
        result
    }

    pub(super) fn pipeline(&mut self, commands: &[Command], input: Input) {
        let mut input = input;
        let fed_by = self.fed_by.clone();
        for (index, command) in commands.iter().enumerate() {
            self.output.clear();
            let before = self.reading.invocations.len();
            let is_read = usize::from(index + 1 < commands.len());
            self.captures += is_read;
            self.apart(|reader| reader.command(command, input));
            self.captures -= is_read;
            input = known(self.output.clone());
            let started = self.reading.invocations.iter().skip(before);
            let names: Vec<String> = started
                .map(|invocation| invocation.program().to_owned())
                .take(MAX_VALUES)
                .collect();
            if self.fed_by.len() < MAX_VALUES {
                self.fed_by.extend(names);
            }
        }
        self.fed_by = fed_by;
    }

    /// Reads conditions and what runs after each.
    pub(super) fn if_command(&mut self, sections: &[Vec<Command>], input: &Input) {
        let mut after: Option<State> = None;
        let mut output = String::new();
        for pair in sections.chunks(2) {
            match pair {
                [condition, body] => {
                    self.condition(|reader| reader.section(condition, input));
                    output.push_str(&self.output);
                    let outcome = self.take_outcome();
                    self.state = outcome.success;
                    self.section(body, input);
                    output.push_str(&self.output);
                    match &mut after {
                        Some(after) => _ = after.join(&self.state),
                        None => after = Some(self.state.clone()),
                    }
                    self.state = outcome.failure;
                }
                body => {
                    for section in body {
                        self.section(section, input);
                        output.push_str(&self.output);
                    }
                }
            }
        }
        if let Some(mut after) = after {
            after.join(&self.state);
            self.state = after;
        }
        self.outcome = None;
        self.output = output;
    }

    /// Reads a loop until nothing new is possible at its start. `read` reads it once, and returns
    /// what is possible where it ends.
    pub(super) fn repeated(&mut self, mut read: impl FnMut(&mut Self) -> State) {
        let left = self.left.take();
        self.loops += 1;
        let mut start = self.state.clone();
        let before = self.reading.invocations.len();
        let mut round = 0;
        let mut after = loop {
            self.state = start.clone();
            self.reading.invocations.truncate(before);
            let after = read(self);
            let mut next = start.clone();
            let mut has_changed = next.join(&self.state);
            if let Some(left) = &self.left {
                has_changed |= next.join(left);
            }
            round += 1;
            // What is read again costs as much as what is new.
            self.steps = self.steps.saturating_add(MAX_VALUES);
            if !has_changed || self.steps >= MAX_STEPS {
                break after;
            }
            if round >= 2 * MAX_ROUNDS || self.loops > MAX_LOOPS {
                self.opaque("a loop changes too much", self.shown(0..0));
                break after;
            }
            if round >= MAX_ROUNDS {
                next.widen(&start);
            }
            start = next;
        };
        self.loops -= 1;
        if let Some(inner) = self.left.take() {
            after.join(&inner);
            self.left = Some(inner);
        }
        // `break 2` leaves outer loops as well.
        self.leave(left);
        self.state = after;
        self.outcome = None;
        self.output = UNKNOWN.to_string();
    }

    /// Adds to what is possible where loops and functions are left.
    pub(super) fn leave(&mut self, state: Option<State>) {
        match (&mut self.left, state) {
            (Some(left), Some(state)) => _ = left.join(&state),
            (left @ None, state) => *left = state,
            (_, None) => {}
        }
    }

    pub(super) fn for_command(
        &mut self,
        variable: &str,
        words: Option<&[Word]>,
        body: &[Command],
        redirects: &[Redirect],
        input: Input,
    ) {
        let mut values: Vec<Value> = Vec::new();
        let mut may_be_empty = false;
        let mut inputs = Vec::new();
        let range = words.and_then(<[Word]>::first).map_or(0..0, |word| word.range.clone());
        self.each_choice(range, |reader| {
            let arguments = match words {
                Some(words) => reader.arguments(words),
                None => reader.parameters().unwrap_or_else(|| vec![Argument::plain(UNKNOWN)]),
            };
            may_be_empty |= arguments.iter().all(|value| value.is_pattern || value.has_unknown());
            for argument in arguments {
                let text = match argument.is_pattern {
                    true => matched(&argument.text),
                    false => argument.text,
                };
                let value = Value::Text(text);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            let (files, input) = reader.redirects(redirects, input.clone());
            reader.redirections_of_group(files);
            inputs.push(input);
        });
        let input = only(inputs);
        if values.len() > MAX_COMBINATIONS {
            values = vec![Value::Text(UNKNOWN.to_string())];
        }
        let before = self.state.clone();
        self.repeated(|reader| {
            reader.assign(variable, values.clone());
            reader.section(body, &input);
            reader.state.clone()
        });
        if may_be_empty {
            self.state.join(&before);
        }
    }

    pub(super) fn redirections_of_group(&mut self, files: Vec<FileAccess>) {
        if !files.is_empty() {
            let cwd = self.cwd.clone();
            self.push(Invocation { files, cwd, ..Invocation::default() });
        }
    }
}

/// Returns the input if all are the same.
fn only(mut inputs: Vec<Input>) -> Input {
    match inputs.pop() {
        Some(last) if inputs.iter().all(|input| *input == last) => last,
        _ => Input::Unknown,
    }
}

/// Returns what a pattern may match: of `*.c`, a file in the working directory.
fn matched(pattern: &str) -> String {
    let text = pattern.replace(['*', '?', '['], &UNKNOWN.to_string());
    match text.starts_with(UNKNOWN) {
        true => format!("./{text}"),
        false => text,
    }
}
