//! A complete model call with its hooks, whose answer is streamed (reference/answers.md).
//!
//! Chunks are passed on as they arrive, and AfterModel fires once, on the complete answer, after it
//! was displayed. To redact before display, use [`ChunkHooks::Each`], which runs every AfterModel
//! hook for each chunk that shows text, while the stream waits (seed 000 §11.1).

use std::future::Future;

use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use hook_json::text::OneLine;
use hook_json::{RawJson, RawObject, keywords};
use hook_protocol::{AfterModelInput, RequestInput};
use hook_translate::{
    from_stable_chunk, join_chunks, repeats_text, to_stable_chunk, to_stable_request,
};

use tokio::time::Instant;

use super::advice::add_warnings;
use super::model::{
    AfterModelDecision, AfterModelHookResult, BeforeModelDecision, ModelCall, add_context,
    error_response, fire_after_model_hook, fire_before_model_hook, fire_before_tool_selection_hook,
    fire_on_response,
};
use crate::host::AgentHost;

keywords! {
    /// The parts of an answer that AfterModel hooks see.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum ChunkHooks {
        /// Only the complete answer.
        #[default]
        Complete = "complete",
        /// Each chunk that shows text, before it is passed on, and then the complete answer. The
        /// field `chunk_index` in a hook's input marks a chunk. Events that only repeat text (some
        /// SDKs end with them) are not passed on; their content is in the complete answer.
        Each = "each",
    }
}

/// A part of an answer, for the display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChunk {
    /// A chunk of the stream.
    Chunk(RawObject),
    /// A hook's complete response: instead of the call, or of the rest of the stream.
    Complete(RawObject),
}

/// The outcome of a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelVerdict {
    /// The model was called and its answer counts, perhaps changed.
    Called,
    /// The model was not called; a hook answered instead.
    Answered,
    /// A hook blocked the call, or the answer.
    Blocked {
        /// The reason.
        reason: String,
        /// `true` if the model was called before.
        called: bool,
    },
    /// The agent is to stop.
    Stopped {
        /// The reason.
        reason: String,
        /// `true` if the model was called before.
        called: bool,
    },
    /// The stream broke off (its error was passed on), or its chunks made no response: no hook saw
    /// the complete answer.
    Interrupted,
}

/// The result of a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCallResult {
    /// The complete response to use, in the SDK's format without streaming. `None` if the stream
    /// broke off, or its chunks made no response.
    pub response: Option<RawObject>,
    /// The outcome.
    pub verdict: ModelVerdict,
    /// The reason to allow no tool, if a hook blocked the selection.
    pub tools_withheld: Option<String>,
    /// The hooks' text for the model that was not in this request; it belongs into the next.
    pub for_next_request: Option<String>,
    /// The hooks' text for the user.
    pub for_user: Option<String>,
    /// Hides the answer from the display.
    pub suppress_output: bool,
    /// Warnings for the agent's user about hooks, and about outputs that could not be used.
    pub warnings: Vec<String>,
}

/// A model's answer being received, with hooks around it.
#[must_use = "the AfterModel hooks run in `finish`"]
pub struct ModelAnswer<'a, E> {
    host: &'a AgentHost,
    /// The call as it was made.
    call: ModelCall,
    hooks: ChunkHooks,
    source: AnswerSource<'a, E>,
    /// The time when the answer was first awaited.
    started_at: Option<Instant>,
    /// The request as chunk hooks see it, translated for the first chunk.
    stable_request: Option<RawObject>,
    chunks: Vec<RawObject>,
    /// The chunk that hooks are inspecting; kept if the caller stops waiting.
    inspected: Option<RawObject>,
    result: ModelCallResult,
}

enum AnswerSource<'a, E> {
    Stream(BoxStream<'a, Result<RawObject, E>>),
    /// A hook's response, not passed on yet.
    Complete(RawObject),
    Ended,
}

