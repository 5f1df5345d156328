use std::fs;

use super::*;
use std::time::Duration;

use crate::settings::{FailBehavior, HookSource, HooksConfig, parse};

fn entry(command: &str) -> HookEntry {
    let settings = serde_json::json!({"hooks": {"BeforeTool": [
        {"hooks": [{"type": "command", "name": "guard", "command": command}]}]}});
    parse(&settings.to_string(), HookSource::Project, None).hooks.remove(0)
}

/// What is trusted in one project, by its store.
fn open(store: &TrustStore, project: &Path) -> (TrustedHooks, Option<Diagnostic>) {
    let (mut trusted, problem) = TrustPolicy::Store(store.clone()).open(&[project]);
    (trusted.remove(0), problem)
}

fn decide(trusted: &TrustedHooks, entry: &HookEntry, project: &Path) -> Trust {
    trusted.decide(&[entry], project).trust.remove(0)
}

fn still_holds(trust: &Trust, directory: &Path) -> bool {
    match trust {
        Trust::Given => true,
        Trust::Checked(granted) => granted.still_holds(directory).is_ok(),
        Trust::Missing { .. } => false,
    }
}

#[test]
fn a_changed_script_is_not_trusted_any_more() {
    let project = tempfile::tempdir().unwrap();
    let script = project.path().join("guard.sh");
    fs::write(&script, "exit 0").unwrap();
    let store = TrustStore::new(project.path().join("config/trust.json"));
    for command in [
        "./guard.sh;true",
        "'./guard.sh'|cat",
        "./gua\\rd.sh>log",
        "./guard.sh -v",
        "\"$HOOK_PROJECT_DIR\"/guard.sh",
        "${CLAUDE_PROJECT_DIR}/guard.sh",
        "$HOOK_PROJECT_DIR//guard.sh",
        "A=1 B='x y' ./guard.sh",
        "\"$HOOK_PROJECT_DIR\"/gua\\\nrd.sh",
        "\n\\\n ./guard.sh",
    ] {
        fs::write(&script, "exit 0").unwrap();
        let entry = entry(command);
        store.grant(project.path(), std::slice::from_ref(&entry)).unwrap();
        let (trusted, problems) = open(&store, project.path());
        assert!(problems.is_none());
        let trust = decide(&trusted, &entry, project.path());
        assert!(trust.is_given() && still_holds(&trust, project.path()), "{command}");
        fs::write(&script, "exit 2").unwrap();
        assert!(!still_holds(&trust, project.path()), "{command}");
        assert!(!decide(&trusted, &entry, project.path()).is_given());
    }
    store.revoke(project.path()).unwrap();
    assert!(store.granted(project.path()).unwrap().is_empty());
}

/// The files that a review shows.
fn covered(project: &Path, entry: &HookEntry) -> Vec<PathBuf> {
    let store = TrustStore::new(project.join("no such store"));
    reviewed(&store, project, entry).files.into_iter().map(|file| file.path).collect()
}

#[test]
fn the_file_that_bash_runs_is_covered() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("a b");
    for name in ["x", "$HOOK_PROJECT_DIR/x", "a\\b", "ab", "own/x", "python3"] {
        let file = project.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\nprintf %s '{name}'\n")).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    for (command, expected) in [
        ("\"$HOOK_PROJECT_DIR\"/x", Some("x")),
        ("'$HOOK_PROJECT_DIR/x'", Some("$HOOK_PROJECT_DIR/x")),
        ("\\$HOOK_PROJECT_DIR/x", Some("$HOOK_PROJECT_DIR/x")),
        ("\"./a\\b\"", Some("a\\b")),
        ("./a\\b", Some("ab")),
        ("A=1 ./ab", Some("ab")),
        ("A+=1 ./ab", Some("ab")),
        ("./a\\\nb", Some("ab")),
        ("python3 -c 'print(1)'", None),
    ] {
        let found = covered(&project, &entry(command));
        let has = |expected: &str| found.iter().any(|file| file == Path::new(expected));
        assert!(expected.map_or(found.is_empty(), has), "{command}: {found:?}");
        if cfg!(unix) && expected.is_some() {
            let mut bash = std::process::Command::new("bash");
            bash.args(["-c", command]).current_dir(&project).env("HOOK_PROJECT_DIR", &project);
            let said = bash.output().unwrap().stdout;
            assert_eq!(Some(&*String::from_utf8(said).unwrap()), expected, "{command}");
        }
    }
    let own = HookEntry {
        env: vec![("HOOK_PROJECT_DIR".into(), project.join("own").to_str().unwrap().into())],
        ..entry("$HOOK_PROJECT_DIR/x")
    };
    assert!(covered(&project, &own).contains(&"own/x".into()));
}

