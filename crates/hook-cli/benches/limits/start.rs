//! P11: what it costs to start the `hook` command for one event, beside a program that does
//! nothing.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::project::Project;
use crate::table;
use crate::turns::{Request, Side};

const HOOK: &str = env!("CARGO_BIN_EXE_hook");

pub(crate) fn measure(request: &Request) {
    if !request.wants("P11") {
        return;
    }
    let project = Project::new();
    let fire = ["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#];
    let mut limit = || run(&project, "/bin/true".as_ref(), &[]);
    let mut ours = || run(&project, HOOK.as_ref(), &fire);
    let figures =
        request.measure(Duration::from_secs(8), Side::of(&mut limit), Side::of(&mut ours));
    table::print("P11", figures);
}

/// Runs a program from its start to its end.
pub(crate) fn run(project: &Project, program: &Path, arguments: &[&str]) {
    let mut command = project.command(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
}
