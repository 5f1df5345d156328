//! What a finished command means: exit code, standard output and standard error become an
//! answer (protocol.md §3).

use std::collections::BTreeMap;

use crate::event::HookEventName;
use crate::failure::HookFailure;
use crate::json::{JsonObject, RawJson};
use crate::output::{Decision, HookOutput, PolicyDecision};

use super::executor::Captured;
use super::noise::each_object_at_line_start;

const BLOCKED_SILENTLY: &str = "Hook exited with code 2 without an error message";

const TIGHTENED: &str = "stdout is not one JSON value; only what forbids, asks or stops was taken \
                         from the objects in it";
const NOT_USED: &str = "stdout is not one JSON value, so the object in it was not used; send logs \
                        to stderr";

/// What came of running one hook.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// What the hook said.
    pub output: Option<HookOutput>,
    /// Why it failed, if it did.
    pub failure: Option<HookFailure>,
    /// What the author of the hook should know.
    pub warnings: Vec<String>,
}

impl Answer {
    /// An answer of a hook that did not get to say anything.
    pub fn failed(failure: HookFailure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }
}

/// How a command ended.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    Exited(i32),
    Failed(HookFailure),
}

/// Interprets a command that ended.
pub(super) fn interpret(
    event: HookEventName,
    ending: Ending,
    stdout: &Captured,
    stderr: &Captured,
) -> Answer {
    let stderr = String::from_utf8_lossy(&stderr.bytes);
    let stderr = trim_javascript(&stderr);
    let mut answer = Answer::default();
    match ending {
        Ending::Exited(0) => answer.output = read_success(event, stdout, &mut answer.warnings),
        Ending::Exited(2) => {
            let denial = sticking_denial(event, stdout, &mut answer.warnings);
            answer.output = Some(deny(denial.unwrap_or_default(), event, stderr));
        }
        Ending::Exited(code) => {
            answer.failure = Some(HookFailure::ExitCode { code });
            answer.output = failed_but_denied(event, stdout, &mut answer.warnings).or_else(|| {
                (!stderr.is_empty())
                    .then(|| HookOutput::allow().with_system_message(format!("Warning: {stderr}")))
            });
        }
        Ending::Failed(failure) => {
            answer.failure = Some(failure);
            answer.output = failed_but_denied(event, stdout, &mut answer.warnings);
        }
    }
    answer
}

/// Exit 0: the output as a JSON object, else as plain text, else nothing.
fn read_success(
    event: HookEventName,
    stdout: &Captured,
    warnings: &mut Vec<String>,
) -> Option<HookOutput> {
    let text = String::from_utf8_lossy(&stdout.bytes);
    let text = trim_javascript(&text);
    if text.is_empty() {
        return None;
    }
    match Whole::read(text) {
        Whole::Object(object) => return Some(HookOutput::read(object, warnings)),
        Whole::OtherJson => {}
        Whole::NotJson => {
            let among = strongest(event, &stdout.bytes, PolicyDecision::Ask);
            if among.output.is_some() {
                warnings.push(TIGHTENED.to_owned());
                return among.output;
            }
            if among.has_object {
                warnings.push(NOT_USED.to_owned());
            }
        }
    }
    Some(HookOutput::allow().with_system_message(text))
}

/// A denial on stdout counts although the hook failed.
fn failed_but_denied(
    event: HookEventName,
    stdout: &Captured,
    warnings: &mut Vec<String>,
) -> Option<HookOutput> {
    let denial = sticking_denial(event, stdout, &mut Vec::new())?;
    warnings.push("the hook failed after it had answered; its denial counts".to_owned());
    Some(denial)
}

/// The denial or stop in a complete object on stdout, whatever else is there.
fn sticking_denial(
    event: HookEventName,
    stdout: &Captured,
    warnings: &mut Vec<String>,
) -> Option<HookOutput> {
    // What was cut is not one value, and is not copied to find that out.
    if stdout.dropped == 0
        && let text = String::from_utf8_lossy(&stdout.bytes)
        && let Whole::Object(object) = Whole::read(trim_javascript(&text))
    {
        let said = tightening(event, HookOutput::read(object, warnings));
        return (said.policy(event) >= PolicyDecision::Block).then_some(said);
    }
    strongest(event, &stdout.bytes, PolicyDecision::Block).output
}

