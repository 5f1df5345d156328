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
    without: Without,
    /// `true` for a question to the user.
    is_question: bool,
}

/// The result of a method without a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Null,
    False,
    NoText,
    Unsupported,
}

const fn question(name: &'static str, params: &'static str, without: Without) -> HostMethod {
    let result = match without {
        Without::False => "a boolean",
        _ => "a string, or `null`",
    };
    HostMethod { name, params, result, without, is_question: true }
}

const fn display(name: &'static str, params: &'static str) -> HostMethod {
    HostMethod { name, params, result: "`null`", without: Without::Null, is_question: false }
}

const fn service(name: &'static str, params: &'static str, result: &'static str) -> HostMethod {
    HostMethod { name, params, result, without: Without::Unsupported, is_question: false }
}

/// The method that runs a tool of the host.
pub(crate) const EXECUTE: &str = "tool.execute";

const CANCELLED: &str = "`{\"cancelled\"}`";

/// The methods that hooks may call on the host.
pub static HOST_METHODS: [HostMethod; 20] = [
    question("ui.select", "`title`, `options`", Without::Null),
    question("ui.confirm", "`title`, `message`", Without::False),
    question("ui.input", "`title`, `placeholder`?", Without::Null),
    question("ui.editor", "`title`, `prefill`?", Without::Null),
    question("ui.custom", "`lines`", Without::Null),
    display("ui.notify", "`message`, `type`? (`info`, `warning`, `error`)"),
    display("ui.setStatus", "`key`, `text`?"),
    display("ui.setEditorText", "`text`"),
    HostMethod {
        result: "a string", without: Without::NoText, ..display("ui.getEditorText", "–")
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
    pub fn named(name: &str) -> Option<&'static Self> {
        HOST_METHODS.iter().find(|method| method.name == name)
    }

    /// Checks whether a host may return this result.
    pub fn may_be(&self, result: &RawJson) -> bool {
        match (self.is_question, self.without) {
            (true, Without::False) => result.kind() == JsonKind::Bool,
            (true, _) => result.is_null() || result.kind() == JsonKind::String,
            (false, _) => true,
        }
    }

    /// Returns the result of a host that does not offer the method, as without a user; `None` if
    /// that is an error.
    pub fn without(&self) -> Option<RawJson> {
        match self.without {
            Without::Null => Some(RawJson::null()),
            Without::False => Some(RawJson::from_bool(false)),
            Without::NoText => Some(RawJson::from_text("")),
            Without::Unsupported => None,
        }
    }

    /// Returns `true` for a question to the user, which does not count as the hook's time.
    pub fn is_question(&self) -> bool {
        self.is_question
    }
}

/// Returns the result of a `ui` call without a user interface; `None` for other methods.
pub fn without_ui(method: &str) -> Option<RawJson> {
    HostMethod::named(method)?.without()
}

/// Returns `true` for a question to the user, which does not count as the hook's time.
pub(crate) fn is_question(method: &str) -> bool {
    HostMethod::named(method).is_some_and(HostMethod::is_question)
}
