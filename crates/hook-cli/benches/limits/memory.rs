//! P12: the memory of `hook serve` after many events, beside its own after a few. Measured once:
//! it is no timing.

use crate::project::Project;
use crate::server::Server;
use crate::table;
use crate::turns::{Figures, Request};

const FEW: usize = 1_000;
const MANY: usize = 100_000;
const IN_FLIGHT: usize = 64;
/// One event in so many runs a command.
const COMMAND_EVERY: usize = 100;

/// Measures, unless everything is only tried: that would take as long.
pub(crate) fn measure(request: &Request) {
    if !request.wants("P12") || request.tries_only() {
        return;
    }
    let hook = ["cat >/dev/null; echo '{}'".to_owned()];
    let project = Project::with_hooks("BeforeTool", "^write_file$", &hook);
    let mut server = Server::hook(&project);
    serve(&mut server, 0..FEW);
    let after_few = memory(&server);
    serve(&mut server, FEW..MANY);
    let after_many = memory(&server);
    server.end();
    let ratio = after_many / after_few;
    table::print("P12", Figures { limit: after_few, ours: after_many, low: ratio, high: ratio });
}

/// Sends events, so many of them at a time, and waits until all are answered.
fn serve(server: &mut Server, events: std::ops::Range<usize>) {
    let events: Vec<usize> = events.collect();
    for together in events.chunks(IN_FLIGHT) {
        let lines: String = together.iter().map(|index| line(*index)).collect();
        server.exchange(lines.as_bytes(), together.len());
    }
}

fn line(index: usize) -> String {
    let tool = if index.is_multiple_of(COMMAND_EVERY) { "write_file" } else { "read_file" };
    format!(
        "{{\"type\":\"hook-execution-request\",\"eventName\":\"BeforeTool\",\"correlationId\":\"{index}\",\
         \"input\":{{\"tool_name\":\"{tool}\",\"tool_input\":{{\"path\":\"src/main.rs\"}}}}}}\n"
    )
}

/// How much of the server's memory is in use now.
fn memory(server: &Server) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: f64 = resident.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    kibibytes * 1024.0
}
