//! What hooks print: too deep, of the wrong type, surrounded by noise.

use hook_bus::HookExecutionRequest;
use hook_tests::json;
use serde_json::json;

use super::{DENIAL, answer, project, project_with, prompt};

/// Prints `before`, a hundred thousand levels of arrays, and `after`.
fn print_deep(before: &str, after: &str) -> String {
    format!(
        "import sys\nsys.stdin.read()\nprint('{before}' + '[' * 100000 + ']' * 100000 + '{after}')\n"
    )
}

#[tokio::test]
async fn fault_16_a_hundred_thousand_levels_overflow_no_stack() {
    for (before, after, expected) in [
        (r#"{"systemMessage":"m","deep":"#, "}", (false, None, Some("m"))),
        (r#"{"decision":"deny","reason":"r","deep":"#, "}", (true, Some("r"), None)),
        (r#"noise\n{"decision":"deny","reason":"r","deep":"#, "} noise", (true, Some("r"), None)),
    ] {
        let project = project_with(&[json!({"command": "python3 deep.py"})]);
        project.write("deep.py", &print_deep(before, after));
        assert_eq!(answer(&prompt(&project.system()).await), expected, "{before}");
    }
}

#[tokio::test]
async fn fault_16_a_request_of_a_hundred_thousand_levels_reaches_its_hook_unchanged() {
    let project = project_with(&[json!({"command": "cat > told"})]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"{{"type":"hook-execution-request","eventName":"BeforeAgent","input":{{"prompt":"p","deep":{deep}}}}}"#
    );
    let response = project.system().bus().request(HookExecutionRequest::from_json(&text)).await;
    assert!(response.success() && response.hooks[0].success);
    assert!(project.read("told").contains(&format!(r#""deep":{deep}"#)));
    assert!(json(&response.to_json()).is_object());
}

#[tokio::test]
async fn fault_17_fields_of_the_wrong_type_cost_no_other_field() {
    for (said, expected, warning) in [
        (r#"{"decision":5,"systemMessage":"m"}"#, (false, None, Some("m")), "decision"),
        (
            r#"{"decision":"deny","reason":["r"],"systemMessage":"m"}"#,
            (true, Some("No reason provided"), Some("m")),
            "reason",
        ),
        (
            r#"{"decision":"deny","reason":"r","suppressOutput":"yes"}"#,
            (true, Some("r"), None),
            "suppressOutput",
        ),
        (
            r#"{"decision":"denny","systemMessage":"m"}"#,
            (false, None, Some("m")),
            r#"did you mean "deny"?"#,
        ),
        (
            r#"{"systemMessage":"m","hookSpecificOutput":[1]}"#,
            (false, None, Some("m")),
            "hookSpecificOutput",
        ),
    ] {
        let project = project(&format!("echo '{said}'"));
        let response = prompt(&project.system()).await;
        assert_eq!(answer(&response), expected, "{said}");
        let warnings = &response.hooks[0].warnings;
        assert!(warnings.iter().any(|said| said.contains(warning)), "{said}: {warnings:?}");
    }
}

#[tokio::test]
async fn fault_29_noise_around_json_hides_no_denial_and_allows_nothing() {
    let allow = r#"{"decision":"allow","hookSpecificOutput":{"tool_input":{"a":1}}}"#;
    let text = |text: &str| (false, Some(text.to_owned()));
    let deny = (true, None);
    for (printed, (blocks, message)) in [
        (format!("starting up\n{DENIAL}"), deny.clone()),
        (format!("{DENIAL}\nthat was it"), deny.clone()),
        (format!("the file says:\n{allow}"), text(&format!("the file says:\n{allow}"))),
        (format!("{allow}\n{DENIAL}"), deny.clone()),
        (format!("{DENIAL}\n{allow}"), deny.clone()),
        (format!("{allow}\n{allow}"), text(&format!("{allow}\n{allow}"))),
        (format!("not at a line's start {DENIAL}"), deny.clone()),
        (format!("checking...{DENIAL}"), deny.clone()),
        (format!("{{4}} {{\"a\":1}} {DENIAL} and {{"), deny.clone()),
        (format!("checking... {allow}"), text(&format!("checking... {allow}"))),
        (
            format!("checking... {{\"a\":{DENIAL}}}"),
            text(&format!("checking... {{\"a\":{DENIAL}}}")),
        ),
    ] {
        let project = project("cat printed");
        project.write("printed", &printed);
        let response = prompt(&project.system()).await;
        assert_eq!(response.processed.is_blocking_decision(), blocks, "{printed}");
        assert_eq!(response.processed.system_message, message, "{printed}");
        let output = &response.processed.aggregated.all_outputs[0];
        assert!(output.hook_specific_output.is_none(), "{printed}");
    }
}

#[tokio::test]
async fn fault_29_an_answer_of_any_number_of_fields_is_read_in_linear_time() {
    // Each would take minutes if every field were compared with every other.
    for field in [
        "'\"decision\":\"ask\"'",
        "'\"a%d\":{\"decision\":\"deny\"}' % i",
        "'\"%s\":\"deny\"' % ('de_cis_i_on_' + '_' * (i % 40) + '-' * (i // 40 % 40))",
        "'\"tool%sinput\":{}' % ('_' * (i % 50))",
        "'\"hook_specific_output%s\":{\"permissionDecision\":\"deny\"}' % ('_' * (i % 50))",
    ] {
        let script = format!("print('{{' + ','.join({field} for i in range(60000)) + '}}')");
        let project = project("python3 script.py");
        project.write("script.py", &script);
        let response = prompt(&project.system()).await;
        assert!(response.processed.warnings.len() < 64, "{field}");
    }
}

#[tokio::test]
async fn fault_29_a_mebibyte_of_braces_is_read_in_linear_time() {
    // Read again from each brace, this would take hours; `prompt` does not wait that long.
    for braces in ["{", "{\\n", "{\"a\":", "x{\"decision\":"] {
        let command = format!("python3 -c \"print('{braces}' * 1048576)\" | head -c 1048576");
        let project = project_with(&[json!({"command": command})]);
        let response = prompt(&project.system()).await;
        assert!(response.hooks[0].success && !response.processed.is_blocking_decision());
    }
}
