//! What has a trusted guard run as something else, or not at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

const SETTINGS: &str = ".hooks/settings.json";

fn program(project: &Project, path: &str, text: &str) {
    let path = project.write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

fn trust(project: &Project, arguments: &[&str]) {
    let trusted = run(project, &[&["trust", "--yes"], arguments].concat());
    assert_eq!(trusted.status, 0, "{trusted:?}");
}

/// What a tool's call gets from a directory of the project, with the reason.
fn fire_from(project: &Project, tool: &str, directory: &str, agent: &[&str]) -> (bool, String) {
    let directory = project.path().join(directory);
    let input = json!({"cwd": directory, "tool_name": tool, "tool_input": {}}).to_string();
    let fire = ["fire", "BeforeTool", "--tool", tool, "--input", &input];
    let finished = run(project, &[&fire, agent].concat());
    (finished.status == 2, format!("{}{}", finished.stdout, finished.stderr))
}

fn fire(project: &Project, tool: &str) -> (bool, String) {
    fire_from(project, tool, "", &[])
}

fn guard(matcher: &str, changes: &Value) -> Value {
    let mut hook = json!({"type": "command", "name": "guard", "command": ".hooks/guard.sh",
        "failBehavior": "block"});
    for (key, value) in changes.as_object().into_iter().flatten() {
        hook[key] = value.clone();
    }
    json!({"matcher": matcher, "hooks": [hook]})
}

fn settings(definitions: &[Value]) -> String {
    json!({"hooks": {"BeforeTool": definitions}}).to_string()
}

/// A hook of Claude's in python, which exits as another file of its folder says.
fn claude_in_python(command: &str, code: u8) -> Project {
    let project = Project::new();
    let main = "#!/usr/bin/env python3\nimport sys\nsys.dont_write_bytecode = False\nimport rules\nprint(rules.TEXT, file=sys.stderr)\nsys.exit(rules.CODE)\n";
    program(&project, ".claude/hooks/guard.py", main);
    rules(&project, code);
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command",
        "command": command}]}]}});
    project.write(".claude/settings.json", &hooks.to_string());
    project
}

/// Rules of one length and one time, whatever they say.
fn rules(project: &Project, code: u8) {
    let path = project
        .write(".claude/hooks/rules.py", &format!("TEXT = 'reviewed {code}'\nCODE = {code}\n"));
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

const CLAUDE: [&str; 2] = ["--agent", "claude"];

#[test]
fn fault_96_nothing_compiled_beside_a_python_hook_that_runs_in_place_is_read() {
    let command = "python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py";
    let project = claude_in_python(command, 2);
    trust(&project, &CLAUDE);
    project.write("other.py", "TEXT = 'compiled'\nCODE = 0\n");
    let compile = "import importlib.util, py_compile\npy_compile.compile('other.py', cfile=importlib.util.cache_from_source('.claude/hooks/rules.py'), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)";
    let compiled = project.command("python3").args(["-c", compile]).status().unwrap();
    assert!(compiled.success() && project.path().join(".claude/hooks/__pycache__").is_dir());
    let (blocks, shown) = fire_from(&project, "Bash", "", &CLAUDE);
    assert!(blocks && shown.contains("reviewed 2") && !shown.contains("compiled"), "{shown}");
}

#[test]
fn fault_96_what_was_compiled_of_files_that_were_trusted_before_is_not_read() {
    let command = "python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py";
    let project = claude_in_python(command, 0);
    trust(&project, &CLAUDE);
    let (blocks, shown) = fire_from(&project, "Bash", "", &CLAUDE);
    assert!(!blocks && shown.contains("reviewed 0"), "{shown}");
    rules(&project, 2);
    trust(&project, &CLAUDE);
    let (blocks, shown) = fire_from(&project, "Bash", "", &CLAUDE);
    assert!(blocks && shown.contains("reviewed 2"), "{shown}");
    // What is compiled of a hook goes with its decision.
    let cache = project.home().join(".local/share/hook/trusted/cache");
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 2);
    assert_eq!(run(&project, &["trust", "--revoke", "--yes"]).status, 0);
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0);
}

