//! The answer of a finished command of another agent, by that agent's rules.

use super::interpret::{Answer, Ending};
use crate::report::Captured;
use hook_json::{RawJson, RawObject};
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::{InvalidReason, ParsedOutput, PolicyDecision};
use hook_protocol::failure::InvalidAnswer;
use hook_settings::language::{ForeignAnswer, ForeignHook, ProcessOutput};

/// Interprets a foreign command that has ended.
pub(crate) fn interpret_foreign(
    foreign: &ForeignHook,
    input: &EventInput,
    payload: &RawObject,
    ending: Ending,
    stdout: &Captured,
    stderr: &Captured,
) -> Answer {
    let code = match ending {
        Ending::Exited(code) => code,
        Ending::Failed(failure) => {
            let output = foreign.language.read_failure(foreign, &failure);
            return Answer { output, ..Answer::failed(failure) };
        }
    };
    let stdout = String::from_utf8_lossy(&stdout.bytes);
    let stderr = String::from_utf8_lossy(&stderr.bytes);
    let ended = ProcessOutput { code: Some(code), stdout: &stdout, stderr: &stderr };
    interpret_foreign_output(foreign, input, payload, &ended)
}

/// Interprets the output of a foreign hook that has ended.
pub(crate) fn interpret_foreign_output(
    foreign: &ForeignHook,
    input: &EventInput,
    payload: &RawObject,
    ended: &ProcessOutput<'_>,
) -> Answer {
    let answer =
        convert_foreign_answer(foreign.language.read_answer(foreign, input, payload, ended));
    match ended.code {
        None | Some(0) => reject_ambiguous(answer, foreign, input.event(), ended.stdout),
        // The exit code is the answer.
        Some(_) => answer,
    }
}

/// Converts the answer of a foreign hook.
pub(crate) fn convert_foreign_answer(answer: ForeignAnswer) -> Answer {
    let mut converted = Answer {
        is_explicit: answer.output.is_some(),
        output: answer.output,
        failure: answer.failure,
        warnings: answer.warnings,
        ..Answer::default()
    };
    answer.invalid.into_iter().for_each(|invalid| converted.add_invalid(invalid));
    converted
}

/// Marks an answer as invalid if it restricts nothing by its agent's rules although its text seems
/// to. A guard is never assumed to have no objections.
pub(crate) fn reject_ambiguous(
    mut answer: Answer,
    foreign: &ForeignHook,
    event: HookEventName,
    text: &str,
) -> Answer {
    let text = text.trim();
    let restricts =
        answer.output.as_ref().is_some_and(|output| output.policy(event) > PolicyDecision::Proceed);
    let is_decided = restricts || answer.failure.is_some() || !answer.invalid.is_empty();
    if is_decided || !text.starts_with('{') {
        return answer;
    }
    match RawJson::parse(text) {
        Err(_) => {
            let (reason, hint) = ("its answer is broken JSON", "print one object, or exit with 2");
            let invalid = InvalidAnswer::new(reason, hint);
            // The other agent takes this for no answer at all.
            answer.invalid.push(InvalidReason { answer: invalid, warning: None });
        }
        Ok(object) if ParsedOutput::restricts(object.to_entries(), event) => {
            let title = foreign.language.title();
            answer.add_invalid(InvalidAnswer::new(
                format!("its answer seems to forbid, in a form that {title} does not know"),
                format!("write it as {title} reads it, or exit with 2"),
            ));
        }
        Ok(_) => {}
    }
    answer
}
