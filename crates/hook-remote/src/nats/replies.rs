//! Replies to the requests of one client. Each request has a reply subject that others cannot
//! guess, below a prefix that only the client may read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::Message;
use tokio::sync::{mpsc, watch};

use super::credentials::Credentials;
use super::options::Broker;

/// The maximum number of unread replies of a request, which is woken for each.
const UNREAD: usize = 64;

/// The maximum number of unsent cancellations.
const CANCELS: usize = 4_096;

/// The replies to the requests of one client.
#[derive(Debug)]
pub(super) struct Replies {
    inbox: String,
    open: Mutex<HashMap<String, mpsc::Sender<Message>>>,
    cancels: mpsc::Sender<String>,
    /// The broker's reason, if it refuses the subscription to the replies.
    refusal: watch::Sender<Option<Arc<str>>>,
}

impl Replies {
    /// Creates the replies, and the receiver of the reply subjects of cancelled requests.
    pub(super) fn new(broker: &Broker) -> (Arc<Self>, mpsc::Receiver<String>) {
        // The broker may forbid the replies of another user.
        let user = broker.credentials.as_ref().map(Credentials::public_key);
        let inbox = format!("{}.{}", broker.subjects.replies(user), random_id());
        let (cancels, cancelled) = mpsc::channel(CANCELS);
        let (open, refusal) = (Mutex::default(), watch::Sender::new(None));
        (Arc::new(Self { inbox, open, cancels, refusal }), cancelled)
    }

    /// Returns a receiver of the broker's refusal.
    pub(super) fn refusal(&self) -> ReplyRefusal {
        ReplyRefusal(self.refusal.subscribe())
    }

    /// Records whether the broker refuses the subscription, as far as is known.
    pub(super) fn set_refusal(&self, refused: Option<Arc<str>>) {
        self.refusal.send_replace(refused);
    }

    /// Returns the wildcard of all reply subjects.
    pub(super) fn wildcard(&self) -> String {
        format!("{}.*", self.inbox)
    }

    /// Opens the replies of one request.
    pub(super) fn open(self: &Arc<Self>) -> OpenReplies {
        self.open_for(UNREAD)
    }

    /// Opens replies as [`open`](Self::open) does, with the given capacity.
    pub(super) fn open_for(self: &Arc<Self>, unread: usize) -> OpenReplies {
        let subject = format!("{}.{}", self.inbox, random_id());
        let (sender, receiver) = mpsc::channel(unread);
        self.lock().insert(subject.clone(), sender);
        OpenReplies {
            replies: Arc::clone(self),
            subject,
            receiver,
            is_open: false,
            is_abandoned: false,
        }
    }

    /// Passes a message to its request, if that still waits.
    pub(super) fn dispatch(&self, message: Message) {
        let sender = self.lock().get(message.subject.as_str()).cloned();
        if let Some(sender) = sender {
            // A request with too many unread replies loses this one, as if it had not been sent.
            let _ = sender.try_send(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<Message>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A receiver of the broker's refusal of the subscription to replies.
#[derive(Debug)]
pub(super) struct ReplyRefusal(watch::Receiver<Option<Arc<str>>>);

impl ReplyRefusal {
    /// Returns the broker's reason, if it has refused.
    pub(super) fn current(&self) -> Option<Arc<str>> {
        self.0.borrow().clone()
    }

    /// Waits for the broker's refusal, and returns its reason.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn wait(&mut self) -> Arc<str> {
        let refused = self.0.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        match refused {
            Some(why) => why,
            // The sender lives as long as the client.
            None => std::future::pending().await,
        }
    }
}

/// The replies of one request. Dropping them cancels the request at engines that may still have it.
#[derive(Debug)]
pub(super) struct OpenReplies {
    replies: Arc<Replies>,
    pub(super) subject: String,
    receiver: mpsc::Receiver<Message>,
    /// `true` if an engine may be working on it.
    pub(super) is_open: bool,
    /// `true` if an engine that may still have it has fallen silent.
    pub(super) is_abandoned: bool,
}

impl OpenReplies {
    /// Waits for the next message.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Message {
        match self.receiver.recv().await {
            Some(message) => message,
            // The sender lives as long as this value.
            None => std::future::pending().await,
        }
    }
}

impl Drop for OpenReplies {
    fn drop(&mut self) {
        self.replies.lock().remove(&self.subject);
        if self.is_open || self.is_abandoned {
            // An engine that misses the cancellation ends with the deadline.
            let _ = self.replies.cancels.try_send(std::mem::take(&mut self.subject));
        }
    }
}

fn random_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
