//! Texts, scripts and input that shells run.

use super::argument::Argument;
use super::invocation::Invocation;
use super::paths::join;
use super::started::Started;

/// Returns what a shell starts: the text behind `-c` and other options, a script, or its input.
pub(super) fn by_shell(invocation: &Invocation) -> Option<Started> {
    let (mut has_text, mut reads_input, mut asks_for_help) = (false, false, false);
    let mut rest = invocation.arguments.iter();
    let mut operand = None;
    while let Some(argument) = rest.next() {
        let text = argument.text.as_str();
        match text {
            "--" | "-" => {
                operand = rest.next();
                break;
            }
            "--rcfile" | "--init-file" => {
                if rest.next().is_some_and(|file| file.text.starts_with("/dev/")) {
                    return Some(Started::Input);
                }
            }
            "--help" | "--version" => asks_for_help = true,
            _ if text.starts_with("--") => {}
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                has_text |= text.starts_with('-') && text.contains('c');
                reads_input |= text.starts_with('-') && text.contains('s');
                if text.ends_with(['o', 'O']) {
                    rest.next();
                }
            }
            _ => {
                operand = Some(argument);
                break;
            }
        }
    }
    match operand {
        Some(text) if has_text => {
            Some(Started::TextWith(text.text.clone(), rest.skip(1).cloned().collect()))
        }
        Some(script) if !reads_input => Some(script_file(script)),
        _ if has_text || asks_for_help => None,
        _ => Some(Started::Input),
    }
}

/// Returns a script file; the names of descriptors are those of what they stand for.
pub(super) fn script_file(script: &Argument) -> Started {
    let path = match script.text.starts_with('/') {
        true => join(None, &script.text).unwrap_or_else(|| script.text.clone()),
        false => return Started::Script(script.clone()),
    };
    let is_of_process = path.starts_with("/dev/fd/")
        || path.strip_prefix("/proc/").is_some_and(|rest| rest.contains("/fd/"));
    match path.rsplit('/').next() {
        Some("0") if is_of_process => Started::Input,
        _ if path == "/dev/stdin" => Started::Input,
        Some("63") if is_of_process => Started::Script(script.clone()),
        _ if is_of_process => Started::Unknown("a shell runs what it reads".to_owned()),
        _ => Started::Script(script.clone()),
    }
}
