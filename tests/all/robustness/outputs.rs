//! What hooks print, and how they exit.

use std::fs;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::{HookExecutionResult, JsonKind, PolicyDecision, RawJson};
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
        let hook = |number: usize| {
            let command = format!("cat {number}.out; cat {number}.err >&2; exit $(<{number}.code)");
            json!({"type": "command", "command": command})
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

/// Whether the output as a whole is an object, perhaps written as a JSON string.
fn is_object(stdout: &Bytes) -> bool {
    let text = stdout.text();
    // What is blank to JavaScript, which is more than what is blank to JSON.
    let blank =
        |letter: char| letter == '\u{feff}' || (letter.is_whitespace() && letter != '\u{85}');
    let Ok(value) = RawJson::parse(text.trim_matches(blank)) else { return false };
    let inner = value.to_text().and_then(|text| RawJson::parse(text).ok());
    inner.unwrap_or(value).kind() == JsonKind::Object
}

fn policy(result: &HookExecutionResult) -> PolicyDecision {
    let event = result.hook.event;
    result.output.as_ref().map_or(PolicyDecision::Proceed, |output| output.policy(event))
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
            let reason =
                result.output.as_ref().map(|output| output.policy_reason(result.hook.event));
            prop_assert_eq!(reason.as_deref(), Some("the reason"), "{:?}", print);
        }
        prop_assert!(response.processed.reason.as_deref() == Some("the reason"));
        Ok(())
    });
}
