//! Values of expressions in programs of other languages, as far as their text shows them. A shape
//! that is not known as a whole has an unknown value.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::assignments::{is_bound, values_of};
use super::tokens::{Token, is_balanced, split, string};
use crate::invocations::argument::{UNKNOWN, UNKNOWN_TEXT};
use crate::invocations::program::Language;

/// The number of values beyond which an expression may have any.
const MAX_VALUES: usize = 16;

/// The length beyond which a value is not known, in bytes.
const MAX_LENGTH: usize = 4 << 10;

/// The depth of expressions and of names behind names that is followed.
const MAX_DEPTH: usize = 12;

/// The number of bytes that the expressions of a program, and the texts that are searched for its names, may have.
const BUDGET: usize = 1 << 20;

/// The value of an argument of the program itself, which is seen where it stands.
pub(super) const OWN_ARGUMENT: &str = "\u{fffc}\u{fffc}";

/// Evaluates expressions of a program.
///
/// An expression has one of the returned values, in which [`UNKNOWN`] stands for what only running the program can tell.
#[derive(Debug)]
pub(super) struct Values<'p> {
    pub(super) program: &'p str,
    pub(super) language: Language,
    names: HashMap<String, Vec<String>>,
    /// The names that were looked for, with `true` for those that the program binds.
    bound: HashMap<String, bool>,
    /// The names that were looked for, with `true` for those that stand for a module.
    modules: HashMap<String, bool>,
    depth: usize,
    remaining: usize,
    runs_programs: OnceCell<bool>,
    writes_by_method: OnceCell<bool>,
}

impl<'p> Values<'p> {
    pub(super) fn of(program: &'p str, language: Language) -> Self {
        Self {
            program,
            language,
            names: HashMap::new(),
            bound: HashMap::new(),
            modules: HashMap::new(),
            depth: 0,
            remaining: BUDGET,
            runs_programs: OnceCell::new(),
            writes_by_method: OnceCell::new(),
        }
    }

    /// Returns `true` if the program uses a module that runs programs.
    pub(super) fn runs_programs(&self) -> bool {
        *self.runs_programs.get_or_init(|| uses_programs(self.program))
    }

    /// Returns `true` if the program has a method that writes the file of its object.
    pub(super) fn writes_by_method(&self) -> bool {
        *self.writes_by_method.get_or_init(|| writes_by_method(self.program))
    }

    /// Takes from the budget of the program; `false` if it is spent.
    pub(super) fn charge(&mut self, bytes: usize) -> bool {
        self.remaining = self.remaining.saturating_sub(bytes);
        self.remaining > 0
    }

