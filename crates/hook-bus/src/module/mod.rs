//! Modules in Rust: handlers, commands and renderers that come together (docs/modules.md).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `api` | what a module registers, and with what it does |
//! | `loaded` | the modules there are: commands, renderers, who is told of errors |
//! | `command` | one command, run |
//! | `renderer` | what shows messages |
//! | `styled` | the lines in which they are shown |
//! | `status_line` | what modules say of themselves, in a line |

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
pub(crate) use styled::lines_of;
pub use styled::{StyledLine, StyledText};
