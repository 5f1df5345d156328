//! The kinds of an agent's hooks, and the events that run them.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_settings::language::{ForeignCommand, ForeignRequest};

/// One kind of hook.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookKind {
    /// The value of `type`.
    pub(super) name: &'static str,
    /// The events that run it.
    pub(super) events: EventSet,
    /// The timeout of its hooks in milliseconds, if it depends on the kind and not on the event or
    /// the agent.
    pub(super) timeout: Option<u64>,
    /// The reason that it cannot run here, if no host can do the agent's part.
    pub(super) unsupported_reason: Option<&'static str>,
}

/// The events that run a kind of hook.
#[derive(Debug, Clone, Copy)]
pub(super) enum EventSet {
    /// All events.
    All,
    /// These events.
    Only(&'static [&'static str]),
    /// All events but these.
    AllExcept(&'static [&'static str]),
    /// No event: such hooks are read and skipped.
    None,
}

impl HookKind {
    pub(super) const fn new(name: &'static str, events: EventSet) -> Self {
        Self { name, events, timeout: None, unsupported_reason: None }
    }

    /// Returns `true` if the agent runs this kind at an event.
    pub(super) fn runs_at(&self, event: &str) -> bool {
        match self.events {
            EventSet::All => true,
            EventSet::Only(names) => names.contains(&event),
            EventSet::AllExcept(names) => !names.contains(&event),
            EventSet::None => false,
        }
    }
}

/// The kinds of an agent that only has commands.
pub(super) const COMMAND_ONLY: &[HookKind] = &[HookKind::new("command", EventSet::All)];

/// The rules for `http` hooks.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpRules {
    /// The permission of unencrypted requests.
    pub(super) unencrypted: UnencryptedRequests,
    /// The events at which a reply that is no object means nothing, unlike a command's output.
    pub(super) object_only_events: &'static [&'static str],
}

/// The URLs that may be requested without encryption.
#[derive(Debug, Clone, Copy)]
pub(super) enum UnencryptedRequests {
    /// Any URL.
    Anywhere,
    /// This machine, if `variable` is `1`; not at these events, and not with variables in headers.
    LocalOnly { variable: &'static str, except_events: &'static [&'static str] },
}

/// A file's settings for all `http` hooks.
#[derive(Debug, Default)]
pub(super) struct HttpSettings {
    /// `allowedHttpHookUrls`.
    pub(super) urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`.
    pub(super) variables: Option<Vec<String>>,
}

impl HttpSettings {
    /// Reads the top-level settings of a file. An unreadable setting allows nothing.
    pub(super) fn of(settings: &JsonObject) -> Self {
        let list = |name: &str| Some(strings(settings.get(name)?).unwrap_or_default());
        Self { urls: list("allowedHttpHookUrls"), variables: list("httpHookAllowedEnvVars") }
    }
}

/// Reads a hook that is not a command.
///
/// # Errors
/// Returns an error if a required field is missing or has the wrong type.
pub(super) fn read_other(
    kind: &str,
    fields: &JsonObject,
    http: &HttpSettings,
) -> Result<ForeignCommand, &'static str> {
    let text = |name: &str| {
        let text = fields.get(name).and_then(RawJson::to_text);
        text.filter(|text| !text.trim().is_empty())
    };
    let flag = |name: &str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
    Ok(match kind {
        "http" => {
            ForeignCommand::Http(read_request(fields, text("url").ok_or("has no `url`")?, http)?)
        }
        "prompt" => ForeignCommand::Prompt {
            prompt: text("prompt").ok_or("has no `prompt`")?,
            model: text("model"),
            continues: flag("continueOnBlock"),
        },
        "agent" => ForeignCommand::Agent {
            prompt: text("prompt").ok_or("has no `prompt`")?,
            model: text("model"),
        },
        "mcp_tool" => ForeignCommand::McpTool {
            server: text("server").ok_or("has no `server`")?,
            tool: text("tool").ok_or("has no `tool`")?,
            input: match fields.get("input") {
                Some(input) => RawObject::try_from(input.clone())
                    .map_err(|_| "has an `input` that is no object")?,
                None => RawObject::empty(),
            },
        },
        _ => return Err("is of a type that is not known here"),
    })
}

fn read_request(
    fields: &JsonObject,
    url: String,
    http: &HttpSettings,
) -> Result<ForeignRequest, &'static str> {
    const HEADERS: &str = "has `headers` that are no object of texts";
    const VARIABLES: &str = "has `allowedEnvVars` that are no array of names";
    let headers = match fields.get("headers") {
        Some(headers) => {
            let headers = headers.to_object().map_err(|_| HEADERS)?;
            let pairs =
                headers.iter().map(|(name, value)| Some((name.to_owned(), value.to_text()?)));
            pairs.collect::<Option<Vec<_>>>().ok_or(HEADERS)?
        }
        None => Vec::new(),
    };
    let variables = match fields.get("allowedEnvVars") {
        Some(variables) => strings(variables).ok_or(VARIABLES)?,
        None => Vec::new(),
    };
    let is_allowed =
        |name: &String| http.variables.as_ref().is_none_or(|allowed| allowed.contains(name));
    Ok(ForeignRequest {
        url,
        headers,
        variables: variables.into_iter().filter(is_allowed).collect(),
        allowed_urls: http.urls.clone(),
    })
}

fn strings(value: &RawJson) -> Option<Vec<String>> {
    value.to_items()?.iter().map(RawJson::to_text).collect()
}
