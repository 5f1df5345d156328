//! Who asked what, for what happens to a request after it: its hooks, and its response.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use hook_core::redact::{REDACTED, Redaction};

use super::entry;
use crate::message::{HookExecutionRequest, RequestKey};

/// How many requests are known at most: a response may have been missed.
const MOST: usize = 16 * 1_024;

/// How many of them are answered: hooks may still run behind a response that did not wait for them.
const ANSWERED: usize = 1_024;

/// What is known of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) session: Option<String>,
    pub(super) agent: Option<&'static str>,
    pub(super) tool: Option<String>,
    pub(super) asker: Option<String>,
}

/// The requests whose hooks run, and a few of those that are answered.
#[derive(Debug, Default)]
pub(super) struct Asking {
    known: BTreeMap<u64, Arc<Asked>>,
    answered: VecDeque<u64>,
}

impl Asking {
    /// Notes a request that begins.
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

    /// What is known of a request.
    pub(super) fn of(&self, key: RequestKey) -> Arc<Asked> {
        self.known.get(&key.number()).cloned().unwrap_or_default()
    }

    /// Notes that a request is answered.
    pub(super) fn end(&mut self, key: RequestKey) {
        self.answered.push_back(key.number());
        if self.answered.len() > ANSWERED
            && let Some(first) = self.answered.pop_front()
        {
            self.known.remove(&first);
        }
    }
}
