//! A call of a tool, with what the tool does.

use std::path::{Path, PathBuf};

use super::arguments::Fields;
use super::kind::ToolKind;
use super::resolve::absolute;
use super::shell_patch::ShellPatch;
use crate::json::RawObject;

/// Arguments that name the directory in which a call works.
const DIRECTORY: [&str; 4] = ["workdir", "cwd", "working_directory", "workingDirectory"];

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

    /// The directory in which it works, for an agent that works in that one.
    pub(super) fn directory(&self, agents: &Path) -> PathBuf {
        let fields = self.arguments.fields();
        let own = DIRECTORY.iter().find_map(|name| fields.get(name)?.to_text());
        let own = own.map_or_else(|| agents.to_path_buf(), |own| absolute(&own, agents));
        if self.kind == ToolKind::Shell
            && let ShellPatch::In(folder) = ShellPatch::of(&Fields::of_call(self.arguments))
            && !folder.is_empty()
        {
            return absolute(&folder, &own);
        }
        own
    }

    /// The same, of a tool that an MCP server has: its name need not say so.
    pub(crate) fn at_server(self) -> Self {
        match self.kind {
            ToolKind::Other => Self { kind: ToolKind::Mcp, ..self },
            _ => self,
        }
    }
}
