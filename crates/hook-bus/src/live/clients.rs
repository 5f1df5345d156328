//! The clients with hooks, connected or expected to reconnect.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hook_json::opaque_debug;
use hook_json::text::PathText;
use hook_protocol::{HookEventName, HookFailure};
use hook_run::{CallSession, CallTarget, FromHook, ToHook, Transport};
use hook_settings::FailBehavior;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::register::{HookRegister, NotRegistered};
use super::saved_guards::{self, SavedGuard};
use crate::handler::{EngineSlot, Registrant, Registration};
use crate::token::token;
use hook_trust::sha256;

/// The time that the hooks of a disconnected client are kept for it.
pub const RECONNECT_GRACE: Duration = Duration::from_secs(30);

/// All clients of a system with hooks.
#[derive(Debug)]
pub struct LiveClients {
    engine: Arc<EngineSlot>,
    /// By the key of each client.
    by_key: Mutex<HashMap<Box<str>, Arc<LiveClient>>>,
    /// The tasks that wait for clients to reconnect.
    reconnect_waits: TaskTracker,
    /// Cancelled when the system ends: no task waits for clients any more.
    shutdown: CancellationToken,
    /// The file that saves guards for the next server at the same socket.
    guard_file: OnceLock<PathBuf>,
    /// The problem of the last attempt to save them that nobody could be answered with.
    save_problem: watch::Sender<Option<String>>,
    /// The number of guard lists made, and the number of the list last written.
    guard_lists: AtomicU64,
    written_list: Mutex<u64>,
    /// `true` for an engine of a fleet, of whose requests a guard here would see a share alone.
    refuses_guards: AtomicBool,
}

/// One client, over all its connections.
#[derive(Debug)]
struct LiveClient {
    /// The digest of its token, which only the client has: whoever reads the file of guards must
    /// not be able to take them away.
    key: Box<str>,
    session: CallSession,
    /// `true` for a client of the previous server; its guards block until it reconnects.
    is_restored: bool,
    state: Mutex<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    hooks: BTreeMap<String, ClientHook>,
    /// The number of its last connection, the only valid one.
    connection: u64,
}

#[derive(Debug)]
struct ClientHook {
    register: HookRegister,
    /// The event of a guard; `None` if the hook's failure does not block.
    guards: Option<hook_protocol::HookEventName>,
    /// Unregisters the hook when dropped.
    _registration: Registration,
}

/// A client's connection. Dropping it means that it was lost: the client's hooks are kept for
/// [`RECONNECT_GRACE`], and new calls of them fail.
pub struct LiveConnection {
    clients: Arc<LiveClients>,
    client: Arc<LiveClient>,
    number: u64,
    link: Link,
    /// The token with which this client resumes its hooks over another connection.
    token: Box<str>,
    /// The key of a disconnected client with guards, if this is that client.
    former_key: Option<Box<str>>,
}

/// The way of messages to a client's hooks.
enum Link {
    /// None yet: the client has had no hooks.
    Unused,
    Attached(Transport),
    /// The client is known, but cannot receive messages at present.
    Closed,
}

/// A registered hook, as listed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListedHook {
    /// The client's description of it.
    pub register: HookRegister,
    /// `true` for a hook of the client that requests the list.
    pub own: bool,
}

/// The error of an unknown token: another server issued it, or its grace period is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error(
    "no client with hooks is known by this token: it is none of this server's, or came more than {} \
     seconds after its connection was lost; register the hooks again",
    RECONNECT_GRACE.as_secs()
)]
pub struct UnknownToken;

/// The error of an engine that must have no guards of clients, and has some.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error(
    "clients have registered guards here ({}), which the other engines of the fleet do not have; put them into the \
     settings of all engines, as a worker for example{}",
    guards.join(", "),
    file.as_ref().map(|file| format!(", and remove {}, where they are kept", file.shown())).unwrap_or_default()
)]
pub struct GuardsPresent {
    /// Their ids.
    pub guards: Vec<String>,
    /// The file that saves them for the next server.
    pub file: Option<PathBuf>,
}

