//! Modules in Rust: sets of handlers, commands and renderers (docs/modules.md).
//!
//! | file | contents |
//! | --- | --- |
//! | `api` | the API with which a module registers its items |
//! | `loaded` | the loaded modules: commands, renderers, error listeners |
//! | `command` | running one command |
//! | `renderer` | renderers of messages |
//! | `styled` | the lines that renderers return |
//! | `status_line` | the modules' status texts, in one line |

mod api;
mod command;
mod loaded;
mod renderer;
mod status_line;
mod styled;

pub use api::{HookModule, ModuleApi, ModuleError, ModuleLogger};
pub use command::{CommandError, CommandInfo, CommandOutput, CommandReturn, RegisteredCommand};
pub use loaded::Modules;
pub use renderer::{MessageRenderer, RenderOptions};
pub use status_line::StatusLine;
pub(crate) use styled::parse_lines;
pub use styled::{StyledLine, StyledText};
