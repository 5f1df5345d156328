//! Timeouts that were probably meant in seconds.

use std::ops::Range;
use std::time::Duration;

use super::findings::{Finding, Findings, path_of};
use crate::{Rule, SettingsFile};

/// Few processes finish within fewer milliseconds than this.
const MIN_PLAUSIBLE: u128 = 100;

/// Whole minutes below this, in milliseconds, are taken for seconds.
const SECONDS_BELOW: u128 = 1_000;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    if let (Some(timeout), Some(range)) = (file.config.default_timeout, &file.spans.default_timeout)
    {
        check_timeout(timeout, range, "hooksConfig.defaultTimeout".to_owned(), findings);
    }
    for entry in &file.hooks {
        let worker = entry.worker.as_ref();
        let times = [
            ("timeout", entry.timeout),
            ("startTimeout", worker.map(|rules| rules.start_timeout)),
            ("idleTimeout", worker.and_then(|rules| rules.idle_timeout)),
        ];
        for (key, time) in times {
            if let (Some(time), Some(range)) = (time, entry.spans.get(key)) {
                check_timeout(time, range, path_of(entry, key), findings);
            }
        }
    }
}

fn check_timeout(
    timeout: Duration,
    range: &Range<usize>,
    path: String,
    findings: &mut Findings<'_>,
) {
    let number = timeout.as_millis();
    if looks_like_seconds(number) {
        let unit = if number == 1 { "a millisecond" } else { "milliseconds" };
        let duration = if number == 1 { unit.to_owned() } else { format!("{number} {unit}") };
        let message = format!("a timeout of {number} means {duration}, and looks like seconds");
        let seconds = if number == 1 { "a second".to_owned() } else { format!("{number} seconds") };
        findings.add(
            Finding::new(Rule::TimeoutInSeconds, range, path, message)
                .with_help(format!("write {} for {seconds}", number * 1_000)),
        );
    }
}

fn looks_like_seconds(number: u128) -> bool {
    number < MIN_PLAUSIBLE || (number < SECONDS_BELOW && number.is_multiple_of(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_seconds_and_minutes_are_told_from_milliseconds() {
        for number in [1, 5, 10, 30, 60, 90, 99, 120, 180, 300, 600, 900] {
            assert!(looks_like_seconds(number), "{number}");
        }
        for number in [100, 150, 200, 250, 500, 750, 999, 1_000, 5_000, 60_000] {
            assert!(!looks_like_seconds(number), "{number}");
        }
    }
}
