//! Results for people.

mod doctor;
mod hooks;
mod response;
mod tests;

pub(crate) use doctor::{diagnosis, section, section_json};
pub(crate) use hooks::{listing_json, listings};
pub(crate) use response::response;
pub(crate) use tests::{test_report, test_report_json, test_summary};