#[test]
fn fault_96_a_hook_in_place_that_takes_away_the_engines_variables_needs_its_own_yes() {
    for (first_line, command) in [
        ("#!/usr/bin/python3 -I", "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py"),
        ("#!/usr/bin/env -i python3", "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py"),
        ("#!/usr/bin/env python3", "python3 -I \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py"),
        ("#!/usr/bin/env python3", "python3 -sE \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py"),
        ("#!/usr/bin/env python3", "env -i python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py"),
    ] {
        let project = claude_in_python(command, 2);
        program(&project, ".claude/hooks/guard.py", &format!("{first_line}\nimport rules\n"));
        let refused = run(&project, &["trust", "--yes", "--agent", "claude"]);
        assert_eq!(refused.status, 1, "{refused:?}");
        assert!(refused.stdout.contains("opaque"), "{refused:?}");
    }
    // A shell script can do so, too.
    for (line, is_opaque) in [
        ("python3 -u \"$here/guard.py\" -i", false),
        ("python3 -Ic 'import json' && python3 \"$here/guard.py\"", false),
        ("python3 -Ec 'import rules'", true),
        ("python3 -E \"$here/guard.py\"", true),
        ("exec /usr/bin/python3.11 -W ignore -sI \"$here/guard.py\"", true),
        ("true && env -i PATH=/usr/bin python3 \"$here/guard.py\"", true),
        ("env -u PYTHONPYCACHEPREFIX python3 \"$here/guard.py\"", true),
        ("PYTHONPYCACHEPREFIX= python3 \"$here/guard.py\"", true),
        ("if true; then unset PYTHONPYCACHEPREFIX; fi; python3 \"$here/guard.py\"", true),
    ] {
        let project = claude_in_python("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.sh", 2);
        let script = format!("#!/bin/sh\nhere=$(dirname \"$0\")\n{line}\n");
        program(&project, ".claude/hooks/guard.sh", &script);
        let trusted = run(&project, &["trust", "--yes", "--agent", "claude"]);
        assert_eq!(trusted.status, i32::from(is_opaque), "{line}: {trusted:?}");
        let shows = trusted.stdout.contains("opaque       .claude/hooks/guard.sh:3: ");
        assert_eq!(shows, is_opaque, "{line}: {trusted:?}");
    }
}

#[test]
fn fault_97_of_several_guards_of_one_name_and_command_each_has_its_own_decision() {
    let (shell, write) = (guard("run_shell_command", &json!({})), guard("write_file", &json!({})));
    let plain = guard("write_file", &json!({"failBehavior": "continue"}));
    for other in [&write, &plain] {
        let project = Project::new();
        program(&project, ".hooks/guard.sh", "#!/bin/sh\necho first >&2\nexit 2\n");
        project.write(SETTINGS, &settings(&[shell.clone(), other.clone()]));
        trust(&project, &[]);
        project.write(SETTINGS, &settings(std::slice::from_ref(other)));
        let (blocks, shown) = fire(&project, "run_shell_command");
        assert!(blocks && shown.contains("agree to its removal"), "{shown}");
        // Both changed: each is another one still, and trusted as such leaves none behind.
        let changed = |hook: &Value| {
            let mut hook = hook.clone();
            hook["hooks"][0]["timeout"] = json!(9000);
            hook
        };
        project.write(SETTINGS, &settings(&[changed(other), changed(&shell)]));
        let (blocks, shown) = fire(&project, "run_shell_command");
        assert!(blocks && shown.contains("changed since it was trusted"), "{shown}");
        trust(&project, &[]);
        let (blocks, shown) = fire(&project, "run_shell_command");
        assert!(blocks && shown.contains("first") && !shown.contains("removal"), "{shown}");
        let (_, shown) = fire(&project, "read_file");
        assert!(!shown.contains("removal"), "{shown}");
    }
}

#[test]
fn fault_97_a_digest_that_is_used_again_brings_all_of_its_hooks_back() {
    let project = Project::new();
    program(&project, ".hooks/guard.sh", "#!/bin/sh\necho first >&2\nexit 2\n");
    let both = [guard("run_shell_command", &json!({})), guard("write_file", &json!({}))];
    project.write(SETTINGS, &settings(&both));
    trust(&project, &[]);
    let listed = run(&project, &["trust", "--list", "--json"]);
    let digest = listed.lines()[0]["digest"].as_str().unwrap().to_owned();
    program(&project, ".hooks/guard.sh", "#!/bin/sh\necho second >&2\nexit 2\n");
    // Of one of them the terms change, too.
    let changed = guard("write_file", &json!({"timeout": 9000}));
    project.write(SETTINGS, &settings(&[both[0].clone(), changed]));
    trust(&project, &[]);
    project.write(SETTINGS, &settings(&both));
    assert_eq!(run(&project, &["trust", "--use", &digest]).status, 0);
    for tool in ["run_shell_command", "write_file"] {
        let (blocks, shown) = fire(&project, tool);
        assert!(blocks && shown.contains("first") && !shown.contains("second"), "{shown}");
    }
}

