//! What a handler gets beside its event, and a command beside its arguments.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::asker::{Asker, CALL, ModuleHandle};
use super::session::SessionManager;
use super::ui::HookUi;
use crate::event::input::HookInput;
use crate::json::{JsonObject, RawJson, RawObject};
use crate::run::live::{HostCallError, has_ui};

/// What a handler gets beside its event.
#[derive(Debug, Clone)]
pub struct HookContext {
    asker: Asker,
    cwd: Arc<str>,
    session_id: Arc<str>,
    transcript_path: Arc<str>,
}

impl HookContext {
    pub(super) fn of(asker: Asker, input: &HookInput) -> Self {
        Self {
            asker,
            cwd: Arc::clone(&input.cwd),
            session_id: Arc::clone(&input.session_id),
            transcript_path: Arc::clone(&input.transcript_path),
        }
    }

    /// The user. Where there is none, each question has the answer that docs/modules.md says.
    pub fn ui(&self) -> HookUi {
        HookUi(self.asker.clone())
    }

    /// Whether there is a user to ask.
    pub fn has_ui(&self) -> bool {
        has_ui(self.asker.host())
    }

    /// The agent's working directory.
    pub fn cwd(&self) -> &Path {
        Path::new(&*self.cwd)
    }

    /// The session, to be read.
    pub fn session_manager(&self) -> SessionManager {
        SessionManager {
            asker: self.asker.clone(),
            session_id: Arc::clone(&self.session_id),
            transcript_path: Arc::clone(&self.transcript_path),
        }
    }

    /// The model that answers, in the host's own shape, where it says so.
    pub async fn model(&self) -> Option<RawJson> {
        self.session_manager().get("model").await
    }

    /// Whether the agent does nothing at present; `true` where the host does not say.
    pub async fn is_idle(&self) -> bool {
        let said = self.session_manager().get("isIdle").await;
        said.and_then(|it| it.to_bool()).unwrap_or(true)
    }

    /// Whether messages wait for the agent; `false` where the host does not say.
    pub async fn has_queued_messages(&self) -> bool {
        let said = self.session_manager().get("hasQueuedMessages").await;
        said.and_then(|it| it.to_bool()).unwrap_or(false)
    }

    /// Ends what the agent does.
    ///
    /// # Errors
    /// When the host does not offer that, or failed.
    pub async fn abort(&self) -> Result<(), HostCallError> {
        self.asker.ask("session.abort", JsonObject::new()).await.map(drop)
    }
}

/// A session to begin.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct NewSession {
    /// The session's file that it comes from.
    pub parent_session: Option<String>,
    /// What it begins with.
    pub setup: Vec<SetupEntry>,
}

impl NewSession {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, as one that comes from another.
    #[must_use]
    pub fn parent(mut self, file: Option<String>) -> Self {
        self.parent_session = file;
        self
    }

    /// The same, with an entry more at its beginning.
    #[must_use]
    pub fn with(mut self, entry: SetupEntry) -> Self {
        self.setup.push(entry);
        self
    }
}

/// What a session begins with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SetupEntry {
    /// A message, in the host's own shape.
    Message(RawObject),
    /// An entry that the model does not see.
    Custom {
        /// What kind it is.
        custom_type: String,
        /// What is kept.
        data: Option<RawJson>,
    },
}

impl SetupEntry {
    fn to_raw(&self) -> RawJson {
        let object = RawObject::of(|entry| match self {
            Self::Message(message) => entry.raw("message", message.as_raw()),
            Self::Custom { custom_type, data } => {
                entry.text("customType", custom_type);
                if let Some(data) = data {
                    entry.raw("data", data);
                }
            }
        });
        object.into()
    }
}

/// What came of moving to, or within, a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionChange {
    /// Whether it did not happen.
    pub cancelled: bool,
}

/// What a command gets beside its arguments: a [`HookContext`], and what only a command may do, since the
/// agent does not wait for it.
#[derive(Debug, Clone)]
pub struct CommandContext(HookContext);

impl CommandContext {
    /// For a command of that module, in a session.
    ///
    /// # Errors
    /// When the module has no host yet.
    #[doc(hidden)]
    pub fn of(module: &ModuleHandle, cwd: &str, session_id: &str) -> Result<Self, HostCallError> {
        let asker = module.asker()?;
        let (cwd, session_id) = (cwd.into(), session_id.into());
        Ok(Self(HookContext { asker, cwd, session_id, transcript_path: "".into() }))
    }

    /// Runs a command's function so that all that its module asks is asked for it.
    #[doc(hidden)]
    pub async fn scope<T>(&self, command: impl Future<Output = T>) -> T {
        CALL.scope(self.asker.clone(), command).await
    }

    /// What the host failed to do since the last look, where the command was not told.
    #[doc(hidden)]
    pub fn take_lost(&self) -> Vec<String> {
        self.asker.take_lost()
    }

    /// Waits until the agent is idle.
    ///
    /// # Errors
    /// When the host does not offer that, or failed; likewise below.
    pub async fn wait_for_idle(&self) -> Result<(), HostCallError> {
        self.asker.ask("session.waitForIdle", JsonObject::new()).await.map(drop)
    }

    /// Begins another session.
    ///
    /// # Errors
    /// When the host does not offer that, or failed.
    pub async fn new_session(&self, session: NewSession) -> Result<SessionChange, HostCallError> {
        let mut params = JsonObject::new();
        if let Some(parent) = &session.parent_session {
            params.insert("parentSession", RawJson::from_text(parent));
        }
        if !session.setup.is_empty() {
            let setup: Vec<RawJson> = session.setup.iter().map(SetupEntry::to_raw).collect();
            params.insert("setup", RawJson::from_items(&setup));
        }
        self.change("session.new", params).await
    }

    /// Branches the conversation at an entry.
    ///
    /// # Errors
    /// When the host does not offer that, or failed.
    pub async fn branch(&self, entry_id: &str) -> Result<SessionChange, HostCallError> {
        let mut params = JsonObject::new();
        params.insert("entryId", RawJson::from_text(entry_id));
        self.change("session.branch", params).await
    }

    /// Moves in the tree of branches, perhaps with a summary of what is left.
    ///
    /// # Errors
    /// When the host does not offer that, or failed.
    pub async fn navigate_tree(
        &self,
        target_id: &str,
        summarize: bool,
    ) -> Result<SessionChange, HostCallError> {
        let mut params = JsonObject::new();
        params.insert("targetId", RawJson::from_text(target_id));
        params.insert("summarize", RawJson::from_bool(summarize));
        self.change("session.navigateTree", params).await
    }

    async fn change(
        &self,
        method: &str,
        params: JsonObject,
    ) -> Result<SessionChange, HostCallError> {
        let said = self.asker.ask(method, params).await?;
        let cancelled = said.to_object().ok().and_then(|it| it.get("cancelled")?.to_bool());
        Ok(SessionChange { cancelled: cancelled == Some(true) })
    }
}

impl Deref for CommandContext {
    type Target = HookContext;

    fn deref(&self) -> &HookContext {
        &self.0
    }
}