    /// Returns the words of a list, such as `["git", "log", name]`. `None` if it is none.
    pub(super) fn list(&mut self, expression: &[Token<'_>]) -> Option<Vec<String>> {
        let [Token::Sign('['), inside @ .., Token::Sign(']')] = expression else { return None };
        if !is_balanced(inside) {
            return None;
        }
        let items = split(inside, |token| *token == Token::Sign(','));
        let items = items.into_iter().filter(|item| !item.is_empty());
        Some(items.map(|item| self.only_value(item)).collect())
    }

    /// Returns the value of an expression that has only one, else what stands for any.
    pub(super) fn only_value(&mut self, expression: &[Token<'_>]) -> String {
        match self.of_expression(expression).as_slice() {
            [value] => value.clone(),
            _ => UNKNOWN_TEXT.to_owned(),
        }
    }

    /// Returns the values of an expression. A list has those of its items.
    pub(super) fn of_expression(&mut self, expression: &[Token<'_>]) -> Vec<String> {
        self.depth += 1;
        let found = match self.depth <= MAX_DEPTH && self.charge(expression.len()) {
            true => self.of_sum(expression),
            false => Vec::new(),
        };
        self.depth -= 1;
        let is_known = (1..=MAX_VALUES).contains(&found.len());
        match is_known && found.iter().all(|value| value.len() <= MAX_LENGTH) {
            true => found,
            false => vec![UNKNOWN_TEXT.to_owned()],
        }
    }

    /// Evaluates `a + b`, `a . b` of Perl, `a / b` of paths, and `"…%s" % a`.
    fn of_sum(&mut self, expression: &[Token<'_>]) -> Vec<String> {
        let has_dots = self.language.has_backticks
            && expression.windows(2).any(|pair| {
                matches!(
                    pair,
                    [Token::Text(_), Token::Sign('.')] | [Token::Sign('.'), Token::Text(_)]
                )
            });
        let is_operator = |token: &Token<'_>| match token {
            Token::Sign('+' | '/' | '%') => true,
            Token::Sign('.') => has_dots,
            _ => false,
        };
        let operands = split(expression, is_operator);
        if operands.len() < 2 {
            return self.of_operand(expression);
        }
        let mut found = vec![String::new()];
        let mut at = 0_usize;
        for operand in operands {
            let operator = at.checked_sub(1).and_then(|before| expression.get(before));
            at += operand.len() + 1;
            if operator == Some(&Token::Sign('%')) {
                found = found.iter().map(|value| without_conversions(value)).collect();
                break;
            }
            let behind = self.of_expression(operand);
            let joined = found.iter().flat_map(|before| {
                behind.iter().map(move |value| match operator {
                    Some(Token::Sign('/')) => join(before, value),
                    _ => format!("{before}{value}"),
                })
            });
            found = joined.take(MAX_VALUES + 1).collect();
            if found.len() > MAX_VALUES || found.iter().any(|value| value.len() > MAX_LENGTH) {
                return Vec::new();
            }
        }
        found
    }

    fn of_operand(&mut self, operand: &[Token<'_>]) -> Vec<String> {
        let unknown = || vec![UNKNOWN_TEXT.to_owned()];
        match operand {
            [Token::Text(text)]
            | [Token::Name("b" | "f" | "r" | "fr" | "rf"), Token::Text(text)] => {
                vec![without_expressions(text)]
            }
            [Token::Text(_), rest @ ..] if rest.iter().all(|it| matches!(it, Token::Text(_))) => {
                let texts = operand.iter().map(|it| match it {
                    Token::Text(text) => without_expressions(text),
                    _ => String::new(),
                });
                vec![texts.collect()]
            }
            [Token::Name("shift")]
            | [Token::Name("shift"), Token::Sign('@'), Token::Name("ARGV")] => {
                self.unless_bound("ARGV", OWN_ARGUMENT)
            }
            [Token::Sign('@'), Token::Name("ARGV")] => self.unless_bound("ARGV", OWN_ARGUMENT),
            [Token::Name(name @ ("ARGV" | "argv")), rest @ ..] if is_index(rest) => {
                self.unless_bound(name, OWN_ARGUMENT)
            }
            [Token::Sign('$'), Token::Name(name @ ("ARGV" | "argv")), rest @ ..]
                if is_index(rest) =>
            {
                self.unless_bound(name, OWN_ARGUMENT)
            }
            [
                Token::Name(module @ ("sys" | "process")),
                Token::Sign('.'),
                Token::Name("argv"),
                rest @ ..,
            ] if is_index(rest) => self.unless_bound(module, OWN_ARGUMENT),
            [Token::Name("glob"), path @ Token::Text(_)] => {
                let paths = self.of_operand(std::slice::from_ref(path));
                paths.iter().map(|path| without_globs(path)).collect()
            }
            [Token::Name("__file__" | "__filename")] => vec![format!("./{UNKNOWN}")],
            [Token::Name("__dirname")] => vec![".".to_owned()],
            [
                Token::Name("os"),
                Token::Sign('.'),
                Token::Name("environ"),
                Token::Sign('['),
                Token::Text(name),
                Token::Sign(']'),
            ]
            | [Token::Name("ENV"), Token::Sign('['), Token::Text(name), Token::Sign(']')]
            | [
                Token::Name("os"),
                Token::Sign('.'),
                Token::Name("getenv"),
                Token::Sign('('),
                Token::Text(name),
                Token::Sign(')'),
            ] if name == "HOME" => home(),
            [
                Token::Name("process"),
                Token::Sign('.'),
                Token::Name("env"),
                Token::Sign('.'),
                Token::Name("HOME"),
            ]
            | [
                Token::Sign('$'),
                Token::Name("ENV"),
                Token::Sign('{'),
                Token::Name("HOME"),
                Token::Sign('}'),
            ] => home(),
            [Token::Name("sys"), Token::Sign('.'), Token::Name("executable")] => {
                self.unless_bound("sys", "python3")
            }
            [Token::Name("process"), Token::Sign('.'), Token::Name("execPath")] => {
                self.unless_bound("process", "node")
            }
            [Token::Name(name)] | [Token::Sign('$' | '@'), Token::Name(name)] => self.of_name(name),
            [Token::Sign('('), inside @ .., Token::Sign(')')] if is_balanced(inside) => {
                self.of_expression(inside)
            }
            [Token::Sign('['), inside @ .., Token::Sign(']')] if is_balanced(inside) => {
                let items = split(inside, |token| *token == Token::Sign(','));
                let items = items.into_iter().filter(|item| !item.is_empty()).take(MAX_VALUES + 1);
                items.flat_map(|item| self.of_expression(item)).collect()
            }
            [object @ .., Token::Sign('.'), Token::Name("parent")] if self.is_path(object) => {
                let paths = self.of_expression(object);
                paths.iter().map(|path| parent(path)).collect()
            }
            [.., Token::Sign(')')] => self.of_call(operand).unwrap_or_else(unknown),
            _ => unknown(),
        }
    }

    /// Returns `true` for an expression that is a path of Python's.
    fn is_path(&mut self, expression: &[Token<'_>]) -> bool {
        let is_python = !self.language.has_backticks && !self.language.has_slashes;
        let begins = matches!(
            expression,
            [Token::Name("Path"), ..]
                | [Token::Name("pathlib"), Token::Sign('.'), Token::Name("Path"), ..]
        );
        is_python && begins && !self.is_bound("Path")
    }

    fn unless_bound(&mut self, name: &str, value: &str) -> Vec<String> {
        vec![if self.is_bound(name) { UNKNOWN_TEXT } else { value }.to_owned()]
    }

    /// Returns `true` if the program gives a name a value of its own, or may.
    fn is_bound(&mut self, name: &str) -> bool {
        if let Some(known) = self.bound.get(name) {
            return *known;
        }
        let program = self.program;
        let is_bound = !self.charge(program.len()) || is_bound(name, program);
        self.bound.insert(name.to_owned(), is_bound);
        is_bound
    }

    /// Returns `true` if the program gives a module this name, or may: `import os as o`, `f = require("fs")`.
    pub(super) fn names_module(&mut self, name: &str) -> bool {
        if let Some(known) = self.modules.get(name) {
            return *known;
        }
        let program = self.program;
        let forms =
            [format!("as {name}"), format!("{name}=require("), format!("{name} = require(")];
        let is_module = !self.charge(forms.len() * program.len())
            || forms.iter().any(|form| program.contains(form.as_str()));
        self.modules.insert(name.to_owned(), is_module);
        is_module
    }

    fn of_call(&mut self, call: &[Token<'_>]) -> Option<Vec<String>> {
        let (called, inside) = call_parts(call)?;
        let arguments = split(inside, |token| *token == Token::Sign(','));
        let arguments: Vec<_> = arguments.into_iter().filter(|it| !it.is_empty()).collect();
        // A named or starred argument may be anything.
        let is_named = |it: &&[Token<'_>]| {
            matches!(it, [Token::Sign('*'), ..] | [Token::Name(_), Token::Sign('='), ..])
        };
        if arguments.iter().any(is_named) {
            return None;
        }
        let names: Option<Vec<&str>> = called
            .iter()
            .filter(|token| **token != Token::Sign('.'))
            .map(|token| if let Token::Name(name) = token { Some(*name) } else { None })
            .collect();
        let builtin =
            names.filter(|names| names.first().is_some_and(|first| !self.is_bound(first)));
        let is_python = !self.language.has_backticks && !self.language.has_slashes;
        if let Some(names) = builtin {
            let of_first = |values: &mut Self| match arguments.as_slice() {
                [only] => Some(values.of_expression(only)),
                _ => None,
            };
            return match names.as_slice() {
                ["os", "getcwd"]
                | ["process", "cwd"]
                | ["Path" | "Dir", "cwd" | "pwd"]
                | ["pathlib", "Path", "cwd"]
                    if arguments.is_empty() =>
                {
                    Some(vec![".".to_owned()])
                }
                ["Path", "home"]
                | ["pathlib", "Path", "home"]
                | ["Dir", "home"]
                | ["os", "homedir"]
                    if arguments.is_empty() =>
                {
                    Some(home())
                }
                ["os", "path", "join"] if is_python => Some(self.joined(&arguments)),
                ["Path" | "PurePath"] | ["pathlib", "Path"]
                    if is_python && !arguments.is_empty() =>
                {
                    Some(self.joined(&arguments))
                }
                // An absolute part does not begin a path anew there.
                ["path" | "File", "join"] => {
                    let parts: Vec<Vec<String>> =
                        arguments.iter().map(|argument| self.of_expression(argument)).collect();
                    let is_plain =
                        parts.iter().skip(1).flatten().all(|part| !part.starts_with('/'));
                    is_plain.then(|| self.joined(&arguments))
                }
                ["str" | "sorted" | "list"] if is_python => of_first(self),
                ["os", "path", "expanduser" | "abspath" | "realpath" | "normpath"] => {
                    of_first(self)
                }
                ["glob", "glob" | "iglob"] | ["glob"] | ["Dir", "glob"] | ["fs", "globSync"] => {
                    Some(of_first(self)?.iter().map(|path| without_globs(path)).collect())
                }
                ["os", "walk"] => {
                    let paths = of_first(self)?;
                    Some(
                        paths
                            .iter()
                            .flat_map(|path| [path.clone(), join(path, UNKNOWN_TEXT)])
                            .collect(),
                    )
                }
                _ => None,
            };
        }
        let [object @ .., Token::Sign('.'), Token::Name(name)] = called else { return None };
        match *name {
            "joinpath" if self.is_path(object) => {
                let folders = self.of_expression(object);
                let behind = self.joined(&arguments);
                let joined =
                    folders.iter().flat_map(|folder| behind.iter().map(|path| join(folder, path)));
                Some(joined.take(MAX_VALUES + 1).collect())
            }
            "glob" | "rglob" | "iterdir" if self.is_path(object) => {
                let folders = self.of_expression(object);
                Some(folders.iter().map(|folder| join(folder, UNKNOWN_TEXT)).collect())
            }
            "resolve" | "absolute" | "as_posix" | "expanduser"
                if arguments.is_empty() && self.is_path(object) =>
            {
                Some(self.of_expression(object))
            }
            // `"…{}".format(a)`
            "format" if matches!(object, [Token::Text(_)]) => Some(self.of_expression(object)),
            _ => None,
        }
    }

    /// Joins the paths in the arguments of a call.
    pub(super) fn joined<'t>(&mut self, arguments: &[impl AsRef<[Token<'t>]>]) -> Vec<String> {
        let mut paths = vec![String::new()];
        for argument in arguments {
            let behind = self.of_expression(argument.as_ref());
            let joined = paths.iter().flat_map(|path| behind.iter().map(|value| join(path, value)));
            paths = joined.take(MAX_VALUES + 1).collect();
            if paths.len() > MAX_VALUES || paths.iter().any(|path| path.len() > MAX_LENGTH) {
                return Vec::new();
            }
        }
        paths
    }

    /// Returns the values that the program assigns to a name.
    fn of_name(&mut self, name: &str) -> Vec<String> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        // A name that stands for itself.
        self.names.insert(name.to_owned(), vec![UNKNOWN_TEXT.to_owned()]);
        let program = self.program;
        let expressions = match self.charge(program.len()) {
            true => values_of(name, program),
            false => None,
        };
        let found: Vec<String> = match expressions {
            Some(expressions) => expressions
                .iter()
                .flat_map(|value| self.of_expression(value))
                .take(MAX_VALUES + 1)
                .collect(),
            None => Vec::new(),
        };
        let found = match (1..=MAX_VALUES).contains(&found.len()) {
            true => found,
            false => vec![UNKNOWN_TEXT.to_owned()],
        };
        self.names.insert(name.to_owned(), found.clone());
        found
    }
}

/// Returns `true` if a program has a method that writes the file of its object.
fn writes_by_method(program: &str) -> bool {
    const WRITERS: [&str; 13] = [
        ".unlink(",
        ".write_text(",
        ".write_bytes(",
        ".rmdir(",
        ".rename(",
        ".replace(",
        ".touch(",
        ".open('w",
        ".open(\"w",
        ".open('a",
        ".open(\"a",
        ".open(mode=",
        ".symlink_to(",
    ];
    WRITERS.iter().any(|method| program.contains(method))
}

/// Returns `true` if a program uses a module that runs programs, or one whose name it computes.
fn uses_programs(program: &str) -> bool {
    const MODULES: [&str; 9] = [
        "subprocess",
        "child_process",
        "system",
        "os.",
        "execa",
        "Open3",
        "$exec",
        "shelljs",
        "zx",
    ];
    let is_computed = |(at, call): (usize, &str)| {
        let name = program.get(at + call.len()..).unwrap_or_default();
        let name = string(name.trim_start());
        !name.1.trim_start().starts_with(')') || name.0.contains('$')
    };
    MODULES.iter().any(|module| program.contains(module))
        || program.match_indices("require(").any(is_computed)
}

/// Returns `true` for `[1]`, and for nothing.
fn is_index(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [] => true,
        [Token::Sign('['), inside @ .., Token::Sign(']')] => {
            inside.iter().all(|it| matches!(it, Token::Sign(digit) if digit.is_ascii_digit()))
        }
        _ => false,
    }
}

/// Returns what a call at the end of an expression calls, and the tokens in its parentheses.
fn call_parts<'t, 'p>(call: &'t [Token<'p>]) -> Option<(&'t [Token<'p>], &'t [Token<'p>])> {
    let [before @ .., Token::Sign(')')] = call else { return None };
    let mut closed = 0_usize;
    let begin = before.iter().rposition(|token| match token {
        Token::Sign(')' | ']' | '}') => {
            closed += 1;
            false
        }
        Token::Sign('(' | '[' | '{') if closed > 0 => {
            closed -= 1;
            false
        }
        token => matches!(token, Token::Sign('(' | '[' | '{')),
    })?;
    let is_call = before.get(begin) == Some(&Token::Sign('('));
    Some((before.get(..begin)?, before.get(begin + 1..)?)).filter(|_| is_call)
}

