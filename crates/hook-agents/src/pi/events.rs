//! The events of pi and oh-my-pi, with their native events.

use hook_protocol::HookEventName as Event;

use super::{fields, results};
use crate::table::{AgentEvent, Subject};

/// An event for hooks that the extension does not register.
const fn unconnected(event: AgentEvent) -> AgentEvent {
    AgentEvent { is_unconnected: true, ..event }
}

/// An event that hooks can cancel.
const fn cancelable(
    name: &'static str,
    native: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { blocks: true, ..observed(name, native, fields) }
}

/// An event that hooks can only observe.
const fn observed(
    name: &'static str,
    native: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    unconnected(AgentEvent { fields, ..AgentEvent::new(name, native) })
}

const TOOL_CALL: AgentEvent = AgentEvent {
    subject: Subject::Tool,
    fields: &[("tool_name", "toolName"), ("tool_input", "input"), ("tool_call_id", "toolCallId")],
    extra_fields: &["toolCallId"],
    foreign_value: Some(fields::call_field),
    blocks: true,
    blocks_on_failure: true,
    ..AgentEvent::new("tool_call", Event::BeforeTool)
};
const TOOL_RESULT: AgentEvent = AgentEvent {
    subject: Subject::Tool,
    fields: &[
        ("tool_name", "toolName"),
        ("tool_input", "input"),
        ("tool_response", "content"),
        ("tool_call_id", "toolCallId"),
        ("is_error", "isError"),
    ],
    extra_fields: &["toolCallId", "details"],
    foreign_value: Some(fields::result_field),
    complete: Some(results::complete_result),
    defaults: &[("tool_response", "[]")],
    ..AgentEvent::new("tool_result", Event::AfterTool)
};
const OMP_TOOL_RESULT: AgentEvent = AgentEvent {
    extra_fields: &["toolCallId", "details", "isError"],
    foreign_value: Some(fields::omp_result_field),
    complete: Some(results::complete_omp_result),
    ..TOOL_RESULT
};
const INPUT: AgentEvent = AgentEvent {
    fields: &[("prompt", "text")],
    blocks: true,
    ..AgentEvent::new("input", Event::BeforeAgent)
};
const BEFORE_START: AgentEvent = AgentEvent {
    fields: &[("prompt", "prompt"), ("images", "images")],
    blocks: true,
    ..AgentEvent::new("before_agent_start", Event::BeforeAgent)
};
const SESSION_START: AgentEvent = AgentEvent {
    fields: &[("source", "reason")],
    defaults: &[("source", "\"startup\"")],
    ..AgentEvent::new("session_start", Event::SessionStart)
};
const SESSION_END: AgentEvent = AgentEvent {
    fields: &[("reason", "reason")],
    defaults: &[("reason", "\"other\"")],
    ..AgentEvent::new("session_shutdown", Event::SessionEnd)
};
const COMPACT: AgentEvent = AgentEvent {
    fields: &[
        ("trigger", "trigger"),
        ("preparation", "preparation"),
        ("custom_instructions", "customInstructions"),
        ("messages", "messages"),
    ],
    extra_fields: &["preparation", "branchEntries"],
    foreign_value: Some(fields::compression_field),
    defaults: &[("trigger", "\"auto\"")],
    blocks: true,
    ..AgentEvent::new("session_before_compact", Event::PreCompress)
};

const fn end(name: &'static str) -> AgentEvent {
    AgentEvent {
        fields: &[
            ("prompt", "prompt"),
            ("prompt_response", "last_assistant_message"),
            ("stop_hook_active", "stop_hook_active"),
            ("messages", "messages"),
        ],
        defaults: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        extra_fields: &["messages"],
        foreign_value: Some(fields::end_field),
        blocks: true,
        ..AgentEvent::new(name, Event::AfterAgent)
    }
}

