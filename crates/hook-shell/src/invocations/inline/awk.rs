//! Programs of awk: the shell texts that they run, and the files that they read and write.

use super::tokens::string;
use crate::invocations::paths::Access;
use crate::invocations::started::Started;

/// Returns what a program of awk starts.
pub(super) fn by_awk(program: &str) -> Vec<Started> {
    let mut started: Vec<Started> = texts(program).into_iter().map(Started::Text).collect();
    for (sign, access) in [('>', Access::Write), ('<', Access::Read)] {
        started.extend(redirections(program, sign).map(|path| Started::File(path, access)));
    }
    if is_computed(program) {
        started.push(Started::unknown_program());
    }
    started
}

/// Returns the shell texts that a program of awk runs: `system("…")`, `"…" | getline`, `print | "…"`.
fn texts(program: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = program;
    while let Some(at) = rest.find('"') {
        let (before, quoted) = rest.split_at(at);
        let (text, after) = string(quoted);
        let before = before.trim_end();
        let is_piped = |side: &str, other: &str| side == "|" && other != "|";
        let left = before.get(before.len().saturating_sub(2)..).unwrap_or_default();
        let gets = is_piped(
            left.get(left.len().saturating_sub(1)..).unwrap_or_default(),
            left.get(..1).filter(|_| left.len() == 2).unwrap_or_default(),
        );
        let behind = after.trim_start();
        let puts =
            is_piped(behind.get(..1).unwrap_or_default(), behind.get(1..2).unwrap_or_default());
        if gets || puts || before.ends_with("system(") || before.ends_with("system (") {
            found.push(text);
        }
        rest = after;
    }
    found
}

/// Returns the files of redirections in a program of awk: `print > "…"`, `getline < "…"`.
fn redirections(program: &str, sign: char) -> impl Iterator<Item = String> {
    let behind = program.split(sign).skip(1).map(|rest| rest.trim_start_matches([' ', '(']));
    behind.filter(|rest| rest.starts_with('"')).map(|rest| string(rest).0)
}

/// Returns `true` if a program of awk runs a computed text, or writes to a computed file.
fn is_computed(program: &str) -> bool {
    let mut calls = program.split("system").skip(1).map(str::trim_start);
    let runs = calls.any(|rest| {
        rest.strip_prefix('(').is_some_and(|rest| {
            let behind = rest.trim_start();
            !behind.starts_with('"') || !string(behind).1.trim_start().starts_with(')')
        })
    });
    // `print > f`; a comparison stands in parentheses or in a condition.
    let statements = program.split([';', '{', '}', '\n']).map(str::trim_start);
    let mut outputs = statements.filter(|it| it.starts_with("print"));
    runs || outputs.any(|statement| {
        let mut open = 0_usize;
        let mut rest = statement;
        while let Some(character) = rest.chars().next() {
            let behind = rest.get(character.len_utf8()..).unwrap_or_default();
            match character {
                '"' => {
                    rest = string(rest).1;
                    continue;
                }
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                '>' | '|' if open == 0 => {
                    let target = behind.trim_start_matches(['>', '&']).trim_start();
                    return !target.starts_with('"');
                }
                _ => {}
            }
            rest = behind;
        }
        false
    })
}