#[test]
fn fault_98_a_trusted_hook_of_another_agent_runs_or_blocks_from_every_directory() {
    let deny = "#!/bin/sh\necho reviewed >&2\nexit 2\n";
    let copilot = json!({"version": 1, "hooks": {"preToolUse": [{"type": "command",
        "bash": "./guard.sh", "cwd": "tools"}]}});
    let cursor =
        json!({"version": 1, "hooks": {"preToolUse": [{"command": ".cursor/hooks/guard.sh"}]}});
    let claude = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command",
        "command": ".claude/hooks/guard.sh"}]}]}});
    for (agent, file, hooks, script, runs_below) in [
        ("copilot", ".github/hooks/x.json", copilot, "tools/guard.sh", true),
        ("cursor", ".cursor/hooks.json", cursor, ".cursor/hooks/guard.sh", true),
        ("claude", ".claude/settings.json", claude, ".claude/hooks/guard.sh", false),
    ] {
        let project = Project::new();
        program(&project, script, deny);
        // One of the same name is not it.
        program(&project, &format!("below/{script}"), "#!/bin/sh\nexit 0\n");
        project.write(file, &hooks.to_string());
        let agent = ["--agent", agent];
        trust(&project, &agent);
        let (blocks, shown) = fire_from(&project, "run_shell_command", "", &agent);
        assert!(blocks && shown.contains("reviewed"), "{agent:?}: {shown}");
        let (blocks, shown) = fire_from(&project, "run_shell_command", "below", &agent);
        assert!(blocks, "{agent:?}: {shown}");
        let reason = if runs_below { "reviewed" } else { "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks" };
        assert!(shown.contains(reason), "{agent:?}: {shown}");
    }
}

#[test]
fn fault_98_a_trusted_hook_of_another_agent_that_is_gone_blocks_what_it_matched() {
    let deny = "#!/bin/sh\necho reviewed >&2\nexit 2\n";
    let named = r#"{"hooksConfig": {"agents": ["claude"]}}"#;
    let claude = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command",
        "command": "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh"}]}]}});
    let inside = json!({"hooksConfig": {}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "language": "claude", "command": ".hooks/guard.sh"}]}]}});
    const FILE: &str = ".claude/settings.json";
    // Who names the agent, what goes from where, and how trust and events find the hook.
    for (who, before, file, after, agent) in [
        ("the user, empty", None, FILE, Some("{}"), &[][..]),
        ("the user, no file", None, FILE, None, &[]),
        ("the user, broken", None, FILE, Some("{"), &[]),
        ("the command", None, FILE, None, &CLAUDE),
        ("the project, no file", Some(named), FILE, None, &[]),
        ("the project, not any more", Some(named), SETTINGS, Some("{}"), &[]),
        ("the project, itself", Some(&*inside.to_string()), SETTINGS, Some("{}"), &[]),
    ] {
        let project = Project::new();
        program(&project, ".claude/hooks/guard.sh", deny);
        program(&project, ".hooks/guard.sh", deny);
        if who != "the project, itself" {
            project.write(FILE, &claude.to_string());
        }
        match before {
            Some(settings) => drop(project.write(SETTINGS, settings)),
            None if agent.is_empty() => {
                let folder = project.home().join(".config/hooks");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("settings.json"), named).unwrap();
            }
            None => {}
        }
        trust(&project, agent);
        let asks = |tool: &str| fire_from(&project, tool, "", agent);
        let (blocks, shown) = asks("run_shell_command");
        assert!(blocks && shown.contains("reviewed"), "{who}: {shown}");
        match after {
            Some(text) => drop(project.write(file, text)),
            None => fs::remove_file(project.path().join(file)).unwrap(),
        }
        let (blocks, shown) = asks("run_shell_command");
        assert!(blocks && !shown.contains("reviewed"), "{who}: {shown}");
        let (blocks, shown) = asks("read_file");
        assert!(!blocks, "{who}: {shown}");
        // Claude looks at its own file itself.
        let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(),
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let arguments = [&["bridge", "claude"], agent].concat();
        let asked = Hook::new(&project, &arguments).stdin(input.to_string()).run();
        let is_own = who != "the project, itself";
        assert_eq!(asked.stdout.contains("\"deny\""), !is_own, "{who}: {asked:?}");
        // Agreeing to it ends that; of a broken file nothing is known.
        if after == Some("{") {
            continue;
        }
        trust(&project, agent);
        let (blocks, shown) = asks("run_shell_command");
        assert!(!blocks, "{who}: {shown}");
    }

    // What runs no file of the project is one, too: a text for the shell, a server.
    for hook in [
        json!({"type": "command", "command": "echo reviewed >&2; exit 2"}),
        json!({"type": "http", "url": "http://127.0.0.1:9/"}),
    ] {
        let project = Project::new();
        let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
        project.write(FILE, &hooks.to_string());
        trust(&project, &["--agent", "claude", "--opaque"]);
        fs::remove_file(project.path().join(FILE)).unwrap();
        let (blocks, shown) = fire_from(&project, "run_shell_command", "", &CLAUDE);
        assert!(blocks && shown.contains("agree to its removal"), "{hook}: {shown}");
        trust(&project, &CLAUDE);
        let (blocks, shown) = fire_from(&project, "run_shell_command", "", &CLAUDE);
        assert!(!blocks, "{hook}: {shown}");
    }

    // The files of an agent that the user names no more are not asked about.
    let project = Project::new();
    program(&project, ".claude/hooks/guard.sh", deny);
    project.write(FILE, &claude.to_string());
    trust(&project, &CLAUDE);
    assert!(fire_from(&project, "run_shell_command", "", &CLAUDE).0);
    let (blocks, shown) = fire(&project, "run_shell_command");
    assert!(!blocks && !shown.contains("guard.sh"), "{shown}");
}

