//! Anthropic's messages: what a hook's answer changes, case by case and over generated payloads.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/generate.rs"]
mod generate;
#[path = "../common/json.rs"]
mod json;

mod requests;
mod responses;
mod round_trip;
mod tool_choice;

use hook_translate::{Sdk, Translated};

const ANTHROPIC: Sdk = Sdk::Anthropic;

fn warnings(translated: &Translated) -> Vec<String> {
    translated.warnings.iter().map(ToString::to_string).collect()
}
