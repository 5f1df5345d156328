//! Whole shell texts, parsed without running them.
//!
//! | module | contents |
//! | --- | --- |
//! | `parser` | commands, compound commands, redirections, here-documents |
//! | `state` | the position in the text, and what could not be read |
//! | `word` | words: quotes, variables, substitutions |

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

mod parser;
mod state;
#[cfg(test)]
mod tests;
mod word;

/// A parsed shell text.
///
/// It follows bash's grammar. What other shells read differently is rare, and leads to commands that
/// fail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The commands in the order of the text. Each may run, whatever the conditions.
    pub commands: Vec<Command>,
    /// The reason why the text may run more than these commands.
    pub unread: Option<&'static str>,
    /// `true` if positions are those in a text of its own, as in backticks.
    pub has_own_text: bool,
    /// The position of a quote that is not closed.
    pub open_quote: Option<usize>,
    /// The positions of `$'…'` and `$"…"`, which not every shell reads as bash does.
    pub bash_quotes: BTreeSet<usize>,
}

impl Script {
    /// Parses a text, in time linear in its length.
    pub fn parse(text: &str) -> Self {
        state::Parser::new(text).script()
    }

    /// Calls a function for each word, and not for those in words.
    pub(crate) fn each_word(&self, call: &mut dyn FnMut(&Word)) {
        self.commands.iter().for_each(|command| command.each_word(call));
    }
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A program or builtin with its arguments.
    Simple(SimpleCommand),
    /// Commands that run at once, each reading the output of the one before.
    Pipeline(Vec<Command>),
    /// `! command`
    Negated(Box<Command>),
    /// Commands with `&&` and `||` between them.
    Chain {
        /// The command that runs first.
        first: Box<Command>,
        /// The others, each with `true` behind `&&`: what is before it decides whether it runs.
        rest: Vec<(bool, Command)>,
    },
    /// The commands of a group, a subshell, an `if`, a `while` or a `case`.
    Group {
        /// The kind, which decides which sections run.
        kind: GroupKind,
        /// The commands, in sections.
        sections: Vec<Vec<Command>>,
        /// Words that are expanded for the command itself, such as the subject of a `case`.
        words: Vec<Word>,
        /// The redirections of all of it.
        redirects: Vec<Redirect>,
    },
    /// A loop over words.
    For {
        /// The variable.
        variable: String,
        /// Its values; `None` stands for the arguments of the script.
        values: Option<Vec<Word>>,
        /// The body.
        body: Vec<Command>,
        /// The redirections of the loop.
        redirects: Vec<Redirect>,
    },
    /// The definition of a function.
    Function {
        /// The name.
        name: String,
        /// The body.
        body: Arc<Command>,
    },
}

impl Command {
    fn each_word(&self, call: &mut dyn FnMut(&Word)) {
        let (words, redirects) = match self {
            Self::Simple(SimpleCommand { assignments, words, redirects, .. }) => {
                assignments.iter().for_each(|assignment| call(&assignment.value));
                (&**words, &**redirects)
            }
            Self::Pipeline(commands) => {
                return commands.iter().for_each(|command| command.each_word(call));
            }
            Self::Negated(command) => return command.each_word(call),
            Self::Function { body, .. } => return body.each_word(call),
            Self::Chain { first, rest } => {
                first.each_word(call);
                return rest.iter().for_each(|(_, command)| command.each_word(call));
            }
            Self::Group { sections, words, redirects, .. } => {
                sections.iter().flatten().for_each(|command| command.each_word(call));
                (&**words, &**redirects)
            }
            Self::For { values, body, redirects, .. } => {
                body.iter().for_each(|command| command.each_word(call));
                (values.as_deref().unwrap_or_default(), &**redirects)
            }
        };
        words.iter().for_each(&mut *call);
        for redirect in redirects {
            if let RedirectTarget::Word(word) = &redirect.target {
                call(word);
            }
        }
    }
}

