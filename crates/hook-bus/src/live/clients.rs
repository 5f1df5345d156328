//! The clients that have hooks, connected or expected back.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hook_core::run::{CallSession, CallTarget, Carrier, FromHook, ToHook};
use hook_core::text::PathText;
use hook_core::{FailBehavior, HookEventName, HookFailure};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::register::{HookRegister, NotRegistered};
use super::remembered::{self, RememberedGuard};
use crate::handler::{EngineSlot, Registrant, Registration};
use crate::token::{is_same_token, token};

/// How long the hooks of a client whose connection was lost are kept for it.
pub const RECONNECT_GRACE: Duration = Duration::from_secs(30);

/// All clients of a system that have hooks.
#[derive(Debug)]
pub struct LiveClients {
    engine: Arc<EngineSlot>,
    /// By their tokens.
    known: Mutex<HashMap<Box<str>, Arc<LiveClient>>>,
    /// Those who wait for clients to come back.
    waiting: TaskTracker,
    /// The system ends: nobody is waited for.
    ended: CancellationToken,
    /// Where guards are remembered for the next server at the same socket.
    guard_file: OnceLock<PathBuf>,
    /// How many lists of guards were made, and which of them is written down.
    guard_lists: AtomicU64,
    written_list: Mutex<u64>,
}

/// One client, over all connections that it has had.
#[derive(Debug)]
struct LiveClient {
    token: Box<str>,
    session: CallSession,
    /// Whether it is a client of the server that was here before, whose guards block until it is back.
    is_restored: bool,
    state: Mutex<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    hooks: BTreeMap<String, OwnHook>,
    /// The number of its last connection, which is the one that counts.
    connection: u64,
}

#[derive(Debug)]
struct OwnHook {
    register: HookRegister,
    /// Whether its failure blocks.
    guards: Option<hook_core::HookEventName>,
    /// It is unregistered when this is dropped.
    _registration: Registration,
}

/// A client's connection. Dropping it is losing it: the client's hooks are kept for a while, and new calls
/// of them fail.
pub struct LiveConnection {
    clients: Arc<LiveClients>,
    client: Arc<LiveClient>,
    number: u64,
    link: Link,
    /// The token of a client that is gone and had guards, if this is that client.
    former: Option<Box<str>>,
}

/// Whether messages to a client's hooks have a way.
enum Link {
    /// None is needed: the client has had no hooks.
    Unused,
    Up(Carrier),
    /// The client is known, and cannot be told anything at present.
    Closed,
}

/// A registered hook, as it is listed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListedHook {
    /// As its client described it.
    pub register: HookRegister,
    /// Whether it is the asking client's own.
    pub own: bool,
}

/// Nobody is known by a token: it is none of this server's, or its time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error(
    "no client with hooks is known by this token: it is none of this server's, or came more than {} \
     seconds after its connection was lost; register the hooks again",
    RECONNECT_GRACE.as_secs()
)]
pub struct UnknownToken;

/// The guards of all clients at one time.
struct GuardList {
    number: u64,
    guards: Vec<RememberedGuard>,
}

impl LiveClients {
    pub(crate) fn of(engine: &Arc<EngineSlot>) -> Arc<Self> {
        let waiting = TaskTracker::new();
        waiting.close();
        Arc::new(Self {
            engine: Arc::clone(engine),
            known: Mutex::default(),
            waiting,
            ended: CancellationToken::new(),
            guard_file: OnceLock::new(),
            guard_lists: AtomicU64::new(0),
            written_list: Mutex::new(0),
        })
    }

    /// Remembers guards in this file from now on, and puts those into force that the server before left in it:
    /// each blocks until its client is back and registers it again, for [`RECONNECT_GRACE`] at most, and
    /// is missed then. For guards that cannot be read every event is blocked as long. Returns a warning for
    /// each that cannot be put into force.
    ///
    /// # Errors
    /// When the file cannot be read, or none can be written there. What is there is written over by the next guard.
    pub fn remember_guards_in(self: &Arc<Self>, file: PathBuf) -> io::Result<Vec<String>> {
        let left = remembered::read(&file);
        let _ = self.guard_file.set(file);
        let mut warnings = Vec::new();
        if left.as_ref().map_or(true, |guards| guards.iter().any(Option::is_none)) {
            warnings.extend(self.block_every_event());
        }
        for guard in left? {
            let Some(RememberedGuard { token, register }) = guard else {
                warnings.push("a guard of the server before cannot be read".to_owned());
                continue;
            };
            let id = hook_core::text::shortened(&register.hook_id);
            if let Err(error) = self.restore(token, register) {
                warnings
                    .push(format!("the guard {id} of the server before is not in force: {error}"));
            }
        }
        Ok(warnings)
    }

