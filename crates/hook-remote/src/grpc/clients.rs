//! The clients with hooks or a stream, by their identity.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hook_bus::live::{LiveClients, LiveConnection, is_same_token};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Status};

use super::caller::{Caller, ClientState};
use super::client::{Command, RemoteClient, has_a_stream};
use super::names::{CLIENT_ID, CLIENT_TOKEN};

/// The maximum number of clients with hooks or a stream.
const MAX_CLIENTS: usize = 64;

/// The maximum length of a client's name, in bytes.
const MAX_ID: usize = 256;

/// The capacity of the queue of a client's task.
const MAX_COMMANDS: usize = 16;

/// The identity that a call states for its client.
#[derive(Debug)]
pub(super) struct ClientIdentity {
    pub(super) caller: Arc<Caller>,
    name: ClientName,
    token: Option<String>,
    /// `true` if the call states a name or a token; clients of the first version state none.
    pub(super) is_named: bool,
}

/// The key of a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ClientName {
    Given(Box<str>),
    Process(u32),
    Connection(u64),
}

impl ClientIdentity {
    /// Reads the metadata of a call and the field `client_id` of its message.
    pub(super) fn of(
        metadata: &MetadataMap,
        extensions: &Extensions,
        client_id: &str,
    ) -> Result<Self, Status> {
        let caller = Caller::of(extensions)?;
        let metadata_value =
            |name: &'static str| match metadata.get(name).map(|value| value.to_str()) {
                None => Ok(None),
                Some(Ok(value)) if value.len() <= MAX_ID => {
                    Ok(Some(value).filter(|value| !value.is_empty()))
                }
                Some(_) => Err(Status::invalid_argument(format!(
                    "metadata `{name}`: expected at most {MAX_ID} characters of ASCII"
                ))),
            };
        if client_id.len() > MAX_ID {
            let message = format!("field `client_id`: it has more than {MAX_ID} bytes");
            return Err(Status::invalid_argument(message));
        }
        let given = Some(client_id).filter(|id| !id.is_empty()).or(metadata_value(CLIENT_ID)?);
        let token = metadata_value(CLIENT_TOKEN)?.map(str::to_owned);
        let name = match (given, caller.process) {
            (Some(id), _) => ClientName::Given(id.into()),
            (None, Some(process)) => ClientName::Process(process),
            (None, None) => ClientName::Connection(caller.connection),
        };
        let is_named = given.is_some() || token.is_some();
        Ok(Self { caller, name, token, is_named })
    }
}

/// A handle to a client's task.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) commands: mpsc::Sender<Command>,
    state: Arc<ClientState>,
}

impl Client {
    pub(super) fn token(&self) -> &str {
        self.state.token()
    }
}

/// The client of a call.
#[derive(Debug)]
pub(super) struct FoundClient {
    pub(super) client: Client,
    /// `true` if the call has the client's token.
    pub(super) has_token: bool,
    /// `true` if the client already existed.
    pub(super) was_known: bool,
}

/// All clients of a server.
#[derive(Debug)]
pub(super) struct RemoteClients {
    live: Arc<LiveClients>,
    by_name: Mutex<HashMap<ClientName, Vec<Client>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Ends all tasks at once.
    end: CancellationToken,
}

impl RemoteClients {
    /// Creates an empty list. Tasks run in `tasks`, finish after `stop`, and are aborted at `end`.
    pub(super) fn new(
        live: &Arc<LiveClients>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
        end: &CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            live: Arc::clone(live),
            by_name: Mutex::default(),
            tasks: tasks.clone(),
            stop: stop.clone(),
            end: end.clone(),
        })
    }

    /// Returns the engine's live clients.
    pub(super) fn live(&self) -> &Arc<LiveClients> {
        &self.live
    }

    /// Returns or creates the client of a call. Its task may end before it gets a command.
    ///
    /// # Errors
    /// Fails if the client has a stream and the caller does not prove to be it, or if there are too
    /// many clients.
    pub(super) fn find_or_make(&self, identity: &ClientIdentity) -> Result<FoundClient, Status> {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        by_name.retain(|_, clients| {
            clients.retain(|client| !client.commands.is_closed());
            !clients.is_empty()
        });
        if let Some(token) = &identity.token {
            let mut all = by_name.values().flatten();
            if let Some(client) = all.find(|client| is_same_token(client.state.token(), token)) {
                return Ok(FoundClient {
                    client: client.clone(),
                    has_token: true,
                    was_known: true,
                });
            }
        }
        // The newest client of a name owns it; earlier ones are found by their tokens only.
        if let Some(client) = by_name.get(&identity.name).and_then(|clients| clients.last()) {
            if client.state.is_same_client(&identity.caller) {
                return Ok(FoundClient {
                    client: client.clone(),
                    has_token: false,
                    was_known: true,
                });
            }
            if client.state.is_connected() {
                return Err(has_a_stream());
            }
        }
        if by_name.values().map(Vec::len).sum::<usize>() >= MAX_CLIENTS {
            return Err(Status::resource_exhausted(format!(
                "this server has {MAX_CLIENTS} clients with hooks already, as many as it serves; try again later"
            )));
        }
        let mut live = match identity.caller.is_local {
            true => self.live.connect(),
            false => self.live.connect_remote(),
        };
        // The client may have registered hooks over another transport.
        let token = identity.token.as_deref();
        let was_known = token.is_some_and(|token| live.resume(token).is_ok());
        let client = self.start(live, &identity.caller);
        by_name.entry(identity.name.clone()).or_default().push(client.clone());
        Ok(FoundClient { client, has_token: was_known, was_known })
    }

    /// Returns the client of a call if the caller proves to be it.
    pub(super) fn find(&self, identity: &ClientIdentity) -> Option<Client> {
        let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = &identity.token {
            let mut all = by_name.values().flatten();
            if let Some(client) = all.find(|client| is_same_token(client.state.token(), token)) {
                return Some(client.clone());
            }
        }
        let client = by_name.get(&identity.name)?.last()?;
        client.state.is_same_client(&identity.caller).then(|| client.clone())
    }

    fn start(&self, live: LiveConnection, caller: &Caller) -> Client {
        let state = ClientState::new(live.token(), caller);
        let (commands, receiver) = mpsc::channel(MAX_COMMANDS);
        let client = RemoteClient::new(live, receiver, Arc::clone(&state));
        let (stop, end) = (self.stop.clone(), self.end.clone());
        self.tasks.spawn(async move {
            // At `end` the client is dropped, and its hooks with it.
            let _ = end.run_until_cancelled(client.run(stop)).await;
        });
        Client { commands, state }
    }
}
