//! Whatever is planted, changed or linked around a trusted command: nothing runs that was not trusted, and the
//! guard still answers from its copy, or blocks where it is.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hook_tests::{Finished, Hook, Project};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::check;

/// How hooks of ours are written, each of which starts one of the scripts below.
const OURS: &[&str] = &[
    ".hooks/g.sh",
    "./.hooks/g.sh --strict",
    "bash .hooks/g.sh",
    "sh -eu $HOOK_PROJECT_DIR/.hooks/g.sh",
    "bash -euo pipefail \"$HOOK_DIR\"/g.sh",
    "\"${CLAUDE_PROJECT_DIR:-.}\"/.hooks/g.sh",
    "$PWD/.hooks/g.sh",
    "timeout 50 nice -n 1 bash .hooks/g.sh",
    "cat | .hooks/g.sh",
    "LC_ALL=C true && .hooks/g.sh >/dev/null",
    "python3 .hooks/x.py",
    "python3 -u \"$HOOK_PROJECT_DIR\"/.hooks/x.py --level 3",
    "node .hooks/m.mjs",
    "node --no-warnings \"$HOOK_PROJECT_DIR\"/.hooks/m.mjs",
    "sh root.sh",
    "tools/t.sh",
];

/// The same of Claude Code's hooks.
const FOREIGN: &[&str] = &[
    "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/g.sh",
    "bash .claude/hooks/g.sh",
    "python3 \"$CLAUDE_PROJECT_DIR/.claude/hooks/x.py\"",
    "node $CLAUDE_PROJECT_DIR/.claude/hooks/m.mjs",
];

