//! The team of three in docs/examples/sdk/team.md: a worker, a handler of a client, and a command guard one server.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that finds something else fails")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../../../tests/src/skipped.rs"]
mod skipped;

use skipped::skipped;

/// What stands between the output of one block and the next.
const MARK: &str = "\u{1}next block\u{1}";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The part of the page, as blocks of commands, each with what it says that they print.
fn blocks() -> Vec<(String, Option<String>)> {
    let page = std::fs::read_to_string(workspace().join("docs/examples/sdk/team.md")).unwrap();
    let (_, part) = page.split_once("# A team of three\n").unwrap();
    let (part, _) = part.split_once("\n## ").unwrap();
    let mut blocks: Vec<(String, Option<String>)> = Vec::new();
    let mut pieces = part.split("```").skip(1).step_by(2);
    for piece in &mut pieces {
        let (language, text) = piece.split_once('\n').unwrap();
        match (language, blocks.last_mut()) {
            ("sh", _) => blocks.push((text.to_owned(), None)),
            ("text", Some((_, output))) => *output = Some(text.to_owned()),
            _ => panic!("a block is `sh`, or `text` after it: {language}"),
        }
    }
    blocks
}

/// The TypeScript SDK, as the tests of the workspace have built it.
fn sdk() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-typescript/sdks/typescript");
    built.join("dist").is_dir().then_some(built)
}

#[test]
fn a_team_of_three_guards_one_server() {
    let Some(sdk) = sdk() else {
        return skipped(
            "the team of three: the TypeScript SDK is not built; run `cargo test -p hook-tests --test all \
             sdk_typescript` first",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join("node_modules")).unwrap();
    symlink(sdk, project.join("node_modules/hook-sdk")).unwrap();
    let blocks = blocks();
    let mut script = String::from("exec 2>&1\n");
    for (commands, _) in &blocks {
        script.push_str(commands);
        script.push_str(&format!("printf '%s' '{MARK}'\n"));
    }
    let file = folder.path().join("team.sh");
    std::fs::write(&file, script).unwrap();
    let binaries = Path::new(env!("CARGO_BIN_EXE_hook")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(binaries.to_owned()).chain(std::env::split_paths(&path)),
    );
    let mut bash = Command::new("timeout");
    bash.args(["100", "bash"]).arg(&file).current_dir(&project);
    bash.env("PATH", path.unwrap()).env("HOME", folder.path());
    bash.env("XDG_CONFIG_HOME", folder.path().join("config"));
    bash.env("XDG_STATE_HOME", folder.path().join("state"));
    // As `pip install --user` does it: what a worker would load by PYTHONPATH it does not.
    let mut python = Command::new("python3");
    python.args(["-c", "import site; print(site.getusersitepackages())"]);
    let site = python.env("HOME", folder.path()).output().unwrap().stdout;
    let site = Path::new(std::str::from_utf8(&site).unwrap().trim()).to_path_buf();
    std::fs::create_dir_all(&site).unwrap();
    symlink(workspace().join("sdks/python/src/hook_sdk"), site.join("hook_sdk")).unwrap();
    bash.env_remove("HOOK_RUN_TOKEN").env_remove("HOOK_SOCKET");
    let output = bash.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let said: Vec<&str> = said.split(MARK).collect();
    assert_eq!(said.len(), blocks.len() + 1, "it came to its end: {said:#?}");
    for ((commands, output), said) in blocks.iter().zip(said) {
        if let Some(output) = output {
            let lines =
                |text: &str| text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
            assert_eq!(lines(said), lines(output), "of {commands}");
        }
    }
}
