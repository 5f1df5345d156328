//! What a simple command starts.

use super::simple::{Simple, Word};
use super::{GAP, Reader, Reading, Use};
use crate::command_line::programs::{
    Role, Switch, interpreter, is_plain_shell_option, is_shell, is_task, precedes_script, role,
    starts_in_awk, switch,
};
use crate::command_line::unknown::Unknown;

/// Paths of what a process has open.
const OPEN_FILES: [&str; 3] = ["/dev/stdin", "/dev/fd/", "/proc/"];

impl Reader<'_> {
    /// What a simple command says of the programs that it starts. From the returned index on its
    /// words are arguments that are only read.
    pub(super) fn command(&mut self, simple: &Simple, reading: Reading) -> usize {
        let words = &simple.words;
        let program = simple.program().unwrap_or(words.len());
        let after_program = words.len().min(program + 1);
        let Some(first) = words.get(program) else { return words.len() };
        // What is behind a file of the project is up to that file.
        let is_file = first.texts().all(|text| is_relative_path(text));
        if is_file || matches!(simple.role(), Role::OpensNothing | Role::OnlyReads) {
            return after_program;
        }
        let is_open = |text: &String| OPEN_FILES.iter().any(|path| text.starts_with(path));
        if reading.shell && simple.all().flat_map(Word::texts).any(is_open) {
            self.unknown(Unknown::Input(first.literal.clone()));
        }
        let mut starts = false;
        for (index, word) in words.iter().enumerate() {
            let name = word.literal.as_str();
            let role = role(name);
            starts |= matches!(role, Role::Dynamic | Role::TaskRunner | Role::Starter);
            if reading.shell {
                let executes =
                    |it: &Word| it.literal.starts_with("-exec") || it.literal.starts_with("-ok");
                let rest = words.get(index + 1..).unwrap_or_default();
                match role {
                    Role::Dynamic => self.unknown(Unknown::Word(name.to_owned())),
                    Role::TaskRunner => self.unknown(Unknown::TaskRunner(name.to_owned())),
                    _ if name == "find" && rest.iter().any(executes) => {
                        self.unknown(Unknown::Word("find -exec".to_owned()));
                    }
                    _ if rest.iter().any(|it| starts_in_awk(name, &it.literal)) => {
                        self.unknown(Unknown::InlineCode(name.to_owned()));
                    }
                    _ => {}
                }
            }
            if let Some(interpreter) = interpreter(name) {
                return index + 1 + self.interpreted(interpreter, &words[index + 1..], reading);
            }
        }
        if starts { words.len() } else { after_program }
    }

    /// What an interpreter is given. From the returned index on its words are arguments of the
    /// script.
    fn interpreted(&mut self, name: &str, words: &[Word], reading: Reading) -> usize {
        let mut next = Switch::Plain;
        for (index, word) in words.iter().enumerate() {
            let literal = word.literal.as_str();
            let is_option = literal.len() > 1
                && (literal.starts_with('-') || is_shell(name) && literal.starts_with('+'));
            match std::mem::replace(&mut next, Switch::Plain) {
                Switch::OptionByName if is_plain_shell_option(literal) => continue,
                Switch::Plain if is_option => {
                    next = switch(name, literal);
                    if next != Switch::Unknown {
                        continue;
                    }
                }
                Switch::Plain if precedes_script(name, literal) => continue,
                Switch::Plain | Switch::Module if literal == "-" => break,
                Switch::Plain if reading.shell && is_task(name, literal) => {
                    self.unknown(Unknown::TaskRunner(name.to_owned()));
                    return words.len();
                }
                switch @ (Switch::Plain | Switch::Module) => {
                    self.script(name, word, switch == Switch::Module, reading);
                    return index + 1;
                }
                Switch::OptionByName | Switch::Unknown => {}
            }
            // What this option does with the words behind it is not known.
            if reading.shell {
                let (program, option) = (name.to_owned(), literal.to_owned());
                self.unknown(Unknown::Option { program, option });
            }
            for word in &words[index..] {
                self.script(name, word, false, reading);
            }
            return words.len();
        }
        if reading.shell {
            self.unknown(Unknown::Input(name.to_owned()));
        }
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
                self.add(script, Use::Started, reading.inner());
            }
        }
    }
}

/// Whether a text is a path that begins in the directory where the command runs, or in the project.
fn is_relative_path(text: &str) -> bool {
    let begins_here = text.contains('/') && !text.starts_with(['/', '~', GAP]);
    (begins_here || text.starts_with('\0')) && !text.contains("..")
}
