//! On Windows a tree is a job object: what its processes start belongs to it.
//!
//! There is no TERM, so a tree that is told to end is killed. Written against the documentation and
//! checked by the compiler only. Out of reach is what the leader starts before it was put
//! into its job, right after its own start.

use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};
use win32job::Job;

use super::signal::EndSignal;
use super::sweeper::Sweeper;
use super::until::until;

/// Tells of a leader's end.
#[derive(Debug)]
pub(super) struct LeaderEnd;

impl LeaderEnd {
    pub(super) fn of(_leader: &Child) -> Self {
        Self
    }

    pub(super) async fn reached(&self) {}
}

/// The job that a child was put into; `None` once it was ended, or where there could be none.
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
        // A job that ends what is in it when it is closed, and is closed.
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
