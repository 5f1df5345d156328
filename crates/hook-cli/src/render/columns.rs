//! Aligned columns of text.

use unicode_width::UnicodeWidthStr;

use crate::output::{Printer, Tone};
use hook_json::text;

/// The maximum width of a column. A longer cell only shifts the rest of its own row.
const WIDEST: usize = 40;

/// One cell of a row.
pub(super) type Cell = (Tone, String);

/// Formats rows as lines without line ends.
pub(super) fn aligned<const N: usize>(rows: &[[Cell; N]], printer: &Printer) -> Vec<String> {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let width = |row: &[Cell; N]| row[column].1.width();
        rows.iter().map(width).filter(|width| *width <= WIDEST).max().unwrap_or_default()
    });
    let line = |row: &[Cell; N]| {
        let mut line = String::new();
        for ((tone, text), width) in row.iter().zip(widths) {
            // A column that is empty in every row is left out.
            if width == 0 && text.is_empty() {
                continue;
            }
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(&printer.paint(*tone, text));
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width())));
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

/// Returns the first line of a name, since commands may have several.
pub(super) fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = text::escaped_lines(lines.next().unwrap_or_default()).replace('\t', " ");
    match lines.next() {
        Some(_) => format!("{first} …"),
        None => first,
    }
}
