//! The answer of a finished hook, from its output, its exit code and its failure.

mod decoded;
mod foreign;
mod hints;
mod interpret;
mod noise;

#[cfg(feature = "http")]
pub(super) use foreign::reject_ambiguous;
pub(super) use foreign::{convert_foreign_answer, interpret_foreign, interpret_foreign_output};
pub use interpret::Answer;
pub(super) use interpret::{Ending, interpret};
