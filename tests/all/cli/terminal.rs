//! What people see on a terminal: colours and progress.

use hook_tests::{Hook, Project};

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
