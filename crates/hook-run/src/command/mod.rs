//! Hooks that are commands: program, directory, environment and captured output.

mod capture;
#[cfg_attr(windows, path = "direct_windows.rs")]
mod direct;
mod env_file;
mod environment;
mod executor;
mod process;

pub use environment::RunnerError;
pub(super) use environment::{HostEnvironment, RunVariables, Shell, ignores_child_signal};
pub(super) use executor::{CommandContext, CommandExecutor};
pub(super) use process::{ProcessCall, run as run_process};
