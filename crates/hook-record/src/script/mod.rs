//! Scripted messages for the bus: used by `hook run` and `hook test`, and available for tests of
//! hosts.
//!
//! [`play()`] sends the requests of a script, one JSON object per line, and returns their responses
//! in the script's order. [`Scenario`] adds expectations to each; [`play_tests`] runs the tests of
//! several scenarios, and [`update()`] replaces failed expectations in a file by the actual
//! results.

mod document;
mod error;
mod expectation;
mod files;
mod host;
mod play;
mod scenario;
mod suite;
mod update;

pub use error::{ScenarioError, ScenarioErrorKind};
pub use expectation::{Expectation, Mismatch, ScenarioKey};
pub use files::{ScenarioFilesError, scenario_files};
pub use host::{ScriptedHost, ScriptedHostError};
pub use play::play;
pub use scenario::{Scenario, ScenarioTest, TestReport};
pub use suite::{PlayedTest, SelectedTests, play_tests};
pub use update::{Change, NotUpdated, NotUpdatedReason, Updated, update};
