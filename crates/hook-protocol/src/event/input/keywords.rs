//! Keywords of lifecycle events.

use hook_json::keywords;

keywords! {
    /// The reason for the start of a session.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SessionStartSource {
        /// The agent was started.
        Startup = "startup",
        /// An earlier session was resumed.
        Resume = "resume",
        /// The conversation was cleared.
        Clear = "clear",
        /// The conversation was compressed.
        Compress = "compress",
    }
}

keywords! {
    /// The reason for the end of a session.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SessionEndReason {
        /// The agent exited.
        Exit = "exit",
        /// The conversation was cleared.
        Clear = "clear",
        /// The user logged out.
        Logout = "logout",
        /// The user exited at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Any other reason.
        Other = "other",
    }
}

keywords! {
    /// The trigger of a compression of the conversation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PreCompressTrigger {
        /// The user asked for it.
        Manual = "manual",
        /// The context was full.
        Auto = "auto",
    }
}

keywords! {
    /// The reason for a switch to another session.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SwitchReason {
        /// A new session began.
        New = "new",
        /// An earlier session was resumed.
        Resume = "resume",
        /// The session was copied, and the copy continues.
        Fork = "fork",
    }
}

keywords! {
    /// The reason for an automatic compression of the conversation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum CompactionReason {
        /// The use of the context passed a threshold.
        Threshold = "threshold",
        /// The model refused the conversation as too long.
        Overflow = "overflow",
        /// The agent was idle.
        Idle = "idle",
        /// An answer was cut off.
        Incomplete = "incomplete",
    }
}
