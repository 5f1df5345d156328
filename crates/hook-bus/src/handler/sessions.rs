//! Environment variables that hooks set for their sessions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hook_run::SessionEnv;

use crate::bridge::state::{BridgeState, Stamp};

/// The maximum number of sessions kept; the oldest is removed first.
const MAX_SESSIONS: usize = 256;

/// A session's environment.
#[derive(Debug)]
struct Known {
    id: Arc<str>,
    env: SessionEnv,
    /// The state of its file when read: another process may have changed it since.
    stamp: Stamp,
}

/// The last sessions with variables set by hooks.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// `false` while there are none, as for most agents, which then skip the lookup.
    has_any: AtomicBool,
    oldest_first: Mutex<VecDeque<Known>>,
    /// The files that share them with other processes of the session.
    files: Option<BridgeState>,
}

impl Sessions {
    /// Creates the set, backed by these files.
    pub(crate) fn kept_in(files: Option<BridgeState>) -> Self {
        Self { files, ..Self::default() }
    }

    /// Returns the variables of a session. A server reads files on a blocking thread.
    pub(crate) async fn env(self: &Arc<Self>, session: &Arc<str>) -> SessionEnv {
        let session = Arc::clone(session);
        self.apart(move |own| own.env_now(&session)).await.unwrap_or_default()
    }

    /// Replaces the variables of a session. Returns a warning if later processes of the session
    /// will not see them.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        session: Arc<str>,
        env: SessionEnv,
    ) -> Option<String> {
        self.apart(move |own| own.begin_now(session, env)).await.flatten()
    }

    /// Runs `work` on a blocking thread in a server, where other requests must not wait for files.
    /// A process for one call runs it inline.
    async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        if !self.files.as_ref().is_some_and(BridgeState::is_server) {
            return Some(work(self));
        }
        let own = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&own)).await;
        done.inspect_err(|error| {
            tracing::warn!(target: "hook::bridge", "what is kept of sessions was not looked at: {error}");
        })
        .ok()
    }

    fn env_now(&self, session: &str) -> SessionEnv {
        let stamp = self.files.as_ref().and_then(|files| files.stamp(session));
        if self.has_any.load(Ordering::Acquire)
            && let Some(known) = self.lock().iter().find(|known| *known.id == *session)
            && known.stamp == stamp
        {
            return known.env.clone();
        }
        let Some(files) = &self.files else { return SessionEnv::default() };
        let env = files.session(session).env;
        self.remember(Known { id: session.into(), env: env.clone(), stamp });
        env
    }

    /// Like [`begin`](Self::begin), on this thread.
    pub(crate) fn begin_now(&self, session: Arc<str>, env: SessionEnv) -> Option<String> {
        let Some(files) = &self.files else {
            self.remember(Known { id: session, env, stamp: None });
            return None;
        };
        files.sweep();
        let kept = files.change(&session, |state| state.env = env.clone());
        let stamp = files.stamp(&session);
        self.remember(Known { id: session, env, stamp });
        let error = kept.err()?;
        Some(format!("what hooks set for the session is not known to later calls: {error}"))
    }

    /// Caches a session; an empty one only if that saves reading its file.
    fn remember(&self, known: Known) {
        let mut sessions = self.lock();
        sessions.retain(|other| other.id != known.id);
        if known.env.is_empty() && self.files.is_none() {
            return;
        }
        if sessions.len() >= MAX_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back(known);
        self.has_any.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Known>> {
        self.oldest_first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
