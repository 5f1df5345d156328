//! A soak: servers are killed, ended and started again under the guards that programs have registered, and those
//! programs are killed, too. No request proceeds that a guard would have refused. A few seconds among the other
//! tests; as many as `HOOK_SOAK_SECONDS` says in `.ci/hunt`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hook_tests::{Project, hook_binary, request, workspace};
use serde_json::{Value, json};

use crate::sdk_typescript::built;

const GUARD_IN_PYTHON: &str = r#"
import asyncio, sys
from hook_sdk import HookClient, HookResponse

async def guard(event):
    return HookResponse.block("not that")

async def main():
    async with HookClient(socket=sys.argv[1], on_problem=lambda _: None) as client:
        hook = client.register_hook(
            "BeforeTool", guard, matcher={"tool": "by_python"}, config={"fail_behavior": "block"})
        await asyncio.wait_for(client.ready(hook), 60)
        print("ready", flush=True)
        await client.serve_forever()

asyncio.run(main())
"#;

const GUARD_IN_TYPESCRIPT: &str = r#"
import {HookClient} from "hook-sdk";

const client = new HookClient({socket: process.argv[2], onProblem: () => {}});
const hook = client.registerHook("BeforeTool", {
  matcher: {tool: "by_typescript"}, config: {failBehavior: "block"},
  handler: () => ({decision: "deny", reason: "not that"}),
});
await client.ready(hook);
console.log("ready");
await client.run();
"#;

const ASKER_IN_PYTHON: &str = r#"
import asyncio, sys
from hook_sdk import HookClient, HookError

async def main():
    tools = sys.argv[2].split(",")
    async with HookClient(socket=sys.argv[1], on_problem=lambda _: None) as client:
        while True:
            for tool in tools:
                try:
                    outcome = await client.fire("BeforeTool", {"tool_name": tool, "tool_input": {}})
                except (HookError, OSError):
                    await asyncio.sleep(0.01)
                    continue
                print(tool, outcome.decision, flush=True)

asyncio.run(main())
"#;

const ASKER_IN_TYPESCRIPT: &str = r#"
import {HookClient} from "hook-sdk";

const client = new HookClient({socket: process.argv[2], onProblem: () => {}});
for (;;) {
  for (const tool of process.argv[3].split(",")) {
    try {
      const outcome = await client.fire("BeforeTool", {tool_name: tool, tool_input: {}});
      console.log(tool, outcome.decision);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
"#;

/// A process that ends with the test.
struct Program(Child);

impl Program {
    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// The server, and the programs around it.
struct Soak<'p> {
    project: &'p Project,
    socket: std::path::PathBuf,
}

impl Soak<'_> {
    /// A server that listens.
    fn server(&self) -> Program {
        let mut command = self.project.command(hook_binary());
        command.args(["serve", "--settings"]).arg(self.project.settings());
        command.arg("--socket").arg(&self.socket).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(said.any(|line| line.starts_with("listening on ")), "the server does not start");
        std::thread::spawn(move || said.for_each(drop));
        Program(child)
    }

    fn program(&self, name: &str, text: &str, arguments: &[&str]) -> Command {
        let path = self.project.write(name, text);
        let is_python = Path::new(name).extension().is_some_and(|ending| ending == "py");
        let mut command = self.project.command(if is_python { "python3" } else { "node" });
        command.env("PYTHONPATH", workspace().join("sdks/python/src"));
        command.arg(path).arg(&self.socket).args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// A program with a guard that is in force.
    fn guard(&self, name: &str, text: &str) -> Program {
        let mut child = self.program(name, text, &[]).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let program = Program(child);
        assert_eq!(said.next().unwrap().unwrap(), "ready", "{name}");
        program
    }

    /// Asks on a new connection until that is lost, or it is over.
    fn ask(&self, tools: &[&str], seen: &Seen) -> std::io::Result<()> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(90)))?;
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        for (number, tool) in tools.iter().cycle().enumerate() {
            if seen.is_over() {
                break;
            }
            let input = json!({"tool_name": tool, "tool_input": {}});
            writeln!(stream, "{}", request("BeforeTool", &input, &number.to_string()))?;
            loop {
                let line = lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??;
                let Ok(message) = serde_json::from_str::<Value>(&line) else { break };
                if message["type"] == "hook-execution-response" {
                    let decision = message["processed"]["decision"].as_str().unwrap_or("none");
                    seen.note("the socket", tool, decision, &line);
                    break;
                }
            }
        }
        Ok(())
    }
}

