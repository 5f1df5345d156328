//! The triggers of one client. They run here, by [`crate::triggers`]; the client runs the tools,
//! calls the models and asks the user when it is called back.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, Stream};
use hook_json::{RawJson, RawObject, TooDeep};
use hook_protocol::HostContext;
use hook_run::{HostCallError, HostServices};
use tokio::sync::{SetOnce, mpsc, oneshot};

use super::live::ErrorReply;
use super::services::Services;
use super::trigger::{
    Call, TRIGGER, Trigger, TriggerCall, TriggerError, chunk_line, error_line, result_line,
};
use crate::bus::BusClient;
use crate::client_hooks::ClientHooks;
use crate::handler::deadline_passed;
use crate::host::{AgentHost, Approval, ApprovalRequest};
use crate::system::HookSystem;
use crate::triggers::{
    ChunkHooks, Continuations, ModelCall, ModelChunk, ToolResult, call_model_with_hooks,
    execute_tool_with_hooks, fire_after_agent_hook, fire_before_agent_hook, fire_lifecycle_hook,
};

/// The maximum number of triggers of one client at once.
const MAX_TRIGGERS: usize = 4_096;

/// The maximum size of one client's triggers with their chunks, in bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The size of a chunk beside its text, in bytes.
const CHUNK_OVERHEAD: usize = 64;

/// The maximum number of chunks for the display that wait for the connection.
const MAX_CHUNKS: usize = 16;

/// The maximum number of sessions kept; the one used longest ago is removed first.
const MAX_SESSIONS: usize = 256;

/// The service for approvals by the user, which a client must offer.
const APPROVE: &str = "user.approve";

/// The triggers of one client.
pub(super) struct Triggers {
    running: HashMap<Arc<str>, RunningTrigger>,
    /// The size of all running ones.
    bytes: usize,
    /// The last used sessions.
    sessions: VecDeque<(Arc<str>, Arc<Continuations>)>,
    /// Lines with chunks for the display.
    chunks: (mpsc::Sender<Vec<u8>>, mpsc::Receiver<Vec<u8>>),
}

struct RunningTrigger {
    end: Arc<SetOnce<TriggerError>>,
    /// Takes the chunks of its model's answer. Its size is limited by [`MAX_BYTES`].
    chunks: mpsc::UnboundedSender<RawJson>,
    bytes: usize,
}

/// A trigger that is over.
pub(super) struct TriggerEnd {
    pub(super) id: Arc<str>,
    /// The line with its result.
    pub(super) line: Vec<u8>,
}

impl Default for Triggers {
    fn default() -> Self {
        Self {
            running: HashMap::new(),
            bytes: 0,
            sessions: VecDeque::new(),
            chunks: mpsc::channel(MAX_CHUNKS),
        }
    }
}