/// Calls a model with hooks: tool selection, BeforeModel, the call with the resulting request,
/// AfterModel.
///
/// `call_model` is called at most once, and its future is awaited when the answer is first read. It
/// returns the stream of the SDK's chunks; a call without streaming is a stream of one. An error of
/// the call counts as one of the stream.
/// ```
/// use futures::stream;
/// use hook_bus::triggers::{ChunkHooks, ModelCall, call_model_with_hooks};
/// use hook_bus::{AgentHost, HookSystem, Sdk};
/// use hook_json::{RawJson, RawObject, keywords};
/// # fn object(text: &str) -> RawObject { RawJson::parse(text).unwrap().try_into().unwrap() }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), std::io::Error> {
///
/// let host = AgentHost::new(HookSystem::builder("."));
/// let call = ModelCall::new(Sdk::GenAi, object(r#"{"model":"m","contents":"Hi"}"#));
/// let chunk = object(r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]}}]}"#);
///
/// let chunks = stream::iter([Ok(chunk.clone())]);
/// let provider = async |_request| Ok::<_, std::io::Error>(chunks);
/// let mut answer = call_model_with_hooks(&host, call, ChunkHooks::Complete, provider).await;
/// while let Some(chunk) = answer.next().await {
///     let _to_display = chunk?;
/// }
/// let result = answer.finish().await?;
/// assert_eq!(result.response, Some(chunk));
/// # Ok(())
/// # }
/// ```
pub async fn call_model_with_hooks<'a, F, S, E>(
    host: &'a AgentHost,
    mut call: ModelCall,
    hooks: ChunkHooks,
    call_model: impl FnOnce(RawObject) -> F,
) -> ModelAnswer<'a, E>
where
    F: Future<Output = Result<S, E>> + Send + 'a,
    S: Stream<Item = Result<RawObject, E>> + Send + 'a,
{
    let mut result = ModelCallResult {
        response: None,
        verdict: ModelVerdict::Called,
        tools_withheld: None,
        for_next_request: None,
        for_user: None,
        suppress_output: false,
        warnings: Vec::new(),
    };
    call.request = add_context(&call, &mut result.warnings);
    let selected = fire_before_tool_selection_hook(host, &call).await;
    result.add_advice(selected.advice.for_user, selected.advice.suppress_output, selected.warnings);
    call.request = selected.request;
    result.tools_withheld = selected.withheld;
    let hook_answer = |response: RawObject, verdict, result: ModelCallResult, call| ModelAnswer {
        host,
        call,
        hooks,
        source: AnswerSource::Complete(response.clone()),
        started_at: None,
        stable_request: None,
        chunks: Vec::new(),
        inspected: None,
        result: ModelCallResult { response: Some(response), verdict, ..result },
    };
    let verdict = match (selected.stop, selected.block) {
        (Some(reason), _) => {
            Some((ModelVerdict::Stopped { reason: reason.clone(), called: false }, reason))
        }
        (None, Some(reason)) => {
            Some((ModelVerdict::Blocked { reason: reason.clone(), called: false }, reason))
        }
        (None, None) => None,
    };
    if let Some((verdict, reason)) = verdict {
        let response = error_response(call.sdk(), &reason);
        append_text(&mut result.for_next_request, selected.advice.for_model);
        return hook_answer(response, verdict, result, call);
    }
    let before = fire_before_model_hook(host, &call).await;
    result.add_advice(before.advice.for_user, before.advice.suppress_output, before.warnings);
    if before.messages.is_some() {
        // They are in the agent's format, which differs from the SDK's.
        result.warnings.push(
            "a BeforeModel hook gave `messages`, which this agent does not use; `llm_request` changes \
             what the model is asked"
                .to_owned(),
        );
    }
    let (response, verdict) = match before.decision {
        BeforeModelDecision::Call { request } => {
            call.request = request.clone();
            let source =
                AnswerSource::Stream(stream::once(call_model(request)).try_flatten().boxed());
            let (stable_request, chunks, inspected) = (None, Vec::new(), None);
            return ModelAnswer {
                host,
                call,
                hooks,
                source,
                started_at: None,
                stable_request,
                chunks,
                inspected,
                result,
            };
        }
        BeforeModelDecision::Answer { response } => (response, ModelVerdict::Answered),
        BeforeModelDecision::Block { reason, response } => {
            (response, ModelVerdict::Blocked { reason, called: false })
        }
        BeforeModelDecision::Stop { reason, response } => {
            (response, ModelVerdict::Stopped { reason, called: false })
        }
    };
    for text in [selected.advice.for_model, before.advice.for_model] {
        append_text(&mut result.for_next_request, text);
    }
    hook_answer(response, verdict, result, call)
}

