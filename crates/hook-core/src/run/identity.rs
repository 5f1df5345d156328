//! What a hook is called in messages: plain data, written and read back.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::HookEventName;
use crate::settings::HookSource;
use crate::text::shortened;

/// What messages, results and records say of a hook. It is made once for a hook; a clone is a handle.
///
/// One that was read from a message may hold words that this engine does not know: they are kept as
/// they are. Two are equal if they say the same.
///
/// ```
/// use hook_core::HookIdentity;
///
/// let text = r#"{"name":"guard","type":"command","source":"user","eventName":"BeforeTool"}"#;
/// let guard: HookIdentity = serde_json::from_str(text)?;
/// assert_eq!((guard.display_name(), guard.kind()), ("guard", "command"));
/// assert_eq!(serde_json::to_string(&guard)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct HookIdentity {
    words: Arc<Words>,
    event: Option<HookEventName>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Words {
    name: Box<str>,
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    source: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extension: Option<Box<str>>,
    event_name: Cow<'static, str>,
}

impl HookIdentity {
    /// Of a hook of this engine. `kind` is the word for what it is run by.
    pub(crate) fn new(
        name: &str,
        kind: &'static str,
        source: &HookSource,
        event: HookEventName,
    ) -> Self {
        let extension = match source {
            HookSource::Extension(name) => Some(name.as_str().into()),
            _ => None,
        };
        let words = Words {
            name: name.into(),
            kind: kind.into(),
            source: source.as_str().into(),
            extension,
            event_name: event.as_str().into(),
        };
        Self { words: Arc::new(words), event: Some(event) }
    }

    /// Of a hook as a message says, by the words there.
    #[doc(hidden)]
    pub fn told(name: &str, kind: &str, source: &str, event_name: &str) -> Self {
        let owned = |word: &str| Cow::Owned(word.to_owned());
        Self::of_words(Words {
            name: name.into(),
            kind: owned(kind),
            source: owned(source),
            extension: None,
            event_name: owned(event_name),
        })
    }

    /// Adds the name of the extension that it comes from.
    #[doc(hidden)]
    #[must_use]
    pub fn with_extension(mut self, extension: &str) -> Self {
        Arc::make_mut(&mut self.words).extension = Some(extension.into());
        self
    }

    fn of_words(words: Words) -> Self {
        let event = HookEventName::from_name(&words.event_name);
        Self { words: Arc::new(words), event }
    }

    /// Its name, else its command.
    pub fn display_name(&self) -> &str {
        &self.words.name
    }

    /// What it is run by, as [`HookKind::as_str`](crate::HookKind::as_str) says it.
    pub fn kind(&self) -> &str {
        &self.words.kind
    }

    /// Where it comes from, as [`HookSource::as_str`] says it.
    pub fn source(&self) -> &str {
        &self.words.source
    }

    /// The extension that it comes from, if it comes from one.
    pub fn extension(&self) -> Option<&str> {
        self.words.extension.as_deref()
    }

    /// Where it comes from, as people are shown it: `user`, `extension NAME`.
    pub fn origin(&self) -> Cow<'_, str> {
        match self.extension() {
            Some(extension) => format!("{} {extension}", self.source()).into(),
            None => self.source().into(),
        }
    }

    /// The event that it listens to; `None` where it was read from a message and its
    /// [name](Self::event_name) is that of no built-in event.
    pub fn event(&self) -> Option<HookEventName> {
        self.event
    }

    /// The name of the event that it listens to.
    pub fn event_name(&self) -> &str {
        &self.words.event_name
    }

    /// Whether both are of the same hook of this engine. Two hooks may say the same of themselves.
    #[doc(hidden)]
    pub fn is_same_hook(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.words, &other.words)
    }

    /// A warning about it, as callers get it.
    pub(crate) fn says(&self, text: &str) -> String {
        format!("hook {}: {text}", shortened(self.display_name()))
    }
}

impl PartialEq for HookIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for HookIdentity {}

impl Hash for HookIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.hash(state);
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
        self.words.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HookIdentity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Words::deserialize(deserializer).map(Self::of_words)
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
