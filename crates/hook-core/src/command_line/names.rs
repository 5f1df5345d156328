//! What files a command's text may name, to the shell or to a program that it is given to.
//!
//! More is named here than would ever be opened: what a word is to a program is not known, so that
//! every word counts, at any depth of quoting. What only running the command could tell is said as
//! [`Unknown`].

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use super::interpreter;
use super::words::{Meant, Piece, Words, is_assignment, variable_name};

/// How deep texts within words are read.
const MAX_DEPTH: usize = 12;

/// How many names of one command are looked at, and how many values of one variable.
const MAX_NAMES: usize = 4_096;
const MAX_VALUES: usize = 64;

/// The longest text that is read, in bytes: no process can be given a longer one on Linux.
const MAX_TEXT: usize = 128 << 10;

/// How much is read of one command in all, in bytes, with the texts in its words.
const MAX_READ: usize = 4 << 20;

/// The longest name, in bytes: no path is longer.
const MAX_NAME: usize = 4_096;

/// Stands for what is not known in a text.
const GAP: char = '\u{1}';

/// Words that make a shell do what its text does not say.
const DYNAMIC_WORDS: [&str; 10] = [
    "eval",
    "shopt",
    "alias",
    "declare",
    "typeset",
    "mapfile",
    "readarray",
    "xargs",
    "parallel",
    "enable",
];

/// Programs that run what files of the project say that are not named: scripts of a package, rules
/// of a makefile.
const TASK_RUNNERS: [&str; 19] = [
    "bunx",
    "cargo",
    "gradle",
    "just",
    "make",
    "mvn",
    "nox",
    "npm",
    "npx",
    "pnpm",
    "poetry",
    "pre-commit",
    "rake",
    "task",
    "tox",
    "uv",
    "uvx",
    "yarn",
    "run-parts",
];

/// What a shell is started by, or is given a text by, in words of a command.
const SHELLS: [&str; 16] = [
    "ash", "bash", "busybox", "dash", "env", "eval", "fish", "ksh", "parallel", "script", "sh",
    "ssh", "su", "trap", "watch", "zsh",
];

/// What may stand before the program of a command.
const PREFIXES: [&str; 19] = [
    "!", "builtin", "command", "do", "elif", "else", "env", "exec", "if", "nice", "nohup",
    "setsid", "sudo", "then", "time", "timeout", "until", "while", "{",
];

/// Variables of a shell or of the engine that never are the name of a file, or are looked through
/// elsewhere.
const NO_NAMES: [&str; 12] =
    ["#", "$", "-", "!", "?", "EUID", "HOOK_DEPTH", "PATH", "PPID", "RANDOM", "SECONDS", "UID"];

/// Why not every file that a command may name is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Unknown {
    /// The output of a command is part of this one.
    Substitution,
    /// A variable whose value is not in the text.
    Variable(String),
    /// An expansion such as `${x%y}`.
    Expansion,
    /// A word of the shell such as `eval`.
    Word(String),
    /// A here-document.
    HereDocument,
    /// Code of another language, given to its interpreter in the command's text.
    InlineCode(String),
    /// An interpreter that runs what it reads.
    Input(String),
    /// A program that runs what files say that are not named.
    TaskRunner(String),
    /// A directory of which an interpreter runs a file that is not known.
    Directory(String),
    /// More than is looked at.
    TooMuch,
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Substitution => write!(formatter, "the output of a command is part of it"),
            Self::Variable(name) => write!(formatter, "the value of ${name} is not in its text"),
            Self::Expansion => write!(formatter, "it changes the value of a variable"),
            Self::Word(word) => write!(formatter, "`{word}` does what only running it can tell"),
            Self::HereDocument => write!(formatter, "it has a here-document"),
            Self::InlineCode(program) => {
                write!(formatter, "`{program}` is given code, which may load files")
            }
            Self::Input(program) => write!(formatter, "`{program}` runs what it reads"),
            Self::TaskRunner(program) => {
                write!(formatter, "`{program}` runs what other files of the project say")
            }
            Self::Directory(path) => {
                write!(formatter, "it is not known which file of the directory {path} runs")
            }
            Self::TooMuch => write!(formatter, "it is too long or too deep to be taken apart"),
        }
    }
}

