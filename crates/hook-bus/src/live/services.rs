//! A client's services for the hooks of its own requests.

use std::collections::HashSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_json::{RawJson, TooDeep, opaque_debug};
use hook_run::{HostCall, HostCallError, HostServices};
use tokio::sync::{mpsc, oneshot};

/// The maximum number of calls queued for a client.
const MAX_QUEUED: usize = 64;

/// The maximum number of services that a client may offer.
const MAX_OFFERED: usize = 64;

/// The services that a client offers to the hooks of its requests.
pub struct ClientServices {
    offered: HashSet<String>,
    calls: mpsc::Sender<ClientCall>,
}

/// A call of a client's service.
#[derive(Debug)]
#[non_exhaustive]
pub struct ClientCall {
    /// The call.
    pub call: HostCall,
    /// The channel for its result.
    pub answer: oneshot::Sender<Result<RawJson, HostCallError>>,
}

impl ClientServices {
    /// Returns services of these names and the receiver of their calls. The client is not called
    /// for other services.
    pub(crate) fn new(
        offered: impl IntoIterator<Item = String>,
    ) -> (Arc<Self>, mpsc::Receiver<ClientCall>) {
        let (calls, receiver) = mpsc::channel(MAX_QUEUED);
        let offered = offered.into_iter().take(MAX_OFFERED).collect();
        (Arc::new(Self { offered, calls }), receiver)
    }

    /// Returns no services, for a client that offers none.
    pub fn none() -> Arc<Self> {
        Self::new([]).0
    }
}

opaque_debug!(ClientServices { offered });

impl HostServices for ClientServices {
    fn offers(&self, method: &str) -> bool {
        self.offered.contains(method)
    }

    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        if !self.offered.contains(&call.method) {
            let error = HostCallError::unsupported(&call.method);
            return futures::future::ready(Err(error)).boxed();
        }
        if let Err(error) = TooDeep::check("params", &call.params) {
            let error = HostCallError::failed(error.to_string());
            return futures::future::ready(Err(error)).boxed();
        }
        let calls = self.calls.clone();
        async move {
            let disconnected =
                || HostCallError::failed("the client that asked for the event is gone");
            let (answer, result) = oneshot::channel();
            calls.send(ClientCall { call, answer }).await.map_err(|_| disconnected())?;
            result.await.unwrap_or_else(|_| Err(disconnected()))
        }
        .boxed()
    }
}
