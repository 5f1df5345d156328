//! Results for people.

mod help;
mod hooks;
mod junit;
mod man;
mod mismatches;
mod response;
mod tests;

pub(crate) use help::{exit_codes, exit_codes_json, protocol, protocol_json};
pub(crate) use hooks::{listing_json, listings};
pub(crate) use junit::junit;
pub(crate) use man::{man_file_name, man_page};
pub(crate) use mismatches::scenario_error;
pub(crate) use response::response;
pub(crate) use tests::{
    TestOutcome, TestRun, listed_test, listed_test_json, test_header, test_json, test_label,
    test_outcome, test_summary,
};
