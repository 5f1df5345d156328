//! Which kinds of hooks an agent has, and at which of its events it runs them.

use hook_core::language::{ForeignCommand, ForeignRequest};
use hook_core::{JsonObject, RawJson, RawObject};

/// One kind of hooks of an agent.
#[derive(Debug)]
pub(super) struct Kind {
    /// What its `type` says.
    pub(super) word: &'static str,
    /// At which events the agent runs it.
    pub(super) at: At,
    /// How long its hooks may run, in milliseconds, where that is the kind's and not the event's or the
    /// agent's.
    pub(super) timeout: Option<u64>,
    /// Why it does nothing here, where no host could do for the agent what it does there.
    pub(super) impossible: Option<&'static str>,
}

/// At which events an agent runs a kind of hooks.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    /// At all.
    All,
    /// At these.
    Only(&'static [&'static str]),
    /// At all but these.
    AllBut(&'static [&'static str]),
    /// At none: they are read and passed over.
    None,
}

impl Kind {
    pub(super) const fn new(word: &'static str, at: At) -> Self {
        Self { word, at, timeout: None, impossible: None }
    }

    /// Whether the agent runs it at an event.
    pub(super) fn runs_at(&self, event: &str) -> bool {
        match self.at {
            At::All => true,
            At::Only(names) => names.contains(&event),
            At::AllBut(names) => !names.contains(&event),
            At::None => false,
        }
    }
}

/// The kind of an agent that has no other.
pub(super) const COMMANDS: &[Kind] = &[Kind::new("command", At::All)];

/// The rules of `http` hooks.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpRules {
    /// Where it posts without encryption.
    pub(super) plain: Plain,
    /// Events at which text that is no object says nothing, though it would on a command's standard output.
    pub(super) text_is_nothing_at: &'static [&'static str],
}

/// Where an agent posts without encryption.
#[derive(Debug, Clone, Copy)]
pub(super) enum Plain {
    /// Anywhere.
    Everywhere,
    /// To this machine, where that variable is `1`; not at these events, and not where headers may have
    /// variables.
    Here { variable: &'static str, not_at: &'static [&'static str] },
}

/// What settings say for all `http` hooks of a file.
#[derive(Debug, Default)]
pub(super) struct HttpSettings {
    /// `allowedHttpHookUrls`.
    pub(super) urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`.
    pub(super) variables: Option<Vec<String>>,
}

impl HttpSettings {
    /// What a file says at its top. What cannot be read allows nothing.
    pub(super) fn of(settings: &JsonObject) -> Self {
        let list = |name: &str| Some(words(settings.get(name)?).unwrap_or_default());
        Self { urls: list("allowedHttpHookUrls"), variables: list("httpHookAllowedEnvVars") }
    }
}

/// What a hook runs that is no command.
///
/// # Errors
/// When what it must say is missing or of another kind.
pub(super) fn other(
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
        "http" => ForeignCommand::Http(request(fields, text("url").ok_or("has no `url`")?, http)?),
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

fn request(
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
        Some(variables) => words(variables).ok_or(VARIABLES)?,
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

fn words(value: &RawJson) -> Option<Vec<String>> {
    value.to_items()?.iter().map(RawJson::to_text).collect()
}
