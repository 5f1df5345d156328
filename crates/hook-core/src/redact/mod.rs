//! Redaction: keeping secrets out of what is written down (protocol.md §1, `redact`).
//!
//! What a pattern matches in a text becomes [`REDACTED`], and so does the value of a field of a
//! certain name. Texts are compared as they are read, not as they are escaped, and JSON within a text
//! (what a hook printed, say) is looked into as well. Where it is not known what to leave out,
//! everything is: see [`Redaction::withheld`].

mod patterns;
mod replaced;

pub(crate) use patterns::pattern_problem;
pub use patterns::{REDACTED, Redaction};
pub use replaced::OwnWords;

#[cfg(test)]
mod tests;
