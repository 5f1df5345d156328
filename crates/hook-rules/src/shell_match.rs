//! Comparison of a rule about commands with an invocation.

use hook_shell::invocations::{Access, Argument, Input, Invocation, UNKNOWN, is_option};

use crate::call::Facts;
use crate::file::{Condition, ShellRule};
use crate::paths::PathPatterns;
use crate::words::WordPattern;

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    No,
    /// It depends on an argument of which a part is not known.
    May,
    Must,
}

/// Returns `true` if a word with an unknown part may be what a pattern names. A word of which nothing
/// is known counts as none, since nearly all variables hold names of files and the like.
fn may_be(word: &str, pattern: &WordPattern) -> bool {
    let Some(literal) = pattern.literal().filter(|_| word.contains(UNKNOWN)) else { return false };
    let Some((before, after)) = word.split_once(UNKNOWN) else { return false };
    let after = after.rsplit(UNKNOWN).next().unwrap_or_default();
    let is_part = before.len() >= 2 || after.len() >= 2;
    is_part
        && before.len() + after.len() <= literal.len()
        && literal.starts_with(before)
        && literal.ends_with(after)
}

/// Compares an invocation with a rule about its program, or any.
pub(crate) fn shell_matches(
    rule: &ShellRule,
    (invocation, facts): (&Invocation, &Facts),
) -> Verdict {
    let sets = |(name, pattern): &(String, WordPattern)| {
        invocation.variables.iter().any(|(set, value)| {
            set == name && value.as_deref().is_none_or(|value| pattern.matches(value))
        })
    };
    if !rule.env.iter().all(sets) {
        return Verdict::No;
    }
    let operands = invocation.operands.as_slice();
    let has_operands =
        |may: bool| operands_match(&rule.operands, operands, &invocation.arguments, may);
    let is_sure = has_operands(false);
    if !is_sure && !facts.has_unknown {
        return Verdict::No;
    }
    let arguments = &invocation.arguments;
    let holds_for = |pattern: &WordPattern, argument: &Argument| match option_of(pattern) {
        Some(option) => is_option(&argument.text, option, invocation.value_letters),
        None => pattern.matches(&argument.text),
    };
    let holds = |pattern: &WordPattern| arguments.iter().any(|it| holds_for(pattern, it));
    // An operand of which nothing is known may be any, if something else speaks for the rule. Of git,
    // most commands have rules.
    let is_likely = || {
        if invocation.program() == "git" {
            return true;
        }
        let operands = invocation.operands().map(|operand| operand.text.as_str());
        let mut known = rule.operands.iter().zip(operands);
        known.any(|(pattern, operand)| {
            let is_star =
                matches!(pattern, WordPattern::Glob(stars) if stars.iter().all(|it| *it == '*'));
            !is_star && !operand.contains(UNKNOWN) && pattern.matches(operand)
                || may_be(operand, pattern)
        }) || rule.conditions.iter().any(
            |condition| matches!(condition, Condition::Any(patterns) if patterns.iter().any(holds)),
        )
    };
    if !(is_sure || has_operands(true) && is_likely()) {
        return Verdict::No;
    }
    let mut verdict = if is_sure { Verdict::Must } else { Verdict::May };
    let may_hold =
        |pattern: &WordPattern| arguments.iter().any(|argument| may_be(&argument.text, pattern));
    for condition in rule.conditions.iter().filter(|_| facts.has_unknown) {
        if let Condition::Any(patterns) = condition
            && !patterns.iter().any(holds)
            && patterns.iter().any(may_hold)
        {
            verdict = Verdict::May;
        }
    }
    let all_hold = rule.conditions.iter().all(|condition| match condition {
        Condition::Any(patterns) => {
            patterns.iter().any(holds) || facts.has_unknown && patterns.iter().any(may_hold)
        }
        Condition::All(patterns) => patterns.iter().all(holds),
        Condition::None(patterns) => !has_for_certain(patterns, invocation),
        Condition::Option { names, values } => invocation
            .option_values(names)
            .iter()
            .any(|value| values.iter().any(|pattern| pattern.matches(value))),
    });
    if !all_hold {
        return Verdict::No;
    }
    let uses = |patterns: &PathPatterns, access: Option<Access>| {
        facts
            .files(invocation)
            .filter(|(file, _)| match access {
                Some(Access::Read) => file.access != Access::Write,
                Some(access) => file.access == access,
                None => true,
            })
            .any(|(file, path)| patterns.matches_access(file.access, path, invocation))
    };
    if rule.files.as_ref().is_some_and(|patterns| !uses(patterns, None))
        || rule.reads.as_ref().is_some_and(|patterns| !uses(patterns, Some(Access::Read)))
        || rule.writes.as_ref().is_some_and(|patterns| !uses(patterns, Some(Access::Write)))
    {
        return Verdict::No;
    }
    let is_fed =
        |pattern: &WordPattern| invocation.fed_by.iter().any(|program| pattern.matches(program));
    if !rule.fed_by.is_empty() && !rule.fed_by.iter().any(is_fed) {
        return Verdict::No;
    }
    let is_printed =
        |pattern: &WordPattern| invocation.prints.iter().any(|name| pattern.matches(name));
    if !rule.prints.is_empty() && !rule.prints.iter().any(is_printed) {
        return Verdict::No;
    }
    let has_text = rule.text.as_ref().is_none_or(|regex| {
        arguments.iter().any(|argument| regex.is_match(&argument.text))
            || matches!(&invocation.input, Input::Text(text) if regex.is_match(text))
    });
    if has_text { verdict } else { Verdict::No }
}

