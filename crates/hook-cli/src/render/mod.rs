//! Results for people.

mod hooks;
mod response;
mod tail;
mod tests;

pub(crate) use hooks::{listing_json, listings};
pub(crate) use response::response;
pub(crate) use tail::TailLines;
pub(crate) use tests::{test_report, test_report_json, test_summary};
