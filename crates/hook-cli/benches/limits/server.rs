//! A running `hook serve --stdio`, and whatever else talks in lines over two pipes.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::project::Project;

/// A process that answers lines with lines.
pub(crate) struct Server {
    process: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    buffer: Vec<u8>,
}

impl Server {
    /// `hook serve --stdio` with a project's settings.
    pub(crate) fn hook(project: &Project) -> Self {
        let mut command = project.command(env!("CARGO_BIN_EXE_hook"));
        command.args(["serve", "--stdio", "--settings"]).arg(project.settings());
        let mut server = Self::start(command);
        assert!(server.receive().starts_with(b"{\"type\":\"hook-hello\""));
        server
    }

    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let requests = process.stdin.take().unwrap();
        let answers = process.stdout.take().unwrap();
        Self { process, requests, answers, buffer: vec![0; 64 * 1024] }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends whole lines.
    pub(crate) fn send(&mut self, lines: &[u8]) {
        self.requests.write_all(lines).unwrap();
    }

    /// One answer; nothing else may be under way.
    pub(crate) fn receive(&mut self) -> &[u8] {
        let mut length = 0;
        loop {
            let read = self.answers.read(&mut self.buffer[length..]).unwrap();
            assert!(read > 0, "the server has ended");
            length += read;
            if self.buffer[length - 1] == b'\n' {
                return &self.buffer[..length];
            }
        }
    }

    /// A request, and its answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> &[u8] {
        self.send(request);
        self.receive()
    }

    /// Sends lines, and reads so many answers meanwhile.
    pub(crate) fn exchange(&mut self, lines: &[u8], answers: usize) {
        let Self { requests, answers: reader, buffer, .. } = self;
        std::thread::scope(|scope| {
            scope.spawn(|| requests.write_all(lines).unwrap());
            let mut left = answers;
            while left > 0 {
                let read = reader.read(buffer).unwrap();
                assert!(read > 0, "the server has ended");
                left -= buffer[..read].iter().filter(|byte| **byte == b'\n').count();
            }
        });
    }

    /// Ends the server as an agent does, by having no more to ask.
    pub(crate) fn end(self) {
        let Self { mut process, requests, .. } = self;
        drop(requests);
        assert!(process.wait().unwrap().success());
    }
}
