//! The audit: what happened to hooks, for a trail that can be looked at later (protocol.md §6,
//! "Audit").
//!
//! It is made of what the bus tells its subscribers. [`HookSystem::audit`](crate::HookSystem::audit) gives
//! it as a stream of [`AuditEntry`], [`AuditLog`] writes it into a file.

mod asked;
mod chain;
mod entry;
mod file;
mod log;
mod stream;
mod verify;

pub use entry::{AuditEntry, AuditKind};
pub use log::{AuditLog, AuditLogError};
pub use stream::Audit;
pub use verify::{Verified, verify};
