//! Bars of block characters, with a resolution of an eighth of a column.

use std::time::Duration;

/// Columns that represent a span of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Track {
    pub(super) columns: usize,
    pub(super) start: Duration,
    pub(super) end: Duration,
}

impl Track {
    /// Returns the bar from `start` to `end`, with partial blocks at its ends. A bar that would be
    /// too short to see gets one block.
    pub(super) fn bar(&self, start: Duration, end: Duration) -> Bar {
        let (from, to) = (self.eighths(start), self.eighths(end));
        let last = self.columns.saturating_sub(1);
        let first = (from / 8).min(last);
        let mut blocks = String::new();
        for column in first..=last {
            let (left, right) = (column * 8, column * 8 + 8);
            let (covered_from, covered_to) = (from.clamp(left, right), to.clamp(left, right));
            if column > first && covered_to <= left {
                break;
            }
            blocks.push(block(covered_from - left, covered_to - left));
        }
        Bar { before: first, blocks }
    }

    fn eighths(&self, at: Duration) -> usize {
        let whole = self.end.saturating_sub(self.start).as_secs_f64();
        let share = at.saturating_sub(self.start).as_secs_f64() / whole.max(f64::MIN_POSITIVE);
        // The value is between 0 and all eighths, so it fits.
        (share.clamp(0.0, 1.0) * (self.columns * 8) as f64).round() as usize
    }
}

/// A bar, and the number of free columns before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) before: usize,
    pub(super) blocks: String,
}

/// Returns the closest character for a column that is covered between two eighths.
fn block(from: usize, to: usize) -> char {
    const FROM_LEFT: [char; 9] = ['▏', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    match (from, to) {
        (0, to) => FROM_LEFT.get(to).copied().unwrap_or('█'),
        (1..=2, 6..) => '█',
        (6.., 8) => '▕',
        (3.., 7..) => '▐',
        _ => '│',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_where_their_time_is() {
        let track = Track {
            columns: 10,
            start: Duration::from_millis(100),
            end: Duration::from_millis(1_100),
        };
        for (start, end, before, blocks) in [
            (100, 1_100, 0, "██████████"),
            (100, 100, 0, "▏"),
            (100, 150, 0, "▌"),
            (150, 350, 0, "▐█▌"),
            (1_100, 1_100, 9, "▕"),
            (1_050, 1_100, 9, "▐"),
            (600, 612, 5, "▏"),
            (650, 660, 5, "│"),
            (0, 5_000, 0, "██████████"),
        ] {
            let bar = track.bar(Duration::from_millis(start), Duration::from_millis(end));
            let expected = Bar { before, blocks: blocks.to_owned() };
            assert_eq!(bar, expected, "{start} to {end}");
        }
    }

    #[test]
    fn a_recording_of_no_time_and_a_terminal_of_no_columns_are_drawn() {
        let at = Duration::from_secs(1);
        for columns in [0, 1, 7] {
            let bar = Track { columns, start: at, end: at }.bar(at, at);
            assert_eq!((bar.before, bar.blocks.chars().count()), (0, 1));
        }
    }
}
