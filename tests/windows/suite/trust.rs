//! Hooks of a project run once they are trusted.

use serde_json::json;

use crate::place::Place;

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
    let trusted = place.run(&["trust", "--yes", "--opaque"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert_eq!(fire().reason(), "first");
    project(&place, r#""$HOOK_PROJECT_DIR/.hooks/guard.exe" deny second"#);
    let changed = fire();
    assert!(!changed.stdout.contains("\"reason\":\"second\""), "{changed:?}");
    let revoked = place.run(&["trust", "--revoke", "--yes"]);
    assert_eq!(revoked.code, 0, "{revoked:?}");
}
