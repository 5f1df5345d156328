//! Kinds of tools.

use hook_json::keywords;
keywords! {
    /// The kind of a tool. Matchers compare it as `kind`, and every input about a tool carries it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum ToolKind {
        /// Runs commands.
        Shell = "shell",
        /// Reads, lists or searches files.
        FileRead = "file_read",
        /// Writes, edits, patches or deletes files.
        FileWrite = "file_write",
        /// Reads from the web.
        Web = "web",
        /// A tool of an MCP server.
        Mcp = "mcp",
        /// Starts another agent.
        Agent = "agent",
        /// None of these, or unknown.
        Other = "other",
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
