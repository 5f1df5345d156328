//! Process trees on Windows: job objects, which include all descendants.
//!
//! Windows has no TERM, so a tree that should end is killed at once. Written after the
//! documentation and checked only by the compiler. Processes that the leader starts before it is
//! assigned to its job, right after its own start, are not included.

use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};
use win32job::Job;

use super::signal::EndSignal;
use super::sweeper::Sweeper;
use super::until::until;

/// The notification of a leader's end.
#[derive(Debug)]
pub(super) struct LeaderEnd;

impl LeaderEnd {
    pub(super) fn of(_leader: &Child) -> Self {
        Self
    }

    pub(super) async fn reached(&self) {}
}

/// The job of a child; `None` once killed, or if it could not be created.
#[derive(Debug)]
pub(super) struct Group {
    job: Mutex<Option<Job>>,
}

impl Group {
    pub(super) fn prepare(_command: &mut Command) {}

    pub(super) fn of(leader: &Child) -> Self {
        let job = Job::create().ok().filter(|job| {
            leader.raw_handle().is_some_and(|handle| job.assign_process(handle as isize).is_ok())
        });
        Self { job: Mutex::new(job) }
    }

    pub(super) fn tell_to_end(&self, leader: &Child, _how: EndSignal) {
        self.kill(leader);
    }

    pub(super) fn kill(&self, _leader: &Child) {
        let job = self.job.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A job with this limit kills its processes when it is closed.
        if let Some(job) = job
            && let Ok(mut limits) = job.query_extended_limit_info()
        {
            let _ = job.set_extended_limit_info(limits.limit_kill_on_job_close());
        }
    }

    pub(super) fn leader_runs(&self, leader: &Child) -> bool {
        leader.id().is_some() && self.runs()
    }

    pub(super) async fn gone(&self, _leader: &Child, _sweeper: &Sweeper) {
        until(|| !self.runs()).await;
    }

    pub(super) fn how_it_ended(&self, _leader: &Child) -> String {
        "it ended".to_owned()
    }

    fn runs(&self) -> bool {
        self.job.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
