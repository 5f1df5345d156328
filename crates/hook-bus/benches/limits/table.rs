//! The table of docs/performance.md, with the figures of the last run.

use std::path::PathBuf;

struct Row {
    name: &'static str,
    work: &'static str,
    limit: &'static str,
    goal: &'static str,
    /// Whether the figure is a throughput, of which more is better.
    throughput: bool,
}

const ROWS: [Row; 4] = [
    Row {
        name: "P1",
        work: "fire with no matching hook among 8",
        limit: "the pipeline alone",
        goal: "≤ 2 ×, < 2 µs",
        throughput: false,
    },
    Row {
        name: "P2",
        work: "fire with one inline handler",
        limit: "the pipeline alone",
        goal: "≤ 1.5 ×, < 5 µs",
        throughput: false,
    },
    Row {
        name: "P9",
        work: "one matching hook among 10,000",
        limit: "one among 10",
        goal: "≤ 1.5 ×",
        throughput: false,
    },
    Row {
        name: "P10",
        work: "1,000 in flight, inline handler",
        limit: "P2 one at a time",
        goal: "≥ 0.8 × its throughput",
        throughput: true,
    },
];

/// Prints the medians and their ratio, where both were measured.
pub(crate) fn print() {
    println!("| # | work | limit beside it | goal | limit | ours | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for row in ROWS {
        let (Some(limit), Some(ours)) = (median(row.name, "limit"), median(row.name, "ours"))
        else {
            continue;
        };
        let ratio = if row.throughput { limit / ours } else { ours / limit };
        println!(
            "| {} | {} | {} | {} | {} | {} | {ratio:.2} × |",
            row.name,
            row.work,
            row.limit,
            row.goal,
            duration(limit),
            duration(ours)
        );
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

fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        value if value < 1e3 => format!("{value:.0} ns"),
        value if value < 1e6 => format!("{:.2} µs", value / 1e3),
        value => format!("{:.2} ms", value / 1e6),
    }
}