/// Appends a hook's text, unless it is there already: hooks of chunks repeat themselves.
fn append_text(text: &mut Option<String>, more: Option<String>) {
    let Some(more) = more else { return };
    let is_present = |existing: &str| {
        // Match complete paragraphs only.
        existing.match_indices(&more).any(|(start, _)| {
            let (before, after) = (&existing[..start], &existing[start + more.len()..]);
            (before.is_empty() || before.ends_with("\n\n"))
                && (after.is_empty() || after.starts_with("\n\n"))
        })
    };
    match text {
        Some(existing) if is_present(existing) => {}
        Some(existing) => {
            existing.push_str("\n\n");
            existing.push_str(&more);
        }
        None => *text = Some(more),
    }
}

impl ModelCallResult {
    fn add_advice(
        &mut self,
        for_user: Option<String>,
        suppress_output: bool,
        warnings: Vec<String>,
    ) {
        append_text(&mut self.for_user, for_user);
        self.suppress_output |= suppress_output;
        add_warnings(&mut self.warnings, warnings);
    }
}

impl<E> ModelAnswer<'_, E> {
    /// Returns the next part for the display; `None` at the end of the answer.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing. It cancels the hooks that were inspecting a chunk; the
    /// next call shows them the chunk again.
    ///
    /// # Errors
    /// The stream's error; the stream is over then.
    pub async fn next(&mut self) -> Option<Result<ModelChunk, E>> {
        loop {
            let next = match &mut self.source {
                AnswerSource::Stream(_) if self.inspected.is_some() => {
                    self.inspected.take().map(Ok)
                }
                AnswerSource::Stream(stream) => {
                    self.started_at.get_or_insert_with(Instant::now);
                    stream.next().await
                }
                AnswerSource::Complete(response) => {
                    let response = response.clone();
                    self.source = AnswerSource::Ended;
                    return Some(Ok(ModelChunk::Complete(response)));
                }
                AnswerSource::Ended => return None,
            };
            let chunk = match next {
                Some(Ok(chunk)) => chunk,
                Some(Err(error)) => {
                    self.source = AnswerSource::Ended;
                    self.result.verdict = ModelVerdict::Interrupted;
                    return Some(Err(error));
                }
                None => {
                    self.source = AnswerSource::Ended;
                    self.call.duration = self.started_at.map(|started| started.elapsed());
                    return None;
                }
            };
            if self.hooks == ChunkHooks::Complete {
                self.chunks.push(chunk.clone());
                return Some(Ok(ModelChunk::Chunk(chunk)));
            }
            if self.call.sdk().is_ok_and(|sdk| repeats_text(sdk, &chunk)) {
                self.chunks.push(chunk);
                continue;
            }
            self.inspected = Some(chunk.clone());
            let chunk = self.run_chunk_hooks(chunk).await;
            self.inspected = None;
            if let ModelChunk::Chunk(chunk) = &chunk {
                self.chunks.push(chunk.clone());
            }
            return Some(Ok(chunk));
        }
    }

    /// Fires AfterModel for one chunk.
    async fn run_chunk_hooks(&mut self, chunk: RawObject) -> ModelChunk {
        let sdk = self.call.sdk();
        let stable = sdk.clone().and_then(|sdk| {
            let Some(response) = to_stable_chunk(sdk, &chunk)? else { return Ok(None) };
            let request = match &self.stable_request {
                Some(request) => request.clone(),
                None => to_stable_request(sdk, &self.call.request)?.value,
            };
            Ok(Some((request, response.value)))
        });
        let mut input = match stable {
            // The chunk displays no text.
            Ok(None) => return ModelChunk::Chunk(chunk),
            Ok(Some((llm_request, llm_response))) => {
                self.stable_request = Some(llm_request.clone());
                let mut input = RequestInput::from(AfterModelInput::new(llm_request, llm_response));
                input.extra.insert("sdk", RawJson::from_text("stable"));
                input
            }
            // The engine finds the same error, reports it on the bus, and blocks if a hook has
            // `failBehavior: block`.
            Err(_) => {
                let (llm_request, llm_response) = (self.call.request.clone(), chunk.clone());
                self.call.input(AfterModelInput::new(llm_request, llm_response))
            }
        };
        input.extra.insert("chunk", RawJson::from_bool(true));
        input.extra.insert("chunk_index", RawJson::from_u64(self.chunks.len() as u64));
        let apply_changes = |answer: &RawObject| from_stable_chunk(sdk.clone()?, answer, &chunk);
        let block_response = |reason: &str| error_response(sdk.clone(), reason);
        let after = fire_on_response(self.host, input, &chunk, apply_changes, block_response).await;
        let is_blocked = matches!(after.decision, AfterModelDecision::Block { .. });
        let response = self.apply_result(after);
        match is_blocked {
            true => {
                self.result.response = Some(response.clone());
                ModelChunk::Complete(response)
            }
            false => ModelChunk::Chunk(response),
        }
    }

    /// Applies the results of AfterModel hooks. A block or stop ends the stream.
    fn apply_result(&mut self, after: AfterModelHookResult) -> RawObject {
        let AfterModelHookResult { decision, response, advice, warnings } = after;
        self.result.add_advice(advice.for_user, advice.suppress_output, warnings);
        append_text(&mut self.result.for_next_request, advice.for_model);
        let is_stopped = matches!(self.result.verdict, ModelVerdict::Stopped { .. });
        let verdict = match decision {
            AfterModelDecision::Use => return response,
            AfterModelDecision::Block { reason } => ModelVerdict::Blocked { reason, called: true },
            AfterModelDecision::Stop { reason } => ModelVerdict::Stopped { reason, called: true },
        };
        // A stop must not become a block.
        if !is_stopped {
            self.result.verdict = verdict;
        }
        self.source = AnswerSource::Ended;
        response
    }

    /// Reads the rest of the answer, fires AfterModel on the complete answer, and returns the
    /// result.
    ///
    /// # Errors
    /// The stream's error.
    pub async fn finish(mut self) -> Result<ModelCallResult, E> {
        while let Some(chunk) = self.next().await {
            chunk?;
        }
        let is_open = matches!(
            self.result.verdict,
            ModelVerdict::Called | ModelVerdict::Stopped { called: true, .. }
        );
        if !is_open || self.chunks.is_empty() {
            return Ok(self.result);
        }
        let joined = self.call.sdk().and_then(|sdk| join_chunks(sdk, &self.chunks));
        match joined {
            Ok(joined) => {
                self.result.warnings.extend(joined.warnings.iter().map(ToString::to_string));
                let after = fire_after_model_hook(self.host, &self.call, &joined.value).await;
                let response = self.apply_result(after);
                self.result.response = Some(response);
            }
            Err(error) if self.host.has_hooks() => {
                let warning =
                    format!("the chunks of an answer made no response for hooks: {error}");
                tracing::warn!(target: "hook::event", "{}", OneLine(&warning));
                self.result.warnings.push(warning);
                self.result.verdict = ModelVerdict::Interrupted;
            }
            // Hooks are off, so no hook would have seen it.
            Err(_) => {}
        }
        Ok(self.result)
    }
}

impl<E> std::fmt::Debug for ModelAnswer<'_, E> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ModelAnswer")
            .field("chunks", &self.chunks.len())
            .field("verdict", &self.result.verdict)
            .finish_non_exhaustive()
    }
}
