//! The reader of the session.

use std::sync::Arc;

use super::host_client::HostClient;
use hook_json::{JsonObject, RawJson};

/// A reader of the session; each call asks the host for the current state (`session.get`).
#[derive(Debug, Clone)]
pub struct SessionManager {
    pub(super) client: HostClient,
    pub(super) session_id: Arc<str>,
    pub(super) transcript_path: Arc<str>,
}

impl SessionManager {
    /// Returns a field of the host's session state.
    pub async fn get(&self, name: &str) -> Option<RawJson> {
        let state = self.client.request_or("session.get", JsonObject::new(), RawJson::null()).await;
        state.to_object().ok()?.get(name).filter(|value| !value.is_null()).cloned()
    }

    /// Returns the session's id, if known.
    pub async fn session_id(&self) -> Option<String> {
        let own = (!self.session_id.is_empty()).then(|| self.session_id.to_string());
        match self.get("sessionId").await.and_then(|id| id.to_text()) {
            Some(said) => Some(said),
            None => own,
        }
    }

    /// Returns the session's file, if it has one.
    pub async fn session_file(&self) -> Option<String> {
        let own = (!self.transcript_path.is_empty()).then(|| self.transcript_path.to_string());
        match self.get("sessionFile").await.and_then(|file| file.to_text()) {
            Some(said) => Some(said),
            None => own,
        }
    }

    /// Returns the current position in the session's tree.
    pub async fn leaf_id(&self) -> Option<String> {
        self.get("leafId").await?.to_text()
    }

    /// Returns the session's entries in the host's format; none if the host does not report them.
    pub async fn entries(&self) -> Vec<RawJson> {
        self.get("entries").await.and_then(|entries| entries.to_items()).unwrap_or_default()
    }
}
