//! What a simple command starts. Only a few forms are known; any other makes the command opaque.

use super::simple::{Simple, Word, is_relative_path};
use super::{GAP, Reader, Reading, Use};
use crate::shell::braces;
use crate::shell::programs::{
    Role, Switch, Wrapper, interpreter, is_plain_shell_option, is_shell, is_shell_word, is_task,
    may_run_code, precedes_script, role, runs_modules, starts_in_awk, switch,
};
use crate::shell::unknown::Unknown;

/// Paths of what a process has open.
const OPEN_FILES: [&str; 2] = ["/dev/", "/proc/"];

/// Open files that are nothing, or only written.
const HARMLESS_DEVICES: [&str; 3] = ["/dev/null", "/dev/stderr", "/dev/stdout"];

/// What characters the words have of a program that is not known, besides letters and digits.
const PLAIN: &str = "_@%+:,./=^~*?[]{}-\0";

/// Where the arguments of a command begin, and what it does with files that they name. What is
/// before them it starts.
pub(super) struct Arguments {
    pub(super) begin: usize,
    pub(super) used: Use,
    /// Which words are the names of programs, each of which starts the next one.
    pub(super) programs: Vec<usize>,
}

impl Reader<'_> {
    /// Says what of a simple command is not known.
    pub(super) fn command(&mut self, simple: &Simple, reading: Reading) -> Arguments {
        let words = &simple.words;
        let is_open = |text: &String| {
            (text.starts_with('/') || text.contains(".."))
                && OPEN_FILES.iter().any(|path| text.contains(path))
                && !HARMLESS_DEVICES.contains(&text.as_str())
        };
        if let Some(open) =
            words.iter().chain(&simple.inputs).flat_map(Word::texts).find(|it| is_open(it))
        {
            self.unknown_in(reading, Unknown::Word(open.clone()));
        }
        let mut programs = Vec::new();
        let (begin, used) = self.programs(words, &mut programs, reading);
        Arguments { begin, used, programs }
    }

    /// Goes from program to program.
    fn programs(
        &mut self,
        words: &[Word],
        programs: &mut Vec<usize>,
        reading: Reading,
    ) -> (usize, Use) {
        let all_started = (words.len(), Use::Started);
        let mut at = 0;
        loop {
            at += words[at..].iter().take_while(|word| word.is_assignment).count();
            let Some(word) = words.get(at) else { return all_started };
            let is_file = word.texts().all(|text| is_relative_path(text));
            let name = match word.only_text() {
                Some(name) if !name.contains('=') => name,
                // A pattern, all of whose files are known.
                _ if is_file && words.len() == at + 1 => return (at + 1, Use::Read),
                _ => {
                    self.unknown_in(reading, Unknown::Word(word.literal.clone()));
                    return all_started;
                }
            };
            programs.push(at);
            let (arguments, begin) = (&words[at + 1..], at + 1);
            if let Some(interpreter) = interpreter(name) {
                let length = self.interpreted(interpreter, arguments, reading);
                return (begin + length, Use::Read);
            }
            if is_file {
                // What is behind a file of the project is up to that file.
                return (begin, Use::Read);
            }
            let (is_known, used) = match role(name) {
                Role::Keyword => {
                    at += 1;
                    continue;
                }
                Role::Wrapper(wrapper) => match wrapped(wrapper, arguments) {
                    Some(0) if arguments.is_empty() => return all_started,
                    Some(skipped) => {
                        at = begin + skipped;
                        continue;
                    }
                    None if wrapper.only_asks(arguments) => (true, Use::Read),
                    None => (false, Use::Started),
                },
                Role::OpensNothing => (arguments.iter().all(evaluates_nothing), Use::Read),
                Role::OnlyReads => (true, Use::Read),
                Role::Jq => {
                    let used = if arguments.iter().any(is_code_in_file) {
                        Use::Started
                    } else {
                        Use::Read
                    };
                    (!arguments.iter().any(loads_modules), used)
                }
                Role::Awk => (arguments.iter().all(is_plain_awk), Use::Read),
                Role::Source => (arguments.len() == 1 && is_script(&arguments[0]), Use::Started),
                Role::Cd => (arguments.iter().all(is_script), Use::Started),
                Role::Export => (arguments.iter().all(is_export), Use::Started),
                Role::Set => (sets_only_options(arguments), Use::Read),
                Role::TaskRunner => {
                    self.unknown_in(reading, Unknown::TaskRunner(name.to_owned()));
                    return all_started;
                }
                Role::Other => {
                    let is_plain = !may_run_code(name) && arguments.iter().all(is_plain);
                    (is_plain && !is_shell_word(name), Use::Given)
                }
            };
            if !is_known {
                self.unknown_in(reading, Unknown::Word(name.to_owned()));
            }
            return match used {
                Use::Started => all_started,
                used => (begin, used),
            };
        }
    }

    /// What an interpreter is given. From the returned index on its words are arguments of the
    /// script.
    fn interpreted(&mut self, name: &str, words: &[Word], reading: Reading) -> usize {
        let mut next = Switch::Plain;
        let mut is_code = false;
        for (index, word) in words.iter().enumerate() {
            let text = word.only_text().unwrap_or_default();
            let is_option = text.len() > 1
                && (text.starts_with('-') || is_shell(name) && text.starts_with('+'));
            match std::mem::replace(&mut next, Switch::Plain) {
                Switch::OptionByName if is_plain_shell_option(text) => continue,
                Switch::Plain if is_option => {
                    next = switch(name, text);
                    is_code |= is_shell(name) && !text.starts_with("--") && text.contains('c');
                    if next != Switch::Unknown {
                        continue;
                    }
                }
                Switch::Plain if precedes_script(name, text) => continue,
                Switch::Plain | Switch::Module if text == "-" => break,
                Switch::Plain if is_task(name, text) => {
                    self.unknown_in(reading, Unknown::TaskRunner(name.to_owned()));
                    return words.len();
                }
                Switch::Plain if is_code && word.only_text().is_some() => {
                    self.read(text, reading.inner());
                    return index + 1;
                }
                Switch::Module if runs_modules(text) => {
                    self.unknown_in(reading, Unknown::TaskRunner(text.to_owned()));
                    return words.len();
                }
                switch @ (Switch::Plain | Switch::Module) if !is_code && is_script(word) => {
                    self.script(name, word, switch == Switch::Module, reading);
                    return index + 1;
                }
                _ => {}
            }
            // What it does with the words behind this one is not known.
            let (program, option) = (name.to_owned(), word.literal.clone());
            self.unknown_in(reading, Unknown::Option { program, option });
            for word in &words[index..] {
                self.script(name, word, false, reading);
            }
            return words.len();
        }
        self.unknown_in(reading, Unknown::Input(name.to_owned()));
        words.len()
    }

    /// The script that an interpreter is given, or the module.
    fn script(&mut self, interpreter: &str, word: &Word, is_module: bool, reading: Reading) {
        for text in word.texts() {
            let path = text.replace('.', "/");
            let script = if is_module { &path } else { text };
            if !is_shell(interpreter) {
                self.names.main_scripts.insert(script.clone());
            }
            // A module is loaded by way of the packages that it is in.
            let packages = path.match_indices('/').map(|(end, _)| &path[..end]);
            for script in packages.filter(|_| is_module).chain([script.as_str()]) {
                self.names.scripts.insert(script.to_owned());
                self.add(script, Use::Started, reading);
            }
        }
    }
}

