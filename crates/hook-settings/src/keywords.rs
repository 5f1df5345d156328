//! Values of settings that are one of a few names.

/// Defines an enum whose variants have names in settings and messages.
macro_rules! keywords {
    ($(#[$meta:meta])* $type:ident { $($(#[$doc:meta])+ $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        pub enum $type {
            $($(#[$doc])+ $variant,)+
        }

        impl $type {
            /// All values.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The names of all values.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Returns the value with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }

            /// Returns the name used in settings and messages.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

keywords! {
    /// The consequence of a hook's failure for the event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    FailBehavior {
        /// The failure is reported and the event proceeds.
        #[default]
        Continue = "continue",
        /// The failure denies the event.
        Block = "block",
    }
}

keywords! {
    /// The level of detail of an audit; each level includes the previous ones.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    #[non_exhaustive]
    AuditLevel {
        /// Nothing.
        Off = "off",
        /// Hooks added or removed; blocks, asks, stops and failures.
        #[default]
        Info = "info",
        /// Also allowed events.
        Decisions = "decisions",
        /// Also hook starts, hook completions and their changes.
        Verbose = "verbose",
    }
}

keywords! {
    /// The severity of a problem.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    Severity {
        /// Everything works; this may be an improvement.
        Hint = "hint",
        /// Something was replaced or ignored.
        Warning = "warning",
        /// An entry, or the file, was skipped.
        Error = "error",
    }
}

keywords! {
    /// The origin of a hook's timeout.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    TimeoutOrigin {
        /// The hook itself.
        Hook = "hook",
        /// `defaultTimeout` of its file.
        File = "file",
        /// The engine's own default.
        Engine = "engine",
    }
}
