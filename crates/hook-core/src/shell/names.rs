//! What files a command's text may name, to the shell or to a program that it is given to.
//!
//! More is named here than would ever be opened: what a word is to a program is not known, so that
//! every word counts, at any depth of quoting. What only running the command could tell is said as
//! [`Unknown`].

use std::collections::{BTreeMap, BTreeSet, HashSet};

use self::simple::{Simple, Word};
use super::lexer::Meant;
use super::unknown::Unknown;
use super::words::{Operator, Piece, Words};

mod expansion;
mod simple;
mod started;

/// How deep texts within words are read.
const MAX_DEPTH: usize = 12;

/// How many names of one command are looked at, and how many values of one variable.
const MAX_NAMES: usize = 4_096;
const MAX_VALUES: usize = 64;

/// How often a command is read to find all values of its variables.
const MAX_PASSES: usize = 8;

/// The longest text that is read, in bytes: no process can be given a longer one on Linux.
const MAX_TEXT: usize = 128 << 10;

/// How much is read of one command in all, in bytes, with the texts in its words.
const MAX_READ: usize = 4 << 20;

/// The longest name, in bytes: no path is longer.
const MAX_NAME: usize = 4_096;

/// Stands for what is not known in a text.
const GAP: char = '\u{1}';

/// What a caller gives as the value of a variable that holds the directory in which the command
/// runs. It is `.` where a path begins with it; anywhere else the path is not known.
pub(crate) const HERE: char = '\u{2}';

/// What a command's text says of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// Texts that may be paths, relative ones too, with what is done with them at most; they may be
    /// patterns of a shell.
    pub(crate) names: BTreeMap<String, Use>,
    /// Those among them that an interpreter is given, where the name may lead to another file:
    /// a directory, a module, a name without its extension.
    pub(crate) scripts: BTreeSet<String>,
    /// Those of `scripts` that are the script itself, and not an argument.
    pub(crate) main_scripts: BTreeSet<String>,
    /// Why not all are known.
    pub(crate) unknown: BTreeSet<Unknown>,
}

/// Reads a command's text, and the values of the hook's own variables. What is known of any other
/// variable before the command runs is asked for.
pub(crate) fn names(
    command: &str,
    env: &[(String, String)],
    variable: &dyn Fn(&str) -> Option<String>,
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
    // Again, so that a variable is known before the place that sets it, as in a loop, until no new
    // value is found.
    let mut known = None;
    for pass in 0.. {
        if known.as_ref() == Some(&reader.assigned) && pass > 1 {
            break;
        }
        if pass == MAX_PASSES {
            reader.unknown(Unknown::Expansion);
            break;
        }
        known = Some(reader.assigned.clone());
        reader.names = Names::default();
        reader.seen.clear();
        reader.left = MAX_READ;
        reader.read(command, Reading { shell: true, values: Values::All, depth: 0 });
        for (name, value) in env {
            // Its value may be a path, or hold one: PATH, NODE_OPTIONS, BASH_ENV.
            let reading = Reading { shell: false, values: Values::All, depth: 1 };
            reader.add(value, Use::Started, reading);
            reader.read(value, reading);
            reader.say_if_special(name);
        }
    }
    // Where PATH is named and not assigned, it may be unset, read or set by a loop.
    if reader.identifiers.contains("PATH") {
        reader.unknown(Unknown::Word("PATH".to_owned()));
    }
    // Its parentheses are those of `$(…)`.
    if reader.names.unknown.contains(&Unknown::Substitution) {
        reader.names.unknown.remove(&Unknown::Word("(".to_owned()));
    }
    let reserved = [GAP, HERE];
    if command.contains('\0')
        || command.contains(reserved)
        || env.iter().any(|(_, value)| value.contains(reserved))
    {
        reader.unknown(Unknown::Expansion);
    }
    reader.names.with_here_as_dot()
}

impl Names {
    fn with_here_as_dot(self) -> Self {
        let Self { names, scripts, main_scripts, mut unknown } = self;
        if names.keys().any(|name| has_here_inside(name)) {
            unknown.insert(Unknown::Variable("PWD".to_owned()));
        }
        let dot = |name: String| match name.contains(HERE) {
            true => name.replace(HERE, "."),
            false => name,
        };
        let mut with_dots = BTreeMap::new();
        for (name, used) in names {
            let known = with_dots.entry(dot(name)).or_insert(used);
            *known = used.max(*known);
        }
        Self {
            names: with_dots,
            scripts: scripts.into_iter().map(dot).collect(),
            main_scripts: main_scripts.into_iter().map(dot).collect(),
            unknown,
        }
    }
}

/// Whether the directory stands within a path, as in `/$PWD/x`. Where a name was taken apart before
/// it, as in `--config=$PWD/x`, it begins the path.
fn has_here_inside(name: &str) -> bool {
    name.match_indices(HERE).any(|(at, _)| {
        let before = name.get(..at).unwrap_or_default();
        let is_option = before.len() == 2 && before.starts_with('-') && before != "--";
        !is_option && before.ends_with(|it: char| !it.is_whitespace() && !SEPARATORS.contains(it))
    })
}

/// What texts are taken apart at in any case, and those that no shell reads besides.
const SEPARATORS: &str = "=:,@!;|&<>()'\"`[]";

/// How a text is read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Whether a shell reads it. Only then is anything unknown in it, and what it writes to no name.
    shell: bool,
    /// Which variables matter.
    values: Values,
    depth: usize,
}

/// The variables of which it matters what their values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    All,
    /// `PATH=hooks:$PATH` puts something before what it was.
    AllButPath,
    None,
}

