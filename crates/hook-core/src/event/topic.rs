//! What events are about, for pages that list them.

/// What an event is about. It decides nothing: lists of events have a heading for each.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Topic {
    /// Calls of tools.
    Tools,
    /// Whether a tool may run.
    Permissions,
    /// Prompts and commands of the user.
    Prompts,
    /// Calls of the model.
    Model,
    /// The agent at work.
    Turns,
    /// Agents that the agent starts.
    Subagents,
    /// Sessions and their branches.
    Sessions,
    /// The context and its compression.
    Context,
    /// What the user is told.
    User,
    /// Whatever its declaration means.
    Declared,
}

impl Topic {
    /// Every topic, in the order of their headings.
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

    /// Its heading.
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
