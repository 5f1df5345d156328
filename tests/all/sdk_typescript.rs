//! The TypeScript SDK: installed, built, checked and tested by its own tools, in a copy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hook_tests::{hook_binary, workspace};

/// What the package is built and tested from.
const PARTS: [&str; 3] = ["sdks/typescript", "proto", "docs/examples/sdk/typescript"];

/// What is made in a package, and does not belong into a copy.
const MADE: [&str; 2] = ["node_modules", "dist"];

/// What npm says when it cannot reach a registry, which is no fault of the package.
const OFFLINE: [&str; 8] = [
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTCACHED",
    "ENOTFOUND",
    "ETIMEDOUT",
];

#[test]
fn the_typescript_sdk_passes_its_own_tests_against_this_engine() {
    if let Err(why) = can_be_run() {
        return skipped(&why);
    }
    let copy = copied();
    let package = copy.join("sdks/typescript");
    if let Err(why) = install(&package) {
        return skipped(&why);
    }
    assert_passes(npm(&package, &["run", "build"]));
    assert_passes(npm(&package, &["run", "check"]));
    let mut tests = npm(&package, &["test"]);
    tests.env("HOOK_BINARY", hook_binary());
    // What the one who runs these tests has set is none of theirs.
    for variable in ["HOOK_SOCKET", "HOOK_RUN_TOKEN", "NODE_TEST_CONTEXT", "NODE_OPTIONS"] {
        tests.env_remove(variable);
    }
    let said = assert_passes(tests);
    assert!(!said.contains("SKIPPED"), "{said}");
}

#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn skipped(why: &str) {
    eprintln!("SKIPPED the TypeScript SDK: {why}");
}

/// Whether its tools are there.
fn can_be_run() -> Result<(), String> {
    let version = Command::new("node").arg("--version").output();
    let version = version.map_err(|error| format!("node cannot be run: {error}"))?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|it| it.parse().ok());
    if major.is_none_or(|major: u32| major < 20) {
        return Err(format!("it needs node 20, and this is {version:?}"));
    }
    let npm = Command::new("npm").arg("--version").output();
    npm.map(drop).map_err(|error| format!("npm cannot be run: {error}"))
}

/// A copy of the package and of what it takes from its surroundings. What was installed before stays.
fn copied() -> PathBuf {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-typescript");
    for part in PARTS {
        let to = copy.join(part);
        if to.exists() {
            clear(&to).expect("the copy of before is removed");
        }
        copy_folder(&workspace().join(part), &to).expect("the package is copied");
    }
    copy
}

fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        match entry.file_name().to_str() {
            Some("node_modules") => {}
            _ if is_folder => fs::remove_dir_all(entry.path())?,
            _ => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| MADE.contains(&name)) {
            continue;
        }
        let to = to.join(&name);
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Installs what the lock file names, unless that was done before.
fn install(package: &Path) -> Result<(), String> {
    let lock = fs::read(package.join("package-lock.json")).unwrap();
    let installed = package.join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let output = npm(package, &["ci", "--ignore-scripts"]).output().unwrap();
    if !output.status.success() {
        let said = text_of(&output);
        assert!(OFFLINE.iter().any(|code| said.contains(code)), "npm ci: {said}");
        return Err(format!("what it needs cannot be installed: {said}"));
    }
    fs::write(installed, lock).unwrap();
    Ok(())
}

fn npm(package: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(package);
    command
}

fn assert_passes(mut command: Command) -> String {
    let output = command.output().unwrap();
    let said = text_of(&output);
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

fn text_of(output: &Output) -> String {
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{stdout}{stderr}")
}
