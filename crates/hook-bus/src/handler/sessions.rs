//! What hooks set for their sessions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hook_core::run::SessionEnv;

/// How many sessions are remembered; the oldest goes first.
const MAX_SESSIONS: usize = 256;

/// The last sessions for which hooks set something.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Whether there may be any: most agents have none, and look at nothing else.
    has_any: AtomicBool,
    oldest_first: Mutex<VecDeque<(Arc<str>, SessionEnv)>>,
}

impl Sessions {
    /// What was set for a session.
    pub(crate) fn env(&self, session: &str) -> SessionEnv {
        if !self.has_any.load(Ordering::Acquire) {
            return SessionEnv::default();
        }
        let sessions = self.lock();
        let found = sessions.iter().find(|(id, _)| **id == *session);
        found.map(|(_, env)| env.clone()).unwrap_or_default()
    }

    /// Takes what is set for a session now in the place of what was.
    pub(crate) fn begin(&self, session: Arc<str>, env: SessionEnv) {
        let mut sessions = self.lock();
        sessions.retain(|(id, _)| *id != session);
        if env.is_empty() {
            return;
        }
        if sessions.len() >= MAX_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back((session, env));
        self.has_any.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Arc<str>, SessionEnv)>> {
        self.oldest_first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
