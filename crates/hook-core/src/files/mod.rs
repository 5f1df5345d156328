//! Reading, writing and finding files.

pub(crate) mod absence;
pub(crate) mod atomic;
pub mod file_lock;
pub(crate) mod plain_path;
pub mod private_folder;
pub mod program;
pub mod project_file;
pub mod project_tree;
pub mod regular_file;
pub mod replace;
