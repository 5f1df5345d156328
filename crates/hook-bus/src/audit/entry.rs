//! One thing that happened to a hook.

use std::borrow::Cow;
use std::sync::Arc;

use hook_core::json::{MAX_OPERATIONS, Patch, PatchOperation};
use hook_core::redact::{REDACTED, Redaction};
use hook_core::settings::AuditLevel;
use hook_core::text::{beginning, cut};
use hook_core::{HookEventName, JsonKind, ObjectWriter, RawJson, RawObject};

use crate::redaction::own_words;

/// How long a reason is at most, in bytes.
const MAX_REASON: usize = 1_024;

/// How long the name of a hook, or a value that it changed, is at most, in bytes.
const MAX_VALUE: usize = 256;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditKind {
    /// A hook came into force.
    Registered,
    /// A hook is in force no more.
    Unregistered,
    /// A hook started.
    Started,
    /// A hook is over, and did what it should.
    Completed,
    /// What the event was about may go on.
    Allowed,
    /// What the event was about was forbidden.
    Blocked,
    /// The user is to be asked.
    Asked,
    /// The agent is to stop.
    Stopped,
    /// A hook failed; or a request did, where no hook is named.
    Failed,
    /// A hook changed the input that it was told.
    Modified,
    /// Entries are missing here.
    Lagged,
}

impl AuditKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Registered,
        Self::Unregistered,
        Self::Started,
        Self::Completed,
        Self::Allowed,
        Self::Blocked,
        Self::Asked,
        Self::Stopped,
        Self::Failed,
        Self::Modified,
        Self::Lagged,
    ];

    /// The words for them.
    pub const NAMES: [&'static str; 11] = [
        "registered",
        "unregistered",
        "started",
        "completed",
        "allowed",
        "blocked",
        "asked",
        "stopped",
        "failed",
        "modified",
        "lagged",
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Unregistered => "unregistered",
            Self::Started => "started",
            Self::Completed => "completed",
            Self::Allowed => "allowed",
            Self::Blocked => "blocked",
            Self::Asked => "asked",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Modified => "modified",
            Self::Lagged => "lagged",
        }
    }

    /// From which level on it is told.
    pub fn level(self) -> AuditLevel {
        match self {
            Self::Allowed => AuditLevel::Decisions,
            Self::Started | Self::Completed | Self::Modified => AuditLevel::Verbose,
            _ => AuditLevel::Info,
        }
    }
}

/// One thing that happened to a hook. Its texts are redacted, and cut to some length, which they say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// When, ISO 8601 in UTC with milliseconds.
    pub at: Arc<str>,
    /// What.
    pub kind: AuditKind,
    /// The request that it happened for.
    pub correlation_id: Option<String>,
    /// The agent's session that it is about.
    pub session: Option<String>,
    /// The agent, where it asked in its own words.
    pub agent: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// Who asked over a fleet: the public key of a user of its broker.
    pub asker: Option<String>,
    /// The event.
    pub event: Option<HookEventName>,
    /// The hook's name, else its command.
    pub hook: Option<String>,
    /// Why, or what is missing.
    pub reason: Option<String>,
    /// What was changed of the event's input: JSON Patch (RFC 6902), an array of operations. A value of
    /// more than 256 bytes is a text with its beginning, and `cut` beside it says how many bytes it had.
    pub changes: Option<RawJson>,
    /// How many entries are missing here, where some are. Of each, what it was is not known.
    pub missed: u64,
    /// Why texts are left out, where it is not known what to redact.
    pub withheld: Option<String>,
}

impl AuditEntry {
    pub(super) fn new(at: Arc<str>, kind: AuditKind) -> Self {
        Self {
            at,
            kind,
            correlation_id: None,
            session: None,
            agent: None,
            tool: None,
            asker: None,
            event: None,
            hook: None,
            reason: None,
            changes: None,
            missed: 0,
            withheld: None,
        }
    }

    /// The entry as one line of JSON, without the line's end.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out))
    }

    /// Writes the fields.
    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("at", &self.at);
        out.text("kind", self.kind.as_str());
        out.optional_text("correlationId", self.correlation_id.as_deref());
        out.optional_text("session", self.session.as_deref());
        out.optional_text("agent", self.agent.as_deref());
        out.optional_text("tool", self.tool.as_deref());
        out.optional_text("asker", self.asker.as_deref());
        out.optional_text("eventName", self.event.map(HookEventName::as_str));
        out.optional_text("hook", self.hook.as_deref());
        out.optional_text("reason", self.reason.as_deref());
        if let Some(changes) = &self.changes {
            out.raw("changes", changes);
        }
        if self.missed > 0 {
            out.integer("missed", self.missed.into());
        }
        out.optional_text("withheld", self.withheld.as_deref());
    }
}

/// A text from outside, as entries have it.
pub(super) fn reason(text: &str, redaction: &Redaction) -> Option<String> {
    (!text.is_empty()).then(|| cut(&redaction.text(text), MAX_REASON))
}

