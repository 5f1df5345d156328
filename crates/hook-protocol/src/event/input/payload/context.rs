//! Payloads of events about the size of the conversation: compression and warnings.

use super::{FieldValue, Payload, Subject, payload};
use crate::event::input::keywords::{CompactionReason, PreCompressTrigger};
use hook_json::field::Field;
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonArray, JsonObject, ObjectWriter, RawJson, RawObject};

payload! {
    /// The conversation is about to be compressed.
    PreCompressInput {
        /// The trigger of the compression.
        trigger: PreCompressTrigger,
    }
    optional {
        /// The conversation.
        messages: JsonArray,
        /// The planned compression, in the agent's own format.
        preparation: RawObject,
        /// The user's instructions for the summary.
        custom_instructions: String,
        /// The number of used tokens in the context.
        used_tokens: u64,
        /// The maximum number of tokens in the context.
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
        /// The trigger of the compression.
        trigger: PreCompressTrigger,
    }
    optional {
        /// The summary that replaces the conversation.
        summary: String,
        /// The number of messages before.
        message_count_before: u64,
        /// The number of messages after.
        message_count_after: u64,
    }
    subject: trigger,
    sample: r#"{"trigger":"manual"}"#,
}

payload! {
    /// The prompt for the summary is being created.
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
        /// The number of used tokens in the context.
        used_tokens: u64,
        /// The maximum number of tokens in the context.
        max_tokens: u64,
        /// The threshold, as a fraction of 1.
        threshold: hook_json::JsonNumber,
    }
    optional {}
    sample: r#"{"used_tokens":170000,"max_tokens":200000,"threshold":0.8}"#,
}

payload! {
    /// The agent starts an automatic compression of its conversation.
    AutoCompactionStartInput {
        /// The reason.
        reason: CompactionReason,
    }
    optional {}
    subject: reason,
    sample: r#"{"reason":"threshold"}"#,
}

payload! {
    /// An automatic compression finished or failed.
    AutoCompactionEndInput {
        /// `true` if it was aborted.
        aborted: bool,
        /// `true` if the model call is retried.
        will_retry: bool,
    }
    optional {
        /// The result, in the agent's own format.
        result: RawJson,
    }
    sample: r#"{"aborted":false,"will_retry":false}"#,
}
