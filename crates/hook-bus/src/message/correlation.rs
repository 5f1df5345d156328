//! The id that a response shares with its request.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use uuid::Uuid;

/// The maximum length of a caller's id, in bytes.
pub(super) const MAX_LENGTH: usize = 256;

/// An opaque id, returned unchanged in the response.
#[derive(Clone)]
pub struct CorrelationId(Repr);

#[derive(Clone)]
enum Repr {
    /// Formatted only when read: every request has an id, but few are read.
    Generated {
        uuid: Uuid,
        text: OnceLock<Arc<str>>,
    },
    Given(Arc<str>),
}

/// An id of more than 256 bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a correlation id has at most {MAX_LENGTH} bytes, this one has {length}")]
pub struct CorrelationIdTooLong {
    length: usize,
}

impl CorrelationId {
    /// Creates an id from a caller's text.
    ///
    /// # Errors
    /// If it is longer than 256 bytes.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, CorrelationIdTooLong> {
        let text = text.into();
        match text.len() {
            0..=MAX_LENGTH => Ok(Self(Repr::Given(text))),
            length => Err(CorrelationIdTooLong { length }),
        }
    }

    /// Generates a random id (UUID v4).
    pub fn generate() -> Self {
        Self(Repr::Generated { uuid: Uuid::new_v4(), text: OnceLock::new() })
    }

    /// Returns the id's text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Generated { uuid, text } => text.get_or_init(|| uuid.to_string().into()),
            Repr::Given(text) => text,
        }
    }
}

impl fmt::Display for CorrelationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for CorrelationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(formatter)
    }
}

impl PartialEq for CorrelationId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for CorrelationId {}

impl Hash for CorrelationId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_ids_are_uuids_and_differ() {
        let (one, other) = (CorrelationId::generate(), CorrelationId::generate());
        assert_ne!(one, other);
        assert_eq!(Uuid::parse_str(one.as_str()).unwrap().get_version_num(), 4);
        assert_eq!(CorrelationId::new(one.as_str()).unwrap(), one);
    }
}
