//! Values of expressions in programs of other languages, as far as their text shows them.

use std::collections::HashMap;

use super::argument::UNKNOWN;
use super::program::Language;
use super::tokens::{MAX_TOKENS, MAX_USES, Token, Tokens, is_name};

/// The number of values beyond which an expression may have any.
const MAX_VALUES: usize = 16;

/// The depth of expressions and of names behind names that is followed.
const MAX_DEPTH: usize = 12;

/// The value of an argument of the program itself, which is seen where it stands.
pub(super) const OWN_ARGUMENT: &str = "\u{fffc}\u{fffc}";

/// Evaluates expressions of a program.
///
/// An expression has one of the returned values, in which [`UNKNOWN`] stands for what only running
/// the program can tell.
#[derive(Debug)]
pub(super) struct Values<'p> {
    pub(super) program: &'p str,
    pub(super) language: Language,
    names: HashMap<String, Vec<String>>,
    depth: usize,
}

impl<'p> Values<'p> {
    pub(super) fn of(program: &'p str, language: Language) -> Self {
        Self { program, language, names: HashMap::new(), depth: 0 }
    }

    /// Returns the values of the arguments of a call, but for options.
    pub(super) fn of_arguments(&mut self, arguments: &[Vec<Token<'_>>]) -> Vec<Vec<String>> {
        let values = arguments.iter().filter_map(|argument| match argument.as_slice() {
            [] | [Token::Sign('{'), ..] | [Token::Name("function" | "async" | "lambda"), ..] => {
                None
            }
            [Token::Name(_), Token::Sign('='), rest @ ..]
                if !rest.starts_with(&[Token::Sign('=')]) =>
            {
                match rest {
                    [
                        Token::Name(
                            "True" | "False" | "None" | "true" | "false" | "TRUE" | "FALSE" | "T"
                            | "F" | "nil",
                        ),
                    ] => None,
                    [Token::Sign(digit), ..] if digit.is_ascii_digit() => None,
                    _ => Some(rest),
                }
            }
            argument => Some(argument),
        });
        values.map(|value| self.of_expression(value)).collect()
    }

    /// Returns the words of a list, such as `["git", "log", name]`. `None` if it is none.
    pub(super) fn list(&mut self, expression: &[Token<'_>]) -> Option<Vec<String>> {
        let [Token::Sign('['), inside @ .., Token::Sign(']')] = expression else { return None };
        let items = split(inside, |token| *token == Token::Sign(','));
        let items = items.into_iter().filter(|item| !item.is_empty());
        let word = |item: &[Token<'_>]| match self.of_expression(item).as_slice() {
            [value] => value.clone(),
            _ => UNKNOWN.to_string(),
        };
        Some(items.map(word).collect())
    }

    /// Returns the values of an expression. A list has those of its items.
    pub(super) fn of_expression(&mut self, expression: &[Token<'_>]) -> Vec<String> {
        self.depth += 1;
        let found = match self.depth <= MAX_DEPTH {
            true => self.of_sum(expression),
            false => Vec::new(),
        };
        self.depth -= 1;
        match found.len() {
            1..=MAX_VALUES => found,
            _ => vec![UNKNOWN.to_string()],
        }
    }

    /// Evaluates `a + b`, `a / b` of paths, and `"…%s" % a`.
    fn of_sum(&mut self, expression: &[Token<'_>]) -> Vec<String> {
        let is_operator = |token: &Token<'_>| matches!(token, Token::Sign('+' | '/' | '%'));
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
                for value in &mut found {
                    *value = without_conversions(value);
                }
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
        }
        found
    }

    fn of_operand(&mut self, operand: &[Token<'_>]) -> Vec<String> {
        match operand {
            [Token::Text(text)]
            | [Token::Name("b" | "f" | "r" | "fr" | "rf"), Token::Text(text)] => {
                vec![without_expressions(text)]
            }
            [Token::Text(_), Token::Text(_), ..]
                if operand.iter().all(|it| matches!(it, Token::Text(_))) =>
            {
                vec![
                    operand
                        .iter()
                        .map(|it| {
                            if let Token::Text(text) = it {
                                without_expressions(text)
                            } else {
                                String::new()
                            }
                        })
                        .collect(),
                ]
            }
            [Token::Name("shift" | "ARGV" | "argv"), ..]
            | [Token::Sign('$' | '@'), Token::Name("ARGV" | "argv"), ..]
            | [Token::Name("sys" | "process"), Token::Sign('.'), Token::Name("argv"), ..] => {
                vec![OWN_ARGUMENT.to_owned()]
            }
            [Token::Name("glob"), paths @ ..]
                if !matches!(paths, [] | [Token::Sign('(' | '.'), ..]) =>
            {
                self.of_expression(paths).iter().map(|path| without_globs(path)).collect()
            }
            [Token::Name("__file__" | "__filename")] => vec![format!("./{UNKNOWN}")],
            // `os.environ["HOME"]`, `os.getenv("HOME")`, `process.env.HOME`, `$ENV{HOME}`
            [.., Token::Text(name), Token::Sign(']' | ')')] if name == "HOME" => home(),
            [.., Token::Sign('.'), Token::Name("HOME")] => home(),
            [.., Token::Sign('{'), Token::Name("HOME"), Token::Sign('}')] => home(),
            [Token::Name("__dirname")] => vec![".".to_owned()],
            [Token::Name(name)] => self.of_name(name),
            [Token::Sign('$' | '@'), Token::Name(name)] => self.of_name(name),
            [Token::Name("await"), rest @ ..] => self.of_expression(rest),
            [Token::Sign('('), inside @ .., Token::Sign(')')] if is_balanced(inside) => {
                self.of_expression(inside)
            }
            [Token::Sign('['), inside @ .., Token::Sign(']')] if is_balanced(inside) => {
                let items = split(inside, |token| *token == Token::Sign(','));
                let items = items.into_iter().filter(|item| !item.is_empty()).take(MAX_VALUES + 1);
                items.flat_map(|item| self.of_expression(item)).collect()
            }
            [object @ .., Token::Sign('.'), Token::Name("parent")] => {
                let paths = self.of_expression(object);
                paths.iter().map(|path| parent(path)).collect()
            }
            [Token::Name("sys"), Token::Sign('.'), Token::Name("executable")] => {
                vec!["python3".to_owned()]
            }
            [Token::Name("process"), Token::Sign('.'), Token::Name("execPath")] => {
                vec!["node".to_owned()]
            }
            [.., Token::Sign(')')] => self.of_call(operand),
            _ => vec![UNKNOWN.to_string()],
        }
    }

    fn of_call(&mut self, call: &[Token<'_>]) -> Vec<String> {
        let unknown = || vec![UNKNOWN.to_string()];
        let Some((called, inside)) = call_parts(call) else { return unknown() };
        let arguments = split(inside, |token| *token == Token::Sign(','));
        let (object, name) = match called {
            [object @ .., Token::Sign('.'), Token::Name(name)] => (Some(object), *name),
            [Token::Name(name)] => (None, *name),
            _ => return unknown(),
        };
        let module = match object {
            None => Some(""),
            Some([.., Token::Name(name)]) => Some(*name),
            Some(_) => None,
        };
        match (name, module) {
            ("cwd" | "getcwd" | "pwd", Some("os" | "process" | "Path" | "Dir" | "Deno")) => {
                vec![".".to_owned()]
            }
            ("join" | "resolve", Some("path" | "posix" | "File")) | ("join", Some("")) => {
                self.joined(vec![String::new()], &arguments)
            }
            (
                "Path" | "PurePath" | "str" | "sorted" | "list" | "set" | "tuple" | "abspath"
                | "expanduser" | "realpath" | "normalize" | "normpath" | "fspath" | "expand_path"
                | "walk" | "glob" | "iglob" | "globSync",
                Some("" | "pathlib" | "os" | "path" | "glob" | "fs" | "File" | "Dir"),
            ) => {
                let paths = self.of_expression(arguments.first().copied().unwrap_or_default());
                match name {
                    "glob" | "iglob" | "globSync" => {
                        paths.iter().map(|path| without_globs(path)).collect()
                    }
                    "walk" => paths
                        .iter()
                        .flat_map(|path| [path.clone(), join(path, "\u{fffc}")])
                        .collect(),
                    _ => paths,
                }
            }
            ("home", Some("Path" | "Dir")) | ("homedir", Some("os" | "")) => home(),
            ("joinpath", _) => {
                let paths = self.of_expression(object.unwrap_or_default());
                self.joined(paths, &arguments)
            }
            ("glob" | "rglob" | "iterdir", _) => {
                let folders = self.of_expression(object.unwrap_or_default());
                folders.iter().map(|folder| join(folder, "\u{fffc}")).collect()
            }
            ("resolve" | "absolute" | "as_posix" | "strip" | "trim" | "toString" | "format", _) => {
                self.of_expression(object.unwrap_or_default())
            }
            _ => unknown(),
        }
    }

    /// Joins paths with those in the arguments of a call.
    fn joined(&mut self, mut paths: Vec<String>, arguments: &[&[Token<'_>]]) -> Vec<String> {
        for argument in arguments.iter().filter(|argument| !argument.is_empty()) {
            let behind = self.of_expression(argument);
            let joined = paths.iter().flat_map(|path| behind.iter().map(|value| join(path, value)));
            paths = joined.take(MAX_VALUES + 1).collect();
        }
        paths
    }

    /// Returns the values that a program assigns to a name: `p = …`, `for p in …`.
    fn of_name(&mut self, name: &str) -> Vec<String> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let program = self.program;
        let mut found = Vec::new();
        for (count, (at, _)) in program.match_indices(name).enumerate() {
            let (before, behind) = program.split_at(at);
            let behind = behind.get(name.len()..).unwrap_or_default();
            if before.ends_with(is_name) || behind.starts_with(is_name) {
                continue;
            }
            if count == MAX_USES || is_changed(before, behind) {
                found = vec![UNKNOWN.to_string()];
                break;
            }
            let value = assigned(behind).map(|value| (value, 0, false));
            let Some((value, index, is_tuple)) = value.or_else(|| iterated(before, behind)) else {
                continue;
            };
            let expression: Vec<Token<'_>> = expression_at(value);
            let is_walk = expression.contains(&Token::Name("walk"));
            let is_known = !is_tuple || is_walk && index == 0;
            found.extend(match is_known {
                true => self.of_expression(&expression),
                false => vec![UNKNOWN.to_string()],
            });
        }
        if found.is_empty() {
            found.push(UNKNOWN.to_string());
        }
        self.names.insert(name.to_owned(), found.clone());
        found
    }
}

/// Returns `true` if a name between two texts is a parameter, or gets more than what is assigned to it.
fn is_changed(before: &str, behind: &str) -> bool {
    const CHANGES: [&str; 13] = [
        "+=", "-=", "/=", "%=", ".=", "||=", "=>", "<<", ".append(", ".push(", ".add(", ".extend(",
        ".insert(",
    ];
    let behind = behind.trim_start_matches([' ', ')']);
    let line = before.rsplit(['\n', ';']).next().unwrap_or_default();
    let is_parameter = ["def ", "function", "lambda "].iter().any(|word| {
        line.rsplit_once(word).is_some_and(|(_, parameters)| !parameters.contains([':', '{']))
    });
    let begins = before.trim_end();
    is_parameter
        || CHANGES.iter().any(|change| behind.starts_with(change))
        // A named argument, or a default value.
        || begins.ends_with(['(', ',']) && assigned(behind).is_some()
}

/// Returns the text behind the sign of an assignment, if a text begins with one.
fn assigned(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    text.strip_prefix(":=")
        .or_else(|| text.strip_prefix('=').filter(|value| !value.starts_with(['=', '~', '>'])))
}

/// Returns what a loop goes through, if a name between two texts is a target of one, with the name's
/// position among the targets, and whether there are several.
fn iterated<'t>(before: &str, behind: &'t str) -> Option<(&'t str, usize, bool)> {
    let is_target = |text: &str| {
        text.chars().all(|character| {
            is_name(character) || matches!(character, ' ' | ',' | '(' | ')' | '$' | '[' | ']')
        })
    };
    let (_, targets) = before.rsplit_once("for")?;
    let (rest, value) = [" in ", " of "]
        .iter()
        .filter_map(|word| behind.split_once(word))
        .min_by_key(|(rest, _)| rest.len())?;
    let index = targets.matches(',').count();
    (is_target(targets) && is_target(rest)).then(|| (value, index, index > 0 || rest.contains(',')))
}

/// Returns the tokens of the expression that begins a text, without blanks.
fn expression_at(text: &str) -> Vec<Token<'_>> {
    let mut open = 0_usize;
    let mut expression = Vec::new();
    for token in Tokens(text).take(MAX_TOKENS) {
        match token {
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') if open > 0 => open -= 1,
            Token::Sign(')' | ']' | '}' | ';' | '\n' | ',' | ':') if open == 0 => break,
            Token::Name("if" | "for") => break,
            Token::Sign(blank) if blank.is_whitespace() => continue,
            _ => {}
        }
        expression.push(token);
    }
    expression
}

/// Splits tokens where none of their brackets are open.
fn split<'t, 'p>(
    tokens: &'t [Token<'p>],
    is_sign: impl Fn(&Token<'p>) -> bool,
) -> Vec<&'t [Token<'p>]> {
    let mut open = 0_usize;
    tokens
        .split(|token| {
            match token {
                Token::Sign('(' | '[' | '{') => open += 1,
                Token::Sign(')' | ']' | '}') => open = open.saturating_sub(1),
                _ => {}
            }
            open == 0 && is_sign(token)
        })
        .collect()
}

/// Returns `true` if no bracket among tokens closes one before them.
fn is_balanced(tokens: &[Token<'_>]) -> bool {
    let mut open = 0_usize;
    tokens.iter().all(|token| {
        match token {
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') if open == 0 => return false,
            Token::Sign(')' | ']' | '}') => open -= 1,
            _ => {}
        }
        true
    })
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
        token => *token == Token::Sign('('),
    })?;
    Some((before.get(..begin)?, before.get(begin + 1..)?))
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
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((folder, _)) if !folder.is_empty() => folder.to_owned(),
        Some(_) => "/".to_owned(),
        None if path.contains(UNKNOWN) => UNKNOWN.to_string(),
        None => ".".to_owned(),
    }
}

/// Returns a text with [`UNKNOWN`] in place of `{x}`, `${x}`, `#{x}` and `$x`.
fn without_expressions(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '$']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before.trim_end_matches('#'));
        out.push(UNKNOWN);
        let behind = behind.trim_start_matches('$');
        rest = match behind.strip_prefix('{') {
            Some(inside) => inside.split_once('}').map_or("", |(_, rest)| rest),
            None => behind.trim_start_matches(is_name),
        };
    }
    out + rest
}

/// Returns a text with [`UNKNOWN`] in place of `%s` and the like.
fn without_conversions(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(UNKNOWN);
        let width = |character: char| character.is_ascii_digit() || matches!(character, '.' | '-');
        let mut rest = part.trim_start_matches(width).chars();
        rest.next();
        out.push_str(rest.as_str());
    }
    out
}

/// Returns a path with [`UNKNOWN`] in place of `*`, `?` and `[…]`.
fn without_globs(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find(['*', '?', '[']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        out.push(UNKNOWN);
        rest = match behind.strip_prefix('[') {
            Some(inside) => inside.split_once(']').map_or("", |(_, rest)| rest),
            None => behind.trim_start_matches(['*', '?']),
        };
    }
    out + rest
}
