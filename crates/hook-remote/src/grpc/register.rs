//! Registrations as `proto/hooks.proto` has them, made those of the engine, and back.

use hook_bus::live::{HookRegister, ListedHook, NotRegistered};
use hook_core::{JsonObject, RawJson};
use tonic::Status;

use super::proto::hooks::{HookConfig, HookMatcher, RegisterHookRequest, RegisteredHook};
use super::token::random_hex;

/// The words of a hook that does not say which it speaks.
pub(super) const VOCABULARY: &str = "a3s";

/// The hook that a client registers.
///
/// # Errors
/// When a field says nothing where something is needed: nothing is guessed, since it may be a guard.
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
            // It would match nothing, and the hook never be asked.
            Some("") => {
                let message = format!("field `matcher.{name}`: it is empty; leave it out");
                return Err(Status::invalid_argument(message));
            }
            Some(value) => fields.insert(name, RawJson::from_text(value)),
        }
    }
    Ok((!fields.is_empty()).then(|| fields.to_raw().as_raw().clone()))
}

/// What is zero or empty is the default.
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

/// Why a hook was not registered, as a status.
pub(super) fn refusal(error: &NotRegistered) -> Status {
    let message = error.to_string();
    match error.code() {
        "duplicate_id" => Status::already_exists(message),
        "limit_exceeded" => Status::resource_exhausted(message),
        "unknown_id" => Status::not_found(message),
        "superseded" => Status::aborted(message),
        _ => Status::invalid_argument(message),
    }
}

/// A registered hook, as it is listed.
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

/// As much of a matcher as fits: those of other clients may have several values, or be a text.
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
        let number = config.get(name).and_then(RawJson::to_integer);
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
