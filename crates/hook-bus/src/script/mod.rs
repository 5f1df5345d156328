//! Driving the bus with scripted messages: what `hook run` and `hook test` do, and tests of hosts
//! can do too.
//!
//! [`play()`] sends the requests of a script, one JSON object a line, and gives their responses in
//! the script's order. [`Scenario`] adds what is expected of each; [`play_tests`] plays the tests
//! of several, and [`update()`] writes what was found into the file that expected something else.

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
pub use suite::{Played, Selected, play_tests};
pub use update::{Change, NotUpdated, NotUpdatedReason, Updated, update};
