//! The size of the conversation: compression and its warnings.

use super::{FieldValue, Payload, Subject, payload};
use crate::event::input::words::{CompactionReason, PreCompressTrigger};
use crate::json::field::Field;
use crate::json::shape::{FieldReader, ShapeError};
use crate::json::{JsonArray, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// The conversation is about to be compressed.
    PreCompressInput {
        /// What asked for it.
        trigger: PreCompressTrigger,
    }
    optional {
        /// The conversation.
        messages: JsonArray,
        /// What the agent is about to do, in its own shape.
        preparation: RawObject,
        /// What the user wants of the summary.
        custom_instructions: String,
        /// How many tokens of the context are used.
        used_tokens: u64,
        /// How many there are.
        max_tokens: u64,
    }
    subject: trigger,
    sample: r#"{"trigger":"manual"}"#,
}

impl From<PreCompressTrigger> for PreCompressInput {
    fn from(trigger: PreCompressTrigger) -> Self {
        Self::new(trigger)
    }
}

payload! {
    /// The conversation was compressed.
    PostCompressInput {
        /// What asked for it.
        trigger: PreCompressTrigger,
    }
    optional {
        /// What stands for the conversation now.
        summary: String,
        /// How many messages there were.
        message_count_before: u64,
        /// How many there are.
        message_count_after: u64,
    }
    subject: trigger,
    sample: r#"{"trigger":"manual"}"#,
}

payload! {
    /// The prompt that makes the summary is being made.
    CompactingInput {
        /// The conversation.
        messages: JsonArray,
    }
    optional {}
    sample: r#"{"messages":[{"role":"user","content":"Write a greeting to notes.txt"}]}"#,
}

payload! {
    /// The use of the context passed a threshold.
    ContextWarningInput {
        /// How many tokens of the context are used.
        used_tokens: u64,
        /// How many there are.
        max_tokens: u64,
        /// The threshold, as a part of 1.
        threshold: crate::json::JsonNumber,
    }
    optional {}
    sample: r#"{"used_tokens":170000,"max_tokens":200000,"threshold":0.8}"#,
}

payload! {
    /// The agent begins to compress its conversation by itself.
    AutoCompactionStartInput {
        /// Why.
        reason: CompactionReason,
    }
    optional {}
    subject: reason,
    sample: r#"{"reason":"threshold"}"#,
}

payload! {
    /// The agent compressed its conversation by itself, or tried to.
    AutoCompactionEndInput {
        /// Whether it was broken off.
        aborted: bool,
        /// Whether the model call is tried again.
        will_retry: bool,
    }
    optional {
        /// What came of it, in the agent's own shape.
        result: RawJson,
    }
    sample: r#"{"aborted":false,"will_retry":false}"#,
}
