//! `hook serve --stdio` over whatever an agent may have made of standard input and output.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use hook_tests::{Project, hook_binary, json, request};
use rustix::fs::{OFlags, fcntl_getfl};
use serde_json::json;

const COUNT: usize = 300;

/// Requests of some length, so that all of them together fill a pipe several times.
fn requests() -> Vec<u8> {
    let text = "x".repeat(2_000);
    let request = |number: usize| {
        let request = json!({"type": "hook-execution-request", "eventName": "BeforeAgent",
            "correlationId": number.to_string(), "input": {"prompt": text}});
        format!("{request}\n")
    };
    (0..COUNT).map(request).collect::<String>().into_bytes()
}

/// A project whose hook answers at length.
fn project() -> Project {
    Project::with_settings(&json!({"hooks": {
        "BeforeAgent": [{"hooks": [{"type": "command", "command": "true"}]}]}}))
}

fn serve(project: &Project, stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Child {
    project
        .command(hook_binary())
        .args(["serve", "--stdio", "--settings"])
        .arg(project.settings())
        .stdin(stdin)
        .stdout(stdout)
        .spawn()
        .unwrap()
}

/// Reads a greeting and all answers, each once.
fn assert_answered(from_server: impl Read) {
    let mut lines = BufReader::new(from_server).lines().map(Result::unwrap);
    assert_eq!(json(lines.next().unwrap().as_bytes())["type"], "hook-hello");
    let mut answered: Vec<usize> = lines
        .take(COUNT)
        .map(|line| json(line.as_bytes())["correlationId"].as_str().unwrap().parse().unwrap())
        .collect();
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..COUNT));
}

fn is_nonblocking(descriptor: impl AsFd) -> bool {
    fcntl_getfl(descriptor).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn pipes_are_served_and_stay_blocking_for_those_who_share_them() {
    let project = project();
    let ((stdin, mut to_server), (from_server, stdout)) =
        (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let (their_stdin, their_stdout) = (stdin.try_clone().unwrap(), stdout.try_clone().unwrap());
    let mut server = serve(&project, stdin, stdout);
    let writer = std::thread::spawn(move || to_server.write_all(&requests()).unwrap());
    assert_answered(from_server);
    assert!(!is_nonblocking(&their_stdin) && !is_nonblocking(&their_stdout));
    writer.join().unwrap();
    // Its writer is gone, and that is the end, whoever else may still read.
    assert!(server.wait().unwrap().success());
}

#[test]
fn one_socket_for_both_is_served_and_stays_blocking() {
    let project = project();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let share = || OwnedFd::from(theirs.try_clone().unwrap());
    let mut server = serve(&project, share(), share());
    let mut to_server = ours.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        to_server.write_all(&requests()).unwrap();
        to_server.shutdown(Shutdown::Write).unwrap();
    });
    assert_answered(&ours);
    assert!(!is_nonblocking(&theirs));
    writer.join().unwrap();
    assert!(server.wait().unwrap().success());
}

#[test]
fn files_are_served() {
    let project = project();
    let (input, output) = (project.path().join("in"), project.path().join("out"));
    std::fs::write(&input, requests()).unwrap();
    let stdout = File::create(&output).unwrap();
    assert!(serve(&project, File::open(input).unwrap(), stdout).wait().unwrap().success());
    assert_answered(File::open(output).unwrap());
}

/// The end of one that its writer has left already would not be told to who opens it only then.
#[test]
fn a_named_pipe_whose_writer_is_gone_before_the_start_is_served() {
    let project = project();
    let path = project.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    // Both ends at once: opening one alone waits for the other.
    let mut both = File::options().read(true).write(true).open(&path).unwrap();
    let stdin = File::open(&path).unwrap();
    let request = requests();
    let first = request.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    both.write_all(first).unwrap();
    drop(both);
    let finished = serve(&project, stdin, Stdio::piped()).wait_with_output().unwrap();
    assert!(finished.status.success());
    let lines: Vec<_> = finished.stdout.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 2, "the greeting and one answer");
    assert_eq!(json(lines[1])["correlationId"], "0");
}

#[test]
fn a_client_that_closes_its_end_ends_the_server() {
    let project = project();
    for (stdin, stdout) in [(Stdio::piped(), Stdio::piped()), (Stdio::null(), Stdio::piped())] {
        let mut server = serve(&project, stdin, stdout);
        // Nobody reads: that is no failure of the server's.
        drop(server.stdout.take());
        if let Some(mut to_server) = server.stdin.take() {
            let _ = to_server.write_all(&requests());
        }
        assert!(server.wait().unwrap().success());
    }
}

/// A client that is killed leaves hooks behind that nobody waits for.
#[test]
fn a_client_that_is_gone_ends_the_hooks_that_run_for_it() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo $$ > started; exec sleep 600", "timeout": 86_400_000}]}]}}));
    let request =
        format!("{}\n", request("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), "1"));
    let served = |stdin: Stdio, stdout: Stdio| serve(&project, stdin, stdout);
    let started = project.path().join("started");
    let ended = |mut server: Child, mut client: Box<dyn FnMut(&mut Child)>| {
        while std::fs::read(&started).unwrap_or_default().is_empty() {
            std::thread::yield_now();
        }
        std::fs::remove_file(&started).unwrap();
        client(&mut server);
        assert!(server.wait().unwrap().success());
    };
    let mut of_pipes = served(Stdio::piped(), Stdio::piped());
    of_pipes.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
    ended(of_pipes, Box::new(|server| drop((server.stdin.take(), server.stdout.take()))));
    let (mut own, theirs) = UnixStream::pair().unwrap();
    let of_socket =
        served(OwnedFd::from(theirs.try_clone().unwrap()).into(), OwnedFd::from(theirs).into());
    own.write_all(request.as_bytes()).unwrap();
    let mut own = Some(own);
    ended(of_socket, Box::new(move |_| drop(own.take())));
}
