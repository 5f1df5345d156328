//! Trust: hooks of a project run only what its user agreed to (reference/settings.md, "Trust").
//!
//! A decision is bound to the hook as it would run, and to the folders of the files that it starts, by what is
//! in them. Native hooks then run from a copy of these folders; those of other agents run in place, and are compared
//! before each run.
//!
//! # Example
//!
//! ```
//! use hook_settings::{HookSource, parse};
//! use hook_trust::TrustStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path().join("project");
//! # std::fs::create_dir(&project)?;
//! let text = r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
//! let hooks = parse(text, HookSource::Project, None).hooks;
//! let store = TrustStore::new(folder.path().join("trust.json"));
//! assert!(store.grants(&project)?.is_empty());
//! store.grant(&project, &hooks)?;
//! assert_eq!(store.grants(&project)?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | `command`, `cover` | the files that a command starts, and the folders to cover |
//! | `tree`, `index`, `contents`, `copies` | the files of folders, their digest, what is in them, copies |
//! | `grant`, `store`, `lock` | decisions, and the files they are kept in |
//! | `review`, `changes`, `matching` | which decision is about which hook, and what changed since |
//! | `packs`, `agreed_packs` | packs by digest, and those that a user agreed to |
//! | `advice` | the commands that messages name |
//! | `policy`, `granted` | which hooks may run, and the last look before they do |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod advice;
mod agreed_packs;
mod changes;
mod command;
mod contents;
mod copies;
mod cover;
mod digest;
mod fingerprint;
mod grant;
mod granted;
mod index;
mod lock;
mod matching;
mod packs;
mod parallel;
mod paths;
mod policy;
mod review;
mod reviewed_file;
mod store;
mod tree;
mod user;

pub use advice::{agent_of, review_command};
pub use changes::Change;
pub use digest::module_digest;
pub use digest::{settings_hash, sha256};
pub use fingerprint::fingerprint;
pub use grant::{Grant, Seen};
pub use granted::TrustedHook;
pub use granted::{CHANGED_SINCE_TRUSTED, REMOVED_FROM_COPY};
pub use lock::{LockCheck, TrustLock, TrustLockError};
pub use packs::{AgreedPacks, PackFiles, PackStore, outside_of_pack, verify_pack};
pub use policy::Trust;
pub use policy::TrustPolicy;
pub use review::{Review, TrustStatus};
pub use reviewed_file::ReviewedFile;
pub use store::{TrustStore, TrustStoreError};
