//! Payloads of events about sessions: start, end, switches and branches.

use super::{FieldValue, Payload, Subject, payload};
use crate::event::input::keywords::{SessionEndReason, SessionStartSource, SwitchReason};
use hook_json::field::Field;
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonNumber, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// A session begins.
    SessionStartInput {
        /// The reason for the start.
        source: SessionStartSource,
    }
    optional {
        /// The session's model.
        model: String,
        /// The system prompt.
        system_prompt: String,
    }
    subject: source,
    sample: r#"{"source":"startup"}"#,
}

impl From<SessionStartSource> for SessionStartInput {
    fn from(source: SessionStartSource) -> Self {
        Self::new(source)
    }
}

payload! {
    /// A session ends.
    SessionEndInput {
        /// The reason for the end.
        reason: SessionEndReason,
    }
    optional {
        /// The number of tokens used.
        total_tokens: JsonNumber,
        /// The number of tool calls.
        total_tool_calls: JsonNumber,
        /// The duration, in milliseconds.
        duration_ms: JsonNumber,
    }
    subject: reason,
    sample: r#"{"reason":"exit"}"#,
}

impl From<SessionEndReason> for SessionEndInput {
    fn from(reason: SessionEndReason) -> Self {
        Self::new(reason)
    }
}

payload! {
    /// The agent is about to switch to another session.
    BeforeSessionSwitchInput {
        /// The reason.
        reason: SwitchReason,
    }
    optional {
        /// The session to switch to.
        target: String,
    }
    subject: reason,
    sample: r#"{"reason":"new"}"#,
}

payload! {
    /// The agent switched to another session.
    SessionSwitchInput {
        /// The reason.
        reason: SwitchReason,
    }
    optional {
        /// The previous session.
        previous: String,
    }
    subject: reason,
    sample: r#"{"reason":"new"}"#,
}

payload! {
    /// The conversation is about to branch.
    BeforeSessionBranchInput {
        /// The entry at which it branches.
        entry_id: String,
    }
    optional {}
    sample: r#"{"entry_id":"e7"}"#,
}

payload! {
    /// The conversation branched.
    SessionBranchInput {
        /// The entry at which it branched.
        entry_id: String,
    }
    optional {
        /// The previous session.
        previous: String,
    }
    sample: r#"{"entry_id":"e7"}"#,
}

payload! {
    /// The agent is about to move in the tree of branches.
    BeforeSessionTreeInput {
        /// The planned move, in the agent's own format; only `userWantsSummary` is read.
        preparation: RawObject,
    }
    optional {}
    sample: r#"{"preparation":{"targetId":"e3","userWantsSummary":true}}"#,
}

payload! {
    /// The agent moved in the tree of branches.
    SessionTreeInput {
        /// The current leaf.
        new_leaf_id: String,
        /// The previous leaf.
        old_leaf_id: String,
    }
    optional {
        /// The summary of the abandoned branch.
        summary_entry: RawJson,
    }
    sample: r#"{"new_leaf_id":"e3","old_leaf_id":"e7"}"#,
}
