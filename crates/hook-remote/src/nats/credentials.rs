//! The credentials of a user at the broker.

use std::path::Path;

use async_nats::ConnectOptions;
use hook_files::regular_file;
use hook_json::opaque_debug;
use nkeys::{KeyPair, KeyPairType};

use super::error::NatsError;

/// The maximum length of a credentials file.
const MAX_LENGTH: u64 = 64 * 1024;

/// The contents of a credentials file, which are never displayed.
#[derive(Clone)]
pub(super) struct Credentials {
    text: String,
    /// `true` for a user's claims with a seed, `false` for a seed alone.
    has_claims: bool,
    /// The public key of the user.
    public_key: String,
}

impl Credentials {
    /// Reads a file that only its owner can read.
    pub(super) fn read(path: &Path) -> Result<Self, NatsError> {
        let failed = |source| NatsError::Credentials { path: path.to_owned(), source };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(NatsError::ReadableByOthers { path: path.to_owned(), mode });
            }
        }
        let text = regular_file::read_to_string(path, MAX_LENGTH).map_err(failed)?;
        Self::of(text).ok_or_else(|| NatsError::InvalidCredentials { path: path.to_owned() })
    }

    fn of(text: String) -> Option<Self> {
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"))?;
        let key_pair = KeyPair::from_seed(seed).ok()?;
        if key_pair.key_pair_type() != KeyPairType::User {
            return None;
        }
        let (public, seed) = (key_pair.public_key(), seed.to_owned());
        let has_claims = text.contains("-----BEGIN NATS USER JWT-----");
        if has_claims {
            ConnectOptions::new().credentials(&text).ok()?;
            return Some(Self { text, has_claims, public_key: public });
        }
        Some(Self { text: seed, has_claims, public_key: public })
    }

    /// Returns the public key of the user, which tells clients apart.
    pub(super) fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Adds this user to the connection's options.
    pub(super) fn apply_to(&self, options: ConnectOptions) -> std::io::Result<ConnectOptions> {
        match self.has_claims {
            true => options.credentials(&self.text),
            false => Ok(options.nkey(self.text.clone())),
        }
    }
}

opaque_debug!(Credentials { public_key });
