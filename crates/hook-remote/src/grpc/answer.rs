//! Conversion of a hook's messages over a stream into those of the engine.

use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_run::HookAnswer;

use super::proto::hooks::{HookAction, HookResponse};

/// The format of a hook's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vocabulary {
    /// The format of the typed fields of `HookResponse`: a3s.
    A3s,
    /// The native format, or that of another agent.
    Other,
}

impl Vocabulary {
    pub(super) fn of(vocabulary: Option<&str>) -> Self {
        if vocabulary == Some("a3s") { Self::A3s } else { Self::Other }
    }
}

/// A host call of a hook.
#[derive(Debug)]
pub(super) struct HostRequest {
    pub(super) id: RawJson,
    /// The id of the hook call that the host call belongs to, if the message contains it.
    pub(super) call: Option<u64>,
    pub(super) method: String,
    pub(super) params: RawJson,
}

/// Returns the meaning of an answer. An invalid one is a failure of the hook, so that its
/// `fail_behavior` decides: a call never waits on after its answer has arrived.
pub(super) fn interpret(response: &HookResponse, vocabulary: Vocabulary) -> HookAnswer {
    match read(response, vocabulary) {
        Ok(output) => output,
        Err(why) => HookAnswer::Error(why),
    }
}

fn read(response: &HookResponse, vocabulary: Vocabulary) -> Result<HookAnswer, String> {
    if let Some(error) = &response.error {
        return Ok(HookAnswer::Error(error.clone()));
    }
    if let Some(output) = &response.output {
        return object("output", output).map(HookAnswer::Output);
    }
    let Ok(action) = HookAction::try_from(response.action) else {
        return Err(format!("there is no `action` {}", response.action));
    };
    let modified = response.modified.as_ref().filter(|modified| !modified.is_empty());
    let modified = modified.map(|modified| object("modified", modified)).transpose()?;
    let delay = match response.retry_delay_ms {
        Some(delay) if delay < 0 => return Err(format!("`retry_delay_ms` is {delay}")),
        delay => delay.unwrap_or_default().unsigned_abs(),
    };
    let delay = (delay > 0).then(|| RawJson::from_u64(delay));
    let reason = response.reason.as_deref().map(RawJson::from_text);
    let mut answer = JsonObject::new();
    let mut put = |name: &str, value: Option<RawJson>| {
        if let Some(value) = value {
            answer.insert(name, value);
        }
    };
    match vocabulary {
        Vocabulary::A3s => {
            put("action", Some(RawJson::from_text(action_name(action))));
            put("reason", reason);
            put("modified", modified.map(|modified| modified.as_raw().clone()));
            if action == HookAction::Retry {
                put("delay", delay);
            }
            Ok(HookAnswer::Action(answer.to_raw()))
        }
        // The action belongs to this protocol, so it is valid in any format.
        Vocabulary::Other => {
            if modified.is_some() {
                return Err(
                    "`modified` is in the words of `a3s`, and this hook was registered with \
                            others; answer with `output`"
                        .to_owned(),
                );
            }
            match action {
                HookAction::Continue if reason.is_none() => return Ok(HookAnswer::Nothing),
                HookAction::Continue => {}
                HookAction::Block => put("decision", Some(RawJson::from_text("deny"))),
                HookAction::Retry => {
                    put("decision", Some(RawJson::from_text("retry")));
                    put("retryAfterMs", delay);
                }
                HookAction::Skip => put("skipRemaining", Some(RawJson::from_bool(true))),
            }
            put("reason", reason);
            Ok(HookAnswer::Native(answer.to_raw()))
        }
    }
}

fn action_name(action: HookAction) -> &'static str {
    match action {
        HookAction::Continue => "continue",
        HookAction::Block => "block",
        HookAction::Retry => "retry",
        HookAction::Skip => "skip",
    }
}

/// Parses a hook's call of the host.
///
/// # Errors
/// Returns the reason if it is not a valid host call.
pub(super) fn host_call(json: &[u8]) -> Result<HostRequest, String> {
    let fields = object("host_call", json)?.fields();
    if let Some(name) = fields.duplicate_key() {
        return Err(format!("`host_call` has the field `{}` twice", shortened(name)));
    }
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    if let Some(kind) = text("type").filter(|kind| kind != "hook-host-call") {
        return Err(format!("`host_call` is a `{}`", shortened(&kind)));
    }
    let any = |name: &str| fields.get(name).cloned().unwrap_or_else(RawJson::null);
    Ok(HostRequest {
        id: any("hostCallId"),
        call: text("callId").and_then(|call| call.parse().ok()),
        method: text("method").ok_or("`host_call` has no `method`")?,
        params: any("params"),
    })
}

fn object(field: &str, json: &[u8]) -> Result<RawObject, String> {
    let text = String::from_utf8_lossy(json).into_owned();
    RawObject::parse(text)
        .map_err(|error| format!("`{field}` is no JSON object: {}", error.reason()))
}
