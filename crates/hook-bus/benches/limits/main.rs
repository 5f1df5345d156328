//! What the engine costs, beside the limit of each piece of work measured in the same run
//! (docs/performance.md). `cargo bench --package hook-bus` prints the table at the end.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on should end, and its output is the point"
)]

mod inline;
mod table;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    inline::benchmarks(&mut criterion);
    criterion.final_summary();
    table::print();
}
