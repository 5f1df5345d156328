//! Around a model call: which tools it may use, whether and with what it is made, and what becomes
//! of the answer (protocol.md §8). Requests and responses are those of the caller's SDK; what
//! hooks see and say is the stable form (§7).

use std::time::Duration;

use hook_core::event::output::{AfterModelOutput, BeforeModelOutput, BeforeToolSelectionOutput};
use hook_core::text::OneLine;
use hook_core::{
    AfterModelInput, BeforeModelInput, BeforeToolSelectionInput, EventPayload, HookEventName,
    JsonArray, LlmRequest, PolicyDecision, RawJson, RawObject, RequestInput, ToolConfig,
};
use hook_translate::{
    Sdk, TranslateError, Translated, from_stable_request, from_stable_response, to_stable_request,
};

use super::advice::HookAdvice;
use crate::host::{AgentHost, ApprovalRequest};

/// A call of a model that the agent is about to make.
#[derive(Debug, Clone)]
pub struct ModelCall {
    /// The SDK that the request is for; without it, the request must show it (protocol.md §7).
    pub sdk: Option<Sdk>,
    /// The request, as the SDK takes it.
    pub request: RawObject,
    /// The tools there are, for hooks that choose among them; an array.
    pub available_tools: Option<JsonArray>,
    /// The conversation in the agent's own shape, for hooks that want more than the stable form.
    pub messages: Option<JsonArray>,
    /// The prompt that the call is for.
    pub prompt: Option<String>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// How long the call took, once it was made: for AfterModel hooks.
    pub duration: Option<Duration>,
}

impl ModelCall {
    /// A call through an SDK.
    pub fn new(sdk: Sdk, request: RawObject) -> Self {
        Self {
            sdk: Some(sdk),
            request,
            available_tools: None,
            messages: None,
            prompt: None,
            system_prompt: None,
            duration: None,
        }
    }

    /// The SDK of the request.
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

/// A translation of what hooks said, or what there was before where that fails: a hook that answers
/// nonsense changes nothing, and it is said.
fn translated(
    what: &'static str,
    result: Result<Translated, TranslateError>,
    otherwise: impl FnOnce() -> RawObject,
    warnings: &mut Vec<String>,
) -> RawObject {
    usable(what, result, warnings).unwrap_or_else(otherwise)
}

fn usable(
    what: &'static str,
    result: Result<Translated, TranslateError>,
    warnings: &mut Vec<String>,
) -> Option<RawObject> {
    let said = match result {
        Ok(translated) => {
            warnings.extend(translated.warnings.iter().map(ToString::to_string));
            return Some(translated.value);
        }
        Err(error) => format!("what hooks made of the {what} could not be used: {error}"),
    };
    tracing::warn!(target: "hook::event", "{}", OneLine(&said));
    warnings.push(said);
    None
}

fn approval(event: HookEventName, body: &RawObject, reason: String) -> ApprovalRequest {
    ApprovalRequest { event, subject: String::new(), input: Some(body.clone().into()), reason }
}

/// A response that says why there is no other.
pub(crate) fn error_response(sdk: Result<Sdk, TranslateError>, reason: &str) -> RawObject {
    let stable = RawObject::of(|response| response.text("text", reason));
    sdk.and_then(|sdk| from_stable_response(sdk, &stable, None))
        .map_or(stable, |translated| translated.value)
}

/// What BeforeToolSelection hooks want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeToolSelectionHookResult {
    /// The request, with the tools narrowed where a hook narrowed them.
    pub request: RawObject,
    /// What the tools were narrowed to; `None` where no hook did.
    pub tool_config: Option<ToolConfig>,
    /// Why the model may call no tool, if a hook blocks the selection.
    pub withheld: Option<String>,
    /// Why the agent is to stop, if it is.
    pub stop: Option<String>,
    /// Why the call must not be made: no tool may be called, and the request could not be told so.
    pub block: Option<String>,
    /// What they say beside it; what is for the model is in the request already.
    pub advice: HookAdvice,
    /// What the agent should tell its user of its hooks, and what they gave that the SDK's request
    /// cannot take.
    pub warnings: Vec<String>,
}

