//! What is said to the requests of one asker: each has a subject of its own for that, which nobody else
//! can guess, below one that the asker alone may read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::Message;
use tokio::sync::{mpsc, watch};

use super::credentials::Credentials;
use super::options::Broker;

/// How much may be said to a request that it has not read. It reads whenever it is woken.
const UNREAD: usize = 64;

/// How many requests for which nobody waits any more engines may have to be told of.
const CANCELS: usize = 4_096;

/// What is said to the requests of one asker.
#[derive(Debug)]
pub(super) struct Replies {
    inbox: String,
    open: Mutex<HashMap<String, mpsc::Sender<Message>>>,
    cancels: mpsc::Sender<String>,
    /// What the broker says, where it lets nobody read them here.
    unheard: watch::Sender<Option<Arc<str>>>,
}

impl Replies {
    /// With the subjects of requests for which nobody waits any more.
    pub(super) fn new(broker: &Broker) -> (Arc<Self>, mpsc::Receiver<String>) {
        // Those of another user may not be read, if the broker is set up so.
        let user = broker.credentials.as_ref().map(Credentials::public);
        let inbox = format!("{}.{}", broker.subjects.replies(user), random());
        let (cancels, cancelled) = mpsc::channel(CANCELS);
        let (open, unheard) = (Mutex::default(), watch::Sender::new(None));
        (Arc::new(Self { inbox, open, cancels, unheard }), cancelled)
    }

    /// Whether the broker lets nobody read them here, and its words.
    pub(super) fn unheard(&self) -> Unheard {
        Unheard(self.unheard.subscribe())
    }

    /// Says whether they can be read, as far as is known.
    pub(super) fn may_be_heard(&self, refused: Option<Arc<str>>) {
        self.unheard.send_replace(refused);
    }

    /// Where all of them are.
    pub(super) fn all(&self) -> String {
        format!("{}.*", self.inbox)
    }

    /// Begins to listen to what is said to one request.
    pub(super) fn open(self: &Arc<Self>) -> OpenReplies {
        self.open_for(UNREAD)
    }

    /// As [`open`](Self::open), where so much may be said at once.
    pub(super) fn open_for(self: &Arc<Self>, unread: usize) -> OpenReplies {
        let subject = format!("{}.{}", self.inbox, random());
        let (sender, receiver) = mpsc::channel(unread);
        self.lock().insert(subject.clone(), sender);
        OpenReplies { replies: Arc::clone(self), subject, receiver, is_open: false, is_left: false }
    }

    /// Hands a message to the request that it is for, if that still waits.
    pub(super) fn hand_on(&self, message: Message) {
        let sender = self.lock().get(message.subject.as_str()).cloned();
        if let Some(sender) = sender {
            // One to which too much is said loses it, and is then as one to which nothing was said.
            let _ = sender.try_send(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<Message>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the broker lets nobody read what is said to an asker.
#[derive(Debug)]
pub(super) struct Unheard(watch::Receiver<Option<Arc<str>>>);

impl Unheard {
    /// The broker's words, if it has said so.
    pub(super) fn known(&self) -> Option<Arc<str>> {
        self.0.borrow().clone()
    }

    /// The broker's words, once it says so.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn refused(&mut self) -> Arc<str> {
        let refused = self.0.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        match refused {
            Some(why) => why,
            // The sender is there for as long as the asker.
            None => std::future::pending().await,
        }
    }
}

/// What is said to one request. Dropped, engines are told of it that may have it still.
#[derive(Debug)]
pub(super) struct OpenReplies {
    replies: Arc<Replies>,
    pub(super) subject: String,
    receiver: mpsc::Receiver<Message>,
    /// Whether an engine may be at work on it.
    pub(super) is_open: bool,
    /// Whether one fell silent that may have it still.
    pub(super) is_left: bool,
}

impl OpenReplies {
    /// The next message.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Message {
        match self.receiver.recv().await {
            Some(message) => message,
            // The sender is there for as long as this.
            None => std::future::pending().await,
        }
    }
}

impl Drop for OpenReplies {
    fn drop(&mut self) {
        self.replies.lock().remove(&self.subject);
        if self.is_open || self.is_left {
            // One that does not hear of it ends with its deadline.
            let _ = self.replies.cancels.try_send(std::mem::take(&mut self.subject));
        }
    }
}

fn random() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
