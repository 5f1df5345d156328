//! Results for people.

mod hooks;
mod replay;
mod response;
mod tests;
mod trace;

pub(crate) use hooks::{listing_json, listings};
pub(crate) use replay::{ReplayTotals, replay_summary, replayed, replayed_json};
pub(crate) use response::response;
pub(crate) use tests::{test_report, test_report_json, test_summary};
pub(crate) use trace::{Scale, trace_chrome, trace_json, trace_page, trace_text};