#[test]
fn a_file_is_no_variable_of_a_hook_and_an_absent_one_is_not_an_empty_one() {
    let project = tempfile::tempdir().unwrap();
    let script = project.path().join("guard.sh");
    let entry = entry("./guard.sh");
    let absent = fingerprint(&entry, project.path());
    fs::write(&script, "").unwrap();
    let empty = fingerprint(&entry, project.path());
    assert_ne!(absent, empty);
    let env = vec![(fs::canonicalize(&script).unwrap().to_str().unwrap().into(), String::new())];
    let variable = HookEntry { env, ..self::entry("guard.sh") };
    assert_ne!(fingerprint(&variable, project.path()), empty);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_or_too_long_is_not_read() {
    let project = tempfile::tempdir().unwrap();
    let script = project.path().join("guard.sh");
    let store = TrustStore::new(project.path().join("trust.json"));
    let entry = entry("./guard.sh");
    let made = std::process::Command::new("mkfifo").arg(&script).status().unwrap();
    assert!(made.success());
    let review = || reviewed(&store, project.path(), &entry);
    assert_eq!(review().files[0].state, FileState::Unreadable);
    fs::remove_file(&script).unwrap();
    assert_eq!(review().files[0].state, FileState::Absent);
    fs::File::create(&script).unwrap().set_len(limits::MAX_BYTES + 1).unwrap();
    let long = review();
    assert_eq!(long.files[0].state, FileState::TooLong);
    let refused = store.grant_reviewed(project.path(), [&long]);
    assert!(matches!(refused, Err(TrustStoreError::TooLong { .. })), "{refused:?}");
    assert_eq!(review().standing, Standing::New);
}

#[cfg(unix)]
#[test]
fn a_damaged_store_is_set_aside_by_the_next_decision_and_not_destroyed() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("kept/decisions.json");
    fs::create_dir(folder.path().join("kept")).unwrap();
    let path = folder.path().join("trust.json");
    std::os::unix::fs::symlink(&real, &path).unwrap();
    let damaged = "{\"version\":1,\"proj";
    fs::write(&real, damaged).unwrap();
    let store = TrustStore::new(&path);
    let entry = entry("true");
    let (trusted, problems) = open(&store, folder.path());
    assert!(!decide(&trusted, &entry, folder.path()).is_given());
    let aside = fs::canonicalize(&real).unwrap().with_file_name("decisions.damaged-1.json");
    let problem = problems.unwrap().message;
    assert!(problem.contains(aside.to_str().unwrap()), "{problem}");
    // Who only reads writes nothing.
    assert_eq!(fs::read_to_string(&real).unwrap(), damaged);
    assert_eq!(fs::read_dir(folder.path().join("kept")).unwrap().count(), 1);

    store.grant(folder.path(), std::slice::from_ref(&entry)).unwrap();
    assert_eq!(fs::read_to_string(&aside).unwrap(), damaged);
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(store.granted(folder.path()).unwrap().len(), 1);
}

/// A hook as it was reviewed, with what its script says.
fn reviewed(store: &TrustStore, project: &Path, entry: &HookEntry) -> Review {
    store.review(project, std::slice::from_ref(entry)).unwrap().remove(0)
}

#[test]
fn what_changed_between_review_and_decision_is_not_trusted() {
    let project = tempfile::tempdir().unwrap();
    let script = project.path().join("guard.sh");
    fs::write(&script, "exit 0").unwrap();
    let store = TrustStore::new(project.path().join("trust.json"));
    let entry = entry("./guard.sh");
    let review = reviewed(&store, project.path(), &entry);
    fs::write(&script, "rm -rf ~").unwrap();
    store.grant_reviewed(project.path(), [&review]).unwrap();
    let trust = open(&store, project.path()).0;
    assert!(!decide(&trust, &entry, project.path()).is_given());
    let now = reviewed(&store, project.path(), &entry);
    assert_eq!(
        now.changes(),
        [Change::File {
            path: "guard.sh".into(),
            before: Some("exit 0".into()),
            after: Some("rm -rf ~".into())
        }]
    );
    fs::write(&script, "exit 0").unwrap();
    assert!(decide(&trust, &entry, project.path()).is_given());
}

