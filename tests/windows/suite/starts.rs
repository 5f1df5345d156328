//! How commands are started: directly, wherever they are a program and plain words.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Place, run};

/// The arguments of a command, and what the program gets.
const QUOTED: [(&str, &[&str]); 12] = [
    ("a b", &["a", "b"]),
    (r#""a b" c"#, &["a b", "c"]),
    ("'a & b | c'", &["a & b | c"]),
    (r#""100% of %PATH%""#, &["100% of %PATH%"]),
    ("'^caret^ !bang! %x%'", &["^caret^ !bang! %x%"]),
    ("'say \"hi\"'", &["say \"hi\""]),
    (r#"'ends in \' "C:\a b\""#, &[r"ends in \", r"C:\a b\"]),
    (r"C:\dir\file \\server\share", &[r"C:\dir\file", r"\\server\share"]),
    ("größe 日本 'smile 🙂'", &["größe", "日本", "smile 🙂"]),
    (r#""" ''"#, &["", ""]),
    ("--key=value x,y:z", &["--key=value", "x,y:z"]),
    ("'back\\\\\\\"slashes\"'", &["back\\\\\\\"slashes\""]),
];

#[test]
fn a_program_gets_its_arguments_as_they_are_written() {
    let place = Place::new();
    for (arguments, expected) in QUOTED {
        let fired = place.fire_command(&place.probe_with(&format!("args {arguments}")));
        let got: Value = serde_json::from_str(&fired.reason()).unwrap();
        assert_eq!(got, json!(expected), "{arguments}");
    }
}

#[test]
fn a_program_is_found_as_windows_finds_it() {
    let place = Place::new();
    let bin = place.at("some bin");
    fs::create_dir_all(&bin).unwrap();
    fs::copy(place.probe(), bin.join("probe-in-path.exe")).unwrap();
    fs::copy(place.probe(), place.project().join("größe & 100%.exe")).unwrap();
    fs::write(bin.join("wrapped.cmd"), "@\"%~dp0probe-in-path.exe\" %*\r\n").unwrap();
    place.write("scripts/guard.py", "#!/usr/bin/env -S probe-in-path args first\n");
    place.write("scripts/guard3", "#!/usr/local/bin/probe-in-path3\n");
    let project = place.project().to_str().unwrap().to_owned();
    for (command, expected) in [
        ("probe-in-path.exe args x", json!(["x"])),
        ("probe-in-path args x", json!(["x"])),
        ("PROBE-in-PATH.EXE args x", json!(["x"])),
        (r#""the probe" args x"#, json!(["x"])),
        (r#"".\the probe.exe" args x"#, json!(["x"])),
        (r#""$HOOK_PROJECT_DIR\the probe.exe" args "$HOOK_PROJECT_DIR""#, json!([project])),
        (
            r#""${CLAUDE_PROJECT_DIR}/the probe" args '$HOOK_PROJECT_DIR'"#,
            json!(["$HOOK_PROJECT_DIR"]),
        ),
        (r"'.\größe & 100%.exe' args x", json!(["x"])),
        ("wrapped args plain", json!(["plain"])),
        (r#"wrapped.cmd args "two words" "a & b" "^""#, json!(["two words", "a & b", "^"])),
    ] {
        let mut path = place.project().into_os_string();
        path.push(";");
        path.push(&bin);
        path.push(";");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let settings = place.settings(command, json!({"failBehavior": "block"}));
        let mut fire = place.hook(&["fire", "BeforeTool", "--no-user", "--json", "--settings"]);
        fire.arg(settings).env("PATH", path);
        let fired = run(fire, "");
        let got: Value = serde_json::from_str(&fired.reason())
            .unwrap_or_else(|error| panic!("{error}: {command}: {fired:?}"));
        assert_eq!(got, expected, "{command}");
    }
}

#[test]
fn a_script_is_started_by_the_program_of_its_first_line() {
    let place = Place::new();
    let bin = place.at("some bin");
    fs::create_dir_all(&bin).unwrap();
    fs::copy(place.probe(), bin.join("interpreter.exe")).unwrap();
    for (script, line) in [
        ("by-env.py", "#!/usr/bin/env interpreter\n"),
        ("by-path", "#!/usr/local/bin/interpreter args\r\n"),
        ("by-version.py", "#!/usr/bin/env interpreter3\n"),
        ("with options", "#!/usr/bin/env -S interpreter args -u\n"),
    ] {
        let file = place.write(script, line);
        let settings =
            place.settings(&format!("'.\\{script}' x"), json!({"failBehavior": "block"}));
        let mut fire =
            place.hook(&["fire", "BeforeTool", "--no-user", "--json", "--full", "--settings"]);
        fire.arg(settings).env("PATH", &bin);
        let fired = run(fire, "");
        // The interpreter got the script, as an argument or as the action that it does not know.
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(fired.stdout.contains(name), "{script}: {fired:?}");
        assert_eq!(fired.code, 2, "{script}: {fired:?}");
    }
}

#[test]
fn the_exec_form_has_no_shell_and_takes_any_argument() {
    let place = Place::new();
    let arguments = [
        "refuse",
        "a b",
        "say \"hi\" & dir",
        "%PATH%",
        "^!",
        "größe",
        "",
        r"C:\x y\",
        "`$(x)`",
        "|>",
    ];
    let hook = json!({"type": "command", "command": place.probe(), "args": arguments});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    let settings = place.write(".claude/settings.json", &settings.to_string());
    let mut bridge = place.hook(&["bridge", "claude", "PreToolUse", "--no-user", "--settings"]);
    bridge.arg(settings);
    let bridged = run(bridge, &crate::agents::claude_call(&place));
    let answer: Value = serde_json::from_str(&bridged.stdout).expect(&bridged.stderr);
    let text = answer.to_string();
    for argument in &arguments[1..] {
        let written = json!(json!(argument).to_string()).to_string();
        assert!(text.contains(written.trim_matches('"')), "{argument}: {text}");
    }
}