/// The name of a hook, or the id of a request, as entries have it.
pub(super) fn name(text: &str, redaction: &Redaction) -> String {
    cut(&redaction.text(text), MAX_VALUE)
}

/// What was changed, and whether that is all.
pub(super) fn changes(patch: &Patch, redaction: &Redaction) -> (RawJson, Option<String>) {
    let operations: Vec<RawJson> = patch
        .operations
        .iter()
        .map(|operation| RawObject::of(|out| write_change(out, operation, redaction)).into())
        .collect();
    let more = || format!("only the first {MAX_OPERATIONS} changes are listed");
    (RawJson::from_items(&operations), patch.has_more.then(more))
}

fn write_change(out: &mut ObjectWriter<'_>, operation: &PatchOperation, redaction: &Redaction) {
    out.text("op", operation.change.as_str());
    let is_secret = operation.path.iter().any(|part| redaction.is_field(part));
    let own = own_words();
    let path = operation.path.iter().map(|part| match own.words.contains(part) {
        true => part.clone(),
        false => redaction.text(part).into_owned(),
    });
    let shown = PatchOperation { path: path.collect(), change: operation.change.clone() };
    out.text("path", &shown.pointer());
    let Some(value) = operation.change.value() else { return };
    if is_secret || redaction.withheld().is_some() {
        out.text("value", REDACTED);
        return;
    }
    let value = match redaction.json(value.as_str(), own) {
        // What was replaced leaves JSON.
        Some(redacted) => RawJson::parse(redacted).unwrap_or_else(|_| RawJson::null()),
        None => value.clone(),
    };
    let length = value.as_str().len();
    if length <= MAX_VALUE {
        out.raw("value", &value);
        return;
    }
    let text = match value.kind() {
        JsonKind::String => value.as_slice().text().unwrap_or_default(),
        _ => Cow::Borrowed(value.as_str()),
    };
    out.text("value", beginning(&text, MAX_VALUE));
    out.integer("cut", text.len() as i128);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_core::json::patch;

    fn changed(old: &str, new: &str, redaction: &Redaction) -> String {
        let raw = |text: &str| RawJson::parse(text).unwrap();
        changes(&patch(&raw(old), &raw(new)), redaction).0.to_string()
    }

    #[test]
    fn changes_are_a_json_patch_with_short_values_and_no_secrets() {
        let redaction = Redaction::new(["SECRET"], ["token"]);
        let old = r#"{"tool_input":{"a":1,"token":"x","b":{}}}"#;
        let new = r#"{"tool_input":{"a":2,"token":"y","b":{"token":{"c":1}},"d":"\u0053ECRET!","SECRET":[]}}"#;
        assert_eq!(
            changed(old, new, &redaction),
            concat!(
                r#"[{"op":"add","path":"/tool_input/d","value":"[redacted]!"},"#,
                r#"{"op":"add","path":"/tool_input/[redacted]","value":[]},"#,
                r#"{"op":"replace","path":"/tool_input/a","value":2},"#,
                r#"{"op":"replace","path":"/tool_input/token","value":"[redacted]"},"#,
                r#"{"op":"add","path":"/tool_input/b/token","value":"[redacted]"}]"#,
            )
        );
        let long = format!("{{\"a\":\"{}\"}}", "é".repeat(200));
        let found = changed(r#"{"a":1}"#, &long, &redaction);
        let expected = "é".repeat(128);
        assert_eq!(
            found,
            format!(r#"[{{"op":"replace","path":"/a","value":"{expected}","cut":400}}]"#)
        );
        let withheld = Redaction::withholding("x");
        let found = changed(r#"{"tool_input":1}"#, r#"{"tool_input":2}"#, &withheld);
        assert_eq!(found, r#"[{"op":"replace","path":"/tool_input","value":"[redacted]"}]"#);
    }

    #[test]
    fn a_reason_is_cut_behind_its_redaction_and_says_so() {
        let redaction = Redaction::new(["SECRET"], []);
        let text = format!("{}SECRET{}", "a".repeat(MAX_REASON - 3), "b".repeat(10));
        let found = reason(&text, &redaction).unwrap();
        assert_eq!(found, format!("{}[re… (17 more bytes)", "a".repeat(MAX_REASON - 3)));
    }

    #[test]
    fn every_kind_has_its_word() {
        assert_eq!(AuditKind::ALL.map(AuditKind::as_str), AuditKind::NAMES);
    }

    #[test]
    fn an_entry_is_one_line_whatever_is_in_it() {
        let mut entry = AuditEntry::new("now".into(), AuditKind::Failed);
        entry.reason = reason("a\nb\r\u{2028}\u{85}\u{1b}[31m", &Redaction::default());
        let line = String::from_utf8(entry.to_json()).unwrap();
        assert!(!line.chars().any(hook_core::text::is_hidden), "{line}");
    }
}
