//! P21, P22 and P23: what `hook serve --stdio` costs, seen by a client.

use std::io::{stdin, stdout};
use std::process::Command;
use std::time::Duration;

use crate::by_hand;
use crate::commands::{HOOK, stdin_of_a_hook};
use crate::processors::{Placement, Processors};
use crate::project::Project;
use crate::server::Server;
use crate::table::{self, P21_TOGETHER};
use crate::turns::{Request, Side};

/// What makes this program the peer of [`be_peer`]; its value is the answer's length.
const PEER: &str = "HOOK_BENCH_PEER";

const IN_FLIGHT: usize = 1_000;

/// Whether this process is the other end of [`P21`](measure)'s limit.
pub(crate) fn is_peer() -> bool {
    std::env::var_os(PEER).is_some()
}

/// Answers each line with as many bytes as it was told: the least that a server can do.
pub(crate) fn be_peer() {
    let length: usize = std::env::var(PEER).unwrap().parse().unwrap();
    let mut answer = vec![b'x'; length - 1];
    answer.push(b'\n');
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = rustix::io::read(stdin(), &mut buffer[..]).unwrap();
        if read == 0 {
            return;
        }
        // The client sends one request and waits for its answer: it comes in one piece.
        assert_eq!(buffer[read - 1], b'\n');
        assert_eq!(rustix::io::write(stdout(), &answer).unwrap(), length);
    }
}

pub(crate) fn measure(request: &Request) {
    let project = Project::with_hooks("BeforeTool", "^write_file$", &[HOOK.to_owned()]);
    let unmatched = line("read_file");
    let processors = Processors::take();
    for (name, placement) in [("P21", Placement::Apart), (P21_TOGETHER, Placement::Together)] {
        if request.wants("P21") && processors.allow(placement) {
            let start = || Server::hook(&project);
            let mut server = processors.start(placement, start);
            let answer = server.ask(&unmatched);
            assert!(answer.starts_with(b"{\"type\":\"hook-execution-response\""));
            let mut peer = Command::new(std::env::current_exe().unwrap());
            peer.env(PEER, answer.len().to_string());
            let mut peer = processors.start(placement, || Server::start(peer));
            let mut limit = || {
                peer.ask(&unmatched);
            };
            let mut ours = || {
                server.ask(&unmatched);
            };
            let figures =
                request.measure(Duration::from_secs(6), Side::of(&mut limit), Side::of(&mut ours));
            table::print(name, figures);
            peer.end();
            server.end();
        }
    }
    drop(processors);
    if request.wants("P22") {
        let mut server = Server::hook(&project);
        let matched = line("write_file");
        let answer = String::from_utf8_lossy(server.ask(&matched)).into_owned();
        assert!(answer.contains("\"exitCode\":0"), "{answer}");
        let told = stdin_of_a_hook();
        let mut limit = || drop(by_hand::finish(by_hand::start(HOOK), &told));
        let mut ours = || {
            server.ask(&matched);
        };
        let figures =
            request.measure(Duration::from_secs(12), Side::of(&mut limit), Side::of(&mut ours));
        table::print("P22", figures);
        server.end();
    }
    if request.wants("P23") {
        let processors = Processors::take();
        let placement = match processors.allow(Placement::Apart) {
            true => Placement::Apart,
            false => Placement::Together,
        };
        let start = || processors.start(placement, || Server::hook(&project));
        let (mut server, mut other) = (start(), start());
        let many = unmatched.repeat(IN_FLIGHT);
        let mut limit = || {
            (0..10).for_each(|_| {
                other.ask(&unmatched);
            })
        };
        let mut ours = || server.exchange(&many, IN_FLIGHT);
        let figures = request.measure(
            Duration::from_secs(6),
            Side::batch(10, &mut limit),
            Side::batch(IN_FLIGHT, &mut ours),
        );
        table::print("P23", figures);
        other.end();
        server.end();
    }
}

/// A request as a client sends it.
fn line(tool: &str) -> Vec<u8> {
    format!(
        "{{\"type\":\"hook-execution-request\",\"eventName\":\"BeforeTool\",\"correlationId\":\"c-1\",\
         \"input\":{{\"tool_name\":\"{tool}\",\"tool_input\":{{\"path\":\"src/main.rs\",\
         \"content\":\"fn main() {{}}\"}}}}}}\n"
    )
    .into_bytes()
}
