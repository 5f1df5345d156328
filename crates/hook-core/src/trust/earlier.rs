//! What decisions of the first version are bound to: event, matcher, name, command, variables, and
//! the one file that the command's first word names. Kept so that a hook with such a decision is
//! asked about as one that was trusted, and goes on running until then.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::files::{Content, CoveredFile, program};
use super::fingerprint::hexadecimal;
use crate::settings::HookEntry;

/// The fingerprint of a hook that is run in that directory, in the form of the first version;
/// `None` if its file is too long to be covered, or its
/// matcher is an object.
pub(super) fn fingerprint(entry: &HookEntry, project: &Path, directory: &Path) -> Option<String> {
    let matcher = match entry.matcher.as_deref() {
        None => None,
        // That version knew no other form.
        Some(matcher) => Some(matcher.as_text()?),
    };
    let program = program(entry, project, directory);
    let mut hash = Sha256::new();
    let mut field = |value: Option<&[u8]>| match value {
        None => hash.update([0]),
        Some(bytes) => {
            hash.update([1]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    };
    field(Some(entry.event.as_str().as_bytes()));
    field(matcher.map(str::as_bytes));
    field(entry.name.as_deref().map(str::as_bytes));
    field(Some(entry.command.as_bytes()));
    field(Some(&(entry.env.len() as u64).to_le_bytes()));
    for (name, value) in &entry.env {
        field(Some(name.as_bytes()));
        field(Some(value.as_bytes()));
    }
    if let Some(CoveredFile { target, content, .. }) = &program {
        field(Some(target.as_os_str().as_encoded_bytes()));
        match content {
            Content::Read { sha256, .. } => field(Some(sha256)),
            Content::Absent | Content::Unreadable => field(None),
            Content::TooLong => return None,
        }
    }
    Some(hexadecimal(&hash.finalize()))
}
