//! Files of users and projects: found, read and replaced without following links of a project.
//!
//! # Example
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("settings.json");
//! std::fs::write(&path, "{}")?;
//! assert_eq!(hook_files::regular_file::read(&path, 1024)?, b"{}");
//! // A folder, a device or a pipe is no settings file.
//! assert!(hook_files::regular_file::read(folder.path(), 1024).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | [`regular_file`] | opening and reading regular files, with a limit |
//! | [`project_file`], [`project_tree`] | files of a project, without following its links |
//! | [`replace`], `atomic` | replacing a file in one step |
//! | [`file_lock`], [`private_folder`] | locks, and folders of one user |
//! | [`user_folders`] | the home, and the folders of settings, state and data |
//! | [`program`] | finding a program by its name |
//! | `plain_path`, `absence` | paths without `..` and links; telling absent files from unreadable ones |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod absence;
pub mod atomic;
pub mod file_lock;
pub mod plain_path;
pub mod private_folder;
pub mod program;
pub mod project_file;
pub mod project_tree;
pub mod regular_file;
pub mod replace;
pub mod user_folders;
