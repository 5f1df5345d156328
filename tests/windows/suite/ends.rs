//! The end of a hook: of it, and of all that it started.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::place::{LONG, Place, until};

/// Waits until a file has not grown for a second: what writes it is gone.
fn no_longer_grows(file: &Path) {
    let (mut length, mut since) = (0, Instant::now());
    until("what the hook started ends", || {
        let now = fs::metadata(file).map_or(0, |metadata| metadata.len());
        if now != length {
            (length, since) = (now, Instant::now());
        }
        since.elapsed() > Duration::from_secs(1)
    });
}

#[test]
fn a_timeout_ends_the_hook_at_its_time() {
    let place = Place::new();
    let more = json!({"timeout": 500, "failBehavior": "block"});
    let started = Instant::now();
    let fired = place.fire(&place.settings(&place.probe_with("sleep 1000"), more));
    assert_eq!(fired.code, 2, "{fired:?}");
    assert!(fired.stdout.contains("\"timedOut\":true"), "{fired:?}");
    assert!(started.elapsed() < LONG);
}

#[test]
fn a_timeout_ends_all_that_the_hook_started() {
    let place = Place::new();
    let file = place.at("beats");
    let command = place.probe_with(&format!("start \"{}\" sleeping", file.display()));
    let fired = place.fire(&place.settings(&command, json!({"timeout": 3000})));
    assert!(
        fs::metadata(&file).is_ok_and(|metadata| metadata.len() > 0),
        "it was started: {fired:?}"
    );
    no_longer_grows(&file);
}

#[test]
fn what_a_hook_leaves_behind_delays_nothing_and_lives_on() {
    let place = Place::new();
    for how in ["quietly", "holding"] {
        let file = place.at(how);
        let command = place.probe_with(&format!("start \"{}\" {how}", file.display()));
        let settings = place.settings(&command, json!({"timeout": 50_000}));
        let started = Instant::now();
        // This reads to the end of its output, a pipe that what goes on must not have.
        let fired = place.fire(&settings);
        assert_eq!(fired.code, 2, "{how}: {fired:?}");
        assert!(fired.stdout.contains("\"reason\":\"started\""), "{how}: {fired:?}");
        // It goes on for a minute.
        assert!(started.elapsed() < Duration::from_secs(40), "{how}: {:?}", started.elapsed());
        let length = || fs::metadata(&file).map_or(0, |metadata| metadata.len());
        let before = length();
        until("it goes on", || length() > before + 2);
    }
}

#[test]
fn a_guard_is_heard_while_slow_hooks_hold_their_streams() {
    let place = Place::new();
    let actions = ["sleep 5", "sleep 6", "sleep 7", "sleep 8", "deny heard"];
    let hooks = actions.map(|it| json!({"type": "command", "command": place.probe_with(it)}));
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}});
    let fired = place.fire(&place.write("slow.json", &settings.to_string()));
    assert_eq!(fired.code, 2, "{fired:?}");
    assert!(fired.stdout.contains("\"reason\":\"heard\""), "{fired:?}");
}
