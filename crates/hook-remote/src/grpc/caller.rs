//! The connection of a call, and the check that it belongs to a certain client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hook_bus::BusClient;
use tonic::{Extensions, Status};

/// The connection of a call.
#[derive(Debug)]
pub(super) struct Caller {
    /// The connection's number.
    pub(super) connection: u64,
    /// The client's process, if the system reports it.
    pub(super) process: Option<u32>,
    /// `true` if the client is certainly on this machine and runs as the same user.
    pub(super) is_local: bool,
    /// The client of the bus for requests of this connection.
    pub(super) requests: BusClient,
}

impl Caller {
    /// Returns the caller that the connection's task stored in a call's extensions.
    pub(super) fn of(extensions: &Extensions) -> Result<Arc<Self>, Status> {
        let caller = extensions.get::<Arc<Self>>().cloned();
        caller.ok_or_else(|| Status::internal("the call has no connection"))
    }
}

/// The state of a client that is shared outside its task.
#[derive(Debug)]
pub(super) struct ClientState {
    token: Box<str>,
    connection: AtomicU64,
    /// Zero if unknown.
    process: AtomicU32,
    is_connected: AtomicBool,
    /// `true` once the client has lost a stream.
    was_lost: AtomicBool,
}

impl ClientState {
    pub(super) fn new(token: &str, caller: &Caller) -> Arc<Self> {
        let state = Self {
            token: token.into(),
            connection: AtomicU64::new(0),
            process: AtomicU32::new(0),
            is_connected: AtomicBool::new(false),
            was_lost: AtomicBool::new(false),
        };
        state.set_caller(caller);
        Arc::new(state)
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Records the client's present connection.
    pub(super) fn set_caller(&self, caller: &Caller) {
        self.connection.store(caller.connection, Ordering::Release);
        self.process.store(caller.process.unwrap_or_default(), Ordering::Release);
    }

    /// Records whether the client has a stream.
    pub(super) fn set_connected(&self, is_connected: bool) {
        let was_connected = self.is_connected.swap(is_connected, Ordering::AcqRel);
        if was_connected && !is_connected {
            self.was_lost.store(true, Ordering::Release);
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    /// Returns `true` if a caller is this client without a token: over the same connection, or from
    /// the same process if that never lost a stream. A name is no proof. Neither is a process id
    /// after a lost stream, since another process may have it by then.
    pub(super) fn is_same_client(&self, caller: &Caller) -> bool {
        let process = self.process.load(Ordering::Acquire);
        self.connection.load(Ordering::Acquire) == caller.connection
            || caller.process.is_some_and(|id| id == process)
                && !self.was_lost.load(Ordering::Acquire)
    }
}