#[test]
fn fault_99_a_variable_by_which_programs_load_is_in_one_table_for_all_who_set_some() {
    for name in [
        "CDPATH",
        "FPATH",
        "GEM_HOME",
        "GEM_PATH",
        "MAKEFILES",
        "DOTNET_STARTUP_HOOKS",
        "TCLLIBPATH",
        "LANGUAGE",
        "TEXTDOMAIN",
        "DOCKER_CONFIG",
        "KUBECONFIG",
        "CLOUDSDK_PYTHON",
        "VIMINIT",
    ] {
        let project = Project::new();
        let script = "#!/bin/sh\nprintenv | sort >&2\nexit 2\n";
        program(&project, ".hooks/guard.sh", script);
        let env = json!({"env": {name: "evil"}});
        project.write(SETTINGS, &settings(&[guard("run_shell_command", &env)]));
        assert_eq!(run(&project, &["trust", "--yes"]).status, 1, "{name} is opaque");
        trust(&project, &["--opaque"]);
        let (blocks, shown) = fire(&project, "run_shell_command");
        assert!(blocks && !shown.contains(&format!("{name}=evil")), "{shown}");
    }
}

#[test]
fn fault_99_an_interpreter_that_is_a_link_into_the_project_is_not_started() {
    let project = Project::new();
    fs::create_dir_all(project.path().join(".git")).unwrap();
    program(&project, ".hooks/guard.sh", "#!/usr/bin/env bash\nexit 2\n");
    let command = json!({"command": "true && .hooks/guard.sh"});
    project.write(SETTINGS, &settings(&[guard("run_shell_command", &command)]));
    trust(&project, &[]);
    let folder = project.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    for name in ["bash", "sh", "env", "python3"] {
        let evil = format!("#!/bin/sh\necho {name} > \"{}/evil\"\n", project.home().display());
        program(&project, &format!("bin/{name}"), &evil);
        symlink(project.path().join("bin").join(name), folder.join(name)).unwrap();
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let fire = ["fire", "BeforeTool", "--tool", "run_shell_command"];
    let finished = Hook::new(&project, &fire).env("PATH", &path).run();
    assert_eq!(finished.status, 2, "{finished:?}");
    assert!(!Path::new(&project.home()).join("evil").exists(), "{finished:?}");
    let doctor = Hook::new(&project, &["doctor"]).env("PATH", &path).run();
    assert!(doctor.stdout.contains("hooks do not look for programs in"), "{doctor:?}");
}

#[test]
fn fault_99_lines_that_open_other_files_are_listed_by_language_and_never_dropped_in_silence() {
    let opened = |path: &str, text: &[u8]| {
        let project = Project::new();
        program(&project, ".hooks/guard.sh", "#!/bin/sh\nexit 2\n");
        let file = project.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        project.write(SETTINGS, &settings(&[guard("run_shell_command", &json!({}))]));
        let review = run(&project, &["trust", "--json"]);
        let review = &review.lines()[0];
        let more = review.get("opensMore").and_then(Value::as_u64).unwrap_or_default();
        review["opens"].as_array().unwrap().len() + more as usize
    };
    let count = |path: &str, lines: &[&str]| {
        for line in lines {
            assert_eq!(opened(path, line.as_bytes()), 1, "{path}: {line}");
        }
    };
    count(
        ".hooks/lib/a.sh",
        &[
            "*) . \"$PWD/rules.sh\";; esac",
            ". ../rules.sh",
            ". lib/rules.sh",
            "*) . ./evil.sh;;",
            ". \"./rules.sh\"",
            "bash tools/x.sh",
            "sh ./x.sh",
            "python3 tools/x.py",
            "node tools/x.js",
            "eval \"$(cat rules.sh)\"",
            "./run.sh",
            "exec tools/run",
            "perl tools/x.pl",
            "just lint",
        ],
    );
    count(
        ".hooks/lib/a.mjs",
        &[
            "import x from \"../src/x.js\";",
            "const y = require(\"../src/y\");",
            "await import(process.cwd() + \"/z.mjs\");",
            "/**/ import \"../q.js\";",
            "require(\"child_process\").execSync(\"./run.sh\");",
        ],
    );
    count(
        ".hooks/lib/b.py",
        &[
            "sys.path.insert(0, os.getcwd()); import rules",
            "exec(open(\"rules.py\").read())",
            "exec(compile(open(\"r.py\").read(), \"r\", \"exec\"))",
            "subprocess.run([\"./run.sh\"])",
            "subprocess.run([\"bash\", \"tools/x.sh\"])",
        ],
    );
    assert_eq!(opened(".hooks/lib/c.sh", b"# \xff\nsource ./evil.sh\n# source ./no.sh\n"), 1);
    assert_eq!(opened(".hooks/lib/d.sh", ". ./x.sh\n".repeat(30).as_bytes()), 30);
}

#[test]
fn fault_111_what_a_changed_guard_is_reported_with_has_no_values_of_variables() {
    let project = Project::new();
    program(&project, ".hooks/guard.sh", "#!/bin/sh\nexit 0\n");
    let of = |token: &str| settings(&[guard("", &json!({"env": {"TOKEN": token}}))]);
    project.write(SETTINGS, &of("first-secret"));
    trust(&project, &[]);
    project.write(SETTINGS, &of("second-secret"));
    let (blocks, shown) = fire(&project, "read_file");
    assert!(blocks && shown.contains("env.TOKEN changed") && !shown.contains("secret"), "{shown}");
    // Who reviews it sees them.
    assert!(run(&project, &["trust"]).stdout.contains("second-secret"));
}

#[test]
fn fault_112_filters_that_are_told_to_write_a_file_are_opaque() {
    for (command, is_opaque) in [
        ("sort", false),
        ("sort -k2,2n --check", false),
        ("uniq -c", false),
        ("uniq in", false),
        ("sort -o out", true),
        ("sort -uo .hooks/guard.sh", true),
        ("sort --output=out", true),
        ("sort --outp out", true),
        ("uniq in .hooks/guard.sh", true),
        ("LANG=C true", false),
        ("LANGUAGE=../../.. true", true),
        ("printf %n PATH", true),
    ] {
        let project = Project::new();
        project.write(SETTINGS, &settings(&[guard("", &json!({"command": command}))]));
        let trusted = run(&project, &["trust", "--yes"]);
        assert_eq!(trusted.status, i32::from(is_opaque), "{command}: {trusted:?}");
    }
}

#[test]
fn fault_113_any_version_of_an_interpreter_that_is_a_link_into_the_project_is_not_found_in_path() {
    let project = Project::new();
    program(&project, "evil", "#!/bin/sh\necho UNREVIEWED >&2\n");
    let folder = project.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    symlink(project.path().join("evil"), folder.join("python3.99")).unwrap();
    project.write(".hooks/guard.py", "");
    let command = json!({"command": "python3.99 .hooks/guard.py"});
    project.write(SETTINGS, &settings(&[guard("", &command)]));
    trust(&project, &[]);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let fired = Hook::new(&project, &["fire", "BeforeTool"]).env("PATH", &path).run();
    assert!(fired.status == 2 && !fired.stdout.contains("UNREVIEWED"), "{fired:?}");
}

/// The answer of the bridge to a shell command of Claude Code, which names its project.
fn bridged(project: &Project, named: &Path, command: &str) -> Finished {
    let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": named,
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}});
    let bridge = Hook::new(project, &["bridge", "claude"]).stdin(input.to_string());
    bridge.env("CLAUDE_PROJECT_DIR", &named.display().to_string()).run()
}

