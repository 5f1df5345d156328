//! What a test says that cannot run here: past the test harness, which keeps back what a test prints that
//! passes. Where all tools must be there (`HOOK_REQUIRE_TOOLS` is set), it fails.

#![allow(unreachable_pub, reason = "tests of other crates have this file among their own")]

use std::io::Write;

/// Says that something is not tested, for want of a tool.
///
/// # Panics
/// Where `HOOK_REQUIRE_TOOLS` is set.
#[expect(clippy::panic, reason = "what must be tested and is not has failed")]
pub fn skipped(what: &str) {
    let is_required = std::env::var_os("HOOK_REQUIRE_TOOLS").is_some_and(|it| !it.is_empty());
    if is_required {
        panic!("SKIPPED {what}, and HOOK_REQUIRE_TOOLS is set");
    }
    // In one piece, as tests run beside each other. Nobody may listen.
    let _ = std::io::stderr().write_all(format!("SKIPPED {what}\n").as_bytes());
}
