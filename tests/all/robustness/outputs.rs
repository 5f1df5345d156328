//! What hooks print, and how they exit.

use std::fs;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_json::{JsonKind, RawJson};
use hook_protocol::PolicyDecision;
use hook_run::HookExecutionResult;
use hook_tests::{Project, fields};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::check;
use super::generate::{Bytes, Tree, altered, bytes, damaged, object};

const WORDS: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
    "hookEventName",
    "additionalContext",
    "permissionDecision",
    "permissionDecisionReason",
    "tool_input",
    "clearContext",
    "ask",
    "block",
    "deny",
    "approve",
    "allow",
    "blok",
];

/// How many hooks print at once: one run of the engine costs less than as many runs.
const HOOKS: usize = 12;

/// What a hook does.
#[derive(Debug, Clone)]
struct Print {
    stdout: Bytes,
    stderr: Bytes,
    code: u8,
}

/// Hooks that print what stands in files.
struct Printers {
    project: Project,
    system: HookSystem,
    runtime: tokio::runtime::Runtime,
}

impl Printers {
    fn new() -> Self {
        Self::with("continue")
    }

    fn with(behavior: &str) -> Self {
        let hook = |number: usize| {
            let command = format!("cat {number}.out; cat {number}.err >&2; exit $(<{number}.code)");
            json!({"type": "command", "command": command, "failBehavior": behavior})
        };
        let hooks: Vec<Value> = (0..HOOKS).map(hook).collect();
        let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}}));
        let system = project.system();
        Self { project, system, runtime: super::runtime() }
    }

    fn run(&self, prints: &[Print]) -> HookExecutionResponse {
        for (number, print) in prints.iter().enumerate() {
            let write = |ending: &str, bytes: &[u8]| {
                fs::write(self.project.path().join(format!("{number}.{ending}")), bytes).unwrap();
            };
            write("out", &print.stdout.0);
            write("err", &print.stderr.0);
            write("code", print.code.to_string().as_bytes());
        }
        let input = json!({"tool_name": "t", "tool_input": {"a": 1}});
        let request = HookExecutionRequest::new("BeforeTool", fields(input));
        self.runtime.block_on(self.system.bus().request(request))
    }
}

fn code() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(0), 2 => Just(2), 1 => Just(1), 1 => any::<u8>()]
}

fn any_output() -> impl Strategy<Value = Bytes> {
    let answers = [
        json!({"decision": "deny", "reason": "r"}),
        json!({"decision": "allow", "hookSpecificOutput": {"tool_input": {"a": 2}}}),
        json!({"decision": "ask", "hookSpecificOutput": {"tool_input": {"a": 2}, "clearContext": true}}),
        json!({"continue": false, "stopReason": "s", "systemMessage": "m"}),
        json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "permissionDecision": "ask",
            "permissionDecisionReason": "p", "additionalContext": "c"}}),
    ];
    let texts = answers.iter().flat_map(|answer| {
        [
            answer.to_string(),
            format!("note\n{answer:#}\n"),
            Value::from(answer.to_string()).to_string(),
        ]
    });
    let texts = texts.map(String::into_bytes).collect();
    let of_text = |tree: Tree| Bytes(tree.to_string().into_bytes());
    prop_oneof![
        2 => bytes(WORDS),
        2 => object(WORDS).prop_map(of_text),
        2 => altered(answers.iter().map(Into::into).collect(), WORDS).prop_map(of_text),
        3 => damaged(texts),
    ]
}

fn prints() -> impl Strategy<Value = Vec<Print>> {
    let print = (any_output(), bytes(WORDS), code()).prop_map(|(stdout, stderr, code)| Print {
        stdout,
        stderr,
        code,
    });
    prop::collection::vec(print, HOOKS)
}

/// What is blank to JavaScript, which is more than what is blank to JSON.
fn is_blank(letter: char) -> bool {
    letter == '\u{feff}' || (letter.is_whitespace() && letter != '\u{85}')
}

/// Whether the output as a whole is an object, perhaps written as a JSON string.
fn is_object(stdout: &Bytes) -> bool {
    let text = stdout.text();
    let Ok(value) = RawJson::parse(text.trim_matches(is_blank)) else { return false };
    let inner = value.to_text().and_then(|text| RawJson::parse(text).ok());
    inner.unwrap_or(value).kind() == JsonKind::Object
}

fn policy(result: &HookExecutionResult) -> PolicyDecision {
    result.decision.unwrap_or_default()
}

#[test]
fn what_a_hook_prints_allows_and_changes_nothing_unless_all_of_it_is_an_answer() {
    let printers = Printers::new();
    check(15, prints(), |prints| {
        let response = printers.run(&prints);
        prop_assert!(response.success(), "{:?}", response.error());
        prop_assert_eq!(response.hooks.len(), HOOKS);
        for (print, result) in prints.iter().zip(&response.hooks) {
            prop_assert_eq!(result.process.exit_code, Some(print.code.into()), "{:?}", print);
            prop_assert_eq!(&result.process.stdout.bytes, &print.stdout.0);
            prop_assert_eq!(result.success, print.code == 0);
            let answered = print.code == 0 && is_object(&print.stdout);
            let output = result.output.as_ref();
            let sets = |name: &str| output.is_some_and(|output| output.specific(name).is_some());
            if !answered {
                for name in ["tool_input", "additionalContext", "clearContext"] {
                    prop_assert!(!sets(name), "{name} in {print:?}");
                }
            }
            if print.code == 2 {
                prop_assert!(policy(result) >= PolicyDecision::Block, "{:?}", print);
            }
        }
        // The strongest that any of them wants, and a message that everybody can read.
        let strongest = response.hooks.iter().map(policy).max().unwrap();
        prop_assert_eq!(response.processed.decision, strongest);
        let message = RawJson::parse(String::from_utf8(response.to_json()).unwrap()).unwrap();
        let outputs = message.to_object().unwrap().get("output").unwrap().to_object().unwrap();
        let said = response.hooks.iter().filter(|result| result.output.is_some()).count();
        prop_assert_eq!(outputs.get("allOutputs").unwrap().to_items().unwrap().len(), said);
        Ok(())
    });
}

