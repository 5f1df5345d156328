//! The answer of a finished command of another agent, by that agent's rules.

use super::interpret::{Answer, Ending};
use crate::report::Captured;
use hook_json::{RawJson, RawObject};
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::{Invalid, PolicyDecision, Reading};
use hook_protocol::failure::InvalidAnswer;
use hook_settings::language::{Ended, ForeignAnswer, ForeignHook};

/// Interprets a foreign command that has ended.
pub(crate) fn interpret_home(
    home: &ForeignHook,
    input: &EventInput,
    told: &RawObject,
    ending: Ending,
    stdout: &Captured,
    stderr: &Captured,
) -> Answer {
    let code = match ending {
        Ending::Exited(code) => code,
        Ending::Failed(failure) => {
            let output = home.language.failed(home, &failure);
            return Answer { output, ..Answer::failed(failure) };
        }
    };
    let stdout = String::from_utf8_lossy(&stdout.bytes);
    let stderr = String::from_utf8_lossy(&stderr.bytes);
    let ended = Ended { code: Some(code), stdout: &stdout, stderr: &stderr };
    answer_at_home(home, input, told, &ended)
}

/// Interprets the output of a foreign hook that has ended.
pub(crate) fn answer_at_home(
    home: &ForeignHook,
    input: &EventInput,
    told: &RawObject,
    ended: &Ended<'_>,
) -> Answer {
    let answer = home_answer(home.language.answer(home, input, told, ended));
    match ended.code {
        None | Some(0) => without_doubt(answer, home, input.event(), ended.stdout),
        // The exit code is the answer.
        Some(_) => answer,
    }
}

/// Converts the answer of a foreign hook.
pub(crate) fn home_answer(answer: ForeignAnswer) -> Answer {
    let mut said = Answer {
        is_explicit: answer.output.is_some(),
        output: answer.output,
        failure: answer.failure,
        warnings: answer.warnings,
        ..Answer::default()
    };
    answer.invalid.into_iter().for_each(|invalid| said.invalid(invalid));
    said
}

/// Marks an answer as invalid if it restricts nothing by its agent's rules although its text seems
/// to. A guard is never assumed to have no objections.
pub(crate) fn without_doubt(
    mut answer: Answer,
    home: &ForeignHook,
    event: HookEventName,
    text: &str,
) -> Answer {
    let text = text.trim();
    let restricts =
        answer.output.as_ref().is_some_and(|it| it.policy(event) > PolicyDecision::Proceed);
    let is_judged = restricts || answer.failure.is_some() || !answer.invalid.is_empty();
    if is_judged || !text.starts_with('{') {
        return answer;
    }
    match RawJson::parse(text) {
        Err(_) => {
            let (reason, hint) = ("its answer is broken JSON", "print one object, or exit with 2");
            let broken = InvalidAnswer::new(reason, hint);
            // The other agent takes this for no answer at all.
            answer.invalid.push(Invalid { answer: broken, warning: None });
        }
        Ok(object) if Reading::restricts(object.to_entries(), event) => {
            let title = home.language.title();
            answer.invalid(InvalidAnswer::new(
                format!("its answer seems to forbid, in a form that {title} does not know"),
                format!("write it as {title} reads it, or exit with 2"),
            ));
        }
        Ok(_) => {}
    }
    answer
}
