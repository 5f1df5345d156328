//! Measuring by turns: limit and ours in the same moments, so that a neighbour's burst on a shared
//! machine lands on both.

use std::time::{Duration, Instant};

/// How many turns there are at least, and where nothing is to be measured but only tried.
const LEAST: usize = 40;
const TRIED: usize = 2;

/// What two pieces of work took, by turns: for a timing, nanoseconds for one piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// The medians.
    pub(crate) limit: f64,
    pub(crate) ours: f64,
    /// The 10th and the 90th percentile of ours over the limit, turn by turn.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// One side of a comparison.
pub(crate) struct Side<'s> {
    /// How many pieces of work one call does.
    pub(crate) pieces: usize,
    pub(crate) work: &'s mut dyn FnMut(),
}

impl<'s> Side<'s> {
    /// One piece for each call.
    pub(crate) fn of(work: &'s mut dyn FnMut()) -> Self {
        Self { pieces: 1, work }
    }

    /// So many pieces for each call: those that take less time than looking at the clock.
    pub(crate) fn batch(pieces: usize, work: &'s mut dyn FnMut()) -> Self {
        Self { pieces, work }
    }

    /// Nanoseconds for one piece.
    fn time(&mut self) -> f64 {
        let started = Instant::now();
        (self.work)();
        started.elapsed().as_nanos() as f64 / self.pieces as f64
    }
}

/// What the command line asks for.
pub(crate) struct Request {
    rows: Vec<String>,
    tries_only: bool,
}

impl Request {
    /// Names of rows, else all of them. Without cargo's own word for a measurement each piece of
    /// work is only tried.
    pub(crate) fn read() -> Self {
        let (options, rows): (Vec<_>, Vec<_>) =
            std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
        Self { rows, tries_only: !options.iter().any(|option| option == "--bench") }
    }

    pub(crate) fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|wanted| wanted.eq_ignore_ascii_case(row))
    }

    pub(crate) fn tries_only(&self) -> bool {
        self.tries_only
    }

    /// Measures for about so long. Each side has the first turn as often as the other.
    pub(crate) fn measure(&self, length: Duration, limit: Side<'_>, ours: Side<'_>) -> Figures {
        let (mut limit, mut ours) = (limit, ours);
        let (mut limits, mut all_ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let least = if self.tries_only { TRIED } else { LEAST };
        // Caches, pages and clocks are warm before anything counts.
        let warm_up = Instant::now();
        while !self.tries_only && warm_up.elapsed() < length / 10 {
            limit.time();
            ours.time();
        }
        let started = Instant::now();
        while limits.len() < least || (!self.tries_only && started.elapsed() < length) {
            let (of_limit, of_ours) = if limits.len().is_multiple_of(2) {
                let of_limit = limit.time();
                (of_limit, ours.time())
            } else {
                let of_ours = ours.time();
                (limit.time(), of_ours)
            };
            limits.push(of_limit);
            all_ours.push(of_ours);
            ratios.push(of_ours / of_limit);
        }
        Figures {
            limit: percentile(&mut limits, 50),
            ours: percentile(&mut all_ours, 50),
            low: percentile(&mut ratios, 10),
            high: percentile(&mut ratios, 90),
        }
    }
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() - 1) * percent / 100).copied().unwrap_or(f64::NAN)
}
