//! Triggers: functions around a tool call, a model call, a turn and a session, so that all agents
//! apply their hooks' answers in the same way (reference/answers.md).
//!
//! | module | event | functions |
//! | --- | --- | --- |
//! | `tool` | a tool is called | [`execute_tool_with_hooks`] and its parts |
//! | `tool_call` | a call and its result | [`ToolCall`], [`ToolResult`] |
//! | `tool_status` | the status of a tool call | [`ToolStatus`], for [`AgentHost::tool_observer`](crate::AgentHost::tool_observer) |
//! | `model` | a model is called | the three decisions around a call |
//! | `model_stream` | its answer streams in | [`call_model_with_hooks`] |
//! | `permission` | the user is asked whether a tool may run | |
//! | `retry` | hooks want another attempt | |
//! | `agent` | a prompt, a turn, a session | [`fire_before_agent_hook`], [`fire_after_agent_hook`] and the others |
//! | `outcome` | the JSON form of results | |
//! | `advice` | the hooks' texts other than their decision | [`HookAdvice`] |
//!
//! No function fails: if anything goes wrong with the hooks, it returns a safe result (unchanged,
//! or blocked if a hook has `failBehavior: block`), and the failure is on the bus and in the log.

mod advice;
mod agent;
mod continuations;
mod model;
mod model_stream;
mod outcome;
mod permission;
mod retry;
mod tool;
mod tool_call;
mod tool_status;

pub use advice::HookAdvice;
pub(crate) use agent::fire_lifecycle_hook;
pub use agent::{
    AfterAgentHookResult, BeforeAgentDecision, BeforeAgentHookResult, LifecycleHookResult, TurnEnd,
    fire_after_agent_hook, fire_before_agent_hook, fire_notification_hook, fire_pre_compress_hook,
    fire_session_end_hook, fire_session_start_hook,
};
pub(crate) use continuations::{Continuations, MAX_CONTINUATIONS};
pub use model::{
    AfterModelDecision, AfterModelHookResult, BeforeModelDecision, BeforeModelHookResult,
    BeforeToolSelectionHookResult, ModelCall, fire_after_model_hook, fire_before_model_hook,
    fire_before_tool_selection_hook,
};
pub use model_stream::{
    ChunkHooks, ModelAnswer, ModelCallResult, ModelChunk, ModelVerdict, call_model_with_hooks,
};
pub use tool::{
    AfterToolDecision, AfterToolHookResult, BeforeToolDecision, BeforeToolHookResult,
    execute_tool_with_hooks, fire_after_tool_hook, fire_before_tool_hook,
};
pub use tool_call::{ToolCall, ToolContent, ToolResult, ToolVerdict};
pub(crate) use tool_status::ToolObserver;
pub use tool_status::ToolStatus;