    /// Has every event that can be blocked be so for [`RECONNECT_GRACE`], as a guard of the server before that is
    /// not known might. Returns a warning for each that cannot.
    fn block_every_event(self: &Arc<Self>) -> Vec<String> {
        let blocked = HookEventName::all().filter(|event| event.row().block_means.is_some());
        let restored = blocked.filter_map(|event| {
            let register = HookRegister::new("unreadable-guards", event.as_str());
            self.restore(token().into(), register).err()
        });
        let warning = |error| format!("guards of the server before are not in force: {error}");
        restored.map(warning).collect()
    }

    /// Has a guard of the server before block until its client is back.
    fn restore(
        self: &Arc<Self>,
        token: Box<str>,
        register: HookRegister,
    ) -> Result<(), NotRegistered> {
        let mut known = self.known();
        let client = match known.get(&token) {
            Some(client) => Arc::clone(client),
            None => self.expect_back(token),
        };
        let target = CallTarget::Client(client.session.clone());
        // Only guards are remembered, some of them made so by settings.
        let hook = register.to_hook(&self.engine.events(), target)?;
        let hook = hook.fail_behavior(FailBehavior::Block);
        let guards = Some(hook.event());
        // It counts towards no limit: its client may register it again.
        let registration = self.engine.register(hook, None, Registrant::Host)?;
        let own = OwnHook { guards, register, _registration: registration };
        client.lock().hooks.insert(own.register.hook_id.clone(), own);
        known.insert(client.token.clone(), client);
        Ok(())
    }

    /// A client of the server before, which is forgotten unless it comes back in time.
    fn expect_back(self: &Arc<Self>, token: Box<str>) -> Arc<LiveClient> {
        let client = LiveClient::of(token, CallSession::lasting(), true);
        client.session.close(HookFailure::Live {
            reason: "the server was started again, and its client has not come back yet".to_owned(),
        });
        self.forget_later(&client, 1);
        client
    }

    /// Forgets a client that does not come back in time.
    fn forget_later(self: &Arc<Self>, client: &Arc<LiveClient>, connection: u64) {
        let (clients, client) = (Arc::clone(self), Arc::clone(client));
        self.waiting.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(RECONNECT_GRACE) => {
                    clients.forget(&client, connection);
                    let guards = clients.guards(&clients.known());
                    clients.remember(&guards);
                }
                // The next server waits for the client.
                () = clients.ended.cancelled() => {}
            }
        });
    }

    /// The guards that there are, for the server that comes after this one.
    fn guards(&self, known: &HashMap<Box<str>, Arc<LiveClient>>) -> GuardList {
        let mut guards = Vec::new();
        if self.guard_file.get().is_some() {
            for client in known.values() {
                let state = client.lock();
                let own = state.hooks.values().filter(|hook| hook.guards.is_some());
                guards.extend(own.map(|hook| RememberedGuard {
                    token: client.token.clone(),
                    register: hook.register.clone(),
                }));
            }
        }
        GuardList { number: self.guard_lists.fetch_add(1, Ordering::Relaxed) + 1, guards }
    }

    /// Writes a list of guards down, unless a later one is. Not to be called with a lock.
    fn remember(&self, list: &GuardList) {
        let Some(file) = self.guard_file.get() else { return };
        let mut written = self.written_list.lock().unwrap_or_else(PoisonError::into_inner);
        if *written >= list.number {
            return;
        }
        *written = list.number;
        if let Err(error) = remembered::write(file, &list.guards) {
            let file = file.shown();
            tracing::error!(
                target: "hook::live",
                "guards would not outlive this server: {file} cannot be written: {error}"
            );
        }
    }

    /// Begins the connection of a client on this machine, which is the user's own.
    pub fn connect(self: &Arc<Self>) -> LiveConnection {
        self.connect_with(CallSession::lasting())
    }

    /// Begins the connection of a client that may be on another machine: its hooks have no programs run
    /// here.
    pub fn connect_remote(self: &Arc<Self>) -> LiveConnection {
        self.connect_with(CallSession::remote())
    }

    fn connect_with(self: &Arc<Self>, session: CallSession) -> LiveConnection {
        let client = LiveClient::of(token().into(), session, false);
        LiveConnection {
            clients: Arc::clone(self),
            client,
            number: 1,
            link: Link::Unused,
            former: None,
        }
    }

    /// Waits for no client to come back any more.
    pub(crate) async fn end(&self) {
        self.ended.cancel();
        self.waiting.wait().await;
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<LiveClient>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the hooks of a client that cannot be called any more, since the server ends.
    fn keep(&self, client: &LiveClient, connection: u64) {
        if client.lock().connection == connection {
            client.session.close(HookFailure::Live { reason: "the server ends".to_owned() });
        }
    }

    /// Forgets a client unless it has come back. Its hooks are unregistered, and its guards missed.
    fn forget(&self, client: &LiveClient, connection: u64) {
        let hooks = {
            let mut known = self.known();
            let mut state = client.lock();
            if state.connection != connection {
                return;
            }
            known.remove(&client.token);
            std::mem::take(&mut state.hooks)
        };
        client.session.close(HookFailure::Live {
            reason: "its client is gone, and has not come back".to_owned(),
        });
        for (id, hook) in hooks {
            if let Some(event) = hook.guards {
                self.engine.registered().lost_guard(event, &id, &client.token);
            }
        }
    }
}

