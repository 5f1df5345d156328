//! The SDKs over gRPC, against the binary with the feature `remote`: over a Unix socket and over TCP.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that finds something else fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../../../tests/src/skipped.rs"]
mod skipped;

use skipped::skipped;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What the tests of the workspace have installed or built; nothing where they have not.
fn made(what: &str, path: &str) -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(path);
    if made.exists() {
        return Some(made);
    }
    skipped(&format!(
        "{what} over gRPC: it is not there; run `cargo test -p hook-tests --test all sdk_` first"
    ));
    None
}

/// Runs tests of an SDK against this build; none of them may be passed over.
fn passes(mut tests: Command) {
    tests.env("HOOK_BINARY", env!("CARGO_BIN_EXE_hook"));
    for variable in ["HOOK_SOCKET", "HOOK_RUN_TOKEN", "NODE_TEST_CONTEXT", "NODE_OPTIONS"] {
        tests.env_remove(variable);
    }
    let output = tests.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tests:?}: {said}\n{errors}");
    assert!(!said.contains("SKIPPED") && !errors.contains("SKIPPED"), "{said}\n{errors}");
}

#[test]
fn the_python_sdk_talks_grpc_with_this_engine() {
    let Some(python) = made("the Python SDK", "sdk-python/bin/python") else { return };
    let package = workspace().join("sdks/python");
    let mut tests = Command::new(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]).arg(&package);
    tests.arg(package.join("tests/engine_grpc.py")).env("PYTHONDONTWRITEBYTECODE", "1");
    tests.current_dir(env!("CARGO_TARGET_TMPDIR"));
    passes(tests);
}

#[test]
fn the_typescript_sdk_talks_grpc_with_this_engine() {
    let path = "sdk-typescript/sdks/typescript";
    // Where it is, and is not built, the tests say so.
    let Some(package) = made("the TypeScript SDK", path) else { return };
    let mut tests = Command::new("node");
    tests.args(["--test", "--test-timeout=120000", "test/engine-grpc.mjs"]).current_dir(package);
    passes(tests);
}
