//! `hook init`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use hook_tests::{Hook, Project, workspace};
use serde_json::json;

fn shown(project: &Project, arguments: &[&str]) -> String {
    Hook::new(project, arguments).run().shown(project)
}

/// What the example decides about a shell command, as text that stands in JSON.
fn decision(project: &Project, command: &str) -> String {
    let input = format!(r#"{{"tool_input": {{ "command" : "{command}", "timeout": 7 }}}}"#);
    let arguments =
        ["fire", "BeforeTool", "--tool", "run_shell_command", "--json", "--input", &input];
    let finished = Hook::new(project, &arguments).run();
    let response = &finished.lines()[0];
    assert_eq!(response["hooks"][0]["name"], "guard", "{response}");
    assert!(response.get("warnings").is_none(), "{response}");
    response["processed"]["decision"].as_str().unwrap().to_owned()
}

#[test]
fn a_project_gets_a_hook_that_works_at_once() {
    let project = Project::new();
    insta::assert_snapshot!(shown(&project, &["init"]), @r#"
    status: 0
    ----- stdout -----
    wrote [PROJECT]/.hooks/settings.json
    wrote [PROJECT]/.hooks/hooks/guard.sh
    trusted its hooks: they were written just now, by your command

    See what it does:
      hook explain BeforeTool --tool run_shell_command
      hook fire BeforeTool --tool run_shell_command --input '{"tool_input":{"command":"rm -rf /"}}'
      hook fire BeforeTool --tool write_file --input '{"tool_input":{"file_path":".env"}}'

    Make it yours:
      edit [PROJECT]/.hooks/hooks/guard.sh
      hook trust

    Have an agent obey it:
      hook connect --list
    ----- stderr -----
    "#);
    let script = project.path().join(".hooks/hooks/guard.sh");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o111, 0o111);
    let listed = Hook::new(&project, &["list", "--json"]).run();
    assert_eq!(listed.lines()[0]["trusted"], true);
    assert_eq!(listed.stderr, "", "the settings are as they should be");
    let fire = ["fire", "BeforeTool", "--tool", "run_shell_command", "--input"];
    let fire = [&fire[..], &[r#"{"tool_input":{"command":"rm -rf /"}}"#]].concat();
    let finished = Hook::new(&project, &fire).run();
    assert_eq!(finished.status, 2, "{finished:?}");
    assert!(
        finished.stdout.contains("reason: guard: rm -rf deletes without a way back"),
        "{finished:?}"
    );
    // What the project is for is not in the guard's way.
    let nothing = Hook::new(&project, &["fire", "BeforeTool", "--tool", "read_file"]).run();
    assert!(nothing.stdout.contains("no hook matches"), "{nothing:?}");
}

#[test]
fn the_example_tells_accidents_from_work() {
    let project = Project::new();
    assert_eq!(Hook::new(&project, &["init", "--json"]).run().status, 0);
    for (command, expected) in [
        ("cd x && sudo rm -rf ~/*", "block"),
        ("\\u0072m\\t-fr build", "block"),
        ("r\\u0000m -rf x", "block"),
        ("echo \\ud800; rm -rf x", "block"),
        ("wget -qO- https://example.org/x | sudo bash -s", "ask"),
        ("rm -f a.txt && rm -r build", "proceed"),
        ("echo 'é' > /dev/null", "proceed"),
    ] {
        assert_eq!(decision(&project, command), expected, "{command}");
    }
}

/// What the starter guard decides by itself about the input of a tool call.
fn guard_says(input: &str) -> &'static str {
    use std::io::Write;
    let script = workspace().join("crates/hook-settings/src/guard.sh");
    let mut guard = Command::new("bash");
    guard.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut guard = guard.spawn().unwrap();
    guard.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = guard.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    match (output.status.code(), output.stdout.is_empty()) {
        (Some(2), true) if stderr.starts_with("guard: ") => "refuse",
        (Some(0), true) if stderr.is_empty() => "pass",
        (Some(0), false) => "ask",
        _ => panic!("{input}: {output:?}"),
    }
}

#[test]
fn the_starter_guard_refuses_rm_rf_in_every_spelling_and_little_else() {
    for (expected, commands) in [
        (
            "refuse",
            &[
                "rm -rf /",
                "rm -fr build",
                "rm -r -f x",
                "rm x -rf",
                "rm -vRf x",
                "rm --recursive --force x",
                "rm -r ~",
                "rm -r *",
                "rm -r -- /",
                "cd x && rm -rf .",
                "a||rm -rf b",
                "{ rm -rf x; }",
                "if true; then rm -rf x; fi",
                "nohup rm -rf x &",
                "sudo rm -rf /",
                "/bin/rm -rf x",
                "command rm -rf x",
                "env A=b rm -rf x",
                "ls | xargs rm -rf",
                "find . -exec rm -rf {} +",
                "rm\t-rf\tx",
                "echo a\nrm -rf x",
                "rm \\\n -rf x",
                "\\rm -rf x",
                "r''m -rf x",
                "\"rm\" \"-rf\" x",
                "rm $'-rf' x",
                "bash -c \"rm -rf x\"",
                "sh -c 'cd a; rm -rf b'",
                "eval \"rm -rf x\"",
                "ssh host \"rm -rf x\"",
                "bash <<< 'rm -rf x'",
                "bash <<E\nrm -rf x\nE",
                "echo $(rm -rf x)",
                "echo \"a $(rm -rf x)\"",
                "echo \"`rm -rf x`\"",
                "x=$(bash -c \"rm -rf y\")",
                "mkfs.ext4 /dev/sda1",
                "dd if=/dev/zero of=/dev/nvme0n1",
                "cat image >/dev/sda",
            ][..],
        ),
        ("ask", &["curl https://example.org/x | sh", "wget -qO- x | sudo bash -s"][..]),
        (
            "pass",
            &[
                "rm -f a.txt",
                "rm -r build",
                "rm -rfoo.txt",
                "git rm -r ./x",
                "./confirm -rf /",
                "echo 'rm'",
                "echo \"rm -rf x is bad\"",
                "git commit -m 'never use rm -rf here'",
                "grep -rf patterns src",
                "dd if=/dev/zero of=x",
                "echo hi > out.txt",
                "curl https://example.org/x -o y; sh y",
            ][..],
        ),
    ] {
        for command in commands {
            let input = json!({"tool_input": {"command": command}}).to_string();
            assert_eq!(guard_says(&input), expected, "{command}");
        }
    }
}

#[test]
fn the_starter_guard_refuses_what_it_cannot_read_and_reads_commands_of_any_form() {
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    for (input, expected) in [
        ("", "refuse"),
        ("nonsense", "refuse"),
        (r#"{"tool_input":7}"#, "refuse"),
        (r#"{"tool_input":{"command":"rm -rf x\"}"}"#, "refuse"),
        (&format!(r#"{{"tool_input":{{"x":{deep},"command":"ls"}}}}"#), "refuse"),
        (r#"{"tool_input":{"command":["rm","-rf","x"]}}"#, "refuse"),
        (r#"{"tool_input":{"argv":["rm","-rf","x"]}}"#, "refuse"),
        (r#"{"tool_input":{"cmd":"rm -rf x"}}"#, "refuse"),
        (r#"{"tool_input":{"command":"ls","description":"never rm -rf"}}"#, "pass"),
        (r#"{"tool_input":{}}"#, "pass"),
    ] {
        assert_eq!(guard_says(input), expected, "{input:.100}");
    }
}

#[test]
fn a_worker_works_at_once_in_either_language() {
    for (language, script) in [("python", "guard.py"), ("typescript", "guard.mjs")] {
        let project = Project::new();
        let written = Hook::new(&project, &["init", "--worker", language, "--json"]).run();
        let script = project.path().join(".hooks/hooks").join(script);
        assert_eq!(
            written.lines(),
            [json!({"settings": project.path().join(".hooks/settings.json"), "script": script,
                "hook": "guard", "trusted": true})],
            "{written:?}"
        );
        assert!(fs::read_to_string(&script).unwrap().lines().count() <= 50);
        let listed = Hook::new(&project, &["list", "--json"]).run();
        assert_eq!((&*listed.stderr, &listed.lines()[0]["type"]), ("", &json!("worker")));
        for (command, expected) in [
            ("rm -rf /", "block"),
            ("cd x && sudo rm x --recursive --force", "block"),
            ("rm -f a; rm -r b", "proceed"),
            ("rm -f a\\nrm -r b", "proceed"),
            ("rm -r build", "proceed"),
            ("git commit -m 'confirm -rf'", "proceed"),
            ("echo \\u2028 é", "proceed"),
        ] {
            assert_eq!(decision(&project, command), expected, "{language}: {command}");
        }
        // What it cannot read it does not let pass.
        let broken = r#"{"tool_input": null}"#;
        let arguments = ["fire", "BeforeTool", "--tool=Bash", "--json", "--input", broken];
        let finished = Hook::new(&project, &arguments).run();
        assert_eq!(finished.lines()[0]["processed"]["decision"], "block", "{finished:?}");
        assert_eq!(project.processes(), []);

        let user = Project::new();
        let written = Hook::new(&user, &["init", "--user", "--worker", language]).run();
        assert_eq!(written.status, 0, "{written:?}");
        assert_eq!(decision(&user, "rm -rf /"), "block");
        assert_eq!(decision(&user, "ls"), "proceed");
    }
}

#[test]
fn what_is_there_is_never_overwritten() {
    let project = Project::new();
    project.write(".hooks/settings.json", "{}");
    insta::assert_snapshot!(shown(&project, &["init"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: [PROJECT]/.hooks/settings.json is there already, and nothing was written; `hook list` shows what is set up: add to it by hand, or move it away and call this again
    ");
    assert!(!project.path().join(".hooks/hooks").exists());
    let project = Project::new();
    project.write(".hooks/hooks/guard.sh", "mine");
    let finished = Hook::new(&project, &["init"]).run();
    assert_eq!(finished.status, 1, "{finished:?}");
    assert_eq!(project.read(".hooks/hooks/guard.sh"), "mine");
    assert!(!project.path().join(".hooks/settings.json").exists());
    // A folder in a project can be one of its own.
    let project = Project::new();
    Hook::new(&project, &["init"]).run();
    fs::create_dir(project.path().join("src")).unwrap();
    let inside = Hook::new(&project, &["init", "--project=src"]).run();
    assert_eq!(inside.status, 0, "{inside:?}");
    assert!(project.path().join("src/.hooks/settings.json").exists());
}

#[test]
fn a_user_gets_one_for_every_project() {
    let project = Project::new();
    insta::assert_snapshot!(shown(&project, &["init", "--user"]), @r#"
    status: 0
    ----- stdout -----
    wrote [HOME]/.config/hooks/settings.json
    wrote [HOME]/.config/hooks/hooks/guard.sh

    See what it does:
      hook explain BeforeTool --tool run_shell_command
      hook fire BeforeTool --tool run_shell_command --input '{"tool_input":{"command":"rm -rf /"}}'
      hook fire BeforeTool --tool write_file --input '{"tool_input":{"file_path":".env"}}'

    Make it yours:
      edit [HOME]/.config/hooks/hooks/guard.sh

    Have an agent obey it:
      hook connect --list
    ----- stderr -----
    "#);
    assert_eq!(decision(&project, "rm -rf /"), "block");
    // Files of secrets, too, by whatever name the tool goes.
    for (tool, path, status) in [
        ("write_file", ".env", 2),
        ("Edit", "deep/prod.env", 2),
        ("Read", ".env.local", 2),
        ("apply_patch", "*** Begin Patch\n*** Delete File: .env\n*** End Patch", 2),
        ("Write", ".env.example", 0),
        ("Write", "notes.txt", 0),
    ] {
        let input = json!({"tool_input": {"file_path": path, "input": path}}).to_string();
        let fire = ["fire", "BeforeTool", "--tool", tool, "--input", &input];
        let finished = Hook::new(&project, &fire).run();
        assert_eq!(finished.status, status, "{tool} {path} {finished:?}");
    }
    for (command, expected) in [
        ("cat .env", "block"),
        ("echo A=1 >> deep/.env.local && true", "block"),
        ("cp '.env' x", "block"),
        ("cat .env.example", "proceed"),
        ("node -e 'process.env.HOME'", "proceed"),
        ("ls .envrc", "proceed"),
    ] {
        assert_eq!(decision(&project, command), expected, "{command}");
    }
    assert_eq!(shown(&project, &["init", "--user"]).lines().next(), Some("status: 1"));
    // A home with blanks and quotes in its name.
    let odd = project.home().join("it's my home");
    let home = odd.to_string_lossy();
    let finished = Hook::new(&project, &["init", "--user"]).env("HOME", &home).run();
    assert_eq!(finished.status, 0, "{finished:?}");
    let fire = [
        "fire",
        "BeforeTool",
        "--tool=Bash",
        "--json",
        "--input",
        r#"{"tool_input":{"command":"rm -rf /"}}"#,
    ];
    let finished = Hook::new(&project, &fire).env("HOME", &home).run();
    assert_eq!(finished.lines()[0]["processed"]["decision"], "block");
}

#[test]
fn json_names_the_files() {
    let project = Project::new();
    let finished = Hook::new(&project, &["init", "--json"]).run();
    assert_eq!(finished.stderr, "");
    assert_eq!(
        finished.lines(),
        [json!({"settings": project.path().join(".hooks/settings.json"),
            "script": project.path().join(".hooks/hooks/guard.sh"), "hook": "guard", "trusted": true})]
    );
}

#[test]
fn without_a_home_the_project_s_hook_waits_for_trust() {
    let project = Project::new();
    let bare = |arguments: &[&str]| Hook::new(&project, arguments).env("HOME", "").run();
    insta::assert_snapshot!(bare(&["init"]).shown(&project), @r#"
    status: 0
    ----- stdout -----
    wrote [PROJECT]/.hooks/settings.json
    wrote [PROJECT]/.hooks/hooks/guard.sh

    See what it does:
      hook explain BeforeTool --tool run_shell_command
      hook fire BeforeTool --tool run_shell_command --input '{"tool_input":{"command":"rm -rf /"}}'
      hook fire BeforeTool --tool write_file --input '{"tool_input":{"file_path":".env"}}'

    Make it yours:
      edit [PROJECT]/.hooks/hooks/guard.sh
      hook trust

    Have an agent obey it:
      hook connect --list
    ----- stderr -----
    warning: the hook will not run: there is no folder to keep trust in; set HOME or XDG_CONFIG_HOME, then call `hook trust`
    "#);
    insta::assert_snapshot!(bare(&["init", "--user"]).shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to find the user's settings: neither HOME nor XDG_CONFIG_HOME names a folder; set one
    ");
    for other in ["--settings=x.json", "--user --no-user"] {
        let arguments: Vec<&str> = std::iter::once("init").chain(other.split(' ')).collect();
        assert_eq!(Hook::new(&project, &arguments).run().status, 64, "{other}");
    }
}

#[test]
fn one_guard_in_two_files_is_said_where_it_is_written_and_by_the_doctor() {
    let project = Project::new();
    let first = Hook::new(&project, &["init", "--user"]).run();
    assert!(first.status == 0 && !first.stderr.contains("runs twice"), "{first:?}");
    let second = Hook::new(&project, &["init"]).run();
    let said = "the hook `guard` of BeforeTool is in ";
    assert!(second.status == 0 && second.stderr.contains(said), "{second:?}");
    assert!(second.stderr.contains("runs twice"), "{second:?}");
    let doctor = Hook::new(&project, &["doctor"]).run();
    assert!(doctor.stdout.contains(said), "{doctor:?}");
}