#[test]
fn a_denial_on_lines_of_its_own_counts_whatever_is_printed_around_it_and_however_it_exits() {
    let denials = vec![
        json!({"decision": "deny", "reason": "the reason"}),
        json!({"decision": "block", "reason": "the reason", "hookSpecificOutput": {"tool_input": {}}}),
        json!({"reason": "the reason", "hookSpecificOutput": {"permissionDecision": "deny"}}),
        json!({"continue": false, "stopReason": "the reason"}),
    ];
    let denial = (select(denials), any::<bool>()).prop_map(|(denial, pretty)| {
        if pretty { format!("{denial:#}") } else { denial.to_string() }
    });
    // An object that is open in front of it would hold it as its data.
    let before = bytes(WORDS).prop_map(|mut bytes| {
        bytes.0.retain(|byte| *byte != b'{');
        bytes
    });
    let print = (before, denial, bytes(WORDS), code()).prop_map(|(before, denial, after, code)| {
        let stdout = [&before.0[..], b"\n", denial.as_bytes(), b"\n", &after.0].concat();
        Print { stdout: Bytes(stdout), stderr: Bytes(Vec::new()), code }
    });
    let printers = Printers::new();
    check(10, prop::collection::vec(print, HOOKS), |prints| {
        let response = printers.run(&prints);
        for (print, result) in prints.iter().zip(&response.hooks) {
            prop_assert!(
                policy(result) >= PolicyDecision::Block,
                "{:?}: {:?}",
                print,
                result.output
            );
            let event = result.hook.event().unwrap();
            let reason = result.output.as_ref().map(|output| output.policy_reason(event));
            prop_assert_eq!(reason.as_deref(), Some("the reason"), "{:?}", print);
        }
        prop_assert!(response.processed.reason.as_deref() == Some("the reason"));
        Ok(())
    });
}

/// Fields that only an answer has, as an answer writes them.
const TELLING: [&str; 5] = [
    "\"decision\":",
    "\"continue\":",
    "\"hookSpecificOutput\":",
    "\"permissionDecision\":",
    "'decision':",
];

/// Whether a guard that printed this, and ended well, may be taken to have nothing against it: an
/// answer that allows, or text without a sign of an answer. Read in another way than the engine's.
fn allows(stdout: &Bytes) -> bool {
    let text = stdout.text();
    let text = text.trim_matches(is_blank);
    if is_object(stdout) {
        let object = match serde_json::from_str(text) {
            Ok(Value::String(inner)) => serde_json::from_str(&inner),
            object => object,
        };
        // Half of a surrogate pair is none of what decides.
        let Ok(object) = object else { return true };
        let permits = |word: &Value| [json!(null), json!("allow"), json!("approve")].contains(word);
        let specific = &object["hookSpecificOutput"];
        let input = &specific["tool_input"];
        return permits(&object["decision"])
            && [json!(null), json!(true)].contains(&object["continue"])
            && permits(&specific["permissionDecision"])
            && (specific.is_null() || specific.is_object())
            && (input.is_null() || input.is_object());
    }
    // A color is no bracket.
    let plain = text.replace("\u{1b}[31m", "");
    let first = plain.trim_start_matches(|letter: char| {
        letter.is_control() || letter.is_whitespace() || "\"\'`\u{fffd}\u{feff}".contains(letter)
    });
    let behind_a_brace = text.split_once('{').map_or("", |(_, rest)| rest);
    !first.starts_with(['{', '['])
        && !TELLING.iter().any(|telling| behind_a_brace.contains(telling))
}

#[test]
fn whatever_a_guard_prints_allows_only_as_a_whole_answer_or_as_text_without_a_sign_of_one() {
    let near =
        select(vec!["", " ", "checking... ", "ok\n", "3 of {4} ", "\u{feff}", "[1] ", "x\0"]);
    let answers = select(vec![
        r#"{"decision":"deny","reason":"r"}"#,
        r#"{"decision":"allow"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"allow","tool_input":{"a":2}}}"#,
        r#"{"hookSpecificOutput":{"tool_input":7}}"#,
        r#"{'decision':'deny'}"#,
        r#"{"continue":false}"#,
        r#"{"x":1}"#,
        "all is well",
    ]);
    let around = (near.clone(), answers, near)
        .prop_map(|(before, answer, after)| Bytes([before, answer, after].concat().into_bytes()));
    let print = prop_oneof![1 => any_output(), 2 => around].prop_map(|stdout| Print {
        stdout,
        stderr: Bytes(Vec::new()),
        code: 0,
    });
    let printers = Printers::with("block");
    check(20, prop::collection::vec(print, HOOKS), |prints| {
        let response = printers.run(&prints);
        prop_assert!(response.success(), "{:?}", response.error());
        for (print, result) in prints.iter().zip(&response.hooks) {
            if policy(result) == PolicyDecision::Proceed {
                prop_assert!(allows(&print.stdout), "{:?}: {:?}", print, result.output);
            }
        }
        Ok(())
    });
}
