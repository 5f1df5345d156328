//! The project's running server, and the status of its workers.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hook_bus::live::WorkerStates;
use hook_bus::wire::{
    self, Connection, ExpectedServer, RegisteredHook, ServerCallError, SocketError,
    default_socket_path,
};
use hook_core::{Hook, HookListing};
use hook_json::ObjectWriter;
use hook_json::text::{PathText, shortened};
use hook_run::WorkerStatus;

use crate::context::Context;
use crate::output::Printer;
use crate::render::counted;

/// The time limit for a server's answer about its workers.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The project's own server, and the identity that it must prove before it is used.
#[derive(Debug)]
pub(crate) struct OwnServer {
    pub(crate) path: PathBuf,
    pub(crate) expected: ExpectedServer,
}

impl OwnServer {
    /// Returns the server, or `None` if its socket does not exist.
    pub(crate) fn of(context: &Context) -> Option<Self> {
        let path = default_socket_path(context.project()).filter(|path| path.exists())?;
        let project = context.project();
        let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
        let expected = ExpectedServer {
            project: project.to_string_lossy().into_owned(),
            settings_hash: hook_trust::settings_hash(&context.sources(), &context.trust_policy()),
        };
        Some(Self { path, expected })
    }
}

/// The result of asking the project's own server about its workers.
#[derive(Debug)]
pub(crate) enum ServerStates {
    /// No server is running.
    NoServer,
    /// The server at this path answered.
    Known(PathBuf, WorkerStates),
    /// The server did not answer.
    Unknown {
        path: PathBuf,
        why: String,
        /// `false` if the server reported that it has other settings.
        has_same_settings: bool,
    },
}

/// Connects to a server; `None` if none is there any more.
pub(crate) async fn connect(path: &Path) -> Result<Option<Connection>, ServerCallError> {
    match wire::connect(path).await {
        Ok(connection) => Ok(Some(connection)),
        // A killed server leaves its socket behind.
        Err(SocketError::Connect { source, .. })
            if matches!(source.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) =>
        {
            Ok(None)
        }
        Err(error) => Err(ServerCallError::Refused(error.to_string())),
    }
}

/// Returns the socket of the project's own server, with any settings, and its process id, if it runs.
pub(crate) async fn running(context: &Context) -> Option<(PathBuf, Option<i32>)> {
    let path = default_socket_path(context.project()).filter(|path| path.exists())?;
    let process = wire::connect(&path).await.ok()?.process;
    Some((path, process))
}

/// Asks the project's own server for the status of its workers, and changes nothing there.
pub(crate) async fn ask(context: &Context) -> ServerStates {
    let Some(OwnServer { path, expected }) = OwnServer::of(context) else {
        return ServerStates::NoServer;
    };
    let query = async {
        let Some(Connection { reader, writer, .. }) = connect(&path).await? else {
            return Ok(None);
        };
        wire::request_states(reader, writer, &expected).await.map(Some)
    };
    let (why, has_same_settings) = match tokio::time::timeout(TIMEOUT, query).await {
        Ok(Ok(None)) => return ServerStates::NoServer,
        Ok(Ok(Some(states))) => return ServerStates::Known(path, states),
        Ok(Err(error)) => {
            (shortened(&error.to_string()), !matches!(error, ServerCallError::OtherSettings))
        }
        Err(_) => (format!("it has not answered within {} s", TIMEOUT.as_secs()), true),
    };
    ServerStates::Unknown { path, why, has_same_settings }
}

/// The hooks that clients registered with the project's own server.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) server: PathBuf,
    /// The hooks that no settings contain. Empty if none are registered.
    pub(crate) hooks: Vec<RegisteredHook>,
}

impl Registered {
    /// Asks the project's own server; `None` if none runs with these settings, or it does not answer.
    pub(crate) async fn of(context: &Context) -> Option<Self> {
        let OwnServer { path, expected } = OwnServer::of(context)?;
        let query = async {
            let Connection { reader, writer, .. } = connect(&path).await.ok()??;
            wire::request_registered(reader, writer, &expected).await.ok()
        };
        let hooks = tokio::time::timeout(TIMEOUT, query).await.ok()??;
        Some(Self { server: path, hooks })
    }

