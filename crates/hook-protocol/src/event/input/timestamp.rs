//! Times as messages and files have them: ISO 8601 in UTC.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second of the year 9999, which has the last four digits.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// Returns the current time in the format of messages: ISO 8601 in UTC, with milliseconds.
pub fn timestamp() -> Arc<str> {
    timestamp_before(Duration::ZERO)
}

/// Returns the time that long ago, in the format of [`timestamp`].
pub fn timestamp_before(ago: Duration) -> Arc<str> {
    let now = SystemTime::now();
    let then = printable(now.checked_sub(ago).unwrap_or(now));
    // Always three digits of milliseconds, like JavaScript's toISOString.
    humantime::format_rfc3339_millis(then).to_string().into()
}

/// Returns a time in whole seconds: ISO 8601 in UTC.
pub fn timestamp_in_seconds(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(printable(time)).to_string()
}

/// Returns the nearest time that can be formatted: clocks may be set to anything, and formatting
/// others panics.
fn printable(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + time.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_of_a_clock_has_a_timestamp() {
        let day = Duration::from_secs(86_400);
        for (time, text) in [
            (UNIX_EPOCH + day * 59, "1970-03-01T00:00:00Z"),
            (UNIX_EPOCH - day, "1970-01-01T00:00:00Z"),
            (UNIX_EPOCH + LAST + day, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(timestamp_in_seconds(time), text);
        }
        assert_eq!(&*timestamp_before(day * 365 * 100), "1970-01-01T00:00:00.000Z");
    }
}
