//! What a finished hook means: what it printed, its exit code, and its failure.

mod interpret;
mod noise;
mod printed;
mod signs;

pub use interpret::Answer;
pub(super) use interpret::{Ending, interpret};