#[test]
fn fault_38_a_project_that_is_moved_away_or_a_link_now_keeps_its_guards() {
    for change in [
        "mv inner inner2",
        "mv inner inner2 && touch inner",
        "mv inner inner2 && mkdir inner",
        "mv inner inner2 && ln -s inner2 inner",
        "mv inner inner2 && ln -s nowhere inner",
    ] {
        let project = Project::new();
        program(&project, "inner/.hooks/guard.sh", "#!/bin/sh\necho reviewed >&2\nexit 2\n");
        let guards = settings(&[guard("run_shell_command", &json!({}))]);
        project.write(&format!("inner/{SETTINGS}"), &guards);
        let inner = project.path().join("inner");
        let trusted = Hook::new(&project, &["trust", "--yes"]).directory("inner").run();
        assert_eq!(trusted.status, 0, "{trusted:?}");
        assert!(bridged(&project, &inner, "ls").stdout.contains("reviewed"));
        let made = project.command("sh").args(["-c", change]).status().unwrap();
        assert!(made.success(), "{change}");
        let answer = bridged(&project, &inner, "ls");
        assert!(answer.stdout.contains("\"deny\""), "{change}: {answer:?}");
    }
}

#[test]
fn fault_38_a_link_anywhere_on_the_way_to_a_project_takes_no_guard_away() {
    for (change, from) in [
        ("mv outer outer2 && ln -s outer2 outer && rm -r outer2/inner/.hooks", "outer/inner"),
        ("mv outer outer2 && ln -s outer2 outer && rm -r outer2/inner", "outer/inner/code"),
        ("mkdir -p x/inner && mv outer outer2 && ln -s ../x outer", "outer/inner"),
    ] {
        let project = Project::new();
        guard_in(&project, "outer/inner", "rm");
        let made = project.command("sh").args(["-c", change]).status().unwrap();
        assert!(made.success(), "{change}");
        let directory = project.path().join(from);
        let _ = fs::create_dir_all(&directory);
        let answer = bridged(&project, &directory, "rm x");
        assert!(answer.stdout.contains("\"deny\""), "{change}: {answer:?}");
    }
}

