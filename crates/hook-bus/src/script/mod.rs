//! Driving the bus with scripted messages: what `hook run` and `hook test` do, and tests of hosts
//! can do too.
//!
//! [`play()`] sends the requests of a script, one JSON object a line, and gives their responses in
//! the script's order. [`Scenario`] adds what is expected of each.

mod play;
mod scenario;

pub use play::play;
pub use scenario::{Expectation, Mismatch, Scenario, ScenarioError, ScenarioTest, TestReport};
