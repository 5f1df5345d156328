//! Lists in messages.

use hook_json::text::shortened;

/// The maximum number of names or globs shown in a message.
const MAX_LISTED: usize = 5;

/// Returns the first few items of a list, for a message.
pub(super) fn format_list(list: &[String]) -> String {
    let mut shown: Vec<String> = list.iter().take(MAX_LISTED).map(|item| shortened(item)).collect();
    if list.len() > MAX_LISTED {
        shown.push(format!("{} more", list.len() - MAX_LISTED));
    }
    shown.join(", ")
}
