//! What the whole-system tests share: a private project, hook systems on it, the `hook` binary.
//!
//! Nothing here stands in for the engine: hooks are real scripts, run by the real runner.

#![cfg(unix)]

mod binary;
mod bounded;
mod holdings;
mod processes;
mod project;
mod served;
mod skipped;
#[cfg(unix)]
mod socket;
mod terminal;

pub use binary::{
    Finished, Hook, copy_hook_binary, example, hook_binary, hook_in_build_folder, path_with_hook,
    stable, workspace,
};
pub use bounded::output_within;
pub use holdings::Holdings;
pub use processes::HookProcess;
pub use project::Project;
pub use served::{Served, request};
pub use skipped::skipped;
#[cfg(unix)]
pub use socket::{SocketClient, SocketServed};
pub use terminal::Terminal;

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::HostContext;
use serde_json::Value;

/// An agent that works in `/`.
pub fn host() -> HostContext {
    HostContext { session_id: "s".into(), cwd: "/".into(), transcript_path: "".into() }
}

/// A JSON value as the engine carries objects.
///
/// # Panics
/// When it is not an object: a mistake in the test.
#[expect(clippy::panic, reason = "a mistake in a test should end it")]
pub fn object(value: Value) -> RawObject {
    match RawObject::try_from(&value) {
        Ok(object) => object,
        Err(error) => panic!("{value}: {error}"),
    }
}

/// A JSON object one level deep.
///
/// # Panics
/// When it is not an object: a mistake in the test.
pub fn fields(value: Value) -> JsonObject {
    object(value).fields()
}

/// A message of the engine's as a JSON value.
pub fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or(Value::Null)
}

/// A JSON text of the engine's as a JSON value.
pub fn value(raw: &RawJson) -> Value {
    json(raw.as_str().as_bytes())
}