/// Exit 2 is a denial, with the reason of the JSON denial, else stderr.
fn deny(mut output: HookOutput, event: HookEventName, stderr: &str) -> HookOutput {
    let given = output.policy(event) >= PolicyDecision::Block
        && (output.reason.is_some()
            || output.stop_reason.is_some()
            || output.specific("permissionDecisionReason").is_some());
    if !given {
        let reason = if stderr.is_empty() { BLOCKED_SILENTLY } else { stderr };
        output.reason = Some(reason.to_owned());
    } else if output.reason.is_none() {
        output.reason = Some(output.policy_reason(event));
    }
    if !output.is_blocking_decision() {
        output.decision = Some(Decision::Deny);
    }
    output
}

/// What standard output is as a whole.
enum Whole {
    /// An object, perhaps written as a JSON string.
    Object(JsonObject),
    /// Another JSON value.
    OtherJson,
    /// Text, perhaps with objects in it.
    NotJson,
}

impl Whole {
    fn read(text: &str) -> Self {
        let Ok(value) = RawJson::parse(text) else { return Self::NotJson };
        let inner = value.to_text().and_then(|text| RawJson::parse(text).ok());
        match inner.as_ref().unwrap_or(&value).to_object() {
            Ok(object) => Self::Object(object),
            Err(_) => Self::OtherJson,
        }
    }
}

/// What is said among other text.
struct Among {
    /// What tightens; `None` where nothing does enough.
    output: Option<HookOutput>,
    /// Whether there is an object at all.
    has_object: bool,
}

/// What tightens in the objects that begin a line, the most restrictive of them winning; nothing
/// where none is at least as strong as `least`.
fn strongest(event: HookEventName, stdout: &[u8], least: PolicyDecision) -> Among {
    let mut has_object = false;
    // However many there are, one of each strength is kept; of equals the first.
    let mut tight: BTreeMap<PolicyDecision, HookOutput> = BTreeMap::new();
    each_object_at_line_start(stdout, |object| {
        let text = String::from_utf8_lossy(object);
        let Ok(object) = RawJson::parse(text).and_then(|value| value.to_object()) else { return };
        has_object = true;
        let output = tightening(event, HookOutput::read(object, &mut Vec::new()));
        let strength = output.policy(event);
        if strength >= least {
            let merged = match tight.remove(&strength) {
                Some(first) => laid_over(first, output),
                None => output,
            };
            tight.insert(strength, merged);
        }
    });
    let output = tight.into_values().reduce(|weaker, stronger| laid_over(stronger, weaker));
    Among { output, has_object }
}

fn laid_over(stronger: HookOutput, weaker: HookOutput) -> HookOutput {
    HookOutput {
        should_continue: stronger.should_continue.or(weaker.should_continue),
        stop_reason: stronger.stop_reason.or(weaker.stop_reason),
        reason: if stronger.decision.is_some() { stronger.reason } else { weaker.reason },
        decision: stronger.decision.or(weaker.decision),
        hook_specific_output: stronger.hook_specific_output.or(weaker.hook_specific_output),
        ..HookOutput::default()
    }
}

/// The part of an output that forbids, asks or stops, with its reasons; nothing that allows,
/// changes or adds.
fn tightening(event: HookEventName, output: HookOutput) -> HookOutput {
    let tightens = |decision: &Decision| decision.policy() > PolicyDecision::Proceed;
    let stops = output.should_stop_execution();
    let decides = output.decision.as_ref().is_some_and(tightens);
    let permission = output.permission(event).filter(tightens);
    let specific = permission.map(|_| {
        ["hookEventName", "permissionDecision", "permissionDecisionReason"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), output.specific(name)?.clone())))
            .collect()
    });
    HookOutput {
        should_continue: stops.then_some(false),
        stop_reason: output.stop_reason.filter(|_| stops),
        reason: output.reason.filter(|_| stops || decides || specific.is_some()),
        decision: output.decision.filter(tightens),
        hook_specific_output: specific,
        ..HookOutput::default()
    }
}

