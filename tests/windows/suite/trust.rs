//! Hooks of a project run once they are trusted.

use serde_json::json;

use crate::place::{Finished, Place, run};

fn project(place: &Place, command: &str) {
    let hook =
        json!({"type": "command", "name": "guard", "command": command, "failBehavior": "block"});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    place.write(".hooks/settings.json", &settings.to_string());
}

#[test]
fn a_hook_of_a_project_runs_once_it_is_trusted_and_not_after_a_change() {
    let place = Place::new();
    std::fs::create_dir_all(place.project().join(".hooks")).unwrap();
    std::fs::copy(place.probe(), place.project().join(r".hooks\guard.exe")).unwrap();
    project(&place, r#""$HOOK_PROJECT_DIR/.hooks/guard.exe" deny first"#);
    let fire = || place.run(&["fire", "BeforeTool", "--json"]);
    let untrusted = fire();
    assert!(!untrusted.stdout.contains("\"first\""), "{untrusted:?}");
    let trusted = place.run(&["trust", "--yes"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert_eq!(fire().reason(), "first");
    project(&place, r#""$HOOK_PROJECT_DIR/.hooks/guard.exe" deny second"#);
    let changed = fire();
    assert!(!changed.stdout.contains("\"reason\":\"second\""), "{changed:?}");
    let revoked = place.run(&["trust", "--revoke", "--yes"]);
    assert_eq!(revoked.code, 0, "{revoked:?}");
}

/// Trusts the project's hook and fires it, with the probe as every interpreter.
fn trusted_and_fired(place: &Place, command: &str, flags: &[&str]) -> (Finished, Finished) {
    let bin = place.at("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for interpreter in ["python.exe", "powershell.exe"] {
        std::fs::copy(place.probe(), bin.join(interpreter)).unwrap();
    }
    project(place, command);
    let call = |arguments: &[&str]| {
        let mut hook = place.hook(arguments);
        hook.env("PATH", &bin);
        run(hook, "")
    };
    let trusted = call(&[&["trust", "--yes"], flags].concat());
    let fired = call(&["fire", "BeforeTool", "--json"]);
    call(&["trust", "--revoke", "--yes"]);
    (trusted, fired)
}

#[test]
fn commands_that_need_no_shell_are_followed_by_trust() {
    let place = Place::new();
    std::fs::create_dir_all(place.project().join(r".hooks\größe & co")).unwrap();
    let guard = place.project().join(r".hooks\größe & co\Guard.exe");
    std::fs::copy(place.probe(), guard).unwrap();
    place.write(".hooks/guard.py", "nothing");
    place.write(".hooks/guard.ps1", "nothing");
    place.write(".hooks/deny", "nothing");
    for command in [
        r#""$HOOK_PROJECT_DIR/.hooks/größe & co/Guard.exe" deny first"#,
        // Names have any case here.
        r#""$HOOK_PROJECT_DIR\.HOOKS\GRÖßE & co\guard.EXE" deny first"#,
        r#"python "$HOOK_PROJECT_DIR/.hooks/guard.py""#,
        r#"Python.EXE -u .hooks\Guard.PY"#,
        r#"powershell -NoProfile -ExecutionPolicy Bypass -File "${HOOK_PROJECT_DIR}\.hooks\guard.ps1" x"#,
    ] {
        let (trusted, fired) = trusted_and_fired(&place, command, &[]);
        assert_eq!(trusted.code, 0, "{command}: {trusted:?}");
        assert!(!fired.stdout.contains("not trusted"), "{command}: {fired:?}");
        assert_eq!(fired.code, 2, "{command}: {fired:?}");
    }
}

#[test]
fn a_command_whose_file_may_become_another_is_opaque() {
    let place = Place::new();
    std::fs::create_dir_all(place.project().join(".hooks")).unwrap();
    std::fs::copy(place.probe(), place.project().join(r".hooks\guard.exe")).unwrap();
    place.write(".hooks/guard.ps1", "nothing");
    for command in [
        // Streams, names without their end, devices, programs that are found by an ending.
        r#""$HOOK_PROJECT_DIR/.hooks/guard.ps1:x" deny first"#,
        r#""$HOOK_PROJECT_DIR/.hooks/guard.exe::$DATA" deny first"#,
        r#""$HOOK_PROJECT_DIR/.hooks/guard.exe." deny first"#,
        r#""$HOOK_PROJECT_DIR/.hooks/guard" deny first"#,
        r#""$HOOK_PROJECT_DIR/.hooks/NUL.exe" deny first"#,
        r#""$HOOK_PROJECT_DIR/.hooks/missing.exe" deny first"#,
        r#"powershell -Command "$HOOK_PROJECT_DIR/.hooks/guard.ps1""#,
        r#"cmd /c "$HOOK_PROJECT_DIR/.hooks/guard.exe""#,
        r#""$HOOK_PROJECT_DIR/.hooks/guard.exe" deny first | more"#,
    ] {
        let (trusted, fired) = trusted_and_fired(&place, command, &[]);
        assert!(!fired.stdout.contains("\"first\""), "{command}: {trusted:?} {fired:?}");
        let shown = format!("{}{}", trusted.stdout, trusted.stderr);
        assert!(shown.contains("--opaque"), "{command}: {trusted:?}");
    }
}
