//! What settings say and what of it is trusted, in one hash: whoever has the same runs the same hooks.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::fingerprint::hexadecimal;
use super::policy::TrustPolicy;
use crate::files::regular_file;
use crate::settings::{MAX_SETTINGS, SettingsSource, listing};

/// The SHA-256 of all settings files and of the decisions to trust, with where they stand and whose they
/// are; in hexadecimal. Of files that cannot be read only that goes in.
#[doc(hidden)]
pub fn settings_hash(sources: &[SettingsSource], trust: &TrustPolicy) -> String {
    let mut hash = Sha256::new_with_prefix(b"hook settings 1\n");
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    let path_of = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    for source in sources {
        add(source.source.as_str().as_bytes());
        add(&path_of(&source.path));
        add(source.language.map_or("", |language| language.name()).as_bytes());
        add(&source.plugin_root.as_deref().map(path_of).unwrap_or_default());
        add(&content(&source.path));
        for module in &source.modules {
            add(&path_of(module));
            add(&content(module));
        }
        for (path, is_executable) in listing(source) {
            add(&path_of(&path));
            add(&[u8::from(is_executable)]);
            add(&content(&path));
        }
    }
    match trust {
        TrustPolicy::Nothing => add(b"nothing"),
        TrustPolicy::Everything => add(b"everything"),
        TrustPolicy::Store(store) => {
            add(&path_of(store.path()));
            add(&content(store.path()));
        }
    }
    hexadecimal(&hash.finalize())
}

/// The SHA-256 of some bytes, in hexadecimal.
#[doc(hidden)]
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// What is in a file, or why that is not known.
fn content(path: &Path) -> Vec<u8> {
    match regular_file::read(path, MAX_SETTINGS) {
        Ok(bytes) => [&b"read"[..], &bytes].concat(),
        Err(error) => error.kind().to_string().into_bytes(),
    }
}
