//! What becomes of these tests where there is no broker: nobody takes them for passed.

use std::process::{Command, Output};

/// One of them where there is no broker.
fn without_a_broker(required: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "losses::where_nobody_serves_that_is_said_at_once_and_blocks"]);
    command.env("NATS_SERVER", "/nonexistent").env("HOOK_REQUIRE_TOOLS", required);
    command.output().unwrap()
}

#[test]
fn a_broker_that_is_not_there_is_said_past_the_harness() {
    let passed = without_a_broker("");
    assert!(passed.status.success(), "{passed:?}");
    let said = String::from_utf8_lossy(&passed.stderr).into_owned();
    assert!(said.starts_with("SKIPPED a test of a fleet: nats-server is not installed"), "{said}");
    assert!(!without_a_broker("1").status.success());
}
