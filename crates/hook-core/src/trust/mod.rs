//! Trust: hooks of a project run only what its user agreed to (protocol.md §1, "Trust").
//!
//! A decision is bound to a fingerprint of the hook as it would run, and of the files of the project
//! that its command names. A change of any of them asks again.
//!
//! [`TrustStore`] keeps the decisions. [`TrustStore::review`] says what would run and what changed since
//! it was trusted, and [`TrustStore::grant_reviewed`] trusts exactly what was shown.

mod changes;
mod digest;
mod earlier;
mod files;
mod fingerprint;
mod grant;
mod imports;
mod limits;
mod lock;
mod lookup;
mod matching;
mod paths;
mod policy;
mod review;
mod reviewed_file;
mod store;
mod user;

pub use changes::Change;
pub use digest::{settings_hash, sha256};
pub use fingerprint::fingerprint;
pub use grant::{Grant, Seen, SeenFile};
pub use lock::{LockCheck, TrustLock, TrustLockError};
pub use policy::TrustPolicy;
pub(crate) use policy::{Granted, Trust};
pub use review::{Review, Standing};
pub use reviewed_file::{FileState, ReviewedFile};
pub use store::{TrustStore, TrustStoreError};
