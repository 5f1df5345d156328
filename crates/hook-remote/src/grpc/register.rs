//! Conversion between registrations of `proto/hooks.proto` and those of the engine.

use hook_bus::live::{HookRegister, ListedHook, NotRegistered};
use hook_json::{JsonObject, RawJson};
use tonic::Status;

use super::proto::hooks::{HookConfig, HookMatcher, RegisterHookRequest, RegisteredHook};
use super::token::random_hex;

/// The vocabulary of a hook that does not name one.
pub(super) const VOCABULARY: &str = "a3s";

/// Returns the registration that a client asks for.
///
/// # Errors
/// Fails if a field is empty that must not be. Nothing is guessed, since the hook may be a guard.
pub(super) fn read(request: RegisterHookRequest) -> Result<HookRegister, Status> {
    let RegisterHookRequest { event_type, matcher, config, hook_id, vocabulary, client_id: _ } =
        request;
    let hook_id = match hook_id.is_empty() {
        true => {
            let random = random_hex::<8>().map_err(|error| Status::internal(error.to_string()))?;
            format!("h-{random}")
        }
        false => hook_id,
    };
    let mut register = HookRegister::new(hook_id, event_type);
    let vocabulary = if vocabulary.is_empty() { VOCABULARY.to_owned() } else { vocabulary };
    register.vocabulary = Some(vocabulary);
    register.matcher = matcher.map(matcher_of).transpose()?.flatten();
    register.config = config_of(config.unwrap_or_default());
    Ok(register)
}

fn matcher_of(matcher: HookMatcher) -> Result<Option<RawJson>, Status> {
    let HookMatcher { tool, path_pattern, command_pattern } = matcher;
    let mut fields = JsonObject::new();
    let given =
        [("tool", tool), ("pathPattern", path_pattern), ("commandPattern", command_pattern)];
    for (name, value) in given {
        match value.as_deref() {
            None => {}
            // It would match nothing, so the hook would never be called.
            Some("") => {
                let message = format!("field `matcher.{name}`: it is empty; leave it out");
                return Err(Status::invalid_argument(message));
            }
            Some(value) => fields.insert(name, RawJson::from_text(value)),
        }
    }
    Ok((!fields.is_empty()).then(|| fields.to_raw().as_raw().clone()))
}

/// Leaves out fields that are zero or empty, so that the defaults apply.
fn config_of(config: HookConfig) -> JsonObject {
    let HookConfig { priority, timeout_ms, r#async, fail_behavior } = config;
    let mut fields = JsonObject::new();
    for (name, number) in [("priority", priority), ("timeout", timeout_ms)] {
        if let Ok(number) = RawJson::parse(number.to_string())
            && number.as_str() != "0"
        {
            fields.insert(name, number);
        }
    }
    if r#async {
        fields.insert("async", RawJson::from_bool(true));
    }
    if !fail_behavior.is_empty() {
        fields.insert("failBehavior", RawJson::from_text(&fail_behavior));
    }
    fields
}

/// Returns the status for a rejected registration.
pub(super) fn refusal(error: &NotRegistered) -> Status {
    let message = error.to_string();
    match error.code() {
        "duplicate_id" => Status::already_exists(message),
        "limit_exceeded" => Status::resource_exhausted(message),
        "unknown_id" => Status::not_found(message),
        "not_saved" => Status::unavailable(message),
        "superseded" => Status::aborted(message),
        "guard_in_fleet" => Status::failed_precondition(message),
        _ => Status::invalid_argument(message),
    }
}

/// Returns the list entry of a registered hook.
pub(super) fn listed(hook: ListedHook) -> RegisteredHook {
    let ListedHook { register, own, .. } = hook;
    RegisteredHook {
        matcher: register.matcher.as_ref().map(listed_matcher),
        config: Some(listed_config(&register.config)),
        vocabulary: register.vocabulary.unwrap_or_else(|| "native".to_owned()),
        hook_id: register.hook_id,
        event_type: register.event_name,
        own,
    }
}

/// Returns a matcher as a message. Several values are joined; a string matcher is the tool.
fn listed_matcher(matcher: &RawJson) -> HookMatcher {
    let fields = matcher.to_object().unwrap_or_default();
    let values = |name: &str| {
        let value = fields.get(name)?;
        let several = || {
            let items = value.to_items()?;
            Some(items.iter().filter_map(RawJson::to_text).collect::<Vec<_>>().join(","))
        };
        value.to_text().or_else(several)
    };
    HookMatcher {
        tool: matcher.to_text().or_else(|| values("tool")).or_else(|| values("toolPattern")),
        path_pattern: values("pathPattern"),
        command_pattern: values("commandPattern"),
    }
}

fn listed_config(config: &JsonObject) -> HookConfig {
    let number = |name: &str, default: i32| {
        let number = config.get(name).and_then(RawJson::to_i64);
        number.and_then(|number| i32::try_from(number).ok()).unwrap_or(default)
    };
    HookConfig {
        priority: number("priority", 100),
        timeout_ms: number("timeout", 0),
        r#async: config.get("async").and_then(RawJson::to_bool).unwrap_or_default(),
        fail_behavior: config
            .get("failBehavior")
            .and_then(RawJson::to_text)
            .unwrap_or_else(|| "continue".to_owned()),
    }
}
