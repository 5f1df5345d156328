//! What the engine costs, beside the limit of each piece of work measured by turns with it
//! (docs/dev/performance.md). `cargo limits` prints the table, `cargo limits P3 P22` these rows of it.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on should end, and its output is the point"
)]

mod bridge;
mod by_hand;
mod commands;
mod inline;
mod memory;
mod processors;
mod project;
mod registered;
mod server;
mod start;
mod table;
mod turns;
mod wire;
mod workers;

use turns::Request;

fn main() {
    if wire::is_peer() {
        return wire::be_peer();
    }
    if workers::is_worker() {
        return workers::be_worker();
    }
    if registered::is_client() {
        return registered::be_client();
    }
    let request = Request::read();
    table::print_head();
    inline::measure(&request);
    commands::measure(&request);
    workers::measure(&request);
    registered::measure(&request);
    start::measure(&request);
    memory::measure(&request);
    wire::measure(&request);
    bridge::measure(&request);
}
