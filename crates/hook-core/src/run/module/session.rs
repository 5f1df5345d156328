//! The session, to be read.

use std::sync::Arc;

use super::asker::Asker;
use crate::json::{JsonObject, RawJson};

/// The session, to be read: what the host says of it at the time (`session.get`).
#[derive(Debug, Clone)]
pub struct SessionManager {
    pub(super) asker: Asker,
    pub(super) session_id: Arc<str>,
    pub(super) transcript_path: Arc<str>,
}

impl SessionManager {
    /// A field of what the host says of the session.
    pub async fn get(&self, name: &str) -> Option<RawJson> {
        let said = self.asker.ask_or("session.get", JsonObject::new(), RawJson::null()).await;
        said.to_object().ok()?.get(name).filter(|value| !value.is_null()).cloned()
    }

    /// What identifies it, where that is known.
    pub async fn session_id(&self) -> Option<String> {
        let own = (!self.session_id.is_empty()).then(|| self.session_id.to_string());
        match self.get("sessionId").await.and_then(|id| id.to_text()) {
            Some(said) => Some(said),
            None => own,
        }
    }

    /// Its file, where it has one.
    pub async fn session_file(&self) -> Option<String> {
        let own = (!self.transcript_path.is_empty()).then(|| self.transcript_path.to_string());
        match self.get("sessionFile").await.and_then(|file| file.to_text()) {
            Some(said) => Some(said),
            None => own,
        }
    }

    /// Where in its tree the conversation is.
    pub async fn leaf_id(&self) -> Option<String> {
        self.get("leafId").await?.to_text()
    }

    /// Its entries, in the host's own shape; none where the host does not say.
    pub async fn entries(&self) -> Vec<RawJson> {
        self.get("entries").await.and_then(|entries| entries.to_items()).unwrap_or_default()
    }
}
