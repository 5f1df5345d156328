//! Tools by all their names: in each known agent, and in common agent libraries.

use super::kind::{ToolKind, is_of_mcp_server};
use crate::text::nearest;

/// A tool that agents share under different names.
#[derive(Debug)]
pub(crate) struct KnownTool {
    /// The name here.
    pub(super) name: &'static str,
    pub(super) kind: ToolKind,
    /// The names elsewhere.
    pub(super) others: &'static [&'static str],
}

/// The tool whose one argument is a patch of several files.
pub(crate) const APPLY_PATCH: &str = "apply_patch";

/// The tools that a patch stands for.
pub(super) const PATCHED: [&str; 2] = ["replace", "write_file"];

static TOOLS: [KnownTool; 16] = [
    KnownTool {
        name: "run_shell_command",
        kind: ToolKind::Shell,
        others: &[
            "Bash",
            "bash",
            "Shell",
            "shell",
            "PowerShell",
            "powershell",
            "Execute",
            "Monitor",
            "container.exec",
            "execute_bash",
            "execute_command",
            "exec_command",
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
            "write_bash",
            "write_stdin",
        ],
    },
    KnownTool {
        name: "write_file",
        kind: ToolKind::FileWrite,
        others: &[
            "Write",
            "write",
            "Create",
            "create",
            "create_file",
            "createFile",
            "fs_write",
            "write_to_file",
        ],
    },
    KnownTool {
        name: "replace",
        kind: ToolKind::FileWrite,
        others: &[
            "Edit",
            "EditNotebook",
            "ast_edit",
            "edit",
            "MultiEdit",
            "NotebookEdit",
            "StrReplace",
            "delete_line_range",
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
            "str_replace",
            "str_replace_based_edit_tool",
            "str_replace_editor",
        ],
    },
    KnownTool {
        name: APPLY_PATCH,
        kind: ToolKind::FileWrite,
        others: &["ApplyPatch", "applyPatch", "patch"],
    },
    KnownTool {
        name: "delete_file",
        kind: ToolKind::FileWrite,
        others: &["Delete", "remove_file"],
    },
    KnownTool { name: "create_directory", kind: ToolKind::FileWrite, others: &["createDirectory"] },
    KnownTool {
        name: "read_file",
        kind: ToolKind::FileRead,
        others: &[
            "Read",
            "NotebookRead",
            "ast_read_file",
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
        others: &["LS", "list", "list_dir", "list_files", "listDirectory", "ls"],
    },
    KnownTool { name: "glob", kind: ToolKind::FileRead, others: &["Glob", "file_search", "find"] },
    KnownTool {
        name: "grep_search",
        kind: ToolKind::FileRead,
        others: &["Grep", "grep", "rg", "ripgrep", "search_file_content", "search_files"],
    },
    KnownTool {
        name: "web_fetch",
        kind: ToolKind::Web,
        others: &["WebFetch", "direct_web_fetch", "fetch", "fetch_webpage", "webfetch"],
    },
    KnownTool {
        name: "google_web_search",
        kind: ToolKind::Web,
        others: &["WebSearch", "exa_web_search", "web_search", "websearch"],
    },
    KnownTool {
        name: "invoke_agent",
        kind: ToolKind::Agent,
        others: &["Agent", "Task", "agent", "runSubagent", "spawn_agent", "task"],
    },
    KnownTool {
        name: "write_todos",
        kind: ToolKind::Other,
        others: &[
            "TodoWrite",
            "manage_todo_list",
            "todo_write",
            "todowrite",
            "update_plan",
            "update_todo",
        ],
    },
    KnownTool {
        name: "ask_user",
        kind: ToolKind::Other,
        others: &["AskUserQuestion", "ask_user_question"],
    },
    KnownTool { name: "save_memory", kind: ToolKind::Other, others: &[] },
];

impl KnownTool {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.others.iter().copied())
    }
}

impl ToolKind {
    /// The kind of a tool by its name in any known agent.
    pub fn of_tool(name: &str) -> Self {
        match known(name) {
            Some(tool) => tool.kind,
            None if is_of_mcp_server(name) => Self::Mcp,
            None => Self::Other,
        }
    }
}

/// The tool of that name in any agent.
pub(super) fn known(name: &str) -> Option<&'static KnownTool> {
    TOOLS.iter().find(|tool| tool.names().any(|known| known == name))
}

/// What a tool is called here, by its name in any agent; `None` of a tool that no known agent has.
pub fn our_name(name: &str) -> Option<&'static str> {
    known(name).map(|tool| tool.name)
}

/// The known name that is most like another.
pub(crate) fn nearest_name(name: &str) -> Option<&'static str> {
    nearest(name, TOOLS.iter().flat_map(KnownTool::names))
}

/// The tools that a call of one may be meant by: itself, and of a patch what it stands for.
fn meant(name: &str) -> impl Iterator<Item = &'static KnownTool> + use<> {
    let tool = known(name);
    let is_patch = tool.is_some_and(|tool| tool.name == APPLY_PATCH);
    let patched = PATCHED.iter().filter(move |_| is_patch).filter_map(|name| known(name));
    tool.into_iter().chain(patched)
}

/// Whether a call of the tool `called` is one of the tool that is `named`, each by its name in any agent.
pub(crate) fn is_same_tool(named: &str, called: &str) -> bool {
    named == called || meant(called).any(|tool| tool.names().any(|name| name == named))
}

/// All names of a tool that is called, its own first.
pub(crate) fn names_of<'n>(called: &'n str) -> impl Iterator<Item = &'n str> {
    let names = meant(called).flat_map(KnownTool::names).map(|name| -> &'n str { name });
    std::iter::once(called).chain(names.filter(move |name| *name != called))
}

/// The names that a matcher's text is compared with: the tool's own, ours, and of a patch those of what it
/// stands for.
pub(crate) fn text_subjects<'n>(called: &'n str) -> impl Iterator<Item = &'n str> {
    let ours = meant(called).map(|tool| -> &'n str { tool.name });
    std::iter::once(called).chain(ours.filter(move |name| *name != called))
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
        ] {
            assert_eq!(is_same_tool(named, called), same, "{named} {called}");
        }
    }
}