fn home() -> Vec<String> {
    vec!["~".to_owned()]
}

fn join(folder: &str, path: &str) -> String {
    match folder {
        "" => path.to_owned(),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{}/{path}", folder.trim_end_matches('/')),
    }
}

fn parent(path: &str) -> String {
    let path = path.trim_end_matches('/');
    match path.rsplit_once('/') {
        _ if path == "." => "..".to_owned(),
        _ if path == ".." || path.ends_with("/..") => format!("{path}/.."),
        _ if path == "~" => "~/..".to_owned(),
        Some((folder, _)) if !folder.is_empty() => folder.to_owned(),
        Some(_) => "/".to_owned(),
        None if path.contains(UNKNOWN) => UNKNOWN_TEXT.to_owned(),
        None => ".".to_owned(),
    }
}

/// Returns a text with [`UNKNOWN`] in place of `{x}`, `${x}`, `#{x}` and `$x`. Behind an expression with braces or quotes
/// nothing is known.
fn without_expressions(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '$']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before.trim_end_matches('#'));
        out.push(UNKNOWN);
        let behind = behind.trim_start_matches('$');
        rest = match behind.strip_prefix('{') {
            Some(inside) => match inside.split_once('}') {
                Some((expression, rest)) if !expression.contains(['{', '"', '\'', '`']) => rest,
                _ => return out,
            },
            None => behind.trim_start_matches(super::tokens::is_name),
        };
    }
    out + rest
}

/// Returns a text with [`UNKNOWN`] in place of `%s` and the like. Behind one with a name nothing is known.
fn without_conversions(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(UNKNOWN);
        let width = |character: char| character.is_ascii_digit() || matches!(character, '.' | '-');
        let mut rest = part.trim_start_matches(width).chars();
        if !rest.next().is_some_and(|letter| letter.is_ascii_alphabetic()) {
            break;
        }
        out.push_str(rest.as_str());
    }
    out
}

/// Returns a path with [`UNKNOWN`] in place of `*`, `?`, `[…]` and `{…}`.
fn without_globs(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find(['*', '?', '[', '{']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        out.push(UNKNOWN);
        rest = match behind.strip_prefix(['[', '{']) {
            Some(inside) => inside.split_once([']', '}']).map_or("", |(_, rest)| rest),
            None => behind.trim_start_matches(['*', '?']),
        };
    }
    out + rest
}