/// How many words stand between a program that starts another one and that one, if it is known.
fn wrapped(wrapper: Wrapper, arguments: &[Word]) -> Option<usize> {
    let text = |index: usize| arguments.get(index).and_then(Word::only_text);
    let skipped = match wrapper {
        // Variables behind `env` are skipped as those before a program are.
        Wrapper::Plain | Wrapper::Command | Wrapper::Env => 0,
        Wrapper::Nice => match text(0) {
            Some("-n") => text(1).filter(|it| is_duration(it)).map(|_| 2)?,
            _ => 0,
        },
        Wrapper::Timeout => text(0).filter(|it| is_duration(it)).map(|_| 1)?,
    };
    let is_option = |word: &Word| word.texts().any(|text| text.starts_with('-'));
    (!arguments.get(skipped).is_some_and(is_option)).then_some(skipped)
}

impl Wrapper {
    /// Whether it only says where a program is: `command -v x`.
    fn only_asks(self, arguments: &[Word]) -> bool {
        let text = arguments.first().and_then(Word::only_text);
        self == Self::Command && matches!(text, Some("-v" | "-V"))
    }
}

/// Whether a text is a number, or one with a unit of time.
fn is_duration(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit())
        && text
            .trim_end_matches(['s', 'm', 'h', 'd'])
            .chars()
            .all(|it| it.is_ascii_digit() || it == '.')
}

