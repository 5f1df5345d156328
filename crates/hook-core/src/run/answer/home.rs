//! What a finished command of another agent means, by the rules of its home.

use super::interpret::{Answer, Ending};
use crate::event::input::EventInput;
use crate::json::RawObject;
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
    home_answer(home.language.answer(home, input, told, &ended))
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
