//! P12: the memory of `hook serve` after many events, beside its own after a few. Measured once:
//! it is no timing.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::project::Project;

const FEW: usize = 1_000;
const MANY: usize = 100_000;
const IN_FLIGHT: usize = 64;
/// One event in so many runs a command.
const COMMAND_EVERY: usize = 100;

/// How much memory the server had, in bytes.
pub(crate) struct Memory {
    pub(crate) after_few: f64,
    pub(crate) after_many: f64,
}

/// Measures, unless the command line asks for other benchmarks or for something else than a
/// measurement.
pub(crate) fn measure() -> Option<Memory> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo's own word for a measurement; what is left filters, or is an option for timings.
    let (cargo, others): (Vec<_>, Vec<_>) =
        arguments.iter().partition(|argument| *argument == "--bench");
    if cargo.is_empty() || !others.iter().all(|argument| "P12".contains(argument.as_str())) {
        return None;
    }
    let hook = ["cat >/dev/null; echo '{}'".to_owned()];
    let project = Project::with_hooks("BeforeTool", "^write_file$", &hook);
    let mut server = Server::start(&project);
    server.serve(FEW);
    let after_few = server.memory();
    server.serve(MANY - FEW);
    let after_many = server.memory();
    server.end();
    Some(Memory { after_few, after_many })
}

struct Server {
    process: Child,
    requests: ChildStdin,
    responses: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(project: &Project) -> Self {
        let mut process = project
            .command(env!("CARGO_BIN_EXE_hook"))
            .args(["serve", "--stdio", "--settings"])
            .arg(project.settings())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = process.stdin.take().unwrap();
        let mut responses = BufReader::new(process.stdout.take().unwrap()).lines();
        let hello = responses.next().unwrap().unwrap();
        assert!(hello.contains("hook-hello"));
        Self { process, requests, responses }
    }

    /// Sends so many events and waits until all are answered.
    fn serve(&mut self, count: usize) {
        let mut unsent = 0..count;
        for index in unsent.by_ref().take(IN_FLIGHT) {
            self.send(index);
        }
        for _ in 0..count {
            let response = self.responses.next().unwrap().unwrap();
            assert!(response.contains(r#""success":true"#), "{response}");
            if let Some(index) = unsent.next() {
                self.send(index);
            }
        }
    }

    fn send(&mut self, index: usize) {
        let tool = if index.is_multiple_of(COMMAND_EVERY) { "write_file" } else { "read_file" };
        let request = format!(
            r#"{{"type":"hook-execution-request","eventName":"BeforeTool","correlationId":"{index}","input":{{"tool_name":"{tool}","tool_input":{{"path":"src/main.rs"}}}}}}"#
        );
        self.requests.write_all(format!("{request}\n").as_bytes()).unwrap();
    }

    /// How much of the server's memory is in use now.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kibibytes: f64 = resident.trim().strip_suffix(" kB").unwrap().parse().unwrap();
        kibibytes * 1024.0
    }

    /// Ends the server as an agent does, by having no more to ask.
    fn end(self) {
        let Self { mut process, requests, .. } = self;
        drop(requests);
        assert!(process.wait().unwrap().success());
    }
}