impl Triggers {
    /// Accepts a trigger; returns its run, or the line that refuses it.
    pub(super) fn start(
        &mut self,
        trigger: Trigger,
        system: &HookSystem,
        client: &BusClient,
        services: &Services,
    ) -> Result<BoxFuture<'static, TriggerEnd>, Vec<u8>> {
        let Trigger { id, deadline, run_token, max_continuations, base, extra, call, bytes } =
            trigger;
        if self.running.contains_key(&id) {
            let problem = "a trigger of this client has this id and is not over";
            return Err(ErrorReply::duplicate_id(TRIGGER, "triggerId", problem).to_line());
        }
        if self.running.len() >= MAX_TRIGGERS || self.bytes >= MAX_BYTES {
            return Err(error_line(&id, &limit_exceeded()));
        }
        let defaults = system.handler().host();
        let context = HostContext {
            session_id: base.session_id.unwrap_or_else(|| defaults.session_id.clone()),
            cwd: base.cwd.unwrap_or_else(|| defaults.cwd.clone()),
            transcript_path: base
                .transcript_path
                .unwrap_or_else(|| defaults.transcript_path.clone()),
        };
        let continuations = self.session(&context.session_id);
        let offered = services.offered();
        let asks_user = offered.offers(APPROVE);
        let hooks = ClientHooks {
            client: client.clone(),
            services: offered,
            context,
            extra,
            run_token,
            deadline: deadline.or(system.handler().deadline()),
        };
        let (chunks, received_chunks) = mpsc::unbounded_channel();
        let caller = Caller {
            trigger: Arc::clone(&id),
            calls: services.trigger_calls(),
            chunks: self.chunks.0.clone(),
            end: Arc::default(),
        };
        let mut host = AgentHost::client(hooks, continuations);
        if let Some(max) = max_continuations {
            host = host.max_continuations(max);
        }
        if asks_user {
            let caller = caller.clone();
            host = host.approver(move |request| caller.clone().approve(request));
        }
        let end = Arc::clone(&caller.end);
        self.bytes += bytes;
        self.running.insert(Arc::clone(&id), RunningTrigger { end, chunks, bytes });
        let ends_at = deadline.and_then(|after| Instant::now().checked_add(after));
        Ok(async move {
            let run = AssertUnwindSafe(caller.run(call, &host, received_chunks)).catch_unwind();
            let line = tokio::select! {
                biased;
                error = caller.end.wait() => Err(error.clone()),
                () = deadline_passed(ends_at) => {
                    let message = "the trigger's deadline passed before it was over";
                    Err(TriggerError::new("deadline_exceeded", message))
                }
                result = run => result.unwrap_or_else(|_| {
                    Err(TriggerError::new("internal_error", "a panic in running the trigger"))
                }),
            };
            TriggerEnd { line: line.unwrap_or_else(|error| error_line(&id, &error)), id }
        }
        .boxed())
    }

    /// Returns what is known of a session.
    fn session(&mut self, id: &Arc<str>) -> Arc<Continuations> {
        let known = self.sessions.iter().position(|(known, _)| known == id);
        let session = known.and_then(|index| self.sessions.remove(index));
        let (id, continuations) = session.unwrap_or_else(|| (Arc::clone(id), Arc::default()));
        if self.sessions.len() >= MAX_SESSIONS {
            self.sessions.pop_front();
        }
        self.sessions.push_back((id, Arc::clone(&continuations)));
        continuations
    }

    /// Passes on a chunk of a model's answer. Returns `false` if nothing waits for it.
    pub(super) fn feed(&mut self, id: &str, chunk: RawJson) -> bool {
        let Some(trigger) = self.running.get_mut(id) else { return false };
        let bytes = chunk.as_str().len() + CHUNK_OVERHEAD;
        if self.bytes + bytes > MAX_BYTES {
            // Without the chunk the answer would be another one.
            let _ = trigger.end.set(limit_exceeded());
            return true;
        }
        trigger.bytes += bytes;
        self.bytes += bytes;
        trigger.chunks.send(chunk).is_ok()
    }

    /// Cancels a trigger, if it is not over.
    pub(super) fn cancel(&mut self, id: &str) {
        if let Some(trigger) = self.running.get(id) {
            let _ = trigger.end.set(TriggerError::new("cancelled", "the client cancelled it"));
        }
    }

    /// Ends all triggers.
    pub(super) fn end_all(&mut self, error: &TriggerError) {
        for trigger in self.running.values() {
            let _ = trigger.end.set(error.clone());
        }
    }

    /// Returns the next line with a chunk for the client's display; pending while there is none.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn next_chunk(&mut self) -> Vec<u8> {
        match self.chunks.1.recv().await {
            Some(line) => line,
            None => std::future::pending().await,
        }
    }

    /// Removes a trigger that is over.
    pub(super) fn remove(&mut self, id: &str) {
        if let Some(trigger) = self.running.remove(id) {
            self.bytes -= trigger.bytes;
        }
    }
}

fn limit_exceeded() -> TriggerError {
    let megabytes = MAX_BYTES / (1024 * 1024);
    let message = format!(
        "a client has at most {MAX_TRIGGERS} triggers at once, of {megabytes} MiB with their chunks; \
         wait for the result of another one"
    );
    TriggerError::new("limit_exceeded", message)
}

/// A trigger as the caller of its client.
#[derive(Clone)]
struct Caller {
    trigger: Arc<str>,
    calls: mpsc::Sender<TriggerCall>,
    chunks: mpsc::Sender<Vec<u8>>,
    /// The reason why the trigger ends without an outcome.
    end: Arc<SetOnce<TriggerError>>,
}

impl Caller {
    /// Runs the trigger; returns the line with its outcome.
    async fn run(
        &self,
        call: Call,
        host: &AgentHost,
        chunks: mpsc::UnboundedReceiver<RawJson>,
    ) -> Result<Vec<u8>, TriggerError> {
        let outcome = match call {
            Call::Tool(call) => {
                let run = |input: RawObject| self.run_tool(input);
                let result = execute_tool_with_hooks(host, *call, run).await;
                RawObject::build(|out| result.write_outcome(out))
            }
            Call::Model(call, hooks) => self.run_model(*call, hooks, host, chunks).await?,
            Call::Prompt(input) => {
                let result = fire_before_agent_hook(host, input).await;
                RawObject::build(|out| result.write_outcome(out))
            }
            Call::TurnEnd(input) => {
                let result = fire_after_agent_hook(host, input).await;
                RawObject::build(|out| result.write_outcome(out))
            }
            Call::Lifecycle(input) => {
                let result = fire_lifecycle_hook(host, *input).await;
                RawObject::build(|out| result.write_outcome(out))
            }
        };
        Ok(result_line(&self.trigger, &outcome)?)
    }

