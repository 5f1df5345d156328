//! `hook connect` and `hook disconnect`: an agent's settings with our entries, and without them.

use std::fs;
use std::io::Write;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

fn run(project: &Project, arguments: &[&str]) -> Finished {
    let hook = Hook::new(project, arguments);
    let unset =
        ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "LLXPRT_CONFIG_HOME", "QWEN_HOME"];
    unset.iter().fold(hook, |hook, name| hook.env(name, "")).run()
}

/// Gives the user a hook of which nothing is to be said.
fn with_hook(project: &Project) {
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    let settings = json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "true"}]}]}});
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

/// Where it has the user's settings on this system.
const LLXPRT: &str = if cfg!(target_os = "macos") {
    "Library/Preferences/llxprt-code/settings.json"
} else {
    ".config/llxprt-code/settings.json"
};

const AGENTS: [(&str, &str, &str); 7] = [
    ("claude", ".claude/settings.json", ".claude/settings.local.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("llxprt", LLXPRT, ".llxprt/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    ("copilot", ".copilot/hooks/hook.json", ".github/hooks/hook.json"),
];

#[test]
fn a_connection_of_both_scopes_is_warned_of_since_hooks_would_run_twice() {
    let project = Project::new();
    with_hook(&project);
    let first = run(&project, &["connect", "claude"]);
    assert!(!first.stderr.contains("twice"), "{first:?}");
    let second = run(&project, &["connect", "claude", "--scope", "project"]);
    assert!(second.stderr.contains("each hook runs twice"), "{second:?}");
    assert!(second.stderr.contains("`hook disconnect claude --scope user`"), "{second:?}");
}

#[test]
fn what_is_connected_is_disconnected_to_the_byte() {
    for (agent, of_user, _) in AGENTS {
        let project = Project::new();
        let path = project.home().join(of_user);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Codex refuses a file with other keys.
        let before = match agent {
            "codex" => "{\n\t\"description\": \"[1,  2]\",\n\t\"hooks\": { }\n}\n",
            _ => "{\n\t\"version\": 1,\n\t\"mine\": [1,  2],\n\t\"hooks\": { }\n}\n",
        };
        fs::write(&path, before).unwrap();
        let connected = run(&project, &["connect", agent]);
        assert_eq!(connected.status, 0, "{connected:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!(" bridge {agent} ")) && text.contains("[1,  2]"), "{text}");
        let again = run(&project, &["connect", agent]);
        assert!(again.stdout.contains("already"), "{again:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let listed = run(&project, &["connect", "--list"]);
        assert!(listed.stdout.contains(&format!("{agent:<8} user ")), "{listed:?}");
        assert_eq!(run(&project, &["disconnect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{agent}");
        let listed = run(&project, &["connect", "--list"]);
        assert!(listed.stdout.ends_with("`hook connect AGENT` does it\n"), "{listed:?}");
    }
}

#[test]
fn a_file_that_was_made_is_gone_again_and_all_can_be_taken_out_at_once() {
    let project = Project::new();
    for (agent, of_user, in_project) in AGENTS {
        assert_eq!(run(&project, &["connect", agent]).status, 0);
        assert_eq!(run(&project, &["connect", agent, "--scope", "project"]).status, 0);
        assert!(project.home().join(of_user).exists(), "{agent}");
        assert!(project.path().join(in_project).exists(), "{agent}");
    }
    let all = run(&project, &["disconnect", "--all"]);
    assert_eq!(all.stdout.lines().count(), 2 * AGENTS.len(), "{all:?}");
    for (agent, of_user, in_project) in AGENTS {
        assert!(!project.home().join(of_user).exists(), "{agent}");
        assert!(!project.path().join(in_project).exists(), "{agent}");
    }
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let project = Project::new();
    let shown = run(&project, &["connect", "claude", "--events", "PreToolUse", "--dry-run"]);
    assert!(shown.stdout.contains("bridge claude PreToolUse"), "{shown:?}");
    assert!(!shown.stdout.contains("PostToolUse"));
    assert!(!project.home().join(".claude").join("settings.json").exists());
    // What it would ask is shown, too.
    let folder = fs::canonicalize(project.path()).unwrap().display().to_string();
    for (agent, asked, file) in [
        (
            "gemini",
            format!("would ask: Trust this folder for Gemini CLI? {folder}"),
            ".gemini/trustedFolders.json",
        ),
        (
            "copilot",
            format!("would ask: Trust this folder for Copilot CLI? {folder}"),
            ".copilot/config.json",
        ),
        (
            "codex",
            "would ask: Let Codex CLI run these 4 entries, by their hashes in".to_owned(),
            ".codex/config.toml",
        ),
        ("llxprt", "would ask: ".to_owned(), LLXPRT),
    ] {
        let shown = run(&project, &["connect", agent, "--dry-run"]);
        let file = project.home().join(file);
        assert!(shown.status == 0 && shown.stdout.contains(&asked), "{shown:?}");
        assert!(shown.stdout.contains(&file.display().to_string()), "{shown:?}");
        assert!(!file.exists(), "{agent}");
    }
    // What is agreed to is not asked again.
    assert_eq!(run(&project, &["connect", "gemini", "--yes"]).status, 0);
    let again = run(&project, &["connect", "gemini", "--dry-run"]);
    assert!(!again.stdout.contains("would ask"), "{again:?}");
}

/// Gemini CLI shows what stands on standard error where there is no answer: a teammate without the binary is
/// to see nothing.
#[test]
fn an_entry_in_a_project_says_nothing_where_an_agent_would_show_it() {
    let project = Project::new();
    assert_eq!(run(&project, &["connect", "gemini", "--scope", "project"]).status, 0);
    let written: Value = serde_json::from_str(&project.read(".gemini/settings.json")).unwrap();
    let command = written["hooks"]["BeforeTool"][0]["hooks"][0]["command"].as_str().unwrap();
    let folder = hook_tests::hook_binary().parent().unwrap().display().to_string();
    let gone = command.replace(&folder, "/nowhere");
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &gone]).env("HOME", project.home()).env("PATH", "/usr/bin:/bin");
    let output = shell.current_dir(project.path()).output().unwrap();
    assert!(
        output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
    assert_eq!(run(&project, &["disconnect", "gemini", "--scope", "project"]).status, 0);
}

/// Most agents go on where the command of an entry is missing, or ends with another code than they know.
#[test]
fn an_entry_of_the_user_refuses_by_itself_where_the_binary_is_gone_and_a_guard_is_there() {
    let claude = ("claude", ".claude/settings.json", "hooks", "PreToolUse,Stop");
    let antigravity = ("antigravity", ".gemini/config/hooks.json", "hook", "PreToolUse,Stop");
    let cline = ("cline", ".cline/hooks/PreToolUse", "", "PreToolUse");
    for (agent, file, wrapper, events) in [claude, antigravity, cline] {
        let project = Project::new();
        let config = project.home().join(".config/hooks");
        fs::create_dir_all(config.join("rules")).unwrap();
        // Nothing waits for a file that is none.
        let fifo = std::process::Command::new("mkfifo").arg(config.join("fifo")).status();
        assert!(fifo.unwrap().success());
        assert_eq!(run(&project, &["connect", agent, "--events", events]).status, 0);
        let text = fs::read_to_string(project.home().join(file)).unwrap();
        let command = |event: &str| match serde_json::from_str::<Value>(&text) {
            Ok(settings) => {
                let entry = &settings[wrapper][event][0];
                let entry = entry["hooks"].get(0).unwrap_or(entry);
                entry["command"].as_str().unwrap().to_owned()
            }
            Err(_) => text.lines().nth(1).unwrap().to_owned(),
        };
        let folder = hook_tests::hook_binary().parent().unwrap().display().to_string();
        let gone = |event: &str| {
            let mut shell = project.command("timeout");
            shell
                .args(["30", "/bin/sh", "-c", &command(event).replace(&folder, "/nowhere")])
                .output()
                .unwrap()
        };
        let refuses = || {
            let output = gone("PreToolUse");
            let said = String::from_utf8_lossy(&output.stderr);
            let is_told = said.contains("guards cannot be asked");
            assert_eq!(is_told, output.status.code() == Some(2), "{agent}: {output:?}");
            is_told.then_some(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        assert_eq!(refuses(), None, "{agent}");
        let hook = |fails: &str| {
            let hook = json!({"type": "command", "command": "true", "failBehavior": fails});
            json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string()
        };
        fs::write(config.join("settings.json"), hook("continue")).unwrap();
        assert_eq!(refuses(), None, "{agent}");
        fs::write(config.join("settings.json"), hook("block")).unwrap();
        let answer = refuses().unwrap();
        // An exit code alone would not be heard there.
        match agent {
            "cline" => assert!(answer.contains("\"cancel\":true"), "{answer}"),
            "antigravity" => assert!(answer.contains("\"decision\":\"deny\""), "{answer}"),
            _ => assert_eq!(answer, ""),
        }
        fs::remove_file(config.join("settings.json")).unwrap();
        fs::write(config.join("rules/a.toml"), "[[rule]]\ndeny = \"no\"\n").unwrap();
        assert!(refuses().is_some(), "{agent}");
        fs::remove_file(config.join("rules/a.toml")).unwrap();
        assert_eq!(refuses(), None, "{agent}");
        assert_eq!(run(&project, &["add", "notify"]).status, 0);
        assert_eq!(refuses(), None, "{agent}");
        assert_eq!(run(&project, &["add", "git-safety"]).status, 0);
        assert!(refuses().is_some(), "{agent}");
        fs::remove_file(config.join("packs.lock")).unwrap();
        // Links to a large file are not read to their end.
        assert_eq!(refuses(), None, "{agent}");
        let large = project.write(".hooks/z/0", &"x".repeat(8 << 20));
        for number in 1..200 {
            std::os::unix::fs::symlink(&large, large.with_file_name(number.to_string())).unwrap();
        }
        assert!(refuses().is_some(), "{agent}");
        fs::remove_dir_all(large.parent().unwrap()).unwrap();
        project.write(".hooks/settings.json", &hook("block"));
        assert!(refuses().is_some(), "{agent}");
        // To refuse the end of a turn would be to go on.
        if events.ends_with("Stop") {
            assert_ne!(gone("Stop").status.code(), Some(2), "{agent}");
        }
    }
}

/// The path of a binary is read as a shell reads it, whatever it has in it.
#[test]
fn a_binary_is_found_again_whose_path_is_quoted() {
    let project = Project::new();
    let folder = project.home().join("it's a bridge here");
    fs::create_dir_all(&folder).unwrap();
    let binary = folder.join("hook");
    hook_tests::copy_hook_binary(&binary);
    for scope in ["user", "project"] {
        let mut command = project.command(&binary);
        command.args(["connect", "claude", "--scope", scope]);
        assert!(command.env("CLAUDE_CONFIG_DIR", "").status().unwrap().success());
    }
    let listed = || run(&project, &["connect", "--list"]).stdout;
    assert_eq!(listed().matches("it calls another binary").count(), 2, "{}", listed());
    fs::remove_file(&binary).unwrap();
    assert_eq!(listed().matches("which is not there").count(), 2, "{}", listed());
    assert!(listed().contains(&format!("it calls {}", binary.display())), "{}", listed());
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    let project = Project::new();
    let path = project.home().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (text, said) in [
        ("{\"hooks\": []}", "`hooks` is an array"),
        ("// mine\n{}", "not JSON"),
        ("{\"hooks\": {\"PreToolUse\": 1}}", "`PreToolUse` is a number"),
    ] {
        fs::write(&path, text).unwrap();
        let refused = run(&project, &["connect", "claude"]);
        assert_eq!(refused.status, 1, "{refused:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    for (arguments, said) in [
        (&["connect", "vscode"][..], "no settings file of its own"),
        (&["connect", "claude", "--events", "Nothing"], "it has PreToolUse"),
        (&["connect", "clude"], "did you mean claude?"),
        (&["connect"], "required"),
    ] {
        let refused = run(&project, arguments);
        assert_eq!(refused.status, 64, "{refused:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}

/// A link could lead to a file of somebody else.
#[test]
fn no_link_is_followed_out_of_the_project() {
    let project = Project::new();
    let outside = project.home().join("outside.json");
    fs::write(&outside, "{}\n").unwrap();
    fs::create_dir(project.path().join(".claude")).unwrap();
    let link = project.path().join(".claude/settings.local.json");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let refused = run(&project, &["connect", "claude", "--scope", "project"]);
    assert!(refused.status == 64 && refused.stderr.contains("is a link"), "{refused:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}\n");
}

#[test]
fn a_hook_of_the_users_stays_whatever_it_is_called() {
    let project = Project::new();
    let path = project.home().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let hook = |command: &str| json!({"type": "command", "command": command});
    for group in [
        json!({"hooks": [hook("mine"), hook("/bin/hook bridge claude PreToolUse")]}),
        json!({"hooks": [hook("/bin/mytool bridge claude PreToolUse")]}),
        json!({"hooks": [hook("cd x && ./wrapper.sh bridge claude PreToolUse")]}),
    ] {
        let before = json!({"hooks": {"PreToolUse": [group]}}).to_string();
        fs::write(&path, &before).unwrap();
        run(&project, &["disconnect", "claude"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
    // One file that cannot be edited keeps no other.
    fs::write(&path, "{bad").unwrap();
    run(&project, &["connect", "gemini"]);
    let all = run(&project, &["disconnect", "--all"]);
    assert!(all.status == 1 && all.stdout.contains("disconnected Gemini CLI"), "{all:?}");
}

#[test]
fn an_entry_of_another_binary_is_noticed_and_replaced() {
    let project = Project::new();
    assert_eq!(run(&project, &["connect", "gemini"]).status, 0);
    let path = project.home().join(".gemini/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let folder = hook_tests::hook_binary().parent().unwrap().display().to_string();
    fs::write(&path, text.replace(&folder, "/old/place")).unwrap();
    let listed = run(&project, &["connect", "--list"]);
    assert!(listed.stdout.contains("/old/place/hook, which is not there"), "{listed:?}");
    let doctor = run(&project, &["doctor"]);
    assert!(doctor.status == 1 && doctor.stdout.contains("hook connect gemini"), "{doctor:?}");
    project.write("hook", "");
    fs::write(&path, text.replace(&folder, &project.path().display().to_string())).unwrap();
    let listed = run(&project, &["connect", "--list"]);
    assert!(listed.stdout.contains("calls another binary"), "{listed:?}");
    assert_eq!(run(&project, &["connect", "gemini"]).status, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// What an agent wants: its word, the file in the user's folder, a text that was there, and what it has then.
const CONSENTS: [(&str, &str, &str, &str); 3] = [
    ("gemini", ".gemini/trustedFolders.json", "{\n  \"/x\": \"DO_NOT_TRUST\"\n}\n", "TRUST_FOLDER"),
    ("copilot", ".copilot/config.json", "// its own\n{\"trustedFolders\": [\"/x\"]}\n", "PROJECT"),
    ("llxprt", LLXPRT, "{\n  \"hooksConfig\": {}\n}\n", "\"enabled\": true"),
];

#[test]
fn what_the_agent_wants_is_written_with_yes_and_taken_back_to_the_byte() {
    for (agent, file, text, expected) in CONSENTS {
        let project = Project::new();
        let path = project.home().join(file);
        // Where nobody can be asked it is said, and the entries are there.
        let said = run(&project, &["connect", agent]);
        assert!(said.status == 0 && said.stderr.contains("note: "), "{said:?}");
        let is_settings = file == LLXPRT;
        assert_eq!(path.exists(), is_settings, "{agent}");
        let agreed = run(&project, &["connect", agent, "--yes"]);
        assert!(agreed.status == 0 && !agreed.stderr.contains("note: "), "{agreed:?}");
        let real = project.path().canonicalize().unwrap().display().to_string();
        let expected = expected.replace("PROJECT", &real);
        assert!(fs::read_to_string(&path).unwrap().contains(&expected), "{agent}");
        let again = run(&project, &["connect", agent, "--yes"]);
        assert!(again.stdout.contains("already") && again.stdout.lines().count() == 1, "{again:?}");
        let gone = run(&project, &["disconnect", agent]);
        assert_eq!(gone.status, 0, "{gone:?}");
        assert!(!path.exists(), "{agent}: {gone:?}");
        // What was there is there again.
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        assert_eq!(run(&project, &["connect", agent, "--yes"]).status, 0);
        assert!(fs::read_to_string(&path).unwrap().contains(&expected), "{agent}");
        assert_eq!(run(&project, &["disconnect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{agent}");
    }
}

#[test]
fn the_users_no_stays_and_a_file_that_cannot_be_read_is_left() {
    let project = Project::new();
    let real = project.path().canonicalize().unwrap().display().to_string();
    let path = project.home().join(".gemini/trustedFolders.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for text in [json!({real: "DO_NOT_TRUST"}).to_string(), "{bad".to_owned()] {
        fs::write(&path, &text).unwrap();
        let said = run(&project, &["connect", "gemini", "--yes"]);
        assert!(
            said.status == 0 && said.stderr.contains("only in folders that it trusts"),
            "{said:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn on_a_terminal_it_asks() {
    for (line, agreed) in [("y", true), ("n", false), ("", false)] {
        let project = Project::new();
        let mut terminal = Hook::new(&project, &["connect", "gemini"]).on_terminal();
        terminal.wait_for("Trust this folder for Gemini CLI?");
        terminal.wait_for("[y/N]");
        terminal.types(line);
        let (status, shown) = terminal.finish();
        assert_eq!(status, 0, "{shown}");
        assert_eq!(shown.contains("only in folders that it trusts"), !agreed, "{shown}");
        assert_eq!(project.home().join(".gemini/trustedFolders.json").exists(), agreed, "{shown}");
    }
}

/// Codex, as far as it says which hooks it knows and with which hash.
const CODEX: &str = r#"#!/usr/bin/env python3
import hashlib, json, os, re, sys
path = os.environ["HOME"] + "/.codex/hooks.json"
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        print(json.dumps({"method": "configWarning", "params": {}}))
        print(json.dumps({"id": asked["id"], "result": {}}), flush=True)
    if asked["method"] != "hooks/list":
        continue
    hooks, state = [], open(os.path.dirname(path) + "/config.toml").read() if os.path.exists(
        os.path.dirname(path) + "/config.toml") else ""
    for event, groups in json.load(open(path))["hooks"].items():
        for at, group in enumerate(groups):
            command = group["hooks"][0]["command"]
            key = "%s:%s:%d:0" % (path, re.sub("(?<!^)(?=[A-Z])", "_", event).lower(), at)
            digest = "sha256:" + hashlib.sha256(command.encode()).hexdigest()
            hooks.append({"key": key, "command": command, "currentHash": digest, "sourcePath": path,
                          "trustStatus": "trusted" if digest in state else "untrusted"})
    print(json.dumps({"id": asked["id"], "result": {"data": [{"cwd": "/", "hooks": hooks}]}}), flush=True)
"#;

/// That program, and a `PATH` in which it is.
fn codex(project: &Project) -> (std::path::PathBuf, String) {
    let program = project.write("bin/codex", CODEX);
    let mut mode = fs::metadata(&program).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&program, mode).unwrap();
    let folder = program.parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    (program, path)
}

/// What the README shows of a session with Codex, as far as it is ours.
#[test]
fn the_session_of_the_readme_is_what_one_sees() {
    let readme = fs::read_to_string(hook_tests::workspace().join("README.md")).unwrap();
    let session = readme.split_once("$ hook connect codex\n").unwrap().1;
    let (ours, theirs) = session.split_once("$ codex exec").unwrap();
    let project = Project::new();
    let (_, path) = codex(&project);
    with_hook(&project);
    let connect =
        Hook::new(&project, &["connect", "codex"]).env("CODEX_HOME", "").env("PATH", &path);
    let mut terminal = connect.on_terminal();
    terminal.wait_for("[y/N]");
    terminal.types("y");
    let (status, shown) = terminal.finish();
    let shown = shown.replace('\r', "").replace(&project.home().display().to_string(), "/home/me");
    assert_eq!((status, shown.as_str()), (0, ours));
    assert_eq!(run(&project, &["add", "shell-safety"]).status, 0);
    let fired = ["fire", "BeforeTool", "--tool", "run_shell_command", "--input"];
    let input = r#"{"tool_input": {"command": "rm -rf ~"}}"#;
    let refused = run(&project, &[&fired[..], &[input]].concat());
    let reason = refused.stdout.lines().find_map(|line| line.trim().strip_prefix("reason: "));
    assert!(theirs.contains(reason.unwrap()), "{refused:?}");
}

#[test]
fn codex_gets_the_hashes_of_our_entries_and_of_no_others() {
    let project = Project::new();
    let folder = project.home().join(".codex");
    fs::create_dir_all(&folder).unwrap();
    let mine = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo mine"}]}]}}"#;
    fs::write(folder.join("hooks.json"), mine).unwrap();
    fs::write(folder.join("config.toml"), "model = \"x\"").unwrap();
    let (program, path) = codex(&project);
    with_hook(&project);
    let run = |arguments: &[&str]| {
        Hook::new(&project, arguments).env("CODEX_HOME", "").env("PATH", &path).run()
    };
    let said = run(&["connect", "codex"]);
    assert!(said.status == 0 && said.stderr.contains("/hooks"), "{said:?}");
    let agreed = run(&["connect", "codex", "--yes", "--events", "PreToolUse,SessionEnd,Stop"]);
    assert!(agreed.status == 0 && agreed.stderr.is_empty(), "{agreed:?}");
    let written = fs::read_to_string(folder.join("config.toml")).unwrap();
    assert_eq!(written.matches("trusted_hash").count(), 3, "{written}");
    assert!(
        written.contains("hooks.json:stop:1:0\"]") && !written.contains(":stop:0:0"),
        "{written}"
    );
    // Once is enough; fewer entries have other places.
    run(&["connect", "codex", "--yes", "--events", "PreToolUse,SessionEnd,Stop"]);
    assert_eq!(fs::read_to_string(folder.join("config.toml")).unwrap(), written);
    let gone = run(&["disconnect", "codex"]);
    assert!(gone.status == 0 && gone.stdout.contains("config.toml"), "{gone:?}");
    assert_eq!(fs::read_to_string(folder.join("config.toml")).unwrap(), "model = \"x\"");
    assert_eq!(fs::read_to_string(folder.join("hooks.json")).unwrap(), mine);
    // What Codex does not say is left to the user; the entries are there.
    fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    let unknown = run(&["connect", "codex", "--yes"]);
    assert!(unknown.status == 0 && unknown.stderr.contains("could not be asked"), "{unknown:?}");
    assert!(unknown.stderr.contains("/hooks"), "{unknown:?}");
    assert_eq!(fs::read_to_string(folder.join("config.toml")).unwrap(), "model = \"x\"");
}

/// Codex runs no hook of such a file: an entry there would guard nothing.
#[test]
fn a_file_that_codex_refuses_gets_no_entry_and_is_no_connection() {
    let project = Project::new();
    with_hook(&project);
    let file = project.home().join(".codex/hooks.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mine = "{\n  \"$schema\": \"x\",\n  \"hooks\": {}\n}\n";
    fs::write(&file, mine).unwrap();
    let refused = run(&project, &["connect", "codex"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    let why = "Codex CLI would run no hook of it: unknown field `$schema`, expected `description` or `hooks`";
    assert!(
        refused.stderr.contains(why) && refused.stderr.contains("hooks.json:2:"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), mine);
    fs::write(&file, "{}").unwrap();
    assert_eq!(run(&project, &["connect", "codex"]).status, 0);
    let connected = fs::read_to_string(&file).unwrap();
    fs::write(&file, connected.replacen('{', "{\"$schema\": \"x\",", 1)).unwrap();
    let doctor = run(&project, &["doctor"]);
    let why = "Codex CLI runs no hook of this file: unknown field `$schema`";
    assert!(doctor.status == 1 && doctor.stdout.contains(why), "{doctor:?}");
    let fix = format!("hook check {}", file.display());
    assert!(doctor.stdout.contains(&fix), "{doctor:?}");
    let check = run(&project, &["check", file.to_str().unwrap()]);
    assert!(check.status == 1 && check.stdout.contains("error[foreign-refused]"), "{check:?}");
    project.write(".codex/config.toml", "[[hooks.Stop]]\nmatcher = 3\n");
    let toml = project.path().join(".codex/config.toml");
    let check = run(&project, &["check", toml.to_str().unwrap()]);
    assert!(check.stdout.contains("does not start with this file: invalid type"), "{check:?}");
    assert_eq!(run(&project, &["disconnect", "codex"]).status, 0);
}

/// An agent that runs what was written asks our hooks.
#[test]
fn what_is_written_works() {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo no >&2; exit 2"}]}]}});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    for scope in ["user", "project"] {
        assert_eq!(run(&project, &["connect", "claude", "--scope", scope]).status, 0);
        let path = match scope {
            "user" => project.home().join(".claude/settings.json"),
            _ => project.path().join(".claude/settings.local.json"),
        };
        let written: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let command = &written["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
        project.write(
            "event.json",
            &json!({"session_id": "s", "cwd": project.path(),
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})
            .to_string(),
        );
        let script = format!("{} < event.json > answer.json", command.as_str().unwrap());
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &script]).current_dir(project.path());
        shell.env("HOME", project.home()).env("XDG_CONFIG_HOME", project.home().join(".config"));
        assert!(shell.status().unwrap().success(), "{script}");
        let answer: Value = serde_json::from_str(&project.read("answer.json")).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{scope}");
        // Where the binary is not there, nobody is blocked, and it is said.
        if scope == "project" {
            let folder = hook_tests::hook_binary().parent().unwrap().display().to_string();
            let mut shell = std::process::Command::new("/bin/sh");
            shell.args(["-c", &script.replace(&folder, "/nowhere")]).current_dir(project.path());
            shell.env("HOME", project.home()).env("PATH", "/usr/bin:/bin");
            let output = shell.output().unwrap();
            assert!(output.status.success());
            assert!(String::from_utf8_lossy(&output.stderr).contains("not installed"));
        }
    }
}

#[test]
fn what_hooks_of_ours_lose_in_the_agent_is_said() {
    let project = Project::new();
    let hooks = |count: usize| {
        let hook = json!({"type": "command", "command": "true"});
        json!([{"hooks": vec![hook; count]}])
    };
    let settings = json!({"hooks": {"PermissionRequest": hooks(1), "BeforeTool": hooks(2),
        "AfterTool": hooks(1)}});
    project.write(".hooks/settings.json", &settings.to_string());
    let said = run(&project, &["connect", "gemini", "--dry-run", "--events", "BeforeTool"]).stderr;
    assert!(
        said.contains("PermissionRequest: Gemini CLI never asks; 1 hook will not run there"),
        "{said}"
    );
    assert!(said.contains("AfterTool: not connected; 1 hook will not run there"), "{said}");
    assert!(
        said.contains(
            "BeforeTool: what Gemini CLI passes over at BeforeTool of a hook's answer: context"
        ),
        "{said}"
    );
    let guarded = Project::new();
    with_hook(&guarded);
    assert_eq!(run(&guarded, &["connect", "gemini", "--dry-run"]).stderr, "");
}

/// An entry of a binary with another name would not be known again.
#[test]
fn a_binary_that_is_called_otherwise_is_not_written() {
    let project = Project::new();
    let binary = project.home().join("hook-0.1");
    hook_tests::copy_hook_binary(&binary);
    let mut command = project.command(&binary);
    let refused = command.args(["connect", "gemini"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("known by the name `hook`"),
        "{refused:?}"
    );
    assert!(!project.home().join(".gemini").exists());
}

/// What the agent still wants is said with the command that agrees to it.
#[test]
fn what_is_left_to_do_is_said_with_its_command() {
    let project = Project::new();
    let said = run(&project, &["connect", "gemini", "--scope", "project"]).stderr;
    assert!(said.contains("`hook connect gemini --scope project --yes` agrees to it"), "{said}");
    assert!(!run(&project, &["connect", "cursor"]).stderr.contains("--yes"));
}

#[test]
fn several_agents_are_connected_at_once_and_all_that_are_here() {
    let project = Project::new();
    with_hook(&project);
    let both = run(&project, &["connect", "claude", "gemini", "--no-server"]);
    assert_eq!(both.status, 0, "{both:?}");
    assert_eq!(both.stdout.matches("connected ").count(), 2, "{both:?}");
    let other = Project::new();
    for folder in [".claude", ".codex"] {
        fs::create_dir_all(other.home().join(folder)).unwrap();
    }
    let all = run(&other, &["connect", "--all", "--json"]);
    let agents: Vec<Value> = all.lines().iter().filter_map(|it| it.get("agent").cloned()).collect();
    assert_eq!(agents, ["claude", "codex"], "{all:?}");
    let none = run(&Project::new(), &["connect", "--all"]);
    assert_eq!(none.status, 1, "{none:?}");
    // One that cannot be edited keeps no other.
    fs::write(other.home().join(".claude/settings.json"), "nonsense").unwrap();
    fs::remove_file(other.home().join(".codex/hooks.json")).unwrap();
    let all = run(&other, &["connect", "--all"]);
    assert_eq!(all.status, 1, "{all:?}");
    assert!(other.home().join(".codex/hooks.json").exists());
}

#[test]
fn what_can_be_refused_is_connected_and_what_hooks_listen_to() {
    let project = Project::new();
    let events = |arguments: &[&str]| -> Vec<String> {
        let finished = run(&project, &[&["connect", "claude", "--no-server"], arguments].concat());
        assert_eq!(finished.status, 0, "{finished:?}");
        let text = fs::read_to_string(project.home().join(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        settings["hooks"].as_object().unwrap().keys().cloned().collect()
    };
    let without = events(&[]);
    assert!(without.contains(&"PreToolUse".to_owned()), "{without:?}");
    assert!(!without.contains(&"SessionEnd".to_owned()), "{without:?}");
    let hooks =
        json!({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    project.write(".hooks/settings.json", &hooks.to_string());
    let doctor = run(&project, &["doctor"]);
    let lost = "hooks listen to SessionEnd";
    assert!(doctor.stdout.contains(lost), "{doctor:?}");
    let with = events(&[]);
    assert!(with.contains(&"SessionEnd".to_owned()), "{with:?}");
    assert!(!run(&project, &["doctor"]).stdout.contains(lost));
    // Another project may need what is connected.
    fs::remove_file(project.path().join(".hooks/settings.json")).unwrap();
    assert_eq!(events(&[]), with);
    assert_eq!(events(&["--events", "Stop"]), ["Stop"]);
}

#[test]
fn a_connection_has_calls_start_a_server_unless_that_is_not_wanted() {
    let settings = |project: &Project| {
        fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap_or_default()
    };
    let project = Project::new();
    let dry = run(&project, &["connect", "claude", "--dry-run"]);
    assert!(dry.stdout.contains("would write \"server\": \"auto\""), "{dry:?}");
    run(&project, &["connect", "claude", "--scope", "project"]);
    run(&project, &["connect", "claude", "--no-server"]);
    assert_eq!(settings(&project), "");
    let connected = run(&project, &["connect", "claude"]);
    assert!(connected.stdout.contains("wrote \"server\": \"auto\""), "{connected:?}");
    let written: Value = serde_json::from_str(&settings(&project)).unwrap();
    assert_eq!(written, json!({"hooksConfig": {"server": "auto"}}));
    assert_eq!(run(&project, &["check"]).status, 0);
    // What the user says of it stays.
    for (before, after) in [
        (r#"{"hooksConfig": {"server": "off"}}"#, r#"{"hooksConfig": {"server": "off"}}"#),
        (r#"{"hooks": {}}"#, r#"{"hooksConfig": {"server": "auto"}, "hooks": {}}"#),
        (
            r#"{"hooksConfig": {"maxConcurrent": 2}, "hooks": {}}"#,
            r#"{"hooksConfig": {"maxConcurrent": 2,"server": "auto"}, "hooks": {}}"#,
        ),
    ] {
        fs::write(project.home().join(".config/hooks/settings.json"), before).unwrap();
        run(&project, &["connect", "claude"]);
        assert_eq!(settings(&project), after);
    }
}

#[test]
fn comments_and_last_commas_are_no_hindrance_where_the_agent_takes_them() {
    for (agent, path, before) in [
        (
            "gemini",
            ".gemini/settings.json",
            "// mine, all of it\n{\n  // {\"hooks\": 1},\n  \"a\": [1], /* , */\n  \"b\": \"//\" // end\n}\n",
        ),
        (
            "copilot",
            ".copilot/hooks/hook.json",
            "{\n  \"version\": 1, // ,\n  \"hooks\": { /* none */ },\n}\n",
        ),
        (
            "copilot",
            ".copilot/hooks/hook.json",
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [\n      // mine\n      {\"type\": \"command\", \"bash\": \"true\"},\n    ],\n  },\n}\n",
        ),
    ] {
        let project = Project::new();
        with_hook(&project);
        let path = project.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before).unwrap();
        let connected = run(&project, &["connect", agent, "--no-server"]);
        assert_eq!(connected.status, 0, "{connected:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!(" bridge {agent} ")), "{text}");
        let listed = run(&project, &["connect", "--list", "--json"]).lines();
        assert!(listed.iter().any(|it| it["agent"] == agent && it["events"] != 0), "{listed:?}");
        assert_eq!(run(&project, &["disconnect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
}

#[test]
fn what_is_written_is_laid_out_for_people() {
    for (agent, of_user, _) in AGENTS {
        let project = Project::new();
        let path = project.home().join(of_user);
        run(&project, &["connect", agent, "--no-server"]);
        let made = fs::read_to_string(&path).unwrap();
        let longest = made.lines().map(|line| line.matches(" bridge ").count()).max();
        assert_eq!(longest, Some(1), "one entry a line: {made}");
        assert!(made.contains("\n  \"hooks\": {\n    \""), "{made}");
        run(&project, &["disconnect", agent]);
        assert!(!path.exists(), "{agent}");
        // Among what the user has it is laid out like that.
        let before = match agent {
            "codex" => "{\n    \"description\":\n        \"mine\"\n}\n",
            _ => "{\n    \"mine\": {\n        \"a\": 1\n    }\n}\n",
        };
        fs::write(&path, before).unwrap();
        run(&project, &["connect", agent, "--no-server"]);
        let text = fs::read_to_string(&path).unwrap();
        let longest = text.lines().map(|line| line.matches(" bridge ").count()).max();
        assert_eq!(longest, Some(1), "one entry a line: {text}");
        assert!(text.contains("\n    \"hooks\": {\n        \""), "{text}");
        run(&project, &["disconnect", agent]);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
}

/// Caches, build folders and folders of packages are cleaned or replaced; entries stay.
#[test]
fn a_binary_whose_path_does_not_last_is_copied_and_the_copy_is_called() {
    let project = Project::new();
    let npx = project.home().join(".npm/_npx/1a/node_modules/@hook-engine/linux-x64/bin/hook");
    fs::create_dir_all(npx.parent().unwrap()).unwrap();
    hook_tests::copy_hook_binary(&npx);
    let copy = project.home().join(".local/share/hook/bin/hook");
    let settings = project.home().join(".gemini/settings.json");
    let call = |binary: &std::path::Path, arguments: &[&str]| {
        let output = project.command(binary).args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let shown = call(&npx, &["connect", "gemini", "--dry-run"]);
    assert!(shown.1.contains(&copy.display().to_string()) && !copy.exists(), "{shown:?}");
    for binary in [&npx, &hook_tests::hook_in_build_folder()] {
        let _ = fs::remove_file(&copy);
        let (status, _, said) = call(binary, &["connect", "gemini"]);
        assert!(status == Some(0) && said.contains("agents call a copy"), "{said}");
        let written = fs::read_to_string(&settings).unwrap();
        let folder = format!("\"_h={}; ", copy.parent().unwrap().display());
        assert!(written.contains(&folder), "{written}");
        assert_eq!(call(&copy, &["--version"]).0, Some(0));
        let (_, listed, _) = call(binary, &["connect", "--list"]);
        assert!(!listed.contains("calls another binary"), "{listed}");
        assert!(!call(binary, &["connect", "gemini"]).2.contains("copy"));
    }
    // The next version is another file.
    fs::OpenOptions::new().append(true).open(&npx).unwrap().write_all(b"newer").unwrap();
    assert!(call(&npx, &["connect", "--list"]).1.contains("calls another binary"));
    assert!(call(&npx, &["connect", "gemini"]).2.contains("agents call a copy"));
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&npx).unwrap());
    assert!(call(&copy, &["doctor"]).1.contains("installed as a copy by `hook connect`"));
}
