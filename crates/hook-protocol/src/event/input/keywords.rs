//! Keywords of lifecycle events.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All variants, in the order of reference/events.md.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The names of all variants.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            pub(crate) const EXPECTED: &'static str = concat!("one of", $(" `", $word, "`",)+);

            /// Returns the name in the protocol.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns the variant with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// The reason for the start of a session.
    SessionStartSource {
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

words! {
    /// The reason for the end of a session.
    SessionEndReason {
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

words! {
    /// The trigger of a compression of the conversation.
    PreCompressTrigger {
        /// The user asked for it.
        Manual = "manual",
        /// The context was full.
        Auto = "auto",
    }
}

words! {
    /// The reason for a switch to another session.
    SwitchReason {
        /// A new session began.
        New = "new",
        /// An earlier session was resumed.
        Resume = "resume",
        /// The session was copied, and the copy continues.
        Fork = "fork",
    }
}

words! {
    /// The reason for an automatic compression of the conversation.
    CompactionReason {
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
