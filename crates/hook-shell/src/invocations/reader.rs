//! Scripts to invocations.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::starters::{self, Started};
use super::{
    Access, Argument, FileAccess, Input, Invocation, Opaque, Reading, Surroundings, UNKNOWN,
};
use super::{files, inline, program_name};
use crate::script::{Command, Redirect, RedirectKind, Script, SimpleCommand};

/// The maximum number of programs that are read of a text.
const MAX_INVOCATIONS: usize = 4_000;
/// The maximum depth of programs that start each other, and of calls of functions.
const MAX_DEPTH: usize = 12;
/// The maximum number of values of a variable, and of combinations of those in a command.
const MAX_VALUES: usize = 16;
/// The maximum length of a text that a shell gets.
const MAX_TEXT: usize = 128 << 10;
/// The maximum number of commands and words that are read.
const MAX_STEPS: usize = 50_000;

/// The values that the text gives a variable; `None` is an unknown one.
type Values = Vec<Option<String>>;

pub(super) struct Reader<'s> {
    surroundings: &'s Surroundings<'s>,
    reading: Reading,
    variables: HashMap<String, Values>,
    functions: HashMap<String, Arc<Command>>,
    aliases: HashMap<String, String>,
    /// The arguments of the function that is read.
    pub(super) parameters: Option<Vec<Argument>>,
    cwd: Option<String>,
    depth: usize,
    calls: Vec<String>,
    /// The range of texts in which positions are not those of the text itself.
    outer: Option<Range<usize>>,
    /// The combination of values that is read, and the number of combinations met.
    choice: usize,
    combinations: usize,
    /// The output of the commands that were read last.
    output: String,
    /// `true` while a text or program of another machine is read.
    is_remote: bool,
    /// The number of commands and words read so far.
    steps: usize,
    /// `true` if `exec` has replaced the standard input.
    has_other_input: bool,
    /// The names of functions that were called.
    called: HashSet<String>,
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
        Self {
            surroundings,
            reading: Reading::default(),
            variables: HashMap::new(),
            functions: HashMap::new(),
            aliases: HashMap::new(),
            parameters: None,
            cwd: Some(surroundings.cwd.to_owned()),
            depth: 0,
            calls: Vec::new(),
            outer: None,
            choice: 0,
            combinations: 1,
            output: String::new(),
            is_remote: false,
            steps: 0,
            has_other_input: false,
            called: HashSet::new(),
            fed_by: Vec::new(),
            downloads: Vec::new(),
            is_output_redirected: false,
            process_outputs: Vec::new(),
        }
    }

    /// Reads the text twice: what it defines may be used before it is defined, in a loop or a trap.
    pub(super) fn read(mut self, text: &str) -> Reading {
        let range = 0..text.len();
        self.shell_text(text, range.clone());
        let is_simple =
            self.functions.is_empty() && self.aliases.is_empty() && self.variables.is_empty();
        if !is_simple {
            self.reading = Reading::default();
            self.cwd = Some(self.surroundings.cwd.to_owned());
            self.has_other_input = false;
            self.shell_text(text, range.clone());
            let uncalled = self.functions.iter().filter(|(name, _)| !self.called.contains(*name));
            let uncalled: Vec<Arc<Command>> = uncalled.map(|(_, body)| Arc::clone(body)).collect();
            for body in uncalled {
                self.parameters = None;
                self.inside(range.clone(), |reader| reader.command(&body, Input::Unknown));
            }
        }
        self.reading
    }

    /// Counts a step; `false` at the limit, where the rest is opaque.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps == MAX_STEPS {
            self.opaque("it does too much", self.shown(0..0));
        }
        self.steps < MAX_STEPS
    }

    /// Returns a variable's value, or the placeholder.
    pub(super) fn known_value(&mut self, name: &str) -> String {
        self.value(name).unwrap_or_else(|| UNKNOWN.to_string())
    }

    /// Reads the commands that get what is written to `>(…)`.
    pub(super) fn process_input(&mut self, script: &Script) {
        if self.depth >= MAX_DEPTH {
            return self.opaque("it is nested too deeply", self.shown(0..0));
        }
        self.depth += 1;
        for command in &script.commands {
            self.command(command, Input::Unknown);
        }
        self.depth -= 1;
    }

    pub(super) fn cwd_text(&self) -> String {
        self.cwd.clone().unwrap_or_else(|| UNKNOWN.to_string())
    }

    /// Marks a part as opaque.
    fn opaque(&mut self, reason: impl Into<String>, range: Range<usize>) {
        if self.reading.opaque.len() < MAX_VALUES {
            self.reading.opaque.push(Opaque { reason: reason.into(), range });
        }
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
        let (output, cwd) = (std::mem::take(&mut self.output), self.cwd.clone());
        let processes = std::mem::take(&mut self.process_outputs);
        match script.has_own_text {
            true => self.inside(0..0, |reader| reader.script(script, 0..0)),
            false => self.script(script, 0..0),
        }
        self.cwd = cwd;
        self.process_outputs = processes;
        self.depth -= 1;
        std::mem::replace(&mut self.output, output)
    }

    fn command(&mut self, command: &Command, input: Input) {
        if !self.step() {
            return;
        }
        if self.reading.invocations.len() >= MAX_INVOCATIONS {
            return self.opaque("it starts too many programs", self.shown(0..0));
        }
        match command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Pipeline(commands) => {
                let mut input = input;
                let cwd = self.cwd.clone();
                let fed_by = self.fed_by.clone();
                for command in commands {
                    self.output.clear();
                    let before = self.reading.invocations.len();
                    self.command(command, input);
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
                self.cwd = cwd;
            }
            Command::Group { body, words, redirects, is_subshell } => {
                for word in words {
                    self.text(word);
                }
                let (files, input) = self.redirects(redirects, input);
                self.redirections_of_group(files);
                let (cwd, fed) = (self.cwd.clone(), !matches!(input, Input::Inherited));
                match (fed, body.as_slice()) {
                    // What a group reads, its commands read.
                    (true, body) => {
                        let mut output = String::new();
                        for command in body {
                            self.output.clear();
                            self.command(command, input.clone());
                            output.push_str(&self.output);
                        }
                        self.output = output;
                    }
                    (false, body) => self.commands(body),
                }
                if *is_subshell {
                    self.cwd = cwd;
                }
            }
            Command::For { variable, values, body, redirects } => {
                let mut known_values = Values::new();
                match values {
                    Some(words) => {
                        for word in words {
                            for value in self.arguments(word) {
                                let is_known = !value.is_pattern && !value.has_unknown();
                                known_values.push(match is_known {
                                    true => Some(value.text),
                                    // `for f in /*` is within a folder that is known.
                                    false => Some(
                                        value.text.replace(['*', '?', '['], &UNKNOWN.to_string()),
                                    ),
                                });
                            }
                        }
                    }
                    None => known_values.push(None),
                }
                for value in known_values {
                    self.assign(variable, value);
                }
                let (files, input) = self.redirects(redirects, input);
                self.redirections_of_group(files);
                for command in body {
                    self.command(command, input.clone());
                }
                self.output = UNKNOWN.to_string();
            }
            Command::Function { name, body } => {
                self.functions.insert(name.clone(), body.clone());
            }
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
        if invocation.range.is_empty() {
            invocation.range = self.shown(invocation.range);
        }
        self.reading.invocations.push(invocation);
    }

    pub(super) fn value(&mut self, name: &str) -> Option<String> {
        if let Some(parameters) = &self.parameters {
            match name {
                "@" | "*" => {
                    let texts: Vec<&str> =
                        parameters.iter().map(|argument| argument.text.as_str()).collect();
                    return Some(texts.join(" "));
                }
                "#" => return Some(parameters.len().to_string()),
                _ => {}
            }
            if let Ok(number) = name.parse::<usize>()
                && number > 0
            {
                return Some(
                    parameters
                        .get(number - 1)
                        .map(|argument| argument.text.clone())
                        .unwrap_or_default(),
                );
            }
        }
        if let Some(values) = self.variables.get(name) {
            let count = values.len().max(1);
            let index = (self.choice / self.combinations) % count;
            self.combinations = self.combinations.saturating_mul(count);
            return match values.get(index) {
                Some(Some(value)) => Some(value.clone()),
                _ => Some(UNKNOWN.to_string()),
            };
        }
        match name {
            "HOME" => Some(self.surroundings.home.to_owned()),
            "PWD" => self.cwd.clone(),
            "TMPDIR" | "TMP" | "TEMP" => Some("/tmp".to_owned()),
            "IFS" => Some(" ".to_owned()),
            "HOOK_PROJECT_DIR" | "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => {
                Some(self.surroundings.project.to_owned())
            }
            _ => None,
        }
    }

    fn assign(&mut self, name: &str, value: Option<String>) {
        let value = value.filter(|value| {
            value.chars().any(|character| character != UNKNOWN) || value.is_empty()
        });
        let values = self.variables.entry(name.to_owned()).or_default();
        if values.contains(&value) {
            return;
        }
        match values.len() < MAX_VALUES {
            true => values.push(value),
            false => *values = vec![None],
        }
    }

    /// Reads a simple command once for each combination of the values of its variables.
    fn simple(&mut self, command: &SimpleCommand, input: Input) {
        let (choice, combinations) = (self.choice, self.combinations);
        for index in 0..MAX_VALUES {
            self.choice = index;
            self.combinations = 1;
            self.process_outputs.clear();
            self.one_of(command, input.clone());
            if index + 1 >= self.combinations {
                break;
            }
            if self.combinations > MAX_VALUES && index == 0 {
                self.opaque(
                    "its variables have too many values",
                    self.shown(command.range.clone()),
                );
            }
        }
        self.choice = choice;
        self.combinations = combinations;
    }

    fn one_of(&mut self, command: &SimpleCommand, input: Input) {
        let mut variables = Vec::new();
        for assignment in &command.assignments {
            let value = self.text(&assignment.value);
            let value = (!assignment.is_partial).then_some(value);
            if command.words.is_empty() {
                const SPECIAL: [&str; 6] =
                    ["IFS", "PS4", "PROMPT_COMMAND", "BASH_ALIASES", "CDPATH", "BASH_CMDS"];
                // Words that are separated at blanks only are those that are read here.
                let is_blank = assignment.name == "IFS"
                    && value.as_deref().is_some_and(|value| value.trim().is_empty());
                if SPECIAL.contains(&assignment.name.as_str()) && !is_blank {
                    let reason = format!("`{}` changes what later commands mean", assignment.name);
                    self.opaque(reason, self.shown(command.range.clone()));
                }
                self.assign(&assignment.name, value.clone());
            }
            variables
                .push((assignment.name.clone(), value.filter(|value| !value.contains(UNKNOWN))));
        }
        let mut words = Vec::new();
        for word in &command.words {
            if !self.step() {
                return;
            }
            words.extend(self.arguments(word));
        }
        let combinations = self.combinations;
        let input = match input {
            Input::Inherited if self.has_other_input => Input::Unknown,
            input => input,
        };
        let (files, input) = self.redirects(&command.redirects, input);
        if matches!(words.as_slice(), [only] if only.text == "exec")
            && !command.redirects.is_empty()
        {
            self.has_other_input = true;
        }
        let range = self.shown(command.range.clone());
        if words.is_empty() {
            self.output.clear();
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
        self.invoke(invocation);
        self.combinations = combinations;
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

    /// Records an invocation, and reads what it starts.
    fn invoke(&mut self, mut invocation: Invocation) {
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
        if invocation.started_by.is_none() {
            if let Some(value) = self.aliases.get(&called).cloned() {
                let arguments: Vec<String> = invocation
                    .arguments
                    .iter()
                    .map(|argument| crate::quote(&argument.text))
                    .collect();
                let text = format!("{value} {}", arguments.join(" "));
                self.aliases.remove(&called);
                self.inside(range.clone(), |reader| reader.shell_text(&text, 0..0));
                self.aliases.insert(called.clone(), value);
            }
            if let Some(body) = self.functions.get(&called).cloned() {
                return self.call(&called, &body, &invocation);
            }
        }
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
        for started in started {
            match started {
                Started::Program(words) => self.start(words, &invocation),
                Started::Text(text) => self.start_text(&text, &invocation),
                Started::TextWith(text, parameters) => {
                    let before = self.parameters.replace(parameters);
                    self.start_text(&text, &invocation);
                    self.parameters = before;
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
                    self.start(words.into_iter().map(Argument::plain).collect(), &invocation);
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
        self.called.insert(name.to_owned());
        if self.calls.iter().any(|call| call == name) {
            return self
                .opaque(format!("the function `{name}` calls itself"), invocation.range.clone());
        }
        if self.depth >= MAX_DEPTH {
            return self.opaque("it is nested too deeply", invocation.range.clone());
        }
        self.depth += 1;
        self.calls.push(name.to_owned());
        let parameters = self.parameters.replace(invocation.arguments.clone());
        let input = invocation.input.clone();
        self.inside(invocation.range.clone(), |reader| reader.command(body, input));
        self.parameters = parameters;
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
        if text.trim().starts_with(UNKNOWN) {
            self.opaque(
                format!("only running it tells what `{}` runs", by.program()),
                by.range.clone(),
            );
            return;
        }
        let cwd = self.cwd.clone();
        self.inside(by.range.clone(), |reader| reader.shell_text(text, 0..0));
        // `eval` runs in the shell itself.
        if by.called.text != "eval" {
            self.cwd = cwd;
        }
    }

    /// Follows builtins that change what later commands mean.
    fn builtin(&mut self, invocation: &Invocation) {
        let mut operands =
            invocation.arguments.iter().filter(|argument| !argument.text.starts_with('-'));
        match invocation.called.text.as_str() {
            "cd" | "pushd" => {
                let target =
                    operands.next().map_or(self.surroundings.home, |operand| operand.text.as_str());
                let is_known = !target.contains(UNKNOWN)
                    && !invocation.arguments.iter().any(|argument| argument.text == "-");
                self.cwd = match is_known {
                    true => files::join(self.cwd.as_deref(), target),
                    false => None,
                };
            }
            "popd" => self.cwd = None,
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let assignments: Vec<(String, String)> = operands
                    .filter_map(|operand| operand.text.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                for (name, value) in assignments {
                    self.assign(&name, Some(value));
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                let names: Vec<String> = operands.map(|operand| operand.text.clone()).collect();
                for name in names {
                    self.assign(&name, None);
                }
            }
            "printf"
                if invocation.arguments.first().is_some_and(|argument| argument.text == "-v") =>
            {
                if let Some(name) = invocation.arguments.get(1) {
                    self.assign(&name.text.clone(), None);
                }
            }
            "set" => {
                let values = invocation.arguments.iter().position(|argument| argument.text == "--");
                if let Some(values) = values {
                    self.parameters =
                        Some(invocation.arguments.iter().skip(values + 1).cloned().collect());
                }
            }
            "alias" => {
                let aliases: Vec<(String, String)> = operands
                    .filter_map(|operand| operand.text.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                self.aliases.extend(aliases);
            }
            _ => {}
        }
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
            ":" | "true" | "false" | "cd" | "export" | "set" | "test" | "[" | "exit" | "sleep" => {
                String::new()
            }
            _ => UNKNOWN.to_string(),
        }
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
