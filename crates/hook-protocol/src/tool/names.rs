//! Tools by all their names in known agents and common agent libraries.

use std::borrow::Cow;

use super::kind::{ToolKind, is_mcp_tool_name};
use hook_json::text::nearest;

/// A tool that agents share under different names.
#[derive(Debug)]
pub(crate) struct KnownTool {
    /// The native name.
    pub(super) name: &'static str,
    pub(super) kind: ToolKind,
    /// The other names.
    pub(super) aliases: &'static [&'static str],
}

/// The tool whose only argument is a patch of several files.
pub const APPLY_PATCH: &str = "apply_patch";

/// The tool that deletes files.
pub(super) const DELETE: &str = "delete_file";

/// The tools that a patch can replace.
pub(super) const PATCH_EQUIVALENTS: [&str; 2] = ["replace", "write_file"];

static TOOLS: [KnownTool; 16] = [
    KnownTool {
        name: "run_shell_command",
        kind: ToolKind::Shell,
        aliases: &[
            "Bash",
            "bash",
            "Shell",
            "shell",
            "PowerShell",
            "powershell",
            "Execute",
            "Monitor",
            "container.exec",
            "developer__shell",
            "exec",
            "execute",
            "execute_bash",
            "execute_command",
            "exec_command",
            "launch-process",
            "file_system.bash",
            "local_shell",
            "monitor",
            "run_command",
            "run_commands",
            "run_in_terminal",
            "run_terminal_cmd",
            "runInTerminal",
            "runTerminalCommand",
            "send_to_terminal",
            "shell_command",
            "terminal",
            "ssh",
            "write_bash",
            "write_powershell",
            "write_stdin",
        ],
    },
    KnownTool {
        name: "write_file",
        kind: ToolKind::FileWrite,
        aliases: &[
            "Write",
            "write",
            "Create",
            "create",
            "create_file",
            "createFile",
            "file_system.write_file",
            "fs_write",
            "save-file",
            "write_to_file",
        ],
    },
    KnownTool {
        name: "replace",
        kind: ToolKind::FileWrite,
        aliases: &[
            "Edit",
            "EditNotebook",
            "ast_edit",
            "edit",
            "MultiEdit",
            "multiedit",
            "NotebookEdit",
            "StrReplace",
            "delete_line_range",
            "developer__text_editor",
            "edit_file",
            "edit_notebook_file",
            "editFiles",
            "editor",
            "insert_at_line",
            "insert_edit_into_file",
            "multi_edit",
            "multi_replace_string_in_file",
            "notebook_edit",
            "replace_file_content",
            "replace_in_file",
            "replace_string_in_file",
            "search_replace",
            "str-replace-editor",
            "str_replace",
            "str_replace_based_edit_tool",
            "str_replace_editor",
        ],
    },
    KnownTool {
        name: APPLY_PATCH,
        kind: ToolKind::FileWrite,
        aliases: &["ApplyPatch", "applyPatch", "patch"],
    },
    KnownTool { name: DELETE, kind: ToolKind::FileWrite, aliases: &["Delete", "remove_file"] },
    KnownTool {
        name: "create_directory",
        kind: ToolKind::FileWrite,
        aliases: &["createDirectory"],
    },
    KnownTool {
        name: "read_file",
        kind: ToolKind::FileRead,
        aliases: &[
            "Read",
            "NotebookRead",
            "ast_read_file",
            "file_system.read_file",
            "fs_read",
            "read",
            "readFile",
            "read_files",
            "read_line_range",
            "read_many_files",
            "view",
            "view_file",
            "view_image",
        ],
    },
    KnownTool {
        name: "list_directory",
        kind: ToolKind::FileRead,
        aliases: &["LS", "list", "list_dir", "list_files", "listDirectory", "ls"],
    },
    KnownTool { name: "glob", kind: ToolKind::FileRead, aliases: &["Glob", "file_search", "find"] },
    KnownTool {
        name: "grep_search",
        kind: ToolKind::FileRead,
        aliases: &["Grep", "grep", "rg", "ripgrep", "search_file_content", "search_files"],
    },
    KnownTool {
        name: "web_fetch",
        kind: ToolKind::Web,
        aliases: &["WebFetch", "direct_web_fetch", "fetch", "fetch_webpage", "webfetch"],
    },
    KnownTool {
        name: "google_web_search",
        kind: ToolKind::Web,
        aliases: &["WebSearch", "exa_web_search", "web_search", "websearch"],
    },
    KnownTool {
        name: "invoke_agent",
        kind: ToolKind::Agent,
        aliases: &["Agent", "Task", "agent", "runSubagent", "spawn_agent", "task"],
    },
    KnownTool {
        name: "write_todos",
        kind: ToolKind::Other,
        aliases: &[
            "TodoWrite",
            "manage_todo_list",
            "todos",
            "todo_write",
            "todowrite",
            "update_plan",
            "update_todo",
        ],
    },
    KnownTool {
        name: "ask_user",
        kind: ToolKind::Other,
        aliases: &["AskUserQuestion", "ask_user_question", "question"],
    },
    KnownTool { name: "save_memory", kind: ToolKind::Other, aliases: &[] },
];

