//! The table of docs/dev/performance.md.

use crate::turns::Figures;

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
    /// Memory, in bytes, which is measured once.
    Memory,
}

/// P21 with both processes on one processor.
pub(crate) const P21_TOGETHER: &str = "P21, one processor";

/// P7 with both processes on one processor.
pub(crate) const P7_TOGETHER: &str = "P7, one processor";

/// P14 over gRPC.
pub(crate) const P14_GRPC: &str = "P14, gRPC";

const ROWS: [Row; 25] = [
    row("P1", "fire with no matching hook among 8", "the pipeline alone", "≤ 3 ×, < 2 µs"),
    row("P2", "fire with one inline handler", "the pipeline alone", "≤ 1.5 ×, < 5 µs"),
    row("P3", "one command hook", "the same by hand", "≤ 1.03 ×"),
    row("P4", "8 command hooks in parallel", "the same by hand", "≤ 1.10 ×"),
    row("P5", "P3 with a 1 MB `tool_response`", "the same by hand", "≤ 1.15 ×"),
    row("P6", "a command that needs no shell", "by hand through bash", "≤ 0.65 ×"),
    row(
        "P7",
        "a call to a worker in Rust, each process on a processor of its own",
        "two processes that pass the same bytes by hand",
        "≤ 1.5 ×",
    ),
    row(P7_TOGETHER, "the same where both share one", "the same by hand", "≤ 1.5 ×"),
    row("P8", "a call to a worker in Python", "`bash -c 'python3 hook.py'` by hand", "≤ 0.01 ×"),
    Row {
        measure: Measure::Throughput,
        ..row("P13", "1,000 calls in flight on one worker", "one at a time", "≥ 3 × its throughput")
    },
    row("P14", "a call to a hook that a client registered over a socket", "P7, ours", "≤ 2 ×"),
    row(P14_GRPC, "the same over gRPC", "P7, ours", "≤ 6 ×"),
    row("P9", "one matching hook among 10,000", "one among 10", "≤ 1.5 ×"),
    row("P15", "registering a hook with 10,000 there", "with 10", "≤ 2 ×"),
    Row {
        measure: Measure::Throughput,
        ..row(
            "P10",
            "1,000 in flight, inline handler",
            "P2 one at a time",
            "≥ 0.8 × its throughput",
        )
    },
    row("P11", "start of `hook fire`, no hooks", "`/bin/true`", "≤ 2.5 ×"),
    Row {
        measure: Measure::Memory,
        ..row("P12", "memory of `hook serve` after 100,000 events", "after 1,000", "≤ 1.05 ×")
    },
    row(
        "P21",
        "a request no hook matches, over `serve --stdio`, each process on a processor of its own",
        "two processes that pass the same bytes by hand",
        "≤ 1.5 ×",
    ),
    row(P21_TOGETHER, "the same where both share one", "the same by hand", "≤ 1.5 ×"),
    row(
        "P22",
        "one command hook over `serve --stdio`",
        "P3's, seen by the same client",
        "≤ 1.08 ×",
    ),
    row("P23", "1,000 requests of P21 in flight, each", "P21, ours", "≤ 0.2 ×"),
    row("P18", "`hook bridge claude`, no hooks, no server", "`hook fire`, no hooks", "≤ 1.2 ×"),
    row("P19", "the same with a server running", "P18, ours", "≤ 1.0 ×"),
    row("P20", "one command hook through bridge and server", "P19 and the hook by hand", "≤ 1.1 ×"),
    row("P24", "the same", "1.5 × `/bin/true`, and the hook by hand", "≤ 1.0 ×"),
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

pub(crate) fn print_head() {
    println!("| # | work | limit beside it | goal | limit | ours | ratio | 10 % to 90 % |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
}

/// Prints one row: medians, their ratio, and how the ratio of single turns spreads.
pub(crate) fn print(name: &str, figures: Figures) {
    let Some(row) = ROWS.iter().find(|row| row.name == name) else { return };
    let Row { name, work, limit: beside, goal, measure } = row;
    let Figures { limit, ours, low, high } = figures;
    let (ratio, low, high) = match measure {
        Measure::Throughput => (limit / ours, 1.0 / high, 1.0 / low),
        Measure::Time | Measure::Memory => (ours / limit, low, high),
    };
    let spread = match measure {
        Measure::Memory => "once".to_owned(),
        Measure::Time | Measure::Throughput => format!("{low:.2} to {high:.2}"),
    };
    let (limit, ours) = (measure.show(limit), measure.show(ours));
    println!(
        "| {name} | {work} | {beside} | {goal} | {limit} | {ours} | {ratio:.2} × | {spread} |"
    );
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
