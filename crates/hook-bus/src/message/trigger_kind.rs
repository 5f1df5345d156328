//! The kinds of triggers, by which clients name them.

use hook_json::keywords;
use hook_protocol::HookEventName;

keywords! {
    /// A moment at which an agent acts.
    #[derive(Debug, Clone, Copy)]
    pub(crate) enum TriggerKind {
        /// A tool is called.
        Tool = "tool",
        /// A model is called.
        Model = "model",
        /// A turn begins.
        Prompt = "prompt",
        /// A turn ends.
        TurnEnd = "turn-end",
        /// A session starts.
        SessionStart = "session-start",
        /// A session ends.
        SessionEnd = "session-end",
        /// The conversation is compressed.
        PreCompress = "pre-compress",
        /// The user is notified.
        Notification = "notification",
    }
}

impl TriggerKind {
    /// Returns the first event of the trigger, whose input the client sends.
    pub(crate) fn event(self) -> HookEventName {
        match self {
            Self::Tool => HookEventName::BeforeTool,
            Self::Model => HookEventName::BeforeModel,
            Self::Prompt => HookEventName::BeforeAgent,
            Self::TurnEnd => HookEventName::AfterAgent,
            Self::SessionStart => HookEventName::SessionStart,
            Self::SessionEnd => HookEventName::SessionEnd,
            Self::PreCompress => HookEventName::PreCompress,
            Self::Notification => HookEventName::Notification,
        }
    }
}