impl KnownTool {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

impl ToolKind {
    /// Returns the kind of a tool by its name in any known agent.
    pub(crate) fn from_tool_name(name: &str) -> Self {
        match find_tool(name) {
            Some(tool) => tool.kind,
            None if is_mcp_tool_name(name) => Self::Mcp,
            None => Self::Other,
        }
    }
}

/// Returns the tool with that name in any agent.
pub(super) fn find_tool(name: &str) -> Option<&'static KnownTool> {
    TOOLS.iter().find(|tool| tool.names().any(|known| known == name))
}

/// Returns the native name of a tool by its name in any agent, or `None` if the tool is unknown.
pub fn native_name(name: &str) -> Option<&'static str> {
    find_tool(name).map(|tool| tool.name)
}

/// Returns the most similar known name.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    nearest(name, TOOLS.iter().flat_map(KnownTool::names))
}

/// Returns the tools that a name stands for: the tool itself, for a patch also write and edit, and
/// for a deletion also edit.
fn equivalent_tools(name: &str) -> impl Iterator<Item = &'static KnownTool> + use<> {
    let tool = find_tool(name);
    let equivalents: &[&str] = match tool {
        Some(KnownTool { name: APPLY_PATCH, .. }) => &PATCH_EQUIVALENTS,
        Some(KnownTool { name: DELETE, .. }) => &PATCH_EQUIVALENTS[..1],
        _ => &[],
    };
    tool.into_iter().chain(equivalents.iter().filter_map(|name| find_tool(name)))
}

/// Returns the other names of an MCP tool in agents. In `mcp_SERVER_TOOL`, the start of the tool's
/// own name is ambiguous.
fn alternative_mcp_names(name: &str) -> Vec<String> {
    if let Some(rest) = name.strip_prefix("mcp__") {
        return vec![format!("mcp_{}", rest.replacen("__", "_", 1))];
    }
    let Some(rest) = name.strip_prefix("mcp_") else { return Vec::new() };
    let splits = rest.match_indices('_').map(|(at, _)| rest.split_at(at));
    splits.map(|(server, tool)| format!("mcp__{server}__{}", &tool[1..])).collect()
}

/// Returns `true` if a call of `called` is one of the tool `named`, each by its name in any agent.
pub fn is_same_tool(named: &str, called: &str) -> bool {
    named == called
        || equivalent_tools(called).any(|tool| tool.names().any(|name| name == named))
        || named.starts_with("mcp_")
            && alternative_mcp_names(called).iter().any(|name| name == named)
}

/// Returns all names of a called tool, the given name first.
pub fn all_names(called: &str) -> impl Iterator<Item = Cow<'_, str>> {
    with_mcp_names(called, equivalent_tools(called).flat_map(KnownTool::names))
}

/// Returns the names that a matcher's text is compared with: the given name, the native one, and
/// for a patch those of the tools that it stands for.
pub fn matcher_names(called: &str) -> impl Iterator<Item = Cow<'_, str>> {
    with_mcp_names(called, equivalent_tools(called).map(|tool| tool.name))
}

fn with_mcp_names<'n>(
    called: &'n str,
    names: impl Iterator<Item = &'static str>,
) -> impl Iterator<Item = Cow<'n, str>> {
    let names =
        names.filter(move |name| *name != called).map(|name| -> Cow<'n, str> { name.into() });
    let mcp_names = alternative_mcp_names(called).into_iter().map(Cow::Owned);
    std::iter::once(Cow::Borrowed(called)).chain(names).chain(mcp_names)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_name_is_one_tools() {
        let mut seen = HashSet::new();
        for name in TOOLS.iter().flat_map(KnownTool::names) {
            assert!(seen.insert(name), "{name} stands there twice");
        }
    }

    #[test]
    fn a_tool_is_the_same_under_each_of_its_names() {
        for (named, called, same) in [
            ("Bash", "run_shell_command", true),
            ("run_shell_command", "Bash", true),
            ("Bash", "bash", true),
            ("Edit", "replace", true),
            ("Edit", "write_file", false),
            ("Edit", "Write", false),
            ("Edit", "apply_patch", true),
            ("write_file", "apply_patch", true),
            ("apply_patch", "replace", false),
            ("Bash", "apply_patch", false),
            ("deploy", "deploy", true),
            ("deploy", "Deploy", false),
            ("Edit", "Delete", true),
            ("Write", "Delete", false),
            ("mcp__github__create_issue", "mcp_github_create_issue", true),
            ("mcp_github_create_issue", "mcp__github__create_issue", true),
            ("mcp__git__hub_create_issue", "mcp__github__create_issue", false),
        ] {
            assert_eq!(is_same_tool(named, called), same, "{named} {called}");
        }
    }
}
