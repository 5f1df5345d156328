//! Programs, functions, and what they start.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::{MAX_DEPTH, MAX_INVOCATIONS, Outcome, Reader};
use crate::invocations::argument::{Argument, UNKNOWN};
use crate::invocations::files;
use crate::invocations::inline;
use crate::invocations::invocation::{Input, Invocation, file_name};
use crate::invocations::paths::{Access, FileAccess, join};
use crate::invocations::started::Started;
use crate::invocations::starters::started;
use crate::invocations::state::{Definition, Value};
use crate::script::Command;

impl Reader<'_> {
    /// Reads an invocation of an alias, a function or a program.
    pub(super) fn invoke(&mut self, invocation: Invocation) {
        let range = invocation.range.clone();
        if self.reading.invocations.len() >= MAX_INVOCATIONS || self.depth >= MAX_DEPTH {
            return self.opaque("it starts too many programs", range);
        }
        if invocation.called.has_unknown() && file_name(&invocation.called.text).contains(UNKNOWN) {
            self.opaque("only running it tells which program it starts", range.clone());
        } else if invocation.called.is_pattern && invocation.called.text != "[" {
            self.opaque("the program is a pattern of file names", range.clone());
        }
        if invocation.started_by.is_some() {
            return self.program(invocation);
        }
        let called = invocation.called.text.as_str();
        for alias in self.state.aliases.get(called).to_vec().into_iter().flatten() {
            let arguments: Vec<String> =
                invocation.arguments.iter().map(|argument| crate::quote(&argument.text)).collect();
            let text = format!("{alias} {}", arguments.join(" "));
            let aliases = self.state.aliases.clone();
            self.state.aliases.set(called, vec![None]);
            self.inside(range.clone(), |reader| reader.shell_text(&text, 0..0));
            self.state.aliases = aliases;
            self.outcome = None;
            self.state.is_dead = false;
        }
        let definitions = self.state.functions.get(called);
        if definitions == [Definition::Program] {
            self.outcome = None;
            return self.program(invocation);
        }
        let definitions = definitions.to_vec();
        let before = self.state.clone();
        let mut joined: Option<Outcome> = None;
        for definition in definitions {
            self.state = before.clone();
            self.outcome = None;
            match definition {
                Definition::Function(body) => self.call(called, &body, &invocation),
                Definition::Program => self.program(invocation.clone()),
                Definition::Unknown => {
                    self.opaque(format!("`{called}` has too many definitions"), range.clone());
                    self.program(invocation.clone());
                }
            }
            let outcome = self.take_outcome();
            match &mut joined {
                Some(joined) => joined.join(&outcome),
                None => joined = Some(outcome),
            }
        }
        if let Some(joined) = joined {
            self.set_outcome(joined);
        }
    }

    /// Records a program, and reads what it starts.
    fn program(&mut self, mut invocation: Invocation) {
        self.builtin(&invocation);
        let output = match self.captures {
            0 => String::new(),
            _ => self.output_of(&invocation),
        };
        self.is_output_redirected = false;
        enter_directory(&mut invocation);
        files::add(&mut invocation);
        let mut started = started(&invocation);
        started.extend(inline::texts(&invocation));
        let process_output = std::mem::take(&mut self.process_outputs).into_iter().next();
        self.follow_downloads(&invocation);
        if started.is_empty() {
            self.output = output;
            return self.push(invocation);
        }
        self.push(invocation.clone());
        let was_remote = self.is_remote;
        self.is_remote |= invocation.known.is_remote;
        self.depth += 1;
        let outcome = self.outcome.take();
        for started in started {
            self.started(started, &invocation, process_output.as_deref());
        }
        self.depth -= 1;
        self.is_remote = was_remote;
        self.output = output;
        if outcome.is_some() {
            self.outcome = outcome;
        }
    }

    /// Remembers the files that a program downloads, and marks one that was downloaded.
    fn follow_downloads(&mut self, invocation: &Invocation) {
        if matches!(invocation.program(), "curl" | "wget" | "scp" | "http" | "aria2c") {
            let written = invocation.files.iter().filter(|file| file.access == Access::Write);
            self.downloads.extend(written.map(|file| file.path.clone()));
        }
        self.script_file(&invocation.called.text, invocation);
    }

    /// Marks a file that is run if the text downloads it.
    fn script_file(&mut self, file: &str, by: &Invocation) {
        if self.downloads.is_empty() {
            return;
        }
        if join(by.cwd.as_deref(), file).is_some_and(|path| self.downloads.contains(&path)) {
            self.opaque("it runs a file that it downloads", by.range.clone());
        }
    }

    /// Reads something that a program starts.
    fn started(&mut self, started: Started, by: &Invocation, process_output: Option<&str>) {
        let range = by.range.clone();
        match started {
            Started::Program(words) if runs_here(by) => self.start(words, by),
            Started::Program(words) => self.apart(|reader| reader.start(words, by)),
            Started::Text(text) => self.start_text_with_input(&text, None, by),
            Started::TextWith(text, parameters) => {
                self.start_text_with_input(&text, Some(parameters), by);
            }
            Started::Unknown(reason) => self.opaque(reason, range),
            Started::Input => match &by.input {
                Input::Text(text) => self.start_text(text, None, by),
                Input::Inherited => {}
                Input::Unknown => {
                    self.opaque(format!("`{}` runs what it reads", by.program()), range);
                }
            },
            Started::Script(script) if script.text.starts_with("/dev/fd/") => {
                match process_output.filter(|output| !output.contains(UNKNOWN)) {
                    Some(output) => self.start_text(output, None, by),
                    None => {
                        let reason = format!("`{}` runs the output of a program", by.program());
                        self.opaque(reason, range);
                    }
                }
            }
            Started::Script(script) if script.text.chars().eq([UNKNOWN]) => {
                self.opaque("only running it tells which file it runs", range);
            }
            Started::Script(script) => self.script_file(&script.text, by),
            Started::File(path, access) => {
                let mut files = Vec::new();
                let path = match path.strip_prefix("~/") {
                    Some(rest) => format!("{}/{rest}", self.surroundings.home),
                    None => path,
                };
                FileAccess::add(&mut files, &path, access, by.cwd.as_deref());
                self.push(Invocation {
                    files,
                    cwd: by.cwd.clone(),
                    started_by: Some(by.program().to_owned()),
                    range,
                    ..Invocation::default()
                });
            }
        }
    }

    /// Reads the body of a function that is called.
    fn call(&mut self, name: &str, body: &Arc<Command>, by: &Invocation) {
        let known = self.bodies.iter_mut().find(|(known, _)| Arc::ptr_eq(known, body));
        if let Some((_, is_called)) = known {
            *is_called = true;
        }
        if self.calls.iter().any(|call| call == name) {
            return self.opaque(format!("the function `{name}` calls itself"), by.range.clone());
        }
        self.calls.push(name.to_owned());
        let parameters = Rc::new(vec![Some(by.arguments.clone())]);
        let parameters = std::mem::replace(&mut self.state.parameters, parameters);
        let (left, loops) = (self.left.take(), std::mem::take(&mut self.loops));
        let locals = std::mem::take(&mut self.locals);
        if !by.files.is_empty() {
            self.redirections_of_group(by.files.clone());
        }
        self.deeper(by.range.clone(), |reader| {
            reader.inside(by.range.clone(), |reader| reader.command(body, by.input.clone()));
        });
        if let Some(left) = std::mem::replace(&mut self.left, left) {
            self.state.join(&left);
            self.outcome = None;
        }
        self.loops = loops;
        let locals = std::mem::replace(&mut self.locals, locals);
        self.each_state(|state| {
            for (name, values) in &locals {
                values.iter().for_each(|value| state.variables.add(name, value.clone()));
            }
            state.parameters = Rc::clone(&parameters);
        });
        self.calls.pop();
    }

    /// Reads a program that another one starts.
    fn start(&mut self, words: Vec<Argument>, by: &Invocation) {
        // `env A=b program`
        let mut variables = by.variables.clone();
        let mut words = words.into_iter();
        let called = loop {
            let Some(word) = words.next() else { return };
            match word.text.split_once('=') {
                Some((name, value)) if !name.is_empty() && is_name(name) => {
                    let value = (!value.contains(UNKNOWN)).then(|| value.to_owned());
                    variables.push((name.to_owned(), value));
                }
                _ => break word,
            }
        };
        self.invoke(Invocation {
            variables,
            input: by.input.clone(),
            fed_by: by.fed_by.clone(),
            cwd: match by.program() {
                "env" | "sudo" => by.cwd.clone(),
                _ => self.cwd.clone(),
            },
            started_by: Some(by.program().to_owned()),
            range: by.range.clone(),
            ..Invocation::new(called, words.collect())
        });
    }

    /// Reads a shell text that a program runs.
    /// Reads a text whose commands read what the program that starts it does.
    fn start_text_with_input(
        &mut self,
        text: &str,
        parameters: Option<Vec<Argument>>,
        by: &Invocation,
    ) {
        let before = std::mem::replace(&mut self.input, by.input.clone());
        self.start_text(text, parameters, by);
        self.input = before;
    }

    fn start_text(&mut self, text: &str, parameters: Option<Vec<Argument>>, by: &Invocation) {
        if text.trim().starts_with(UNKNOWN) {
            self.opaque(
                format!("only running it tells what `{}` runs", by.program()),
                by.range.clone(),
            );
            return;
        }
        // `eval` runs in the shell itself.
        if by.called.text == "eval" {
            return self.inside(by.range.clone(), |reader| reader.shell_text(text, 0..0));
        }
        if by.called.text == "trap" {
            return self.trap(text, by);
        }
        let (left, loops) = (self.left.take(), std::mem::take(&mut self.loops));
        let conditions = std::mem::take(&mut self.conditions);
        self.apart(|reader| {
            // A shell of its own has what is exported, and what its environment had.
            let state = &mut reader.state;
            state.variables.add_to_all(&Value::Initial, &state.exported);
            state.functions.add_to_all(&Definition::Program, &HashSet::new());
            state.parameters = Rc::new(vec![parameters]);
            state.ends_on_failure = false;
            if let Some(cwd) = &by.cwd
                && matches!(by.program(), "env" | "sudo")
            {
                state.directories = Rc::new(vec![Some(cwd.clone())]);
            }
            for (name, value) in &by.variables {
                let value = value.clone().unwrap_or_else(|| UNKNOWN.to_string());
                reader.assign(name, vec![Value::Text(value)]);
            }
            reader.inside(by.range.clone(), |reader| reader.shell_text(text, 0..0));
        });
        (self.left, self.loops, self.conditions) = (left, loops, conditions);
    }
}

/// Returns `true` for builtins that run another builtin in the shell itself.
fn runs_here(invocation: &Invocation) -> bool {
    matches!(invocation.called.text.as_str(), "command" | "builtin")
        && invocation.started_by.as_deref().is_none_or(|by| matches!(by, "command" | "builtin"))
}

/// Returns `true` for letters, digits and underscores.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Applies the options by which a program works in another directory.
fn enter_directory(invocation: &mut Invocation) {
    let options: &[&str] = match invocation.program() {
        "git" => &["-C"],
        "make" | "gmake" | "ninja" => &["-C", "--directory"],
        "env" | "sudo" => &["-C", "--chdir", "-D"],
        _ => return,
    };
    if let Some(directory) = invocation.option_values(options).first() {
        invocation.cwd = join(invocation.cwd.as_deref(), directory).map(Arc::from);
    }
}
