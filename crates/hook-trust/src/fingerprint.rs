//! The fingerprint of a hook: with its files, all that a decision is bound to.

use sha2::{Digest, Sha256};

use super::grant::spec;
use hook_settings::{HookEntry, MatcherDefinition};

/// The fingerprint of a hook as it would run. Nothing in it depends on the machine, on where the project is,
/// or on what is in its files: of those a decision has the digest.
pub fn fingerprint(entry: &HookEntry) -> String {
    let mut fields = Fields::new();
    fields.add("event", &[entry.event.as_str().as_bytes()]);
    fields.add_optional("matcher", entry.matcher.as_deref().and_then(MatcherDefinition::as_text));
    fields.add_optional("name", entry.name.as_deref());
    fields.add("command", &[entry.command.as_bytes()]);
    // Variables can make a trusted command do anything. Their order counts: the last of a name wins.
    for (name, value) in &entry.env {
        fields.add("env", &[name.as_bytes(), value.as_bytes()]);
    }
    for (name, value) in spec(entry) {
        fields.add("term", &[name.as_bytes(), value.as_bytes()]);
    }
    fields.finish()
}

/// A hash of named fields. Every part is preceded by its length, and every field by the number of
/// its parts, so that no text can be moved from one field to another.
struct Fields(Sha256);

impl Fields {
    fn new() -> Self {
        Self(Sha256::new_with_prefix(b"hook trust 3\n"))
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
