//! Triggers around a model call: the tools it may use, the call and its request, and the answer
//! (reference/answers.md). Requests and responses are in the format of the caller's SDK; hooks see and
//! return the stable form (docs/model-sdks.md).

use std::time::Duration;

use hook_json::text::OneLine;
use hook_json::{JsonArray, RawJson, RawObject};
use hook_protocol::event::output::{
    AfterModelOutput, BeforeModelOutput, BeforeToolSelectionOutput,
};
use hook_protocol::{
    AfterModelInput, BeforeModelInput, BeforeToolSelectionInput, EventPayload, HookEventName,
    LlmRequest, PolicyDecision, RequestInput, ToolConfig,
};
use hook_translate::{
    Sdk, TranslateError, Translated, from_stable_request, from_stable_response, to_stable_request,
};

use super::advice::HookAdvice;
use crate::host::{AgentHost, ApprovalRequest};

/// A model call that the agent is about to make.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The SDK of the request; `None` to detect it (docs/model-sdks.md).
    pub sdk: Option<Sdk>,
    /// The request, in the SDK's format.
    pub request: RawObject,
    /// The available tools as an array, for hooks that choose among them.
    pub available_tools: Option<JsonArray>,
    /// The conversation in the agent's own format, for hooks that need more than the stable form.
    pub messages: Option<JsonArray>,
    /// The prompt of the call.
    pub prompt: Option<String>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// Text of earlier hooks for the model: [`call_model_with_hooks`] appends it to the request as
    /// its last message, which hooks see like the others.
    ///
    /// [`call_model_with_hooks`]: super::call_model_with_hooks
    pub context: Option<String>,
    /// The duration of the call, once it was made: for AfterModel hooks.
    pub duration: Option<Duration>,
}

impl ModelCall {
    /// Creates a call of an SDK.
    pub fn new(sdk: Sdk, request: RawObject) -> Self {
        Self {
            sdk: Some(sdk),
            request,
            available_tools: None,
            messages: None,
            prompt: None,
            system_prompt: None,
            context: None,
            duration: None,
        }
    }

    /// Returns the SDK of the request.
    pub(crate) fn sdk(&self) -> Result<Sdk, TranslateError> {
        Sdk::of_request(self.sdk.map(Sdk::as_str), &self.request)
    }

    pub(super) fn input(&self, payload: impl Into<EventPayload>) -> RequestInput {
        let mut input = RequestInput::from(payload);
        if let Some(sdk) = self.sdk {
            input.extra.insert("sdk", RawJson::from_text(sdk.as_str()));
        }
        input
    }
}

/// Returns a translation of the hooks' output. If it fails, the previous value is used and a
/// warning added.
fn translated_or(
    what: &'static str,
    result: Result<Translated, TranslateError>,
    fallback: impl FnOnce() -> RawObject,
    warnings: &mut Vec<String>,
) -> RawObject {
    usable_value(what, result, warnings).unwrap_or_else(fallback)
}

fn usable_value(
    what: &'static str,
    result: Result<Translated, TranslateError>,
    warnings: &mut Vec<String>,
) -> Option<RawObject> {
    let problem = match result {
        Ok(translated) => {
            warnings.extend(translated.warnings.iter().map(ToString::to_string));
            return Some(translated.value);
        }
        Err(error) => format!("what hooks made of the {what} could not be used: {error}"),
    };
    tracing::warn!(target: "hook::event", "{}", OneLine(&problem));
    warnings.push(problem);
    None
}

fn approval(event: HookEventName, body: &RawObject, reason: String) -> ApprovalRequest {
    ApprovalRequest { event, subject: String::new(), input: Some(body.clone().into()), reason }
}

/// Returns a response with the reason that there is no other.
pub(crate) fn error_response(sdk: Result<Sdk, TranslateError>, reason: &str) -> RawObject {
    let stable = RawObject::build(|response| response.text("text", reason));
    sdk.and_then(|sdk| from_stable_response(sdk, &stable, None))
        .map_or(stable, |translated| translated.value)
}

/// The results of BeforeToolSelection hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeToolSelectionHookResult {
    /// The request, with the tools as narrowed by hooks.
    pub request: RawObject,
    /// The hooks' tool configuration; `None` if they did not narrow the tools.
    pub tool_config: Option<ToolConfig>,
    /// The reason to allow no tool, if a hook blocks the selection.
    pub withheld: Option<String>,
    /// The reason to stop the agent, if it is to stop.
    pub stop: Option<String>,
    /// The reason not to make the call: no tool is allowed, but the request cannot express that.
    pub block: Option<String>,
    /// The hooks' other texts; the text for the model is in the request already.
    pub advice: HookAdvice,
    /// Warnings for the agent's user about hooks, and about outputs that the SDK's request cannot
    /// express.
    pub warnings: Vec<String>,
}

