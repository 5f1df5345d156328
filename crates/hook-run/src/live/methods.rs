//! The table of host methods, for both hooks and hosts.

use hook_json::{JsonKind, RawJson};

/// A method that hooks may call on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostMethod {
    /// The name in messages, such as `ui.confirm`.
    pub name: &'static str,
    /// The parameters, as in the documentation; a `?` marks optional ones.
    pub params: &'static str,
    /// The result, likewise.
    pub result: &'static str,
    /// The result of a host that does not offer the method.
    fallback: Fallback,
    /// `true` for a question to the user.
    is_question: bool,
}

/// The result of a method without a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fallback {
    Null,
    False,
    NoText,
    Unsupported,
}

const fn question(name: &'static str, params: &'static str, fallback: Fallback) -> HostMethod {
    let result = match fallback {
        Fallback::False => "a boolean",
        _ => "a string, or `null`",
    };
    HostMethod { name, params, result, fallback, is_question: true }
}

const fn display(name: &'static str, params: &'static str) -> HostMethod {
    HostMethod { name, params, result: "`null`", fallback: Fallback::Null, is_question: false }
}

const fn service(name: &'static str, params: &'static str, result: &'static str) -> HostMethod {
    HostMethod { name, params, result, fallback: Fallback::Unsupported, is_question: false }
}

/// The method that runs a tool of the host.
pub(crate) const EXECUTE: &str = "tool.execute";

const CANCELLED: &str = "`{\"cancelled\"}`";

/// The methods that hooks may call on the host.
pub static HOST_METHODS: [HostMethod; 20] = [
    question("ui.select", "`title`, `options`", Fallback::Null),
    question("ui.confirm", "`title`, `message`", Fallback::False),
    question("ui.input", "`title`, `placeholder`?", Fallback::Null),
    question("ui.editor", "`title`, `prefill`?", Fallback::Null),
    question("ui.custom", "`lines`", Fallback::Null),
    display("ui.notify", "`message`, `type`? (`info`, `warning`, `error`)"),
    display("ui.setStatus", "`key`, `text`?"),
    display("ui.setEditorText", "`text`"),
    HostMethod {
        result: "a string",
        fallback: Fallback::NoText,
        ..display("ui.getEditorText", "–")
    },
    service(
        "session.get",
        "–",
        "`{\"isIdle\"?, \"hasQueuedMessages\"?, \"hasUI\"?, \"model\"?, \"sessionId\"?, \"sessionFile\"?, \
         \"leafId\"?, \"entries\"?}`",
    ),
    service("session.abort", "–", "`null`"),
    service("session.waitForIdle", "–", "`null`, once the agent is idle"),
    service(
        "session.sendMessage",
        "`message` (`{\"customType\", \"content\", \"display\", \"details\"?}`), `triggerTurn`?, `deliverAs`?",
        "`null`",
    ),
    service("session.appendEntry", "`customType`, `data`?", "`null`"),
    service(
        "session.new",
        "`parentSession`?, `setup`? (a list of `{\"message\"}` and `{\"customType\", \"data\"}`)",
        CANCELLED,
    ),
    service("session.branch", "`entryId`", CANCELLED),
    service("session.navigateTree", "`targetId`, `summarize`?", CANCELLED),
    service("model.ask", "`prompt`, `model`?, `tools`, `answer`", "what the model says"),
    service("mcp.call", "`server`, `tool`, `arguments`", "what the tool gives"),
    service(EXECUTE, "`tool`, `args`", "what the tool gives"),
];

impl HostMethod {
    /// Returns the method of this name.
    pub(crate) fn from_name(name: &str) -> Option<&'static Self> {
        HOST_METHODS.iter().find(|method| method.name == name)
    }

    /// Checks whether a host may return this result.
    pub fn accepts_result(&self, result: &RawJson) -> bool {
        match (self.is_question, self.fallback) {
            (true, Fallback::False) => result.kind() == JsonKind::Bool,
            (true, _) => result.is_null() || result.kind() == JsonKind::String,
            (false, _) => true,
        }
    }

    /// Returns the result of a host that does not offer the method, as without a user; `None` if
    /// that is an error.
    pub(crate) fn fallback(&self) -> Option<RawJson> {
        match self.fallback {
            Fallback::Null => Some(RawJson::null()),
            Fallback::False => Some(RawJson::from_bool(false)),
            Fallback::NoText => Some(RawJson::from_text("")),
            Fallback::Unsupported => None,
        }
    }

    /// Returns `true` for a question to the user, which does not count as the hook's time.
    pub(crate) fn is_question(&self) -> bool {
        self.is_question
    }
}

/// Returns the result of a `ui` call without a user interface; `None` for other methods.
pub fn without_ui(method: &str) -> Option<RawJson> {
    HostMethod::from_name(method)?.fallback()
}

/// Returns `true` for a question to the user, which does not count as the hook's time.
pub(crate) fn is_question(method: &str) -> bool {
    HostMethod::from_name(method).is_some_and(HostMethod::is_question)
}
