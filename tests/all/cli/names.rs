//! Names and paths of others, on the way to a terminal.
#![cfg(unix)]

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::json;

/// A name that would be a message of its own, clear the screen, and turn what follows around.
const HOSTILE: &str = "a\nerror: fake\u{1b}[2J\u{202e}\u{9b}8mb";

fn assert_harmless(finished: &Finished, what: &str) {
    for text in [&finished.stdout, &finished.stderr] {
        let hidden = |it: char| it != '\n' && hook_json::text::is_hidden(it);
        assert!(!text.contains(hidden), "{what}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("error: fake")), "{what}: {text}");
    }
}

#[test]
fn a_name_with_line_ends_escapes_and_marks_of_direction_is_shown_on_one_line_everywhere() {
    let project = Project::new();
    let folder = project.path().join(HOSTILE);
    fs::create_dir_all(folder.join(".hooks")).unwrap();
    let home = project.home().join(HOSTILE);
    fs::create_dir_all(home.join(".claude")).unwrap();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "./no-such-guard", "name": HOSTILE}]}]}});
    fs::write(folder.join(".hooks/settings.json"), settings.to_string()).unwrap();
    fs::write(folder.join("broken.toml"), "[[test]\n").unwrap();
    fs::write(folder.join("broken.hookrec"), "nonsense\n").unwrap();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let at = path("");
    let home = home.to_string_lossy();
    let (scenario, recording) = (path("broken.toml"), path("broken.hookrec"));
    let (absent, own) = (path("absent"), path(".hooks/settings.json"));
    for arguments in [
        vec!["connect", "--list", "--project", &at],
        vec!["connect", "claude", "--dry-run", "--project", &at],
        vec!["connect", "claude", "--project", &at],
        vec!["connect", "--list", "--project", &at],
        vec!["disconnect", "claude", "--dry-run", "--project", &at],
        vec!["trace", &recording],
        vec!["trace", &absent],
        vec!["replay", &recording, "--project", &at],
        vec!["test", &scenario, "--project", &at],
        vec!["test", &absent],
        vec!["run", &absent, "--project", &at],
        vec!["disable", HOSTILE, "--project", &at],
        vec!["disable", "guard", "--project", &at],
        vec!["enable", HOSTILE, "--dry-run", "--project", &at],
        vec!["list", "--project", &at],
        vec!["explain", "BeforeTool", "--project", &at],
        vec!["check", "--project", &at],
        vec!["check", &own],
        vec!["check", &absent],
        vec!["doctor", "--project", &at],
        vec!["init", "--project", &at],
        vec!["trust", "--project", &at],
        vec!["import", "claude", "--project", &at],
        vec!["fire", HOSTILE, "--project", &at],
        vec!["fire", "BeforeTool", "--tool", HOSTILE, "--project", &at],
        vec!["fire", "BeforeTool", "--settings", &absent],
        vec!["fire", "BeforeTool", "--module", &absent],
        vec!["fire", "BeforeTool", HOSTILE],
        vec!["bridge", HOSTILE],
        vec!["connect", HOSTILE],
        vec!["connect", "claude", "--events", HOSTILE],
        vec!["connect", "claude", "--scope", HOSTILE],
        vec!["list", "--agent", HOSTILE],
        vec!["tail", "--socket", &absent],
        vec!["log", HOSTILE],
        vec!["help", HOSTILE],
        vec![HOSTILE],
        vec!["--color", HOSTILE, "list"],
        vec!["list", "--project", &absent],
        vec!["list", "--project", &own],
        vec!["uninstall", "--dry-run", "--project", &at],
    ] {
        let finished = Hook::new(&project, &arguments).env("HOME", &home).run();
        assert_harmless(&finished, &format!("{arguments:?}"));
        let coloured = [&["--color=always"][..], &arguments].concat();
        let shown = Hook::new(&project, &coloured).env("HOME", &home).run();
        for hidden in ["\u{1b}[2J", "\u{202e}", "\u{9b}"] {
            assert!(!shown.stdout.contains(hidden), "{coloured:?}: {shown:?}");
        }
    }
}
