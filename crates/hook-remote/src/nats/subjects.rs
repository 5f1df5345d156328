//! Subjects of messages. All of a tenant share a prefix, which keeps tenants apart.

use std::sync::Arc;

use hook_json::text::shortened;

use super::error::NatsError;

/// The maximum length of a prefix, in bytes.
const MAX_LENGTH: usize = 128;

/// The maximum length of an event's name in a subject, in bytes.
const MAX_EVENT: usize = 64;

/// The placeholder for a name that cannot be part of a subject.
const OTHER_EVENT: &str = "_";

/// The placeholder for a user without a key.
pub(super) const NO_USER: &str = "_";

/// The subjects of one tenant.
#[derive(Debug, Clone)]
pub(super) struct Subjects {
    prefix: Arc<str>,
}

impl Subjects {
    pub(super) fn new(prefix: &str) -> Result<Self, NatsError> {
        let is_subject = prefix.len() <= MAX_LENGTH && prefix.split('.').all(is_token);
        match is_subject {
            true => Ok(Self { prefix: prefix.into() }),
            false => Err(NatsError::InvalidSubject { text: shortened(prefix) }),
        }
    }

    /// Returns the prefix of all subjects.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the subject of requests for an event.
    pub(super) fn request(&self, event: &str) -> String {
        format!("{}.request.{}", self.prefix, token_of(event))
    }

    /// Returns the wildcard of all requests.
    pub(super) fn requests(&self) -> String {
        format!("{}.request.*", self.prefix)
    }

    /// Returns the subject prefix of a user's replies. Below it each client has a subject, and
    /// below that each request. A broker can let engines publish below all users, and each user
    /// read only its own.
    pub(super) fn replies(&self, user: Option<&str>) -> String {
        format!("{}.reply.{}", self.prefix, user.unwrap_or(NO_USER))
    }

    /// Returns the user of a reply subject, or `None` if it is not one.
    pub(super) fn user_of_reply<'r>(&self, subject: &'r str) -> Option<&'r str> {
        let rest = subject.strip_prefix(&*self.prefix)?.strip_prefix(".reply.")?;
        let (user, request) = rest.split_once('.')?;
        (is_token(user) && request.split('.').all(is_token)).then_some(user)
    }

    /// Returns the subject on which clients cancel requests.
    pub(super) fn cancel(&self) -> String {
        format!("{}.cancel", self.prefix)
    }

    /// Returns the subject of engine status messages.
    pub(super) fn engines(&self) -> String {
        format!("{}.engines", self.prefix)
    }

    /// Returns the subject of an event's messages.
    pub(super) fn events(&self, event: Option<&str>) -> String {
        format!("{}.events.{}", self.prefix, event.map_or(OTHER_EVENT, token_of))
    }

    /// Returns the wildcard of all events' messages.
    pub(super) fn all_events(&self) -> String {
        format!("{}.events.*", self.prefix)
    }
}

/// Returns `true` if a request's subject belongs to the event that it names.
pub(super) fn is_for_event(subject: &str, event: &str) -> bool {
    subject.rsplit('.').next() == Some(token_of(event))
}

fn token_of(event: &str) -> &str {
    if event.len() <= MAX_EVENT && is_token(event) { event } else { OTHER_EVENT }
}

/// Returns `true` if a text can be one token of a subject, without special meaning.
pub(super) fn is_token(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something_in_a_subject_stand_in_none() {
        let subjects = Subjects::new("acme.hooks").unwrap();
        assert_eq!(subjects.request("BeforeTool"), "acme.hooks.request.BeforeTool");
        for name in ["a.b", ">", "*", "", "a b", "é", &"x".repeat(65)] {
            assert_eq!(subjects.request(name), "acme.hooks.request._");
            assert!(is_for_event("acme.hooks.request._", name));
        }
        assert_eq!(subjects.user_of_reply("acme.hooks.reply.UKEY.a.b"), Some("UKEY"));
        for subject in [
            "",
            "hooks.reply.a.b",
            "acme.hooks.reply",
            "acme.hooks.reply.",
            "acme.hooks.reply.a",
            "acme.hooks.reply.a.",
            "acme.hooks.reply.a.>",
            "acme.hooks.reply.*.b",
            "acme.hooks.reply.a..b",
            "acme.hooks.replying.a.b",
            "acme.hooks.request.BeforeTool",
            "_INBOX.a.b",
        ] {
            assert_eq!(subjects.user_of_reply(subject), None, "{subject}");
        }
        for prefix in ["", ".", "a.", ".a", "a..b", "a.*", "a.>", "a b", &"x".repeat(129)] {
            assert!(Subjects::new(prefix).is_err(), "{prefix}");
        }
    }
}
