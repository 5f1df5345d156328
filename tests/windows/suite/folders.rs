//! The folders of user and machine.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::place::{Place, run};

fn settings(place: &Place, reason: &str) -> String {
    let command = place.probe_with(&format!("deny '{reason}'"));
    json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]}})
        .to_string()
}

#[test]
fn settings_of_the_user_are_in_the_folder_of_the_system_and_xdg_wins() {
    let place = Place::new();
    let elsewhere = place.at("else where");
    for (folder, reason) in [(place.roaming(), "roaming"), (elsewhere.clone(), "xdg")] {
        fs::create_dir_all(folder.join("hooks")).unwrap();
        fs::write(folder.join(r"hooks\settings.json"), settings(&place, reason)).unwrap();
    }
    type Set = (&'static str, Option<PathBuf>);
    let cases: [(&[Set], &str); 5] = [
        (&[], "roaming"),
        // Without it, the folder below the home.
        (&[("APPDATA", None)], "roaming"),
        (&[("XDG_CONFIG_HOME", Some(elsewhere.clone()))], "xdg"),
        (&[("XDG_CONFIG_HOME", Some("relative".into()))], "roaming"),
        // Shells of other systems set it; it says nothing here.
        (&[("HOME", Some(elsewhere))], "roaming"),
    ];
    for (variables, expected) in cases {
        let mut command = place.hook(&["fire", "BeforeTool", "--json"]);
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let fired = run(command, "");
        assert_eq!(fired.reason(), expected, "{variables:?}");
    }
}

#[test]
fn without_a_home_guards_may_be_missing_and_things_are_blocked() {
    let place = Place::new();
    let mut command = place.hook(&["fire", "BeforeTool", "--json"]);
    command.env_remove("USERPROFILE").env_remove("APPDATA").env_remove("LOCALAPPDATA");
    let fired = run(command, "");
    assert_eq!(fired.code, 2, "{fired:?}");
    assert!(fired.stdout.contains("USERPROFILE"), "{fired:?}");
}