    async fn run_model(
        &self,
        call: ModelCall,
        hooks: ChunkHooks,
        host: &AgentHost,
        chunks: mpsc::UnboundedReceiver<RawJson>,
    ) -> Result<RawObject, TriggerError> {
        let call_model = |request: RawObject| {
            let params = RawObject::build(|params| {
                params.raw("request", request.as_raw());
                params.bool("inspected", hooks == ChunkHooks::Each);
            });
            let call = self.call("model.call", params).boxed();
            futures::future::ok(ModelStream { chunks, call: Some(call), error: None }.into_stream())
        };
        let mut answer = call_model_with_hooks(host, call, hooks, call_model).await;
        let mut broken = None;
        while let Some(part) = answer.next().await {
            match part {
                // The client has shown it already.
                Ok(ModelChunk::Chunk(_)) if hooks == ChunkHooks::Complete => {}
                Ok(part) => {
                    let line = chunk_line(&self.trigger, &part)?;
                    if self.chunks.send(line).await.is_err() {
                        return self.disconnected().await;
                    }
                }
                Err(error) => broken = Some(error),
            }
        }
        let finished = answer.finish().await;
        let result = finished.map_err(|error| TriggerError::new("internal_error", error))?;
        Ok(RawObject::build(|out| {
            result.write_outcome(out);
            out.optional_text("reason", broken.as_deref());
        }))
    }

    async fn run_tool(&self, input: RawObject) -> ToolResult {
        let params = RawObject::build(|params| params.raw("tool_input", input.as_raw()));
        match self.call("tool.run", params).await {
            Ok(result) => ToolResult::read(&result).unwrap_or_else(|| {
                ToolResult::failed(
                    "the agent's result of the tool has no `llmContent` that is a text or a list of \
                     parts",
                )
            }),
            Err(error) => ToolResult::failed(error.to_string()),
        }
    }

    async fn approve(self, request: ApprovalRequest) -> Approval {
        let params = RawObject::build(|params| {
            params.text("eventName", request.event.as_str());
            params.text("subject", &request.subject);
            if let Some(input) = &request.input {
                params.raw("input", input);
            }
            params.text("reason", &request.reason);
        });
        let refused = |reason| Approval::Refused { reason };
        match self.call(APPROVE, params).await {
            Ok(result) if result.to_bool() == Some(true) => Approval::Granted,
            Ok(result) => {
                let fields = result.to_object().unwrap_or_default();
                refused(fields.get("refused").and_then(RawJson::to_text))
            }
            Err(error) => refused(Some(error.to_string())),
        }
    }

    /// Calls the client. Never returns if the client cannot answer: then the trigger ends.
    async fn call(
        &self,
        method: &'static str,
        params: RawObject,
    ) -> Result<RawJson, HostCallError> {
        if let Err(error) = TooDeep::check("params", params.as_raw()) {
            let _ = self.end.set(error.into());
            return std::future::pending().await;
        }
        let (answer, result) = oneshot::channel();
        let call = TriggerCall { trigger: Arc::clone(&self.trigger), method, params, answer };
        if self.calls.send(call).await.is_ok()
            && let Ok(result) = result.await
        {
            return result;
        }
        self.disconnected().await
    }

    /// Ends the trigger, since its client cannot be called.
    async fn disconnected<T>(&self) -> T {
        let message = "the client ended its input, so it cannot be called";
        let _ = self.end.set(TriggerError::new("cancelled", message));
        std::future::pending().await
    }
}

/// The answer of a model that the client calls: its chunks, until the call is over.
struct ModelStream<'c> {
    chunks: mpsc::UnboundedReceiver<RawJson>,
    call: Option<BoxFuture<'c, Result<RawJson, HostCallError>>>,
    error: Option<HostCallError>,
}

impl<'c> ModelStream<'c> {
    fn into_stream(self) -> impl Stream<Item = Result<RawObject, String>> + Send + 'c {
        stream::unfold(self, |mut answer| async move {
            let next = answer.next().await?;
            Some((next, answer))
        })
    }

    async fn next(&mut self) -> Option<Result<RawObject, String>> {
        let chunk = match &mut self.call {
            None => None,
            Some(call) => tokio::select! {
                biased;
                Some(chunk) = self.chunks.recv() => Some(chunk),
                result = call => {
                    self.call = None;
                    self.error = result.err();
                    None
                }
            },
        };
        match chunk.or_else(|| self.chunks.try_recv().ok()) {
            Some(chunk) => Some(RawObject::try_from(chunk).map_err(|other| {
                format!("a chunk of the model's answer: expected an object, found {}", other.kind())
            })),
            None => self.error.take().map(|error| Err(error.to_string())),
        }
    }
}
