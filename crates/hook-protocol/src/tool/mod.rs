//! Tool calls of any agent: the kind of tool, the files that a call names, and a call on several
//! files as one call per file.
//!
//! Tools are recognised by their names in any agent (`names`); the rest follows from the tool and
//! its arguments. Matchers, inputs and foreign hooks all read calls through this module, so that
//! they see the same files.

mod arguments;
mod call;
mod command;
mod file_call;
pub mod file_calls;
mod files;
mod kind;
mod names;
mod patch;
mod resolve;
mod shell_patch;

pub use arguments::{path_argument, paths_argument};
pub use call::ToolCall;
pub use command::ShellCommand;
pub use file_call::FileCall;
pub(crate) use file_calls::to_patch;
pub use file_calls::{
    FileCalls, file_calls, is_expressed_by_file_calls, unreadable_patch, with_patch,
};
pub use files::{FileAccess, ToolFiles};
pub use kind::{ToolKind, is_mcp_tool_name};
pub use names::{APPLY_PATCH, all_names, is_same_tool, matcher_names, native_name, nearest_name};
pub use patch::{MARK, file_headers};
pub use resolve::{path_of_uri, resolve_path};
