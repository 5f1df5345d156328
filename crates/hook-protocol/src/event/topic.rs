//! Topics of events, for pages that list events.

/// The topic of an event: its heading in lists of events. It has no other effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Topic {
    /// Calls of tools.
    Tools,
    /// Permissions for tool calls.
    Permissions,
    /// Prompts and commands of the user.
    Prompts,
    /// Calls of the model.
    Model,
    /// Turns of the agent.
    Turns,
    /// Subagents of the agent.
    Subagents,
    /// Sessions and their branches.
    Sessions,
    /// The context and its compression.
    Context,
    /// Notifications for the user.
    User,
    /// Events that are not built in.
    Declared,
}

impl Topic {
    /// All topics, in the order of their headings.
    pub const ALL: [Self; 10] = [
        Self::Tools,
        Self::Permissions,
        Self::Prompts,
        Self::Model,
        Self::Turns,
        Self::Subagents,
        Self::Sessions,
        Self::Context,
        Self::User,
        Self::Declared,
    ];

    /// Returns the heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Tools => "Tools",
            Self::Permissions => "Permissions",
            Self::Prompts => "Prompts and commands",
            Self::Model => "The model",
            Self::Turns => "Turns",
            Self::Subagents => "Subagents",
            Self::Sessions => "Sessions",
            Self::Context => "Context and compression",
            Self::User => "The user",
            Self::Declared => "Declared",
        }
    }
}
