//! Results for people.

mod columns;
mod explain;
mod fire;
mod hooks;
mod json;
mod response;
mod tests;

pub(crate) use explain::{Explained, explained, explained_json, nothing_found};
pub(crate) use fire::{Fired, fired};
pub(crate) use hooks::{listing_json, listings};
pub(crate) use response::response;
pub(crate) use tests::{test_report, test_report_json, test_summary};
