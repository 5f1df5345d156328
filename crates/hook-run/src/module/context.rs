//! The contexts of handlers and commands.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::host_client::{CALL, HostClient, ModuleHandle};
use super::session::SessionManager;
use super::ui::HookUi;
use crate::live::{HostCallError, has_ui};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::HookInput;

/// The context of a handler.
#[derive(Debug, Clone)]
pub struct HookContext {
    client: HostClient,
    cwd: Arc<str>,
    session_id: Arc<str>,
    transcript_path: Arc<str>,
}

impl HookContext {
    pub(super) fn of(client: HostClient, input: &HookInput) -> Self {
        Self {
            client,
            cwd: Arc::clone(&input.cwd),
            session_id: Arc::clone(&input.session_id),
            transcript_path: Arc::clone(&input.transcript_path),
        }
    }

    /// Returns the user interface. Without a user, questions get the answers in docs/modules.md.
    pub fn ui(&self) -> HookUi {
        HookUi(self.client.clone())
    }

    /// Returns `true` if there is a user who can be asked.
    pub fn has_ui(&self) -> bool {
        has_ui(self.client.host())
    }

    /// Returns the agent's working directory.
    pub fn cwd(&self) -> &Path {
        Path::new(&*self.cwd)
    }

    /// Returns a reader of the session.
    pub fn session_manager(&self) -> SessionManager {
        SessionManager {
            client: self.client.clone(),
            session_id: Arc::clone(&self.session_id),
            transcript_path: Arc::clone(&self.transcript_path),
        }
    }

    /// Returns the current model in the host's format, if the host reports it.
    pub async fn model(&self) -> Option<RawJson> {
        self.session_manager().get("model").await
    }

    /// Returns `true` if the agent is idle, or the host does not report it.
    pub async fn is_idle(&self) -> bool {
        let value = self.session_manager().get("isIdle").await;
        value.and_then(|value| value.to_bool()).unwrap_or(true)
    }

    /// Returns `true` if messages are queued for the agent; `false` if the host does not report it.
    pub async fn has_queued_messages(&self) -> bool {
        let value = self.session_manager().get("hasQueuedMessages").await;
        value.and_then(|value| value.to_bool()).unwrap_or(false)
    }

    /// Aborts the agent's current work.
    ///
    /// # Errors
    /// Returns an error if the host does not offer the method, or fails.
    pub async fn abort(&self) -> Result<(), HostCallError> {
        self.client.request("session.abort", JsonObject::new()).await.map(drop)
    }
}

/// The options of a new session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct NewSession {
    /// The file of the parent session.
    pub parent_session: Option<String>,
    /// The initial entries.
    pub setup: Vec<SetupEntry>,
}

impl NewSession {
    /// Creates the options of an empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the parent session.
    #[must_use]
    pub fn parent(mut self, file: Option<String>) -> Self {
        self.parent_session = file;
        self
    }

    /// Adds an initial entry.
    #[must_use]
    pub fn with(mut self, entry: SetupEntry) -> Self {
        self.setup.push(entry);
        self
    }
}

/// An initial entry of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SetupEntry {
    /// A message in the host's format.
    Message(RawObject),
    /// An entry that the model does not see.
    Custom {
        /// The entry's type.
        custom_type: String,
        /// The entry's data.
        data: Option<RawJson>,
    },
}

impl SetupEntry {
    fn to_raw(&self) -> RawJson {
        let object = RawObject::build(|entry| match self {
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

/// The result of a change of session or branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionChange {
    /// `true` if the change did not happen.
    pub cancelled: bool,
}

/// The context of a command: a [`HookContext`], and methods that only commands may use because the
/// agent does not wait for them.
#[derive(Debug, Clone)]
pub struct CommandContext(HookContext);

impl CommandContext {
    /// Creates the context of a command of a module, in a session.
    ///
    /// # Errors
    /// Returns an error if the module has no host yet.
    pub fn of(module: &ModuleHandle, cwd: &str, session_id: &str) -> Result<Self, HostCallError> {
        let client = module.client()?;
        let (cwd, session_id) = (cwd.into(), session_id.into());
        Ok(Self(HookContext { client, cwd, session_id, transcript_path: "".into() }))
    }

    /// Runs a command's function, so that all requests of its module are made for the command.
    pub async fn scope<T>(&self, command: impl Future<Output = T>) -> T {
        CALL.scope(self.client.clone(), command).await
    }

    /// Returns the host failures since the last call that the command did not see.
    pub fn take_failures(&self) -> Vec<String> {
        self.client.take_failures()
    }

    /// Waits until the agent is idle.
    ///
    /// # Errors
    /// Returns an error if the host does not offer the method, or fails.
    pub async fn wait_for_idle(&self) -> Result<(), HostCallError> {
        self.client.request("session.waitForIdle", JsonObject::new()).await.map(drop)
    }

    /// Starts another session.
    ///
    /// # Errors
    /// Returns an error if the host does not offer the method, or fails.
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

    /// Branches the session at an entry.
    ///
    /// # Errors
    /// Returns an error if the host does not offer the method, or fails.
    pub async fn branch(&self, entry_id: &str) -> Result<SessionChange, HostCallError> {
        let mut params = JsonObject::new();
        params.insert("entryId", RawJson::from_text(entry_id));
        self.change("session.branch", params).await
    }

    /// Moves to another branch of the session, optionally with a summary of the old one.
    ///
    /// # Errors
    /// Returns an error if the host does not offer the method, or fails.
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
        let result = self.client.request(method, params).await?;
        let cancelled =
            result.to_object().ok().and_then(|fields| fields.get("cancelled")?.to_bool());
        Ok(SessionChange { cancelled: cancelled == Some(true) })
    }
}

impl Deref for CommandContext {
    type Target = HookContext;

    fn deref(&self) -> &HookContext {
        &self.0
    }
}
