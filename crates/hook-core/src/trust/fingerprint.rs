//! What a decision is bound to.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::files::{Content, Covered, Keep, Mentioned};
use super::grant::terms;
use crate::settings::{HookEntry, MatcherDefinition};

/// What a decision is bound to: the hook as it would run, with the files of the project that it
/// runs. Nothing in it depends on the machine, or on where the project is.
#[doc(hidden)]
pub fn fingerprint(entry: &HookEntry, project: &Path) -> String {
    fingerprint_of(entry, &Mentioned::by(entry).read(project, project, Keep::Nothing))
}

/// The fingerprint of a hook with files that were read before: what was reviewed, and
/// not what is there by now.
pub(super) fn fingerprint_of(entry: &HookEntry, covered: &Covered) -> String {
    let mut fields = Fields::new();
    fields.add("event", &[entry.event.as_str().as_bytes()]);
    fields.add_optional("matcher", entry.matcher.as_deref().and_then(MatcherDefinition::as_text));
    fields.add_optional("name", entry.name.as_deref());
    fields.add("command", &[entry.command.as_bytes()]);
    // Variables can make a trusted command do anything (PATH, LD_PRELOAD). Their order counts: the
    // last of a name wins.
    for (name, value) in &entry.env {
        fields.add("env", &[name.as_bytes(), value.as_bytes()]);
    }
    for (name, value) in terms(entry) {
        fields.add("term", &[name.as_bytes(), value.as_bytes()]);
    }
    if !covered.unknown.is_empty() {
        // A decision about a hook whose files are known is none about one whose files are not.
        fields.add("opaque", &[]);
    }
    for file in &covered.files {
        let (state, sha256): (&[u8], &[u8]) = match &file.content {
            Content::Read { sha256, .. } => (b"read", sha256),
            Content::Absent => (b"absent", b""),
            Content::Unreadable | Content::TooLong => (b"unreadable", b""),
        };
        let target = file.target_below_project();
        let target = target.map_or(&b""[..], |target| target.as_os_str().as_encoded_bytes());
        let path = file.path.as_os_str().as_encoded_bytes();
        let starts: &[u8] = match file.executable {
            None => b"",
            Some(true) => b"can be started",
            Some(false) => b"cannot be started",
        };
        fields.add("file", &[path, target, state, sha256, starts]);
    }
    fields.finish()
}

/// A hash of named fields. Every part is preceded by its length, and every field by the number of
/// its parts, so that no text can be moved from one field to another.
struct Fields(Sha256);

impl Fields {
    fn new() -> Self {
        Self(Sha256::new_with_prefix(b"hook trust 2\n"))
    }

    fn add(&mut self, name: &str, parts: &[&[u8]]) {
        self.0.update((parts.len() as u64).to_le_bytes());
        for part in std::iter::once(name.as_bytes()).chain(parts.iter().copied()) {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    fn add_optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, &[value.as_bytes()]);
        }
    }

    fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

/// The SHA-256 of some bytes, as a fingerprint is written.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
