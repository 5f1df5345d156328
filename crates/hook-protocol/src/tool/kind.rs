//! Kinds of tools.

use std::fmt;

/// The kind of a tool. Matchers compare it as `kind`, and every input about a tool carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ToolKind {
    /// Runs commands.
    Shell,
    /// Reads, lists or searches files.
    FileRead,
    /// Writes, edits, patches or deletes files.
    FileWrite,
    /// Reads from the web.
    Web,
    /// A tool of an MCP server.
    Mcp,
    /// Starts another agent.
    Agent,
    /// None of these, or unknown.
    Other,
}

impl ToolKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Shell,
        Self::FileRead,
        Self::FileWrite,
        Self::Web,
        Self::Mcp,
        Self::Agent,
        Self::Other,
    ];

    /// Returns the kind's name in settings and inputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::FileRead => "file_read",
            Self::FileWrite => "file_write",
            Self::Web => "web",
            Self::Mcp => "mcp",
            Self::Agent => "agent",
            Self::Other => "other",
        }
    }

    /// Returns the kind of the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for ToolKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Returns `true` if the name has a form that an agent uses for MCP tools.
pub fn is_mcp_tool_name(name: &str) -> bool {
    ["mcp_", "MCP:"].iter().any(|prefix| name.starts_with(prefix))
}

/// Returns a tool's name on its server, as far as the agents' name formats show it.
pub(super) fn name_on_server(name: &str) -> &str {
    if let Some((_, tool)) = name.rsplit_once("__") {
        return tool;
    }
    let rest = name.strip_prefix("MCP:").unwrap_or(name);
    rest.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')).map_or(rest, |(_, tool)| tool)
}
