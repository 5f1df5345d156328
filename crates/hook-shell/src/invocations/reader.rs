//! Scripts to invocations.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::starters::{self, Started};
use super::state::{Definition, MAX_VALUES, State, Value};
use super::{
    Access, Argument, FileAccess, Input, Invocation, Opaque, Reading, Surroundings, UNKNOWN,
};
use super::{files, inline, program_name};
use crate::script::{
    Command, GroupKind, Part, Redirect, RedirectKind, Script, SimpleCommand, Word,
};

mod builtins;

/// The maximum number of programs that are read of a text.
const MAX_INVOCATIONS: usize = 4_000;
/// The maximum depth of programs that start each other, and of calls of functions.
const MAX_DEPTH: usize = 12;
/// The maximum number of combinations of values of variables in a command.
const MAX_COMBINATIONS: usize = 64;
/// The maximum length of a text that a shell gets.
const MAX_TEXT: usize = 128 << 10;
/// The maximum number of commands and words that are read.
const MAX_STEPS: usize = 50_000;
/// The maximum number of bytes to which the words of a text expand, and that its programs get.
const MAX_EXPANDED: usize = 1 << 20;
/// The number of times that a loop is read before what still changes in it counts as unknown.
const MAX_ROUNDS: usize = 6;

/// Variables that the shell itself sets again and again.
const DYNAMIC: [&str; 9] = [
    "_",
    "BASH_COMMAND",
    "BASH_REMATCH",
    "DIRSTACK",
    "FUNCNAME",
    "OPTARG",
    "PIPESTATUS",
    "RANDOM",
    "REPLY",
];
/// The maximum depth of loops in loops.
const MAX_LOOPS: usize = 5;

/// Variables that change what later commands mean.
const SPECIAL: [&str; 6] =
    ["BASH_ALIASES", "BASH_CMDS", "CDPATH", "FUNCNEST", "PROMPT_COMMAND", "PS4"];

/// Builtins that run something in the shell itself, or set variables.
const HERE: [&str; 13] = [
    "eval", "source", ".", "command", "builtin", "export", "declare", "typeset", "local",
    "readonly", "read", "printf", "exec",
];

/// The states behind a command that succeeds, and one that fails.
#[derive(Debug, Clone)]
struct Outcome {
    success: State,
    failure: State,
}

impl Outcome {
    fn join(&mut self, other: &Self) {
        self.success.join(&other.success);
        self.failure.join(&other.failure);
    }

    fn state(&self) -> State {
        let mut state = self.success.clone();
        state.join(&self.failure);
        state
    }
}