/// Lets the BeforeToolSelection hooks narrow which tools the model may call.
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
    let fired = host.fire(call.input(input));
    let Some(processed) = fired.await else { return result };
    let (reason, advice) = HookAdvice::with_reason(&processed);
    result.advice = advice;
    result.warnings = processed.warnings;
    let approval = approval(HookEventName::BeforeToolSelection, &call.request, reason);
    let (decision, reason) = host.confirmed(processed.decision, approval).await;
    result.stop = (decision == PolicyDecision::Stop).then(|| reason.clone());
    result.withheld = (decision == PolicyDecision::Block).then(|| reason.clone());
    if processed.aggregated.all_outputs.is_empty() && decision != PolicyDecision::Block {
        // No hook said anything: the request need not be read.
        return result;
    }
    if let (Some(text), Ok(sdk)) = (&result.advice.for_model, call.sdk()) {
        let told = with_message(sdk, &call.request, text);
        result.request = translated("message", told, || call.request.clone(), &mut result.warnings);
    }
    let request = result.request.clone();
    let output = BeforeToolSelectionOutput::new(&processed.aggregated);
    let narrowed = || -> Result<Option<(Translated, ToolConfig)>, TranslateError> {
        let sdk = call.sdk()?;
        let base = LlmRequest::read(&to_stable_request(sdk, &request)?.value)?;
        // A hook that blocks for its failure said nothing, and means no tools, too.
        let narrowed = match decision == PolicyDecision::Block {
            true => Some(ToolConfig { mode: Some("NONE".to_owned()), ..ToolConfig::default() }),
            false => output.tool_config(&base.tool_config.unwrap_or_default()),
        };
        let Some(config) = narrowed else { return Ok(None) };
        let change = RawObject::of(|change| change.raw("toolConfig", config.to_raw().as_raw()));
        Ok(Some((from_stable_request(sdk, &change, Some(&request))?, config)))
    };
    let (changed, config) = match narrowed() {
        Ok(Some((changed, config))) => (Ok(changed), Some(config)),
        Ok(None) => return result,
        Err(_) if decision == PolicyDecision::Block => {
            result.block = Some(reason);
            return result;
        }
        Err(error) => (Err(error), None),
    };
    result.tool_config = config;
    result.request = translated("tool config", changed, || request, &mut result.warnings);
    result
}

/// Whether and with what the model is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeModelDecision {
    /// It is called with this request: the caller's, or what hooks made of it.
    Call {
        /// The request, as the SDK takes it.
        request: RawObject,
    },
    /// It is not called: a hook has answered in its place.
    Answer {
        /// The response, as the SDK would have given it.
        response: RawObject,
    },
    /// It is not called: a hook blocks it.
    Block {
        /// Why.
        reason: String,
        /// What takes the response's place: the hook's own, or one that says why.
        response: RawObject,
    },
    /// It is not called, and the agent is to stop.
    Stop {
        /// Why.
        reason: String,
        /// What takes the response's place: the hook's own, or one that says why.
        response: RawObject,
    },
}

/// What BeforeModel hooks want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeModelHookResult {
    /// Whether and with what the model is called.
    pub decision: BeforeModelDecision,
    /// The conversation that a hook gives for this call, in the agent's own shape; it goes before that
    /// of the request.
    pub messages: Option<JsonArray>,
    /// What they say beside it. What is for the model is in the request already, where there is one
    /// to be made; else it belongs into the next.
    pub advice: HookAdvice,
    /// What the agent should tell its user of its hooks, and what they gave that the SDK's request
    /// or response cannot take.
    pub warnings: Vec<String>,
}

