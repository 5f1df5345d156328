//! The callers of requests, kept for their hooks and responses.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use hook_settings::redact::{REDACTED, Redaction};

use super::entry;
use crate::message::{HookExecutionRequest, RequestKey};

/// The maximum number of requests kept: a response may have been missed.
const MOST: usize = 16 * 1_024;

/// The number of answered requests kept: async hooks may still run after the response.
const ANSWERED: usize = 1_024;

/// The context of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) session: Option<String>,
    pub(super) agent: Option<&'static str>,
    pub(super) tool: Option<String>,
    pub(super) asker: Option<String>,
}

/// The contexts of requests in progress, and of the last answered ones.
#[derive(Debug, Default)]
pub(super) struct Asking {
    known: BTreeMap<u64, Arc<Asked>>,
    answered: VecDeque<u64>,
}

impl Asking {
    /// Adds a new request.
    pub(super) fn begin(
        &mut self,
        key: RequestKey,
        request: &HookExecutionRequest,
        redaction: &Redaction,
    ) {
        let (session, tool, agent) = request.about();
        let shown = |field: &str, text: String| match redaction.is_field(field) {
            true => REDACTED.to_owned(),
            false => entry::name(&text, redaction),
        };
        let asked = Asked {
            session: session.map(|session| shown("session_id", session)),
            agent,
            tool: tool.map(|tool| shown("tool_name", tool)),
            asker: request.asker().map(|asker| entry::name(asker, redaction)),
        };
        self.known.insert(key.number(), Arc::new(asked));
        if self.known.len() > MOST {
            self.known.pop_first();
        }
    }

    /// Returns the context of a request.
    pub(super) fn of(&self, key: RequestKey) -> Arc<Asked> {
        self.known.get(&key.number()).cloned().unwrap_or_default()
    }

    /// Marks a request as answered.
    pub(super) fn end(&mut self, key: RequestKey) {
        self.answered.push_back(key.number());
        if self.answered.len() > ANSWERED
            && let Some(first) = self.answered.pop_front()
        {
            self.known.remove(&first);
        }
    }
}
