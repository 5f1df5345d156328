//! The table of docs/performance.md, with the figures of the last run.

use std::path::PathBuf;

use crate::memory::Memory;

struct Row {
    name: &'static str,
    work: &'static str,
    limit: &'static str,
    goal: &'static str,
    measure: Measure,
}

#[derive(Clone, Copy, PartialEq)]
enum Measure {
    /// The median of a timing, in nanoseconds.
    Time,
    /// The same, to be compared as a throughput, of which more is better.
    Throughput,
    /// Memory, in bytes.
    Memory,
}

const ROWS: [Row; 10] = [
    row("P1", "fire with no matching hook among 8", "the pipeline alone", "≤ 2 ×, < 2 µs"),
    row("P2", "fire with one inline handler", "the pipeline alone", "≤ 1.5 ×, < 5 µs"),
    row("P3", "one command hook", "the same by hand", "≤ 1.05 ×"),
    row("P4", "8 command hooks in parallel", "the same by hand", "≤ 1.10 ×"),
    row("P5", "P3 with a 1 MB `tool_response`", "the same by hand", "≤ 1.15 ×"),
    row("P6", "a command that needs no shell", "by hand through bash", "≤ 0.65 ×"),
    row("P9", "one matching hook among 10,000", "one among 10", "≤ 1.5 ×"),
    Row {
        measure: Measure::Throughput,
        ..row(
            "P10",
            "1,000 in flight, inline handler",
            "P2 one at a time",
            "≥ 0.8 × its throughput",
        )
    },
    row("P11", "start of `hook fire`, no hooks", "`/bin/true`", "≤ 3 ×"),
    Row {
        measure: Measure::Memory,
        ..row("P12", "memory of `hook serve` after 100,000 events", "after 1,000", "≤ 1.05 ×")
    },
];

/// A row of timings.
const fn row(
    name: &'static str,
    work: &'static str,
    limit: &'static str,
    goal: &'static str,
) -> Row {
    Row { name, work, limit, goal, measure: Measure::Time }
}

/// Prints what was measured: limits, ours and their ratios.
pub(crate) fn print(memory: Option<Memory>) {
    println!("| # | work | limit beside it | goal | limit | ours | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for Row { name, work, limit: beside, goal, measure } in ROWS {
        let figures = match measure {
            Measure::Memory => memory.as_ref().map(|memory| (memory.after_few, memory.after_many)),
            Measure::Time | Measure::Throughput => median(name, "limit").zip(median(name, "ours")),
        };
        let Some((limit, ours)) = figures else { continue };
        let ratio = match measure {
            Measure::Throughput => limit / ours,
            Measure::Time | Measure::Memory => ours / limit,
        };
        let (limit, ours) = (measure.show(limit), measure.show(ours));
        println!("| {name} | {work} | {beside} | {goal} | {limit} | {ours} | {ratio:.2} × |");
    }
}

/// The median of a benchmark's last run, in nanoseconds.
fn median(group: &str, name: &str) -> Option<f64> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")),
        PathBuf::from,
    );
    let path = target.join("criterion").join(group).join(name).join("new/estimates.json");
    let estimates: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

impl Measure {
    fn show(self, value: f64) -> String {
        match (self, value) {
            (Self::Memory, bytes) => format!("{:.1} MiB", bytes / (1024.0 * 1024.0)),
            (_, time) if time < 1e3 => format!("{time:.0} ns"),
            (_, time) if time < 1e6 => format!("{:.2} µs", time / 1e3),
            (_, time) => format!("{:.2} ms", time / 1e6),
        }
    }
}
