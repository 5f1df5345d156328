//! Whatever bytes come from outside: no panic, no overflow of the stack, no unbounded time, and what
//! the protocol promises still holds. One file for each parser that sees such bytes.
//!
//! `PROPTEST_CASES` says how often, in relation to 256: with 25600, everything runs a hundred times
//! as often as usual.

#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod copies;
mod explain;
mod generate;
mod json;
mod matchers;
mod messages;
mod outputs;
mod payloads;
mod read_back;
mod recordings;
mod scenarios;
mod settings;
mod translators;
mod trust;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// How long one case may take, on a slow machine and without optimization: far more than it does.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many characters a message about something wrong may have: it may repeat the beginning of what
/// came from outside, and not all of it.
const LONGEST_MESSAGE: usize = 1_000;

/// How deep the deepest texts nest: far deeper than a stack allows.
const VERY_DEEP: usize = 100_000;

/// How often a property is tested that is usually tested that often.
fn cases(usual: u32) -> u32 {
    const RELATION: u64 = 256;
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse::<u64>().ok());
    let scaled = u64::from(usual) * wanted.unwrap_or(RELATION) / RELATION;
    u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
}

/// Tests a property, and that each case is decided in time.
fn check<S: Strategy>(
    usual: u32,
    inputs: S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) where
    S::Value: Debug,
{
    // A failure is printed with its input; a file of seeds beside the sources is not wanted.
    let config = ProptestConfig {
        cases: cases(usual),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let timed = |input| {
        let started = Instant::now();
        property(input)?;
        let taken = started.elapsed();
        prop_assert!(taken < PATIENCE, "one case took {taken:?}");
        Ok(())
    };
    if let Err(error) = TestRunner::new(config).run(&inputs, timed) {
        panic!("{error}");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
