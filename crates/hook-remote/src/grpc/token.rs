//! The token of clients over TCP, in a file that only the server's user can read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hook_bus::live::is_same_token;
use hook_files::private_folder;

use super::endpoint::GrpcError;

/// The number of random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// A server's token. Dropping it removes its file, if the file still contains this token.
#[derive(Debug)]
pub(super) struct BearerToken {
    token: String,
    path: PathBuf,
}

impl BearerToken {
    /// Creates a token and writes it to a file of mode 600. Replaces a token file of a previous
    /// server, but never any other file.
    pub(super) fn write(path: &Path) -> Result<Self, GrpcError> {
        let failed = |source| GrpcError::Token { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        private_folder::make(folder).map_err(failed)?;
        match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_file() || !holds_token(&path) => {
                return Err(GrpcError::TokenFileExists { path });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let token = random_hex::<TOKEN_BYTES>().map_err(failed)?;
        // A temporary file has mode 600, and the rename makes the token appear as a whole.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        writeln!(file, "{token}").map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(Self { token, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if the value of an `authorization` header is this token. Compares in constant
    /// time.
    pub(super) fn matches(&self, authorization: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(authorization) else { return false };
        let Some((scheme, token)) = text.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && is_same_token(&self.token, token.trim())
    }
}

impl Drop for BearerToken {
    fn drop(&mut self) {
        let content = fs::read_to_string(&self.path);
        if content.is_ok_and(|content| is_same_token(&self.token, content.trim())) {
            // Ignored: the next server replaces the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns `true` if a file contains nothing but a token.
fn holds_token(path: &Path) -> bool {
    let is_short =
        fs::metadata(path).is_ok_and(|metadata| metadata.len() <= TOKEN_BYTES as u64 * 2 + 1);
    let content = if is_short { fs::read(path).unwrap_or_default() } else { return false };
    let content = content.trim_ascii_end();
    content.len() == TOKEN_BYTES * 2 && content.iter().all(u8::is_ascii_hexdigit)
}

/// Returns `BYTES` bytes of the system's randomness, as hexadecimal digits.
pub(super) fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
