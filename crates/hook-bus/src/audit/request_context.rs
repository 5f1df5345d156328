//! The callers of requests, kept for their hooks and responses.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use hook_settings::redact::{REDACTED, Redaction};

use super::entry;
use crate::message::{HookExecutionRequest, RequestKey};

/// The maximum number of requests kept: a response may have been missed.
const MAX_REQUESTS: usize = 16 * 1_024;

/// The number of answered requests kept: async hooks may still run after the response.
const MAX_ANSWERED: usize = 1_024;

/// The context of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestContext {
    pub(super) session: Option<String>,
    pub(super) agent: Option<&'static str>,
    pub(super) tool: Option<String>,
    pub(super) client_key: Option<String>,
}

/// The contexts of requests in progress, and of the last answered ones.
#[derive(Debug, Default)]
pub(super) struct RequestContexts {
    contexts: BTreeMap<u64, Arc<RequestContext>>,
    answered: VecDeque<u64>,
}

impl RequestContexts {
    /// Adds a new request.
    pub(super) fn insert(
        &mut self,
        key: RequestKey,
        request: &HookExecutionRequest,
        redaction: &Redaction,
    ) {
        let (session, tool, agent) = request.context();
        let redacted = |field: &str, text: String| match redaction.is_field(field) {
            true => REDACTED.to_owned(),
            false => entry::name(&text, redaction),
        };
        let context = RequestContext {
            session: session.map(|session| redacted("session_id", session)),
            agent,
            tool: tool.map(|tool| redacted("tool_name", tool)),
            client_key: request.client_key().map(|asker| entry::name(asker, redaction)),
        };
        self.contexts.insert(key.number(), Arc::new(context));
        if self.contexts.len() > MAX_REQUESTS {
            self.contexts.pop_first();
        }
    }

    /// Returns the context of a request.
    pub(super) fn get(&self, key: RequestKey) -> Arc<RequestContext> {
        self.contexts.get(&key.number()).cloned().unwrap_or_default()
    }

    /// Marks a request as answered.
    pub(super) fn mark_answered(&mut self, key: RequestKey) {
        self.answered.push_back(key.number());
        if self.answered.len() > MAX_ANSWERED
            && let Some(first) = self.answered.pop_front()
        {
            self.contexts.remove(&first);
        }
    }
}