/// What was decided.
#[derive(Default)]
struct Seen {
    refused: AtomicUsize,
    proceeded: AtomicUsize,
    /// What no guard would have let go on, and went on.
    wrong: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Seen {
    fn note(&self, who: &str, tool: &str, decision: &str, whole: &str) {
        let counter = match (tool, decision) {
            ("free", "proceed") => &self.proceeded,
            ("free", _) => return,
            (_, "block") => &self.refused,
            // One of a program that a server has ended with has no decision.
            (_, "none") => return,
            _ => {
                let mut wrong = self.wrong.lock().unwrap();
                return wrong.push(format!("{who}: {tool} {decision} {whole}"));
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Ends those who ask, also where the test fails: it waits for them.
struct Over<'s>(&'s Seen);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

#[test]
fn fault_64_servers_that_restart_under_registered_guards_let_nothing_go_on_that_those_refuse() {
    let seconds =
        std::env::var("HOOK_SOAK_SECONDS").ok().and_then(|it| it.parse().ok()).unwrap_or(6);
    let project = Project::with_settings(&json!({"hooks": {}}));
    let soak = Soak { project: &project, socket: project.home().join("soak.sock") };
    let mut server = soak.server();
    let mut guards = vec![("guard.py", GUARD_IN_PYTHON, soak.guard("guard.py", GUARD_IN_PYTHON))];
    let (mut tools, mut askers) = (vec!["free", "by_python"], vec![("asker.py", ASKER_IN_PYTHON)]);
    match built() {
        Ok(package) => {
            std::fs::create_dir_all(project.path().join("node_modules")).unwrap();
            symlink(package, project.path().join("node_modules/hook-sdk")).unwrap();
            guards.push((
                "guard.mjs",
                GUARD_IN_TYPESCRIPT,
                soak.guard("guard.mjs", GUARD_IN_TYPESCRIPT),
            ));
            tools.push("by_typescript");
            askers.push(("asker.mjs", ASKER_IN_TYPESCRIPT));
        }
        Err(why) => crate::sdk_typescript::skipped(why),
    }
    let all = tools.join(",");
    let seen = &Seen::default();
    let (soak, tools) = (&soak, &tools);
    let mut restarts = 0;
    std::thread::scope(|scope| {
        let _over = Over(seen);
        for _ in 0..2 {
            scope.spawn(|| {
                while !seen.is_over() {
                    if soak.ask(tools, seen).is_err() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
            });
        }
        let mut asking = Vec::new();
        for (name, text) in askers {
            let mut child = soak.program(name, text, &[&all]).spawn().unwrap();
            let said = BufReader::new(child.stdout.take().unwrap()).lines();
            asking.push(Program(child));
            scope.spawn(move || {
                for line in said.map_while(Result::ok) {
                    let (tool, decision) = line.split_once(' ').unwrap();
                    seen.note(name, tool, decision, "");
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end && seen.wrong.lock().unwrap().is_empty() {
            // Some of it goes well between two restarts: as many answers as there are tools, and more.
            let before = seen.refused.load(Ordering::Relaxed);
            while seen.refused.load(Ordering::Relaxed) < before + 20 && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
            if restarts % 2 == 1 {
                // As it is ended by whoever runs it; the other times as by a machine that fails.
                let id = server.0.id().to_string();
                let _ = Command::new("kill").args(["-TERM", &id]).status();
                let end = Instant::now() + Duration::from_secs(60);
                while server.0.try_wait().unwrap().is_none() {
                    assert!(Instant::now() < end, "the server does not end");
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            server.end();
            server = soak.server();
            restarts += 1;
            if restarts % 3 == 0 {
                // A program that has a guard goes with it, and is started again.
                let turn = restarts / 3 % guards.len();
                let (name, text, program) = &mut guards[turn];
                program.end();
                *program = soak.guard(name, text);
            }
        }
    });
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    assert_eq!(*seen.wrong.lock().unwrap(), [""; 0], "after {restarts} restarts");
    let (refused, proceeded) = (count(&seen.refused), count(&seen.proceeded));
    assert!(restarts > 0 && refused > 20 && proceeded > 5, "{restarts} {refused} {proceeded}");
}
