//! What several handlers of one event come to: the table that holds for modules in Rust holds here.

use hook_tests::Project;
use serde_json::{Value, json};

use super::{fire, has_node, project, run, shell};
use crate::modules::rules::{Does, Row, input, rows};

/// A module whose handlers do this, and write a line each time.
fn module(event: &str, does: &[Does]) -> String {
    let handlers: Vec<String> = does
        .iter()
        .map(|does| {
            let body = match does {
                Does::Returns(Value::Null) => String::new(),
                Does::Returns(answer) => format!("return {answer};"),
                Does::Throws(error) => format!("throw new Error({error:?});"),
                Does::Panics => "throw 'it panicked';".to_owned(),
                Does::AddsMessage(text) => format!(
                    "return {{ messages: [{{ role: 'user', content: '{text}' }}, ...event.messages] }};"
                ),
            };
            format!("pi.on('{event}', async (event) => {{ note(); {body} }});")
        })
        .collect();
    format!(
        "import {{ appendFileSync }} from 'node:fs';
        const note = () => appendFileSync('calls', 'called\\n');
        export default function (pi) {{ {} }}",
        handlers.join("\n")
    )
}

fn calls(project: &Project) -> usize {
    project.read("calls").lines().count()
}

#[test]
fn each_rule_of_the_table_holds() {
    if !has_node() {
        return;
    }
    for Row(event, does, expected_calls, pointer, expected) in rows() {
        let (first, rest) = does.split_at(1);
        let (first, rest) = (module(event, first), module(event, rest));
        let project = project(&[("a.mjs", &first, json!({})), ("b.mjs", &rest, json!({}))]);
        project.write("calls", "");
        let (ours, input) = input(event);
        let response = fire(&project, ours, &input);
        assert_eq!(response.pointer(pointer), Some(&expected), "{event}: {response}");
        assert_eq!(calls(&project), expected_calls, "{event}: {response}");
    }
}

#[test]
fn modules_run_behind_the_other_hooks_of_their_priority_and_keep_those_together() {
    if !has_node() {
        return;
    }
    let quiet = "export default (pi) => pi.on('tool_call', () => {});";
    let project = project(&[("quiet.mjs", quiet, json!({}))]);
    // Each waits for the other: one after the other they would time out.
    let waits = |own: &str, other: &str| {
        json!({"type": "command", "name": own, "timeout": 20_000, "failBehavior": "block",
            "command": format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done")})
    };
    let settings = json!({"hooks": {
        "*": [{"hooks": [{"type": "module", "path": "quiet.mjs"}]}],
        "BeforeTool": [{"hooks": [waits("one", "two"), waits("two", "one")]}],
    }});
    project.write("settings.json", &settings.to_string());
    let response = fire(&project, "BeforeTool", &shell("ls"));
    assert_eq!(response["processed"]["decision"], "proceed", "{response}");
    let hooks = response["hooks"].as_array().unwrap();
    let names: Vec<_> = hooks.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two", "quiet.mjs tool_call"], "{response}");
    let arguments = ["explain", "BeforeTool", "--settings", "settings.json"];
    let explained = run(&project, &arguments);
    assert!(explained.stdout.contains("3 of 3 run, 2 at once, then 1 more"), "{explained:?}");
    let explained = run(&project, &[&arguments[..], &["--json"]].concat()).lines();
    let modes: Vec<_> = explained.iter().map(|it| (&it["group"], &it["mode"])).collect();
    let (one, two) = (json!(1), json!(2));
    let (parallel, sequential) = (json!("parallel"), json!("sequential"));
    assert_eq!(modes, [(&one, &parallel), (&one, &parallel), (&two, &sequential)]);
}

#[test]
fn a_call_whose_arguments_hide_each_other_is_blocked() {
    if !has_node() {
        return;
    }
    let guard = "export default (pi) => pi.on('tool_call', (event) =>
        JSON.stringify(event).includes('/etc/') ? { block: true, reason: 'no' } : undefined);";
    let project = project(&[("guard.mjs", guard, json!({}))]);
    let decides = |tool: &str, input: Value| {
        let input = json!({"tool_name": tool, "tool_input": input});
        let response = fire(&project, "BeforeTool", &input);
        let processed = &response["processed"];
        (processed["decision"].as_str().unwrap().to_owned(), processed["reason"].to_string())
    };
    for (tool, input) in [
        ("write_file", json!({"path": "/etc/x", "file_path": "/tmp/ok", "content": ""})),
        ("write_file", json!({"file_path": "/etc/x", "path": "/tmp/ok", "content": ""})),
        ("list_directory", json!({"path": "/etc", "dir_path": "/tmp"})),
    ] {
        let (decision, reason) = decides(tool, input);
        assert!(decision == "block" && reason.contains("they differ"), "{tool}: {reason}");
    }
    for input in [
        json!({"file_path": "/a"}),
        json!({"path": "/a", "file_path": "/a"}),
        json!({"path": "/a"}),
    ] {
        assert_eq!(decides("write_file", input).0, "proceed");
    }
}
