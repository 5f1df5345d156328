//! `hook completions`, and what a shell is told that calls back.

use hook_tests::{Finished, Hook, Project, path_with_hook};
use serde_json::json;

/// What bash would offer for a line, by the script that is printed for it.
fn offered(project: &Project, words: &[&str]) -> Vec<String> {
    let script = r#"
        source <(hook completions bash)
        COMP_WORDS=(hook "$@"); COMP_CWORD=$#; COMP_TYPE=9
        _clap_complete_hook hook "${!#}" ""
        printf '%s\n' "${COMPREPLY[@]}""#;
    let output = project
        .command("bash")
        .args(["--norc", "-c", script, "bash"])
        .args(words)
        .env("PATH", path_with_hook())
        .output()
        .unwrap();
    let offered = String::from_utf8(output.stdout).unwrap();
    offered.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_offers_events_commands_topics_and_options() {
    let project = Project::new();
    let before = [
        "BeforeTool",
        "BeforeAgent",
        "BeforeModel",
        "BeforeToolSelection",
        "BeforeSessionSwitch",
        "BeforeSessionBranch",
        "BeforeSessionTree",
    ];
    for (words, expected) in [
        (vec!["fire", "Befo"], before.to_vec()),
        (vec!["fire", "befo"], before.to_vec()),
        (
            vec!["list", "--event", "Session"],
            vec!["SessionStart", "SessionEnd", "SessionSwitch", "SessionBranch", "SessionTree"],
        ),
        (vec!["comp"], vec!["completions"]),
        (vec!["completions", "z"], vec!["zsh"]),
        (vec!["help", "exi"], vec!["exit-codes"]),
        (vec!["man", "fi"], vec!["fire"]),
        (vec!["replay", "--event", "Befo"], before.to_vec()),
        (vec!["schema", "pa"], vec!["payloads"]),
        (vec!["schema", "Notif"], vec!["Notification"]),
        (vec!["fire", "--as"], vec!["--as-hook"]),
        (vec!["fire", "Lunch"], vec![]),
    ] {
        assert_eq!(offered(&project, &words), expected, "{words:?}");
    }
}

#[test]
fn bash_offers_the_events_that_settings_declare() {
    let project = Project::new();
    let settings = json!({"hooksConfig": {"events": {"UnitDeployed": {}}}});
    project.write("other.json", &settings.to_string());
    project.write(".hooks/settings.json", &settings.to_string());
    let declared = ["UnitDeployed"];
    for words in [vec!["fire", "Unit"], vec!["explain", "unit"], vec!["schema", "Unit"]] {
        assert_eq!(offered(&project, &words), declared, "{words:?}");
    }
    project.write(".hooks/settings.json", "nonsense");
    assert_eq!(offered(&project, &["fire", "Unit"]), [""; 0]);
    assert_eq!(offered(&project, &["fire", "--settings", "other.json", "Unit"]), declared);
}

#[test]
fn bash_offers_the_names_of_hooks() {
    let project = Project::new();
    let hook = |name: &str| json!({"type": "command", "command": "true", "name": name});
    let hooks = [hook("guard"), hook("guide"), hook("log")];
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    for command in ["enable", "disable", "trust"] {
        assert_eq!(offered(&project, &[command, "gu"]), ["guard", "guide"], "{command}");
    }
}

#[test]
fn every_shell_has_a_script_that_asks_the_command() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let finished = Hook::new(&project, &["completions", shell]).run();
        assert_eq!((finished.status, finished.stderr.as_str()), (0, ""), "{shell}");
        assert!(finished.stdout.contains("HOOK_COMPLETE"), "{shell}: {}", finished.stdout);
    }
    let unknown = Hook::new(&project, &["completions", "tcsh"]).run();
    insta::assert_snapshot!(unknown.shown(&project), @r"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, zsh, fish, elvish, powershell]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
}

#[test]
fn only_the_variable_of_the_command_asks_for_completions() {
    let project = Project::with_hook("SessionEnd", "exit 2");
    let fire = |name: &str, value: &str| -> Finished {
        let fire = ["fire", "SessionEnd", "--settings=settings.json", "--input"];
        let input = json!({"reason": "exit"}).to_string();
        Hook::new(&project, &[&fire[..], &[&input]].concat()).env(name, value).run()
    };
    assert_eq!(fire("COMPLETE", "bash").status, 2);
    assert_eq!(fire("HOOK_COMPLETE", "").status, 2);
    assert_eq!(fire("HOOK_COMPLETE", "0").status, 2);
    let unknown = fire("HOOK_COMPLETE", "tcsh");
    assert_eq!(unknown.status, 64);
    assert!(unknown.stderr.contains("unknown shell `tcsh`"), "{unknown:?}");
}

#[test]
fn a_name_that_a_shell_would_obey_is_not_offered() {
    let project = Project::new();
    let hook = |name: &str| json!({"type": "command", "command": "true", "name": name});
    let hooks = ["gu$(touch${IFS}pwn)", "gu;x", "gu'x", "gu`x`", "gu\u{1b}[2J", "guard:a/b-1"];
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": hooks.map(hook)}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    assert_eq!(offered(&project, &["disable", "gu"]), ["guard:a/b-1"]);
    assert!(!project.path().join("pwn").exists());
}
