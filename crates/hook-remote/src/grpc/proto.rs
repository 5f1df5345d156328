//! The messages and services of `proto/`, as generated code (see `tests/generated.rs`).

/// `hooks.proto`, which has no package.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "generated; the .proto says it all"
)]
#[rustfmt::skip]
pub mod hooks {
    include!("generated/hooks.rs");
}

/// `hook_bus.proto`, the package `hook.v1`.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "generated; the .proto says it all"
)]
#[rustfmt::skip]
pub mod hook_bus {
    include!("generated/hook.v1.rs");
}

/// The descriptors of both files, for reflection.
pub(super) const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");
