//! Brace expansion of the shell: `{a,b}.sh` is `a.sh` and `b.sh`, `{1..3}` is `1`, `2` and `3`.

/// How many texts one is expanded to; a person writes fewer.
const MAX_TEXTS: usize = 256;

/// What a text expands to: itself, if it has no braces that mean anything; `None` for more than
/// [`MAX_TEXTS`].
pub(super) fn expand(text: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        if done.len() + open.len() >= MAX_TEXTS {
            return None;
        }
        match first_choice(&text) {
            Some((before, choices, after)) => {
                open.extend(choices.iter().rev().map(|it| format!("{before}{it}{after}")));
            }
            None => done.push(text),
        }
    }
    Some(done)
}

/// The first pair of braces with a choice in it: what is before, the choices, what is behind.
fn first_choice(text: &str) -> Option<(&str, Vec<String>, &str)> {
    for (start, _) in text.match_indices('{') {
        let inner = text.get(start + 1..)?;
        // Only at the beginning does `{}` always mean itself.
        if start == 0 && inner.starts_with('}') {
            continue;
        }
        let (mut depth, mut commas, mut end) = (0_usize, Vec::new(), None);
        for (at, character) in inner.char_indices() {
            match character {
                '{' => depth += 1,
                // Before there is a choice it means itself.
                '}' if depth == 0
                    && commas.is_empty()
                    && inner.get(..at).and_then(sequence).is_none() => {}
                '}' if depth == 0 => {
                    end = Some(at);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => commas.push(at),
                _ => {}
            }
        }
        let Some(end) = end else { continue };
        let (body, after) = (inner.get(..end)?, inner.get(end + 1..)?);
        let before = text.get(..start)?;
        if !commas.is_empty() {
            let mut from = 0;
            let mut choices = Vec::new();
            for at in commas.into_iter().chain([end]) {
                choices.push(body.get(from..at)?.to_owned());
                from = at + 1;
            }
            return Some((before, choices, after));
        }
        if let Some(choices) = sequence(body) {
            return Some((before, choices, after));
        }
    }
    None
}

/// `1..3`, `a..c`, `01..10..2`.
fn sequence(body: &str) -> Option<Vec<String>> {
    let mut parts = body.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step = parts.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    if parts.next().is_some() {
        return None;
    }
    let step = i64::try_from(step).ok()?;
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let width = match [from, to]
            .iter()
            .any(|it| it.trim_start_matches('-').starts_with('0') && it.len() > 1)
        {
            true => from.len().max(to.len()),
            false => 0,
        };
        return Some(walk(first, last, step).map(|it| format!("{it:0width$}")).collect());
    }
    let letter = |text: &str| {
        let mut letters = text.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic)?;
        letters.next().is_none().then_some(letter)
    };
    let (first, last) = (letter(from)?, letter(to)?);
    let letters = walk(i64::from(u32::from(first)), i64::from(u32::from(last)), step);
    Some(
        letters
            .filter_map(|it| char::from_u32(u32::try_from(it).ok()?))
            .map(String::from)
            .collect(),
    )
}

fn walk(first: i64, last: i64, step: i64) -> impl Iterator<Item = i64> {
    let down = last < first;
    let next = move |at: &i64| if down { at.checked_sub(step) } else { at.checked_add(step) };
    std::iter::successors(Some(first), next)
        .take_while(move |at| if down { *at >= last } else { *at <= last })
        // One too many says that there are too many.
        .take(MAX_TEXTS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn choices_and_sequences_are_expanded_in_order() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("{a,b}.sh", vec!["a.sh", "b.sh"]),
            ("x{a,{b,c}d}", vec!["xa", "xbd", "xcd"]),
            ("{a,b}{1..2}", vec!["a1", "a2", "b1", "b2"]),
            ("{3..1}", vec!["3", "2", "1"]),
            ("{08..10}", vec!["08", "09", "10"]),
            ("{a..e..2}", vec!["a", "c", "e"]),
            ("{a}{,b}", vec!["{a}", "{a}b"]),
            ("{}{a", vec!["{}{a"]),
        ] {
            assert_eq!(expand(text).unwrap(), expected, "{text}");
        }
        assert_eq!(expand("{1..1000}"), None);
        assert_eq!(expand(&"{a,b}".repeat(20)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_expanded_without_panic(text in "[{},.a0-]{0,30}") {
            let _ = expand(&text);
        }

        /// What bash makes of a text is among what is made of it here.
        #[cfg(unix)]
        #[test]
        fn what_bash_expands_is_expanded(text in "[{},.ab1]{1,12}") {
            let mut bash = std::process::Command::new("bash");
            let said = bash.args(["-c", &format!("printf '%s\\0' {text}")]).output().unwrap();
            prop_assume!(said.status.success());
            let said = String::from_utf8(said.stdout).unwrap();
            let ours = expand(&text);
            for one in said.split_terminator('\0').filter(|one| !one.is_empty()) {
                let found = ours.as_ref().is_none_or(|ours| ours.iter().any(|our| our == one));
                prop_assert!(found || one == text, "{one:?} of {text:?}: {ours:?}");
            }
        }
    }
}
