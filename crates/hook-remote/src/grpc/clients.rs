//! The clients with hooks or a stream, by their identity.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hook_bus::live::{LiveClients, LiveConnection, is_same_token};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Status};

use super::caller::{Caller, Known};
use super::client::{Order, RemoteClient, has_a_stream};
use super::names::{CLIENT_ID, CLIENT_TOKEN};

/// The maximum number of clients with hooks or a stream.
const MAX_CLIENTS: usize = 64;

/// The maximum length of a client's name, in bytes.
const MAX_ID: usize = 256;

/// The capacity of the queue of a client's task.
const ORDERS: usize = 16;

/// The identity that a call states for its client.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) caller: Arc<Caller>,
    name: Name,
    token: Option<String>,
    /// `true` if the call states a name or a token; clients of the first version state none.
    pub(super) is_named: bool,
}

/// The key of a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Given(Box<str>),
    Process(u32),
    Connection(u64),
}

impl Asking {
    /// Reads the metadata of a call and the field `client_id` of its message.
    pub(super) fn of(
        metadata: &MetadataMap,
        extensions: &Extensions,
        client_id: &str,
    ) -> Result<Self, Status> {
        let caller = Caller::of(extensions)?;
        let said = |name: &'static str| match metadata.get(name).map(|value| value.to_str()) {
            None => Ok(None),
            Some(Ok(value)) if value.len() <= MAX_ID => Ok(Some(value).filter(|it| !it.is_empty())),
            Some(_) => Err(Status::invalid_argument(format!(
                "metadata `{name}`: expected at most {MAX_ID} characters of ASCII"
            ))),
        };
        if client_id.len() > MAX_ID {
            let message = format!("field `client_id`: it has more than {MAX_ID} bytes");
            return Err(Status::invalid_argument(message));
        }
        let given = Some(client_id).filter(|id| !id.is_empty()).or(said(CLIENT_ID)?);
        let token = said(CLIENT_TOKEN)?.map(str::to_owned);
        let name = match (given, caller.process) {
            (Some(id), _) => Name::Given(id.into()),
            (None, Some(process)) => Name::Process(process),
            (None, None) => Name::Connection(caller.connection),
        };
        let is_named = given.is_some() || token.is_some();
        Ok(Self { caller, name, token, is_named })
    }
}

/// A handle to a client's task.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) orders: mpsc::Sender<Order>,
    known: Arc<Known>,
}

impl Client {
    pub(super) fn token(&self) -> &str {
        self.known.token()
    }
}

/// The client of a call.
#[derive(Debug)]
pub(super) struct Found {
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
    known: Mutex<HashMap<Name, Vec<Client>>>,
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
            known: Mutex::default(),
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
    pub(super) fn find_or_make(&self, asking: &Asking) -> Result<Found, Status> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, clients| {
            clients.retain(|client| !client.orders.is_closed());
            !clients.is_empty()
        });
        if let Some(token) = &asking.token {
            let mut all = known.values().flatten();
            if let Some(client) = all.find(|client| is_same_token(client.known.token(), token)) {
                return Ok(Found { client: client.clone(), has_token: true, was_known: true });
            }
        }
        // The newest client of a name owns it; earlier ones are found by their tokens only.
        if let Some(client) = known.get(&asking.name).and_then(|clients| clients.last()) {
            if client.known.is_same(&asking.caller) {
                return Ok(Found { client: client.clone(), has_token: false, was_known: true });
            }
            if client.known.is_up() {
                return Err(has_a_stream());
            }
        }
        if known.values().map(Vec::len).sum::<usize>() >= MAX_CLIENTS {
            return Err(Status::resource_exhausted(format!(
                "this server has {MAX_CLIENTS} clients with hooks already, as many as it serves; try again later"
            )));
        }
        let mut live = match asking.caller.is_near {
            true => self.live.connect(),
            false => self.live.connect_remote(),
        };
        // The client may have registered hooks over another transport.
        let token = asking.token.as_deref();
        let was_known = token.is_some_and(|token| live.resume(token).is_ok());
        let client = self.begin(live, &asking.caller);
        known.entry(asking.name.clone()).or_default().push(client.clone());
        Ok(Found { client, has_token: was_known, was_known })
    }

    /// Returns the client of a call if the caller proves to be it.
    pub(super) fn find(&self, asking: &Asking) -> Option<Client> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = &asking.token {
            let mut all = known.values().flatten();
            if let Some(client) = all.find(|client| is_same_token(client.known.token(), token)) {
                return Some(client.clone());
            }
        }
        let client = known.get(&asking.name)?.last()?;
        client.known.is_same(&asking.caller).then(|| client.clone())
    }

    fn begin(&self, live: LiveConnection, caller: &Caller) -> Client {
        let known = Known::new(live.token(), caller);
        let (orders, received) = mpsc::channel(ORDERS);
        let client = RemoteClient::new(live, received, Arc::clone(&known));
        let (stop, end) = (self.stop.clone(), self.end.clone());
        self.tasks.spawn(async move {
            // At `end` the client is dropped, and its hooks with it.
            let _ = end.run_until_cancelled(client.run(stop)).await;
        });
        Client { orders, known }
    }
}
