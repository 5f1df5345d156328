//! What programs of other languages assign to their names.

use super::tokens::{MAX_TOKENS, Token, Tokens, is_name};

/// The maximum number of uses of a name that are looked at.
const MAX_USES: usize = 200;

/// Returns the expressions that a program assigns to a name: `p = …`, `for p in …`. `None` if it may have other values: it
/// is a parameter, it is changed, or there are too many uses.
pub(super) fn values_of<'p>(name: &str, program: &'p str) -> Option<Vec<Vec<Token<'p>>>> {
    let mut found = Vec::new();
    for (count, (before, behind)) in uses(name, program).enumerate() {
        if count >= MAX_USES || is_changed(before, behind) {
            return None;
        }
        if let Some(value) = assigned(behind) {
            found.push(expression_at(value, false)?);
        } else if let Some(Loop { values, index, targets }) = iterated(before, behind) {
            let expression = expression_at(values, true)?;
            // `for folder, folders, files in os.walk(…)`
            let is_walk = expression.contains(&Token::Name("walk"));
            if targets > 1 && !(is_walk && index == 0) {
                return None;
            }
            found.push(expression);
        }
    }
    Some(found)
}

/// Returns `true` if a program gives a name a value of its own.
pub(super) fn is_bound(name: &str, program: &str) -> bool {
    uses(name, program).enumerate().any(|(count, (before, behind))| {
        // `from pathlib import Path as P`
        let is_imported = behind.trim_start().starts_with("as ");
        let is_alias = before.trim_end().ends_with(" as");
        count >= MAX_USES
            || is_changed(before, behind)
            || assigned(behind).is_some_and(|value| !requires(value, name))
            || iterated(before, behind).is_some()
            || is_alias && !is_imported
            || ["def", "function", "class", "sub"]
                .iter()
                .any(|word| before.trim_end().ends_with(word))
    })
}

/// Returns `true` for `path = require("path")`.
fn requires(value: &str, name: &str) -> bool {
    let value = value.trim_start();
    value.strip_prefix("require(").and_then(|module| module.split(')').next()).is_some_and(
        |module| {
            let module = module.trim_matches(['"', '\'', '`', ' ']);
            module.strip_prefix("node:").unwrap_or(module) == name
        },
    )
}

/// Returns the texts before and behind each use of a name.
fn uses<'p>(name: &str, program: &'p str) -> impl Iterator<Item = (&'p str, &'p str)> {
    let is_whole = |(before, behind): &(&str, &str)| {
        !before.ends_with(is_name) && !behind.starts_with(is_name)
    };
    let length = name.len();
    program
        .match_indices(name)
        .map(move |(at, _)| {
            let (before, behind) = program.split_at(at);
            (before, behind.get(length..).unwrap_or_default())
        })
        .filter(is_whole)
}

/// Returns `true` if a name between two texts is a parameter, or gets more than what is assigned to it.
fn is_changed(before: &str, behind: &str) -> bool {
    const CHANGES: [&str; 19] = [
        "+=", "-=", "/=", "%=", ".=", "*=", "|=", "||=", "&&=", "??=", "//=", "=~", "=>", "<<",
        ".append(", ".push(", ".add(", ".extend(", ".insert(",
    ];
    let line = before.rsplit(['\n', ';']).next().unwrap_or_default();
    let is_parameter = ["def ", "function", "lambda ", "sub "].iter().any(|word| {
        line.rsplit_once(word).is_some_and(|(_, parameters)| !parameters.contains([':', '{']))
    });
    let rest = behind.trim_start_matches([' ', ')']);
    let begins = before.trim_end();
    // `p, q = …`
    let is_list = |text: &str| {
        text.chars().all(|it| is_name(it) || matches!(it, ' ' | ',' | '$' | '@' | '(' | '['))
    };
    let is_one_of_several = (rest.starts_with(',') || begins.ends_with(','))
        && is_list(line)
        && behind.split(['\n', ';']).next().is_some_and(|rest| {
            rest.split_once('=')
                .is_some_and(|(targets, _)| is_list(&targets.replace([')', ']'], "")))
        });
    is_parameter
        || is_one_of_several
        || CHANGES.iter().any(|change| rest.starts_with(change))
        // Part of it: `p[0] = …`
        || behind.starts_with('[') && behind.split_once(']').is_some_and(|(_, rest)| assigned(rest).is_some())
        // A named argument, or a default value.
        || begins.ends_with(['(', ',', '*']) && assigned(behind).is_some()
}

/// Returns the text behind the sign of an assignment, if a text begins with one.
fn assigned(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    text.strip_prefix(":=")
        .or_else(|| text.strip_prefix('=').filter(|value| !value.starts_with(['=', '~', '>'])))
}

/// A loop, of which a name is a target.
struct Loop<'t> {
    /// The text that begins with its values.
    values: &'t str,
    /// The position among the targets.
    index: usize,
    targets: usize,
}

/// Returns the loop of which a name between two texts is a target.
fn iterated<'t>(before: &str, behind: &'t str) -> Option<Loop<'t>> {
    let is_target = |text: &str| {
        text.chars().all(|it| is_name(it) || matches!(it, ' ' | ',' | '(' | ')' | '$' | '[' | ']'))
    };
    let line = before.rsplit(['\n', ';']).next().unwrap_or_default();
    let (_, targets) = line.rsplit_once("for")?;
    let (rest, values) = [" in ", " of "]
        .iter()
        .filter_map(|word| behind.split_once(word))
        .min_by_key(|(rest, _)| rest.len())?;
    let index = targets.matches(',').count();
    (is_target(targets) && is_target(rest)).then(|| Loop {
        values,
        index,
        targets: index + 1 + rest.matches(',').count(),
    })
}

/// Returns the tokens of the expression that begins a text, without blanks. `None` if it is too long. What a comprehension
/// goes through ends at its condition.
fn expression_at(text: &str, is_iterated: bool) -> Option<Vec<Token<'_>>> {
    let mut open = 0_usize;
    let mut expression = Vec::new();
    let mut tokens = Tokens(text);
    while let Some(token) = tokens.next() {
        match token {
            _ if expression.len() == MAX_TOKENS => return None,
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') if open > 0 => open -= 1,
            // The next line may go on.
            Token::Sign('\n')
                if tokens.0.trim_start().starts_with(['+', '.', '?', '/', '%', '|', '&']) =>
            {
                continue;
            }
            Token::Sign(')' | ']' | '}' | ';' | '\n' | ',') if open == 0 => break,
            Token::Sign(':') if open == 0 && is_iterated => break,
            Token::Name("if" | "for") if open == 0 && is_iterated => break,
            Token::Sign(blank) if blank.is_whitespace() => continue,
            _ => {}
        }
        expression.push(token);
    }
    Some(expression)
}