    /// Describes the hooks, if there are any: how many they are, and for which events.
    pub(crate) fn describe(&self) -> Option<String> {
        let guards = self.hooks.iter().filter(|hook| hook.is_guard()).count();
        let count = self.hooks.len();
        let what = match (guards, count - guards) {
            (0, 0) => return None,
            (guards, 0) => counted(guards, "registered guard"),
            (0, others) => counted(others, "registered hook"),
            (guards, _) => {
                format!("{}, {guards} of them guards", counted(count, "registered hook"))
            }
        };
        let events: BTreeSet<&str> = self.hooks.iter().map(|hook| &*hook.event_name).collect();
        let events: Vec<String> = events.into_iter().map(shortened).collect();
        Some(format!("{what} ({})", events.join(", ")))
    }
}

/// Prints a note of hooks that clients registered with the project's server, and of what that means here.
pub(crate) async fn note_registered(context: &Context, what: &str, printer: &mut Printer) {
    let Some(registered) = Registered::of(context).await else { return };
    if let Some(hooks) = registered.describe() {
        let server = registered.server.shown();
        printer.remark(&format!("{hooks} of the server at {server} {what} here"));
    }
}

/// The status of the project server's workers, by the hooks that this process has read.
#[derive(Debug, Default)]
pub(crate) struct LiveStates {
    server: PathBuf,
    /// The keys are the addresses of this process's own workers.
    states: HashMap<usize, WorkerStatus>,
}

impl LiveStates {
    /// Asks the project's server, if one runs. Prints a note if it does not answer.
    pub(crate) async fn of(
        context: &Context,
        hooks: &[HookListing],
        printer: &mut Printer,
    ) -> Self {
        // Without workers there is nothing to ask.
        if hooks.iter().all(|listing| listing.hook.worker().is_none()) {
            return Self::default();
        }
        match ask(context).await {
            ServerStates::NoServer => Self::default(),
            // With other settings named, a server with different ones is expected.
            ServerStates::Unknown { has_same_settings: false, .. }
                if !context.has_only_defaults() =>
            {
                Self::default()
            }
            ServerStates::Unknown { path, why, .. } => {
                printer.remark(&format!(
                    "the state of the workers of the server at {} is unknown: {why}",
                    path.shown()
                ));
                Self::default()
            }
            ServerStates::Known(server, states) => {
                let state = |listing: &HookListing| {
                    let worker_state =
                        states.workers.iter().find(|worker| worker.is_worker_of(&listing.hook))?;
                    Some((address(&listing.hook)?, worker_state.status.clone()))
                };
                Self { server, states: hooks.iter().filter_map(state).collect() }
            }
        }
    }

    /// Returns the status of a hook's worker at the server, and the server's path.
    pub(crate) fn get(&self, hook: &Hook) -> Option<(&WorkerStatus, &Path)> {
        Some((self.states.get(&address(hook)?)?, &self.server))
    }

    /// Returns the status of a hook's worker as text, from this process if there is no server.
    pub(crate) fn describe(&self, hook: &Hook) -> Option<String> {
        match self.get(hook) {
            Some((status, server)) => {
                let how =
                    if status.is_known() { status.to_string() } else { "not started".to_owned() };
                Some(format!("{how} (of the server at {})", server.shown()))
            }
            None => {
                hook.worker_status().filter(WorkerStatus::is_known).map(|status| status.to_string())
            }
        }
    }

    /// Writes the status of a hook's worker, if known.
    pub(crate) fn write(&self, object: &mut ObjectWriter<'_>, hook: &Hook) {
        let from_server = self.get(hook);
        // A worker that this process has not started has no status here.
        let own = hook.worker_status().filter(WorkerStatus::is_known);
        let Some(status) = from_server.map(|(status, _)| status).or(own.as_ref()) else { return };
        object.object("worker", |object| {
            status.write(object);
            let server = from_server.map(|(_, server)| server.to_string_lossy());
            object.optional_text("server", server.as_deref());
        });
    }
}

/// Returns the address that identifies a hook's worker in this process.
fn address(hook: &Hook) -> Option<usize> {
    hook.worker().map(|worker| Arc::as_ptr(worker).addr())
}
