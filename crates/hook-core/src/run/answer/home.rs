//! What a finished command of another agent means, by the rules of its home.

use super::interpret::{Answer, Ending};
use crate::event::input::EventInput;
use crate::event::output::Invalid;
use crate::failure::InvalidAnswer;
use crate::json::{RawJson, RawObject};
use crate::language::{Ended, HomeAnswer, HomeHook};
use crate::run::report::Captured;

/// Interprets a hook of another agent that ended.
pub(in crate::run) fn interpret_home(
    home: &HomeHook,
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
    let mut answer = home_answer(home.language.answer(home, input, told, &ended));
    if code == 0 && answer.failure.is_none() && is_broken(&stdout) {
        let (reason, hint) = ("its answer is broken JSON", "print one object, or exit with 2");
        let broken = InvalidAnswer::new(reason, hint);
        // In its own agent that is no answer at all; a guard is not taken to have no objections.
        answer.invalid.push(Invalid { answer: broken, warning: None });
    }
    answer
}

/// Whether a text begins as an object and is none.
fn is_broken(stdout: &str) -> bool {
    let text = stdout.trim();
    text.starts_with('{') && RawJson::parse(text).is_err()
}

/// What a hook of another agent has answered, as an answer here.
pub(in crate::run) fn home_answer(answer: HomeAnswer) -> Answer {
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