/// The guards of all clients at one time.
struct GuardList {
    number: u64,
    guards: Vec<SavedGuard>,
}

impl LiveClients {
    pub(crate) fn new(engine: &Arc<EngineSlot>) -> Arc<Self> {
        let reconnect_waits = TaskTracker::new();
        reconnect_waits.close();
        Arc::new(Self {
            engine: Arc::clone(engine),
            by_key: Mutex::default(),
            reconnect_waits,
            shutdown: CancellationToken::new(),
            guard_file: OnceLock::new(),
            save_problem: watch::Sender::new(None),
            guard_lists: AtomicU64::new(0),
            written_list: Mutex::new(0),
            refuses_guards: AtomicBool::new(false),
        })
    }

    /// Saves guards in this file from now on, and restores those of the previous server: each
    /// blocks until its client reconnects and registers it again, for [`RECONNECT_GRACE`] at most,
    /// and is then reported as missing. If some cannot be read, every event is blocked for that
    /// time. Returns a warning for each guard that cannot be restored.
    ///
    /// # Errors
    /// If the file cannot be read or written. The next guard overwrites its content.
    pub fn save_guards_in(self: &Arc<Self>, file: PathBuf) -> io::Result<Vec<String>> {
        let writable = saved_guards::check_writable(&file);
        let restored = self.block_for_guards_in(&file, "the server was started again");
        let _ = self.guard_file.set(file);
        writable.and(restored)
    }

    /// Blocks for the guards that the server with this file has saved, since that server is not
    /// asked, for this reason. Returns a warning for each guard that cannot be restored.
    ///
    /// # Errors
    /// If the file cannot be read. Every event is blocked then.
    pub fn block_for_guards_in(
        self: &Arc<Self>,
        file: &Path,
        reason: &str,
    ) -> io::Result<Vec<String>> {
        let saved = saved_guards::read(file);
        let mut warnings = Vec::new();
        if saved.as_ref().map_or(true, |guards| guards.iter().any(Option::is_none)) {
            warnings.extend(self.block_every_event(reason));
        }
        for guard in saved? {
            let Some(SavedGuard { key, register }) = guard else {
                warnings.push("a guard of the server before cannot be read".to_owned());
                continue;
            };
            let id = hook_json::text::shortened(&register.hook_id);
            if let Err(error) = self.restore(key, register, reason) {
                warnings
                    .push(format!("the guard {id} of the server before is not in force: {error}"));
            }
        }
        Ok(warnings)
    }

    /// Refuses guards from now on, since other engines, which do not have them, also decide: each
    /// guard would see a share of the requests.
    ///
    /// # Errors
    /// If clients have guards already, or those of the previous server were restored.
    pub fn refuse_guards(&self) -> Result<(), GuardsPresent> {
        let clients = self.lock_clients();
        self.refuses_guards.store(true, Ordering::Relaxed);
        let mut guards = Vec::new();
        for client in clients.values() {
            let state = client.lock();
            let ids = state.hooks.iter().filter(|(_, hook)| hook.guards.is_some());
            guards.extend(ids.map(|(id, _)| hook_json::text::shortened(id)));
        }
        match guards.is_empty() {
            true => Ok(()),
            false => {
                guards.sort();
                Err(GuardsPresent { guards, file: self.guard_file.get().cloned() })
            }
        }
    }

    /// Blocks every event that can be blocked for [`RECONNECT_GRACE`], as an unreadable guard of
    /// the previous server might. Returns a warning for each failure.
    fn block_every_event(self: &Arc<Self>, reason: &str) -> Vec<String> {
        let events = HookEventName::all().filter(|event| event.row().block_means.is_some());
        let failures = events.filter_map(|event| {
            let register = HookRegister::new("unreadable-guards", event.as_str());
            self.restore(key_of(&token()), register, reason).err()
        });
        let warning = |error| format!("guards of the server before are not in force: {error}");
        failures.map(warning).collect()
    }

