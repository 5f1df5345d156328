//! The answer of a finished command, from its exit code, standard output and standard error
//! (reference/answers.md).

use super::decoded::{DecodedOutput, begins_like_json};
use super::hints::answer_fields;
use super::noise::{SearchMode, each_object};
use std::collections::BTreeMap;

use crate::report::Captured;
use hook_json::text::shortened;
use hook_json::{JsonError, JsonKind, RawJson, RawObject};
use hook_protocol::event::HookEventName;
use hook_protocol::event::output::{
    Decision, HookOutput, InvalidReason, ParsedOutput, PolicyDecision,
};
use hook_protocol::failure::{HookFailure, InvalidAnswer};

const BLOCKED_SILENTLY: &str = "Hook exited with code 2 without an error message";

const NO_SCRIPT: &str = "the hook did not run: exit code 2 is Python's own for a script that it cannot open, and it \
                         refuses as that of a hook does; `hook check` looks at scripts";
const RESTRICTED: &str = "stdout is not one JSON object and nothing else; only what forbids, asks or stops was \
                          taken from the objects in it";
const NOT_USED: &str = "stdout is not one JSON value, so the object in it was not used; send logs \
                        to stderr";
const NOT_READ: &str =
    "stdout is not one JSON object, and has fields of an answer in it that are not read";
const QUOTING: &str = "write the answer with jq or a JSON library, which escape what they quote, \
                       and send other text to stderr";
const ONE_OBJECT: &str = "print one JSON object and nothing else, and send other text to stderr";
const UTF_8: &str = "print it as UTF-8";
const NO_COLOURS: &str = "print it without colours";
const STDOUT: &str = "print the answer on stdout";

/// The outcome of one hook's run.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The hook's output.
    pub output: Option<HookOutput>,
    /// The reason of the failure, if the hook failed.
    pub failure: Option<HookFailure>,
    /// Warnings for the hook's author.
    pub warnings: Vec<String>,
    /// The problems that make the hook's decision uncertain.
    pub(crate) invalid: Vec<InvalidReason>,
    /// `true` if the output is the hook's own, not a wrapper for plain text.
    pub(crate) is_explicit: bool,
}

impl Answer {
    /// Creates the outcome of a hook that failed before it could answer.
    pub(crate) fn failed(failure: HookFailure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Creates the outcome of a host function.
    pub(crate) fn of_handler(event: HookEventName, output: Option<HookOutput>) -> Self {
        let mut answer = Self::default();
        answer.output = output.map(|output| answer.take(output.revalidated(event)));
        answer
    }

    /// Creates the outcome of a hook that answers with an object.
    pub(crate) fn of_object(event: HookEventName, object: &RawObject) -> Self {
        let mut answer = Self::default();
        let reading = ParsedOutput::of(object.as_raw().to_entries(), Some(event));
        answer.output = Some(answer.take(reading));
        answer
    }

    /// Adds the problems of a reading, and returns its output.
    fn take(&mut self, reading: ParsedOutput) -> HookOutput {
        self.is_explicit = true;
        self.warnings.extend(reading.warnings);
        self.invalid.extend(reading.invalid);
        reading.output
    }

    pub(super) fn add_invalid(&mut self, answer: InvalidAnswer) {
        let warning = Some(answer.to_string());
        self.invalid.push(InvalidReason { answer, warning });
    }
}

/// The end of a command.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Exited(i32),
    Failed(HookFailure),
}

/// Interprets a command that has ended.
pub(crate) fn interpret(
    event: HookEventName,
    ending: Ending,
    stdout: &Captured,
    stderr: &Captured,
) -> Answer {
    let truncated = stdout.dropped > 0;
    let stdout = DecodedOutput::read(&stdout.bytes, truncated);
    let stderr = DecodedOutput::read(&stderr.bytes, false);
    let mut answer = Answer::default();
    match ending {
        Ending::Exited(0) => {
            answer.output = read_success(event, &stdout, &mut answer);
            check_stderr_denial(event, &stderr, &mut answer);
        }
        Ending::Exited(2) => {
            let denial = find_denial(event, &stdout, truncated, &mut answer.warnings);
            answer.output = Some(deny(denial.unwrap_or_default(), event, stderr.text()));
            if stdout.text().is_empty() && is_python_without_script(stderr.text()) {
                answer.warnings.push(NO_SCRIPT.to_owned());
            }
        }
        Ending::Exited(code) => {
            answer.failure = Some(HookFailure::ExitCode { code });
            answer.output = denial_despite_failure(event, &stdout, truncated, &mut answer.warnings);
            if answer.output.is_none() && !stderr.text().is_empty() {
                let warning = format!("Warning: {}", stderr.text());
                answer.output = Some(HookOutput::allow().with_system_message(warning));
            }
        }
        Ending::Failed(failure) => {
            answer.failure = Some(failure);
            answer.output = denial_despite_failure(event, &stdout, truncated, &mut answer.warnings);
        }
    }
    answer
}

