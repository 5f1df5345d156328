//! Programs that `xargs` and `parallel` start for each of their inputs.

use super::argument::{Argument, UNKNOWN_TEXT};
use super::invocation::{Input, Invocation};
use super::options::{is_option, option_values};
use super::started::Started;

/// The maximum number of inputs that are read.
const MAX_INPUTS: usize = 64;
/// The maximum length of the inputs of `xargs`.
const MAX_TEXT: usize = 4_000;

/// Takes the words of the program out of what is started.
fn take_words(started: &mut Vec<Started>) -> Option<Vec<Argument>> {
    let at = started.iter().position(|it| matches!(it, Started::Program(_)))?;
    match started.remove(at) {
        Started::Program(words) => Some(words),
        _ => None,
    }
}

/// Adds what `xargs` starts: what it reads becomes arguments.
pub(super) fn by_xargs(invocation: &Invocation, started: &mut Vec<Started>) {
    let Some(words) = take_words(started) else { return };
    let text = invocation.input.text().filter(|text| text.len() < MAX_TEXT).unwrap_or(UNKNOWN_TEXT);
    // Its options stand before the program.
    let own = invocation.operands.first().and_then(|first| invocation.arguments.get(..*first));
    let own = own.unwrap_or_default();
    let has = |names: &[&str]| {
        own.iter()
            .any(|it| names.iter().any(|name| is_option(&it.text, name, invocation.value_letters)))
    };
    let delimiter = match option_values(own, &["-d", "--delimiter"]).first() {
        Some(&"\\n") => Some('\n'),
        Some(&"\\0") => Some('\0'),
        Some(delimiter) => delimiter.chars().next(),
        None => has(&["-0", "--null"]).then_some('\0'),
    };
    let marks = option_values(own, &["-I", "--replace"]);
    // `-iX`
    let attached =
        own.iter().find_map(|it| it.text.strip_prefix("-i").filter(|mark| !mark.is_empty()));
    let mark = marks.first().copied().or(attached);
    let mark = mark.or_else(|| has(&["-i", "--replace"]).then_some("{}"));
    let plain = |text: &str| text.replace(['"', '\'', '\\'], "");
    let inputs: Vec<String> = match (delimiter, mark) {
        (Some(delimiter), _) => text.split(delimiter).map(str::to_owned).collect(),
        (None, Some(_)) => text.lines().map(|line| plain(line.trim_start())).collect(),
        (None, None) => text.split_whitespace().map(plain).collect(),
    };
    let count = inputs.len();
    let inputs = inputs.into_iter().filter(|input| !input.is_empty());
    match mark {
        None => {
            let words = words.into_iter().chain(inputs.map(Argument::plain));
            started.push(Started::Program(words.collect()));
        }
        Some(_) if count > MAX_INPUTS => {
            started.push(Started::Unknown("`xargs` starts too many programs".to_owned()));
        }
        Some(mark) => started.extend(inputs.map(|input| Started::replaced(&words, mark, &input))),
    }
}

/// Adds what `parallel` starts: its words and each of its inputs make a shell text.
pub(super) fn by_parallel(invocation: &Invocation, started: &mut Vec<Started>) {
    let input = &invocation.input;
    let Some(words) = take_words(started) else {
        // Without words, each line is a text.
        if *input != Input::Inherited && !invocation.texts().any(|text| text == ":::") {
            started.push(Started::Input);
        }
        return;
    };
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let begin = words.iter().position(|word| word.starts_with(":::")).unwrap_or(words.len());
    let (command, lists) = words.split_at(begin);
    let command = command.join(" ");
    let inputs: Vec<&str> = match (lists, input) {
        ([mark, ..], _) if mark.starts_with("::::") => vec![UNKNOWN_TEXT],
        ([_, ..], _) => lists.iter().copied().filter(|word| !word.starts_with(":::")).collect(),
        ([], Input::Text(text)) => text.lines().collect(),
        ([], _) => vec![UNKNOWN_TEXT],
    };
    if inputs.len() > MAX_INPUTS {
        started.push(Started::Unknown("`parallel` starts too many programs".to_owned()));
    }
    started.extend(inputs.into_iter().take(MAX_INPUTS).map(|input| {
        Started::Text(match command.contains('{') {
            true => command.replace("{}", input),
            false => format!("{command} {input}").trim_start().to_owned(),
        })
    }));
}
