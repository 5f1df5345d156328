//! The folders in which the command looks for programs.

use std::ffi::OsString;

use hook_files::project_tree::ProjectTree;
use hook_shell::{is_started_program, started_programs};

/// Returns `PATH` without folders where a project could put that program, or one that it starts.
pub(crate) fn search_path(program: &str) -> OsString {
    let here = std::env::current_dir().unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_started = |name: &str| name == program || name == "ssh" || is_started_program(name);
    let mut names: Vec<&str> = started_programs().collect();
    names.extend([program, "ssh"]);
    ProjectTree::new(&here).split_search_path(&path, is_started, names.into_iter()).0
}
