//! What other agents call events of ours, and what to say of names that no event has.

use super::row::HookEventName;

/// What other agents call events of ours. Where one of theirs is only a part of ours, such as a
/// tool call of one kind, a matcher says which part.
pub(super) static ELSEWHERE: [(&str, HookEventName); 19] = [
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
    /// The event that other agents call so, in whatever case.
    #[doc(hidden)]
    pub fn elsewhere(name: &str) -> Option<Self> {
        let known = ELSEWHERE.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
        known.map(|(_, event)| *event)
    }
}
