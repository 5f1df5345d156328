//! Results for people.

pub(crate) mod check;
mod hooks;
mod response;
pub(crate) mod sarif;
mod tests;

pub(crate) use hooks::{listing_json, listings};
pub(crate) use response::response;
pub(crate) use tests::{test_report, test_report_json, test_summary};
