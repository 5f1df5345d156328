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
struct CachedSession {
    id: Arc<str>,
    env: SessionEnv,
    /// The state of its file when read: another process may have changed it since.
    stamp: Stamp,
}

/// The last sessions with variables set by hooks.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// `false` while there are none, as for most agents, which then skip the lookup.
    has_sessions: AtomicBool,
    cached: Mutex<VecDeque<CachedSession>>,
    /// The files that share them with other processes of the session.
    files: Option<BridgeState>,
}

impl Sessions {
    /// Creates the set, backed by these files.
    pub(crate) fn with_files(files: Option<BridgeState>) -> Self {
        Self { files, ..Self::default() }
    }

    /// Returns the variables of a session. A server reads files on a blocking thread.
    pub(crate) async fn env(self: &Arc<Self>, session: &Arc<str>) -> SessionEnv {
        let session = Arc::clone(session);
        self.run_blocking(move |sessions| sessions.env_blocking(&session)).await.unwrap_or_default()
    }

    /// Replaces the variables of a session. Returns a warning if later processes of the session
    /// will not see them.
    pub(crate) async fn set_env(
        self: &Arc<Self>,
        session: Arc<str>,
        env: SessionEnv,
    ) -> Option<String> {
        self.run_blocking(move |sessions| sessions.set_env_blocking(session, env)).await.flatten()
    }

    /// Runs `work` on a blocking thread in a server, where other requests must not wait for files.
    /// A process for one call runs it inline.
    async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        if !self.files.as_ref().is_some_and(BridgeState::is_server) {
            return Some(work(self));
        }
        let sessions = Arc::clone(self);
        let result = tokio::task::spawn_blocking(move || work(&sessions)).await;
        result.inspect_err(|error| {
            tracing::warn!(target: "hook::bridge", "what is kept of sessions was not looked at: {error}");
        })
        .ok()
    }

    fn env_blocking(&self, session: &str) -> SessionEnv {
        let stamp = self.files.as_ref().and_then(|files| files.stamp(session));
        if self.has_sessions.load(Ordering::Acquire)
            && let Some(cached_session) = self.lock().iter().find(|known| *known.id == *session)
            && cached_session.stamp == stamp
        {
            return cached_session.env.clone();
        }
        let Some(files) = &self.files else { return SessionEnv::default() };
        let env = files.session(session).env;
        self.cache(CachedSession { id: session.into(), env: env.clone(), stamp });
        env
    }

    /// Like `begin`, on this thread.
    pub(crate) fn set_env_blocking(&self, session: Arc<str>, env: SessionEnv) -> Option<String> {
        let Some(files) = &self.files else {
            self.cache(CachedSession { id: session, env, stamp: None });
            return None;
        };
        files.sweep();
        let saved = files.change(&session, |state| state.env = env.clone());
        let stamp = files.stamp(&session);
        self.cache(CachedSession { id: session, env, stamp });
        let error = saved.err()?;
        Some(format!("what hooks set for the session is not known to later calls: {error}"))
    }

    /// Caches a session; an empty one only if that saves reading its file.
    fn cache(&self, cached_session: CachedSession) {
        let mut sessions = self.lock();
        sessions.retain(|other| other.id != cached_session.id);
        if cached_session.env.is_empty() && self.files.is_none() {
            return;
        }
        if sessions.len() >= MAX_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back(cached_session);
        self.has_sessions.store(true, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<CachedSession>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
