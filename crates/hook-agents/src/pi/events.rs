//! The events of pi and oh-my-pi, with their native events.

use hook_protocol::HookEventName as Event;

use super::{fields, results};
use crate::table::{AgentEvent, Subject};

/// An event for hooks that the extension does not register.
const fn heard(event: AgentEvent) -> AgentEvent {
    AgentEvent { is_asked_elsewhere: true, ..event }
}

/// An event that hooks can cancel.
const fn announced(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    AgentEvent { blocks: true, ..told(name, ours, fields) }
}

/// An event that hooks can only observe.
const fn told(
    name: &'static str,
    ours: Event,
    fields: &'static [(&'static str, &'static str)],
) -> AgentEvent {
    heard(AgentEvent { fields, ..AgentEvent::of(name, ours) })
}

const TOOL_CALL: AgentEvent = AgentEvent {
    subject: Subject::Tool,
    fields: &[("tool_name", "toolName"), ("tool_input", "input"), ("tool_call_id", "toolCallId")],
    beside: &["toolCallId"],
    value: Some(fields::of_call),
    blocks: true,
    blocks_on_failure: true,
    ..AgentEvent::of("tool_call", Event::BeforeTool)
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
    beside: &["toolCallId", "details"],
    value: Some(fields::of_result),
    lay: Some(results::lay_result),
    missing: &[("tool_response", "[]")],
    ..AgentEvent::of("tool_result", Event::AfterTool)
};
const OMP_TOOL_RESULT: AgentEvent = AgentEvent {
    beside: &["toolCallId", "details", "isError"],
    value: Some(fields::of_own_result),
    lay: Some(results::lay_own_result),
    ..TOOL_RESULT
};
const INPUT: AgentEvent = AgentEvent {
    fields: &[("prompt", "text")],
    blocks: true,
    ..AgentEvent::of("input", Event::BeforeAgent)
};
const BEFORE_START: AgentEvent = AgentEvent {
    fields: &[("prompt", "prompt"), ("images", "images")],
    blocks: true,
    ..AgentEvent::of("before_agent_start", Event::BeforeAgent)
};
const SESSION_START: AgentEvent = AgentEvent {
    fields: &[("source", "reason")],
    missing: &[("source", "\"startup\"")],
    ..AgentEvent::of("session_start", Event::SessionStart)
};
const SESSION_END: AgentEvent = AgentEvent {
    fields: &[("reason", "reason")],
    missing: &[("reason", "\"other\"")],
    ..AgentEvent::of("session_shutdown", Event::SessionEnd)
};
const COMPACT: AgentEvent = AgentEvent {
    fields: &[
        ("trigger", "trigger"),
        ("preparation", "preparation"),
        ("custom_instructions", "customInstructions"),
        ("messages", "messages"),
    ],
    beside: &["preparation", "branchEntries"],
    value: Some(fields::of_compression),
    missing: &[("trigger", "\"auto\"")],
    blocks: true,
    ..AgentEvent::of("session_before_compact", Event::PreCompress)
};

const fn end(name: &'static str) -> AgentEvent {
    AgentEvent {
        fields: &[
            ("prompt", "prompt"),
            ("prompt_response", "last_assistant_message"),
            ("stop_hook_active", "stop_hook_active"),
            ("messages", "messages"),
        ],
        missing: &[("prompt", "\"\""), ("prompt_response", "\"\""), ("stop_hook_active", "false")],
        beside: &["messages"],
        value: Some(fields::of_end),
        blocks: true,
        ..AgentEvent::of(name, Event::AfterAgent)
    }
}

const CONTEXT: AgentEvent = AgentEvent {
    beside: &["messages"],
    value: Some(fields::of_context),
    lay: Some(results::lay_messages),
    ..told("context", Event::BeforeModel, &[("messages", "messages")])
};
/// The extension sends the request in native form, too, for hooks that are no handlers.
const ASKED_CONTEXT: AgentEvent = AgentEvent {
    fields: &[("messages", "messages"), ("llm_request", "request")],
    blocks: true,
    is_asked_elsewhere: false,
    ..CONTEXT
};
const AGENT_START: AgentEvent = told("agent_start", Event::AgentStart, &[]);
const TURN_START: AgentEvent = told(
    "turn_start",
    Event::TurnStart,
    &[("turn_index", "turnIndex"), ("turn_timestamp", "timestamp")],
);
const TURN_END: AgentEvent = told(
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
    heard(BEFORE_START),
    ASKED_CONTEXT,
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
    heard(end("agent_end")),
    CONTEXT,
    AGENT_START,
    TURN_START,
    TURN_END,
    AgentEvent {
        subject: Subject::Field("reason"),
        ..announced(
            "session_before_switch",
            Event::BeforeSessionSwitch,
            &[("reason", "reason"), ("target", "targetSessionFile")],
        )
    },
    AgentEvent {
        subject: Subject::Field("reason"),
        ..told(
            "session_switch",
            Event::SessionSwitch,
            &[("reason", "reason"), ("previous", "previousSessionFile")],
        )
    },
    announced("session_before_branch", Event::BeforeSessionBranch, &[("entry_id", "entryId")]),
    AgentEvent {
        missing: &[("entry_id", "\"\"")],
        ..told(
            "session_branch",
            Event::SessionBranch,
            &[("entry_id", "entryId"), ("previous", "previousSessionFile")],
        )
    },
    told(
        "session.compacting",
        Event::Compacting,
        &[("session_id", "sessionId"), ("messages", "messages")],
    ),
    AgentEvent {
        beside: &["compactionEntry", "fromExtension"],
        value: Some(fields::of_compressed),
        missing: &[("trigger", "\"auto\"")],
        ..told("session_compact", Event::PostCompress, &[("trigger", "trigger")])
    },
    announced("session_before_tree", Event::BeforeSessionTree, &[("preparation", "preparation")]),
    AgentEvent {
        missing: &[("new_leaf_id", "\"\""), ("old_leaf_id", "\"\"")],
        ..told(
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
        ..told("auto_compaction_start", Event::AutoCompactionStart, &[("reason", "reason")])
    },
    told(
        "auto_compaction_end",
        Event::AutoCompactionEnd,
        &[("result", "result"), ("aborted", "aborted"), ("will_retry", "willRetry")],
    ),
    told(
        "auto_retry_start",
        Event::AutoRetryStart,
        &[
            ("attempt", "attempt"),
            ("max_attempts", "maxAttempts"),
            ("delay_ms", "delayMs"),
            ("error", "errorMessage"),
        ],
    ),
    told("auto_retry_end", Event::AutoRetryEnd, &[("success", "success"), ("attempt", "attempt")]),
    told("ttsr_triggered", Event::RuleTriggered, &[("rules", "rules")]),
    told(
        "todo_reminder",
        Event::TodoReminder,
        &[("todos", "todos"), ("attempt", "attempt"), ("max_attempts", "maxAttempts")],
    ),
];