/// Returns the option that a pattern names.
fn option_of(pattern: &WordPattern) -> Option<&str> {
    pattern.literal().filter(|literal| literal.starts_with('-'))
}

/// Returns `true` if an argument matches that excludes a rule. An option counts only if it is none of
/// the values of others, and if no later one takes it back, as `--no-dry-run` does `--dry-run`.
fn has_for_certain(patterns: &[WordPattern], invocation: &Invocation) -> bool {
    let arguments = &invocation.arguments;
    let is_operand = |pattern: &WordPattern| {
        option_of(pattern).is_none() && arguments.iter().any(|it| pattern.matches(&it.text))
    };
    if patterns.iter().any(is_operand) {
        return true;
    }
    let options: Vec<&str> = patterns.iter().filter_map(option_of).collect();
    let mut holds = false;
    let mut is_value = false;
    let mut last = None;
    for index in invocation.options.iter().copied() {
        let Some(Argument { text, .. }) = arguments.get(index) else { continue };
        // Of a cluster, the last letter may take the next argument.
        if is_value && last == index.checked_sub(1) {
            is_value = false;
            continue;
        }
        last = Some(index);
        is_value = !text.starts_with("--")
            && text
                .chars()
                .skip(1)
                .find(|letter| invocation.value_letters.contains(*letter))
                .is_some()
            && text.ends_with(|end| invocation.value_letters.contains(end));
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if let Some(taken) = name.strip_prefix("--no-") {
            let taken = format!("--{taken}");
            holds &= !options.iter().any(|option| is_option(&taken, option, ""));
        }
        let is_one = |option: &&str| {
            is_option(text, option, invocation.value_letters)
                && (*option == name || name.len() > 3 || !name.starts_with("--"))
        };
        if options.iter().any(is_one) {
            holds = !matches!(value, "none" | "no" | "0" | "off");
        }
    }
    holds
}

/// Compares the first operands with patterns, in which `**` stands for any number. With `may`, an
/// operand that is not known may be what a pattern names.
fn operands_match(
    patterns: &[WordPattern],
    operands: &[usize],
    arguments: &[Argument],
    may: bool,
) -> bool {
    let is_same = |pattern: &WordPattern, operand: &str| {
        let is_all_unknown = || operand.chars().all(|character| character == UNKNOWN);
        pattern.matches(operand) && !operand.contains(UNKNOWN)
            || may && (is_all_unknown() || may_be(operand, pattern))
    };
    let (mut rest, mut left) = (patterns, operands);
    // What follows the last `**`, and the operands that it does not stand for.
    let mut last_star = None;
    while let Some((pattern, behind)) = rest.split_first() {
        if matches!(pattern, WordPattern::Glob(stars) if stars.as_slice() == ['*', '*']) {
            last_star = Some((behind, left));
            rest = behind;
            continue;
        }
        let Some((operand, after)) = left.split_first() else { return false };
        let operand = arguments.get(*operand).map_or("", |operand| &operand.text);
        if is_same(pattern, operand) {
            (rest, left) = (behind, after);
        } else if let Some((behind, skipped)) = &mut last_star {
            *skipped = skipped.get(1..).unwrap_or_default();
            (rest, left) = (*behind, *skipped);
        } else {
            return false;
        }
    }
    true
}