    /// Restores a guard of the previous server, which blocks until its client reconnects.
    fn restore(
        self: &Arc<Self>,
        key: Box<str>,
        register: HookRegister,
        reason: &str,
    ) -> Result<(), NotRegistered> {
        let mut clients = self.lock_clients();
        let client = match clients.get(&key) {
            Some(client) => Arc::clone(client),
            None => self.add_restored(key, reason),
        };
        let target = CallTarget::Client(client.session.clone());
        // Only guards are saved; some are guards by the settings' default.
        let hook = register.to_hook(&self.engine.events(), target)?;
        let hook = hook.fail_behavior(FailBehavior::Block);
        let guarded_event = Some(hook.event());
        // Registered as the host's, without limits: its client may register it again.
        let registration = self.engine.register(hook, None, Registrant::Host)?;
        let client_hook =
            ClientHook { guards: guarded_event, register, _registration: registration };
        client.lock().hooks.insert(client_hook.register.hook_id.clone(), client_hook);
        clients.insert(client.key.clone(), client);
        Ok(())
    }

    /// Creates a client of the previous server, which is removed unless it reconnects in time.
    fn add_restored(self: &Arc<Self>, key: Box<str>, reason: &str) -> Arc<LiveClient> {
        let client = LiveClient::new(key, CallSession::lasting(), true);
        client.session.close(HookFailure::Live {
            reason: format!("{reason}, and its client has not come back yet"),
        });
        self.remove_after_grace(&client, 1);
        client
    }

    /// Removes a client that does not reconnect in time.
    fn remove_after_grace(self: &Arc<Self>, client: &Arc<LiveClient>, connection: u64) {
        let (clients, client) = (Arc::clone(self), Arc::clone(client));
        self.reconnect_waits.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(RECONNECT_GRACE) => {
                    clients.remove(&client, connection);
                    clients.save_present_guards();
                }
                // Its guards stay saved for the next server.
                () = clients.shutdown.cancelled() => {}
            }
        });
    }

    /// Returns the present guards, to be saved for the next server.
    fn guards(&self, clients: &HashMap<Box<str>, Arc<LiveClient>>) -> GuardList {
        let mut guards = Vec::new();
        if self.guard_file.get().is_some() {
            for client in clients.values() {
                let state = client.lock();
                let guard_hooks = state.hooks.values().filter(|hook| hook.guards.is_some());
                guards.extend(guard_hooks.map(|hook| SavedGuard {
                    key: client.key.clone(),
                    register: hook.register.clone(),
                }));
            }
        }
        GuardList { number: self.guard_lists.fetch_add(1, Ordering::Relaxed) + 1, guards }
    }

    /// Saves a list of guards, unless a later one is saved. Must be called without locks.
    ///
    /// # Errors
    /// If the file cannot be written. The next list is written all the same.
    fn save_guards(&self, list: &GuardList) -> Result<(), NotRegistered> {
        let Some(file) = self.guard_file.get() else { return Ok(()) };
        let mut last_written = self.written_list.lock().unwrap_or_else(PoisonError::into_inner);
        if *last_written >= list.number {
            return Ok(());
        }
        saved_guards::write(file, &list.guards).map_err(|error| NotRegistered::NotSaved {
            file: file.shown().to_string(),
            problem: error.to_string(),
        })?;
        *last_written = list.number;
        Ok(())
    }

    /// Saves the guards after some are gone. If that fails, the next server blocks for them, too.
    fn save_present_guards(&self) {
        let guards = self.guards(&self.lock_clients());
        if let Err(error) = self.save_guards(&guards) {
            tracing::error!(target: "hook::live", "guards that are gone are kept: {error}");
            let text = format!(
                "the next server will wait for guards whose clients are gone, and block their events meanwhile: {error}"
            );
            self.save_problem.send_replace(Some(text));
        }
    }

    /// Returns the problem of saving guards whose clients are gone: no client can be answered with it. Each later
    /// one is received, too.
    pub fn save_problems(&self) -> watch::Receiver<Option<String>> {
        self.save_problem.subscribe()
    }

    /// Starts the connection of a local client of the same user.
    pub fn connect(self: &Arc<Self>) -> LiveConnection {
        self.connect_with(CallSession::lasting())
    }

    /// Starts the connection of a client that may be remote: its hooks cannot run programs here.
    pub fn connect_remote(self: &Arc<Self>) -> LiveConnection {
        self.connect_with(CallSession::remote())
    }

    fn connect_with(self: &Arc<Self>, session: CallSession) -> LiveConnection {
        let token: Box<str> = token().into();
        let client = LiveClient::new(key_of(&token), session, false);
        LiveConnection {
            clients: Arc::clone(self),
            client,
            number: 1,
            link: Link::Unused,
            token,
            former_key: None,
        }
    }

    /// Stops waiting for clients to reconnect.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        self.reconnect_waits.wait().await;
    }

    fn lock_clients(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<LiveClient>>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the hooks of a client that cannot be called any more, since the server ends.
    fn suspend(&self, client: &LiveClient, connection: u64) {
        if client.lock().connection == connection {
            client.session.close(HookFailure::Live { reason: "the server ends".to_owned() });
        }
    }

    /// Removes a client unless it has reconnected. Its hooks are unregistered; its guards are
    /// reported as missing.
    fn remove(&self, client: &LiveClient, connection: u64) {
        let hooks = {
            let mut clients = self.lock_clients();
            let mut state = client.lock();
            if state.connection != connection {
                return;
            }
            clients.remove(&client.key);
            std::mem::take(&mut state.hooks)
        };
        client.session.close(HookFailure::Live {
            reason: "its client is gone, and has not come back".to_owned(),
        });
        for (id, hook) in hooks {
            if let Some(event) = hook.guards {
                self.engine.registered().record_lost_guard(event, &id, &client.key);
            }
        }
    }
}

