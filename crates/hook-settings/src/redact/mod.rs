//! Redaction: keeping secrets out of records and logs (reference/settings.md, `redact`).
//!
//! A pattern's match in a text becomes [`REDACTED`], and so does the value of a field with a listed
//! name. Texts are compared unescaped, and JSON within a text (for example, a hook's output) is
//! searched as well. If the patterns are unknown, everything is redacted: see
//! [`Redaction::withheld`].

mod patterns;
mod replace;

pub(crate) use patterns::pattern_error;
pub use patterns::{REDACTED, Redaction};
pub use replace::Exemptions;

#[cfg(test)]
mod tests;