#[test]
fn fault_117_a_directory_that_is_too_deep_to_be_searched_around_is_refused() {
    let project = Project::new();
    guard_in(&project, "p", "rm");
    let deep = project.path().join("p").join("a/".repeat(200));
    fs::create_dir_all(&deep).unwrap();
    symlink(&deep, project.path().join("p/short")).unwrap();
    for directory in [deep.clone(), project.path().join("p/short")] {
        let answer = bridged(&project, &directory, "rm x");
        assert!(answer.stdout.contains("\"deny\""), "{answer:?}");
        assert!(answer.stdout.contains("folders deep"), "{answer:?}");
    }
    let fired = Hook::new(&project, &["fire", "BeforeTool", "--tool=x"]);
    let fired = fired.directory(&deep.display().to_string()).run();
    assert!(fired.stderr.contains("folders deep"), "{fired:?}");
    assert_eq!(bridged(&project, &project.path().join("p"), "ls").stdout, "");
}

#[test]
fn fault_38_a_project_switches_no_rule_off_that_its_user_agreed_to() {
    let rule = "[[rule]]\nid = \"x\"\nshell = { program = \"frob\" }\ndeny = \"no frob\"\n";
    for switch in [json!({"disabled": ["rules/r.toml"]}), json!({"enabled": false})] {
        let project = Project::new();
        project.write(".hooks/rules/r.toml", rule);
        let off = json!({"hooksConfig": switch}).to_string();
        let is_refused = || bridged(&project, &project.path(), "frob").stdout.contains("no frob");
        project.write(SETTINGS, &off);
        assert!(!is_refused(), "{switch}: nothing was agreed to");
        fs::remove_file(project.path().join(SETTINGS)).unwrap();
        trust(&project, &[]);
        assert!(is_refused());
        project.write(SETTINGS, &off);
        assert!(is_refused(), "{switch}");
    }
}

#[test]
fn fault_117_an_engine_that_is_held_up_refuses_before_the_agent_stops_waiting() {
    let rule = |n: usize| {
        let reason = "x".repeat(400);
        format!("[[rule]]\nid = \"r{n}\"\nshell = {{ program = \"p{n}\" }}\ndeny = \"{reason}\"\n")
    };
    let project = Project::new();
    project.write(".hooks/rules/many.toml", &(0..8_000).map(rule).collect::<String>());
    let input = |event: &str| {
        json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(),
            "hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "ls"}})
        .to_string()
    };
    // Less than the rules take to be read, on any machine.
    let bridge = ["bridge", "claude", "--timeout", "1"];
    let refused = Hook::new(&project, &bridge).stdin(input("PreToolUse")).run();
    assert!(refused.stdout.contains("\"deny\""), "{refused:?}");
    assert!(refused.stdout.contains("did not answer within"), "{refused:?}");
    // A refusal at the end of a turn would have the agent go on.
    let ended = Hook::new(&project, &bridge).stdin(input("Stop")).run();
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:?}");
    let unhurried = Hook::new(&project, &bridge[..2]).stdin(input("PreToolUse")).run();
    assert!(unhurried.status == 0 && !unhurried.stdout.contains("deny"), "{unhurried:?}");
}

#[test]
fn fault_118_the_guards_of_each_folder_of_a_workspace_hold() {
    let project = Project::new();
    for folder in ["one", "two"] {
        guard_in(&project, folder, folder);
    }
    let refused = |command: &str, roots: &[&str]| in_workspace(&project, roots, command).stdout;
    for folder in ["one", "two"] {
        let reason = format!("no {folder}");
        for roots in [["one", "two"], ["two", "one"]] {
            assert!(refused(&format!("rm {folder}"), &roots).contains(&reason), "{roots:?}");
            assert!(!refused("ls", &roots).contains("deny"), "{roots:?}");
        }
    }
    assert!(!refused("rm two", &["one"]).contains("no two"));
    let named = |root: &Value| in_roots(&project, &json!([root]), "rm two");
    let address = format!("file://{}/t%77o", project.path().display());
    assert!(named(&json!(address)).stdout.contains("no two"));
    for root in [json!(format!("vscode-remote://x{}/two", project.path().display())), json!(5)] {
        assert!(named(&root).stderr.contains("is none on this machine"), "{root}");
    }
    assert!(in_roots(&project, &json!("two"), "rm two").stderr.contains("is none on this machine"));
    fs::rename(project.path().join("two"), project.path().join("gone")).unwrap();
    assert!(refused("rm two", &["one", "two"]).contains("deny"), "its guard is not lost");
}

