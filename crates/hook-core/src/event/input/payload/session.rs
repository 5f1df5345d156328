//! Sessions: their beginning and end, and moving between and within them.

use super::{FieldValue, Payload, Subject, payload};
use crate::event::input::words::{SessionEndReason, SessionStartSource, SwitchReason};
use crate::json::field::Field;
use crate::json::shape::{FieldReader, ShapeError};
use crate::json::{JsonNumber, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// A session begins.
    SessionStartInput {
        /// Why it began.
        source: SessionStartSource,
    }
    optional {
        /// The model that answers.
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
        /// Why it ended.
        reason: SessionEndReason,
    }
    optional {
        /// How many tokens it used.
        total_tokens: JsonNumber,
        /// How many tools it called.
        total_tool_calls: JsonNumber,
        /// How long it was, in milliseconds.
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
    /// The agent is about to change to another session.
    BeforeSessionSwitchInput {
        /// Why.
        reason: SwitchReason,
    }
    optional {
        /// The session it changes to.
        target: String,
    }
    subject: reason,
    sample: r#"{"reason":"new"}"#,
}

payload! {
    /// The agent changed to another session.
    SessionSwitchInput {
        /// Why.
        reason: SwitchReason,
    }
    optional {
        /// The session before.
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
        /// The session before.
        previous: String,
    }
    sample: r#"{"entry_id":"e7"}"#,
}

payload! {
    /// The agent is about to move in the tree of branches.
    BeforeSessionTreeInput {
        /// What it is about to do, in its own shape; `userWantsSummary` is read.
        preparation: RawObject,
    }
    optional {}
    sample: r#"{"preparation":{"targetId":"e3","userWantsSummary":true}}"#,
}

payload! {
    /// The agent moved in the tree of branches.
    SessionTreeInput {
        /// Where it is now.
        new_leaf_id: String,
        /// Where it was.
        old_leaf_id: String,
    }
    optional {
        /// The summary of what was left.
        summary_entry: RawJson,
    }
    sample: r#"{"new_leaf_id":"e3","old_leaf_id":"e7"}"#,
}
