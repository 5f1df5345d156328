//! The TypeScript SDK: installed, built, checked and tested by its own tools, in a copy.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::symlink;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

use hook_tests::{hook_binary, output_within, workspace};

/// What the package is built and tested from.
const PARTS: [&str; 5] = [
    "sdks/typescript",
    "docs/schema",
    "docs/examples/sdk/typescript",
    "docs/examples/modules",
    "tests/triggers",
];

/// What is made in a package, and does not belong into a copy.
const MADE: [&str; 2] = ["node_modules", "dist"];

/// How long one of its tools may take.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// What npm says when it cannot reach a registry, which is no fault of the package.
const OFFLINE: [&str; 9] = [
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTCACHED",
    "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT",
    "ETIMEDOUT",
];

#[test]
fn the_typescript_sdk_passes_its_own_tests_against_this_engine() {
    let package = match built() {
        Ok(package) => package,
        Err(why) => return skipped(why),
    };
    let said = assert_passes(by_itself(npm(package, &["test"])));
    // One word for all tests that want the same tool.
    let missing = said.lines().filter_map(|line| line.split_once("SKIPPED "));
    let missing: BTreeSet<&str> = missing.map(|(_, what)| what).collect();
    missing.into_iter().for_each(skipped);
}

#[test]
fn a_tool_that_never_ends_is_ended_and_what_one_leaves_behind_is_not_waited_for() {
    let sh =
        |script| output_within(Duration::from_secs(5), Command::new("sh").args(["-c", script]));
    let stuck = sh("echo begun; sleep 1000 & wait").unwrap_err();
    assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
    assert!(stuck.to_string().ends_with(" was ended after 5 seconds: begun\n"), "{stuck}");
    assert_eq!(sh("sleep 60 & echo done").unwrap().stdout, b"done\n");
}

/// Runs some of the package's own tests, by their names; without what they need it says so.
pub(crate) fn passes(file: &str, tests: &[&str]) {
    let package = match built() {
        Ok(package) => package,
        Err(why) => return skipped(why),
    };
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap", "--test-timeout=120000"]).current_dir(package);
    node.args(tests.iter().map(|test| format!("--test-name-pattern={test}")));
    node.arg(format!("test/{file}"));
    let said = assert_passes(by_itself(node));
    for test in tests {
        // The name says nothing to a pattern that fits no test.
        let ran = said.lines().find(|line| line.contains(" - ") && line.contains(test));
        let ran = ran.unwrap_or_else(|| panic!("{file} has no test {test:?}: {said}"));
        assert!(ran.trim_start().starts_with("ok"), "{ran}");
        if let Some((_, why)) = ran.split_once("# SKIP ") {
            assert!(why.starts_with("SKIPPED "), "{ran}");
            skipped(why);
        }
    }
}

/// A command that knows nothing of who runs these tests, but which engine it is to ask.
fn by_itself(mut command: Command) -> Command {
    command.env("HOOK_BINARY", hook_binary());
    for variable in ["HOOK_SOCKET", "HOOK_RUN_TOKEN", "NODE_TEST_CONTEXT", "NODE_OPTIONS"] {
        command.env_remove(variable);
    }
    command
}

/// The package, built and checked in a copy of it and of what is around it; why there is none.
/// What was made before from the same files is made only once.
pub(crate) fn built() -> Result<&'static Path, &'static str> {
    static BUILT: OnceLock<Option<Result<PathBuf, String>>> = OnceLock::new();
    // What failed once is not tried again by each test.
    let built = BUILT.get_or_init(|| panic::catch_unwind(build).ok());
    built.as_ref().expect("it can be built").as_deref().map_err(String::as_str)
}

fn build() -> Result<PathBuf, String> {
    let node = can_be_run()?;
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-typescript");
    let (package, stamp) = (copy.join("sdks/typescript"), copy.join("made-for"));
    fs::create_dir_all(&copy).unwrap();
    // Other runs of these tests wait until it is made.
    let lock = File::create(copy.join("lock")).unwrap();
    lock.lock().unwrap();
    link_session(&copy);
    let made_for = format!("{node} {:x}", fingerprint());
    if fs::read_to_string(&stamp).is_ok_and(|made| made == made_for) {
        return Ok(package);
    }
    let _ = fs::remove_file(&stamp);
    copy_parts(&copy);
    install(&package)?;
    assert_passes(npm(&package, &["run", "build"]));
    assert_passes(npm(&package, &["run", "check"]));
    fs::write(stamp, made_for).unwrap();
    Ok(package)
}

pub(crate) fn skipped(why: &str) {
    hook_tests::skipped(&format!("the TypeScript SDK: {why}"));
}

/// Whether its tools are there; the version of node.
fn can_be_run() -> Result<String, String> {
    let version = Command::new("node").arg("--version").output();
    let version = version.map_err(|error| format!("node cannot be run: {error}"))?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|it| it.parse().ok());
    if major.is_none_or(|major: u32| major < 20) {
        return Err(format!("it needs node 20, and this is {version:?}"));
    }
    let npm = Command::new("npm").arg("--version").output();
    npm.map_err(|error| format!("npm cannot be run: {error}"))?;
    Ok(version)
}

/// What tells the files from which it is made from others.
fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in PARTS {
        hash_folder(&workspace().join(part), &mut hasher).expect("the package is read");
    }
    hasher.finish()
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries.iter().filter(|entry| !is_made(entry)) {
        entry.file_name().hash(hasher);
        if entry.file_type()?.is_dir() {
            hash_folder(&entry.path(), hasher)?;
        } else {
            fs::read(entry.path())?.hash(hasher);
        }
    }
    Ok(())
}

fn is_made(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(|name| MADE.contains(&name))
}

/// Copies the package and what it takes from its surroundings. What was installed before stays.
fn copy_parts(copy: &Path) {
    for part in PARTS {
        let to = copy.join(part);
        if to.exists() {
            clear(&to).expect("the copy of before is removed");
        }
        copy_folder(&workspace().join(part), &to).expect("the package is copied");
    }
}

/// The agent among the examples asks the hooks of this checkout, in their own place.
fn link_session(copy: &Path) {
    let session = copy.join("docs/examples/agent-session");
    if fs::read_link(&session).is_ok_and(|to| to == workspace().join("docs/examples/agent-session"))
    {
        return;
    }
    let _ = fs::remove_file(&session);
    fs::create_dir_all(copy.join("docs/examples")).unwrap();
    symlink(workspace().join("docs/examples/agent-session"), session).unwrap();
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
        if is_made(&entry) {
            continue;
        }
        let to = to.join(entry.file_name());
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
    from_registry(&mut npm(package, &["ci", "--ignore-scripts"]))?;
    fs::write(installed, lock).unwrap();
    Ok(())
}

/// Has npm install or fetch something; what it prints, or why it cannot.
pub(crate) fn from_registry(npm: &mut Command) -> Result<String, String> {
    // A registry that says nothing is none.
    let npm = npm.args(["--fetch-timeout=30000", "--fetch-retries=1"]);
    let output = output_within(LIMIT, npm).map_err(|error| error.to_string())?;
    let said = text_of(&output);
    if !output.status.success() {
        assert!(OFFLINE.iter().any(|code| said.contains(code)), "{npm:?}: {said}");
        return Err(format!("what it needs cannot be had: {said}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn npm(package: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(package);
    command
}

fn assert_passes(mut command: Command) -> String {
    let output = output_within(LIMIT, &mut command).unwrap();
    let said = text_of(&output);
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

fn text_of(output: &Output) -> String {
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{stdout}{stderr}")
}
