//! The fixed words of lifecycle events.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All words, in the order of protocol.md §2.
            #[doc(hidden)]
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The same as words.
            #[doc(hidden)]
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            pub(crate) const EXPECTED: &'static str = concat!("one of", $(" `", $word, "`",)+);

            /// The word in the protocol.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The value of that word.
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
    /// Why a session began.
    SessionStartSource {
        /// The agent was started.
        Startup = "startup",
        /// An earlier session goes on.
        Resume = "resume",
        /// The conversation was cleared.
        Clear = "clear",
        /// The conversation was compressed.
        Compress = "compress",
    }
}

words! {
    /// Why a session ended.
    SessionEndReason {
        /// The agent exits.
        Exit = "exit",
        /// The conversation was cleared.
        Clear = "clear",
        /// The user logged out.
        Logout = "logout",
        /// The user left at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Anything else.
        Other = "other",
    }
}

words! {
    /// What made the agent compress its conversation.
    PreCompressTrigger {
        /// The user asked for it.
        Manual = "manual",
        /// The context was full.
        Auto = "auto",
    }
}

words! {
    /// What made the agent change to another session.
    SwitchReason {
        /// A new one began.
        New = "new",
        /// An earlier one goes on.
        Resume = "resume",
        /// It was copied, and the copy goes on.
        Fork = "fork",
    }
}

words! {
    /// What made the agent compress its conversation by itself.
    CompactionReason {
        /// Its use of the context passed a threshold.
        Threshold = "threshold",
        /// The model refused the conversation as too long.
        Overflow = "overflow",
        /// Nothing else was to be done.
        Idle = "idle",
        /// An answer was cut off.
        Incomplete = "incomplete",
    }
}
