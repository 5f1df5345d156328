//! What the engine costs, beside the limit of each piece of work measured in the same run
//! (docs/performance.md). `cargo limits` prints the table at the end.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on should end, and its output is the point"
)]

mod by_hand;
mod commands;
mod inline;
mod memory;
mod project;
mod start;
mod table;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    inline::benchmarks(&mut criterion);
    commands::benchmarks(&mut criterion);
    start::benchmarks(&mut criterion);
    criterion.final_summary();
    table::print(memory::measure());
}
