//! Reading, writing and finding files.

pub(crate) mod atomic;
pub mod program;
pub mod regular_file;
pub mod replace;