pub(super) struct Reader<'s> {
    surroundings: &'s Surroundings<'s>,
    reading: Reading,
    /// What is possible now.
    pub(super) state: State,
    /// What was possible behind the last command, if its success tells something about that.
    outcome: Option<Outcome>,
    /// What was possible where loops and functions were left.
    left: Option<State>,
    /// The texts of traps, and all that was possible since.
    traps: Vec<(String, Range<usize>)>,
    since_trap: Option<State>,
    /// The bodies of functions, with `true` for those that were called.
    bodies: Vec<(Arc<Command>, bool)>,
    /// The working directory of the command that is read.
    cwd: Option<String>,
    depth: usize,
    /// The functions that are read.
    calls: Vec<String>,
    /// What was possible where an expression may have failed: bash skips the rest of its line.
    aborted: Option<State>,
    /// Variables that may be `readonly`.
    constants: HashSet<String>,
    /// What the variables that functions made local were before.
    locals: Vec<(String, Vec<Value>)>,
    /// The number of loops around the command, in its function.
    loops: usize,
    /// The number of conditions around the command, in which a failure ends nothing.
    conditions: usize,
    /// The range of texts in which positions are not those of the text itself.
    outer: Option<Range<usize>>,
    /// The combination of values that is read, and the number of combinations met.
    choice: usize,
    combinations: usize,
    /// The choices made for the command: name, number of values, index.
    chosen: Vec<(String, usize, usize)>,
    /// The output of the commands that were read last.
    output: String,
    /// `true` while a text or program of another machine is read.
    is_remote: bool,
    /// The number of commands and words read so far.
    steps: usize,
    /// The number of bytes of expanded words.
    expanded: usize,
    /// The programs before this one in its pipeline.
    fed_by: Vec<String>,
    /// Files that the text downloads.
    downloads: Vec<String>,
    /// `true` if the redirections that were read last take the standard output away.
    is_output_redirected: bool,
    /// The outputs of `<(…)` in the command that is read.
    pub(super) process_outputs: Vec<String>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(surroundings: &'s Surroundings<'s>) -> Self {
        let state = State {
            directories: Rc::new(vec![Some(surroundings.cwd.to_owned())]),
            parameters: Rc::new(vec![None]),
            ..State::default()
        };
        Self {
            surroundings,
            reading: Reading::default(),
            state,
            outcome: None,
            left: None,
            traps: Vec::new(),
            since_trap: None,
            bodies: Vec::new(),
            cwd: Some(surroundings.cwd.to_owned()),
            depth: 0,
            calls: Vec::new(),
            aborted: None,
            constants: HashSet::new(),
            locals: Vec::new(),
            loops: 0,
            conditions: 0,
            outer: None,
            choice: 0,
            combinations: 1,
            chosen: Vec::new(),
            output: String::new(),
            is_remote: false,
            steps: 0,
            expanded: 0,
            fed_by: Vec::new(),
            downloads: Vec::new(),
            is_output_redirected: false,
            process_outputs: Vec::new(),
        }
    }

    /// Reads the text, and then what it leaves for later: traps, and functions that were not called.
    pub(super) fn read(mut self, text: &str) -> Reading {
        let range = 0..text.len();
        self.shell_text(text, range.clone());
        if let Some(since) = self.since_trap.take() {
            self.state.join(&since);
            for (trap, range) in std::mem::take(&mut self.traps) {
                self.state.is_dead = false;
                self.inside(range, |reader| reader.shell_text(&trap, 0..0));
            }
        }
        self.state.is_dead = false;
        self.state.parameters = Rc::new(vec![None]);
        let end = self.state.clone();
        while let Some((body, is_called)) = self.bodies.iter_mut().find(|(_, is_called)| !is_called)
        {
            *is_called = true;
            let body = Arc::clone(body);
            self.state = end.clone();
            self.inside(range.clone(), |reader| reader.command(&body, Input::Unknown));
        }
        self.reading
    }

    /// Counts bytes of expanded words; `false` at the limit, where the rest is opaque.
    pub(super) fn expand(&mut self, length: usize) -> bool {
        let before = self.expanded;
        self.expanded = self.expanded.saturating_add(length);
        if before <= MAX_EXPANDED && self.expanded > MAX_EXPANDED {
            self.opaque("its words expand to too much", self.shown(0..0));
        }
        self.expanded <= MAX_EXPANDED
    }

    /// Counts a step; `false` at the limit, where the rest is opaque.
    pub(super) fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_add(1);
        if self.steps >= MAX_STEPS {
            self.opaque("it does too much", self.shown(0..0));
        }
        self.steps < MAX_STEPS
    }

    /// Returns a variable's value as a text.
    pub(super) fn text_value(&mut self, name: &str) -> String {
        match self.value(name) {
            Value::Text(text) => text,
            Value::Unset => String::new(),
            Value::List(values) => {
                values.into_iter().next().map(|value| value.text).unwrap_or_default()
            }
            Value::Initial | Value::Number => UNKNOWN.to_string(),
        }
    }

    /// Reads the commands that get what is written to `>(…)`.
    pub(super) fn process_input(&mut self, script: &Script) {
        if self.depth >= MAX_DEPTH {
            return self.opaque("it is nested too deeply", self.shown(0..0));
        }
        self.depth += 1;
        self.apart(|reader| {
            for command in &script.commands {
                reader.command(command, Input::Unknown);
            }
        });
        self.depth -= 1;
    }

    pub(super) fn cwd_text(&self) -> String {
        self.cwd.clone().unwrap_or_else(|| UNKNOWN.to_string())
    }

    /// Marks a part as opaque.
    pub(super) fn opaque(&mut self, reason: impl Into<String>, range: Range<usize>) {
        let opaque = Opaque { reason: reason.into(), range };
        if self.reading.opaque.len() < MAX_VALUES && !self.reading.opaque.contains(&opaque) {
            self.reading.opaque.push(opaque);
        }
    }

    /// Runs a function in a process of its own, whose changes end with it.
    fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let (state, cwd) = (self.state.clone(), self.cwd.clone());
        let result = read(self);
        self.state = state;
        self.cwd = cwd;
        self.outcome = None;
        result
    }

    /// Returns what is possible behind the command that was read last.
    fn take_outcome(&mut self) -> Outcome {
        self.outcome
            .take()
            .unwrap_or_else(|| Outcome { success: self.state.clone(), failure: self.state.clone() })
    }

    fn set_outcome(&mut self, outcome: Outcome) {
        self.state = outcome.state();
        self.outcome = Some(outcome);
    }

    /// Chooses one of so many values for the command that is read, the same for a name each time.
    fn choose(&mut self, name: &str, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        if let Some((.., index)) =
            self.chosen.iter().find(|(chosen, of, _)| chosen == name && *of == count)
        {
            return *index;
        }
        let index = (self.choice / self.combinations) % count;
        self.combinations = self.combinations.saturating_mul(count);
        self.chosen.push((name.to_owned(), count, index));
        index
    }

    /// Returns `true` for one of two possibilities, which are both read.
    pub(super) fn either(&mut self, name: &str) -> bool {
        self.choose(name, 2) == 0
    }

    /// Reads something once for each combination of the values of its variables and directories.
    fn each_choice(&mut self, range: Range<usize>, mut read: impl FnMut(&mut Self)) {
        let (choice, combinations) = (self.choice, self.combinations);
        let chosen = std::mem::take(&mut self.chosen);
        let cwd = self.cwd.clone();
        let before = self.state.clone();
        let mut joined: Option<Outcome> = None;
        let (mut index, mut count) = (0, 1);
        while index < count {
            self.state = before.clone();
            self.choice = index;
            self.combinations = 1;
            self.chosen.clear();
            self.process_outputs.clear();
            self.outcome = None;
            let directory = self.choose("/", before.directories.len());
            self.cwd = before.directories.get(directory).cloned().flatten();
            read(self);
            count = count.max(self.combinations);
            if count > MAX_COMBINATIONS {
                self.opaque("its variables have too many values", self.shown(range.clone()));
                count = MAX_COMBINATIONS;
            }
            let outcome = self.take_outcome();
            match &mut joined {
                Some(joined) => joined.join(&outcome),
                None => joined = Some(outcome),
            }
            index += 1;
        }
        if let Some(joined) = joined {
            self.set_outcome(joined);
        }
        self.cwd = cwd;
        self.choice = choice;
        self.combinations = combinations;
        self.chosen = chosen;
    }

    /// Reads a shell's text.
    fn shell_text(&mut self, text: &str, range: Range<usize>) {
        if text.len() > MAX_TEXT || self.depth >= MAX_DEPTH {
            self.opaque("it is too long or nested too deeply", range);
            return;
        }
        let script = Script::parse(text);
        self.depth += 1;
        self.script(&script, 0..text.len());
        self.depth -= 1;
    }

    fn script(&mut self, script: &Script, range: Range<usize>) {
        if let Some(reason) = script.unread {
            self.opaque(reason, self.shown(range));
        }
        self.commands(&script.commands);
    }

    /// Returns the range in the text itself.
    fn shown(&self, range: Range<usize>) -> Range<usize> {
        self.outer.clone().unwrap_or(range)
    }

    /// Runs a function on a text whose positions are not those of the text itself.
    fn inside<T>(&mut self, range: Range<usize>, read: impl FnOnce(&mut Self) -> T) -> T {
        let range = self.shown(range);
        let outer = self.outer.replace(range);
        let result = read(self);
        self.outer = outer;
        result
    }

    fn commands(&mut self, commands: &[Command]) {
        let mut output = String::new();
        for command in commands {
            self.output.clear();
            self.command(command, Input::Inherited);
            if let Some(aborted) = &self.aborted
                && self.state.join(aborted)
            {
                self.outcome = None;
            }
            match output.len() < MAX_TEXT {
                true => output.push_str(&self.output),
                false => output = UNKNOWN.to_string(),
            }
        }
        self.output = output;
    }

    /// Reads the commands of a substitution, and returns their output.
    pub(super) fn substitution(&mut self, script: &Script) -> String {
        if self.depth >= MAX_DEPTH {
            self.opaque("it is nested too deeply", self.shown(0..0));
            return UNKNOWN.to_string();
        }
        self.depth += 1;
        let output = std::mem::take(&mut self.output);
        let processes = std::mem::take(&mut self.process_outputs);
        self.apart(|reader| {
            reader.state.ends_on_failure = false;
            match script.has_own_text {
                true => reader.inside(0..0, |reader| reader.script(script, 0..0)),
                false => reader.script(script, 0..0),
            }
        });
        self.process_outputs = processes;
        self.depth -= 1;
        std::mem::replace(&mut self.output, output)
    }

    fn command(&mut self, command: &Command, input: Input) {
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
            Command::Chain { left, if_success, right } => {
                self.condition(|reader| reader.command(left, input.clone()));
                let output = std::mem::take(&mut self.output);
                let mut joined = self.take_outcome();
                self.state = match if_success {
                    true => joined.success.clone(),
                    false => joined.failure.clone(),
                };
                self.command(right, input);
                let right = self.take_outcome();
                match if_success {
                    true => {
                        joined.success = right.success;
                        joined.failure.join(&right.failure);
                    }
                    false => {
                        joined.failure = right.failure;
                        joined.success.join(&right.success);
                    }
                }
                self.set_outcome(joined);
                self.output.insert_str(0, &output);
            }
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

    /// Reads a condition, in which a failure does not end the shell.
    fn condition<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.conditions += 1;
        let result = read(self);
        self.conditions -= 1;
        result
    }

    /// Reads commands of a group; what the group reads, they read.
    fn section(&mut self, commands: &[Command], input: &Input) {
        self.outcome = None;
        let mut output = String::new();
        for command in commands {
            self.output.clear();
            self.command(command, input.clone());
            match output.len() < MAX_TEXT {
                true => output.push_str(&self.output),
                false => output = UNKNOWN.to_string(),
            }
        }
        self.output = output;
    }

    fn pipeline(&mut self, commands: &[Command], input: Input) {
        let mut input = input;
        let fed_by = self.fed_by.clone();
        for command in commands {
            self.output.clear();
            let before = self.reading.invocations.len();
            self.apart(|reader| reader.command(command, input));
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
    fn if_command(&mut self, sections: &[Vec<Command>], input: &Input) {
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
    fn repeated(&mut self, mut read: impl FnMut(&mut Self) -> State) {
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
    fn leave(&mut self, state: Option<State>) {
        match (&mut self.left, state) {
            (Some(left), Some(state)) => _ = left.join(&state),
            (left @ None, state) => *left = state,
            (_, None) => {}
        }
    }

    fn for_command(
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
                Some(words) => words.iter().flat_map(|word| reader.arguments(word)).collect(),
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

    fn redirections_of_group(&mut self, files: Vec<FileAccess>) {
        if !files.is_empty() {
            let cwd = self.cwd.clone();
            self.push(Invocation { files, cwd, ..Invocation::default() });
        }
    }

    fn push(&mut self, mut invocation: Invocation) {
        invocation.is_remote = self.is_remote;
        let input = if let Input::Text(text) = &invocation.input { text.len() } else { 0 };
        let words: usize = invocation.arguments.iter().map(|argument| argument.text.len()).sum();
        if !self.expand(input + words) {
            return;
        }
        if invocation.range.is_empty() {
            invocation.range = self.shown(invocation.range);
        }
        self.reading.invocations.push(invocation);
    }

    /// Returns the positional parameters that are chosen.
    pub(super) fn parameters(&mut self) -> Option<Vec<Argument>> {
        let parameters = Rc::clone(&self.state.parameters);
        let index = self.choose("@", parameters.len());
        parameters.get(index).cloned().flatten()
    }

    /// Returns the value of a variable that is chosen.
    pub(super) fn value(&mut self, name: &str) -> Value {
        let number = name.parse::<usize>().ok();
        match name {
            "?" | "$" | "!" => return Value::Number,
            "@" | "*" | "#" => {}
            _ if number.is_some_and(|number| number > 0) => {}
            _ => return self.named_value(name),
        }
        let Some(parameters) = self.parameters() else {
            return if name == "#" { Value::Number } else { Value::Initial };
        };
        match (name, number) {
            ("#", _) => Value::Text(parameters.len().to_string()),
            (_, Some(number)) => parameters
                .get(number - 1)
                .map_or(Value::Unset, |argument| Value::Text(argument.text.clone())),
            _ if parameters.is_empty() => Value::Unset,
            _ => Value::List(parameters),
        }
    }

    fn named_value(&mut self, name: &str) -> Value {
        let count = self.state.variables.get(name).len();
        let index = self.choose(name, count);
        match self.state.variables.get(name).get(index).cloned().unwrap_or(Value::Initial) {
            Value::Initial => {}
            value => return value,
        }
        let text = match name {
            "HOME" => self.surroundings.home.to_owned(),
            "PWD" => self.cwd_text(),
            "TMPDIR" | "TMP" | "TEMP" => "/tmp".to_owned(),
            "IFS" => " \t\n".to_owned(),
            "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" => return Value::Number,
            "HOOK_PROJECT_DIR" | "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => {
                self.surroundings.project.to_owned()
            }
            _ => return Value::Initial,
        };
        Value::Text(text)
    }

    /// Gives a variable values.
    pub(super) fn assign(&mut self, name: &str, values: Vec<Value>) {
        if SPECIAL.contains(&name)
            || name == "IFS"
                && values
                    .iter()
                    .any(|value| !matches!(value, Value::Text(text) if !text.contains(UNKNOWN)))
        {
            let reason = format!("`{name}` changes what later commands mean");
            self.opaque(reason, self.shown(0..0));
        }
        if self.constants.contains(name) {
            // Bash skips the rest of the line.
            self.opaque("it assigns to a constant", self.shown(0..0));
        }
        match DYNAMIC.contains(&name) {
            true => self.state.variables.set(name, vec![Value::Text(UNKNOWN.to_string())]),
            false => self.state.variables.set(name, values),
        }
    }

    fn forget(&mut self, name: &str) {
        self.assign(name, vec![Value::Text(UNKNOWN.to_string())]);
    }

    /// Reads a simple command once for each combination of the values of its variables.
    fn simple(&mut self, command: &SimpleCommand, input: Input) {
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

    /// Returns the value of an assignment.
    fn assigned(&mut self, assignment: &crate::script::Assignment) -> Value {
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
                    values.extend(self.arguments(word));
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

    /// Returns `true` for the output of a program that prints a number.
    fn counts(&self, script: &Script) -> bool {
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
                    let is_length = matches!(
                        part,
                        Part::Variable { operator: Some(crate::script::Operator::Length(_)), .. }
                    );
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
    fn may_abort(&mut self) {
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
    fn is_number(&mut self, text: &str, depth: usize) -> bool {
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

    fn has_number(&mut self, name: &str, depth: usize) -> bool {
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

    fn one_of(&mut self, command: &SimpleCommand, input: Input) {
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
        let mut words = Vec::new();
        for word in &command.words {
            if !self.step() {
                return;
            }
            words.extend(self.arguments(word));
        }
        let input = match input {
            Input::Inherited if self.state.has_other_input => Input::Unknown,
            input => input,
        };
        let (files, input) = self.redirects(&command.redirects, input);
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
        let invocation = Invocation {
            called,
            arguments: words,
            variables,
            files,
            input,
            fed_by: self.fed_by.clone(),
            cwd: self.cwd.clone(),
            started_by: None,
            is_remote: false,
            range,
        };
        let before = self.state.variables.clone();
        for (name, value) in &temporary {
            self.chosen.retain(|(chosen, ..)| chosen != name);
            self.assign(name, vec![value.clone()]);
        }
        let called = invocation.called.text.clone();
        self.invoke(invocation);
        if has_redirects {
            // A file that cannot be opened keeps even `exit` from running.
            let outcome = self.outcome.iter_mut();
            let states = outcome.flat_map(|outcome| [&mut outcome.success, &mut outcome.failure]);
            states.chain([&mut self.state]).for_each(|state| state.is_dead = false);
        }
        let runs_here = self.state.functions.get(&called) != [Definition::Program]
            || HERE.contains(&called.as_str());
        for (name, _) in temporary {
            let values = before.get(&name).to_vec();
            let restore = |state: &mut State| {
                let inner = state.variables.get(&name).to_vec();
                state.variables.set(&name, values.clone());
                for value in inner.into_iter().filter(|_| runs_here) {
                    state.variables.add(&name, value);
                }
            };
            restore(&mut self.state);
            if let Some(outcome) = &mut self.outcome {
                restore(&mut outcome.success);
                restore(&mut outcome.failure);
            }
        }
    }

    /// Returns the files of redirections, and the input that they leave.
    fn redirects(&mut self, redirects: &[Redirect], mut input: Input) -> (Vec<FileAccess>, Input) {
        let mut accesses = Vec::new();
        self.is_output_redirected = false;
        for redirect in redirects {
            let is_input = redirect.descriptor.is_none_or(|descriptor| descriptor == 0);
            let Some(word) = redirect.target.word() else { continue };
            let text = match redirect.kind {
                RedirectKind::Input => {
                    let is_document =
                        matches!(redirect.target, crate::script::RedirectTarget::Document(_));
                    let text = match is_document {
                        true => self.inside(word.range.clone(), |reader| reader.text(word)),
                        false => self.text(word),
                    };
                    if is_input {
                        input = known(text);
                    }
                    continue;
                }
                _ => self.arguments(word),
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
                files::join(None, &target.text).as_deref(),
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

    /// Reads an invocation of an alias, a function or a program.
    fn invoke(&mut self, invocation: Invocation) {
        let range = invocation.range.clone();
        if self.reading.invocations.len() >= MAX_INVOCATIONS || self.depth >= MAX_DEPTH {
            return self.opaque("it starts too many programs", range);
        }
        if invocation.called.has_unknown()
            && program_name(&invocation.called.text).contains(UNKNOWN)
        {
            self.opaque("only running it tells which program it starts", range.clone());
        } else if invocation.called.is_pattern && invocation.called.text != "[" {
            self.opaque("the program is a pattern of file names", range.clone());
        }
        let called = invocation.called.text.clone();
        if invocation.started_by.is_some() {
            return self.program(invocation);
        }
        for alias in self.state.aliases.get(&called).to_vec().into_iter().flatten() {
            let arguments: Vec<String> =
                invocation.arguments.iter().map(|argument| crate::quote(&argument.text)).collect();
            let text = format!("{alias} {}", arguments.join(" "));
            let aliases = self.state.aliases.clone();
            self.state.aliases.set(&called, vec![None]);
            self.inside(range.clone(), |reader| reader.shell_text(&text, 0..0));
            self.state.aliases = aliases;
            self.outcome = None;
            self.state.is_dead = false;
        }
        let definitions = self.state.functions.get(&called).to_vec();
        let before = self.state.clone();
        let mut joined: Option<Outcome> = None;
        for definition in definitions {
            self.state = before.clone();
            self.outcome = None;
            match definition {
                Definition::Function(body) => self.call(&called, &body, &invocation),
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
        let range = invocation.range.clone();
        let called = invocation.called.text.clone();
        self.builtin(&invocation);
        let output = self.output_of(&invocation);
        self.is_output_redirected = false;
        self.enter_directory(&mut invocation);
        files::add(&mut invocation);
        let started = starters::started(&invocation);
        let inline = inline::texts(&invocation);
        let process_outputs = std::mem::take(&mut self.process_outputs);
        if matches!(invocation.program(), "curl" | "wget" | "scp" | "http" | "aria2c") {
            let written = invocation.files.iter().filter(|file| file.access == Access::Write);
            let paths: Vec<String> = written.map(|file| file.path.clone()).collect();
            self.downloads.extend(paths);
        }
        if let Some(path) = files::join(invocation.cwd.as_deref(), &called)
            && self.downloads.contains(&path)
        {
            self.opaque("it runs a file that it downloads", range.clone());
        }
        if started.is_empty() && inline.is_empty() {
            self.output = output;
            return self.push(invocation);
        }
        self.push(invocation.clone());
        let was_remote = self.is_remote;
        self.is_remote |= matches!(
            invocation.program(),
            "ssh"
                | "docker"
                | "docker-compose"
                | "podman"
                | "kubectl"
                | "heroku"
                | "fly"
                | "flyctl"
                | "vagrant"
                | "gcloud"
        );
        self.depth += 1;
        let outcome = self.outcome.take();
        for started in started {
            match started {
                Started::Program(words) if runs_here(&invocation) => self.start(words, &invocation),
                Started::Program(words) => {
                    self.apart(|reader| reader.start(words, &invocation));
                }
                Started::Text(text) => self.start_text(&text, &invocation),
                Started::TextWith(text, parameters) => {
                    self.start_text_with(&text, Some(parameters), &invocation);
                }
                Started::Unknown(reason) => self.opaque(reason, range.clone()),
                Started::Input => match &invocation.input {
                    Input::Text(text) => self.start_text(&text.clone(), &invocation),
                    Input::Inherited => {}
                    Input::Unknown => {
                        let reason = format!("`{}` runs what it reads", invocation.program());
                        self.opaque(reason, range.clone());
                    }
                },
                Started::File(argument) if argument.text.starts_with("/dev/fd/") => {
                    match process_outputs.first().filter(|output| !output.contains(UNKNOWN)) {
                        Some(output) => self.start_text(&output.clone(), &invocation),
                        None => {
                            let reason =
                                format!("`{}` runs the output of a program", invocation.program());
                            self.opaque(reason, range.clone());
                        }
                    }
                }
                Started::File(argument)
                    if argument.text == "/dev/stdin" || argument.text.ends_with("/fd/0") =>
                {
                    match &invocation.input {
                        Input::Text(text) => self.start_text(&text.clone(), &invocation),
                        _ => self.opaque("a shell runs what it reads", range.clone()),
                    }
                }
                Started::File(argument) if argument.text == UNKNOWN.to_string() => {
                    self.opaque("only running it tells which file it runs", range.clone());
                }
                Started::File(argument) => {
                    let path = files::join(invocation.cwd.as_deref(), &argument.text);
                    if path.is_some_and(|path| self.downloads.contains(&path)) {
                        self.opaque("it runs a file that it downloads", range.clone());
                    }
                }
            }
        }
        for effect in inline {
            match effect {
                inline::Effect::Shell(text) => self.start_text(&text, &invocation),
                inline::Effect::Program(words) => {
                    let words = words.into_iter().map(Argument::plain).collect();
                    self.apart(|reader| reader.start(words, &invocation));
                }
                inline::Effect::Unknown => {
                    let reason = format!(
                        "only running it tells what a program of `{}` starts",
                        invocation.program()
                    );
                    self.opaque(reason, range.clone());
                }
                inline::Effect::File(path, access) => {
                    let cwd = invocation.cwd.as_deref();
                    let mut files = Vec::new();
                    let path = match path.strip_prefix("~/") {
                        Some(rest) => format!("{}/{rest}", self.surroundings.home),
                        None => path,
                    };
                    FileAccess::add(&mut files, &path, access, cwd);
                    let started_by = Some(invocation.program().to_owned());
                    let cwd = invocation.cwd.clone();
                    self.push(Invocation {
                        files,
                        cwd,
                        started_by,
                        range: range.clone(),
                        ..Invocation::default()
                    });
                }
            }
        }
        self.depth -= 1;
        self.is_remote = was_remote;
        self.output = output;
        if outcome.is_some() {
            self.outcome = outcome;
        }
    }

    /// Applies the options by which a program works in another directory.
    fn enter_directory(&self, invocation: &mut Invocation) {
        let options: &[&str] = match invocation.program() {
            "git" => &["-C"],
            "make" | "gmake" | "ninja" => &["-C", "--directory"],
            "env" | "sudo" => &["-C", "--chdir", "-D"],
            _ => return,
        };
        let directory = starters::option_values(&invocation.arguments, options)
            .first()
            .map(|value| (*value).to_owned());
        if let Some(directory) = directory {
            invocation.cwd = files::join(invocation.cwd.as_deref(), &directory);
        }
    }

    fn call(&mut self, name: &str, body: &Arc<Command>, invocation: &Invocation) {
        if let Some((_, is_called)) =
            self.bodies.iter_mut().find(|(known, _)| Arc::ptr_eq(known, body))
        {
            *is_called = true;
        }
        if self.calls.iter().any(|call| call == name) {
            return self
                .opaque(format!("the function `{name}` calls itself"), invocation.range.clone());
        }
        if self.depth >= MAX_DEPTH {
            return self.opaque("it is nested too deeply", invocation.range.clone());
        }
        self.depth += 1;
        self.calls.push(name.to_owned());
        let parameters = Rc::new(vec![Some(invocation.arguments.clone())]);
        let parameters = std::mem::replace(&mut self.state.parameters, parameters);
        let (left, loops) = (self.left.take(), std::mem::take(&mut self.loops));
        let locals = std::mem::take(&mut self.locals);
        let input = invocation.input.clone();
        if !invocation.files.is_empty() {
            self.redirections_of_group(invocation.files.clone());
        }
        self.inside(invocation.range.clone(), |reader| reader.command(body, input));
        if let Some(left) = std::mem::replace(&mut self.left, left) {
            self.state.join(&left);
            self.outcome = None;
        }
        self.loops = loops;
        for (name, values) in std::mem::replace(&mut self.locals, locals) {
            let outcome = self.outcome.iter_mut();
            let states = outcome.flat_map(|outcome| [&mut outcome.success, &mut outcome.failure]);
            for state in states.chain([&mut self.state]) {
                for value in &values {
                    state.variables.add(&name, value.clone());
                }
            }
        }
        self.state.parameters = Rc::clone(&parameters);
        if let Some(outcome) = &mut self.outcome {
            outcome.success.parameters = Rc::clone(&parameters);
            outcome.failure.parameters = parameters;
        }
        self.calls.pop();
        self.depth -= 1;
    }

    /// Reads a program that another one starts.
    fn start(&mut self, mut words: Vec<Argument>, by: &Invocation) {
        // `env A=b program`
        let mut variables = by.variables.clone();
        while let Some((name, value)) = words.first().and_then(|word| word.text.split_once('=')) {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !name.is_empty();
            if !is_name {
                break;
            }
            variables.push((name.to_owned(), (!value.contains(UNKNOWN)).then(|| value.to_owned())));
            words.remove(0);
        }
        if words.is_empty() {
            return;
        }
        let called = words.remove(0);
        self.invoke(Invocation {
            called,
            arguments: words,
            variables,
            files: Vec::new(),
            input: by.input.clone(),
            fed_by: by.fed_by.clone(),
            cwd: match by.program() {
                "env" | "sudo" => by.cwd.clone(),
                _ => self.cwd.clone(),
            },
            started_by: Some(by.program().to_owned()),
            is_remote: false,
            range: by.range.clone(),
        });
    }

    /// Reads a shell text that a program runs.
    fn start_text(&mut self, text: &str, by: &Invocation) {
        self.start_text_with(text, None, by);
    }

    fn start_text_with(&mut self, text: &str, parameters: Option<Vec<Argument>>, by: &Invocation) {
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

    fn is_in_project(&self) -> bool {
        let project = self.surroundings.project;
        self.cwd.as_deref().is_some_and(|cwd| {
            cwd.strip_prefix(project).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Returns the output of an invocation; [`UNKNOWN`] if only running it can tell.
    fn output_of(&self, invocation: &Invocation) -> String {
        let arguments = &invocation.arguments;
        let joined = |from: usize| {
            let texts: Vec<&str> =
                arguments.iter().skip(from).map(|argument| argument.text.as_str()).collect();
            texts.join(" ")
        };
        if self.is_output_redirected {
            return String::new();
        }
        match invocation.program() {
            "echo" => {
                let options = arguments
                    .iter()
                    .take_while(|argument| {
                        argument.text.strip_prefix('-').is_some_and(|letters| {
                            !letters.is_empty()
                                && letters.bytes().all(|letter| b"neE".contains(&letter))
                        })
                    })
                    .count();
                let interprets =
                    arguments.iter().take(options).any(|argument| argument.text.contains('e'));
                let is_bare =
                    arguments.iter().take(options).any(|argument| argument.text.contains('n'));
                let end = if is_bare { "" } else { "\n" };
                match interprets {
                    true => unescaped(&joined(options)) + end,
                    false => joined(options) + end,
                }
            }
            "printf" => match arguments.as_slice() {
                [format] if !format.text.contains('%') => unescaped(&format.text),
                [format, text] if matches!(format.text.as_str(), "%s" | "%s\\n") => {
                    text.text.clone()
                }
                _ => UNKNOWN.to_string(),
            },
            "cat" if arguments.iter().all(|argument| argument.text == "-") => {
                match &invocation.input {
                    Input::Text(text) => text.clone(),
                    _ => UNKNOWN.to_string(),
                }
            }
            "find" => starters::found_paths(arguments).join("\n"),
            "dirname" | "basename" if arguments.len() == 1 => {
                let path = arguments.first().map_or("", |path| path.text.trim_end_matches('/'));
                match (path.rsplit_once('/'), invocation.program()) {
                    (Some(("", _)), "dirname") => "/\n".to_owned(),
                    (Some((folder, _)), "dirname") => format!("{folder}\n"),
                    (None, "dirname") if !path.contains(UNKNOWN) => ".\n".to_owned(),
                    (Some((_, name)), "basename") => format!("{name}\n"),
                    (None, "basename") if !path.is_empty() => format!("{path}\n"),
                    _ => UNKNOWN.to_string(),
                }
            }
            // What sets up a shell is trusted as the program is.
            "ssh-agent" | "brew" | "opam" | "dircolors" => String::new(),
            "direnv" | "pyenv" | "rbenv" | "nodenv" | "starship" | "zoxide" | "mise" | "fnm"
            | "conda" | "thefuck"
                if arguments.first().is_some_and(|argument| {
                    matches!(
                        argument.text.as_str(),
                        "hook" | "export" | "init" | "activate" | "env" | "shell.bash"
                    )
                }) =>
            {
                String::new()
            }
            "pwd" => self.cwd_text() + "\n",
            "mktemp" => format!("/tmp/{UNKNOWN}\n"),
            "git" if joined(0) == "rev-parse --show-toplevel" && self.is_in_project() => {
                self.surroundings.project.to_owned() + "\n"
            }
            // Their paths are below the working directory.
            "git"
                if matches!(
                    arguments.first().map(|argument| argument.text.as_str()),
                    Some("ls-files")
                ) || joined(0).starts_with("diff --name-only") =>
            {
                format!("./{UNKNOWN}")
            }
            "rg" | "grep" | "fd" | "ls"
                if invocation.program() != "ls"
                    && !arguments.iter().any(|argument| argument.text.starts_with('/')) =>
            {
                match invocation.program() == "fd"
                    || arguments.iter().any(|argument| {
                        matches!(
                            argument.text.as_str(),
                            "-l" | "-rl" | "-lr" | "--files" | "--files-with-matches"
                        )
                    }) {
                    true => format!("./{UNKNOWN}"),
                    false => UNKNOWN.to_string(),
                }
            }
            // It prints where it goes.
            "cd" if arguments.iter().any(|argument| argument.text.starts_with('-')) => {
                UNKNOWN.to_string()
            }
            ":" | "true" | "false" | "cd" | "export" | "set" | "test" | "[" | "exit" | "sleep" => {
                String::new()
            }
            _ => UNKNOWN.to_string(),
        }
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

/// Returns `true` for builtins that run another builtin in the shell itself.
fn runs_here(invocation: &Invocation) -> bool {
    matches!(invocation.called.text.as_str(), "command" | "builtin")
        && invocation.started_by.as_deref().is_none_or(|by| matches!(by, "command" | "builtin"))
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

/// Decodes the escapes of `printf` and `echo -e`.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = |from: usize, radix: u32, at_most: usize| {
            let digits = after.get(from..).unwrap_or_default();
            digits.chars().take(at_most).take_while(|digit| digit.is_digit(radix)).count()
        };
        let (character, length) = match after.chars().next() {
            Some('n') => ('\n', 1),
            Some('t') => ('\t', 1),
            Some('r') => ('\r', 1),
            Some('\\') => ('\\', 1),
            Some('x') => match digits(1, 16, 2) {
                0 => (UNKNOWN, 1),
                count => (decoded(after.get(1..=count), 16), 1 + count),
            },
            Some(first @ '0'..='7') => {
                let count = digits(0, 8, if first == '0' { 4 } else { 3 });
                (decoded(after.get(..count), 8), count)
            }
            _ => (UNKNOWN, 0),
        };
        out.push(character);
        rest = after.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn decoded(digits: Option<&str>, radix: u32) -> char {
    let value = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok());
    value.filter(|value| *value < 0x80).and_then(char::from_u32).unwrap_or(UNKNOWN)
}

fn known(text: String) -> Input {
    // Of paths below the working directory enough is known.
    match text.contains(UNKNOWN) && !text.starts_with("./") {
        true => Input::Unknown,
        false => Input::Text(text),
    }
}
