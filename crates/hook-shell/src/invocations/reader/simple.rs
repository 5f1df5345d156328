//! Simple commands: assignments and redirections.

use super::outputs::known;
use super::{MAX_TEXT, Reader};
use crate::invocations::argument::UNKNOWN;
use crate::invocations::invocation::{Input, Invocation, file_name};
use crate::invocations::paths::{Access, FileAccess, join};
use crate::invocations::state::{Definition, MAX_VALUES, Value};
use crate::script::{Assignment, Part, Redirect, RedirectKind, RedirectTarget, SimpleCommand};

/// Builtins that run something in the shell itself, or set variables.
const HERE: [&str; 13] = [
    "eval", "source", ".", "command", "builtin", "export", "declare", "typeset", "local",
    "readonly", "read", "printf", "exec",
];

impl Reader<'_> {
    /// Reads a simple command once for each combination of the values of its variables.
    pub(super) fn simple(&mut self, command: &SimpleCommand, input: Input) {
        let mut output: Option<String> = None;
        self.each_choice(command.range.clone(), |reader| {
            reader.output.clear();
            reader.one_of(command, input.clone());
            match &mut output {
                None => output = Some(reader.output.clone()),
                Some(output) if *output != reader.output && output.len() < MAX_TEXT => {
                    // A shell that reads it may read either.
                    output.push('\n');
                    output.push_str(&reader.output);
                }
                Some(_) => {}
            }
        });
        self.output = output.unwrap_or_default();
    }

    pub(super) fn one_of(&mut self, command: &SimpleCommand, input: Input) {
        let mut variables = Vec::new();
        let mut temporary = Vec::new();
        for assignment in &command.assignments {
            let value = self.assigned(assignment);
            let text = match &value {
                Value::Text(text) if !text.contains(UNKNOWN) => Some(text.clone()),
                _ => None,
            };
            variables.push((assignment.name.clone(), text));
            match command.words.is_empty() {
                true => {
                    self.assign(&assignment.name, vec![value]);
                    // Later parts of the command see the new value.
                    self.chosen.retain(|(name, ..)| *name != assignment.name);
                }
                false => temporary.push((assignment.name.clone(), value)),
            }
        }
        let outer = std::mem::take(&mut self.environment);
        let mut words = Vec::with_capacity(command.words.len());
        for word in &command.words {
            if !self.step() {
                self.environment = outer;
                return;
            }
            self.add_arguments(word, &mut words);
        }
        let input = match input {
            Input::Inherited if self.state.has_other_input => Input::Unknown,
            input => input,
        };
        let (files, input) = self.redirects(&command.redirects, input);
        let prints = std::mem::replace(&mut self.environment, outer);
        if matches!(words.as_slice(), [only] if only.text == "exec")
            && !command.redirects.is_empty()
        {
            self.state.has_other_input = true;
        }
        let range = self.shown(command.range.clone());
        if words.is_empty() {
            self.output.clear();
            // What the words were expanded to, the variables are now.
            for (name, value) in temporary {
                self.assign(&name, vec![value]);
            }
            if !files.is_empty() || !variables.is_empty() {
                let cwd = self.cwd.clone();
                self.push(Invocation {
                    variables,
                    files,
                    input,
                    cwd,
                    range,
                    ..Invocation::default()
                });
            }
            return;
        }
        let called = words.remove(0);
        let has_redirects = !command.redirects.is_empty();
        let is_read = self.captures > 0 || self.is_output_redirected;
        let prints = match file_name(&called.text) {
            "echo" | "printf" | "print" | "cat" if !is_read => prints,
            _ => Vec::new(),
        };
        let invocation = Invocation {
            variables,
            prints,
            files,
            input,
            fed_by: self.fed_by.clone(),
            cwd: self.cwd.clone(),
            range,
            ..Invocation::new(called, words)
        };
        let before = self.state.variables.clone();
        for (name, value) in &temporary {
            self.chosen.retain(|(chosen, ..)| chosen != name);
            self.assign(name, vec![value.clone()]);
        }
        let called = (!temporary.is_empty()).then(|| invocation.called.text.clone());
        self.invoke(invocation);
        if has_redirects {
            // A file that cannot be opened keeps even `exit` from running.
            self.each_state(|state| state.is_dead = false);
        }
        let Some(called) = called else { return };
        let runs_here = self.state.functions.get(&called) != [Definition::Program]
            || HERE.contains(&called.as_str());
        for (name, _) in temporary {
            let values = before.get(&name);
            self.each_state(|state| {
                let inner = state.variables.get(&name).to_vec();
                state.variables.set(&name, values.to_vec());
                for value in inner.into_iter().filter(|_| runs_here) {
                    state.variables.add(&name, value);
                }
            });
        }
    }

    /// Returns the value of an assignment.
    pub(super) fn assigned(&mut self, assignment: &Assignment) -> Value {
        if let Some(subscript) = &assignment.subscript {
            self.arithmetic(subscript);
            // A subscript may be out of range.
            self.may_abort();
            self.text(&assignment.value);
            return Value::Text(UNKNOWN.to_string());
        }
        let value = match assignment.value.parts.as_slice() {
            [Part::Array(words)] => {
                let mut values = Vec::new();
                for word in words {
                    if matches!(word.parts.first(), Some(Part::Text { text, is_quoted: false }) if text.starts_with('['))
                    {
                        self.arithmetic(word);
                    }
                    self.add_arguments(word, &mut values);
                }
                Value::List(values)
            }
            [Part::Arithmetic(_)] => {
                self.text(&assignment.value);
                Value::Number
            }
            [Part::Substitution { script, .. }] if self.counts(script) => {
                self.text(&assignment.value);
                Value::Number
            }
            _ => Value::Text(self.text(&assignment.value)),
        };
        if !assignment.adds {
            return value;
        }
        match (self.value(&assignment.name), value) {
            (Value::List(mut values), Value::List(more)) if values.len() < MAX_VALUES * 4 => {
                values.extend(more);
                Value::List(values)
            }
            (Value::Unset, value) => value,
            (Value::Text(before), Value::Text(more)) if before.len() < MAX_TEXT => {
                Value::Text(before + &more)
            }
            _ => Value::Text(UNKNOWN.to_string()),
        }
    }

    /// Returns the files of redirections, and the input that they leave.
    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
        mut input: Input,
    ) -> (Vec<FileAccess>, Input) {
        let mut accesses = Vec::new();
        self.is_output_redirected = false;
        for redirect in redirects {
            let is_input = redirect.descriptor.is_none_or(|descriptor| descriptor == 0);
            let Some(word) = redirect.target.word() else { continue };
            let text = match redirect.kind {
                RedirectKind::Input => {
                    let is_document = matches!(redirect.target, RedirectTarget::Document(_));
                    let text = match is_document {
                        true => self.inside(word.range.clone(), |reader| reader.text(word)),
                        false => self.text(word),
                    };
                    if is_input {
                        input = known(text);
                    }
                    continue;
                }
                _ => self.arguments([word]),
            };
            let Some(target) = text.into_iter().next() else { continue };
            let is_descriptor = target.text == "-"
                || target.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
            let access = match redirect.kind {
                RedirectKind::Duplicate if is_descriptor => {
                    // The input of another descriptor, or the output of one.
                    if redirect.descriptor == Some(0)
                        || redirect.descriptor.is_none() && target.text != "2" && target.text != "1"
                    {
                        input = Input::Unknown;
                    }
                    continue;
                }
                RedirectKind::Read => Access::Read,
                _ => Access::Write,
            };
            let is_output = matches!(
                join(None, &target.text).as_deref(),
                Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" | "/proc/thread-self/fd/1")
            );
            let writes_output =
                redirect.descriptor.is_none_or(|descriptor| descriptor == 1) && !is_output;
            self.is_output_redirected |= access == Access::Write && writes_output;
            if matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) && is_input {
                input = match target.text == "/dev/null" {
                    true => Input::Text(String::new()),
                    false => self.process_outputs.pop().map_or(Input::Unknown, known),
                };
            }
            FileAccess::add(&mut accesses, &target.text, access, self.cwd.as_deref());
            if redirect.kind == RedirectKind::ReadWrite {
                FileAccess::add(&mut accesses, &target.text, Access::Read, self.cwd.as_deref());
            }
        }
        (accesses, input)
    }
}