/// Fires BeforeToolSelection, whose hooks can narrow the tools of the call.
pub async fn fire_before_tool_selection_hook(
    host: &AgentHost,
    call: &ModelCall,
) -> BeforeToolSelectionHookResult {
    let mut result = BeforeToolSelectionHookResult {
        request: call.request.clone(),
        tool_config: None,
        withheld: None,
        stop: None,
        block: None,
        advice: HookAdvice::default(),
        warnings: Vec::new(),
    };
    let mut input = BeforeToolSelectionInput::new(call.request.clone());
    input.available_tools.clone_from(&call.available_tools);
    let response = host.fire(call.input(input));
    let Some(processed) = response.await else { return result };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    result.advice = advice;
    result.warnings = processed.warnings;
    let approval = approval(HookEventName::BeforeToolSelection, &call.request, reason);
    let (decision, reason) = host.resolve_ask(processed.decision, approval).await;
    result.stop = (decision == PolicyDecision::Stop).then(|| reason.clone());
    result.withheld = (decision == PolicyDecision::Block).then(|| reason.clone());
    if processed.aggregated.all_outputs.is_empty() && decision != PolicyDecision::Block {
        // Without outputs the request need not be parsed.
        return result;
    }
    if let (Some(text), Ok(sdk)) = (&result.advice.for_model, call.sdk()) {
        let with_advice = with_message(sdk, &call.request, text);
        result.request =
            translated_or("message", with_advice, || call.request.clone(), &mut result.warnings);
    }
    let request = result.request.clone();
    let output = BeforeToolSelectionOutput::new(&processed.aggregated);
    let narrow = || -> Result<Option<(Translated, ToolConfig)>, TranslateError> {
        let sdk = call.sdk()?;
        let base = LlmRequest::read(&to_stable_request(sdk, &request)?.value)?;
        // A block without output, from a failure, allows no tools either.
        let narrowed_config = match decision == PolicyDecision::Block {
            true => Some(ToolConfig { mode: Some("NONE".to_owned()), ..ToolConfig::default() }),
            false => output.tool_config(&base.tool_config.unwrap_or_default()),
        };
        let Some(config) = narrowed_config else { return Ok(None) };
        let change = RawObject::build(|change| change.raw("toolConfig", config.to_raw().as_raw()));
        Ok(Some((from_stable_request(sdk, &change, Some(&request))?, config)))
    };
    let (changed, config) = match narrow() {
        Ok(Some((changed, config))) => (Ok(changed), Some(config)),
        Ok(None) => return result,
        Err(_) if decision == PolicyDecision::Block => {
            result.block = Some(reason);
            return result;
        }
        Err(error) => (Err(error), None),
    };
    result.tool_config = config;
    result.request = translated_or("tool config", changed, || request, &mut result.warnings);
    result
}

/// The decision about a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeModelDecision {
    /// The model is called with this request: the caller's, or as changed by hooks.
    Call {
        /// The request, in the SDK's format.
        request: RawObject,
    },
    /// The model is not called: a hook answered instead.
    Answer {
        /// The response, in the SDK's format.
        response: RawObject,
    },
    /// It is not called: a hook blocks it.
    Block {
        /// The reason.
        reason: String,
        /// The replacement of the response: the hook's own, or one with the reason.
        response: RawObject,
    },
    /// It is not called, and the agent is to stop.
    Stop {
        /// The reason.
        reason: String,
        /// The replacement of the response: the hook's own, or one with the reason.
        response: RawObject,
    },
}

/// The results of BeforeModel hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeModelHookResult {
    /// The decision about the call.
    pub decision: BeforeModelDecision,
    /// A hook's conversation for this call, in the agent's own format; it takes precedence over the
    /// request's.
    pub messages: Option<JsonArray>,
    /// The hooks' other texts. The text for the model is in the request already, if there is one;
    /// else it belongs into the next.
    pub advice: HookAdvice,
    /// Warnings for the agent's user about hooks, and about outputs that the SDK's request or
    /// response cannot express.
    pub warnings: Vec<String>,
}

/// Fires BeforeModel for a call.
///
/// The hooks' text for the model becomes the last message of the request, with the user's role, as
/// `[System] …`: not every SDK takes system messages in the middle of a conversation (seed 000
/// §6.2).
pub async fn fire_before_model_hook(host: &AgentHost, call: &ModelCall) -> BeforeModelHookResult {
    let request = call.request.clone();
    let mut input = BeforeModelInput::new(request.clone());
    input.messages.clone_from(&call.messages);
    input.prompt.clone_from(&call.prompt);
    input.system_prompt.clone_from(&call.system_prompt);
    input.tools.clone_from(&call.available_tools);
    let Some(processed) = host.fire(call.input(input)).await else {
        let decision = BeforeModelDecision::Call { request };
        return BeforeModelHookResult {
            decision,
            messages: None,
            advice: HookAdvice::default(),
            warnings: Vec::new(),
        };
    };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    let mut warnings = processed.warnings;
    let output = BeforeModelOutput::new(&processed.aggregated);
    let block_response = |reason: &str| error_response(call.sdk(), reason);
    let synthetic = output.synthetic_response().and_then(|response| {
        let response = call.sdk().and_then(|sdk| from_stable_response(sdk, &response, None));
        usable_value("response", response, &mut warnings)
    });
    let approval = approval(HookEventName::BeforeModel, &request, reason);
    let decision = match (host.resolve_ask(processed.decision, approval).await, synthetic) {
        ((PolicyDecision::Block | PolicyDecision::Retry, reason), synthetic) => {
            let response = synthetic.unwrap_or_else(|| block_response(&reason));
            BeforeModelDecision::Block { reason, response }
        }
        ((PolicyDecision::Stop, reason), synthetic) => {
            let response = synthetic.unwrap_or_else(|| block_response(&reason));
            BeforeModelDecision::Stop { reason, response }
        }
        (_, Some(response)) => BeforeModelDecision::Answer { response },
        ((PolicyDecision::Proceed | PolicyDecision::Ask, _), None) => {
            let mut request = request;
            if let Some(changes) = output.modified_llm_request(&RawObject::empty()) {
                let changed = call
                    .sdk()
                    .and_then(|sdk| from_stable_request(sdk, &changes, Some(&call.request)));
                request = translated_or("request", changed, || call.request.clone(), &mut warnings);
            }
            if let Some(text) = &advice.for_model {
                let with_advice = call.sdk().and_then(|sdk| with_message(sdk, &request, text));
                request = translated_or("message", with_advice, || request.clone(), &mut warnings);
            }
            BeforeModelDecision::Call { request }
        }
    };
    BeforeModelHookResult { decision, messages: output.messages(), advice, warnings }
}

