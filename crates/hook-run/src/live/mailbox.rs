//! The mailbox of a call: its answer, and the requests that the hook makes to the host before it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::OwnedSemaphorePermit;

use super::message::Said;
use hook_json::RawJson;
use hook_protocol::failure::HookFailure;

/// The maximum number of waiting host requests of one call.
pub(super) const MAX_HOST_CALLS: usize = 16;

/// A request of a hook to the host of its call.
#[derive(Debug)]
pub(super) struct AskedOfHost {
    pub(super) id: RawJson,
    pub(super) method: String,
    pub(super) params: RawJson,
    /// The buffer space that it uses in the session.
    pub(super) held: OwnedSemaphorePermit,
}

/// The reason for rejecting a host request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    NoCall,
    NoHost,
    TooMany,
}

/// An event of a call that was sent.
pub(super) enum Happened {
    /// The answer arrived, or cannot arrive any more.
    Answered(Result<Said, HookFailure>),
    /// The hook makes a request to the host.
    AskedOfHost(AskedOfHost),
}

/// The mailbox of one call's caller.
pub(super) struct Mailbox {
    state: Mutex<State>,
    /// `true` if the caller serves host requests.
    has_host: bool,
}

#[derive(Default)]
struct State {
    answer: Option<Result<Said, HookFailure>>,
    asked: VecDeque<AskedOfHost>,
    caller: Option<Waker>,
}

impl Mailbox {
    /// Creates an empty mailbox; `has_host` says whether the caller serves host requests.
    pub(super) fn new(has_host: bool) -> Self {
        Self { state: Mutex::default(), has_host }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers the answer.
    pub(super) fn answer(&self, answer: Result<Said, HookFailure>) {
        let mut state = self.lock();
        state.answer = Some(answer);
        let caller = state.caller.take();
        drop(state);
        if let Some(caller) = caller {
            caller.wake();
        }
    }

    /// Adds a request to the host.
    ///
    /// # Errors
    /// Returns the request if there is no host, or too many requests are waiting.
    pub(super) fn ask(&self, asked: AskedOfHost) -> Result<(), (AskedOfHost, Refusal)> {
        if !self.has_host {
            return Err((asked, Refusal::NoHost));
        }
        let mut state = self.lock();
        if state.asked.len() >= MAX_HOST_CALLS {
            return Err((asked, Refusal::TooMany));
        }
        state.asked.push_back(asked);
        let caller = state.caller.take();
        drop(state);
        if let Some(caller) = caller {
            caller.wake();
        }
        Ok(())
    }

    /// Takes the next event: the answer first, then a request, if another one may run.
    pub(super) fn poll(&self, context: &mut Context<'_>, may_ask: bool) -> Poll<Happened> {
        let mut state = self.lock();
        if let Some(answer) = state.answer.take() {
            return Poll::Ready(Happened::Answered(answer));
        }
        if let Some(asked) = may_ask.then(|| state.asked.pop_front()).flatten() {
            return Poll::Ready(Happened::AskedOfHost(asked));
        }
        match &mut state.caller {
            Some(caller) => caller.clone_from(context.waker()),
            None => state.caller = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Takes the answer, if it has arrived.
    pub(super) fn try_answer(&self) -> Option<Result<Said, HookFailure>> {
        self.lock().answer.take()
    }
}