impl LiveClient {
    fn of(token: Box<str>, session: CallSession, is_restored: bool) -> Arc<Self> {
        let state = Mutex::new(ClientState { hooks: BTreeMap::new(), connection: 1 });
        Arc::new(Self { token, session, is_restored, state })
    }

    fn lock(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveConnection {
    /// What gets this client its hooks back over another connection.
    pub fn token(&self) -> &str {
        &self.client.token
    }

    /// Becomes the connection of the client that has this token: its hooks are called over this one, and
    /// calls that wait for their answers come again. Gives the ids of its hooks.
    ///
    /// # Errors
    /// When nobody has it, or this connection has hooks of its own by now, which nobody would have then. Of
    /// a client that came too late, guards that it registers again are missed no more.
    pub fn resume(&mut self, token: &str) -> Result<Vec<String>, UnknownToken> {
        if !self.client.lock().hooks.is_empty() {
            return Err(UnknownToken);
        }
        // One that may be on another machine does not become one that is on this.
        let is_near = self.client.session.is_near();
        let clients = Arc::clone(&self.clients);
        // Held, so that it is not forgotten meanwhile.
        let known = clients.known();
        let found = known.values().find(|it| is_same_token(&it.token, token)).cloned();
        if found.as_ref().is_some_and(|client| client.is_restored) {
            self.former = Some(token.into());
            return Err(UnknownToken);
        }
        if found.as_ref().is_some_and(|client| client.session.is_near() && !is_near) {
            return Err(UnknownToken);
        }
        let Some(client) = found else {
            drop(known);
            if self.clients.engine.registered().has_lost_guards(token) {
                self.former = Some(token.into());
            }
            return Err(UnknownToken);
        };
        let hook_ids = {
            let mut state = client.lock();
            state.connection += 1;
            self.number = state.connection;
            state.hooks.keys().cloned().collect()
        };
        drop(known);
        self.link = Link::Up(client.session.attach());
        self.client = client;
        Ok(hook_ids)
    }

    /// Registers a hook of the client's: it is planned from the next request on.
    ///
    /// # Errors
    /// When something about it is not right, there is one of its id, or there are too many.
    pub fn register(&mut self, register: HookRegister) -> Result<(), NotRegistered> {
        let engine = &self.clients.engine;
        let hook =
            register.to_hook(&engine.events(), CallTarget::Client(self.client.session.clone()))?;
        let hook = engine.registered().completed(hook);
        let event = hook.event();
        let mut known = self.clients.known();
        let mut state = self.client.lock();
        if state.connection != self.number {
            return Err(NotRegistered::Superseded);
        }
        if state.hooks.contains_key(&register.hook_id) {
            return Err(NotRegistered::DuplicateId { id: register.hook_id });
        }
        let guards = hook.is_guard_of(event).then_some(event);
        // Before it can be called.
        if matches!(self.link, Link::Unused) {
            self.link = Link::Up(self.client.session.attach());
        }
        let registration = engine.register(hook, None, Registrant::Client)?;
        if let (Some(event), Some(former)) = (guards, &self.former) {
            engine.registered().found_guard(event, &register.hook_id, former);
        }
        let id = register.hook_id.clone();
        state.hooks.insert(id.clone(), OwnHook { register, guards, _registration: registration });
        drop(state);
        known.entry(self.client.token.clone()).or_insert_with(|| Arc::clone(&self.client));
        // It is back, and blocks no more what it was not asked about.
        let restored = self.former.as_ref().and_then(|former| known.get(former));
        let replaced = restored.and_then(|client| client.lock().hooks.remove(&id));
        let is_changed = guards.is_some() || replaced.is_some();
        let changed = is_changed.then(|| self.clients.guards(&known));
        drop(known);
        drop(replaced);
        if let Some(guards) = changed {
            self.clients.remember(&guards);
        }
        Ok(())
    }

    /// Unregisters a hook of the client's. Requests in flight still call it.
    ///
    /// # Errors
    /// When it has none of that id.
    pub fn unregister(&mut self, hook_id: &str) -> Result<(), NotRegistered> {
        let known = self.clients.known();
        let mut state = self.client.lock();
        if state.connection != self.number {
            return Err(NotRegistered::Superseded);
        }
        let unknown = || NotRegistered::UnknownId { id: hook_core::text::shortened(hook_id) };
        let gone = state.hooks.remove(hook_id).ok_or_else(unknown)?;
        drop(state);
        let changed = gone.guards.is_some().then(|| self.clients.guards(&known));
        drop(known);
        drop(gone);
        if let Some(guards) = changed {
            self.clients.remember(&guards);
        }
        Ok(())
    }

    /// All hooks that clients have registered, by client and id.
    pub fn list(&self) -> Vec<ListedHook> {
        let mut clients: Vec<Arc<LiveClient>> = self.clients.known().values().cloned().collect();
        clients.sort_by(|one, other| one.token.cmp(&other.token));
        let mut listed = Vec::new();
        for client in clients {
            let own = Arc::ptr_eq(&client, &self.client);
            let state = client.lock();
            let hooks = state.hooks.values();
            listed.extend(hooks.map(|hook| ListedHook { register: hook.register.clone(), own }));
        }
        listed
    }

    /// Waits for the next message to the client's hooks; never done while it has none, or when another
    /// connection took this one's place.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> ToHook {
        if let Link::Up(carrier) = &mut self.link
            && let Ok(message) = carrier.next().await
        {
            return message;
        }
        std::future::pending().await
    }

    /// Takes what the client's hooks say.
    pub fn take(&self, message: FromHook) {
        // Without hooks there is no call that it could be about.
        if let Link::Up(carrier) = &self.link {
            carrier.take(message);
        }
    }

    /// The client sent something that is no message, for this reason: the call that it may have been about
    /// fails, or, where that is not known, all calls that it was told of and has not answered.
    pub fn take_unreadable(&self, call: Option<u64>, why: String) {
        if let Link::Up(carrier) = &self.link {
            carrier.take_unreadable(call, why);
        }
    }

    /// The oldest call of a hook that waits for its answer, for clients that do not say which they answer.
    pub fn oldest_call_of(&self, hook_id: &str) -> Option<u64> {
        match &self.link {
            Link::Up(carrier) => carrier.oldest_call_of(hook_id),
            Link::Unused | Link::Closed => None,
        }
    }

    /// The client cannot be told anything from now on, and is still this connection's: new calls of its
    /// hooks fail at once, and those in flight wait until it is [open](Self::open) again, or until their
    /// timeouts. For connections over which a client registers hooks and hears of calls by different ways.
    pub fn close(&mut self) {
        self.link = Link::Closed;
    }

    /// The client can be told of calls from now on, those that wait for their answers first.
    pub fn open(&mut self) {
        let is_current = self.client.lock().connection == self.number;
        // Another connection has its place; that one is called.
        if is_current {
            self.link = Link::Up(self.client.session.attach());
        }
    }

    /// Ends it with the server. Its hooks stay, and calls of them fail: what other clients still ask is not to get
    /// past its guards. They stay remembered as well, whatever others register meanwhile, so that the next server
    /// waits for it.
    pub fn leave(mut self) {
        if self.unlink() {
            self.clients.keep(&self.client, self.number);
        }
    }

    /// Ends it for good: the client is gone, and does not come back.
    pub fn forget(mut self) {
        if self.unlink() {
            self.clients.forget(&self.client, self.number);
            let guards = self.clients.guards(&self.clients.known());
            self.clients.remember(&guards);
        }
    }

    /// Whether it has, or had, hooks, or was closed or opened.
    pub fn has_hooks(&self) -> bool {
        !matches!(self.link, Link::Unused)
    }

    /// Whether calls of the client's hooks wait for their answers.
    pub fn is_waited_for(&self) -> bool {
        self.has_hooks() && !self.client.session.is_idle()
    }

    /// Whether another connection took this one's place.
    pub fn is_superseded(&self) -> bool {
        self.client.lock().connection != self.number
    }

    /// Nothing goes over it any more. Whether anything could.
    fn unlink(&mut self) -> bool {
        !matches!(std::mem::replace(&mut self.link, Link::Unused), Link::Unused)
    }
}

impl fmt::Debug for LiveConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LiveConnection")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Drop for LiveConnection {
    fn drop(&mut self) {
        if !self.unlink() {
            return;
        }
        let (clients, client) = (Arc::clone(&self.clients), Arc::clone(&self.client));
        let number = self.number;
        // Calls of hooks that it has unregistered since wait for it as well.
        let is_missed = !client.lock().hooks.is_empty() || !client.session.is_idle();
        if clients.ended.is_cancelled() {
            return clients.keep(&client, number);
        }
        if !is_missed || Handle::try_current().is_err() {
            return clients.forget(&client, number);
        }
        clients.forget_later(&client, number);
    }
}
