//! Whole-system tests: public APIs, the binary, real scripts as real processes.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot go on should end it"
)]

mod a3s;
mod a3s_inputs;
mod agent_definitions;
mod agents_files;
mod audit;
mod background;
mod bridge;
mod broken_settings;
mod caller;
mod cli;
mod conformance;
mod connect;
#[cfg(unix)]
mod connect_project;
mod connect_verify;
mod decisions;
mod events;
mod example;
mod example_guards;
mod faults;
mod groups;
mod hooks;
mod host_services;
mod in_language;
mod invariants;
mod modules;
mod modules_js;
mod object_matchers;
mod packs;
mod parity;
mod registered;
#[cfg(unix)]
mod registered_restart;
#[cfg(unix)]
mod registered_wire;
mod registration;
mod requirements;
mod robustness;
mod rules;
#[cfg(unix)]
mod sdk_python;
#[cfg(unix)]
mod sdk_typescript;
mod serve;
#[cfg(unix)]
mod serve_socket;
#[cfg(target_os = "linux")]
mod serve_stdio;
mod session_env;
#[cfg(unix)]
mod soak;
mod tour;
mod trigger_scenarios;
mod trigger_wire;
mod triggers;
mod warnings;
#[cfg(unix)]
mod wire_events;
#[cfg(unix)]
mod workers;
