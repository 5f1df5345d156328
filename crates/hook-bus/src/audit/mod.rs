//! The audit: a record of hooks and decisions, for later inspection (reference/messages.md, "Audit").
//!
//! It is made from the messages on the bus. [`HookSystem::audit`](crate::HookSystem::audit) returns
//! it as a stream of [`AuditEntry`], [`AuditLog`] writes it to a file.

mod chain;
mod entry;
mod file;
mod log;
mod request_context;
mod stream;
mod verify;

pub use entry::{AuditEntry, AuditKind};
pub use log::{AuditLog, AuditLogError};
pub use stream::Audit;
pub use verify::{Verified, verify};
