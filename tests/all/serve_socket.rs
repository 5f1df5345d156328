//! `hook serve --socket`: a socket for one user, many clients that do not harm each other, following
//! and recording what happens.

mod clients;
mod examples;
mod place;
mod recording;
mod share;
mod tail;

use hook_tests::request;
use serde_json::{Value, json};

/// A request that the hooks of these tests answer.
fn prompt(text: &str, id: &str) -> Value {
    request("BeforeAgent", &json!({"prompt": text}), id)
}

/// Whether these tests may become somebody else.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
