//! Known programs: the table of `programs.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A known program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Program {
    /// The name, without a version; empty if nothing is known.
    pub(super) name: &'static str,
    pub(super) operands: Use,
    /// `true` if operands may be URLs; for others `http://x` is a file below `http:`.
    pub(super) takes_urls: bool,
    /// `true` if what it starts runs on another machine or in a container.
    pub(super) is_remote: bool,
    /// `true` if it runs shell texts, as `sh` does.
    pub(super) is_shell: bool,
    /// The language of the programs that it runs.
    pub(super) language: Option<Language>,
    pub(super) starts: Vec<Start>,
    /// The options that take a value.
    pub(super) options: Vec<(&'static str, OptionValue)>,
    /// The letters of short options that take a value.
    pub(super) letters: String,
}

/// The use of a program's operands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Use {
    /// All are read, and may be changed.
    #[default]
    Unknown,
    /// All are read.
    Read,
    /// The first is a program that is read, the others are those of a program that is not known.
    Script,
    /// The first is written, the others are read.
    Archive,
    /// All are written.
    Write,
    /// The last is written, the others are read.
    Copy,
    /// The first is no file, the others are read: a pattern or program.
    ReadAfterFirst,
    /// The first is no file, the others are written, as of `chmod`.
    WriteAfterFirst,
    /// None is read or written.
    Nothing,
}

/// The position of what a program starts among its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A program: the words behind these subcommands, with `/` between them, and so many operands.
    Program(&'static str, usize),
    /// A shell text: the words behind so many operands.
    Text(usize),
    /// Shell texts: each operand behind so many.
    Texts(usize),
    /// Its input, as a shell text, where no words stand behind so many operands.
    Input(usize),
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionValue {
    /// A shell text.
    Text,
    /// A program in the language of the program.
    Code,
    /// A file that is read.
    Read,
    /// A file that is written.
    Written,
    /// None of these.
    Other,
}

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language {
    /// `true` if `#` begins a comment.
    pub(super) has_hash: bool,
    /// `true` if `//` begins a comment.
    pub(super) has_slashes: bool,
    /// `true` if backticks run a shell text.
    pub(super) has_backticks: bool,
    /// `true` if functions are called as in most languages, so that their names tell what they do.
    pub(super) has_calls: bool,
}

static UNKNOWN: Program = Program {
    name: "",
    operands: Use::Unknown,
    takes_urls: false,
    is_remote: false,
    is_shell: false,
    language: None,
    starts: Vec::new(),
    options: Vec::new(),
    letters: String::new(),
};

static PROGRAMS: LazyLock<HashMap<&str, Program>> =
    LazyLock::new(|| parse(include_str!("programs.txt")));

impl Default for &Program {
    fn default() -> Self {
        &UNKNOWN
    }
}

impl Program {
    /// Returns what is known about a name, or about the name without its version: `python3.12` and
    /// `bash-5.2` are known as `python3` and `bash`.
    pub(super) fn named(name: &str) -> &'static Self {
        let mut name = name;
        loop {
            if let Some(program) = PROGRAMS.get(name) {
                return program;
            }
            let shorter = name.trim_end_matches(|last: char| last.is_ascii_digit());
            if shorter.len() == name.len() {
                return &UNKNOWN;
            }
            name = shorter.trim_end_matches(['.', '-']);
        }
    }

    /// Returns the options whose values are such.
    pub(super) fn options_of(&self, value: OptionValue) -> Vec<&'static str> {
        let options = self.options.iter().filter(|(_, known)| *known == value);
        options.map(|(name, _)| *name).collect()
    }

    fn add(&mut self, property: &'static str) {
        if property.starts_with('-') {
            let (name, value) = property.split_once('=').unwrap_or((property, ""));
            let value = match value {
                "text" => OptionValue::Text,
                "code" => OptionValue::Code,
                "in" => OptionValue::Read,
                "out" => OptionValue::Written,
                _ => OptionValue::Other,
            };
            self.options.push((name, value));
            self.letters.extend(name.chars().nth(1).filter(|_| name.len() == 2));
            return;
        }
        if let Some((first, count)) = property.split_once('>') {
            let count = count.parse().unwrap_or_default();
            self.starts.push(match first {
                "text" => Start::Text(count),
                "texts" => Start::Texts(count),
                "input" => Start::Input(count),
                _ => Start::Program(first, count),
            });
            return;
        }
        match property {
            "nothing" => self.operands = Use::Nothing,
            "reads" => self.operands = Use::Read,
            "writes" => self.operands = Use::Write,
            "copies" => self.operands = Use::Copy,
            "archives" => self.operands = Use::Archive,
            "script" => self.operands = Use::Script,
            "reads-rest" => self.operands = Use::ReadAfterFirst,
            "writes-rest" => self.operands = Use::WriteAfterFirst,
            "urls" => self.takes_urls = true,
            "remote" => self.is_remote = true,
            "shell" => self.is_shell = true,
            _ => {
                let (comments, backticks) = property.split_once('+').unwrap_or((property, ""));
                self.language = Some(Language {
                    has_hash: matches!(comments, "hash" | "both"),
                    has_slashes: matches!(comments, "slashes" | "both"),
                    has_backticks: !backticks.is_empty(),
                    has_calls: comments != "strings",
                });
                debug_assert!(
                    matches!(comments, "hash" | "slashes" | "both" | "strings"),
                    "{property}"
                );
            }
        }
    }
}

fn parse(text: &'static str) -> HashMap<&'static str, Program> {
    let mut programs: HashMap<_, Program> = HashMap::with_capacity(600);
    let mut names: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let properties = match line.strip_prefix("  ") {
            Some(more) => more,
            None => {
                let (before, behind) = line.split_once(" = ").unwrap_or_default();
                names = before.split(' ').collect();
                behind
            }
        };
        for name in &names {
            let program = programs.entry(*name).or_default();
            program.name = name;
            properties.split(' ').for_each(|property| program.add(property));
        }
    }
    programs
}