/// What is done to a path, which is one of a folder of hooks, or beside it.
#[derive(Debug, Clone, Copy)]
enum Attack {
    /// A program that says that it ran.
    Plant(&'static str),
    /// A link to one.
    Link(&'static str),
    /// A link to a folder of them.
    LinkFolder,
    Remove(&'static str),
    Fifo(&'static str),
    NoProgram(&'static str),
}

/// Names below a folder of hooks by which scripts, interpreters and shells might load something.
const NAMES: &[&str] = &[
    "g.sh",
    "x.py",
    "m.mjs",
    "lib/rules.sh",
    "lib/rules.py",
    "lib/rules.mjs",
    "lib/rules.cjs",
    "lib/__init__.py",
    "lib/rules/__init__.py",
    "lib.py",
    "json.py",
    "json/__init__.py",
    "sys.py",
    "sitecustomize.py",
    "usercustomize.py",
    "encodings/__init__.py",
    "__pycache__/x.cpython-311.pyc",
    "x.pyc",
    "G.SH",
    "node_modules/words/index.js",
    "package.json",
    "lib/package.json",
    "rules.sh",
    "bash",
    "python3",
    "node",
    "cat",
    "sh",
    "true",
    ".bashrc",
    "logs/rules.py",
    "cache.log",
];

/// Where those names are looked for.
const AROUND: &[&str] = &["FOLDER", "FOLDER", "FOLDER/..", ".", "sub", "sub/FOLDER"];

fn attack() -> impl Strategy<Value = (Attack, &'static str)> {
    let named = select(NAMES);
    let attack = named.prop_flat_map(|name| {
        select(vec![
            Attack::Plant(name),
            Attack::Plant(name),
            Attack::Plant(name),
            Attack::Link(name),
            Attack::LinkFolder,
            Attack::Remove(name),
            Attack::Fifo(name),
            Attack::NoProgram(name),
        ])
    });
    (attack, select(AROUND))
}

/// A project with a guard for each language, which loads a file beside it.
fn project(folder: &str) -> Project {
    let project = Project::new();
    let executable = |path: &str, text: &str| {
        let path = project.write(path, text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let write = |path: &str, text: &str| executable(&format!("{folder}/{path}"), text);
    write(
        "g.sh",
        "#!/bin/bash\n. \"$(dirname \"$0\")\"/lib/rules.sh\necho \"$reason\" >&2\nexit 2\n",
    );
    write("lib/rules.sh", "reason=trusted\n");
    write(
        "x.py",
        "#!/usr/bin/env python3\nimport json, sys\nfrom lib import rules\n\
            print(rules.reason, file=sys.stderr)\nsys.exit(2)\n",
    );
    write("lib/rules.py", "reason = 'trusted'\n");
    write(
        "m.mjs",
        "import { reason } from './lib/rules.mjs';\nconsole.error(reason);\nprocess.exitCode = 2;\n",
    );
    write(
        "lib/rules.mjs",
        "import words from './rules.cjs';\nexport const reason = words.reason;\n",
    );
    write("lib/rules.cjs", "exports.reason = 'trusted';\n");
    executable("root.sh", "echo trusted >&2; exit 2\n");
    executable("tools/t.sh", "#!/bin/sh\necho trusted >&2\nexit 2\n");
    fs::create_dir_all(project.path().join("sub")).unwrap();
    project
}

/// A program that marks that it ran, in the language of its name.
fn planted(project: &Project, name: &str) -> String {
    let mark = project.home().join("ran");
    let mark = mark.display();
    match Path::new(name).extension().and_then(|it| it.to_str()) {
        Some("py") => format!("open('{mark}', 'w').write('x')\n"),
        Some("mjs") => format!("import fs from 'fs'; fs.writeFileSync('{mark}', 'x');\n"),
        Some("cjs" | "js") => format!("require('fs').writeFileSync('{mark}', 'x');\n"),
        Some("json") => r#"{"type": "commonjs", "main": "../node_modules/words/index.js"}"#.into(),
        _ => format!("#!/bin/sh\ntouch '{mark}'\nexit 0\n"),
    }
}

fn apply(project: &Project, folder: &str, (attack, around): (Attack, &str)) {
    let base = project.path().join(around.replace("FOLDER", folder));
    let Ok(()) = fs::create_dir_all(&base) else { return };
    let plant = |path: &Path, name: &str| {
        let parent = path.parent().unwrap();
        if fs::create_dir_all(parent).is_ok() && fs::write(path, planted(project, name)).is_ok() {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
        }
    };
    let clear = |path: &Path| {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    };
    match attack {
        Attack::Plant(name) => {
            let path = base.join(name);
            if path.is_symlink() || path.is_dir() {
                clear(&path);
            }
            plant(&path, name);
        }
        Attack::Link(name) => {
            let target = project.path().join("elsewhere").join(name);
            plant(&target, name);
            let path = base.join(name);
            clear(&path);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = symlink(target, path);
        }
        Attack::LinkFolder => {
            let target = project.path().join("other");
            for name in NAMES {
                plant(&target.join(name), name);
            }
            let hooks = project.path().join(folder);
            if !hooks.is_symlink() && hooks.join("settings.json").exists() {
                let _ = fs::copy(hooks.join("settings.json"), target.join("settings.json"));
            }
            clear(&hooks);
            let _ = symlink(target, hooks);
        }
        Attack::Remove(name) => clear(&base.join(name)),
        Attack::Fifo(name) => {
            let path = base.join(name);
            clear(&path);
            let _ = std::process::Command::new("mkfifo").arg(path).output();
        }
        Attack::NoProgram(name) => {
            let _ = fs::set_permissions(base.join(name), fs::Permissions::from_mode(0o644));
        }
    }
}

fn fire(project: &Project, directory: &str) -> Finished {
    let input = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"},
        "cwd": project.path().join(directory)});
    Hook::new(project, &["fire", "BeforeTool", "--input", &input.to_string()]).run()
}

/// A folder of hooks, the command in it, and whether it is Claude Code's.
fn commands() -> impl Strategy<Value = (&'static str, bool)> {
    prop_oneof![
        3 => select(OURS).prop_map(|command| (command, false)),
        1 => select(FOREIGN).prop_map(|command| (command, true)),
    ]
}

#[test]
fn fault_82_nothing_untrusted_runs_whatever_is_planted_around_a_trusted_command() {
    let attacks = prop::collection::vec(attack(), 1..5);
    let directories = select(vec!["", "", "sub"]);
    check(40, (commands(), attacks, directories), |((command, is_foreign), attacks, directory)| {
        let folder = if is_foreign { ".claude/hooks" } else { ".hooks" };
        let project = project(folder);
        let hook = json!({"type": "command", "command": command});
        let (event, file) = match is_foreign {
            true => ("PreToolUse", ".claude/settings.json"),
            false => ("BeforeTool", ".hooks/settings.json"),
        };
        let mut settings = json!({"hooks": {event: [{"hooks": [hook]}]}});
        if is_foreign {
            let user = project.home().join(".config/hooks/settings.json");
            fs::create_dir_all(user.parent().unwrap()).unwrap();
            fs::write(user, r#"{"hooksConfig": {"agents": ["claude"]}}"#).unwrap();
        } else {
            settings["hooks"][event][0]["hooks"][0]["failBehavior"] = json!("block");
        }
        project.write(file, &settings.to_string());
        let trusted = Hook::new(&project, &["trust", "--yes"]).run();
        prop_assert_eq!(trusted.status, 0, "{:?}", trusted);
        let before = fire(&project, "");
        prop_assert!(before.status == 2 && before.stdout.contains("trusted"), "{before:?}");
        for attack in attacks {
            apply(&project, folder, attack);
        }
        let fired = fire(&project, directory);
        prop_assert!(!project.home().join("ran").exists(), "it ran: {fired:?}");
        // A relative path of an agent's own hook is its agent's to find.
        let finds_itself = !is_foreign || command.contains('$') || directory.is_empty();
        if finds_itself {
            prop_assert_eq!(fired.status, 2, "{:?}", &fired);
        }
        if !is_foreign {
            prop_assert!(fired.stdout.contains("reason: trusted"), "{fired:?}");
        }
        Ok(())
    });
}
