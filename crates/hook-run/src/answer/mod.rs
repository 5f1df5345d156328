//! The answer of a finished hook, from its output, its exit code and its failure.

mod decoded;
mod hints;
mod home;
mod interpret;
mod noise;

pub(super) use home::interpret_foreign;
#[cfg(feature = "http")]
pub(super) use home::reject_ambiguous;
pub(super) use home::{convert_foreign_answer, interpret_foreign_output};
pub use interpret::Answer;
pub(super) use interpret::{Ending, interpret};