/// What a command's text says of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// Texts that may be paths, relative ones too, each once; they may be patterns of a shell.
    pub(crate) names: BTreeSet<String>,
    /// Those among them that an interpreter is given, where the name may lead to another file:
    /// a directory, a module, a name without its extension.
    pub(crate) scripts: BTreeSet<String>,
    /// Those of `scripts` that are the script itself, and not an argument.
    pub(crate) main_scripts: BTreeSet<String>,
    /// Why not all are known.
    pub(crate) unknown: BTreeSet<Unknown>,
}

/// What is known of a variable before the command runs.
pub(crate) enum Known {
    /// Its value.
    Value(String),
    /// Nothing.
    Nothing,
}

/// Reads a command's text, and the values of the hook's own variables.
pub(crate) fn names(
    command: &str,
    env: &[(String, String)],
    variable: &dyn Fn(&str) -> Known,
) -> Names {
    let mut reader = Reader {
        variable,
        assigned: BTreeMap::new(),
        identifiers: BTreeSet::new(),
        names: Names::default(),
        seen: HashSet::new(),
        left: MAX_READ,
    };
    if env.iter().map(|(_, value)| value).any(|it| it.len() > MAX_TEXT) || command.len() > MAX_TEXT
    {
        reader.unknown(Unknown::TooMuch);
        return reader.names;
    }
    for (name, value) in env {
        reader.assign(name, vec![value.clone()]);
    }
    // Twice, so that a variable is known before the place that sets it, as in a loop.
    for _ in 0..2 {
        reader.names = Names::default();
        reader.seen.clear();
        reader.left = MAX_READ;
        reader.read(command, Reading { shell: true, depth: 0 });
        for (name, value) in env {
            // Its value may be a path, or hold one: PATH, NODE_OPTIONS, BASH_ENV.
            reader.add(value, Reading { shell: false, depth: 1 });
            reader.read(value, Reading { shell: false, depth: 1 });
            if name == "IFS" {
                reader.unknown(Unknown::Word("IFS".to_owned()));
            }
        }
    }
    // Where PATH is named and not assigned, it may be unset, read or set by a loop.
    if reader.identifiers.contains("PATH") {
        reader.unknown(Unknown::Word("PATH".to_owned()));
    }
    if has_hidden_name(command) {
        reader.unknown(Unknown::Expansion);
    }
    if command.contains(['\0', GAP]) || env.iter().any(|(_, value)| value.contains(GAP)) {
        reader.unknown(Unknown::Expansion);
    }
    reader.names
}

/// Whether an option of an interpreter says nothing of what it runs, and takes no value that would
/// stand where the script does.
fn is_plain_option(interpreter: &str, option: &str) -> bool {
    let letters = match interpreter {
        _ if SHELL_INTERPRETERS.contains(&interpreter) => "abcefhklmnprtuvxBCEHPT",
        _ if interpreter.starts_with("py") => "bBdEiIOqsSuv",
        _ => "w",
    };
    let cluster = option.trim_start_matches('-');
    option == "--"
        || !option.starts_with("--") && cluster.chars().all(|letter| letters.contains(letter))
}

/// Whether a shell may make a name of something in the text that is not taken apart here: `$'…'` and
/// `$"…"`, the directories `~-` and `~1`, standard input by its path.
fn has_hidden_name(command: &str) -> bool {
    let directories = |(at, _): (usize, &str)| {
        command[at + 1..]
            .starts_with(|next: char| next == '-' || next == '+' || next.is_ascii_digit())
    };
    ["$'", "$\"", "/dev/stdin"].iter().any(|hidden| command.contains(hidden))
        || command.match_indices('~').any(directories)
}

