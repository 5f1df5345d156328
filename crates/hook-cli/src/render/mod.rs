//! Results for people.

pub(crate) mod check;
mod columns;
mod diff;
mod doctor;
mod explain;
mod findings;
mod fire;
mod help;
mod hook;
mod hooks;
mod init;
mod json;
mod junit;
mod man;
mod mismatches;
mod replay;
mod response;
mod strings;
mod switching;
mod tail;
mod test_report;
mod topics;
mod trace;
#[allow(clippy::disallowed_methods, reason = "each is escaped where it is shown")]
mod trust;

pub(crate) use diff::{file_diff, paint_diff, unified};
pub(crate) use doctor::{diagnosis, fleet_diagnosis, section, section_json};
pub(crate) use explain::{Explained, explained, explained_json, nothing_found};
pub(crate) use findings::{Finding, Health, Section};
pub(crate) use fire::{Fired, fired};
pub(crate) use hooks::{listing_json, listings};
pub(crate) use init::Initialized;
pub(crate) use junit::junit;
pub(crate) use man::{man_file_name, man_page};
pub(crate) use mismatches::scenario_error;
pub(crate) use replay::{ReplayTotals, Replayed, replay_summary};
pub(crate) use response::response;
pub(crate) use strings::{counted, last_shell_word, plural};
pub(crate) use switching::{Edited, Outcome, Reason, Remaining, remaining};
pub(crate) use tail::TailLines;
pub(crate) use test_report::{
    ListedTest, TestOutcome, TestRun, test_header, test_json, test_label, test_outcome,
    test_summary,
};
pub(crate) use topics::TOPICS;
pub(crate) use trace::{Scale, trace_json, trace_page, trace_text};
pub(crate) use trust::{
    Match, ShownFiles, about, all_locked, content, copied, grant_json, grants, locked,
    missing_hooks, not_agreed, nothing_to_trust, removals, removed_guard, review, review_json,
    revoked, shown_names, trusted, unlocked,
};
