//! Names of events in other agents.

use super::row::HookEventName;

/// Other agents' names for events. If a foreign event is only a part of the native one, such as one
/// kind of tool call, a matcher selects that part.
pub(super) static FOREIGN_NAMES: [(&str, HookEventName); 19] = [
    ("PreToolUse", HookEventName::BeforeTool),
    ("beforeShellExecution", HookEventName::BeforeTool),
    ("beforeMCPExecution", HookEventName::BeforeTool),
    ("beforeReadFile", HookEventName::BeforeTool),
    ("PostToolUse", HookEventName::AfterTool),
    ("afterFileEdit", HookEventName::AfterTool),
    ("PostToolUseFailure", HookEventName::ToolError),
    ("UserPromptSubmit", HookEventName::BeforeAgent),
    ("userPromptSubmitted", HookEventName::BeforeAgent),
    ("beforeSubmitPrompt", HookEventName::BeforeAgent),
    ("Stop", HookEventName::AfterAgent),
    ("agentStop", HookEventName::AfterAgent),
    ("StopFailure", HookEventName::TurnFailed),
    ("PreCompact", HookEventName::PreCompress),
    ("PostCompact", HookEventName::PostCompress),
    ("GenerateStart", HookEventName::BeforeModel),
    ("GenerateEnd", HookEventName::AfterModel),
    ("UserPromptExpansion", HookEventName::PromptExpansion),
    ("PostToolBatch", HookEventName::ToolBatch),
];

impl HookEventName {
    /// Returns the event that other agents call `name`, ignoring case.
    pub fn from_foreign_name(name: &str) -> Option<Self> {
        let known = FOREIGN_NAMES.iter().find(|(foreign, _)| foreign.eq_ignore_ascii_case(name));
        known.map(|(_, event)| *event)
    }
}
