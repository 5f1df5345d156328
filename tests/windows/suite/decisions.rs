//! What a hook says, and what becomes of it.

use serde_json::json;

use crate::place::Place;

#[test]
fn a_hook_decides_by_its_answer_and_by_its_exit_code() {
    let place = Place::new();
    for (arguments, is_guard, code, shown) in [
        (r#"deny "not this one""#, false, 2, "not this one"),
        ("deny ærlig", false, 2, "ærlig"),
        ("exit 2", false, 2, "because of this"),
        ("exit 0", false, 0, "\"exitCode\":0"),
        ("exit 3", false, 0, "\"exitCode\":3"),
        ("exit 3", true, 2, "\"exitCode\":3"),
        (r#"say "only text""#, true, 0, "only text"),
        (r#"say '{"decision":"ask","reason":"sure?"}'"#, false, 2, "sure?"),
        (r#"say '{"decision":"deny"'"#, true, 2, "invalid_answer"),
        ("input /tool_name", false, 2, "write_file"),
        ("input /tool_input/path", false, 2, "notes.txt"),
    ] {
        let more = json!({"failBehavior": if is_guard { "block" } else { "continue" }});
        let fired = place.fire(&place.settings(&place.probe_with(arguments), more));
        assert_eq!(fired.code, code, "{arguments}: {fired:?}");
        assert!(fired.stdout.contains(shown), "{arguments}: {fired:?}");
    }
}

/// Fires with a PowerShell that prints its arguments.
fn fire_with_shell(place: &Place, command: &str) -> crate::place::Finished {
    let bin = place.at("shells & more");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::copy(place.probe(), bin.join("pwsh.exe")).unwrap();
    let settings = place.settings(command, json!({"failBehavior": "block"}));
    let mut fire = place.hook(&["fire", "BeforeTool", "--no-user", "--json", "--settings"]);
    fire.arg(settings).env("PATH", bin);
    crate::place::run(fire, "")
}

#[test]
fn what_is_more_than_a_program_and_words_is_for_powershell() {
    let place = Place::new();
    for command in [
        "a | b",
        "a; exit 2",
        "guard.exe $env:X",
        "guard.exe %X%",
        "& 'guard.exe'",
        "[Console]::Error.WriteLine('größe'); exit 2",
        // One that is not found is reported by the shell.
        "no-such-program.exe now",
    ] {
        let fired = fire_with_shell(&place, command);
        let expected = json!(["-NonInteractive", "-Command", command]).to_string();
        assert_eq!(fired.reason(), expected, "{command}");
    }
}

#[test]
fn a_hook_knows_where_it_runs_and_for_whom() {
    let place = Place::new();
    let project = place.project().to_str().unwrap().to_owned();
    for (arguments, expected) in [
        ("directory", project.as_str()),
        ("variable HOOK_PROJECT_DIR", &project),
        ("variable CLAUDE_PROJECT_DIR", &project),
        ("variable HOOK_EVENT_NAME", "BeforeTool"),
        ("variable MODE", "strict & größer"),
        // What says which programs are loaded is not handed on, however it is written.
        ("variable node_options", "not set"),
        ("variable USERPROFILE", place.home().to_str().unwrap()),
    ] {
        let more = json!({"env": {"MODE": "strict & größer"}});
        let settings = place.settings(&place.probe_with(arguments), more);
        // A project that is named is called the same.
        for flags in [&[][..], &["--project", "."]] {
            let mut command =
                place.hook(&["fire", "BeforeTool", "--no-user", "--json", "--settings"]);
            command.arg(&settings).args(flags).env("Node_Options", "--require=evil");
            let fired = crate::place::run(command, "");
            assert_eq!(fired.reason(), expected, "{arguments} {flags:?}");
        }
    }
}

#[test]
fn a_guard_of_a_file_knows_it_by_every_spelling() {
    let place = Place::new();
    let hook = json!({"type": "command", "command": place.probe_with("deny guarded")});
    let matcher = json!({"pathPattern": ["*.env", "secret größe/**", "!*.env.example"]});
    let settings = json!({"hooks": {"BeforeTool": [{"matcher": matcher, "hooks": [hook]}]}});
    let settings = place.write("guard.json", &settings.to_string());
    let project = place.project().to_str().unwrap().to_owned();
    let device = format!(r"\\?\{project}\.env");
    for (path, is_guarded) in [
        (".env", true),
        (".ENV", true),
        (r"sub\.Env", true),
        (".env::$DATA", true),
        (".env. .", true),
        (&device, true),
        (r"Secret GRÖßE\x", true),
        ("notes.txt", false),
        (".env.example", false),
    ] {
        let input = json!({"tool_name": "write_file", "tool_input": {"path": path, "content": ""}});
        let mut fire =
            place.hook(&["fire", "BeforeTool", "--no-user", "--input", "-", "--settings"]);
        fire.arg(&settings);
        let fired = crate::place::run(fire, &input.to_string());
        assert_eq!(fired.code == 2, is_guarded, "{path}: {fired:?}");
    }
}
