//! Running the `hook` binary in a private home.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::project::Project;
use crate::terminal::Terminal;

/// The time after which a command that does not end fails its test. No command of a test works that long.
const LIMIT: Duration = Duration::from_secs(180);

/// The workspace's folder.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The `hook` binary, built once for a run of the tests: cargo builds only the binaries of the
/// package under test. It is in a folder that is not cargo's, as if it were installed.
///
/// # Panics
/// When it cannot be built.
pub fn hook_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| install(&hook_in_build_folder()))
}

/// The `hook` binary where cargo puts it.
///
/// # Panics
/// When it cannot be built.
pub fn hook_in_build_folder() -> PathBuf {
    built().join("hook")
}

/// Links a binary into a folder of its own, whatever other tests do there at the same time.
#[expect(clippy::expect_used, reason = "without what is to be tested there is no test")]
fn install(binary: &Path) -> PathBuf {
    let folder = binary.with_file_name("installed");
    std::fs::create_dir_all(&folder).expect("a folder beside the binary can be made");
    let new = folder.join(format!("new-{}", std::process::id()));
    let installed = folder.join("hook");
    std::fs::hard_link(binary, &new).expect("a file can be linked into a folder beside it");
    std::fs::rename(&new, &installed).expect("a new file can take the place of an old one");
    // Of two names of one file, renaming leaves both.
    let _ = std::fs::remove_file(&new);
    installed
}

/// `PATH` with the `hook` binary in front.
///
/// # Panics
/// When the binary cannot be built.
pub fn path_with_hook() -> OsString {
    let mut path = hook_binary().parent().unwrap_or(Path::new("")).as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}

/// What of the environment of whoever runs the tests would change what the binary does or says.
const OWN_VARIABLES: [&str; 9] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HOOK_LOG",
    "HOOK_DEPTH",
    "NO_COLOR",
    "COLUMNS",
    "RUST_BACKTRACE",
];

impl Project {
    /// A program that is started in the project, in a private environment: the home is the
    /// project's, and so are all settings.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).env("HOME", self.home()).env("TERM", "xterm-256color");
        for variable in OWN_VARIABLES {
            command.env_remove(variable);
        }
        command
    }
}

/// An example of `hook-bus`, built.
///
/// # Panics
/// When it cannot be built.
pub fn example(name: &str) -> PathBuf {
    built().join("examples").join(name)
}

/// The programs that tests start, besides those of this package.
const PROGRAMS: [&str; 6] = ["--bin", "hook", "--example", "agent", "--example", "modules"];

/// Builds the programs as these tests were built; the folder they are in. With examples, cargo
/// chooses the features of dependencies as in `cargo test --workspace`, and has nothing left to build.
/// `HOOK_TEST_FEATURES` has the features that such a run was given.
fn built() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(build)
}

#[expect(clippy::panic, reason = "without what is to be tested there is no test")]
fn build() -> PathBuf {
    // The tests' own binary is in target/PROFILE/deps.
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.args(["build", "--quiet", "--workspace"]).args(PROGRAMS).current_dir(workspace());
    if let Some(features) = std::env::var_os("HOOK_TEST_FEATURES") {
        build.arg("--features").arg(features);
    }
    // What cargo tells this test of its own package would have dependencies built again that look at it.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    if folder.ends_with("release") {
        build.arg("--release");
    }
    match build.status() {
        Ok(status) if status.success() => folder,
        built => panic!("failed to build {PROGRAMS:?}: {built:?}"),
    }
}

/// One call of the binary.
#[derive(Debug)]
pub struct Hook {
    command: Command,
    stdin: Vec<u8>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// Status, standard output and standard error as a snapshot holds them: see [`stable`].
    pub fn shown(&self, project: &Project) -> String {
        let text = format!(
            "status: {}\n----- stdout -----\n{}----- stderr -----\n{}",
            self.status, self.stdout, self.stderr
        );
        stable(&text, project)
    }

    /// Standard output as JSON, one value a line.
    ///
    /// # Panics
    /// When a line is not JSON.
    #[expect(clippy::panic, reason = "output that is not JSON fails the test")]
    pub fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
        };
        self.stdout.lines().map(parse).collect()
    }
}

/// A text without what differs from run to run: the folders are `[PROJECT]` and `[HOME]`, times
/// `[TIME]`, instants `[INSTANT]`, ids `[ID]`.
///
/// # Panics
/// Never: the expressions are constant.
#[expect(clippy::expect_used, reason = "the expressions are constant")]
pub fn stable(text: &str, project: &Project) -> String {
    let mut text = text.to_owned();
    for (folder, word) in [(project.path(), "[PROJECT]"), (project.home(), "[HOME]")] {
        text = text.replace(&folder.display().to_string(), word);
    }
    for (pattern, word) in [
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[INSTANT]"),
        (r"\b\d+(\.\d+)? ?(ms|µs|s)\b", "[TIME]"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[ID]"),
    ] {
        let pattern = fancy_regex::Regex::new(pattern).expect("the expression is correct");
        text = pattern.replace_all(&text, word).into_owned();
    }
    text
}

impl Hook {
    /// A call in a project, as a [command](Project::command) of it.
    pub fn new(project: &Project, arguments: &[&str]) -> Self {
        let mut command = project.command(hook_binary());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, stdin: Vec::new() }
    }

    /// What it reads.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Where it is started, relative to the project.
    #[must_use]
    pub fn directory(mut self, directory: &str) -> Self {
        let current = self.command.get_current_dir().unwrap_or(Path::new(".")).join(directory);
        self.command.current_dir(current);
        self
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it on a terminal, which can show colours.
    pub fn on_terminal(self) -> Terminal {
        Terminal::start(self.command)
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be run, or does not end.
    #[expect(
        clippy::expect_used,
        clippy::panic,
        reason = "a binary that cannot be run fails the test"
    )]
    pub fn run(mut self) -> Finished {
        let mut child = self.command.spawn().expect("failed to start the hook binary");
        let stdin = child.stdin.take();
        let input = std::mem::take(&mut self.stdin);
        let writer = std::thread::spawn(move || {
            // A command that does not read its input is no failure.
            stdin.map(|mut stdin| stdin.write_all(&input))
        });
        let id = child.id();
        let (ended, end) = mpsc::channel();
        std::thread::spawn(move || ended.send(child.wait_with_output()));
        let Ok(output) = end.recv_timeout(LIMIT) else {
            if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
                let _ = kill_process(id, Signal::KILL);
            }
            let command = &self.command;
            panic!("{command:?} did not end, or close its output, within {} s", LIMIT.as_secs());
        };
        let output = output.expect("failed to wait for the hook binary");
        let _ = writer.join();
        Finished {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Copies the binary there. By another process: one that another test starts at that moment would have the copy
/// open as well, and what somebody has open to write to it cannot be run.
///
/// # Panics
/// When it cannot be copied.
pub fn copy_hook_binary(to: &Path) {
    let copied = Command::new("cp").arg(hook_binary()).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "cp {}", to.display());
}
