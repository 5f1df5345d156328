//! `HookService`: registration of hooks, and the stream over which they are called.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Request, Response, Status, Streaming};

use super::body::shutting_down;
use super::client::{Attach, Command, knows_calls};
use super::clients::{ClientIdentity, RemoteClients};
use super::names::{CLIENT_RESUMED, CLIENT_TOKEN};
use super::proto::hooks::hook_service_server::HookService;
use super::proto::hooks::{
    HookResponse, ListHooksRequest, ListHooksResponse, RegisterHookRequest, RegisterHookResponse,
    UnregisterHookRequest, UnregisterHookResponse,
};
use super::register::{listed, read, refusal};
use super::stream::Events;

/// The number of attempts if a client's task ends just before it gets its order.
const ATTEMPTS: usize = 3;

/// The service, for all connections.
#[derive(Debug)]
pub(super) struct Hooks {
    pub(super) clients: Arc<RemoteClients>,
}

/// Sends a command to a client's task. Returns its result, or `None` if the task has ended.
async fn send_command<T>(
    commands: &mpsc::Sender<Command>,
    make: impl FnOnce(oneshot::Sender<T>) -> Command,
) -> Option<T> {
    let (done, receiver) = oneshot::channel();
    commands.send(make(done)).await.ok()?;
    receiver.await.ok()
}

/// Adds a client's token to the metadata of a response.
fn insert_token(metadata: &mut MetadataMap, token: &str) {
    if let Ok(token) = MetadataValue::try_from(token) {
        metadata.insert(CLIENT_TOKEN, token);
    }
}

#[tonic::async_trait]
impl HookService for Hooks {
    type HookStreamStream = Events;

    async fn register_hook(
        &self,
        request: Request<RegisterHookRequest>,
    ) -> Result<Response<RegisterHookResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let identity = ClientIdentity::of(&metadata, &extensions, &request.client_id)?;
        let has_id = identity.is_named || !request.hook_id.is_empty();
        let register = read(request)?;
        let hook_id = register.hook_id.clone();
        let knows_calls = knows_calls(&register, has_id);
        for _ in 0..ATTEMPTS {
            let found = self.clients.find_or_make(&identity)?;
            let registered = send_command(&found.client.commands, |done| Command::Register {
                register: register.clone(),
                knows_calls,
                done,
            });
            let Some(registered) = registered.await else { continue };
            registered.map_err(|error| refusal(&error))?;
            let mut response = Response::new(RegisterHookResponse { hook_id });
            insert_token(response.metadata_mut(), found.client.token());
            return Ok(response);
        }
        Err(shutting_down())
    }

    async fn unregister_hook(
        &self,
        request: Request<UnregisterHookRequest>,
    ) -> Result<Response<UnregisterHookResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let identity = ClientIdentity::of(&metadata, &extensions, &request.client_id)?;
        let hook_id = request.hook_id;
        let unregistered = match self.clients.find(&identity) {
            Some(client) => {
                send_command(&client.commands, |done| Command::Unregister { hook_id, done }).await
            }
            None => None,
        };
        let removed = match unregistered {
            Some(Ok(())) => true,
            Some(Err(error)) if error.code() != "unknown_id" => return Err(refusal(&error)),
            _ => false,
        };
        Ok(Response::new(UnregisterHookResponse { removed }))
    }

    async fn list_hooks(
        &self,
        request: Request<ListHooksRequest>,
    ) -> Result<Response<ListHooksResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let identity = ClientIdentity::of(&metadata, &extensions, &request.client_id)?;
        let listing = match self.clients.find(&identity) {
            Some(client) => send_command(&client.commands, |done| Command::List { done }).await,
            None => None,
        };
        let hooks = listing.unwrap_or_else(|| self.clients.live().connect().list());
        let hooks = hooks.into_iter().map(listed).collect();
        Ok(Response::new(ListHooksResponse { hooks }))
    }

    async fn hook_stream(
        &self,
        request: Request<Streaming<HookResponse>>,
    ) -> Result<Response<Events>, Status> {
        let (metadata, extensions, incoming) = request.into_parts();
        let identity = ClientIdentity::of(&metadata, &extensions, "")?;
        let mut incoming = Some(incoming);
        for _ in 0..ATTEMPTS {
            let found = self.clients.find_or_make(&identity)?;
            // The stream is given away only to a task that still accepts orders.
            let Ok(permit) = found.client.commands.reserve().await else { continue };
            let Some(incoming) = incoming.take() else { break };
            let (done, attached) = oneshot::channel();
            permit.send(Command::Attach(Box::new(Attach {
                incoming,
                caller: Arc::clone(&identity.caller),
                has_token: found.has_token,
                knows_calls: identity.is_named,
                done,
            })));
            let Ok(attached) = attached.await else {
                let message = "this client was forgotten just now; open the stream again";
                return Err(Status::unavailable(message));
            };
            let mut response = Response::new(attached?);
            let metadata = response.metadata_mut();
            insert_token(metadata, found.client.token());
            let resumed = if found.was_known { "true" } else { "false" };
            metadata.insert(CLIENT_RESUMED, MetadataValue::from_static(resumed));
            return Ok(response);
        }
        Err(shutting_down())
    }
}
