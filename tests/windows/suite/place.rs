//! A private home and project, and the binaries under test.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long something may take that is not timed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The folder of what was built: the tests' own binary is in its `deps`.
fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let binary = own.ancestors().nth(2).unwrap().join(name);
    assert!(binary.is_file(), "{} is to be built first", binary.display());
    binary
}

pub(crate) fn hook_binary() -> PathBuf {
    built("hook.exe")
}

pub(crate) struct Place {
    folder: TempDir,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// The first reason in what was printed as JSON.
    pub(crate) fn reason(&self) -> String {
        let value: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        find(&value, "reason").unwrap_or_else(|| panic!("no reason in {self:?}"))
    }
}

fn find(value: &Value, key: &str) -> Option<String> {
    match value {
        Value::Object(fields) => match fields.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => fields.values().find_map(|value| find(value, key)),
        },
        Value::Array(items) => items.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [place.home(), place.project(), place.roaming(), place.local()] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::copy(built("hook-probe.exe"), place.probe()).unwrap();
        place
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.at("Jürgen & Søn")
    }

    pub(crate) fn roaming(&self) -> PathBuf {
        self.home().join(r"AppData\Roaming")
    }

    pub(crate) fn local(&self) -> PathBuf {
        self.home().join(r"AppData\Local")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.at("a project & größe (1)")
    }

    /// The hook program, in the project.
    pub(crate) fn probe(&self) -> PathBuf {
        self.project().join("the probe.exe")
    }

    /// A command that starts the hook program.
    pub(crate) fn probe_with(&self, arguments: &str) -> String {
        format!("\"{}\" {arguments}", self.probe().display())
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Settings of one hook before tools, with these fields beside its command.
    pub(crate) fn settings(&self, command: &str, more: Value) -> PathBuf {
        let mut hook = json!({"type": "command", "name": "probe", "command": command});
        for (name, value) in more.as_object().unwrap() {
            hook[name] = value.clone();
        }
        let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
        self.write("probe.json", &settings.to_string())
    }

    /// A program in the project, with the private home.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOOK_LOG"] {
            command.env_remove(variable);
        }
        command
            .current_dir(self.project())
            .env("USERPROFILE", self.home())
            .env("APPDATA", self.roaming())
            .env("LOCALAPPDATA", self.local());
        command
    }

    pub(crate) fn hook(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(hook_binary());
        command.args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        run(self.hook(arguments), "")
    }

    /// Fires an event with the hook of these settings.
    pub(crate) fn fire(&self, settings: &Path) -> Finished {
        let settings = settings.to_str().unwrap();
        self.run(&["fire", "BeforeTool", "--no-user", "--json", "--full", "--settings", settings])
    }

    /// Fires an event with the hook of this command.
    pub(crate) fn fire_command(&self, command: &str) -> Finished {
        self.fire(&self.settings(command, json!({"failBehavior": "block"})))
    }
}

pub(crate) fn start(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a command to its end, on this input.
pub(crate) fn run(command: Command, input: &str) -> Finished {
    let mut child = start(command);
    let mut stdin = child.stdin.take().unwrap();
    // One that does not read its input is no failure.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    finish(child)
}

pub(crate) fn finish(child: Child) -> Finished {
    let output = child.wait_with_output().unwrap();
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
