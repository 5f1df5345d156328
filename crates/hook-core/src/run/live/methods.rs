//! What a hook may ask of its host, once for whoever asks and whoever answers.

use crate::json::{JsonKind, RawJson};

/// One of the things that a hook may ask of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostMethod {
    /// What it is called in messages, such as `ui.confirm`.
    pub name: &'static str,
    /// Its parameters, as in documentation; behind a `?` stands what need not be there.
    pub params: &'static str,
    /// Its result, likewise.
    pub result: &'static str,
    /// What a hook gets of a host that does not offer it.
    without: Without,
    /// Whether somebody thinks while this goes on.
    is_question: bool,
}

/// What there is without a host.
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

/// Runs a tool of the host's.
pub(in crate::run) const EXECUTE: &str = "tool.execute";

const CANCELLED: &str = "`{\"cancelled\"}`";

/// What a hook may ask of its host.
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
    /// The one of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        HOST_METHODS.iter().find(|method| method.name == name)
    }

    /// Whether a host may answer that.
    pub fn may_be(&self, result: &RawJson) -> bool {
        match (self.is_question, self.without) {
            (true, Without::False) => result.kind() == JsonKind::Bool,
            (true, _) => result.is_null() || result.kind() == JsonKind::String,
            (false, _) => true,
        }
    }

    /// What a hook gets of a host that does not offer it: what there is without a user; `None` where that is
    /// an error.
    pub fn without(&self) -> Option<RawJson> {
        match self.without {
            Without::Null => Some(RawJson::null()),
            Without::False => Some(RawJson::from_bool(false)),
            Without::NoText => Some(RawJson::from_text("")),
            Without::Unsupported => None,
        }
    }

    /// Whether it asks the user something: that is not the hook's time.
    pub fn is_question(&self) -> bool {
        self.is_question
    }
}

/// What a `ui` call gives where there is no user interface; `None` of what is no `ui` call.
pub fn without_ui(method: &str) -> Option<RawJson> {
    HostMethod::named(method)?.without()
}

/// Whether somebody thinks while this goes on: that is not the hook's time.
pub(in crate::run) fn is_question(method: &str) -> bool {
    HostMethod::named(method).is_some_and(HostMethod::is_question)
}
