//! Lists in messages.

use hook_json::text::shortened;

/// The maximum number of names or globs shown in a message.
const REPEATED: usize = 5;

/// Returns the first few items of a list, for a message.
pub(super) fn listed(list: &[String]) -> String {
    let mut shown: Vec<String> = list.iter().take(REPEATED).map(|it| shortened(it)).collect();
    if list.len() > REPEATED {
        shown.push(format!("{} more", list.len() - REPEATED));
    }
    shown.join(", ")
}