/// Checks whether standard error is just Python's message for a script that it cannot open. Python
/// then exits with 2, like a hook that denies.
fn is_python_without_script(stderr: &str) -> bool {
    let mut lines = stderr.lines();
    let Some((program, rest)) = lines.next().and_then(|line| line.split_once(": can't open file "))
    else {
        return false;
    };
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    lines.next().is_none() && name.to_lowercase().contains("py") && rest.contains("[Errno ")
}

/// Reads the output of exit 0: a JSON object, or plain text, or nothing.
fn read_success(
    event: HookEventName,
    stdout: &DecodedOutput<'_>,
    answer: &mut Answer,
) -> Option<HookOutput> {
    if stdout.text().is_empty() {
        return None;
    }
    let whole = Whole::read(stdout.text());
    let minimum = PolicyDecision::Ask;
    let restricting = match whole {
        Whole::Object(entries) if !stdout.is_utf16 && !stdout.has_escape_codes => {
            return Some(answer.take(ParsedOutput::of(entries, Some(event))));
        }
        // Handled like an object in other text: an answer in the wrong form can only restrict.
        Whole::Object(ref entries) => {
            let mut strengths = Strengths::new(event, minimum);
            strengths.add(entries.clone());
            Restricting { output: strengths.finish(), fields: 0 }
        }
        _ => find_strongest(event, stdout, minimum),
    };
    let policy = restricting.output.as_ref().map(|output| output.policy(event));
    match whole.invalid(stdout) {
        // A denial that was read for certain counts without a failure.
        Some(_) if matches!(whole, Whole::Object(_)) && policy.is_some() => {}
        Some(invalid) => answer.add_invalid(invalid),
        None if policy < Some(PolicyDecision::Block)
            && answer_fields(stdout.bytes()) > restricting.fields =>
        {
            let warning = policy.is_none().then(|| NOT_USED.to_owned());
            let invalid = InvalidAnswer::new(NOT_READ, ONE_OBJECT);
            answer.invalid.push(InvalidReason { answer: invalid, warning });
        }
        None => {}
    }
    if restricting.output.is_some() {
        answer.warnings.push(RESTRICTED.to_owned());
        return restricting.output;
    }
    Some(HookOutput::allow().with_system_message(stdout.text()))
}

/// Marks an answer as invalid if stderr, which is not read for answers, has a stricter one.
fn check_stderr_denial(event: HookEventName, stderr: &DecodedOutput<'_>, answer: &mut Answer) {
    let Some(denial) = find_strongest(event, stderr, PolicyDecision::Ask).output else { return };
    let stdout_policy =
        answer.output.as_ref().map(|output| output.policy(event)).unwrap_or_default();
    let stderr_policy = denial.policy(event);
    if stderr_policy > stdout_policy {
        answer.add_invalid(InvalidAnswer::new(
            format!(
                "the hook says {} on stderr, where answers are not read (reason: {})",
                stderr_policy.as_str(),
                shortened(&denial.policy_reason(event))
            ),
            STDOUT,
        ));
    }
}

/// Returns the denial on stdout of a hook that failed; it counts all the same.
fn denial_despite_failure(
    event: HookEventName,
    stdout: &DecodedOutput<'_>,
    truncated: bool,
    warnings: &mut Vec<String>,
) -> Option<HookOutput> {
    let denial = find_denial(event, stdout, truncated, &mut Vec::new())?;
    warnings.push("the hook failed after it had answered; its denial counts".to_owned());
    Some(denial)
}

/// Returns the denial or stop in a complete object on stdout, whatever else is there.
fn find_denial(
    event: HookEventName,
    stdout: &DecodedOutput<'_>,
    truncated: bool,
    warnings: &mut Vec<String>,
) -> Option<HookOutput> {
    // Truncated output is not one value, so it is not parsed as a whole.
    let whole = if truncated { None } else { Some(Whole::read(stdout.text())) };
    match whole {
        Some(Whole::Object(entries)) => {
            let reading = ParsedOutput::of(entries, Some(event));
            warnings.extend(reading.warnings);
            warnings.extend(reading.invalid.into_iter().filter_map(|invalid| invalid.warning));
            let output = reading.output.restriction(event);
            (output.policy(event) >= PolicyDecision::Block).then_some(output)
        }
        _ => find_strongest(event, stdout, PolicyDecision::Block).output,
    }
}

