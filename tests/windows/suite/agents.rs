//! Agents: their calls, and entries in their settings.

use std::fs;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::place::{Place, finish, hook_binary, run, start};

/// A call of a tool with an id of its own: a server answers one that comes twice from memory.
pub(crate) fn claude_call(place: &Place) -> String {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let id = CALLS.fetch_add(1, Ordering::Relaxed);
    json!({"session_id": "s", "transcript_path": "", "cwd": place.project(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "dir"}, "tool_use_id": format!("t{id}")})
    .to_string()
}

#[test]
fn a_bridge_answers_while_its_input_is_left_open() {
    let place = Place::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": place.probe_with("deny 'not größe'")}]}]}});
    fs::create_dir_all(place.roaming().join("hooks")).unwrap();
    fs::write(place.roaming().join(r"hooks\settings.json"), settings.to_string()).unwrap();
    for agent in ["claude", "codex"] {
        let mut child = start(place.hook(&["bridge", agent, "PreToolUse"]));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(claude_call(&place).as_bytes()).unwrap();
        stdin.flush().unwrap();
        let mut answer = String::new();
        child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
        let ended = finish(child);
        drop(stdin);
        assert!(answer.contains("not größe"), "{agent}: {answer} {ended:?}");
        assert!(answer.contains("deny"), "{agent}: {answer}");
        assert_eq!(ended.code, 0, "{agent}: {ended:?}");
    }
}

#[test]
fn connecting_and_disconnecting_leaves_every_byte() {
    let place = Place::new();
    let before = "{\r\n  \"model\": \"größe\",\r\n\t\"hooks\": {}\r\n}\r\n";
    for (agent, file) in [
        ("claude", r".claude\settings.json"),
        ("gemini", r".gemini\settings.json"),
        ("qwen", r".qwen\settings.json"),
        ("codex", r".codex\hooks.json"),
        ("cursor", r".cursor\hooks.json"),
    ] {
        let file = place.home().join(file);
        for original in [Some(before), None] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            if let Some(original) = original {
                fs::write(&file, original).unwrap();
            }
            let connected = place.run(&["connect", agent, "--no-server"]);
            assert_eq!(connected.code, 0, "{agent}: {connected:?}");
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains("bridge"), "{agent}: {text}");
            let again = place.run(&["connect", agent, "--no-server"]);
            assert_eq!(again.code, 0, "{agent}: {again:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "{agent}: the second time");
            let disconnected = place.run(&["disconnect", agent]);
            assert_eq!(disconnected.code, 0, "{agent}: {disconnected:?}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), original, "{agent}");
            let _ = fs::remove_file(&file);
        }
    }
}

#[test]
fn the_entries_of_claude_are_programs_with_arguments() {
    let place = Place::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": place.probe_with("deny 'no'")}]}]}});
    fs::create_dir_all(place.roaming().join("hooks")).unwrap();
    fs::write(place.roaming().join(r"hooks\settings.json"), settings.to_string()).unwrap();
    for scope in ["user", "project"] {
        let connected = place.run(&["connect", "claude", "--no-server", "--scope", scope]);
        assert_eq!(connected.code, 0, "{connected:?}");
        let file = match scope {
            "user" => place.home().join(r".claude\settings.json"),
            _ => place.project().join(r".claude\settings.local.json"),
        };
        let settings: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
        let program = entry["command"].as_str().unwrap();
        let arguments: Vec<&str> =
            entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(arguments, ["bridge", "claude", "PreToolUse"], "{scope}");
        let program = match scope {
            "user" => {
                // A copy: the folder of what was built is none that lasts.
                let program = std::path::PathBuf::from(program);
                assert!(program.starts_with(place.local()), "{program:?}");
                program
            }
            // Others have it elsewhere: it is looked for in PATH.
            _ => {
                assert_eq!(program, "hook");
                hook_binary()
            }
        };
        let mut call = place.command(program);
        call.args(arguments);
        let answered = run(call, &claude_call(&place));
        assert!(answered.stdout.contains("deny"), "{scope}: {answered:?}");
        let listed = place.run(&["connect", "--list"]);
        assert!(listed.stdout.contains("claude"), "{listed:?}");
    }
}
