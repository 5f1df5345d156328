//! The mailbox of a call: its answer, and the requests that the hook makes to the host before it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::OwnedSemaphorePermit;

use super::message::HookAnswer;
use hook_json::RawJson;
use hook_protocol::failure::HookFailure;

/// The maximum number of waiting host requests of one call.
pub(super) const MAX_HOST_CALLS: usize = 16;

/// A request of a hook to the host of its call.
#[derive(Debug)]
pub(super) struct HostRequest {
    pub(super) id: RawJson,
    pub(super) method: String,
    pub(super) params: RawJson,
    /// The buffer space that it uses in the session.
    pub(super) permit: OwnedSemaphorePermit,
}

/// The reason for rejecting a host request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    NoCall,
    NoHost,
    TooMany,
}

/// An event of a call that was sent.
pub(super) enum CallEvent {
    /// The answer arrived, or cannot arrive any more.
    Answered(Result<HookAnswer, HookFailure>),
    /// The hook makes a request to the host.
    HostRequest(HostRequest),
}

/// The mailbox of one call's caller.
pub(super) struct Mailbox {
    state: Mutex<State>,
    /// `true` if the caller serves host requests.
    has_host: bool,
}

#[derive(Default)]
struct State {
    answer: Option<Result<HookAnswer, HookFailure>>,
    requests: VecDeque<HostRequest>,
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
    pub(super) fn answer(&self, answer: Result<HookAnswer, HookFailure>) {
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
    pub(super) fn add_request(&self, request: HostRequest) -> Result<(), (HostRequest, Refusal)> {
        if !self.has_host {
            return Err((request, Refusal::NoHost));
        }
        let mut state = self.lock();
        if state.requests.len() >= MAX_HOST_CALLS {
            return Err((request, Refusal::TooMany));
        }
        state.requests.push_back(request);
        let caller = state.caller.take();
        drop(state);
        if let Some(caller) = caller {
            caller.wake();
        }
        Ok(())
    }

    /// Takes the next event: the answer first, then a request, if another one may run.
    pub(super) fn poll(&self, context: &mut Context<'_>, takes_requests: bool) -> Poll<CallEvent> {
        let mut state = self.lock();
        if let Some(answer) = state.answer.take() {
            return Poll::Ready(CallEvent::Answered(answer));
        }
        if let Some(request) = takes_requests.then(|| state.requests.pop_front()).flatten() {
            return Poll::Ready(CallEvent::HostRequest(request));
        }
        match &mut state.caller {
            Some(caller) => caller.clone_from(context.waker()),
            None => state.caller = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Takes the answer, if it has arrived.
    pub(super) fn try_answer(&self) -> Option<Result<HookAnswer, HookFailure>> {
        self.lock().answer.take()
    }
}
