//! Results for people.

mod doctor;
mod hooks;
mod junit;
mod mismatches;
mod response;
mod tests;

pub(crate) use doctor::{diagnosis, section, section_json};
pub(crate) use hooks::{listing_json, listings};
pub(crate) use junit::junit;
pub(crate) use mismatches::scenario_error;
pub(crate) use response::response;
pub(crate) use tests::{
    TestOutcome, TestRun, listed_test, listed_test_json, test_header, test_json, test_label,
    test_outcome, test_summary,
};