/// A kind of compound command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    /// One section, which runs in the shell itself.
    Braces,
    /// One section, whose changes of directory and variables end with it: `(…)`, `… &`.
    Subshell,
    /// Conditions and what runs after each; a last one alone is that of `else`.
    If,
    /// A condition and a body.
    Loop,
    /// The commands of each pattern.
    Case {
        /// `true` if one of them is `*`.
        has_default: bool,
    },
}

/// A program or builtin with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The assignments before the program.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// The redirections.
    pub redirects: Vec<Redirect>,
    /// The byte range in the text.
    pub range: Range<usize>,
}

/// An assignment to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// `true` for `+=`.
    pub adds: bool,
    /// The subscript of an element of an array.
    pub subscript: Option<Word>,
    /// The value.
    pub value: Word,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The kind.
    pub kind: RedirectKind,
    /// The descriptor, if the text names one.
    pub descriptor: Option<u32>,
    /// The file, descriptor, or text.
    pub target: RedirectTarget,
}

/// A kind of redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `>>`, `&>`, `&>>`
    Write,
    /// `<>`
    ReadWrite,
    /// `<&`, `>&`: a descriptor, or for `>&` also a file.
    Duplicate,
    /// `<<`, `<<-`, `<<<`: a text as standard input.
    Input,
}

/// The right side of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A word.
    Word(Word),
    /// The text of a here-document; unset if it has no end.
    Document(Arc<OnceLock<Word>>),
}

impl RedirectTarget {
    /// Returns the word or the text of the here-document.
    pub fn word(&self) -> Option<&Word> {
        match self {
            Self::Word(word) => Some(word),
            Self::Document(document) => document.get(),
        }
    }
}

/// A word before expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The parts, joined without blanks.
    pub parts: Vec<Part>,
    /// The byte range in the text.
    pub range: Range<usize>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A text. Unquoted text may be a pattern.
    Text {
        /// The text without quotes and escapes.
        text: String,
        /// `true` if no character has a special meaning.
        is_quoted: bool,
    },
    /// A variable, such as `$x`, `${x:-y}` or `${x%.*}`.
    Variable {
        /// The name, or a special parameter.
        name: String,
        /// `true` in double quotes.
        is_quoted: bool,
        /// The operator behind the name, if any.
        operator: Option<Operator>,
        /// The byte range in the text.
        range: Range<usize>,
    },
    /// The output of commands: `$(…)` or backticks.
    Substitution {
        /// The commands.
        script: Script,
        /// `true` in double quotes.
        is_quoted: bool,
    },
    /// A file that is the output or input of commands: `<(…)`, `>(…)`.
    Process {
        /// The commands.
        script: Script,
        /// `true` if they read what is written to the file.
        reads: bool,
    },
    /// The result of `$((…))`, with what is expanded in it.
    Arithmetic(Word),
    /// The values of an array: `(…)` in an assignment.
    Array(Vec<Word>),
}

/// The operator of `${name…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operator {
    /// `:-`, `-`, `:=`, `=`: the value if the variable has none.
    Default {
        /// The value.
        word: Word,
        /// `true` with a colon: an empty value is none.
        replaces_empty: bool,
        /// `true` for `=`: the variable gets the value.
        assigns: bool,
    },
    /// `:+`, `+`: the value if the variable has one.
    Alternative {
        /// The value.
        word: Word,
        /// `true` with a colon: an empty value is none.
        ignores_empty: bool,
    },
    /// `:?`, `?`: the value of the variable, or an error.
    Required(Word),
    /// `%`, `%%`, `#`, `##`: the value without a part at its start or end.
    Trim {
        /// The sign.
        sign: &'static str,
        /// The pattern.
        pattern: Word,
    },
    /// `[@]`, `[*]`: all values of an array.
    All,
    /// `[…]`, `:…`: an element or part, by an arithmetic expression.
    Index(Word),
    /// `${#…}`: a length.
    Length(Word),
    /// `${!…}`, `@P`: the value is expanded, or names another variable.
    Indirect(Word),
    /// Anything else, whose result is not computed, such as `/`, `^`, `@Q`.
    Other(Word),
}