/// Returns the key of the client with a token.
fn key_of(token: &str) -> Box<str> {
    sha256(token.as_bytes()).into()
}

impl LiveClient {
    fn new(key: Box<str>, session: CallSession, is_restored: bool) -> Arc<Self> {
        let state = Mutex::new(ClientState { hooks: BTreeMap::new(), connection: 1 });
        Arc::new(Self { key, session, is_restored, state })
    }

    fn lock(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveConnection {
    /// Returns the token with which this client resumes its hooks over another connection.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Resumes the client with this token: its hooks are called over this connection, and pending
    /// calls are sent again. Returns the ids of its hooks.
    ///
    /// # Errors
    /// If the token is unknown, or this connection already has hooks of its own. If a client's
    /// grace period is over, its guards stop being missing once it registers them again.
    pub fn resume(&mut self, token: &str) -> Result<Vec<String>, UnknownToken> {
        if !self.client.lock().hooks.is_empty() {
            return Err(UnknownToken);
        }
        // A connection that may be remote must not become one of a local client.
        let is_local = self.client.session.is_local();
        let clients = Arc::clone(&self.clients);
        // Keep the lock, so that the client is not removed meanwhile.
        let clients_by_key = clients.lock_clients();
        let key = key_of(token);
        let found = clients_by_key.get(&key).cloned();
        if found.as_ref().is_some_and(|client| client.is_restored) {
            self.former_key = Some(key);
            return Err(UnknownToken);
        }
        if found.as_ref().is_some_and(|client| client.session.is_local() && !is_local) {
            return Err(UnknownToken);
        }
        let Some(client) = found else {
            drop(clients_by_key);
            if self.clients.engine.registered().has_lost_guards(&key) {
                self.former_key = Some(key);
            }
            return Err(UnknownToken);
        };
        let hook_ids = {
            let mut state = client.lock();
            state.connection += 1;
            self.number = state.connection;
            state.hooks.keys().cloned().collect()
        };
        drop(clients_by_key);
        self.link = Link::Attached(client.session.attach());
        self.client = client;
        self.token = token.into();
        Ok(hook_ids)
    }

    /// Registers a hook of the client; it runs from the next request on.
    ///
    /// # Errors
    /// If its description is invalid, its id is taken, there are too many hooks, or a guard cannot be
    /// saved for the next server.
    pub fn register(&mut self, register: HookRegister) -> Result<(), NotRegistered> {
        let engine = &self.clients.engine;
        let hook =
            register.to_hook(&engine.events(), CallTarget::Client(self.client.session.clone()))?;
        let hook = engine.registered().with_defaults(hook);
        let event = hook.event();
        let mut clients_by_key = self.clients.lock_clients();
        let mut state = self.client.lock();
        if state.connection != self.number {
            return Err(NotRegistered::Superseded);
        }
        if state.hooks.contains_key(&register.hook_id) {
            return Err(NotRegistered::DuplicateId { id: register.hook_id });
        }
        let guarded_event = hook.is_guard_of(event).then_some(event);
        if guarded_event.is_some() && self.clients.refuses_guards.load(Ordering::Relaxed) {
            return Err(NotRegistered::GuardInFleet);
        }
        // Attach before the hook can be called.
        if matches!(self.link, Link::Unused) {
            self.link = Link::Attached(self.client.session.attach());
        }
        let registration = engine.register(hook, None, Registrant::Client)?;
        let id = register.hook_id.clone();
        state.hooks.insert(
            id.clone(),
            ClientHook { register, guards: guarded_event, _registration: registration },
        );
        drop(state);
        clients_by_key.entry(self.client.key.clone()).or_insert_with(|| Arc::clone(&self.client));
        // The guard is back: its restored placeholder must not block any more.
        let restored = self.former_key.as_ref().and_then(|key| clients_by_key.get(key));
        let restored = restored.cloned();
        let replaced = restored.as_ref().and_then(|client| client.lock().hooks.remove(&id));
        let is_changed = guarded_event.is_some() || replaced.is_some();
        let changed = is_changed.then(|| self.clients.guards(&clients_by_key));
        drop(clients_by_key);
        let saved = changed.map_or(Ok(()), |guards| self.clients.save_guards(&guards));
        if let Err(error) = saved {
            // What its client is not told of must not run, and what it replaces goes on blocking.
            let removed = self.client.lock().hooks.remove(&id);
            if let (Some(client), Some(replaced)) = (restored, replaced) {
                client.lock().hooks.insert(id, replaced);
            }
            drop(removed);
            // Another client's list may have had it.
            self.clients.save_present_guards();
            return Err(error);
        }
        drop(replaced);
        if let (Some(event), Some(former_key)) = (guarded_event, &self.former_key) {
            let registered = self.clients.engine.registered();
            registered.record_found_guard(event, &id, former_key);
        }
        Ok(())
    }

    /// Unregisters a hook of the client. Requests in flight still call it.
    ///
    /// # Errors
    /// If the client has no hook with this id, or a guard would come back with the next server.
    pub fn unregister(&mut self, hook_id: &str) -> Result<(), NotRegistered> {
        let clients_by_key = self.clients.lock_clients();
        let mut state = self.client.lock();
        if state.connection != self.number {
            return Err(NotRegistered::Superseded);
        }
        let unknown = || NotRegistered::UnknownId { id: hook_json::text::shortened(hook_id) };
        let removed = state.hooks.remove(hook_id).ok_or_else(unknown)?;
        drop(state);
        let changed = removed.guards.is_some().then(|| self.clients.guards(&clients_by_key));
        drop(clients_by_key);
        let saved = changed.map_or(Ok(()), |guards| self.clients.save_guards(&guards));
        if saved.is_err() {
            self.client.lock().hooks.insert(hook_id.to_owned(), removed);
        }
        saved
    }

    /// Returns all hooks that clients have registered, ordered by client and id.
    pub fn list(&self) -> Vec<ListedHook> {
        let mut clients: Vec<Arc<LiveClient>> =
            self.clients.lock_clients().values().cloned().collect();
        clients.sort_by(|one, other| one.key.cmp(&other.key));
        let mut all_hooks = Vec::new();
        for client in clients {
            let own = Arc::ptr_eq(&client, &self.client);
            let state = client.lock();
            let hooks = state.hooks.values();
            all_hooks.extend(hooks.map(|hook| ListedHook { register: hook.register.clone(), own }));
        }
        all_hooks
    }

    /// Waits for the next message to the client's hooks; pending while it has none, or if another
    /// connection replaced this one.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> ToHook {
        if let Link::Attached(transport) = &mut self.link
            && let Ok(message) = transport.next().await
        {
            return message;
        }
        std::future::pending().await
    }

    /// Passes on a message of the client's hooks.
    pub fn receive(&self, message: FromHook) {
        // Without hooks there are no calls, so the message is dropped.
        if let Link::Attached(transport) = &self.link {
            transport.take(message);
        }
    }

    /// Fails the call that an invalid message may have answered, or, if that call is unknown, all
    /// calls sent to the client and not answered yet.
    pub(crate) fn receive_invalid(&self, call: Option<u64>, reason: String) {
        if let Link::Attached(transport) = &self.link {
            transport.take_unreadable(call, reason);
        }
    }

    /// Suspends sending: new calls of the client's hooks fail at once, and pending ones wait until
    /// it is [open](Self::open) again or until their timeouts. The connection stays the client's.
    /// For transports on which a client registers hooks and receives calls by different channels.
    pub fn close(&mut self) {
        self.link = Link::Closed;
    }

    /// Resumes sending calls to the client, the pending ones first.
    pub fn open(&mut self) {
        let is_current = self.client.lock().connection == self.number;
        // Another connection may have replaced this one; calls go there.
        if is_current {
            self.link = Link::Attached(self.client.session.attach());
        }
    }

    /// Closes the connection because the server ends. The hooks stay and calls of them fail, so
    /// that requests of other clients do not bypass its guards. The guards stay saved, so that the
    /// next server waits for the client.
    pub fn close_for_shutdown(mut self) {
        if self.detach() {
            self.clients.suspend(&self.client, self.number);
        }
    }

    /// Closes the connection for good: the client does not reconnect.
    pub fn disconnect(mut self) {
        if self.detach() {
            self.clients.remove(&self.client, self.number);
            self.clients.save_present_guards();
        }
    }

    /// Checks whether the client has, or had, hooks, or the connection was closed or opened.
    pub(crate) fn has_hooks(&self) -> bool {
        !matches!(self.link, Link::Unused)
    }

    /// Checks whether calls of the client's hooks are pending.
    pub fn has_pending_calls(&self) -> bool {
        self.has_hooks() && !self.client.session.is_idle()
    }

    /// Checks whether another connection replaced this one.
    pub fn is_superseded(&self) -> bool {
        self.client.lock().connection != self.number
    }

    /// Detaches the connection; returns whether it was in use.
    fn detach(&mut self) -> bool {
        !matches!(std::mem::replace(&mut self.link, Link::Unused), Link::Unused)
    }
}

opaque_debug!(LiveConnection { number });

impl Drop for LiveConnection {
    fn drop(&mut self) {
        if !self.detach() {
            return;
        }
        let (clients, client) = (Arc::clone(&self.clients), Arc::clone(&self.client));
        let number = self.number;
        // Pending calls of hooks unregistered meanwhile also wait for the client.
        let may_reconnect = !client.lock().hooks.is_empty() || !client.session.is_idle();
        if clients.shutdown.is_cancelled() {
            return clients.suspend(&client, number);
        }
        if !may_reconnect || Handle::try_current().is_err() {
            return clients.remove(&client, number);
        }
        clients.remove_after_grace(&client, number);
    }
}
