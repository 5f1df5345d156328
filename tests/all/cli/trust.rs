//! `hook trust`.

use std::fs;

use hook_tests::{Finished, Hook, Project, hook_binary};
use serde_json::{Value, json};

const SETTINGS: &str = ".hooks/settings.json";

/// A project with a guard that runs a script, and with two more hooks.
fn project() -> Project {
    let project = Project::new();
    project.write(
        SETTINGS,
        r#"{"hooks": {
  "BeforeTool": [
    {"matcher": "shell", "hooks": [
      {"type": "command", "name": "guard", "command": "bash guard.sh --first", "description": "says no"},
      {"type": "command", "name": "script", "command": "./guard.sh --strict", "env": {"MODE": "strict"}}]}],
  "SessionEnd": [{"hooks": [{"type": "command", "command": "echo ran"}]}]
}}"#,
    );
    let script = project.write("guard.sh", "#!/bin/sh\n# Says no.\necho no >&2\nexit 2\n");
    make_executable(&script);
    project
}

fn make_executable(script: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

fn shown(project: &Project, arguments: &[&str]) -> String {
    run(project, arguments).shown(project)
}

/// The names of the hooks that a shell call runs.
fn hooks_of_a_shell_call(project: &Project) -> Vec<String> {
    let finished = run(project, &["fire", "BeforeTool", "--tool=shell", "--json"]);
    let names = finished.lines()[0]["hooks"].as_array().unwrap().clone();
    names.iter().map(|hook| hook["name"].as_str().unwrap().to_owned()).collect()
}

/// Runs the command on a terminal, where somebody gives one answer to each question: two characters
/// each. What they saw.
fn on_a_terminal(project: &Project, arguments: &[&str], answers: &str) -> String {
    const TYPIST: &str = r"
import os, pty, sys
answers, command = sys.argv[1].encode(), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)
seen, answered = b'', 0
while True:
    try:
        read = os.read(terminal, 65536)
    except OSError:
        break  # The command has left the terminal.
    if not read:
        break
    seen += read
    while seen.count(b'[q]uit: ') + seen.count(b'[N]o: ') > answered:
        os.write(terminal, answers[2 * answered:][:2])
        answered += 1
status = os.waitpid(child, 0)[1]
sys.stdout.buffer.write(seen.replace(b'\r\n', b'\n'))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status))
";
    let finished = project
        .command("python3")
        .args(["-c", TYPIST, answers])
        .arg(hook_binary())
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let status = finished.status.code().unwrap();
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    Finished { status, stdout: text, stderr: String::new() }.shown(project)
}

