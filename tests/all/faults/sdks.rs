//! Faults that programs with our SDKs meet, by the SDKs' own tests: real servers that are killed, start again or
//! refuse, and what reaches standard error.

use std::fs;
use std::path::{Path, PathBuf};

use hook_tests::workspace;

use crate::{sdk_python, sdk_typescript};

#[test]
fn fault_64_a_client_that_was_at_a_shared_server_never_leaves_it_for_a_private_one() {
    sdk_python::passes(
        "test_shared_server.py",
        &[
            "test_a_client_that_was_at_a_shared_server_waits_for_that",
            "test_a_socket_that_does_not_greet_is_no_missing_server",
        ],
    );
    sdk_typescript::passes(
        "shared-server.test.mjs",
        &[
            "a client that was at a shared server waits for that, ended by SIGKILL",
            "a client that was at a shared server waits for that, ended by SIGTERM",
            "a socket that does not greet is no missing server",
        ],
    );
}

#[test]
fn fault_64_a_private_server_is_for_a_program_that_asks_and_the_first_outcome_says_so() {
    sdk_python::passes(
        "test_shared_server.py",
        &[
            "test_a_private_server_is_for_a_program_that_asks_and_is_said",
            "test_a_program_that_registers_waits_for_the_shared_server",
        ],
    );
    sdk_typescript::passes(
        "shared-server.test.mjs",
        &[
            "a private server is for a program that asks, and is said",
            "a program that registers waits for the shared server",
        ],
    );
}

#[test]
fn fault_65_an_argument_that_a_hook_removes_does_not_reach_the_tool() {
    sdk_python::passes(
        "test_outcome.py",
        &[
            "test_a_change_is_laid_over_the_arguments_or_replaces_them",
            "test_an_argument_that_a_hook_removes_does_not_reach_the_tool",
        ],
    );
    sdk_typescript::passes(
        "requests.test.mjs",
        &["a tool runs with what hooks changed, and without what they removed"],
    );
}

#[test]
fn fault_71_a_program_whose_guard_is_refused_ends_with_that() {
    sdk_python::passes(
        "test_shared_server.py",
        &["test_a_program_whose_guard_is_refused_ends_with_that"],
    );
    sdk_typescript::passes(
        "shared-server.test.mjs",
        &["a program whose guard is refused ends with that"],
    );
}

#[test]
fn fault_71_an_aborted_request_is_always_cancelled() {
    sdk_typescript::passes(
        "requests.test.mjs",
        &[
            "an aborted request ends its hooks, and rejects with `cancelled`, whenever it is aborted",
        ],
    );
}

#[test]
fn fault_72_what_would_be_written_to_standard_error_is_told() {
    sdk_python::passes(
        "test_quiet.py",
        &[
            "test_standard_error_of_a_server_that_was_started_is_told",
            "test_a_hook_that_is_taken_back_leaves_no_traceback",
            "test_a_handler_that_raises_is_told_with_its_traceback",
        ],
    );
    sdk_typescript::passes(
        "quiet.test.mjs",
        &[
            "standard error of a server that was started is told",
            "a server that cannot serve says why in the error, too",
        ],
    );
}

/// The pages and programs that show how the SDKs are used.
fn examples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = vec![workspace().join("README.md")];
    files.extend(
        ["python", "typescript"].map(|sdk| workspace().join(format!("sdks/{sdk}/README.md"))),
    );
    let sdk = workspace().join("docs/examples/sdk");
    let folders = [workspace().join("docs"), sdk.join("python"), sdk.join("typescript"), sdk];
    for folder in folders {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.extend(entries.filter(|path| path.is_file()));
    }
    files
}

fn places_of(texts: &[&str], files: &[PathBuf]) -> Vec<String> {
    let found = |path: &Path| {
        let page = fs::read_to_string(path).unwrap_or_default();
        let lines = page.lines().enumerate();
        let lines = lines.filter(|(_, line)| texts.iter().any(|text| line.contains(text)));
        let place =
            |(number, line): (usize, &str)| format!("{}:{}: {line}", path.display(), number + 1);
        lines.map(place).collect::<Vec<_>>()
    };
    files.iter().flat_map(|path| found(path)).collect()
}

#[test]
fn fault_65_no_example_lays_changed_arguments_over_the_original_by_hand() {
    let by_hand = ["get(\"tool_input\", {})", "modified?.tool_input", "modified.tool_input"];
    assert_eq!(places_of(&by_hand, &examples()), [""; 0]);
}

#[test]
fn fault_71_every_example_has_the_engines_own_names() {
    let of_a3s = [
        "A3sClient(",
        "import A3sClient",
        "{A3sClient",
        "hook(\"PreToolUse\"",
        "Hook(\"PreToolUse\"",
    ];
    assert_eq!(places_of(&of_a3s, &examples()), [""; 0]);
}