/// How a text is read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Whether a shell reads it. Only then is anything unknown in it, and what it writes to no name.
    shell: bool,
    depth: usize,
}

struct Reader<'v> {
    variable: &'v dyn Fn(&str) -> Known,
    /// Every value that the text gives a variable.
    assigned: BTreeMap<String, Vec<String>>,
    /// Words that could be names of variables: `read x` sets one.
    identifiers: BTreeSet<String>,
    names: Names,
    /// Texts that were read, with how.
    seen: HashSet<(String, bool)>,
    /// How much may still be read, in bytes.
    left: usize,
}

/// A simple command: its words, each with the texts that it may become.
type Simple = Vec<(String, Vec<String>)>;

impl Reader<'_> {
    fn read(&mut self, text: &str, reading: Reading) {
        if reading.depth > MAX_DEPTH || self.seen.len() > MAX_NAMES {
            self.unknown(Unknown::TooMuch);
            return;
        }
        if !self.seen.insert((text.to_owned(), reading.shell)) {
            return;
        }
        let Some(left) = self.left.checked_sub(text.len()) else {
            self.unknown(Unknown::TooMuch);
            return;
        };
        self.left = left;
        let mut words = Words::of(text);
        let mut simple = Simple::new();
        let mut all: Vec<Simple> = Vec::new();
        // The operator before the word that comes: its last two characters.
        let mut operator = (' ', ' ');
        loop {
            words.skip_blanks();
            if words.peek() == Some('#') {
                words.skip_line();
            }
            if let Some(word) = words.next() {
                let is_output = reading.shell && operator.1 == '>';
                operator = (' ', ' ');
                if !is_output {
                    simple.push(self.word(&word, reading));
                } else {
                    // It is written, not read. What is unknown in it is of no matter.
                    self.texts(&word, Reading { shell: false, ..reading });
                }
                continue;
            }
            let Some(character) = words.skip_operator() else { break };
            match (operator.1, character) {
                ('<', '<') if reading.shell && operator.0 != '<' && words.peek() != Some('<') => {
                    self.unknown(Unknown::HereDocument);
                }
                ('<' | '>', '(') if reading.shell => self.unknown(Unknown::Substitution),
                _ => {}
            }
            operator = match (operator.1, character) {
                // Opened for reading, too.
                ('<', '>') => (' ', ' '),
                // `>|` and `>&`.
                ('>', '|' | '&') => (' ', '>'),
                (before, character) => (before, character),
            };
            if !"<>".contains(character) {
                all.push(std::mem::take(&mut simple));
            }
        }
        all.push(simple);
        let has_shell = all.iter().flatten().any(|(word, _)| SHELLS.contains(&base_name(word)));
        let shell = reading.shell && has_shell;
        let inner = Reading { shell, depth: reading.depth + 1 };
        for simple in &all {
            let program = program(simple);
            self.command(simple, program, reading);
            for (index, (literal, texts)) in simple.iter().enumerate() {
                let at_begin = reading.shell && program.is_some_and(|program| index <= program);
                for text in texts.iter().chain([literal]) {
                    // A program without a path is looked for elsewhere.
                    let elsewhere = at_begin && !text.contains(['/', '\0', '=']);
                    if !elsewhere || self.assigned.contains_key("PATH") {
                        self.add(text, inner);
                    }
                    let is_text = |it: char| it.is_whitespace() || "'\"\\$`{};|&<>()".contains(it);
                    if text.contains(is_text) {
                        self.read(text, inner);
                    }
                }
            }
        }
    }

    /// One word: what it is without its quotes, and what it may become.
    fn word(&mut self, word: &[Piece], reading: Reading) -> (String, Vec<String>) {
        let literal: String = word.iter().map(|piece| piece.character).collect();
        if let Some((name, added, value)) = assignment(word) {
            let mut values = self.texts(value, reading);
            if added {
                values.push(GAP.to_string());
            }
            if name == "IFS" && reading.shell {
                self.unknown(Unknown::Word("IFS".to_owned()));
            }
            self.assign(&name, values);
        } else if is_identifier(&literal) {
            self.identifiers.insert(literal.clone());
        }
        (literal, self.texts(word, reading))
    }

    fn assign(&mut self, name: &str, values: Vec<String>) {
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

    /// What a simple command says of the program that it starts.
    fn command(&mut self, words: &Simple, program: Option<usize>, reading: Reading) {
        for (index, (word, _)) in words.iter().enumerate() {
            let name = base_name(word);
            let rest = words.get(index + 1..).unwrap_or_default();
            if reading.shell && DYNAMIC_WORDS.contains(&name) {
                self.unknown(Unknown::Word(name.to_owned()));
            }
            let executes =
                |(word, _): &(String, _)| word.starts_with("-exec") || word.starts_with("-ok");
            if reading.shell && name == "find" && rest.iter().any(executes) {
                self.unknown(Unknown::Word("find -exec".to_owned()));
            }
            if reading.shell && Some(index) == program && TASK_RUNNERS.contains(&name) {
                self.unknown(Unknown::TaskRunner(name.to_owned()));
            }
            if let Some(interpreter) = interpreter(word) {
                self.interpreted(interpreter, rest, Some(index) == program, reading);
            }
        }
    }

    /// What an interpreter is given.
    fn interpreted(
        &mut self,
        name: &str,
        words: &[(String, Vec<String>)],
        starts: bool,
        reading: Reading,
    ) {
        let mut main = true;
        let mut is_module = false;
        for (word, texts) in words {
            if main && word.starts_with('-') && word.len() > 1 {
                is_module = word == "-m" && name.starts_with("py");
                let hides = gives_code(name, word) || !(is_module || is_plain_option(name, word));
                if reading.shell && hides {
                    self.unknown(Unknown::InlineCode(name.to_owned()));
                    main = false;
                }
                continue;
            }
            if main && word == "-" && reading.shell {
                self.unknown(Unknown::Input(name.to_owned()));
            }
            for text in texts.iter().chain([word]) {
                let script = if is_module { text.replace('.', "/") } else { text.clone() };
                if main && !SHELL_INTERPRETERS.contains(&name) {
                    self.names.main_scripts.insert(script.clone());
                }
                self.names.scripts.insert(script.clone());
                self.add(&script, Reading { shell: reading.shell, depth: reading.depth + 1 });
            }
            (main, is_module) = (false, false);
        }
        if main && starts && reading.shell {
            self.unknown(Unknown::Input(name.to_owned()));
        }
    }

    /// Every text that the shell may make of a word, with a [`GAP`] for what is not known.
    fn texts(&mut self, word: &[Piece], reading: Reading) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut rest = word;
        while let Some((piece, after)) = rest.split_first() {
            rest = after;
            let mut values = vec![piece.character.to_string()];
            if piece.meant != Meant::Literally {
                match piece.character {
                    '$' => (values, rest) = self.dollar(rest, piece.stretch, reading),
                    '`' if reading.shell => self.unknown(Unknown::Substitution),
                    _ => {}
                }
            }
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
        let gap = || vec![GAP.to_string()];
        if let Some((name, after)) = variable_name(rest, stretch) {
            return (self.values(&name, reading), after);
        }
        let why = match rest.first().map(|piece| piece.character) {
            Some(character) if NO_NAMES.contains(&&*character.to_string()) => {
                return (gap(), rest.get(1..).unwrap_or_default());
            }
            // At the end of its stretch: a substitution, a quotation such as $'x', or itself.
            None => match reading.depth {
                _ if rest.is_empty() => Unknown::Substitution,
                _ => Unknown::Expansion,
            },
            Some('(') => Unknown::Substitution,
            Some(character) if character.is_ascii_digit() || "@*".contains(character) => {
                Unknown::Variable(character.to_string())
            }
            Some(' ' | '\t' | '\n' | '/' | '.' | ')' | '|') => return (vec!["$".to_owned()], rest),
            _ => Unknown::Expansion,
        };
        if reading.shell {
            self.unknown(why);
        }
        (gap(), rest)
    }

    /// Every value that a variable may have.
    fn values(&mut self, name: &str, reading: Reading) -> Vec<String> {
        let gap = vec![GAP.to_string()];
        if NO_NAMES.contains(&name) {
            return gap;
        }
        let mut values = self.assigned.get(name).cloned().unwrap_or_default();
        let mut is_known = !values.is_empty();
        match (self.variable)(name) {
            Known::Value(value) => {
                is_known = true;
                values.push(value);
            }
            // Before it is set it is nothing.
            Known::Nothing => values.push(String::new()),
        }
        let has_gap = values.iter().any(|value| value.contains(GAP));
        // `read x` and `for x in` set it to anything.
        if !is_known || has_gap || self.identifiers.contains(name) {
            if reading.shell {
                self.unknown(Unknown::Variable(name.to_owned()));
            }
            values.push(GAP.to_string());
        }
        values
    }

    /// Adds a text as a name, with what a program may find in it: the value of `--option=value` or
    /// `-ovalue`, the parts of a list.
    fn add(&mut self, text: &str, inner: Reading) {
        if self.names.names.len() > MAX_NAMES {
            self.unknown(Unknown::TooMuch);
            return;
        }
        for part in text.split(GAP) {
            let part = if text.contains(GAP) { part.trim_start_matches('/') } else { part };
            let expanded = match part.len() > MAX_NAME {
                true => Some(Vec::new()),
                false => super::braces::expand(part),
            };
            match expanded {
                Some(texts) => texts.iter().for_each(|text| self.add_parts(text, inner)),
                None => self.unknown(Unknown::TooMuch),
            }
            self.add_parts(part, inner);
        }
    }

    fn add_parts(&mut self, text: &str, inner: Reading) {
        // What a shell reads is taken apart as it does.
        let separators = |it: char| {
            "=:,@".contains(it)
                || (!inner.shell && (it.is_whitespace() || ";|&<>()'\"`[]".contains(it)))
        };
        for part in text.split(separators).chain([text]) {
            if part.len() <= MAX_NAME {
                self.names.names.insert(part.to_owned());
            }
            let option = part.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            if let Some(value) =
                option.and_then(|rest| rest.get(1..)).filter(|it| it.len() < MAX_NAME)
            {
                self.names.names.insert(value.to_owned());
            }
        }
        self.names.names.remove("");
    }

    fn unknown(&mut self, why: Unknown) {
        self.names.unknown.insert(why);
    }
}