#[test]
fn what_would_run_is_shown_and_nothing_runs() {
    let project = project();
    insta::assert_snapshot!(shown(&project, &["trust"]), @r"
    status: 1
    ----- stdout -----
    ! BeforeTool guard: not trusted
      defined in   [PROJECT]/.hooks/settings.json:4:7
      description  says no
      matcher      shell
      command      bash guard.sh --first
      file         guard.sh (40 bytes, executable)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it does not run until you agree
        │ #!/bin/sh
        │ # Says no.
        │ echo no >&2
        │ exit 2

    ! BeforeTool script: not trusted
      defined in   [PROJECT]/.hooks/settings.json:5:7
      matcher      shell
      command      ./guard.sh --strict
      env          MODE=strict
      file         guard.sh (40 bytes, executable)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it does not run until you agree
        guard.sh: shown above

    ! SessionEnd echo ran: not trusted
      defined in   [PROJECT]/.hooks/settings.json:6:29
      matcher      everything
      command      echo ran
      files        none of the project, so nothing is copied

    ----- stderr -----
    error: 3 hooks are not trusted and will not run: there is no terminal to ask on; run `hook trust` in one; `--yes` agrees to what is shown
    ");
    assert!(!project.path().join("ran").exists());
    assert!(!project.home().join(".config/hooks/trust.json").exists());
}

#[test]
fn trusted_hooks_run_until_they_change_or_trust_is_taken_back() {
    let project = project();
    assert!(hooks_of_a_shell_call(&project).is_empty());
    insta::assert_snapshot!(shown(&project, &["trust", "script", "--yes"]), @r"
    status: 0
    ----- stdout -----
    ! BeforeTool script: not trusted
      defined in   [PROJECT]/.hooks/settings.json:5:7
      matcher      shell
      command      ./guard.sh --strict
      env          MODE=strict
      file         guard.sh (40 bytes, executable)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it does not run until you agree
        │ #!/bin/sh
        │ # Says no.
        │ echo no >&2
        │ exit 2

    trusted script
    guard.sh was copied to [HOME]/.local/share/hook/trusted; the decision is yours, for this folder: others and clones decide for themselves
    ----- stderr -----
    ");
    assert_eq!(hooks_of_a_shell_call(&project), ["script"]);
    insta::assert_snapshot!(shown(&project, &["trust", "script"]), @r"
    status: 0
    ----- stdout -----
    the hook is trusted already
    ----- stderr -----
    ");

    project.write("guard.sh", "#!/bin/sh\n# Says yes.\necho no >&2\nexit 0\n");
    let settings = project.read(SETTINGS);
    project.write(SETTINGS, &settings.replace(" --strict", "").replace("\"strict\"", "\"lax\""));
    assert!(hooks_of_a_shell_call(&project).is_empty());
    insta::assert_snapshot!(shown(&project, &["trust", "script"]), @r"
    status: 1
    ----- stdout -----
    ! BeforeTool script: changed since it was trusted at [INSTANT]
      defined in   [PROJECT]/.hooks/settings.json:5:7
      matcher      shell
      command      ./guard.sh
      env          MODE=lax
      file         guard.sh (41 bytes, executable)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it does not run until you agree
      changed      command
        - ./guard.sh --strict
        + ./guard.sh
      changed      env.MODE
        - strict
        + lax
      changed      guard.sh
        @@ -1,4 +1,4 @@
         #!/bin/sh
        -# Says no.
        +# Says yes.
         echo no >&2
        -exit 2
        +exit 0

    ----- stderr -----
    error: 1 hook is not trusted and will not run: there is no terminal to ask on; run `hook trust` in one; `--yes` agrees to what is shown
    ");
    insta::assert_snapshot!(shown(&project, &["trust", "--list"]), @r"
    status: 0
    ----- stdout -----
    ✗ BeforeTool script  trusted at [INSTANT], it changed since, so it does not run; `hook trust` shows the difference, digest 53c75c3e22812bd4
        ./guard.sh --strict
    ----- stderr -----
    ");
    assert_eq!(run(&project, &["trust", "script", "--yes"]).status, 0);
    assert_eq!(hooks_of_a_shell_call(&project), ["script"]);

    insta::assert_snapshot!(shown(&project, &["trust", "--revoke", "script"]), @r"
    status: 0
    ----- stdout -----
    revoked BeforeTool script (2 decisions): it does not run until it is trusted again
    ----- stderr -----
    ");
    assert!(hooks_of_a_shell_call(&project).is_empty());
    insta::assert_snapshot!(shown(&project, &["trust", "--revoke"]), @r"
    status: 0
    ----- stdout -----
    nothing was trusted in this project
    ----- stderr -----
    ");
    insta::assert_snapshot!(shown(&project, &["trust", "--list"]), @r"
    status: 0
    ----- stdout -----
    nothing is trusted in this project
    ----- stderr -----
    ");
}

#[test]
fn on_a_terminal_each_hook_is_asked_about() {
    let project = project();
    let seen = on_a_terminal(&project, &["trust"], "n\ny\nn\n");
    assert!(
        seen.contains("Trust this hook? [y]es, [N]o, [a]ll, [s]how all of its files, [q]uit: n\n"),
        "{seen}"
    );
    assert!(
        seen.starts_with("status: 1\n")
            && seen.contains("trusted script; 2 hooks are not trusted and will not run\n"),
        "{seen}"
    );
    assert_eq!(hooks_of_a_shell_call(&project), ["script"]);
}

#[test]
fn all_are_trusted_only_after_all_were_shown() {
    let project = project();
    let seen = on_a_terminal(&project, &["trust"], "a\ny\n");
    let places: Vec<_> = [
        "BeforeTool guard",
        "BeforeTool script",
        "SessionEnd echo ran",
        "Trust all of these 3 hooks?",
    ]
    .map(|text| seen.find(text))
    .to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{seen}");
    assert!(seen.starts_with("status: 0\n"), "{seen}");
    assert_eq!(hooks_of_a_shell_call(&project), ["guard", "script"]);
    run(&project, &["trust", "--revoke", "--yes"]);
    // Who does not agree after all is asked again, and may leave.
    let seen = on_a_terminal(&project, &["trust"], "a\nn\nq\n");
    assert!(seen.starts_with("status: 1\n"), "{seen}");
    assert!(seen.contains("trusted nothing; 3 hooks are not trusted"), "{seen}");
    assert!(hooks_of_a_shell_call(&project).is_empty());
}

#[test]
fn no_answer_trusts_nothing() {
    let project = project();
    // Return alone, and the end of the input.
    let seen = on_a_terminal(&project, &["trust", "guard"], "\n\n");
    assert!(seen.contains("trusted nothing; 1 hook is not trusted and will not run"), "{seen}");
    let seen = on_a_terminal(&project, &["trust", "guard"], "\u{4}");
    assert!(seen.contains("trusted nothing; 1 hook is not trusted and will not run"), "{seen}");
    // The answers of a pipe are nobody's.
    let finished = Hook::new(&project, &["trust"]).stdin("y\ny\ny\n").run();
    assert_eq!(finished.status, 1, "{finished:?}");
    assert!(hooks_of_a_shell_call(&project).is_empty());
}

#[test]
fn a_whole_script_is_shown_when_asked_for() {
    let project = project();
    let lines: String = (0..50).map(|number| format!("echo {number}\n")).collect();
    project.write("guard.sh", &lines);
    let short = run(&project, &["trust", "script"]).stdout;
    assert!(short.contains("echo 19\n    … 30 more lines, with --show\n"), "{short}");
    let whole = run(&project, &["trust", "script", "--show"]).stdout;
    assert!(whole.contains("echo 49\n") && !whole.contains("more lines"), "{whole}");
    let seen = on_a_terminal(&project, &["trust", "script"], "s\nn\n");
    assert!(seen.contains("echo 49\n"), "{seen}");
}

#[test]
fn what_a_reviewer_would_not_see_is_shown() {
    let project = Project::new();
    let settings = json!({"hooks": {"SessionEnd": [{"hooks": [{"type": "command",
        "name": "lint\n  script     none", "command": "./a.sh # \u{202e}dne\u{202c}\n  matcher    x\u{200b}\u{1b}[2K",
        "env": {"PATH": "/x\ny"}}]}]}});
    project.write(SETTINGS, &settings.to_string());
    project.write("a.sh", "true\rfalse\r\n\u{1b}]0;title\u{7}\nrm x\u{2066}y\u{e0041}\n");
    insta::assert_snapshot!(shown(&project, &["trust"]), @r"
    status: 1
    ----- stdout -----
    ! SessionEnd lint\n  script     none: not trusted
      defined in   [PROJECT]/.hooks/settings.json:1:35
      matcher      everything
      command      ./a.sh # \u{202e}dne\u{202c}
                   │   matcher    x\u{200b}\u{1b}[2K
      env          PATH=/x
                   │ y
      file         a.sh (36 bytes)
      runs         in place: if its files or settings change, it does not run until you agree; not all that it starts is known
      opaque       one of its words is known only as it runs, as with `$(…)` or a variable of the shell
      opaque       what $PATH is decides what is run or loaded
      opaque       what `matcher` starts or reads is not covered, and may change without your being asked
        │ true\u{d}false
        │ \u{1b}]0;title\u{7}
        │ rm x\u{2066}y\u{e0041}

    ----- stderr -----
    [PROJECT]/.hooks/settings.json:1:153: warning: hooks.SessionEnd[0].hooks[0].env.PATH: hooks of a project start without `PATH`, which says what programs load; it was ignored
    error: 1 hook is not trusted and will not run: there is no terminal to ask on; run `hook trust` in one; `--yes --opaque` agrees to what is shown, although not all that it starts is known
    ");
}

#[test]
fn what_is_no_text_is_said() {
    let project = project();
    fs::write(project.path().join("guard.sh"), b"\x7fELF\0\xff").unwrap();
    let seen = run(&project, &["trust", "script"]).stdout;
    assert!(seen.contains("file         guard.sh (6 bytes, not a text, executable)\n"), "{seen}");
    fs::remove_file(project.path().join("guard.sh")).unwrap();
    let seen = run(&project, &["trust", "script"]).stdout;
    let gone = "file         guard.sh (does not exist; you are asked again when it does)\n";
    assert!(seen.contains(gone), "{seen}");
}

#[test]
fn a_script_that_an_interpreter_is_given_is_covered() {
    let project = Project::new();
    let settings = json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "python3 -u hooks/x.py"},
        {"type": "command", "command": "python3 \"$HOOK_PROJECT_DIR\"/hooks/x.py"}]}]}});
    project.write(SETTINGS, &settings.to_string());
    project.write("hooks/x.py", "print()\n");
    insta::assert_snapshot!(run(&project, &["trust"]).stdout.replace(&*project.path().to_string_lossy(), "[PROJECT]"), @r#"
    ! SessionEnd python3 -u hooks/x.py: not trusted
      defined in   [PROJECT]/.hooks/settings.json:1:35
      matcher      everything
      command      python3 -u hooks/x.py
      folder       hooks (1 file), all of it
      file         hooks/x.py (8 bytes)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it does not run until you agree
        │ print()

    ! SessionEnd python3 "$HOOK_PROJECT_DIR"/hooks/x.py: not trusted
      defined in   [PROJECT]/.hooks/settings.json:1:88
      matcher      everything
      command      python3 "$HOOK_PROJECT_DIR"/hooks/x.py
      folder       hooks (1 file), all of it
      file         hooks/x.py (8 bytes)
      runs         from a copy: if the files here change or are gone, the copy goes on and you are told; if its settings change, it does not run until you agree
        hooks/x.py: shown above
    "#);
}

#[test]
fn from_another_directory_a_relative_script_is_the_trusted_one() {
    let project = project();
    assert_eq!(run(&project, &["trust", "script", "--yes"]).status, 0);
    project.write("sub/guard.sh", "#!/bin/sh\nexit 0\n");
    let there = project.path().join("sub").display().to_string();
    let input = json!({"tool_name": "shell", "tool_input": {}, "cwd": there}).to_string();
    let finished = run(&project, &["fire", "BeforeTool", "--json", "--input", &input]);
    assert_eq!(finished.lines()[0]["processed"]["reason"], "no", "{finished:?}");
}

#[test]
fn json_has_everything_that_people_see() {
    let project = project();
    let finished = run(&project, &["trust", "--json"]);
    assert_eq!(finished.status, 1);
    assert!(finished.stderr.starts_with("error: 3 hooks are not trusted"), "{finished:?}");
    let lines = finished.lines();
    assert_eq!(lines.len(), 3);
    let mut script = lines[1].clone();
    assert_eq!(script["fingerprint"].as_str().unwrap().len(), 64);
    script["fingerprint"].take();
    assert_eq!(
        script,
        json!({"event": "BeforeTool", "name": "script", "command": "./guard.sh --strict", "matcher": "shell",
            "env": {"MODE": "strict"}, "file": project.path().join(SETTINGS), "line": 5, "column": 7,
            "terms": {}, "files": [{"path": "guard.sh", "executable": true, "size": 40,
                "sha256": "73e99590fbc49dc1d47a819fddbb4579bb5448fc7e39e2f808081967a55de3f8", "content": "#!/bin/sh\n# Says no.\necho no >&2\nexit 2\n"}],
            "folders": ["guard.sh"], "digest": "53c75c3e22812bd45611fc9d0424db1cd94277e6bbf7191d9d4bae509f10cad1",
            "data": [], "notCovered": [], "opaque": [], "opens": [], "strict": false, "standing": "new", "changes": [], "fingerprint": null, "granted": false})
    );
    assert_eq!(lines[0]["files"][0]["path"], "guard.sh");
    assert_eq!(lines[0]["description"], "says no");

    let finished = run(&project, &["trust", "--json", "--yes"]);
    assert_eq!(finished.status, 0);
    assert!(finished.lines().iter().all(|line| line["granted"] == true), "{finished:?}");
    let again = run(&project, &["trust", "--json"]);
    assert_eq!(again.status, 0);
    assert!(
        again.lines().iter().all(|line| line["standing"] == "trusted" && line["granted"] == false)
    );

    project.write("guard.sh", "exit 0\n");
    let changed = run(&project, &["trust", "--json"]).lines()[1].clone();
    assert_eq!(changed["standing"], "changed");
    assert!(changed["trustedAt"].as_str().unwrap().ends_with('Z'));
    let changes = changed["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0]["field"], "content");
    assert_eq!(changes[0]["after"], "exit 0\n");

    let listed = run(&project, &["trust", "--list", "--json"]).lines();
    let fits: Vec<(&Value, &Value)> =
        listed.iter().map(|line| (&line["name"], &line["fits"])).collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(fits, [(&json!("guard"), &no), (&json!("script"), &no), (&json!("echo ran"), &yes)]);
    let revoked = run(&project, &["trust", "--revoke", "--yes", "--json"]).lines();
    assert_eq!(revoked.len(), 3);
    assert!(revoked.iter().all(|line| line["revoked"] == true));
}

#[test]
fn what_cannot_be_done_is_said_with_a_way_out() {
    let project = project();
    insta::assert_snapshot!(shown(&project, &["trust", "scirpt"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: no hook is named `scirpt`; did you mean `script`?
      there are:
        echo ran
        guard
        script
    ");
    insta::assert_snapshot!(shown(&project, &["trust", "--revoke", "scirpt"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: nothing is trusted under the name `scirpt`, nor under any other in this project
    ");
    insta::assert_snapshot!(shown(&project, &["trust", "--settings=.hooks/settings.json"]), @r"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: --settings has no meaning here: naming a file trusts its hooks; trust is about the project's
    ");
    insta::assert_snapshot!(shown(&Project::new(), &["trust"]), @r"
    status: 0
    ----- stdout -----
    the project has no hooks that need trust; `hook init` writes rules, which need none
    ----- stderr -----
    ");
    let bare = Hook::new(&project, &["trust"]).env("HOME", "").run();
    insta::assert_snapshot!(bare.shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to find the user's settings: neither HOME nor XDG_CONFIG_HOME names a folder; set one
    ");
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("trust.json"), r#"{"version": 2}"#).unwrap();
    insta::assert_snapshot!(shown(&project, &["trust", "--yes"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: the trust store [HOME]/.config/hooks/trust.json has version 2, which this version of the engine does not know; use the later one, or another store
    ");
    fs::write(folder.join("trust.json"), "{").unwrap();
    insta::assert_snapshot!(shown(&project, &["trust", "--list"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: the trust store [HOME]/.config/hooks/trust.json is damaged (EOF while parsing an object at line 1 column 1): no hook of a project is trusted; `hook trust` trusts them again, and then sets the damaged store aside as [HOME]/.config/hooks/trust.damaged-1.json
    ");
    // Whoever only asks changes nothing.
    assert_eq!(fs::read_to_string(folder.join("trust.json")).unwrap(), "{");
    let anew = run(&project, &["trust", "--yes"]);
    assert_eq!(anew.status, 0, "{anew:?}");
    assert!(anew.stderr.starts_with("warning: the trust store"), "{anew:?}");
    assert_eq!(fs::read_to_string(folder.join("trust.damaged-1.json")).unwrap(), "{");
    for arguments in [
        ["trust", "--list", "--yes"],
        ["trust", "--list", "--revoke"],
        ["trust", "--revoke", "--show"],
    ] {
        assert_eq!(run(&project, &arguments).status, 64, "{arguments:?}");
    }
}

/// A project with two trusted guards.
fn two_guards() -> Project {
    let project = Project::new();
    let guard = |name: &str| {
        json!({"type": "command", "name": name, "failBehavior": "block",
        "command": format!(".hooks/{name}.sh")})
    };
    let settings =
        json!({"hooks": {"BeforeTool": [{"hooks": [guard("paths"), guard("no push")]}]}});
    project.write(SETTINGS, &settings.to_string());
    for name in ["paths", "no push"] {
        make_executable(&project.write(&format!(".hooks/{name}.sh"), "#!/bin/sh\nexit 0\n"));
    }
    let quoted = project.read(SETTINGS).replace(".hooks/no push.sh", "'.hooks/no push.sh'");
    project.write(SETTINGS, &quoted);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    project
}

/// The names of the hooks that are trusted.
fn trusted(project: &Project) -> Vec<String> {
    let lines = run(project, &["trust", "--list", "--json"]).lines();
    lines.iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn fault_108_trust_is_taken_back_only_in_hooks_that_are_named_or_agreed_to() {
    let project = two_guards();
    let bare = run(&project, &["trust", "--revoke"]);
    assert!(bare.status == 1 && bare.stderr.contains("BeforeTool paths"), "{bare:?}");
    assert_eq!(trusted(&project), ["paths", "no push"]);
    let asked = on_a_terminal(&project, &["trust", "--revoke"], "y\nn\n");
    assert!(asked.contains("Take back the trust in BeforeTool no push"), "{asked}");
    assert_eq!(trusted(&project), ["paths"]);
    let all = run(&project, &["trust", "--revoke", "--yes"]);
    assert!(all.status == 0 && all.stdout.contains("and checks nothing"), "{all:?}");
    assert_eq!(trusted(&project), Vec::<String>::new());
}

/// Two trusted guards, of which one is taken out of the settings.
fn with_removed_guard(stays: &str) -> Project {
    let project = two_guards();
    let mut settings: Value = serde_json::from_str(&project.read(SETTINGS)).unwrap();
    let hooks = settings["hooks"]["BeforeTool"][0]["hooks"].as_array_mut().unwrap();
    hooks.retain(|hook| hook["name"] == stays);
    project.write(SETTINGS, &settings.to_string());
    project
}

#[test]
fn fault_108_the_command_that_a_missing_guard_is_reported_with_ends_the_trust_in_it_alone() {
    for stays in ["paths", "no push"] {
        let project = with_removed_guard(stays);
        let fired = run(&project, &["fire", "BeforeTool"]);
        let (_, command) = fired.stderr.split_once("with `hook ").expect("how to end it");
        let (command, _) = command.split_once('`').unwrap();
        let as_is = |more: &str| {
            let mut shell = project.command("sh");
            shell.args(["-c", &format!("\"$0\" {command}{more}")]).arg(hook_binary());
            shell.current_dir(project.home()).output().unwrap()
        };
        let asked = as_is("");
        assert!(!asked.status.success(), "{command}: {asked:?}");
        assert_eq!(trusted(&project).len(), 2);
        let done = as_is(" --yes");
        assert!(done.status.success(), "{command}: {done:?}");
        assert_eq!(trusted(&project), [stays]);
    }
}

#[test]
fn fault_110_the_removal_of_a_trusted_guard_is_shown_and_takes_effect_when_it_is_agreed_to() {
    let project = with_removed_guard("no push");
    let shown = run(&project, &["trust"]);
    assert_eq!(shown.status, 1, "{shown:?}");
    assert!(shown.stdout.contains("BeforeTool paths: trusted, and gone from the settings"));
    assert!(shown.stderr.contains("1 trusted guard is gone from the settings"), "{shown:?}");
    let listed = run(&project, &["trust", "--json"]);
    let gone = listed.lines().pop().unwrap();
    assert_eq!((&gone["name"], &gone["gone"]), (&json!("paths"), &json!(true)), "{gone}");
    assert_eq!((listed.status, &gone["agreed"]), (1, &json!(false)));

    // A no changes nothing, and neither does a question about another hook.
    let seen = on_a_terminal(&project, &["trust"], "n\n");
    assert!(seen.contains("that you trusted is gone from the settings: agree"), "{seen}");
    assert!(seen.starts_with("status: 1\n"), "{seen}");
    assert_eq!(run(&project, &["trust", "no push", "--yes"]).status, 0);
    assert_eq!(trusted(&project), ["paths", "no push"]);
    // Settings with a mistake may hide the guard: that is no removal.
    let settings = project.read(SETTINGS);
    project.write(SETTINGS, "{");
    assert!(!run(&project, &["trust", "--yes"]).stdout.contains("gone from the settings"));
    assert_eq!(trusted(&project), ["paths", "no push"]);
    project.write(SETTINGS, &settings);

    let seen = on_a_terminal(&project, &["trust"], "y\n");
    assert!(seen.contains("agreed to the removal of BeforeTool paths"), "{seen}");
    assert!(seen.starts_with("status: 0\n"), "{seen}");
    assert_eq!(trusted(&project), ["no push"]);
    let fired = run(&project, &["fire", "BeforeTool"]);
    assert!(!fired.stderr.contains("is not in the settings"), "{fired:?}");
    assert!(run(&project, &["trust"]).stdout.contains("trusted already"));
}

#[test]
fn fault_110_guards_of_settings_that_are_gone_are_asked_about_from_below() {
    let project = two_guards();
    std::fs::remove_dir_all(project.path().join(".hooks")).unwrap();
    project.write("below/.hooks/settings.json", "{}");
    let agreed = Hook::new(&project, &["trust", "--yes"]).directory("below").run();
    assert!(agreed.status == 0 && agreed.stdout.matches("agreed to").count() == 2, "{agreed:?}");
    assert_eq!(trusted(&project), Vec::<String>::new());
}

#[test]
fn a_hook_without_a_name_is_meant_by_the_file_in_its_command() {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "sh .hooks/one.sh --a"},
        {"type": "command", "command": "sh '.hooks/two.sh'"}]}]}});
    project.write(SETTINGS, &settings.to_string());
    for name in ["one", "two"] {
        project.write(&format!(".hooks/{name}.sh"), "exit 0\n");
    }
    assert_eq!(run(&project, &["trust", "two.sh", "--yes"]).status, 0);
    assert_eq!(trusted(&project), ["sh '.hooks/two.sh'"]);
    assert_eq!(run(&project, &["trust", "three.sh", "--yes"]).status, 1);
}

#[test]
fn what_a_script_imports_is_shown_and_one_file_of_several_hooks_once() {
    let project = two_guards();
    project.write(".hooks/paths.sh", "#!/bin/sh\n. .hooks/policy.sh\n");
    project.write(".hooks/policy.sh", "THE_RULE=1\n");
    project.write(".hooks/other.txt", "NOT NAMED\n");
    let added = run(&project, &["trust"]).stdout;
    assert_eq!(added.matches("THE_RULE").count(), 1, "{added}");
    assert_eq!(added.matches("+. .hooks/policy.sh").count(), 1, "{added}");
    assert!(added.contains("added        .hooks/policy.sh"), "{added}");
    assert_eq!(run(&project, &["trust", "--revoke", "--yes"]).status, 0);
    let new = run(&project, &["trust"]).stdout;
    assert_eq!(new.matches("THE_RULE").count(), 1, "{new}");
    assert!(!new.contains("NOT NAMED"), "{new}");
}

#[test]
fn fault_109_a_guard_that_is_trusted_becomes_strict_when_that_is_asked_for_and_stays_it() {
    let project = two_guards();
    let asked = run(&project, &["trust", "--strict"]);
    assert!(asked.status == 1 && asked.stdout.contains("asked whether to block then"), "{asked:?}");
    let strict = run(&project, &["trust", "--strict", "--yes"]);
    assert!(strict.status == 0 && strict.stdout.contains("(--strict)"), "{strict:?}");
    assert!(run(&project, &["trust"]).stdout.contains("trusted already"));
    project.write(".hooks/lib.sh", "more");
    let fired = run(&project, &["fire", "BeforeTool"]);
    assert!(fired.status == 2 && fired.stdout.contains(".hooks/lib.sh is new"), "{fired:?}");
    let listed = run(&project, &["trust", "--list"]);
    assert!(
        listed.stdout.contains("so it blocks") && listed.stdout.contains(", strict"),
        "{listed:?}"
    );
    // Agreeing to the change does not loosen it.
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    project.write(".hooks/lib.sh", "still more");
    assert_eq!(run(&project, &["fire", "BeforeTool"]).status, 2);
}

#[test]
fn hooks_in_a_file_of_an_agent_are_pointed_to_with_the_command_that_reviews_them() {
    let project = Project::new();
    project.write(
        ".claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo ran"}]}]}}"#,
    );
    let bare = run(&project, &["trust"]);
    assert!(bare.stdout.contains("the project has no hooks"), "{bare:?}");
    assert!(
        bare.stdout.contains("has 1 hook of Claude Code: `hook trust --agent claude`"),
        "{bare:?}"
    );
    let fired = run(&project, &["fire", "BeforeTool", "--agent", "claude"]);
    assert_eq!(fired.stderr.matches("`hook trust --agent claude`").count(), 1, "{fired:?}");
    assert!(fired.stdout.contains("`hook trust --agent claude`"), "{fired:?}");
}

#[test]
fn decisions_of_several_at_once_are_all_kept() {
    let home = Project::new();
    let projects: Vec<Project> = (0..8).map(|_| project()).collect();
    hook_binary();
    let folder = home.home();
    let folder = folder.to_string_lossy();
    std::thread::scope(|scope| {
        for project in &projects {
            let folder = &folder;
            scope.spawn(move || {
                let finished = Hook::new(project, &["trust", "--yes"]).env("HOME", folder).run();
                assert_eq!(finished.status, 0, "{finished:?}");
            });
        }
    });
    for project in &projects {
        let listed = Hook::new(project, &["trust", "--list", "--json"]).env("HOME", &folder).run();
        assert_eq!(listed.lines().len(), 3);
    }
}

#[test]
fn a_hook_whose_files_are_not_all_known_takes_a_yes_of_its_own() {
    let opaque = || {
        let project = project();
        let settings = project.read(SETTINGS);
        project.write(SETTINGS, &settings.replace("bash guard.sh --first", "bash $(cat which)"));
        project
    };
    let project = opaque();
    let finished = run(&project, &["trust", "--yes"]);
    assert_eq!(finished.status, 1, "{finished:?}");
    let reason = "  opaque       one of its words is known only as it runs, as with `$(…)` or a variable of the shell\n";
    assert!(finished.stdout.contains(reason), "{finished:?}");
    assert!(
        finished
            .stdout
            .contains("trusted script, echo ran; 1 hook is not trusted and will not run"),
        "{finished:?}"
    );
    assert!(finished.stderr.contains("--opaque agrees to that"), "{finished:?}");
    assert_eq!(hooks_of_a_shell_call(&project), ["script"]);
    let listed = run(&project, &["trust", "--json", "--yes"]);
    assert_eq!(listed.status, 1);
    assert_eq!(listed.lines()[0]["granted"], false);
    assert_eq!(
        listed.lines()[0]["opaque"],
        json!([
            "one of its words is known only as it runs, as with `$(…)` or a variable of the shell",
            "`bash` is not started as `bash SCRIPT` with a script of the project, so what it runs is not covered"
        ])
    );
    assert_eq!(run(&project, &["trust", "--opaque"]).status, 64);
    assert_eq!(run(&project, &["trust", "--yes", "--opaque"]).status, 0);
    assert_eq!(hooks_of_a_shell_call(&project), ["guard", "script"]);

    // Yes to the hook, and no to what is not known of it; then yes to both.
    let project = opaque();
    let seen = on_a_terminal(&project, &["trust", "guard"], "y\nn\n");
    assert!(seen.contains("Trust it all the same? [y]es, [N]o: "), "{seen}");
    assert!(seen.contains("trusted nothing; 1 hook is not trusted and will not run"), "{seen}");
    assert!(hooks_of_a_shell_call(&project).is_empty());
    let seen = on_a_terminal(&project, &["trust"], "a\ny\ny\n");
    assert!(seen.starts_with("status: 0\n"), "{seen}");
    assert_eq!(hooks_of_a_shell_call(&project), ["guard", "script"]);
}

#[test]
fn a_lock_fails_a_build_with_hooks_that_nobody_reviewed_and_trusts_nothing() {
    const LOCK: &str = ".hooks/trust.lock";
    let project = project();
    // Whoever takes all hooks away takes the lock along.
    let empty = run(&Project::new(), &["trust", "--check"]);
    assert_eq!(empty.status, 1);
    assert!(empty.stderr.contains("there is no lock and no hook to compare"), "{empty:?}");
    let none = run(&project, &["trust", "--check"]);
    assert_eq!(none.status, 1);
    assert!(none.stderr.contains("there is no lock"), "{none:?}");
    let early = run(&project, &["trust", "--lock"]);
    assert_eq!(early.status, 1);
    assert!(
        early.stderr.contains("not all hooks are trusted (guard, script, echo ran)"),
        "{early:?}"
    );
    assert!(project.read(LOCK).is_empty());
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let written = run(&project, &["trust", "--lock"]);
    assert_eq!(written.status, 0, "{written:?}");
    let lock = project.read(LOCK);
    for of_the_machine in [project.path(), project.home()] {
        assert!(!lock.contains(&*of_the_machine.to_string_lossy()), "{lock}");
    }
    let left: Vec<_> = fs::read_dir(project.path().join(".hooks")).unwrap().collect();
    assert_eq!(left.len(), 2, "the settings and the lock: {left:?}");

    // Another clone, without a store and without a home.
    let clone = self::project();
    clone.write(LOCK, &lock);
    let check = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["trust", "--check"].iter().chain(arguments).copied().collect();
        Hook::new(&clone, &arguments).env("HOME", "").run()
    };
    let same = check(&[]);
    assert_eq!((same.status, &*same.stdout), (0, "all 3 hooks are as the lock says\n"), "{same:?}");
    assert!(hooks_of_a_shell_call(&clone).is_empty(), "a lock trusts nothing");

    let settings = clone.read(SETTINGS);
    clone.write("guard.sh", "#!/bin/sh\nexit 0\n");
    let changed = check(&[]);
    assert_eq!(changed.status, 1);
    assert!(
        changed.stdout.contains("BeforeTool script: changed since the lock was written"),
        "{changed:?}"
    );
    assert!(changed.stdout.contains("changed      files\n    - 53c75c3e"), "{changed:?}");
    assert!(changed.stderr.contains("2 hooks are not as the lock says"), "{changed:?}");
    clone.write("guard.sh", "#!/bin/sh\n# Says no.\necho no >&2\nexit 2\n");
    for (from, to, expected) in [
        ("\"strict\"", "\"lax\"", "changed      env.MODE"),
        ("echo ran", "echo more", "SessionEnd echo more: not in the lock"),
        ("echo ran", "echo more", "- SessionEnd echo ran: in the lock, but not in the settings"),
        ("\"name\": \"guard\"", "\"timeout\": 1, \"name\": \"guard\"", "changed      timeout"),
    ] {
        clone.write(SETTINGS, &settings.replace(from, to));
        let changed = check(&[]);
        assert_eq!(changed.status, 1, "{to}");
        assert!(changed.stdout.contains(expected), "{to}: {changed:?}");
        let json = check(&["--json"]);
        assert_eq!(json.status, 1);
        assert!(json.lines().iter().any(|it| it["standing"] != "trusted"), "{json:?}");
    }
    clone.write(SETTINGS, &settings);
    assert_eq!(check(&[]).status, 0);
    clone.write(LOCK, "{");
    assert!(check(&[]).stderr.contains("is damaged"));
}
