//! Values of settings that are one of a few names.

use hook_json::keywords;

keywords! {
    /// The consequence of a hook's failure for the event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum FailBehavior {
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
    pub enum AuditLevel {
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
    pub enum Severity {
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
    pub enum TimeoutOrigin {
        /// The hook itself.
        Hook = "hook",
        /// `defaultTimeout` of its file.
        File = "file",
        /// The engine's own default.
        Engine = "engine",
    }
}
