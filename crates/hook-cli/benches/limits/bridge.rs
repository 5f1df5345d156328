//! P18, P19, P20 and P24: what a call of `hook bridge` costs an agent, without a server of the project and
//! with one.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::by_hand;
use crate::commands::{HOOK, stdin_of_a_hook};
use crate::project::Project;
use crate::start::run;
use crate::table;
use crate::turns::{Request, Side};

const BINARY: &str = env!("CARGO_BIN_EXE_hook");
const LENGTH: Duration = Duration::from_secs(8);

pub(crate) fn measure(request: &Request) {
    let fire = ["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#];
    if request.wants("P18") {
        let asked = Asked::new(&[]);
        let mut limit = || asked.run(&fire);
        let mut ours = || asked.bridge();
        let figures = request.measure(LENGTH, Side::of(&mut limit), Side::of(&mut ours));
        table::print("P18", figures);
    }
    if request.wants("P19") {
        let (alone, served) = (Asked::new(&[]), Asked::new(&[]).served());
        let mut limit = || alone.bridge();
        let mut ours = || served.bridge();
        let figures = request.measure(LENGTH, Side::of(&mut limit), Side::of(&mut ours));
        table::print("P19", figures);
    }
    if request.wants("P20") {
        let (empty, hooked) = (Asked::new(&[]).served(), Asked::new(&[HOOK]).served());
        let stdin = stdin_of_a_hook();
        let mut limit = || {
            empty.bridge();
            drop(by_hand::finish(by_hand::start(HOOK), &stdin));
        };
        let mut ours = || hooked.bridge();
        let figures = request.measure(LENGTH, Side::of(&mut limit), Side::of(&mut ours));
        table::print("P20", figures);
    }
    if request.wants("P24") {
        let hooked = Asked::new(&[HOOK]).served();
        let stdin = stdin_of_a_hook();
        let nothing = || run(&hooked.project, "/bin/true".as_ref(), &[]);
        let hook = || drop(by_hand::finish(by_hand::start(HOOK), &stdin));
        // Two pieces: a hook for each, and one and a half times `/bin/true`.
        let mut limit = || {
            nothing();
            hook();
            nothing();
            hook();
            nothing();
        };
        let mut ours = || {
            hooked.bridge();
            hooked.bridge();
        };
        let (limit, ours) = (Side::batch(2, &mut limit), Side::batch(2, &mut ours));
        table::print("P24", request.measure(LENGTH, limit, ours));
    }
}

/// A project in which Claude Code asks before a tool runs.
struct Asked {
    project: Project,
    said: PathBuf,
    server: Option<Child>,
}

impl Asked {
    /// With these commands as hooks of the user's.
    fn new(commands: &[&str]) -> Self {
        let project = Project::new();
        let said = project.path().join("said.json");
        let text = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
            "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": {"file_path": "src/main.rs", "content": "fn main() {}"}});
        std::fs::write(&said, text.to_string()).unwrap();
        let hooks: Vec<_> =
            commands.iter().map(|it| json!({"type": "command", "command": it})).collect();
        if !hooks.is_empty() {
            let folder = project.home().join(".config/hooks");
            std::fs::create_dir_all(&folder).unwrap();
            let settings = json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}});
            std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        }
        Self { project, said, server: None }
    }

    /// With a server of the project.
    fn served(mut self) -> Self {
        let mut command = self.project.command(Path::new(BINARY));
        command.args(["serve", "--socket"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut server = command.env_remove("XDG_RUNTIME_DIR").spawn().unwrap();
        let lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        assert!(lines.any(|line| line.starts_with("listening on")));
        std::thread::spawn(move || lines.for_each(drop));
        self.server = Some(server);
        self
    }

    fn bridge(&self) {
        self.run(&["bridge", "claude"]);
    }

    fn run(&self, arguments: &[&str]) {
        let mut command = self.project.command(Path::new(BINARY));
        command
            .args(arguments)
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(File::open(&self.said).unwrap());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success());
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
