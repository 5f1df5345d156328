//! What trust leaves out of a folder, where programs look for what they load, and what hooks write into their
//! copies.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use hook_tests::{Finished, Hook, Project};
use serde_json::json;

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

fn fire(project: &Project) -> Finished {
    run(project, &["fire", "BeforeTool", "--tool=run_shell_command"])
}

/// A project with a guard of ours.
fn ours(command: &str) -> Project {
    let project = Project::new();
    guarded(&project, command);
    project
}

/// Gives a project a guard of ours.
fn guarded<'p>(project: &'p Project, command: &str) -> &'p Project {
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
        "command": command, "failBehavior": "block"}]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    project
}

/// A project with a guard of Claude Code.
fn foreign(command: &str) -> Project {
    let project = Project::new();
    let user = project.home().join(".config/hooks/settings.json");
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    fs::write(user, r#"{"hooksConfig": {"agents": ["claude"]}}"#).unwrap();
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": command}]}]}});
    project.write(".claude/settings.json", &settings.to_string());
    project
}

fn trusted(project: &Project) {
    let trusted = run(project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    let fired = fire(project);
    assert!(fired.status == 2 && fired.stdout.contains("reviewed"), "{fired:?}");
}

fn is_opaque(project: &Project, why: &str) {
    let refused = run(project, &["trust", "--yes"]);
    assert_eq!(refused.status, 1, "{why}: {refused:?}");
    assert!(refused.stdout.contains(why), "{why}: {refused:?}");
}

/// What was not reviewed does not run, and the guard refuses.
fn refuses(project: &Project) {
    let fired = fire(project);
    assert!(!fired.stdout.contains("UNREVIEWED"), "{fired:?}");
    assert_eq!(fired.status, 2, "{fired:?}");
    assert_ne!(run(project, &["trust"]).status, 0);
}

const SHELL: &str = "echo reviewed >&2; exit 2\n";
const SHELL_CHANGED: &str = "echo UNREVIEWED >&2; exit 0\n";
const PYTHON: &str = "import sys, rules\nprint(rules.X, file=sys.stderr)\nsys.exit(rules.C)\n";
const PERL: &str = "use Rules; print STDERR \"$Rules::X\\n\"; exit $Rules::C;\n";

fn copies(project: &Project) -> Vec<PathBuf> {
    let folder = project.home().join(".local/share/hook/trusted");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| !path.ends_with("index") && !path.ends_with("cache")).collect()
}

#[test]
fn fault_92_a_file_that_a_command_starts_is_covered_or_opaque_whatever_it_is_called() {
    for file in [
        ".claude/hooks/__pycache__/g.sh",
        ".claude/hooks/hooks.json",
        ".claude/hooks/packs.lock",
        ".claude/hooks/logs/g.txt",
        ".claude/hooks/g.log",
        ".claude/config.toml",
        "logs/guard",
    ] {
        let project = foreign(&format!("bash {file}"));
        project.write(file, SHELL);
        trusted(&project);
        project.write(file, SHELL_CHANGED);
        refuses(&project);
    }
    for file in [
        ".claude/hooks/.git/g.sh",
        ".claude/hooks/__pycache__/g.cpython-312.pyc",
        ".claude/hooks/venv/bin/g.sh",
    ] {
        let project = foreign(&format!("bash {file}"));
        project.write(file, SHELL);
        project.write(".claude/hooks/venv/pyvenv.cfg", "");
        let refused = run(&project, &["trust", "--yes"]);
        assert!(refused.status == 1 && refused.stdout.contains("opaque"), "{file}: {refused:?}");
    }
}

#[test]
fn fault_92_what_a_program_loads_by_name_is_covered_whatever_it_is_called() {
    // In the folder of another agent, the file that comes or changes, and what it is then.
    let python = "X = 'UNREVIEWED'; C = 0\n";
    let perl = "package Rules; $X = 'UNREVIEWED'; $C = 0; 1;\n";
    for (guard, text, first, rules, then, changed) in [
        (
            "g.py",
            PYTHON,
            "rules/__init__.py",
            "X = 'reviewed'; C = 2\n",
            "rules/__init__.py",
            python,
        ),
        ("g.py", PYTHON, "rules.py", "X = 'reviewed'; C = 2\n", "rules/__init__.py", python),
        (
            "g.py",
            "import sys; from __pycache__ import rules\nprint(rules.X, file=sys.stderr); sys.exit(rules.C)\n",
            "__pycache__/rules.py",
            "X = 'reviewed'; C = 2\n",
            "__pycache__/rules.py",
            python,
        ),
        (
            "g.pl",
            &format!("use FindBin; use lib \"$FindBin::Bin/state\"; {PERL}"),
            "state/Rules.pm",
            "package Rules; $X = 'reviewed'; $C = 2; 1;\n",
            "state/Rules.pmc",
            perl,
        ),
    ] {
        let program = if guard.ends_with("py") { "python3" } else { "perl" };
        let project = foreign(&format!("{program} \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/{guard}"));
        project.write(&format!(".claude/hooks/{guard}"), text);
        project.write(&format!(".claude/hooks/{first}"), rules);
        trusted(&project);
        project.write(&format!(".claude/hooks/{then}"), changed);
        refuses(&project);
    }
    // A package called rules is in the copy of a hook of ours, too.
    let project = ours("python3 .hooks/guard.py");
    project.write(".hooks/guard.py", PYTHON);
    project.write(".hooks/rules/__init__.py", "X = 'reviewed'; C = 2\n");
    trusted(&project);
}

#[test]
fn fault_92_hooks_that_write_beside_themselves_where_nothing_is_loaded_stay_trusted() {
    let project = foreign("bash .claude/hooks/g.sh");
    let script = "cd \"$(dirname \"$0\")\"; mkdir -p logs state; date >> calls.log; date >> logs/a.jsonl\n\
        date > state/last; date > logs/a.log.1; date > calls.log.2; echo reviewed >&2; exit 2\n";
    project.write(".claude/hooks/g.sh", script);
    trusted(&project);
    for _ in 0..2 {
        let fired = fire(&project);
        assert!(fired.status == 2 && fired.stdout.contains("reviewed"), "{fired:?}");
    }
    assert_eq!(run(&project, &["trust"]).status, 0);
}

#[test]
fn fault_92_what_a_link_leads_to_is_covered_also_where_hooks_write() {
    for target in ["cache/real", "logs/real.log", "real.tmp"] {
        let project = foreign("bash \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.sh");
        let file = format!(".claude/hooks/{target}");
        project.write(&file, SHELL);
        symlink(target, project.path().join(".claude/hooks/guard.sh")).unwrap();
        trusted(&project);
        project.write(&file, SHELL_CHANGED);
        refuses(&project);
    }
    let project = ours("bash .hooks/guard.sh");
    project.write(".hooks/cache/real", SHELL);
    symlink("cache/real", project.path().join(".hooks/guard.sh")).unwrap();
    trusted(&project);
    // Out of the folder and back is another way tomorrow.
    let project = ours("bash .hooks/guard.sh");
    project.write(".hooks/real.sh", SHELL);
    symlink("../way/real.sh", project.path().join(".hooks/guard.sh")).unwrap();
    symlink(".hooks", project.path().join("way")).unwrap();
    is_opaque(&project, "the link .hooks/guard.sh leads out of its folder");
}

#[test]
fn fault_92_a_path_with_dots_is_opaque() {
    let absolute = "\"$CLAUDE_PROJECT_DIR\"/src/../.claude/hooks/guard.sh";
    for command in [absolute, "bash src/../.claude/hooks/guard.sh", "../p/.claude/hooks/guard.sh"] {
        let project = foreign(command);
        let script = project.write(".claude/hooks/guard.sh", SHELL);
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(project.path().join("src")).unwrap();
        is_opaque(&project, "write the path without it");
    }
    let project = ours("bash .hooks/guard.sh");
    project.write(".hooks/guard.sh", "#!/usr/bin/../bin/sh\nexit 2\n");
    is_opaque(&project, "which may run anything");
}

#[test]
fn fault_92_a_program_whose_path_begins_with_a_dash_runs_from_its_copy() {
    for command in ["-x/guard", "timeout 5 -x/guard", "true && -x/guard -x/guard"] {
        let project = ours(command);
        let script = project.write("-x/guard", &format!("#!/usr/bin/env bash\n{SHELL}"));
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        trusted(&project);
        fs::write(&script, SHELL_CHANGED).unwrap();
        let fired = fire(&project);
        assert!(fired.status == 2 && fired.stdout.contains("reviewed"), "{command}: {fired:?}");
    }
}

#[test]
fn fault_86_a_copy_that_no_command_can_name_is_not_made_and_not_passed_over() {
    let project = ours(".hooks/guard.sh");
    let script = project.write(".hooks/guard.sh", &format!("#!/bin/sh\n{SHELL}"));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let data = project.home().join(OsStr::from_bytes(b"data-\xff"));
    let with_data = |arguments: &[&str]| {
        let mut command = project.command(hook_tests::hook_binary());
        command.args(arguments).env("XDG_DATA_HOME", &data).stdin(Stdio::null());
        command.output().unwrap()
    };
    let refused = with_data(&["trust", "--yes"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no command can name it"));
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    fs::rename(project.home().join(".local/share"), &data).unwrap();
    fs::write(&script, format!("#!/bin/sh\n{SHELL_CHANGED}")).unwrap();
    let fired = with_data(&["fire", "BeforeTool", "--tool=run_shell_command"]);
    let shown = String::from_utf8_lossy(&fired.stdout).into_owned();
    assert!(fired.status.code() == Some(2) && !shown.contains("UNREVIEWED"), "{shown}");
}

#[test]
fn fault_83_an_interpreter_that_is_not_there_yet_is_whose_folder_it_would_be_in() {
    let project = Project::new();
    let alias = project.home().join("alias");
    symlink(project.path(), &alias).unwrap();
    let alias = alias.display().to_string();
    for (interpreter, why) in [
        (format!("{alias}/tools/bash"), "which may run anything"),
        ("/proc/self/cwd/tools/bash".to_owned(), "which may run anything"),
    ] {
        let project = guarded(&project, ".hooks/guard.sh");
        let script = project.write(".hooks/guard.sh", &format!("#!{interpreter}\n{SHELL}"));
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        is_opaque(project, why);
        is_opaque(guarded(project, &format!("{interpreter} .hooks/guard.sh")), "opaque");
    }
    // Its path leads elsewhere since it was trusted.
    let project = guarded(&project, ".hooks/guard.sh");
    let link = project.home().join("link");
    symlink(project.home(), &link).unwrap();
    let line = format!("#!{}/tools/bash\n{SHELL}", link.display());
    project.write(".hooks/guard.sh", &line);
    let trust = run(project, &["trust", "--yes"]);
    assert_eq!(trust.status, 0, "{trust:?}");
    fs::remove_file(&link).unwrap();
    symlink(project.path(), &link).unwrap();
    let evil = project.write("tools/bash", "#!/bin/sh\necho UNREVIEWED\n");
    fs::set_permissions(evil, fs::Permissions::from_mode(0o755)).unwrap();
    let fired = fire(project);
    assert!(fired.status == 2 && !fired.stdout.contains("UNREVIEWED"), "{fired:?}");
}

#[test]
fn fault_92_a_first_line_is_read_as_its_interpreter_reads_it() {
    let long = format!("#!/usr/bin/perl{} -I./lib\n", " -w".repeat(90));
    let longer = format!("#!/usr/bin/perl{}\n", " -w".repeat(30_000));
    for (program, line, why) in [
        ("perl", &*long, "which may run anything"),
        ("perl", &*longer, "is not known"),
        ("perl", "\u{feff}#!/usr/bin/perl -I./lib\n", "which may run anything"),
        ("perl", "  :  #!/usr/bin/perl -I./lib\n", "which may run anything"),
        ("perl", "\0#\0!\0p\0e\0r\0l\0 \0-\0I\0.\0\n", "is not known"),
        ("ruby", "#!/bin/sh\n#!ruby -I./lib\n", "which may run anything"),
    ] {
        let project = ours(&format!("{program} .hooks/guard"));
        project.write(".hooks/guard", &format!("{line}{PERL}"));
        is_opaque(&project, why);
    }
    let project = ours("perl .hooks/guard.pl");
    project.write(
        ".hooks/guard.pl",
        "\u{feff}#!/usr/bin/env perl -w\nprint STDERR 'reviewed'; exit 2;\n",
    );
    trusted(&project);
}

#[test]
fn fault_93_python_does_not_look_for_modules_in_the_project() {
    // In place it would, from a copy it does not.
    let project = foreign("python3 \"$CLAUDE_PROJECT_DIR\"/guard.py");
    project.write("guard.py", PYTHON);
    is_opaque(&project, "`python3` looks for modules beside guard.py");
    let project = foreign("./guard");
    let script = project.write("guard", &format!("#!/usr/bin/env python3\n{PYTHON}"));
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    is_opaque(&project, "looks for modules beside guard");
    let project = ours("python3 check.py");
    project.write(
        "check.py",
        "import json, sys\nprint('reviewed check.py', file=sys.stderr)\nsys.exit(2)\n",
    );
    trusted(&project);
    project.write("json.py", "import os\nos.write(2, b'UNREVIEWED')\nos._exit(0)\n");
    let fired = fire(&project);
    assert!(fired.status == 2 && fired.stdout.contains("reviewed check.py"), "{fired:?}");
}

#[test]
fn fault_93_node_never_looks_for_modules_in_the_project() {
    let text =
        "const pm = require('pm');\nconsole.error('reviewed .hooks/guard.js');\nprocess.exit(2);\n";
    let project = ours("node .hooks/guard.js");
    project.write(".hooks/guard.js", &text.replace("require('pm')", "1"));
    project.write("node_modules/pm/index.js", "console.error('UNREVIEWED'); process.exit(0);\n");
    let shown = run(&project, &["trust"]);
    assert!(shown.stdout.contains("runs         from a copy"), "{shown:?}");
    assert!(shown.stdout.contains("or in it: .hooks/guard.js:2:"), "{shown:?}");
    trusted(&project);
    // What is not in its folder is not there.
    let project = ours("node .hooks/guard.js");
    project.write(".hooks/guard.js", text);
    project.write("node_modules/pm/index.js", "console.error('UNREVIEWED'); process.exit(0);\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let fired = fire(&project);
    assert!(fired.status == 2 && !fired.stdout.contains("UNREVIEWED"), "{fired:?}");
    // The same of a module.
    let project = Project::new();
    let module = "import pm from 'pm';\nexport default (pi) => pi.on('tool_call', () => pm('.hooks/modules says no'));\n";
    project.write(".hooks/modules/guard.mjs", module);
    project.write("node_modules/pm/package.json", r#"{"type": "module", "main": "index.js"}"#);
    project.write(
        "node_modules/pm/index.js",
        "export default () => { console.error('UNREVIEWED'); };\n",
    );
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let fired = fire(&project);
    assert!(fired.status == 2 && !format!("{fired:?}").contains("UNREVIEWED"), "{fired:?}");
}

#[test]
fn fault_94_a_folder_called_as_one_of_packages_is_covered_unless_it_is_an_environment() {
    let project = foreign("python3 .claude/hooks/g.py");
    project.write(".claude/hooks/g.py", &PYTHON.replace("rules", "venv"));
    project.write(".claude/hooks/requirements.txt", "\n");
    project.write(".claude/hooks/venv/__init__.py", "X = 'reviewed'; C = 2\n");
    trusted(&project);
    project.write(".claude/hooks/venv/__init__.py", "X = 'UNREVIEWED'; C = 0\n");
    refuses(&project);
    // Of an environment what is installed is left out, which is said, and nothing else.
    let project = foreign("bash .claude/hooks/g.sh");
    project.write(".claude/hooks/g.sh", SHELL);
    project.write(".claude/hooks/.venv/pyvenv.cfg", "home = /usr/bin\n");
    project.write(".claude/hooks/.venv/lib/python3/site-packages/a.py", "");
    symlink("lib", project.path().join(".claude/hooks/.venv/lib64")).unwrap();
    fs::create_dir(project.path().join(".claude/hooks/.venv/bin")).unwrap();
    symlink("/usr/bin/python3", project.path().join(".claude/hooks/.venv/bin/python")).unwrap();
    let shown = run(&project, &["trust"]);
    let said = "not covered  .claude/hooks/.venv: what is installed in this virtual environment";
    assert!(shown.stdout.contains(said) && !shown.stdout.contains("all of it"), "{shown:?}");
    trusted(&project);
    project.write(".claude/hooks/.venv/lib/python3/site-packages/b.py", "");
    assert_eq!(run(&project, &["trust"]).status, 0);
    project.write(".claude/hooks/.venv/__init__.py", "");
    assert_ne!(run(&project, &["trust"]).status, 0);
}

#[test]
fn fault_94_packages_of_a_copy_are_those_that_were_trusted() {
    let guard = "const dep = require('dep');\nconsole.error(dep.x); process.exit(dep.c);\n";
    let dep = |project: &Project, text: &str| {
        project.write(".hooks/guard.js", guard);
        project.write(".hooks/package-lock.json", "{}");
        // As pnpm does it.
        let store = ".hooks/node_modules/.pnpm/dep@1/node_modules/dep";
        project.write(&format!("{store}/index.js"), text);
        let link = project.path().join(".hooks/node_modules/dep");
        let _ = symlink(".pnpm/dep@1/node_modules/dep", link);
    };
    let project = ours("node .hooks/guard.js");
    dep(&project, "module.exports = {x: 'POISON', c: 0};\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    // The same folder with other packages, as in another project of this user.
    dep(&project, "module.exports = {x: 'reviewed', c: 2};\n");
    let shown = run(&project, &["trust"]);
    assert!(shown.status == 1 && shown.stdout.contains("2 files of node_modules"), "{shown:?}");
    trusted(&project);
    // A copy's are compared as all its files are.
    for copy in copies(&project) {
        let file = copy.join(".hooks/node_modules/.pnpm/dep@1/node_modules/dep/index.js");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(file, "module.exports = {x: 'UNREVIEWED', c: 0};\n").unwrap();
    }
    let fired = fire(&project);
    assert!(fired.status == 2 && fired.stdout.contains("was changed or removed"), "{fired:?}");
}

#[test]
fn fault_94_packages_that_are_a_link_out_of_the_project_need_a_consent_of_their_own() {
    let project = ours("node .hooks/guard.js");
    project.write(
        ".hooks/guard.js",
        "const dep = require('dep');\nconsole.error(dep.x); process.exit(2);\n",
    );
    let outside = project.home().join("dep");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("index.js"), "exports.x = 'reviewed';\n").unwrap();
    let link = project.path().join(".hooks/node_modules/dep");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    // As `npm install ../dep` does it: whoever may write there decides what runs.
    symlink(&outside, &link).unwrap();
    is_opaque(&project, "leads out of its folder");
}

#[test]
fn fault_95_a_hook_that_writes_into_its_copy_goes_on_and_nothing_of_it_is_loaded() {
    let project = ours("python3 .hooks/guard.py");
    let text = "import os, sys\nhere = os.path.dirname(__file__)\nos.makedirs(here + '/logs', exist_ok=True)\n\
        for name in ['calls.log', 'logs/last.txt', 'seen.db', 'json.py', 'lib/x']:\n\
        \x20   os.makedirs(os.path.dirname(here + '/' + name), exist_ok=True)\n\
        \x20   open(here + '/' + name, 'a').write('import UNREVIEWED\\n')\n\
        import json\nprint('reviewed', file=sys.stderr)\nsys.exit(2)\n";
    project.write(".hooks/guard.py", text.replace("import json\n", "").as_str());
    trusted(&project);
    for _ in 0..2 {
        let fired = fire(&project);
        assert!(fired.status == 2 && fired.stdout.contains("reason: reviewed"), "{fired:?}");
    }
    let said = fire(&project).stdout;
    for name in [".hooks/json.py", ".hooks/lib/x", ".hooks/seen.db"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    assert!(
        said.contains("written into the trusted copy") && !said.contains("calls.log"),
        "{said}"
    );
    let copy = copies(&project)[0].join(".hooks");
    let lines = |name: &str| fs::read_to_string(copy.join(name)).unwrap().lines().count();
    assert!(lines("calls.log") >= 3 && lines("logs/last.txt") >= 3, "logs stay");
    assert_eq!((lines("seen.db"), lines("json.py"), lines("lib/x")), (1, 1, 1), "all else goes");
}

#[test]
fn fault_114_a_file_that_is_written_through_a_mapping_is_read_again() {
    let project = Project::new();
    let guard = |text: &str| format!("{text:<60}\n");
    project.write(".claude/hooks/g.sh", &guard("echo no >&2; exit 2 #"));
    project.write(
        ".claude/settings.json",
        r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"bash .claude/hooks/g.sh"}]}]}}"#,
    );
    let agent = ["--agent", "claude"];
    let trust = run(&project, &[&["trust", "--yes"], &agent[..]].concat());
    assert_eq!(trust.status, 0, "{trust:?}");
    // The page is dirty, so that writing to it again changes no time of the file; both are long ago then.
    let script = "import mmap, sys\n\
        file = open('.claude/hooks/g.sh', 'r+b')\n\
        page = mmap.mmap(file.fileno(), 0)\n\
        page[0:1] = page[0:1]\n\
        print('mapped', flush=True)\n\
        sys.stdin.readline()\n\
        new = b'echo EVIL >&2; exit 0 #'\n\
        page[0:len(new)] = new\n\
        print('written', flush=True)\n\
        sys.stdin.readline()\n";
    let mut writer = std::process::Command::new("python3");
    let writer = writer.args(["-c", script]).current_dir(project.path());
    let mut writer = writer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (writer.stdin.take().unwrap(), writer.stdout.take().unwrap());
    let mut lines = std::io::BufReader::new(output).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "mapped");
    // As long as stamps need to settle.
    std::thread::sleep(std::time::Duration::from_millis(2_600));
    let fire = [&["fire", "BeforeTool", "--tool", "run_shell_command"], &agent[..]].concat();
    assert_eq!(run(&project, &fire).status, 2);
    input.write_all(b"\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "written");
    let fired = run(&project, &fire);
    assert_eq!(fired.status, 2, "{fired:?}");
    assert!(!fired.stdout.contains("EVIL"), "{fired:?}");
    drop(input);
    writer.wait().unwrap();
}

