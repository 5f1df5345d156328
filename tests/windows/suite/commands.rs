//! The other commands.

use crate::place::Place;

#[test]
fn init_writes_guards_that_run_here() {
    let place = Place::new();
    let made = place.run(&["init"]);
    assert_eq!(made.code, 0, "{made:?}");
    for (tool, field, text, why) in [
        ("write_file", "path", ".env", ".env files hold secrets"),
        ("shell", "command", r"type src\.env", ".env files hold secrets"),
        ("shell", "command", r"Remove-Item -Recurse -Force C:\work", "this deletes"),
        ("shell", "command", "rd /s /q build", "this deletes"),
    ] {
        let input = serde_json::json!({"tool_name": tool, "tool_input": {field: text}}).to_string();
        let fired = place.run(&["fire", "BeforeTool", "--json", "--full", "--input", &input]);
        assert_eq!(fired.code, 2, "{fired:?}");
        assert!(fired.stdout.contains(why), "{fired:?}");
    }
    let checked = place.run(&["check"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let again = place.run(&["init"]);
    assert_eq!(again.code, 1, "{again:?}");
}

#[test]
fn settings_are_checked_explained_and_listed() {
    let place = Place::new();
    let settings =
        place.settings(&place.probe_with("deny no"), serde_json::json!({"timeout": 5000}));
    let settings = settings.to_str().unwrap();
    for (arguments, code, shown) in [
        (&["check", settings][..], 0, ""),
        (&["explain", "BeforeTool", "--no-user", "--settings", settings], 0, "probe"),
        (&["list", "--no-user", "--settings", settings], 0, "probe"),
        (&["schema"], 0, "BeforeTool"),
        (&["--version"], 0, "hook"),
        (&["fire", "PreToolUse"], 64, ""),
        (&["no-such-command"], 64, ""),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
        assert!(ran.stdout.contains(shown), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_mistake_in_settings_is_shown_with_its_place() {
    let place = Place::new();
    let file = place.write(
        "größe.json",
        "{\"hooks\": {\"BeforeTool\": [{\"hooks\": [{\"type\": \"comand\"}]}]}}",
    );
    let checked = place.run(&["check", file.to_str().unwrap()]);
    assert_eq!(checked.code, 1, "{checked:?}");
    let shown = checked.stdout.clone() + &checked.stderr;
    assert!(shown.contains("größe.json:1:"), "{checked:?}");
}
