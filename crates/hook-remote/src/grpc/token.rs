//! What clients over TCP must know: a token of the server's, in a file that only its user can read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hook_bus::live::is_same_token;
use hook_core::files::private_folder;

use super::place::GrpcError;

/// How many random bytes a token is made of.
const RANDOM: usize = 32;

/// A server's token. Dropped, it takes its file away, if the file still holds it.
#[derive(Debug)]
pub(super) struct BearerToken {
    token: String,
    path: PathBuf,
}

impl BearerToken {
    /// Makes one, and writes it to a file of mode 600. What a server before has left there is replaced;
    /// whatever else is there stays.
    pub(super) fn write(path: &Path) -> Result<Self, GrpcError> {
        let failed = |source| GrpcError::Token { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        private_folder::make(folder).map_err(failed)?;
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() || !holds_token(&path) => {
                return Err(GrpcError::TokenTaken { path });
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let token = random_hex::<RANDOM>().map_err(failed)?;
        // Made with mode 600, and there as a whole or not at all.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        writeln!(file, "{token}").map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(Self { token, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the value of an `authorization` header is this token, in a time that does not depend on how
    /// much of it is.
    pub(super) fn is_said_by(&self, authorization: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(authorization) else { return false };
        let Some((scheme, said)) = text.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && is_same_token(&self.token, said.trim())
    }
}

impl Drop for BearerToken {
    fn drop(&mut self) {
        let held = fs::read_to_string(&self.path);
        if held.is_ok_and(|held| is_same_token(&self.token, held.trim())) {
            // The next server replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a file holds nothing but a token.
fn holds_token(path: &Path) -> bool {
    let is_short = fs::metadata(path).is_ok_and(|it| it.len() <= RANDOM as u64 * 2 + 1);
    let held = if is_short { fs::read(path).unwrap_or_default() } else { return false };
    let held = held.trim_ascii_end();
    held.len() == RANDOM * 2 && held.iter().all(u8::is_ascii_hexdigit)
}

/// So many bytes of the system's randomness, in hexadecimal digits.
pub(super) fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
