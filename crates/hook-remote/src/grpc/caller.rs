//! Whose connection a call comes over, and whether that is a certain client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hook_bus::BusClient;
use tonic::{Extensions, Status};

/// Whose connection a call comes over.
#[derive(Debug)]
pub(super) struct Caller {
    /// The connection's number.
    pub(super) connection: u64,
    /// The process on its other end, where the system tells it.
    pub(super) process: Option<u32>,
    /// Whether it is on this machine for certain, and the user's own.
    pub(super) is_near: bool,
    /// Its requests to the bus.
    pub(super) requests: BusClient,
}

impl Caller {
    /// The caller of a call, whom the connection's task has noted there.
    pub(super) fn of(extensions: &Extensions) -> Result<Arc<Self>, Status> {
        let caller = extensions.get::<Arc<Self>>().cloned();
        caller.ok_or_else(|| Status::internal("the call has no connection"))
    }
}

/// What is known of a client outside of its task.
#[derive(Debug)]
pub(super) struct Known {
    token: Box<str>,
    connection: AtomicU64,
    /// Zero where it is not known.
    process: AtomicU32,
    is_up: AtomicBool,
    /// Whether it has lost a stream.
    was_lost: AtomicBool,
}

impl Known {
    pub(super) fn new(token: &str, caller: &Caller) -> Arc<Self> {
        let known = Self {
            token: token.into(),
            connection: AtomicU64::new(0),
            process: AtomicU32::new(0),
            is_up: AtomicBool::new(false),
            was_lost: AtomicBool::new(false),
        };
        known.is_of(caller);
        Arc::new(known)
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// It comes over this connection now.
    pub(super) fn is_of(&self, caller: &Caller) {
        self.connection.store(caller.connection, Ordering::Release);
        self.process.store(caller.process.unwrap_or_default(), Ordering::Release);
    }

    /// Whether it has a stream.
    pub(super) fn set_up(&self, is_up: bool) {
        let was_up = self.is_up.swap(is_up, Ordering::AcqRel);
        if was_up && !is_up {
            self.was_lost.store(true, Ordering::Release);
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Acquire)
    }

    /// Whether a caller is this client without proving it: over the same connection, or from the same
    /// process as long as that has lost no stream. Names are no proof, and neither is a process id that
    /// another may have by now.
    pub(super) fn is_same(&self, caller: &Caller) -> bool {
        let process = self.process.load(Ordering::Acquire);
        self.connection.load(Ordering::Acquire) == caller.connection
            || caller.process.is_some_and(|it| it == process)
                && !self.was_lost.load(Ordering::Acquire)
    }
}