/// Where the program stands in a simple command.
fn program(words: &Simple) -> Option<usize> {
    words.iter().position(|(word, _)| !word.contains('=') && !PREFIXES.contains(&word.as_str()))
}

/// Interpreters that run another text of a shell; what they are given is read like this one.
const SHELL_INTERPRETERS: [&str; 4] = ["bash", "dash", "sh", "zsh"];

/// Whether an option of an interpreter is followed by code.
fn gives_code(interpreter: &str, option: &str) -> bool {
    let letters = match interpreter {
        "bash" | "dash" | "sh" | "zsh" => return false,
        "php" => "rBRE",
        name if name.starts_with("py") => "c",
        _ => "eEp",
    };
    match option.strip_prefix("--") {
        Some(long) => ["eval", "print"].iter().any(|name| long.starts_with(name)),
        None => option.contains(|letter: char| letters.contains(letter)),
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_identifier(text: &str) -> bool {
    !text.starts_with(|it: char| it.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// The variable that a word sets, whether the value is added to it, and the value.
fn assignment(word: &[Piece]) -> Option<(String, bool, &[Piece])> {
    if !is_assignment(word) {
        return None;
    }
    let end = word.iter().position(|piece| piece.character == '=')?;
    let (name, value) = word.split_at_checked(end)?;
    let name: String = name.iter().map(|piece| piece.character).collect();
    let added = name.ends_with('+');
    Some((name.trim_end_matches('+').to_owned(), added, value.get(1..)?))
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
