//! A call of a tool, with what the tool does.

use super::kind::ToolKind;
use crate::json::RawObject;

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCall<'c> {
    /// The tool's name, as the caller has it.
    pub(crate) name: &'c str,
    /// What it does.
    pub(crate) kind: ToolKind,
    /// Its arguments.
    pub(crate) arguments: &'c RawObject,
}

impl<'c> ToolCall<'c> {
    /// A call of a tool of that name.
    pub(crate) fn of(name: &'c str, arguments: &'c RawObject) -> Self {
        Self { name, kind: ToolKind::of_tool(name), arguments }
    }

    /// The same, of a tool that an MCP server has: its name need not say so.
    pub(crate) fn at_server(self) -> Self {
        match self.kind {
            ToolKind::Other => Self { kind: ToolKind::Mcp, ..self },
            _ => self,
        }
    }
}
