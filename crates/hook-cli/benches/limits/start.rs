//! P11: what it costs to start the `hook` command for one event, beside a program that does
//! nothing.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use criterion::Criterion;

use crate::project::Project;

const HOOK: &str = env!("CARGO_BIN_EXE_hook");

pub(crate) fn benchmarks(criterion: &mut Criterion) {
    let project = Project::new();
    let fire = ["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#];
    let mut group = criterion.benchmark_group("P11");
    group.sample_size(50).warm_up_time(Duration::from_secs(1));
    for (name, program, arguments) in
        [("limit", "/bin/true", [].as_slice()), ("ours", HOOK, fire.as_slice())]
    {
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(&project, program.as_ref(), arguments));
        });
    }
    group.finish();
}

/// Runs a program from its start to its end.
fn run(project: &Project, program: &Path, arguments: &[&str]) {
    let mut command = project.command(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
}
