//! One hash of settings and the trust in them: engines with the same hash run the same hooks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::fingerprint::hexadecimal;
use super::index::Index;
use super::policy::TrustPolicy;
use super::tree::Scope;
use super::user::indexes;
use hook_files::regular_file;
use hook_settings::{MAX_SETTINGS, SettingsSource, listing};

/// The SHA-256 of all settings files and of the decisions to trust, with where they stand and whose they
/// are; in hexadecimal. Of files that cannot be read only that goes in.
pub fn settings_hash(sources: &[SettingsSource], trust: &TrustPolicy) -> String {
    let mut hash = Sha256::new_with_prefix(b"hook settings 1\n");
    let mut update = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    let path_of = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    let mut folders = BTreeSet::new();
    for source in sources {
        update(source.source.as_str().as_bytes());
        update(&path_of(&source.path));
        update(source.language.map_or("", |language| language.name()).as_bytes());
        update(&source.plugin_root.as_deref().map(path_of).unwrap_or_default());
        update(&tagged_content(&source.path));
        if let Some(pack) = &source.pack {
            update(pack.locked.digest.as_bytes());
            update(folder_digest(&pack.folder).unwrap_or_default().as_bytes());
        }
        for module in &source.modules {
            update(&path_of(module));
            folders.insert(module_folder(module).to_path_buf());
        }
        for (path, is_executable) in listing(source) {
            update(&path_of(&path));
            update(&[u8::from(is_executable)]);
            update(&tagged_content(&path));
            folders.insert(module_folder(&path).to_path_buf());
        }
    }
    // What a module loads lies beside it.
    for folder in folders {
        update(folder_digest(&folder).unwrap_or_default().as_bytes());
    }
    match trust {
        TrustPolicy::Nothing => update(b"nothing"),
        TrustPolicy::Everything => update(b"everything"),
        TrustPolicy::Store(store) => {
            update(&path_of(store.path()));
            update(&tagged_content(store.path()));
        }
    }
    hexadecimal(&hash.finalize())
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The digest of what is loaded with a module: of its folder, or, where that cannot be covered, of its file.
pub fn module_digest(module: &Path) -> String {
    folder_digest(module_folder(module)).unwrap_or_else(|| sha256(&tagged_content(module)))
}

fn module_folder(module: &Path) -> &Path {
    module.parent().unwrap_or(Path::new("/"))
}

fn folder_digest(folder: &Path) -> Option<String> {
    let scope = Scope { roots: vec![PathBuf::new()], data: Vec::new(), started: Vec::new() };
    Index::new(folder, &scope, indexes().as_deref()).digest().ok()
}

/// Returns the content of a file, or the reason why it is unknown.
fn tagged_content(path: &Path) -> Vec<u8> {
    match regular_file::read(path, MAX_SETTINGS) {
        Ok(bytes) => [&b"read"[..], &bytes].concat(),
        Err(error) => error.kind().to_string().into_bytes(),
    }
}
