//! What hooks set for their sessions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hook_core::run::SessionEnv;

use crate::bridge::state::{BridgeState, SessionState};

/// How many sessions are remembered; the oldest goes first.
const MAX_SESSIONS: usize = 256;

/// The last sessions for which hooks set something.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Whether there may be any: most agents have none, and look at nothing else.
    has_any: AtomicBool,
    oldest_first: Mutex<VecDeque<(Arc<str>, SessionEnv)>>,
    /// Where they are kept for other processes of the session.
    files: Option<BridgeState>,
}

impl Sessions {
    /// With those that are kept there.
    pub(crate) fn kept_in(files: Option<BridgeState>) -> Self {
        Self { files, ..Self::default() }
    }

    /// What was set for a session.
    pub(crate) fn env(&self, session: &str) -> SessionEnv {
        if self.has_any.load(Ordering::Acquire)
            && let Some((_, env)) = self.lock().iter().find(|(id, _)| **id == *session)
        {
            return env.clone();
        }
        let Some(files) = &self.files else { return SessionEnv::default() };
        let env = files.session(session).env;
        self.remember(session.into(), env.clone());
        env
    }

    /// Takes what is set for a session now in the place of what was.
    pub(crate) fn begin(&self, session: Arc<str>, env: SessionEnv) {
        if let Some(files) = &self.files {
            files.sweep();
            files.keep(&session, &SessionState { env: env.clone(), ..files.session(&session) });
        }
        self.remember(session, env);
    }

    /// An empty one is remembered where it would be looked for in files.
    fn remember(&self, session: Arc<str>, env: SessionEnv) {
        let mut sessions = self.lock();
        sessions.retain(|(id, _)| *id != session);
        if env.is_empty() && self.files.is_none() {
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
