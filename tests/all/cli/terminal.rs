//! What people see on a terminal: colours and progress.

use hook_tests::{Hook, Project};

use crate::modules_js::has_node;

const ESCAPE: char = '\u{1b}';

fn denying() -> Project {
    Project::with_hook("BeforeTool", "echo no >&2; exit 2")
}

const FIRE: [&str; 5] = ["fire", "BeforeTool", "--tool", "shell", "--settings=settings.json"];

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let project = denying();
    for (arguments, variable, coloured) in [
        (&[][..], None, true),
        (&["--color=never"], None, false),
        (&["--color=always"], Some(("NO_COLOR", "1")), true),
        (&[], Some(("NO_COLOR", "1")), false),
        (&[], Some(("NO_COLOR", "")), true),
        (&[], Some(("TERM", "dumb")), false),
    ] {
        let mut hook = Hook::new(&project, &[&FIRE, arguments].concat());
        if let Some((name, value)) = variable {
            hook = hook.env(name, value);
        }
        let (status, shown) = hook.on_terminal().finish();
        assert_eq!(status, 2, "{shown}");
        assert!(shown.contains("block"), "{shown}");
        assert_eq!(shown.contains(ESCAPE), coloured, "{arguments:?} {variable:?}: {shown:?}");
    }
    for (arguments, coloured) in [(&[][..], false), (&["--color=always"], true)] {
        let shown = Hook::new(&project, &[&FIRE, arguments].concat()).run().stdout;
        assert_eq!(shown.contains(ESCAPE), coloured, "{arguments:?}, no terminal: {shown:?}");
    }
}

#[test]
fn what_a_hook_writes_cannot_move_the_cursor() {
    let project = Project::with_hook("BeforeTool", r"printf '\033[2J\033]0;owned\007' >&2; exit 2");
    let (_, shown) = Hook::new(&project, &FIRE).env("NO_COLOR", "1").on_terminal().finish();
    assert!(!shown.contains(ESCAPE) && shown.contains("owned"), "{shown:?}");
}

#[test]
fn a_hook_that_takes_long_is_shown_while_it_runs() {
    // It waits for a file that is made once it has been seen on the terminal.
    let waits = "while ! [ -e go ]; do sleep 0.05; done; echo done >&2; exit 2";
    let project = Project::with_hook("BeforeTool", waits);
    let mut terminal = Hook::new(&project, &FIRE).on_terminal();
    terminal.wait_for("has been running for ");
    project.write("go", "");
    let (status, shown) = terminal.finish();
    assert_eq!(status, 2, "{shown}");
    let (progress, result) = shown.split_once("BeforeTool").expect("the result is shown");
    assert!(progress.contains("\u{1b}[2K"), "progress is taken away again: {shown:?}");
    assert!(!result.contains("has been running"), "the result has the last word: {shown:?}");
}

#[test]
fn nobody_is_shown_progress_who_is_no_person_at_a_terminal() {
    let waits = "sleep 1.3; echo done >&2; exit 2";
    let project = Project::with_hook("BeforeTool", waits);
    let finished = Hook::new(&project, &FIRE).run();
    assert!(!finished.stderr.contains("running"), "{finished:?}");
    let (_, shown) = Hook::new(&project, &FIRE).env("TERM", "dumb").on_terminal().finish();
    assert!(!shown.contains("running"), "{shown:?}");
}

#[test]
fn json_on_a_terminal_cannot_move_the_cursor_either() {
    let name = "c1\u{9b}31m\u{202e}red";
    let settings = serde_json::json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "true", "name": name}]}]}});
    let project = Project::with_settings(&settings);
    let list = ["list", "--json", "--settings=settings.json"];
    let (_, shown) = Hook::new(&project, &list).on_terminal().finish();
    assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{shown:?}");
    let listed: serde_json::Value = serde_json::from_str(shown.trim()).unwrap();
    assert_eq!(listed["name"], name, "it means the same");
}

/// What is on the terminal of `hook fire` once a module has set the status line so, and waits until it was seen.
fn status_line(calls: &str, columns: &str, seen: &str) -> Option<String> {
    if !has_node() {
        return None;
    }
    let module = format!(
        "import {{ existsSync }} from 'node:fs';
        export default (pi) => pi.on('tool_call', async (event, {{ ui }}) => {{
            {calls}
            while (!existsSync('go')) await new Promise((done) => setTimeout(done, 20));
        }});"
    );
    let project = Project::new();
    project.write("status.mjs", &module);
    let fire = ["fire", "BeforeTool", "--tool", "shell", "--module", "status.mjs"];
    let mut terminal = Hook::new(&project, &fire).env("COLUMNS", columns).on_terminal();
    terminal.wait_for(seen);
    project.write("go", "");
    let (status, shown) = terminal.finish();
    assert_eq!(status, 0, "{shown}");
    Some(shown)
}

#[test]
fn the_status_line_is_sorted_by_key_on_one_line_and_forgets_what_was_taken_away() {
    let calls =
        "ui.setStatus('c', 'gone'); ui.setStatus('b', 'two\\n  words'); ui.setStatus('d', ' \\t ');
        ui.setStatus('a', 'first'); ui.setStatus('c');";
    let Some(shown) = status_line(calls, "80", "first two words") else { return };
    let (before, after) = shown.rsplit_once("first two words").unwrap();
    assert!(before.contains("first two words gone") && !after.contains("gone"), "{shown:?}");
    // It is taken away before the result, which has the last word.
    let (line, result) = shown.split_once("BeforeTool").expect("the result is shown");
    assert!(line.contains("\u{1b}[2K") && !result.contains("first"), "{shown:?}");
}

#[test]
fn the_status_line_is_cut_to_the_width_of_the_terminal() {
    // Nineteen columns, of which a wide character takes two.
    let calls = "ui.setStatus('a', '日本語日本語日本語日本語'); ui.setStatus('b', 'never shown');";
    let Some(shown) = status_line(calls, "20", "日本語日本語日本語") else { return };
    let (line, _) = shown.split_once("proceed").expect("the result is shown");
    assert!(!line.contains("日本語日本語日本語日") && !line.contains("never"), "{shown:?}");
}