/// Returns a call's request with its context.
pub(super) fn add_context(call: &ModelCall, warnings: &mut Vec<String>) -> RawObject {
    let request = || call.request.clone();
    let Some(context) = &call.context else { return request() };
    let with_context = call.sdk().and_then(|sdk| with_message(sdk, &call.request, context));
    translated_or("context", with_context, request, warnings)
}

/// Appends a message to a request.
fn with_message(sdk: Sdk, request: &RawObject, text: &str) -> Result<Translated, TranslateError> {
    let stable_fields = to_stable_request(sdk, request)?.value.fields();
    let mut messages =
        stable_fields.get("messages").and_then(RawJson::to_items).unwrap_or_default();
    messages.push(
        RawObject::build(|message| {
            message.text("role", "user");
            message.text("content", text);
        })
        .into(),
    );
    let change = RawObject::build(|change| change.raw("messages", &RawJson::from_items(&messages)));
    from_stable_request(sdk, &change, Some(request))
}

/// The decision about a model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterModelDecision {
    /// It is used, as it is or as changed by hooks.
    Use,
    /// A hook blocks it; the response has the reason.
    Block {
        /// The reason.
        reason: String,
    },
    /// The agent is to stop.
    Stop {
        /// The reason.
        reason: String,
    },
}

/// The results of AfterModel hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterModelHookResult {
    /// The decision about the answer.
    pub decision: AfterModelDecision,
    /// The response to use, in the SDK's format.
    pub response: RawObject,
    /// The hooks' other texts; the text for the model belongs into the next request.
    pub advice: HookAdvice,
    /// Warnings for the agent's user about hooks, and about outputs that the SDK's response cannot
    /// express.
    pub warnings: Vec<String>,
}

/// Fires AfterModel with a complete answer.
pub async fn fire_after_model_hook(
    host: &AgentHost,
    call: &ModelCall,
    response: &RawObject,
) -> AfterModelHookResult {
    let mut input_payload = AfterModelInput::new(call.request.clone(), response.clone());
    input_payload.prompt.clone_from(&call.prompt);
    let milliseconds =
        |elapsed: Duration| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).into();
    input_payload.duration_ms = call.duration.map(milliseconds);
    let input = call.input(input_payload);
    let apply_changes =
        |answer: &RawObject| from_stable_response(call.sdk()?, answer, Some(response));
    let block_response = |reason: &str| error_response(call.sdk(), reason);
    fire_on_response(host, input, response, apply_changes, block_response).await
}

/// Fires AfterModel and applies the hooks' outputs to the response, or to a chunk of it.
pub(super) async fn fire_on_response(
    host: &AgentHost,
    input: RequestInput,
    response: &RawObject,
    apply_changes: impl FnOnce(&RawObject) -> Result<Translated, TranslateError>,
    block_response: impl FnOnce(&str) -> RawObject,
) -> AfterModelHookResult {
    let mut result = AfterModelHookResult {
        decision: AfterModelDecision::Use,
        response: response.clone(),
        advice: HookAdvice::default(),
        warnings: Vec::new(),
    };
    let Some(processed) = host.fire(input).await else { return result };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    result.advice = advice;
    result.warnings = processed.warnings;
    let approval = approval(HookEventName::AfterModel, response, reason);
    let (decision, reason) = host.resolve_ask(processed.decision, approval).await;
    if decision == PolicyDecision::Block {
        result.response = block_response(&reason);
        result.decision = AfterModelDecision::Block { reason };
        return result;
    }
    if let Some(answer) = AfterModelOutput::new(&processed.aggregated).modified_response() {
        let original = || response.clone();
        result.response =
            translated_or("response", apply_changes(&answer), original, &mut result.warnings);
    }
    if decision == PolicyDecision::Stop {
        result.decision = AfterModelDecision::Stop { reason };
    }
    result
}
