//! Calls that an agent makes twice: one that reads two files with an entry asks twice about the same call of a tool.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hook_trust::sha256;
use tokio::sync::watch;

use super::Bridge;
use super::answer::BridgeAnswer;

/// The time in which an answer also holds for the same call.
pub(super) const LIFETIME: Duration = Duration::from_secs(2);

/// The maximum number of calls that are known. Further ones are answered as if they came once.
const MAX_CALLS: usize = 256;

/// The answer to a call, once it is given, and its time.
type Answer = Option<(Instant, BridgeAnswer)>;

/// The calls that are being answered, and those that were just now.
#[derive(Debug, Default)]
pub(crate) struct Repeats(Mutex<HashMap<String, watch::Receiver<Answer>>>);

/// A call among others.
#[derive(Debug)]
pub(crate) enum Turn {
    /// It is answered by itself, and others may get its answer.
    First(FirstCall),
    /// It gets the answer to another one.
    Repeat(Repeat),
}

/// A call whose answer others may get. Dropped without an answer, it leaves them to themselves.
#[derive(Debug)]
pub(crate) struct FirstCall(watch::Sender<Answer>);

/// A call that waits for the answer to another one.
#[derive(Debug)]
pub(crate) struct Repeat(watch::Receiver<Answer>);

impl Repeats {
    /// Returns the turn of a call of a tool. `None` for other calls.
    pub(crate) fn enter(
        &self,
        bridge: &Bridge,
        input: &str,
        settings_hash: Option<String>,
    ) -> Option<Turn> {
        let name = name_of(bridge, input, settings_hash?)?;
        self.enter_at(sha256(name.as_bytes()), Instant::now())
    }

    fn enter_at(&self, digest: String, now: Instant) -> Option<Turn> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|_, call| match &*call.borrow() {
            Some((answered_at, _)) => now.saturating_duration_since(*answered_at) < LIFETIME,
            None => call.has_changed().is_ok(),
        });
        if let Some(call) = calls.get(&digest) {
            return Some(Turn::Repeat(Repeat(call.clone())));
        }
        if calls.len() >= MAX_CALLS {
            return None;
        }
        let (sender, receiver) = watch::channel(None);
        calls.insert(digest, receiver);
        Some(Turn::First(FirstCall(sender)))
    }
}

/// Returns the text by which a call of a tool is known: the id that the agent gives it, and all of its other input.
/// `None` for other calls: two of them may be equal. Under other settings it is another call.
pub(super) fn name_of(bridge: &Bridge, input: &str, settings_hash: String) -> Option<String> {
    let (agent, event) = (bridge.agent.name(), bridge.foreign_request.foreign_event());
    bridge
        .foreign_request
        .is_of_tool()
        .then(|| [settings_hash.as_str(), agent, event, input].join("\n"))
}

impl FirstCall {
    /// Gives the answer to the call and to those that are the same.
    pub(crate) fn answer(self, answer: &BridgeAnswer) {
        self.0.send_replace(Some((Instant::now(), answer.clone())));
    }
}

impl Repeat {
    /// Returns the answer to the first call, or `None` if that is not answered.
    pub(crate) async fn answer(mut self) -> Option<BridgeAnswer> {
        let answer = self.0.wait_for(Option::is_some).await.ok()?;
        answer.as_ref().map(|(_, answer)| answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use hook_agents::AgentResponse;

    use super::*;

    fn answer() -> BridgeAnswer {
        BridgeAnswer { output: AgentResponse::default(), warnings: vec!["a".to_owned()] }
    }

    fn first(repeats: &Repeats, now: Instant) -> FirstCall {
        match repeats.enter_at("a".to_owned(), now) {
            Some(Turn::First(first)) => first,
            other => panic!("{other:?}"),
        }
    }

    fn repeat(repeats: &Repeats, now: Instant) -> Repeat {
        match repeats.enter_at("a".to_owned(), now) {
            Some(Turn::Repeat(repeat)) => repeat,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_call_that_is_made_twice_has_one_answer_for_a_while() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let begun = first(&repeats, now);
        let waiting = repeat(&repeats, now);
        begun.answer(&answer());
        assert_eq!(waiting.answer().await, Some(answer()));
        let later = Instant::now();
        assert_eq!(repeat(&repeats, later).answer().await, Some(answer()));
        // After that it is another call.
        first(&repeats, later + LIFETIME).answer(&answer());
    }

    #[tokio::test]
    async fn a_call_without_an_answer_leaves_others_to_themselves() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let begun = first(&repeats, now);
        let waiting = repeat(&repeats, now);
        drop(begun);
        assert_eq!(waiting.answer().await, None);
        first(&repeats, now).answer(&answer());
    }
}