/// Trims what JavaScript's `trim` does, so that scripts written for other engines mean the same.
fn trim_javascript(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(text: impl Into<Vec<u8>>) -> Captured {
        Captured { bytes: text.into(), dropped: 0 }
    }

    fn interpret(ending: Ending, stdout: impl Into<Vec<u8>>, stderr: &str) -> Answer {
        super::interpret(HookEventName::BeforeTool, ending, &captured(stdout), &captured(stderr))
    }

    fn answer(ending: Ending, stdout: &str, stderr: &str) -> (Option<String>, usize) {
        let answer = interpret(ending, stdout, stderr);
        let output = answer.output.map(|output| output.to_raw().as_str().to_owned());
        (output, answer.warnings.len())
    }

    #[test]
    fn exits_and_streams_become_outputs() {
        let timeout = Ending::Failed(HookFailure::TimedOut { after: std::time::Duration::ZERO });
        let one = Ending::Exited(1);
        for (ending, stdout, stderr, expected, warnings) in [
            (Ending::Exited(0), "", "noise", None, 0),
            (Ending::Exited(0), " {\"a\":1} \n", "", Some(r#"{"a":1}"#), 0),
            (Ending::Exited(0), r#""{\"a\":1}""#, "", Some(r#"{"a":1}"#), 0),
            (Ending::Exited(0), "hi", "", Some(r#"{"systemMessage":"hi","decision":"allow"}"#), 0),
            (
                Ending::Exited(0),
                "[1]",
                "",
                Some(r#"{"systemMessage":"[1]","decision":"allow"}"#),
                0,
            ),
            (
                Ending::Exited(0),
                "banner\n{\"decision\":\"deny\",\"reason\":\"r\",\"systemMessage\":\"x\"}",
                "",
                Some(r#"{"decision":"deny","reason":"r"}"#),
                1,
            ),
            (
                Ending::Exited(0),
                "x\n{\"decision\":\"allow\",\"hookSpecificOutput\":{\"tool_input\":{}}}",
                "",
                Some(
                    "{\"systemMessage\":\"x\\n{\\\"decision\\\":\\\"allow\\\",\\\"hookSpecificOutput\\\":{\\\"tool_input\\\":{}}}\",\"decision\":\"allow\"}",
                ),
                1,
            ),
            (
                Ending::Exited(0),
                "x\n{\"decision\":\"ask\",\"reason\":\"a\"}\n{\"decision\":\"block\",\"reason\":\"b\"}",
                "",
                Some(r#"{"decision":"block","reason":"b"}"#),
                1,
            ),
            (Ending::Exited(2), "", "no", Some(r#"{"decision":"deny","reason":"no"}"#), 0),
            (
                Ending::Exited(2),
                r#"{"decision":"block","reason":"json"}"#,
                "no",
                Some(r#"{"decision":"block","reason":"json"}"#),
                0,
            ),
            (
                Ending::Exited(2),
                r#"{"decision":"allow"}"#,
                "",
                Some(
                    "{\"decision\":\"deny\",\"reason\":\"Hook exited with code 2 without an error message\"}",
                ),
                0,
            ),
            (one.clone(), "", "", None, 0),
            (one.clone(), "{\"decision\":\"allow\"}", "", None, 0),
            (one.clone(), "", "w", Some(r#"{"systemMessage":"Warning: w","decision":"allow"}"#), 0),
            (one, "{\"decision\":\"deny\"}", "w", Some(r#"{"decision":"deny"}"#), 1),
            (
                timeout.clone(),
                "{\"continue\":false,\"stopReason\":\"s\"}",
                "",
                Some(r#"{"continue":false,"stopReason":"s"}"#),
                1,
            ),
            (timeout, "{\"decision\":\"allow\"}", "", None, 0),
        ] {
            assert_eq!(
                answer(ending.clone(), stdout, stderr),
                (expected.map(str::to_owned), warnings),
                "{ending:?} {stdout:?} {stderr:?}"
            );
        }
    }

    #[test]
    fn a_denial_inside_a_hundred_thousand_levels_counts() {
        let deep = format!(
            "{{\"decision\":\"deny\",\"reason\":\"r\",\"x\":{}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        for code in [0, 1, 2] {
            let answer = interpret(Ending::Exited(code), format!("noise\n{deep}"), "");
            assert!(answer.output.unwrap().is_blocking_decision());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_interpreted_without_panic(
            stdout in proptest::collection::vec(any::<u8>(), 0..200),
            code in 0..4,
        ) {
            interpret(Ending::Exited(code), stdout, "e");
        }

        #[test]
        fn nothing_around_an_allowing_object_lets_it_change_anything(
            before in "[a-z \n{\"]{1,20}",
            after in "[a-z \n}]{0,20}",
        ) {
            let text = format!("{before}\n{{\"hookSpecificOutput\":{{\"tool_input\":{{\"a\":1}}}}}}{after}");
            prop_assume!(RawJson::parse(text.as_str()).is_err());
            let answer = interpret(Ending::Exited(0), text, "");
            prop_assert!(answer.output.unwrap().hook_specific_output.is_none());
        }
    }
}