/// Asks the BeforeModel hooks about a call.
///
/// What they say to the model joins the request as a last message of the user's, as `[System] …`:
/// no SDK takes system messages in the middle of every conversation (seed 000 §6.2).
pub async fn fire_before_model_hook(host: &AgentHost, call: &ModelCall) -> BeforeModelHookResult {
    let request = call.request.clone();
    let mut told = BeforeModelInput::new(request.clone());
    told.messages.clone_from(&call.messages);
    told.prompt.clone_from(&call.prompt);
    told.system_prompt.clone_from(&call.system_prompt);
    told.tools.clone_from(&call.available_tools);
    let Some(processed) = host.fire(call.input(told)).await else {
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
    let refused = |reason: &str| error_response(call.sdk(), reason);
    let synthetic = output.synthetic_response().and_then(|response| {
        let response = call.sdk().and_then(|sdk| from_stable_response(sdk, &response, None));
        usable("response", response, &mut warnings)
    });
    let approval = approval(HookEventName::BeforeModel, &request, reason);
    let decision = match (host.confirmed(processed.decision, approval).await, synthetic) {
        ((PolicyDecision::Block | PolicyDecision::Retry, reason), synthetic) => {
            let response = synthetic.unwrap_or_else(|| refused(&reason));
            BeforeModelDecision::Block { reason, response }
        }
        ((PolicyDecision::Stop, reason), synthetic) => {
            let response = synthetic.unwrap_or_else(|| refused(&reason));
            BeforeModelDecision::Stop { reason, response }
        }
        (_, Some(response)) => BeforeModelDecision::Answer { response },
        ((PolicyDecision::Proceed | PolicyDecision::Ask, _), None) => {
            let mut request = request;
            if let Some(changes) = output.modified_llm_request(&RawObject::empty()) {
                let changed = call
                    .sdk()
                    .and_then(|sdk| from_stable_request(sdk, &changes, Some(&call.request)));
                request = translated("request", changed, || call.request.clone(), &mut warnings);
            }
            if let Some(text) = &advice.for_model {
                let told = call.sdk().and_then(|sdk| with_message(sdk, &request, text));
                request = translated("message", told, || request.clone(), &mut warnings);
            }
            BeforeModelDecision::Call { request }
        }
    };
    BeforeModelHookResult { decision, messages: output.messages(), advice, warnings }
}

/// A request with one more message at its end.
fn with_message(sdk: Sdk, request: &RawObject, text: &str) -> Result<Translated, TranslateError> {
    let shown = to_stable_request(sdk, request)?.value.fields();
    let mut messages = shown.get("messages").and_then(RawJson::to_items).unwrap_or_default();
    messages.push(
        RawObject::of(|message| {
            message.text("role", "user");
            message.text("content", text);
        })
        .into(),
    );
    let change = RawObject::of(|change| change.raw("messages", &RawJson::from_items(&messages)));
    from_stable_request(sdk, &change, Some(request))
}

/// What becomes of a model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterModelDecision {
    /// It counts, as it is or as hooks have changed it.
    Use,
    /// A hook blocks it; the response says why.
    Block {
        /// Why.
        reason: String,
    },
    /// The agent is to stop.
    Stop {
        /// Why.
        reason: String,
    },
}

/// What AfterModel hooks want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterModelHookResult {
    /// What becomes of the answer.
    pub decision: AfterModelDecision,
    /// The response to go on with, as the SDK gives it.
    pub response: RawObject,
    /// What they say beside it; what is for the model belongs into the next request.
    pub advice: HookAdvice,
    /// What the agent should tell its user of its hooks, and what they gave that the SDK's response
    /// cannot take.
    pub warnings: Vec<String>,
}

/// Shows the AfterModel hooks a complete answer.
pub async fn fire_after_model_hook(
    host: &AgentHost,
    call: &ModelCall,
    response: &RawObject,
) -> AfterModelHookResult {
    let mut told = AfterModelInput::new(call.request.clone(), response.clone());
    told.prompt.clone_from(&call.prompt);
    let milliseconds = |took: Duration| u64::try_from(took.as_millis()).unwrap_or(u64::MAX).into();
    told.duration_ms = call.duration.map(milliseconds);
    let input = call.input(told);
    let lay = |answer: &RawObject| from_stable_response(call.sdk()?, answer, Some(response));
    let refuse = |reason: &str| error_response(call.sdk(), reason);
    fire_on_response(host, input, response, lay, refuse).await
}

/// Fires AfterModel and lays what hooks answered onto the response, or onto a piece of it.
pub(super) async fn fire_on_response(
    host: &AgentHost,
    input: RequestInput,
    response: &RawObject,
    lay: impl FnOnce(&RawObject) -> Result<Translated, TranslateError>,
    refuse: impl FnOnce(&str) -> RawObject,
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
    let (decision, reason) = host.confirmed(processed.decision, approval).await;
    if decision == PolicyDecision::Block {
        result.response = refuse(&reason);
        result.decision = AfterModelDecision::Block { reason };
        return result;
    }
    if let Some(answer) = AfterModelOutput::new(&processed.aggregated).modified_response() {
        let kept = || response.clone();
        result.response = translated("response", lay(&answer), kept, &mut result.warnings);
    }
    if decision == PolicyDecision::Stop {
        result.decision = AfterModelDecision::Stop { reason };
    }
    result
}