#[test]
fn every_change_since_the_decision_is_named() {
    let project = tempfile::tempdir().unwrap();
    let path = project.path();
    for (name, text) in [("a.sh", "a"), ("b.sh", "b"), ("lib.sh", "c"), ("binary", "\0")] {
        fs::write(path.join(name), text).unwrap();
    }
    let before = HookEntry {
        matcher: Some(Arc::new("shell".into())),
        env: vec![("A".into(), "1".into()), ("B".into(), "2".into())],
        ..entry("./a.sh ./lib.sh")
    };
    let changed = |entry: HookEntry| {
        let store = TrustStore::new(path.join("trust.json"));
        let _ = fs::remove_file(store.path());
        store.grant(path, std::slice::from_ref(&before)).unwrap();
        let review = reviewed(&store, path, &entry);
        assert!(matches!(review.standing, Standing::Changed(_)), "{review:?}");
        let said = |change: Change| match change {
            Change::Field { name, before, after } => {
                let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                format!("{name}: {} > {}", or_none(before), or_none(after))
            }
            other => format!("{other:?}"),
        };
        review.changes().into_iter().map(said).collect::<Vec<_>>()
    };
    let with = |change: fn(&mut HookEntry)| {
        let mut entry = before.clone();
        change(&mut entry);
        changed(entry)
    };
    assert_eq!(with(|it| it.matcher = None), ["matcher: shell > -"]);
    assert_eq!(with(|it| it.name = None), ["name: guard > -"]);
    assert_eq!(
        with(|it| it.event = crate::HookEventName::AfterTool),
        ["event: BeforeTool > AfterTool"]
    );
    assert_eq!(with(|it| it.env[1].1 = "3".into()), ["env.B: 2 > 3"]);
    assert_eq!(with(|it| it.env = Vec::new()), ["env.A: 1 > -", "env.B: 2 > -"]);
    assert_eq!(with(|it| it.env.reverse()), ["Unknown"]);
    assert_eq!(
        with(|it| it.command = "./b.sh".into()),
        [
            "command: ./a.sh ./lib.sh > ./b.sh",
            "file: a.sh > -",
            "file: lib.sh > -",
            "file: - > b.sh"
        ]
    );
    assert_eq!(with(|it| it.sequential = true), ["sequential: - > true"]);
    assert_eq!(with(|it| it.timeout = Some(Duration::from_millis(7))), ["timeout: - > 7"]);
    assert_eq!(with(|it| it.fail_behavior = FailBehavior::Block), ["failBehavior: - > block"]);
    let config = |change: fn(&mut HooksConfig)| {
        let mut config = HooksConfig::default();
        change(&mut config);
        changed(HookEntry { config: Arc::new(config), ..before.clone() })
    };
    assert_eq!(config(|it| it.enabled = false), ["enabled: - > false"]);
    assert_eq!(config(|it| it.disabled = vec!["x".into(), "guard".into()]), ["disabled: - > true"]);
    assert_eq!(config(|it| it.max_concurrent = 1), ["maxConcurrent: - > 1"]);
    assert_eq!(
        config(|it| it.environment.deny = vec!["A\"".into(), "B".into()]),
        [r#"environment.deny: - > ["A\"","B"]"#]
    );
    assert_eq!(
        config(|it| it.environment.allow = vec!["A*".into()]),
        [r#"environment.allow: - > ["A*"]"#]
    );
    fs::write(path.join("a.sh"), "\0").unwrap();
    let store = TrustStore::new(path.join("trust.json"));
    assert_eq!(
        reviewed(&store, path, &before).changes(),
        [Change::File { path: "a.sh".into(), before: Some("a".into()), after: None }]
    );
}

#[test]
fn a_store_without_what_was_seen_is_read_and_keeps_its_decisions() {
    let project = tempfile::tempdir().unwrap();
    let (old, new) = (entry("./old"), entry("./new"));
    let fingerprint = earlier::fingerprint(&old, project.path(), project.path()).unwrap();
    let real = fs::canonicalize(project.path()).unwrap();
    let contents = serde_json::json!({"version": 1, "projects": {real.to_str().unwrap(): [
        {"fingerprint": fingerprint, "event": "BeforeTool", "name": "guard", "command": "./old"},
    ]}});
    let store = TrustStore::new(project.path().join("trust.json"));
    fs::write(store.path(), contents.to_string()).unwrap();
    let standing = reviewed(&store, project.path(), &old).standing;
    assert!(matches!(standing, Standing::Partly(_)), "{standing:?}");
    let changes = reviewed(&store, project.path(), &new).changes();
    assert!(matches!(&changes[0], Change::Field { name, .. } if name == "command"));
    assert_eq!(changes[1], Change::Unknown);
    store.grant(project.path(), std::slice::from_ref(&new)).unwrap();
    let granted = store.granted(project.path()).unwrap();
    assert_eq!(granted.iter().map(|it| &*it.command).collect::<Vec<_>>(), ["./old", "./new"]);
    store.revoke_grants(project.path(), &[fingerprint]).unwrap();
    assert_eq!(store.granted(project.path()).unwrap(), granted[1..]);
}

#[test]
fn only_the_latest_decision_keeps_the_script() {
    let project = tempfile::tempdir().unwrap();
    let store = TrustStore::new(project.path().join("trust.json"));
    let entry = entry("./guard.sh");
    for text in ["one", "two", "three", "x".repeat(64 * 1024 + 1).as_str()] {
        fs::write(project.path().join("guard.sh"), text).unwrap();
        store.grant(project.path(), std::slice::from_ref(&entry)).unwrap();
        let granted = store.granted(project.path()).unwrap();
        let script = |grant: &Grant| grant.seen.clone().unwrap().files.remove(0);
        let kept: Vec<_> = granted.iter().filter_map(|it| script(it).content).collect();
        let expected: &[&str] = if text.len() > 5 { &[] } else { &[text] };
        assert_eq!(kept, expected);
    }
    assert_eq!(store.granted(project.path()).unwrap().len(), 4);
}
