//! Lists in messages.

use crate::text::shortened;

/// How many names or globs are repeated in a message.
const REPEATED: usize = 5;

/// The first few of a list, for a message.
pub(super) fn listed(list: &[String]) -> String {
    let mut shown: Vec<String> = list.iter().take(REPEATED).map(|it| shortened(it)).collect();
    if list.len() > REPEATED {
        shown.push(format!("{} more", list.len() - REPEATED));
    }
    shown.join(", ")
}
