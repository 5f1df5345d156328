//! One entry of an audit.

use hook_json::{
    JsonKind, MAX_OPERATIONS, ObjectWriter, Patch, PatchOperation, RawJson, RawObject, keywords,
};
use std::borrow::Cow;
use std::sync::Arc;

use hook_json::text::{truncated, truncated_with_count};
use hook_protocol::HookEventName;
use hook_settings::AuditLevel;
use hook_settings::redact::{REDACTED, Redaction};

use crate::redaction::exemptions;

/// The maximum length of a reason, in bytes.
const MAX_REASON: usize = 1_024;

/// The maximum length of a hook's name, or of a value that it changed, in bytes.
const MAX_VALUE: usize = 256;

keywords! {
    /// The kind of an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum AuditKind {
        /// A hook was added.
        Registered = "registered",
        /// A hook was removed.
        Unregistered = "unregistered",
        /// A hook started.
        Started = "started",
        /// A hook finished without failure.
        Completed = "completed",
        /// The event may proceed.
        Allowed = "allowed",
        /// The event was blocked.
        Blocked = "blocked",
        /// The user is to be asked.
        Asked = "asked",
        /// The agent is to stop.
        Stopped = "stopped",
        /// A hook failed; or a request, if no hook is named.
        Failed = "failed",
        /// A hook changed its input.
        Modified = "modified",
        /// Entries are missing here.
        Lagged = "lagged",
    }
}

impl AuditKind {
    /// Returns the lowest level that includes the kind.
    pub(crate) fn level(self) -> AuditLevel {
        match self {
            Self::Allowed => AuditLevel::Decisions,
            Self::Started | Self::Completed | Self::Modified => AuditLevel::Verbose,
            _ => AuditLevel::Info,
        }
    }
}

/// One entry of an audit. Its texts are redacted and cut; cut texts say so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The time, ISO 8601 in UTC with milliseconds.
    pub at: Arc<str>,
    /// The kind.
    pub kind: AuditKind,
    /// The id of the request.
    pub correlation_id: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent, if it sent the request in its own format.
    pub agent: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The public key of the client, a user of the fleet's broker, if a fleet forwarded the
    /// request.
    pub client_key: Option<String>,
    /// The event.
    pub event: Option<HookEventName>,
    /// The hook's name, or else its command.
    pub hook: Option<String>,
    /// The reason, or a note of what is missing.
    pub reason: Option<String>,
    /// The changes of the event's input: JSON Patch (RFC 6902), an array of operations. A value of
    /// more than 256 bytes is cut to a text; `cut` beside it is its original size in bytes.
    pub changes: Option<RawJson>,
    /// The number of missing entries. Their content is unknown.
    pub missed: u64,
    /// The reason that texts are left out, if it is not known what to redact.
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
            client_key: None,
            event: None,
            hook: None,
            reason: None,
            changes: None,
            missed: 0,
            withheld: None,
        }
    }

    /// Returns the entry as one line of JSON, without the newline.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out))
    }

    /// Writes the entry's fields.
    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("at", &self.at);
        out.text("kind", self.kind.as_str());
        out.optional_text("correlationId", self.correlation_id.as_deref());
        out.optional_text("session", self.session.as_deref());
        out.optional_text("agent", self.agent.as_deref());
        out.optional_text("tool", self.tool.as_deref());
        out.optional_text("asker", self.client_key.as_deref());
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

/// Redacts and cuts an untrusted text for an entry.
pub(super) fn reason(text: &str, redaction: &Redaction) -> Option<String> {
    (!text.is_empty()).then(|| truncated_with_count(&redaction.text(text), MAX_REASON))
}

/// Redacts and cuts the name of a hook or the id of a request for an entry.
pub(super) fn name(text: &str, redaction: &Redaction) -> String {
    truncated_with_count(&redaction.text(text), MAX_VALUE)
}

/// Returns the listed changes, and a note if there are more.
pub(super) fn changes(patch: &Patch, redaction: &Redaction) -> (RawJson, Option<String>) {
    let operations: Vec<RawJson> = patch
        .operations
        .iter()
        .map(|operation| RawObject::build(|out| write_change(out, operation, redaction)).into())
        .collect();
    let truncation_note = || format!("only the first {MAX_OPERATIONS} changes are listed");
    (RawJson::from_items(&operations), patch.has_more.then(truncation_note))
}

fn write_change(out: &mut ObjectWriter<'_>, operation: &PatchOperation, redaction: &Redaction) {
    out.text("op", operation.change.as_str());
    let is_secret = operation.path.iter().any(|part| redaction.is_field(part));
    let exempt = exemptions();
    let path = operation.path.iter().map(|part| match exempt.texts.contains(part) {
        true => part.clone(),
        false => redaction.text(part).into_owned(),
    });
    let redacted_operation =
        PatchOperation { path: path.collect(), change: operation.change.clone() };
    out.text("path", &redacted_operation.pointer());
    let Some(value) = operation.change.value() else { return };
    if is_secret || redaction.withheld().is_some() {
        out.text("value", REDACTED);
        return;
    }
    let value = match redaction.json(value.as_str(), exempt) {
        // Redacted JSON is still JSON.
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
    out.text("value", truncated(&text, MAX_VALUE));
    out.integer("cut", text.len() as i128);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_json::patch;

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
        assert!(!line.chars().any(hook_json::text::is_hidden), "{line}");
    }
}
