//! What a finished hook means: what it printed, its exit code, and its failure.

mod home;
mod interpret;
mod noise;
mod printed;
mod signs;

pub(super) use home::home_answer;
pub(super) use home::interpret_home;
pub use interpret::Answer;
pub(super) use interpret::{Ending, interpret};