/// Whether a word can only be the path of a file, and no option.
fn is_script(word: &Word) -> bool {
    let is_path = |text: &String| !text.starts_with(['-', '+']);
    let begins_elsewhere = word.literal.starts_with(['*', '?', '[', '/', '~']);
    let begins_plainly = !word.is_pattern || !begins_elsewhere && !word.literal.contains("..");
    let expanded =
        |text: &String| braces::expand(text).is_some_and(|texts| texts.iter().all(is_path));
    begins_plainly && word.texts().all(expanded)
}

/// Whether a shell evaluates nothing in a word of `[`, `printf` or their like.
fn evaluates_nothing(word: &Word) -> bool {
    let is_text =
        |text: &String| !text.contains("$(") && !text.contains('`') && !text.starts_with("-v");
    word.expanded.iter().all(is_text)
}

/// Whether a word of jq makes it load modules.
fn loads_modules(word: &Word) -> bool {
    let loads = |text: &String| {
        text.contains("include")
            || text.contains("import")
            || text.starts_with("-L")
            || text.starts_with("--lib")
    };
    word.expanded.iter().any(loads)
}

/// Whether a word of jq says that its code is in a file: `-f`, `-nf`, `--from-file`.
fn is_code_in_file(word: &Word) -> bool {
    word.expanded.iter().any(|text| text.starts_with('-') && text.contains('f'))
}

/// Whether a word is a file, a field separator, or code of awk that starts nothing.
fn is_plain_awk(word: &Word) -> bool {
    let is_option = |text: &String| text.starts_with('-') && !text.starts_with("-F");
    !word.expanded.iter().any(|text| is_option(text) || starts_in_awk(text))
}

/// Whether a word of `export` is the name of a variable, or sets one.
fn is_export(word: &Word) -> bool {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    word.is_assignment || word.only_text().is_some_and(|text| text.chars().all(is_name))
}

/// Whether `set` sets nothing but options that make the shell run nothing else.
fn sets_only_options(words: &[Word]) -> bool {
    let mut texts = words.iter().map(|word| word.only_text().unwrap_or_default());
    while let Some(text) = texts.next() {
        let is_known = match switch("bash", text) {
            Switch::Plain => text.starts_with(['-', '+']) && text != "--" && !text.contains('c'),
            Switch::OptionByName => texts.next().is_some_and(is_plain_shell_option),
            Switch::Module | Switch::Unknown => false,
        };
        if !is_known {
            return false;
        }
    }
    true
}

/// Whether a word of a program that is not known is a plain one, by which nothing is started but a
/// file that it names.
fn is_plain(word: &Word) -> bool {
    let has_plain_characters = |text: &String| {
        text.chars().all(|it| it.is_alphanumeric() || PLAIN.contains(it) || it == GAP)
    };
    word.expanded.iter().all(has_plain_characters) && !word.texts().any(|text| may_run_code(text))
}
