//! Tool calls with their kind of tool.

use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::kind::ToolKind;
use super::resolve::absolute;
use super::shell_patch::ShellPatch;
use hook_json::RawObject;

/// Arguments that name the working directory of a call.
const DIRECTORY: [&str; 4] = ["workdir", "cwd", "working_directory", "workingDirectory"];

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'c> {
    /// The tool's name, as the caller spells it.
    pub name: &'c str,
    /// The tool's kind.
    pub kind: ToolKind,
    /// The call's arguments.
    pub arguments: &'c RawObject,
}

impl<'c> ToolCall<'c> {
    /// Returns a call of the tool of the given name.
    pub fn new(name: &'c str, arguments: &'c RawObject) -> Self {
        Self { name, kind: ToolKind::from_tool_name(name), arguments }
    }

    /// Returns the working directory of the call, for an agent that works in `agents`.
    pub(super) fn directory(&self, agent_directory: &Path) -> PathBuf {
        let fields = self.arguments.fields();
        let argument = DIRECTORY.iter().find_map(|name| fields.get(name)?.to_text());
        let directory = argument
            .map_or_else(|| agent_directory.to_path_buf(), |path| absolute(&path, agent_directory));
        if self.kind == ToolKind::Shell
            && let ShellPatch::InDirectory(folder) =
                ShellPatch::from_arguments(&Arguments::from_call(self.arguments))
            && !folder.is_empty()
        {
            return absolute(&folder, &directory);
        }
        directory
    }

    /// Marks the call as one of an MCP tool, whose name need not show it.
    pub(crate) fn assume_mcp(self) -> Self {
        match self.kind {
            ToolKind::Other => Self { kind: ToolKind::Mcp, ..self },
            _ => self,
        }
    }
}
