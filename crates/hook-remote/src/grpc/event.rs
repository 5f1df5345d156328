//! Conversion of the engine's messages to a hook into events of `proto/hooks.proto`.

use std::time::SystemTime;

use hook_json::RawJson;
use hook_run::{CallMessage, HostCallError, ToHook};
use prost::Message;

use super::names::MAX_STREAM_MESSAGE;
use super::proto::hooks::HookEvent;

/// Returns the event for a call of a hook.
///
/// # Errors
/// Returns the event's length if it exceeds the maximum of a stream message.
pub(super) fn call_event(call: &CallMessage) -> Result<HookEvent, usize> {
    let fields = call.input.fields();
    let timestamp = fields.get("timestamp").and_then(RawJson::to_i64).unwrap_or_else(now);
    let metadata = fields.get("metadata").filter(|metadata| metadata.to_object().is_ok());
    let metadata = metadata.map_or("{}", RawJson::as_str);
    let event = HookEvent {
        hook_id: call.hook.to_string(),
        event_type: call.event.to_string(),
        session_id: call.session.to_string(),
        timestamp,
        payload: call.input.as_str().as_bytes().to_vec(),
        call_id: call.call.to_string(),
        correlation_id: call.correlation.as_deref().unwrap_or_default().to_owned(),
        deadline_ms: i64::try_from(call.remaining_milliseconds()).unwrap_or(i64::MAX),
        cancelled: false,
        metadata: metadata.as_bytes().to_vec(),
        host_result: None,
    };
    match event.encoded_len() {
        length if length > MAX_STREAM_MESSAGE => Err(length),
        _ => Ok(event),
    }
}

/// Returns the event that cancels a call.
pub(super) fn cancelled_event(call: u64, hook: &str) -> HookEvent {
    HookEvent {
        hook_id: hook.to_owned(),
        call_id: call.to_string(),
        cancelled: true,
        ..HookEvent::default()
    }
}

/// Returns the event with the result of a host call, or with an error if the result is too large.
pub(super) fn host_result_event(message: &ToHook) -> HookEvent {
    let event = |line| HookEvent { host_result: Some(line), ..HookEvent::default() };
    let whole = event(message.to_line());
    match message {
        ToHook::HostResult { id, .. } if whole.encoded_len() > MAX_STREAM_MESSAGE => {
            let length = whole.encoded_len();
            let why =
                format!("its result has {length} bytes, and may have {MAX_STREAM_MESSAGE} here");
            let outcome = Err(HostCallError::failed(why));
            event(ToHook::HostResult { id: id.clone(), outcome }.to_line())
        }
        _ => whole,
    }
}

/// Returns the milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
