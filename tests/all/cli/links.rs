//! Links of a project, by which its files would be somebody else's.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use hook_tests::{Hook, Project};
use serde_json::json;

const SETTINGS: &str = ".hooks/settings.json";

#[test]
fn what_is_written_into_a_project_follows_no_link_out_of_it() {
    for arguments in [&["init"][..], &["init", "--worker", "python"], &["trust", "--lock"]] {
        let project = Project::new();
        let outside = project.home().join(".config/hooks");
        fs::create_dir_all(&outside).unwrap();
        symlink(&outside, project.path().join(".hooks")).unwrap();
        // Of the lock there is something to write.
        if arguments[0] == "trust" {
            let hooks = json!({"hooks": {"SessionEnd": [{"hooks": [
                {"type": "command", "command": "true", "name": "n"}]}]}});
            fs::write(outside.join("settings.json"), hooks.to_string()).unwrap();
        }
        let before = fs::read_dir(&outside).unwrap().count();
        let trust = ["trust", "--yes", "--opaque"];
        let granted = Hook::new(&project, &trust).run();
        let kept = fs::read_dir(&outside).unwrap().count();
        let finished = Hook::new(&project, arguments).run();
        assert_ne!(finished.status, 0, "{arguments:?}: {finished:?} {granted:?}");
        assert!(finished.stderr.contains("is a link"), "{arguments:?}: {finished:?}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), kept, "{arguments:?} {before}");
    }
}

#[test]
fn a_hook_is_not_switched_off_in_a_file_that_a_link_of_the_project_leads_out_to() {
    let project = Project::new();
    let outside = project.home().join("others.json");
    let text = json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "true", "name": "n"}]}]}})
    .to_string();
    fs::write(&outside, &text).unwrap();
    fs::create_dir_all(project.path().join(".hooks")).unwrap();
    symlink(&outside, project.path().join(SETTINGS)).unwrap();
    let finished = Hook::new(&project, &["disable", "n", "--shared"]).run();
    assert!(finished.stderr.contains("is a link"), "{finished:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), text);
}

#[test]
fn what_killed_writers_left_is_removed_at_the_next_write() {
    let project = Project::new();
    let hooks = json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "true", "name": "n"}]}]}});
    project.write(SETTINGS, &hooks.to_string());
    let own = project.write(".hooks/.hook-settings.json-Ab12cD", "half");
    let old = project.write(".hooks/.hook-Ab12cD", "half");
    let fresh = project.write(".hooks/.hook-Zz12cD", "half");
    let others = project.write(".hooks/.hook-other.json-Ab12cD", "half");
    let mine = project.write(".hooks/.hook-mine", "whole");
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    for path in [&old, &mine] {
        fs::File::options().write(true).open(path).unwrap().set_modified(yesterday).unwrap();
    }
    assert_eq!(Hook::new(&project, &["disable", "n", "--shared"]).run().status, 0);
    assert!(!own.exists() && !old.exists());
    // Another writer may be at these.
    assert!(fresh.exists() && others.exists() && mine.exists());
}