#[test]
fn fault_115_folders_that_are_nested_too_deeply_end_nothing() {
    let project = ours("bash .hooks/guard.sh");
    project.write(".hooks/guard.sh", "echo reviewed >&2; exit 2\n");
    trusted(&project);
    let mut deep = std::process::Command::new("python3");
    let script = "import os\nfd = os.open('.hooks', os.O_RDONLY)\n\
        for _ in range(1900):\n  os.mkdir('a', dir_fd=fd)\n  deeper = os.open('a', os.O_RDONLY, dir_fd=fd)\n  os.close(fd)\n  fd = deeper\n\n";
    assert!(deep.args(["-c", script]).current_dir(project.path()).status().unwrap().success());
    refuses(&project);
}

#[test]
fn fault_116_a_directory_that_a_link_of_the_project_leads_to_is_in_the_project() {
    let project = ours("bash .hooks/guard.sh");
    project.write(".hooks/guard.sh", "echo reviewed >&2; exit 2\n");
    trusted(&project);
    let elsewhere = project.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    symlink(&elsewhere, project.path().join("link")).unwrap();
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project.path().join("link"),
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let bridge = Hook::new(&project, &["bridge", "claude", "PreToolUse"]).directory("link");
    let bridged = bridge.stdin(event.to_string()).run();
    assert!(bridged.stdout.contains("\"deny\""), "{bridged:?}");
}
