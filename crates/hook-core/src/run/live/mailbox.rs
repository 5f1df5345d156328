//! Where a call's caller finds what comes of it: its answer, and before that what the hook asks of the
//! host.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::OwnedSemaphorePermit;

use super::message::Said;
use crate::failure::HookFailure;
use crate::json::RawJson;

/// How many host calls of one call may wait to be looked at.
pub(super) const MAX_HOST_CALLS: usize = 16;

/// What a hook asks of the host of a call.
#[derive(Debug)]
pub(super) struct AskedOfHost {
    pub(super) id: RawJson,
    pub(super) method: String,
    pub(super) params: RawJson,
    /// Room for it among what the hooks of the conversation ask.
    pub(super) held: OwnedSemaphorePermit,
}

/// Why what a hook asks of a host is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    NoCall,
    NoHost,
    TooMany,
}

/// What happens to a call that was sent.
pub(super) enum Happened {
    /// It was answered, or cannot be any more.
    Answered(Result<Said, HookFailure>),
    /// The hook asks something of the host.
    AskedOfHost(AskedOfHost),
}

/// What there is for the caller of one call.
pub(super) struct Mailbox {
    state: Mutex<State>,
    /// Whether somebody looks at what the hook asks.
    has_host: bool,
}

#[derive(Default)]
struct State {
    answer: Option<Result<Said, HookFailure>>,
    asked: VecDeque<AskedOfHost>,
    caller: Option<Waker>,
}

impl Mailbox {
    /// An empty one; with a host, if somebody looks at what is asked of it.
    pub(super) fn new(has_host: bool) -> Self {
        Self { state: Mutex::default(), has_host }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the answer in.
    pub(super) fn answer(&self, answer: Result<Said, HookFailure>) {
        let mut state = self.lock();
        state.answer = Some(answer);
        let caller = state.caller.take();
        drop(state);
        if let Some(caller) = caller {
            caller.wake();
        }
    }

    /// Puts something in that the hook asks of the host.
    ///
    /// # Errors
    /// When there is no host, or so much waits there already.
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

    /// Takes out what is next: the answer first, then what is asked, if so much more may be.
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

    /// Takes the answer out, if it is there.
    pub(super) fn try_answer(&self) -> Option<Result<Said, HookFailure>> {
        self.lock().answer.take()
    }
}