const CONTEXT: AgentEvent = AgentEvent {
    extra_fields: &["messages"],
    foreign_value: Some(fields::context_field),
    complete: Some(results::complete_messages),
    ..observed("context", Event::BeforeModel, &[("messages", "messages")])
};
/// The extension sends the request in native form, too, for hooks that are no handlers.
const CONNECTED_CONTEXT: AgentEvent = AgentEvent {
    fields: &[("messages", "messages"), ("llm_request", "request")],
    blocks: true,
    is_unconnected: false,
    ..CONTEXT
};
const AGENT_START: AgentEvent = observed("agent_start", Event::AgentStart, &[]);
const TURN_START: AgentEvent = observed(
    "turn_start",
    Event::TurnStart,
    &[("turn_index", "turnIndex"), ("turn_timestamp", "timestamp")],
);
const TURN_END: AgentEvent = observed(
    "turn_end",
    Event::TurnEnd,
    &[("turn_index", "turnIndex"), ("message", "message"), ("tool_results", "toolResults")],
);

pub(super) const PI: &[AgentEvent] = &[
    TOOL_CALL,
    TOOL_RESULT,
    INPUT,
    SESSION_START,
    SESSION_END,
    COMPACT,
    end("agent_end"),
    unconnected(BEFORE_START),
    CONNECTED_CONTEXT,
    AGENT_START,
    TURN_START,
    TURN_END,
];
pub(super) const OMP: &[AgentEvent] = &[
    TOOL_CALL,
    OMP_TOOL_RESULT,
    BEFORE_START,
    SESSION_START,
    SESSION_END,
    COMPACT,
    end("session_stop"),
    unconnected(end("agent_end")),
    CONTEXT,
    AGENT_START,
    TURN_START,
    TURN_END,
    AgentEvent {
        subject: Subject::Field("reason"),
        ..cancelable(
            "session_before_switch",
            Event::BeforeSessionSwitch,
            &[("reason", "reason"), ("target", "targetSessionFile")],
        )
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        ..observed(
            "session_switch",
            Event::SessionSwitch,
            &[("reason", "reason"), ("previous", "previousSessionFile")],
        )
    },
    cancelable("session_before_branch", Event::BeforeSessionBranch, &[("entry_id", "entryId")]),
    AgentEvent {
        defaults: &[("entry_id", "\"\"")],
        ..observed(
            "session_branch",
            Event::SessionBranch,
            &[("entry_id", "entryId"), ("previous", "previousSessionFile")],
        )
    },
    observed(
        "session.compacting",
        Event::Compacting,
        &[("session_id", "sessionId"), ("messages", "messages")],
    ),
    AgentEvent {
        extra_fields: &["compactionEntry", "fromExtension"],
        foreign_value: Some(fields::compressed_field),
        defaults: &[("trigger", "\"auto\"")],
        ..observed("session_compact", Event::PostCompress, &[("trigger", "trigger")])
    },
    cancelable("session_before_tree", Event::BeforeSessionTree, &[("preparation", "preparation")]),
    AgentEvent {
        defaults: &[("new_leaf_id", "\"\""), ("old_leaf_id", "\"\"")],
        ..observed(
            "session_tree",
            Event::SessionTree,
            &[
                ("new_leaf_id", "newLeafId"),
                ("old_leaf_id", "oldLeafId"),
                ("summary_entry", "summaryEntry"),
            ],
        )
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        ..observed("auto_compaction_start", Event::AutoCompactionStart, &[("reason", "reason")])
    },
    observed(
        "auto_compaction_end",
        Event::AutoCompactionEnd,
        &[("result", "result"), ("aborted", "aborted"), ("will_retry", "willRetry")],
    ),
    observed(
        "auto_retry_start",
        Event::AutoRetryStart,
        &[
            ("attempt", "attempt"),
            ("max_attempts", "maxAttempts"),
            ("delay_ms", "delayMs"),
            ("error", "errorMessage"),
        ],
    ),
    observed(
        "auto_retry_end",
        Event::AutoRetryEnd,
        &[("success", "success"), ("attempt", "attempt")],
    ),
    observed("ttsr_triggered", Event::RuleTriggered, &[("rules", "rules")]),
    observed(
        "todo_reminder",
        Event::TodoReminder,
        &[("todos", "todos"), ("attempt", "attempt"), ("max_attempts", "maxAttempts")],
    ),
];
