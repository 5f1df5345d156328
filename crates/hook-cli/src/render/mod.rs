//! Results for people.

mod diff;
mod hooks;
mod init;
mod response;
mod switching;
mod tests;
mod trust;

pub(crate) use hooks::{listing_json, listings};
pub(crate) use init::{init, init_json};
pub(crate) use response::response;
pub(crate) use switching::{remaining, switched, switched_json};
pub(crate) use tests::{test_report, test_report_json, test_summary};
pub(crate) use trust::{
    grant_json, grants, nothing_to_trust, review, review_json, revoked, trusted,
};
