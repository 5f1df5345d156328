//! The tables of docs/reference/generated/fleet.md: what the simulation says.

use std::path::PathBuf;
use std::process::{Command, Output};

/// The example, built as these tests were.
fn built() -> PathBuf {
    // These tests are in target/PROFILE/deps.
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(2).unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "hook-remote", "--example", "simulate"]);
    build.args(["--features", "grpc,nats,generate"]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success());
    folder.join("examples/simulate")
}

#[test]
fn the_page_says_how_many_engines_it_takes_as_the_simulation_does() {
    let program = built();
    let simulate =
        |arguments: &[&str]| -> Output { Command::new(&program).args(arguments).output().unwrap() };
    let page = include_str!("../../../../docs/reference/generated/fleet.md");
    for arguments in [&[][..], &["1000000"], &["1000000", "0.12465", "1"]] {
        let output = simulate(arguments);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, table) = text.split_once("\n\n").unwrap();
        assert!(page.contains(table), "{arguments:?} {table}");
    }
    for arguments in [&["0"][..], &["1e9"], &["-1"], &["ten"], &["1", "1", "1.5"], &["1e8", "1e6"]]
    {
        let output = simulate(arguments);
        assert_eq!(output.status.code(), Some(64), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("usage: simulate"), "{output:?}");
    }
    assert!(simulate(&["--help"]).status.success());
}