/// Turns an output into the denial of exit 2; the reason is its own, or stderr.
fn deny(mut output: HookOutput, event: HookEventName, stderr: &str) -> HookOutput {
    let has_reason = output.policy(event) >= PolicyDecision::Block
        && (output.reason.is_some()
            || output.stop_reason.is_some()
            || output.specific("permissionDecisionReason").is_some());
    if !has_reason {
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

/// Standard output as one value, perhaps encoded as a JSON string.
enum Whole {
    /// An object, with all its entries.
    Object(Vec<(String, RawJson)>),
    /// An array.
    Array,
    /// Another JSON value.
    Other,
    /// Text that may contain objects.
    NotJson { error: JsonError, in_string: bool },
}

impl Whole {
    fn read(text: &str) -> Self {
        let value = match RawJson::parse(text) {
            Ok(value) => value,
            Err(error) => return Self::NotJson { error, in_string: false },
        };
        match value.to_text() {
            Some(inner) if begins_like_json(inner.as_bytes()) => {
                let in_string = true;
                RawJson::parse(inner)
                    .map_or_else(|error| Self::NotJson { error, in_string }, Self::of)
            }
            _ => Self::of(value),
        }
    }

    fn of(value: RawJson) -> Self {
        match value.kind() {
            JsonKind::Object => Self::Object(value.to_entries()),
            JsonKind::Array => Self::Array,
            _ => Self::Other,
        }
    }

    /// Returns the problem of the output, if it was probably meant to be an answer.
    fn invalid(&self, stdout: &DecodedOutput<'_>) -> Option<InvalidAnswer> {
        if !stdout.begins_like_json() {
            return None;
        }
        Some(match self {
            _ if stdout.is_utf16 => InvalidAnswer::new("stdout is UTF-16", UTF_8),
            Self::Object(_) if stdout.has_escape_codes => InvalidAnswer::new(
                "there are terminal codes around the JSON on stdout, or in it",
                NO_COLOURS,
            ),
            Self::Object(_) | Self::Other => return None,
            Self::Array => InvalidAnswer::new("stdout is a JSON array, not an object", ONE_OBJECT),
            Self::NotJson { error, in_string } => InvalidAnswer::new(
                format!("stdout begins like JSON and is not one JSON object: {}", error.reason()),
                QUOTING,
            )
            .at((!in_string).then(|| stdout.position(error.line(), error.column()))),
        })
    }
}

/// The restricting outputs found in text.
#[derive(Default)]
struct Restricting {
    /// The strictest output; `None` if none is strict enough.
    output: Option<HookOutput>,
    /// The number of answer fields in objects that were read without problems.
    fields: usize,
}

/// Finds the restricting outputs in the objects of a text, or of the text in a JSON string. Objects
/// at the start of a line are also searched for on their own, because an unclosed object before
/// them need not contain them.
fn find_strongest(
    event: HookEventName,
    text: &DecodedOutput<'_>,
    minimum: PolicyDecision,
) -> Restricting {
    let string = Some(text.text()).filter(|text| text.starts_with('"'));
    let string = string.and_then(|text| RawJson::parse(text).ok()?.to_text());
    let mut strengths = Strengths::new(event, minimum);
    let mut fields = 0;
    for mode in [SearchMode::LineStart, SearchMode::Anywhere] {
        for text in text.texts().chain(string.iter().map(String::as_bytes)) {
            each_object(text, mode, |object| {
                let Ok(read) = RawJson::parse(String::from_utf8_lossy(object)) else { return };
                if strengths.add(read.to_entries()) && mode == SearchMode::Anywhere {
                    fields += answer_fields(object);
                }
            });
        }
    }
    Restricting { output: strengths.finish(), fields }
}

/// The strictest of several outputs. One output per strength is kept, and the first of equals wins,
/// so memory is bounded.
struct Strengths {
    event: HookEventName,
    minimum: PolicyDecision,
    by_strength: BTreeMap<PolicyDecision, HookOutput>,
}

impl Strengths {
    fn new(event: HookEventName, minimum: PolicyDecision) -> Self {
        Self { event, minimum, by_strength: BTreeMap::new() }
    }

    /// Adds an object; returns `true` if it restricts enough and was read without problems.
    fn add(&mut self, entries: Vec<(String, RawJson)>) -> bool {
        let ParsedOutput { output, invalid, .. } = ParsedOutput::of(entries, Some(self.event));
        let output = output.restriction(self.event);
        let strength = output.policy(self.event);
        let counts = strength >= self.minimum;
        if counts {
            let merged = match self.by_strength.remove(&strength) {
                Some(first) => first.merged_with(output),
                None => output,
            };
            self.by_strength.insert(strength, merged);
        }
        counts && invalid.is_empty()
    }

    /// Returns the strictest output, or `None` if none was strict enough.
    fn finish(self) -> Option<HookOutput> {
        let outputs = self.by_strength.into_values();
        outputs.reduce(|weaker, stronger| stronger.merged_with(weaker))
    }
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
        (output, answer.warnings.len() + answer.invalid.len())
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
                1,
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
