//! The answer of a finished hook, from its output, its exit code and its failure.

mod home;
mod interpret;
mod noise;
mod printed;
mod signs;

pub(super) use home::interpret_home;
#[cfg(feature = "http")]
pub(super) use home::without_doubt;
pub(super) use home::{answer_at_home, home_answer};
pub use interpret::Answer;
pub(super) use interpret::{Ending, interpret};
