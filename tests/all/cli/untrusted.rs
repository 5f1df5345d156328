//! What commands say of hooks that are not trusted, of guards that changed since, and of guards that
//! are gone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hook_tests::{Finished, Hook, Project};
use serde_json::json;

const SETTINGS: &str = ".hooks/settings.json";

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

/// A project with a guard that nobody has trusted.
fn untrusted() -> Project {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
        "command": "$HOOK_PROJECT_DIR/guard.sh", "failBehavior": "block"}]}]}});
    project.write(SETTINGS, &settings.to_string());
    let script = project.write("guard.sh", "#!/bin/sh\nexit 0\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    project
}

/// The same, trusted.
fn trusted() -> Project {
    let project = untrusted();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    project
}

fn changed() -> Project {
    let project = trusted();
    let settings = project.read(SETTINGS);
    project.write(SETTINGS, &settings.replace("\"name\"", "\"timeout\":1000,\"name\""));
    project
}

#[test]
fn a_changed_guard_is_said_to_block_by_explain_list_and_doctor() {
    let project = changed();
    let finished = run(&project, &["explain", "BeforeTool", "--tool", "edit"]);
    insta::assert_snapshot!(finished.shown(&project), @"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name edit
      ✗ 1  guard  *  project [PROJECT]/.hooks/settings.json:1:35
          blocks this event: it changed since it was trusted (timeout: none → 1000), so it does not run; the user can review that with `hook trust`

    none of 1 runs; 1 guard blocks this event
    ----- stderr -----
    warning: the guard `guard` blocks BeforeTool: it changed since it was trusted (timeout: none → 1000), so it does not run; the user can review that with `hook trust`
    ");
    let line = &run(&project, &["explain", "BeforeTool", "--json"]).lines()[0];
    assert_eq!(line["runs"], false, "{line}");
    assert!(line["blocks"].as_str().unwrap().contains("changed since it was trusted"), "{line}");
    insta::assert_snapshot!(run(&project, &["list"]).shown(&project), @"
    status: 0
    ----- stdout -----
    BeforeTool
      ✗ guard  *  project [PROJECT]/.hooks/settings.json:1:35
          blocks its event: it changed since it was trusted (timeout: none → 1000), so it does not run; the user can review that with `hook trust`
    ----- stderr -----
    warning: the guard `guard` blocks BeforeTool: it changed since it was trusted (timeout: none → 1000), so it does not run; the user can review that with `hook trust`
    ");
    let doctor = run(&project, &["doctor"]);
    assert_eq!(doctor.status, 1, "{doctor:?}");
    assert!(
        doctor
            .stdout
            .contains("✗ guard guard: blocks the calls of BeforeTool that it was trusted for: "),
        "{doctor:?}"
    );
    assert!(!doctor.stdout.contains("not run\n"), "{doctor:?}");
}

#[test]
fn the_reason_of_a_changed_guard_is_for_the_model_and_its_user() {
    let project = changed();
    let finished = run(&project, &["fire", "BeforeTool", "--json"]);
    assert_eq!(finished.status, 2);
    let reason = finished.lines()[0]["processed"]["reason"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(reason, @"blocked, because the guard `guard` could not check this: it changed since it was trusted (timeout: none → 1000), so it does not run; the user can review that with `hook trust`");
}

#[test]
fn a_guard_that_is_switched_off_is_not_said_to_block() {
    let project = changed();
    assert_eq!(run(&project, &["disable", "guard", "--user"]).status, 0);
    let list = run(&project, &["list"]);
    assert!(!list.stdout.contains("blocks"), "{list:?}");
    let doctor = run(&project, &["doctor"]);
    assert!(!doctor.stdout.contains("blocks BeforeTool"), "{doctor:?}");
    let explain = run(&project, &["explain", "BeforeTool"]);
    assert!(!explain.stdout.contains("block"), "{explain:?}");
}

#[test]
fn a_trusted_guard_that_is_gone_is_a_warning_from_every_folder_of_the_project() {
    let project = trusted();
    fs::create_dir_all(project.path().join("inner/.hooks")).unwrap();
    fs::create_dir_all(project.path().join("plain")).unwrap();
    project.write("inner/.hooks/settings.json", r#"{"hooks": {}}"#);
    let expected = format!(
        "the trusted guard `guard` is not in the settings of {} any more",
        project.path().display()
    );
    for settings in [Some(r#"{"hooks": {}}"#), None] {
        match settings {
            Some(settings) => drop(project.write(SETTINGS, settings)),
            None => fs::remove_file(project.path().join(SETTINGS)).unwrap(),
        }
        for folder in [".", "inner", "plain"] {
            for command in [&["list"][..], &["explain", "BeforeTool"], &["fire", "BeforeTool"]] {
                let finished = Hook::new(&project, command).directory(folder).run();
                let warned = finished.stderr.matches(&expected).count();
                assert_eq!(warned, 1, "{settings:?} {folder} {command:?}: {finished:?}");
            }
            let doctor = Hook::new(&project, &["doctor"]).directory(folder).run();
            assert!(doctor.stdout.contains(&expected), "{settings:?} {folder}: {doctor:?}");
        }
    }
}

#[test]
fn a_guard_that_the_project_switched_off_blocks_its_event() {
    let project = trusted();
    assert_eq!(run(&project, &["disable", "guard"]).status, 0);
    for command in [&["list"][..], &["explain", "BeforeTool"], &["fire", "BeforeTool"]] {
        let finished = run(&project, command);
        let warned = finished.stderr.matches("the guard `guard` blocks BeforeTool").count();
        assert_eq!(warned, 1, "{command:?}: {finished:?}");
    }
}

#[test]
fn check_names_hooks_that_are_not_trusted() {
    let project = untrusted();
    let finished = run(&project, &["check"]);
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 0
    ----- stdout -----
    no problems in 1 file, 1 hook
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    ");
    let named = run(&project, &["check", SETTINGS]);
    assert_eq!(named.stderr, "", "files that are named are checked alone");
    assert_eq!(run(&project, &["check", "--deny-warnings"]).status, 0);
    let changed = run(&self::changed(), &["check"]);
    assert!(changed.stderr.contains("blocks BeforeTool"), "{changed:?}");
}

#[test]
fn a_failing_test_says_which_hooks_did_not_run_and_how_to_trust_them() {
    let project = untrusted();
    let test = |decision: &str| {
        format!(
            "[[test]]\nname = \"guarded\"\nevent = \"BeforeTool\"\n\
             input = {{ tool_name = \"t\", tool_input = {{}} }}\nexpect = {{ decision = \"{decision}\" }}\n"
        )
    };
    project.write("failing.toml", &test("block"));
    project.write("passing.toml", &test("proceed"));
    let failing = run(&project, &["test", "failing.toml", "--junit", "report.xml"]);
    insta::assert_snapshot!(failing.shown(&project), @r#"
    status: 1
    ----- stdout -----
         Running 1 test from 1 file
            FAIL [   [TIME]] failing.toml::guarded
      processed.decision
        expected: "block"
        found:    "proceed"
      BeforeTool proceed guarded
        warning: 1 hook is not trusted and did not run; the user can review what would run with `hook trust`
        no hook matches

    ------------
         Summary [   [TIME]] 1 test run: 0 passed, 1 failed, 0 skipped
            FAIL [   [TIME]] failing.toml::guarded
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    note: 1 hook of the project did not run in these tests, because the user has not trusted them: review and trust them with `hook trust` (`hook trust --yes` where there is no terminal), or give the settings file with --settings
    "#);
    let passing = run(&project, &["test", "passing.toml"]);
    assert!(!passing.stderr.contains("in these tests"), "{passing:?}");
}

#[test]
fn a_changed_mode_is_named_by_trust() {
    let project = trusted();
    let script = project.path().join("guard.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(run(&project, &["trust"]).shown(&project), @r"
    status: 1
    ----- stdout -----
    ! BeforeTool guard: changed since it was trusted at [INSTANT]
      defined in   [PROJECT]/.hooks/settings.json:1:35
      matcher      everything
      command      $HOOK_PROJECT_DIR/guard.sh
      failBehavior block
      file         guard.sh (17 bytes)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it blocks what it matched before, until you agree
        │ #!/bin/sh
        │ exit 0
      changed      guard.sh is executable
        - yes
        + no

    ----- stderr -----
    error: 1 hook changed, and the trusted copy goes on: there is no terminal to ask on; run `hook trust` in one; `--yes` agrees to what is shown
    ");
    let review = &run(&project, &["trust", "--json"]).lines()[0];
    let change = json!([{"field": "guard.sh is executable", "before": "yes", "after": "no"}]);
    assert_eq!(review["changes"], change);
}

#[test]
fn fire_without_any_settings_names_init_to_people() {
    let project = Project::new();
    let finished = run(&project, &["fire", "BeforeTool"]);
    assert_eq!(finished.status, 0);
    assert!(finished.stderr.contains("`hook init`"), "{finished:?}");
    assert!(!finished.stdout.contains("hook init"), "{finished:?}");
    for quiet in ["--json", "--as-hook"] {
        let input = r#"{"tool_name": "t", "tool_input": {}}"#;
        let finished = run(&project, &["fire", "BeforeTool", quiet, "--input", input]);
        assert!(!finished.stderr.contains("hook init"), "{quiet}: {finished:?}");
    }
    project.write(SETTINGS, r#"{"hooks": {}}"#);
    let finished = run(&project, &["fire", "BeforeTool"]);
    assert!(!finished.stderr.contains("hook init"), "{finished:?}");
}
