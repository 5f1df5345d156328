//! What hooks set for their sessions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hook_core::run::SessionEnv;

use crate::bridge::state::{BridgeState, Stamp};

/// How many sessions are remembered; the oldest goes first.
const MAX_SESSIONS: usize = 256;

/// What is known of a session.
#[derive(Debug)]
struct Known {
    id: Arc<str>,
    env: SessionEnv,
    /// The file that it was read from: another process may have changed it since.
    stamp: Stamp,
}

/// The last sessions for which hooks set something.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Whether there may be any: most agents have none, and look at nothing else.
    has_any: AtomicBool,
    oldest_first: Mutex<VecDeque<Known>>,
    /// Where they are kept for other processes of the session.
    files: Option<BridgeState>,
}

impl Sessions {
    /// With those that are kept there.
    pub(crate) fn kept_in(files: Option<BridgeState>) -> Self {
        Self { files, ..Self::default() }
    }

    /// What was set for a session. Files are looked at on a thread that may block.
    pub(crate) async fn env(self: &Arc<Self>, session: &Arc<str>) -> SessionEnv {
        let session = Arc::clone(session);
        self.apart(move |own| own.env_now(&session)).await.unwrap_or_default()
    }

    /// Takes what is set for a session now in the place of what was. Says why later processes of the session
    /// will not know it, where they will not.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        session: Arc<str>,
        env: SessionEnv,
    ) -> Option<String> {
        self.apart(move |own| own.begin_now(session, env)).await.flatten()
    }

    /// Does something on a thread that may block, where files are looked at and others wait for this one: a
    /// server. A process of one call waits for it anyway.
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

    /// The same as [`begin`](Self::begin), on this thread.
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

    /// An empty one is remembered where it would be looked for in files.
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
