//! A server with a client.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_remote::grpc::GrpcServer;
use hook_remote::grpc::proto::hook_bus::hook_bus_client::HookBusClient;
use hook_remote::grpc::proto::hooks::hook_service_client::HookServiceClient;
use hook_remote::grpc::proto::hooks::{
    HookAction, HookConfig, HookEvent, HookResponse, RegisterHookRequest,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

pub(crate) type Hooks = HookServiceClient<Channel>;

/// A server, for as long as a test.
pub(crate) struct Server {
    pub(crate) system: Arc<HookSystem>,
    pub(crate) place: String,
    pub(crate) token: Option<String>,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<()>,
    pub(crate) folder: TempDir,
}

impl Server {
    /// On a Unix socket.
    pub(crate) async fn unix() -> Self {
        Self::at(|folder| format!("unix:{}", folder.join("grpc.sock").display())).await
    }

    /// On loopback.
    pub(crate) async fn tcp() -> Self {
        Self::at(|_| "127.0.0.1:0".to_owned()).await
    }

    async fn at(place: impl FnOnce(PathBuf) -> String) -> Self {
        Self::with(place, |server| server).await
    }

    pub(crate) async fn with(
        place: impl FnOnce(PathBuf) -> String,
        change: impl FnOnce(GrpcServer) -> GrpcServer,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let system = Arc::new(HookSystem::builder(folder.path()).build().unwrap());
        let token_file = folder.path().join("token");
        let place = place(folder.path().to_owned()).parse().unwrap();
        let server = GrpcServer::bind(&place, None, Some(&token_file)).await.unwrap();
        let server = change(server);
        let place = server.endpoint().to_string();
        let token = server.token_file().map(|path| std::fs::read_to_string(path).unwrap());
        let token = token.map(|token| token.trim().to_owned());
        let stop = CancellationToken::new();
        let served = tokio::spawn({
            let (system, stop) = (Arc::clone(&system), stop.clone());
            async move { server.serve(&system, &stop).await }
        });
        Self { system, place, token, stop, served, folder }
    }

    /// A new connection.
    pub(crate) async fn channel(&self) -> Channel {
        let address = match self.place.starts_with("unix:") {
            true => self.place.clone(),
            false => format!("http://{}", self.place),
        };
        Endpoint::from_shared(address).unwrap().connect().await.unwrap()
    }

    /// A client of `HookService` with a connection of its own.
    pub(crate) async fn hooks(&self) -> Hooks {
        HookServiceClient::new(self.channel().await)
    }

    pub(crate) async fn bus(&self) -> HookBusClient<Channel> {
        HookBusClient::new(self.channel().await).max_decoding_message_size(1 << 30)
    }

    /// A call with the server's token, and with this metadata.
    pub(crate) fn call<T>(&self, message: T, metadata: &[(&'static str, &str)]) -> Request<T> {
        let mut request = Request::new(message);
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let bearer = bearer.iter().map(|bearer| ("authorization", bearer.as_str()));
        for (name, value) in metadata.iter().copied().chain(bearer) {
            request.metadata_mut().insert(name, MetadataValue::try_from(value).unwrap());
        }
        request
    }

    /// Registers a hook, and gives its id and the client's token.
    pub(crate) async fn register(
        &self,
        hooks: &mut Hooks,
        register: RegisterHookRequest,
        metadata: &[(&'static str, &str)],
    ) -> Result<(String, String), Status> {
        let response = hooks.register_hook(self.call(register, metadata)).await?;
        let token = response.metadata().get("hook-client-token").unwrap();
        let token = token.to_str().unwrap().to_owned();
        Ok((response.into_inner().hook_id, token))
    }

    /// Opens a stream.
    pub(crate) async fn stream(
        &self,
        hooks: &mut Hooks,
        metadata: &[(&'static str, &str)],
    ) -> Result<OpenStream, Status> {
        let (answers, received) = mpsc::channel(64);
        let opened = hooks.hook_stream(self.call(sent(received), metadata)).await?;
        let said = |name: &str| {
            let value = opened.metadata().get(name).unwrap();
            value.to_str().unwrap().to_owned()
        };
        let (token, resumed) = (said("hook-client-token"), said("hook-client-resumed") == "true");
        Ok(OpenStream { answers, events: opened.into_inner(), token, resumed })
    }

    /// Asks for the hooks of a tool call; the response as JSON.
    pub(crate) fn before_tool(&self, command: &str) -> JoinHandle<Value> {
        let (system, request) = (Arc::clone(&self.system), before_tool(command, "c-1"));
        tokio::spawn(async move {
            let response = system.bus().request(request_of(&request)).await;
            serde_json::from_slice(&response.to_json()).unwrap()
        })
    }

    /// Waits until a client has lost its stream: another may have its name then.
    pub(crate) async fn until_lost(&self, client_id: &str) {
        let mut other = self.hooks().await;
        for _ in 0..100_000 {
            match self.stream(&mut other, &[("hook-client-id", client_id)]).await {
                Ok(_) => return,
                Err(status) => assert_eq!(status.code(), tonic::Code::AlreadyExists),
            }
        }
        panic!("it still has its stream");
    }

    /// Ends it.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.system.shutdown(Duration::from_millis(200)).await;
        within(self.served).await.unwrap();
    }
}

/// What nothing here takes longer than.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it hangs")
}

/// A stream of what is received.
pub(crate) fn sent<T: Send + 'static>(received: mpsc::Receiver<T>) -> BoxStream<'static, T> {
    stream::unfold(received, |mut received| async {
        received.recv().await.map(|message| (message, received))
    })
    .boxed()
}

/// A client's stream.
pub(crate) struct OpenStream {
    pub(crate) answers: mpsc::Sender<HookResponse>,
    pub(crate) events: Streaming<HookEvent>,
    pub(crate) token: String,
    pub(crate) resumed: bool,
}

impl OpenStream {
    /// The next event.
    pub(crate) async fn event(&mut self) -> HookEvent {
        within(self.events.message()).await.unwrap().expect("the stream is over")
    }

    /// How the stream ends.
    pub(crate) async fn end(&mut self) -> Result<(), Status> {
        loop {
            match within(self.events.message()).await {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(status) => return Err(status),
            }
        }
    }

    pub(crate) async fn answer(&self, response: HookResponse) {
        within(self.answers.send(response)).await.unwrap();
    }

    /// Answers the next event.
    pub(crate) async fn answer_next(&mut self, response: HookResponse) -> HookEvent {
        let event = self.event().await;
        self.answer(answer_to(&event, response)).await;
        event
    }
}

/// The same answer, to this event.
pub(crate) fn answer_to(event: &HookEvent, response: HookResponse) -> HookResponse {
    HookResponse { hook_id: event.hook_id.clone(), call_id: event.call_id.clone(), ..response }
}

pub(crate) fn action(action: HookAction) -> HookResponse {
    HookResponse { action: action.into(), ..HookResponse::default() }
}

pub(crate) fn block(reason: &str) -> HookResponse {
    HookResponse { reason: Some(reason.to_owned()), ..action(HookAction::Block) }
}

/// A hook for tool calls.
pub(crate) fn pre_tool_use(hook_id: &str) -> RegisterHookRequest {
    RegisterHookRequest {
        event_type: "PreToolUse".to_owned(),
        hook_id: hook_id.to_owned(),
        ..RegisterHookRequest::default()
    }
}

/// A hook for tool calls whose failure blocks.
pub(crate) fn guard(hook_id: &str, timeout_ms: i32) -> RegisterHookRequest {
    let config =
        HookConfig { timeout_ms, fail_behavior: "block".to_owned(), ..HookConfig::default() };
    RegisterHookRequest { config: Some(config), ..pre_tool_use(hook_id) }
}

pub(crate) fn before_tool(command: &str, id: &str) -> Value {
    json!({
        "type": "hook-execution-request", "eventName": "BeforeTool", "correlationId": id,
        "input": {"tool_name": "run_shell_command", "tool_input": {"command": command}},
    })
}

pub(crate) fn request_of(request: &Value) -> HookExecutionRequest {
    HookExecutionRequest::from_json(&request.to_string())
}

pub(crate) fn decision(response: &Value) -> &str {
    response["processed"]["decision"].as_str().unwrap()
}
