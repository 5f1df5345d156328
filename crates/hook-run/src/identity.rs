//! The identity of a hook in messages: plain data that is written and read back.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use hook_json::text::shortened;
use hook_protocol::event::HookEventName;
use hook_settings::HookSource;

/// The identity of a hook in messages, results and records. A clone is a handle.
///
/// An identity from a message may hold names that this engine does not know; they are kept
/// unchanged. Two identities are equal if all their names are equal.
///
/// ```
/// use hook_run::HookIdentity;
///
/// let text = r#"{"name":"guard","type":"command","source":"user","eventName":"BeforeTool"}"#;
/// let guard: HookIdentity = serde_json::from_str(text)?;
/// assert_eq!((guard.display_name(), guard.kind()), ("guard", "command"));
/// assert_eq!(serde_json::to_string(&guard)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct HookIdentity {
    names: Arc<Names>,
    event: Option<HookEventName>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Names {
    name: Box<str>,
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    source: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extension: Option<Box<str>>,
    event_name: Cow<'static, str>,
}

impl HookIdentity {
    /// Creates the identity of a hook of this engine, with the name of its kind.
    pub fn new(name: &str, kind: &'static str, source: &HookSource, event: HookEventName) -> Self {
        let extension = match source {
            HookSource::Extension(name) => Some(name.as_str().into()),
            _ => None,
        };
        let names = Names {
            name: name.into(),
            kind: kind.into(),
            source: source.as_str().into(),
            extension,
            event_name: event.as_str().into(),
        };
        Self { names: Arc::new(names), event: Some(event) }
    }

    /// Creates the identity of a hook from the names in a message.
    pub fn reported(name: &str, kind: &str, source: &str, event_name: &str) -> Self {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        Self::from_names(Names {
            name: name.into(),
            kind: owned(kind),
            source: owned(source),
            extension: None,
            event_name: owned(event_name),
        })
    }

    /// Adds the name of the extension that the hook comes from.
    #[must_use]
    pub(crate) fn with_extension(mut self, extension: &str) -> Self {
        Arc::make_mut(&mut self.names).extension = Some(extension.into());
        self
    }

    fn from_names(names: Names) -> Self {
        let event = HookEventName::from_name(&names.event_name);
        Self { names: Arc::new(names), event }
    }

    /// Returns the hook's name, or its command if it has none.
    pub fn display_name(&self) -> &str {
        &self.names.name
    }

    /// Returns the hook's kind, as [`HookKind::as_str`](crate::HookKind::as_str) names it.
    pub fn kind(&self) -> &str {
        &self.names.kind
    }

    /// Returns the hook's source, as [`HookSource::as_str`] names it.
    pub fn source(&self) -> &str {
        &self.names.source
    }

    /// Returns the name of the extension that the hook comes from, if any.
    pub fn extension(&self) -> Option<&str> {
        self.names.extension.as_deref()
    }

    /// Returns the hook's source for display: `user`, `extension NAME`.
    pub fn origin(&self) -> Cow<'_, str> {
        match self.extension() {
            Some(extension) => format!("{} {extension}", self.source()).into(),
            None => self.source().into(),
        }
    }

    /// Returns the event that the hook listens to; `None` if the identity comes from a message and
    /// its [event name](Self::event_name) is not a built-in event's.
    pub fn event(&self) -> Option<HookEventName> {
        self.event
    }

    /// Returns the name of the event that the hook listens to.
    pub fn event_name(&self) -> &str {
        &self.names.event_name
    }

    /// Checks whether both are handles of one hook of this engine. Different hooks may be equal.
    pub fn is_same_hook(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.names, &other.names)
    }

    /// Returns a warning that names the hook, as callers get it.
    pub fn format_warning(&self, text: &str) -> String {
        format!("hook {}: {text}", shortened(self.display_name()))
    }
}

impl PartialEq for HookIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for HookIdentity {}

impl Hash for HookIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
    }
}

impl fmt::Debug for HookIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HookIdentity")
            .field("event", &self.event_name())
            .field("name", &self.display_name())
            .field("source", &self.origin())
            .finish_non_exhaustive()
    }
}

impl Serialize for HookIdentity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.names.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HookIdentity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Names::deserialize(deserializer).map(Self::from_names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let of_extension = HookSource::Extension("tidy".to_owned());
        for source in [HookSource::User, of_extension] {
            let hook = HookIdentity::new("a \"b\"", "inline", &source, HookEventName::AfterTool);
            let text = serde_json::to_string(&hook).unwrap();
            let read: HookIdentity = serde_json::from_str(&text).unwrap();
            assert_eq!(read, hook, "{text}");
            assert_eq!(read.event(), Some(HookEventName::AfterTool));
            assert_eq!(read.origin(), source.to_string());
            assert!(!read.is_same_hook(&hook));
        }
    }

    #[test]
    fn words_of_a_later_engine_are_kept() {
        let text =
            r#"{"name":"n","type":"quantum","source":"cloud","eventName":"Later","colour":"red"}"#;
        let read: HookIdentity = serde_json::from_str(text).unwrap();
        assert_eq!((read.kind(), read.source(), read.event_name()), ("quantum", "cloud", "Later"));
        assert_eq!(read.event(), None);
    }
}