#[test]
fn fault_38_a_directory_that_belongs_to_another_user_now_keeps_its_trusted_guards() {
    let project = Project::new();
    program(&project, ".hooks/guard.sh", "#!/bin/sh\necho reviewed >&2\nexit 2\n");
    project.write(SETTINGS, &settings(&[guard("run_shell_command", &json!({}))]));
    trust(&project, &[]);
    fs::create_dir(project.path().join("inner")).unwrap();
    let inner = project.path().join("inner");
    assert!(bridged(&project, &inner, "ls").stdout.contains("reviewed"));
    // Only the superuser can give a directory away.
    if std::os::unix::fs::chown(project.path(), Some(65_534), None).is_ok() {
        let answer = bridged(&project, &inner, "ls");
        assert!(answer.stdout.contains("\"deny\""), "{answer:?}");
    }
}

/// A trusted guard in a directory of the project, which refuses commands with a word.
fn guard_in(project: &Project, directory: &str, word: &str) {
    let script =
        format!("#!/bin/sh\ngrep -q {word} || exit 0\necho no {word} in {directory} >&2\nexit 2\n");
    program(project, &format!("{directory}/.hooks/guard.sh"), &script);
    let settings = settings(&[guard("run_shell_command", &json!({}))]);
    project.write(&format!("{directory}/{SETTINGS}"), &settings);
    let trusted = Hook::new(project, &["trust", "--yes"]).directory(directory).run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
}

/// The answer to a shell command of an agent that works in a directory.
fn in_directory(project: &Project, directory: &str, command: &str) -> String {
    let cwd = project.path().join(directory);
    let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": cwd,
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}});
    Hook::new(project, &["bridge", "claude"]).stdin(input.to_string()).run().stdout
}

/// The answer of Cursor's hooks in a workspace.
fn in_workspace(project: &Project, roots: &[&str], command: &str) -> Finished {
    let roots: Vec<_> = roots.iter().map(|root| project.path().join(root)).collect();
    in_roots(project, &json!(roots), command)
}

fn in_roots(project: &Project, roots: &Value, command: &str) -> Finished {
    let input = json!({"conversation_id": "c", "generation_id": "g", "command": command,
        "hook_event_name": "beforeShellExecution", "cwd": "", "workspace_roots": roots});
    Hook::new(project, &["bridge", "cursor"]).stdin(input.to_string()).run()
}

#[test]
fn fault_119_a_deleted_folder_of_hooks_leaves_its_guards_to_no_project_around_it() {
    let project = Project::new();
    guard_in(&project, "p/sub", "rm");
    let rule = "[[rule]]\nid = \"x\"\nshell = { program = \"frob\" }\ndeny = \"no frob\"\n";
    project.write("p/sub/.hooks/rules/r.toml", rule);
    let again = Hook::new(&project, &["trust", "--yes"]).directory("p/sub").run();
    assert_eq!(again.status, 0, "{again:?}");
    project.write("p/.hooks/settings.json", "{}");
    let refused = |directory: &str| {
        let guarded = in_directory(&project, directory, "rm x").contains("\"deny\"");
        guarded && in_directory(&project, directory, "frob").contains("no frob")
    };
    assert!(refused("p/sub"));
    fs::rename(project.path().join("p/sub/.hooks"), project.path().join("away")).unwrap();
    assert!(refused("p/sub"));
    fs::create_dir_all(project.path().join("p/sub/deep/er")).unwrap();
    assert!(refused("p/sub/deep/er"));
    let input = json!({"tool_name": "run_shell_command", "tool_input": {"command": "rm x"}});
    let fire = ["fire", "BeforeTool", "--input", &input.to_string()];
    let fired = Hook::new(&project, &fire).directory("p/sub").run();
    assert_eq!(fired.status, 2, "{fired:?}");
    // The folder that the agent works in is gone, and the one around it.
    fs::rename(project.path().join("away"), project.path().join("p/sub/.hooks")).unwrap();
    fs::remove_dir_all(project.path().join("p/sub/deep")).unwrap();
    assert!(refused("p/sub/deep/er"));
}