impl Reading {
    /// How a text within this one is read.
    fn inner(self) -> Self {
        Self { values: Values::All, depth: self.depth + 1, ..self }
    }
}

/// What a program does with a file that a word names, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// It only reads it.
    Read,
    /// It is not known what it does. It starts the file only if that can be started.
    Given,
    /// It may start it.
    Started,
}

struct Reader<'v> {
    variable: &'v dyn Fn(&str) -> Option<String>,
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
        for simple in &self.simple_commands(text, reading) {
            let arguments = self.command(simple, reading);
            for (index, word) in simple.words.iter().enumerate() {
                let used = if index < arguments.begin { Use::Started } else { arguments.used };
                // A program without a path is looked for elsewhere.
                let is_bare = |text: &String| !text.contains(['/', '\0']);
                let elsewhere = arguments.programs.contains(&index)
                    && word.texts().all(is_bare)
                    && !self.assigned.contains_key("PATH");
                if !elsewhere {
                    self.add_word(word, used, reading);
                }
            }
            for word in &simple.inputs {
                self.add_word(word, arguments.used, reading);
            }
        }
    }

    /// Takes a text apart into simple commands, and says what of it is none.
    fn simple_commands(&mut self, text: &str, reading: Reading) -> Vec<Simple> {
        let mut words = Words::of(text);
        let mut simple = Simple::default();
        let mut all: Vec<Simple> = Vec::new();
        // What the word that comes is for.
        let mut operator = Operator::End;
        loop {
            words.skip_blanks();
            if words.peek() == Some('#') {
                words.skip_line();
            }
            let Some(pieces) = words.next() else {
                operator = match words.operator() {
                    Some(Operator::End) => {
                        all.push(std::mem::take(&mut simple));
                        Operator::End
                    }
                    Some(Operator::HereDocument) => {
                        self.unknown_in(reading, Unknown::HereDocument);
                        Operator::HereDocument
                    }
                    Some(Operator::Parenthesis) => {
                        self.unknown_in(reading, Unknown::Word("(".to_owned()));
                        all.push(std::mem::take(&mut simple));
                        Operator::End
                    }
                    Some(Operator::ProcessSubstitution) => {
                        self.unknown_in(reading, Unknown::Substitution);
                        Operator::End
                    }
                    Some(redirection) => redirection,
                    None => break,
                };
                continue;
            };
            if is_descriptor(&pieces) && matches!(words.peek(), Some('<' | '>')) {
                continue;
            }
            let ends_in_dollar = pieces
                .last()
                .is_some_and(|last| last.character == '$' && last.meant == Meant::Freely);
            if ends_in_dollar && words.peek() == Some('(') {
                self.unknown_in(reading, Unknown::Substitution);
            }
            match std::mem::replace(&mut operator, Operator::End) {
                // It is written, not read: which file that is does not matter.
                Operator::Output if reading.shell => {
                    self.texts(&pieces, Reading { values: Values::None, ..reading });
                }
                Operator::Input => simple.inputs.push(self.word(&pieces, reading)),
                _ => {
                    let takes_any = simple.takes_any_value();
                    let values = if takes_any { Values::None } else { Values::All };
                    simple.words.push(self.word(&pieces, Reading { values, ..reading }));
                    if simple.words.len() > MAX_NAMES {
                        self.unknown(Unknown::TooMuch);
                        return all;
                    }
                }
            }
        }
        all.push(simple);
        all
    }

    /// Adds every text that a word may be, and what is in it.
    fn add_word(&mut self, word: &Word, used: Use, reading: Reading) {
        let inner = Reading { shell: false, ..reading.inner() };
        for text in word.texts() {
            self.add(text, used, reading);
            let is_text = |it: char| it.is_whitespace() || "'\"\\$`{};|&<>()".contains(it);
            if text.contains(is_text) {
                self.read(text, inner);
            }
        }
    }

    /// Adds a text as a name, with what a program may find in it: the value of `--option=value` or
    /// `-ovalue`, the parts of a list.
    fn add(&mut self, text: &str, used: Use, inner: Reading) {
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
                Some(texts) => texts.iter().for_each(|text| self.add_parts(text, used, inner)),
                None => self.unknown(Unknown::TooMuch),
            }
            self.add_parts(part, used, inner);
        }
    }

    fn add_parts(&mut self, text: &str, used: Use, inner: Reading) {
        // What a shell reads is taken apart as it does.
        let separators = |it: char| {
            "=:,@!".contains(it)
                || (!inner.shell && (it.is_whitespace() || ";|&<>()'\"`[]".contains(it)))
        };
        for part in text.split(separators).chain([text]) {
            let option = part.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            let value = option.and_then(|rest| rest.get(1..));
            for name in [Some(part), value].into_iter().flatten() {
                if name.is_empty() || name.len() > MAX_NAME {
                    continue;
                }
                let known = self.names.names.entry(name.to_owned()).or_insert(used);
                *known = used.max(*known);
            }
        }
    }

    /// What is not known matters where a shell reads the text.
    fn unknown_in(&mut self, reading: Reading, why: Unknown) {
        if reading.shell {
            self.unknown(why);
        }
    }

    fn unknown(&mut self, why: Unknown) {
        self.names.unknown.insert(why);
    }
}

/// Whether a word is the number of a file that is open, if a redirection follows: `2> x`.
fn is_descriptor(word: &[Piece]) -> bool {
    !word.is_empty()
        && word.iter().all(|it| it.meant == Meant::Freely && it.character.is_ascii_digit())
}
