//! Scripts to invocations.
//!
//! | module | contents |
//! | --- | --- |
//! | `arithmetic` | expressions: what they may run, and whether they may fail |
//! | `builtins` | builtins that change what later commands mean |
//! | `commands` | pipelines, conditions, loops |
//! | `outputs` | the output of programs, as far as it is known |
//! | `programs` | programs, functions, and what they start |
//! | `simple` | simple commands: assignments and redirections |
//! | `variables` | values of variables |
//! | `words` | words to arguments |

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::argument::UNKNOWN;
use super::invocation::{Input, Invocation};
use super::reading::{Opaque, Reading, Surroundings};
use super::state::{MAX_VALUES, State, Value};
use crate::script::{Command, Script};

mod arithmetic;
mod builtins;
mod commands;
mod outputs;
mod programs;
mod simple;
mod variables;
mod words;

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
    /// The state now.
    state: State,
    /// The states behind the last command, if its success tells something about that.
    outcome: Option<Outcome>,
    /// The state where loops and functions were left.
    left: Option<State>,
    /// The texts of traps, and all that was possible since.
    traps: Vec<(String, Range<usize>)>,
    since_trap: Option<State>,
    /// The bodies of functions, with `true` for those that were called.
    bodies: Vec<(Arc<Command>, bool)>,
    /// The working directory of the command that is read.
    cwd: Option<Arc<str>>,
    /// The standard input of the text that is read.
    input: Input,
    depth: usize,
    /// The functions that are read.
    calls: Vec<String>,
    /// The state where an expression may have failed: bash skips the rest of its line.
    aborted: Option<State>,
    /// Variables that may be `readonly`.
    constants: HashSet<String>,
    /// The values before of variables that functions made local.
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
    /// The number of substitutions and pipes around the command, which read its output.
    captures: usize,
    /// `true` while a text or program of another machine is read.
    is_remote: bool,
    /// The number of commands and words read so far.
    steps: usize,
    /// The number of bytes of expanded words.
    expanded: usize,
    /// The programs before this one in its pipeline.
    fed_by: Vec<String>,
    /// The variables of the environment among the words that are expanded.
    environment: Vec<String>,
    /// Files that the text downloads.
    downloads: Vec<String>,
    /// `true` if the redirections that were read last take the standard output away.
    is_output_redirected: bool,
    /// The outputs of `<(…)` in the command that is read.
    process_outputs: Vec<String>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(surroundings: &'s Surroundings<'s>) -> Self {
        let state = State {
            directories: Rc::new(vec![Some(surroundings.cwd.into())]),
            parameters: Rc::new(vec![None]),
            ..State::default()
        };
        Self {
            surroundings,
            reading: Reading { invocations: Vec::with_capacity(8), opaque: Vec::new() },
            state,
            outcome: None,
            left: None,
            traps: Vec::new(),
            since_trap: None,
            bodies: Vec::new(),
            cwd: Some(surroundings.cwd.into()),
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
            input: Input::Inherited,
            captures: 0,
            is_remote: false,
            steps: 0,
            expanded: 0,
            fed_by: Vec::new(),
            environment: Vec::new(),
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
    fn expand(&mut self, length: usize) -> bool {
        let before = self.expanded;
        self.expanded = self.expanded.saturating_add(length);
        if before <= MAX_EXPANDED && self.expanded > MAX_EXPANDED {
            self.opaque("its words expand to too much", self.shown(0..0));
        }
        self.expanded <= MAX_EXPANDED
    }

    /// Counts a step; `false` at the limit, where the rest is opaque.
    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_add(1);
        if self.steps >= MAX_STEPS {
            self.opaque("it does too much", self.shown(0..0));
        }
        self.steps < MAX_STEPS
    }

    fn cwd_text(&self) -> String {
        self.cwd.as_deref().map_or_else(|| UNKNOWN.to_string(), str::to_owned)
    }

    /// Marks a part as opaque.
    fn opaque(&mut self, reason: impl Into<String>, range: Range<usize>) {
        let opaque = Opaque { reason: reason.into(), range };
        if self.reading.opaque.len() < MAX_VALUES && !self.reading.opaque.contains(&opaque) {
            self.reading.opaque.push(opaque);
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

    /// Changes what is possible behind the command that was read last.
    fn each_state(&mut self, mut change: impl FnMut(&mut State)) {
        if let Some(outcome) = &mut self.outcome {
            change(&mut outcome.success);
            change(&mut outcome.failure);
        }
        change(&mut self.state);
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
    fn either(&mut self, name: &str) -> bool {
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
            index += 1;
            if index == 1 && count == 1 && self.outcome.is_none() {
                // The state is the only one, too.
                break;
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
        self.cwd = cwd;
        self.choice = choice;
        self.combinations = combinations;
        self.chosen = chosen;
    }

    /// Reads something one level deeper; `None` if it is nested too deeply, and opaque.
    fn deeper<T>(&mut self, range: Range<usize>, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.opaque("it is nested too deeply", self.shown(range));
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        Some(result)
    }

    /// Reads a shell's text.
    fn shell_text(&mut self, text: &str, range: Range<usize>) {
        if text.len() > MAX_TEXT {
            return self.opaque("it is too long", range);
        }
        if text.contains('\0') {
            // A shell that reads its input passes over them; one that is started ends there.
            self.opaque("it contains a NUL byte", self.shown(range.clone()));
            let text = text.replace('\0', "");
            return self.inside(range, |reader| reader.shell_text(&text, 0..text.len()));
        }
        self.deeper(range, |reader| reader.script(&Script::parse(text), 0..text.len()));
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
}