#[test]
fn fault_120_a_directory_below_a_link_is_where_it_is_written_and_where_it_leads() {
    let project = Project::new();
    guard_in(&project, "p/sub", "rm");
    fs::create_dir_all(project.path().join("p/sub/x/y")).unwrap();
    fs::rename(project.path().join("p/sub"), project.path().join("p/other")).unwrap();
    symlink("other", project.path().join("p/sub")).unwrap();
    for directory in ["p/sub", "p/sub/x", "p/sub/x/y"] {
        assert!(in_directory(&project, directory, "rm x").contains("\"deny\""), "{directory}");
    }
    fs::remove_dir_all(project.path().join("p/other/.hooks")).unwrap();
    assert!(in_directory(&project, "p/sub/x", "rm x").contains("\"deny\""));
    // A link of the project that leads to HOME.
    guard_in(&project, "q", "rm");
    fs::create_dir(project.home().join("below")).unwrap();
    symlink(project.home(), project.path().join("q/h")).unwrap();
    for directory in ["q/h", "q/h/below"] {
        assert!(in_directory(&project, directory, "rm x").contains("\"deny\""), "{directory}");
    }
    // One that leads to a directory of another user, which only the superuser can make.
    fs::create_dir_all(project.path().join("elsewhere/mine/deep")).unwrap();
    if std::os::unix::fs::chown(project.path().join("elsewhere"), Some(65_534), None).is_ok() {
        symlink("../elsewhere", project.path().join("q/o")).unwrap();
        for directory in ["q/o", "q/o/mine", "q/o/mine/deep"] {
            assert!(in_directory(&project, directory, "rm x").contains("\"deny\""), "{directory}");
        }
    }
}

#[test]
fn fault_121_globs_begin_in_the_project_of_their_hook() {
    let project = Project::new();
    program(&project, "p/.hooks/guard.sh", "#!/bin/sh\necho no secrets >&2\nexit 2\n");
    let mut hook = guard("", &json!({}));
    hook["matcher"] = json!({"kind": "file_read", "pathPattern": ["secret/**"]});
    project.write(&format!("p/{SETTINGS}"), &settings(&[hook]));
    let rule =
        |path: &str| format!("[[rule]]\nid = \"x\"\nread = [\"{path}\"]\ndeny = \"agreed\"\n");
    project.write("p/.hooks/rules/r.toml", &rule("{project}/kept/**"));
    let trusted = Hook::new(&project, &["trust", "--yes"]).directory("p").run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    fs::create_dir_all(project.path().join("p/in")).unwrap();
    let reads = |path: &str| {
        let (cwd, path) = (project.path().join("p/in"), project.path().join("p").join(path));
        let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": cwd,
            "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": path}});
        Hook::new(&project, &["bridge", "claude"]).stdin(input.to_string()).run().stdout
    };
    let hold = || reads("secret/x").contains("no secrets") && reads("kept/x").contains("agreed");
    assert!(hold());
    // A project within the project, and other rules than those that the user agreed to.
    project.write(&format!("p/in/{SETTINGS}"), "{}");
    assert!(hold());
    project.write("p/.hooks/rules/r.toml", &rule("{project}/other/**"));
    assert!(hold());
    assert!(!reads("in/plain").contains("deny"));
}

#[test]
fn fault_118_a_folder_of_a_workspace_takes_nothing_from_another() {
    let project = Project::new();
    project.write(&format!("one/{SETTINGS}"), "{}");
    guard_in(&project, "two", "rm");
    // Its pack is named by the lock of the first, whose user did not agree.
    let pack = "[[rule]]\nid = \"x\"\nshell = { program = \"frob\" }\ndeny = \"no frob\"\n";
    project.write("team/.plugin/plugin.json", "{\"name\": \"team\", \"version\": \"1.0.0\"}");
    project.write("team/rules/team.toml", pack);
    let add = Hook::new(&project, &["add", "../team", "--shared", "--yes"]).directory("two").run();
    assert_eq!(add.status, 0, "{add:?}");
    fs::copy(
        project.path().join("two/.hooks/packs.lock"),
        project.path().join("one/.hooks/packs.lock"),
    )
    .unwrap();
    // Another agent's hooks of the second are looked for there.
    let hook = json!({"type": "command", "command": "exit 0"});
    let theirs =
        json!({"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [hook]}]}});
    project.write("two/.gemini/settings.json", &theirs.to_string());
    let mut own: Value = serde_json::from_str(
        &fs::read_to_string(project.path().join("two").join(SETTINGS)).unwrap(),
    )
    .unwrap();
    own["hooksConfig"] = json!({"agents": ["gemini"]});
    project.write(&format!("two/{SETTINGS}"), &own.to_string());
    let trust = ["trust", "--yes", "--opaque", "--agent", "gemini"];
    let trusted = Hook::new(&project, &trust).directory("two").run();
    assert_eq!(trusted.status, 0, "{trusted:?}");
    for roots in [&["one", "two"][..], &["two", "one"], &["gone", "two"], &["gone", "one", "two"]] {
        let refused = |command: &str| {
            let answer = in_workspace(&project, roots, command);
            answer.stdout.contains("deny").then_some(answer)
        };
        assert!(refused("rm x").is_some(), "{roots:?}");
        assert!(refused("frob").is_some(), "{roots:?}");
        assert!(refused("ls").is_none(), "{roots:?}: {:?}", refused("ls"));
    }
}
