//! The project's own server, where one runs, and how its workers are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_bus::live::WorkerStates;
use hook_core::run::WorkerStatus;
use hook_core::text::PathText;
use hook_core::text::shortened;
use hook_core::{Hook, HookListing, ObjectWriter};

use crate::context::Context;
use crate::output::Printer;

/// How long a server may take to say how its workers are.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// The project's own server, and what it must prove to be asked.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct OwnServer {
    pub(crate) path: PathBuf,
    pub(crate) expected: hook_bus::wire::Expected,
}

#[cfg(unix)]
impl OwnServer {
    /// Where it would be; `None` where nothing is there.
    pub(crate) fn of(context: &Context) -> Option<Self> {
        let path = hook_bus::wire::socket_of(context.project()).filter(|path| path.exists())?;
        let project = context.project();
        let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
        let expected = hook_bus::wire::Expected {
            project: project.to_string_lossy().into_owned(),
            settings_hash: hook_core::trust::settings_hash(
                &context.sources(),
                &context.trust_policy(),
            ),
        };
        Some(Self { path, expected })
    }
}

/// What the project's own server says of its workers.
#[derive(Debug)]
pub(crate) enum Asked {
    /// There is none.
    NoServer,
    /// This one says this.
    Told(PathBuf, WorkerStates),
    /// This one says nothing.
    Untold {
        path: PathBuf,
        why: String,
        /// Whether it has the settings that count here, as far as is known.
        is_of_these_settings: bool,
    },
}

/// Asks the project's own server how its workers are. It is asked nothing else, and changed in nothing.
#[cfg(unix)]
pub(crate) async fn ask(context: &Context) -> Asked {
    use std::io::ErrorKind::{ConnectionRefused, NotFound};

    use hook_bus::wire::{self, AskError, SocketError};

    let Some(OwnServer { path, expected }) = OwnServer::of(context) else {
        return Asked::NoServer;
    };
    let asking = async {
        let (reader, writer) = match wire::connect(&path).await {
            Ok(stream) => stream.into_split(),
            // A server that was killed leaves its socket behind.
            Err(SocketError::Connect { source, .. })
                if matches!(source.kind(), ConnectionRefused | NotFound) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(AskError::Refused(error.to_string())),
        };
        wire::ask_states(reader, writer, &expected).await.map(Some)
    };
    let (why, is_of_these_settings) = match tokio::time::timeout(PATIENCE, asking).await {
        Ok(Ok(None)) => return Asked::NoServer,
        Ok(Ok(Some(states))) => return Asked::Told(path, states),
        Ok(Err(error)) => {
            (shortened(&error.to_string()), !matches!(error, AskError::OtherSettings))
        }
        Err(_) => (format!("it has not answered within {} s", PATIENCE.as_secs()), true),
    };
    Asked::Untold { path, why, is_of_these_settings }
}

#[cfg(not(unix))]
#[expect(clippy::unused_async, reason = "where there are sockets, it waits")]
pub(crate) async fn ask(_: &Context) -> Asked {
    Asked::NoServer
}

/// How the workers of the project's own server are, by the hooks that this process has read.
#[derive(Debug, Default)]
pub(crate) struct LiveStates {
    server: PathBuf,
    /// By the addresses of this process' own workers.
    states: HashMap<usize, WorkerStatus>,
}

impl LiveStates {
    /// Asks the server of the project, if there is one. What it does not say is a remark.
    pub(crate) async fn of(
        context: &Context,
        hooks: &[HookListing],
        printer: &mut Printer,
    ) -> Self {
        // Without a worker there is nothing to ask.
        if hooks.iter().all(|listing| listing.hook.worker().is_none()) {
            return Self::default();
        }
        match ask(context).await {
            Asked::NoServer => Self::default(),
            // Who names other settings knows that it has others.
            Asked::Untold { is_of_these_settings: false, .. } if !context.has_only_defaults() => {
                Self::default()
            }
            Asked::Untold { path, why, .. } => {
                printer.remark(&format!(
                    "the state of the workers of the server at {} is unknown: {why}",
                    path.shown()
                ));
                Self::default()
            }
            Asked::Told(server, told) => {
                let state = |listing: &HookListing| {
                    let told = told.workers.iter().find(|it| it.is_told_by(&listing.hook))?;
                    Some((address(&listing.hook)?, told.status.clone()))
                };
                Self { server, states: hooks.iter().filter_map(state).collect() }
            }
        }
    }

    /// How the worker of a hook is at the server, and where that is.
    pub(crate) fn of_hook(&self, hook: &Hook) -> Option<(&WorkerStatus, &Path)> {
        Some((self.states.get(&address(hook)?)?, &self.server))
    }

    /// The same in words; that of this process without a server.
    pub(crate) fn in_words(&self, hook: &Hook) -> Option<String> {
        match self.of_hook(hook) {
            Some((status, server)) => {
                let how =
                    if status.is_known() { status.to_string() } else { "not started".to_owned() };
                Some(format!("{how} (of the server at {})", server.shown()))
            }
            None => hook.worker_status().filter(WorkerStatus::is_known).map(|it| it.to_string()),
        }
    }

    /// Writes how the worker of a hook is, where that is known.
    pub(crate) fn write(&self, object: &mut ObjectWriter<'_>, hook: &Hook) {
        let at_server = self.of_hook(hook);
        // Of one that this process has not started nothing is known.
        let own = hook.worker_status().filter(WorkerStatus::is_known);
        let Some(status) = at_server.map(|(status, _)| status).or(own.as_ref()) else { return };
        object.object("worker", |object| {
            status.write(object);
            let server = at_server.map(|(_, server)| server.to_string_lossy());
            object.optional_text("server", server.as_deref());
        });
    }
}

/// What tells workers of this process apart.
fn address(hook: &Hook) -> Option<usize> {
    hook.worker().map(|worker| Arc::as_ptr(worker).addr())
}
