//! Checking settings: everything that reading finds, and everything that a look at the world around
//! them finds. Nothing is run.
//!
//! | module | what it looks at |
//! | --- | --- |
//! | `asynchronous` | hooks that cannot block, since nothing waits for them |
//! | `command` | commands that cannot be started, or not read to their end |
//! | `matcher` | matchers that cannot do what they seem to |
//! | `names` | names in `disabled`, and hooks that stand twice |
//! | `script` | scripts and programs that commands start |
//! | `timeout` | timeouts that look like seconds |
//! | `upstream` | fleets that this host cannot ask |
//! | `worker` | workers that are commands as well |

mod asynchronous;
mod command;
mod files;
mod findings;
mod matcher;
mod module;
mod names;
mod script;
mod timeout;
mod upstream;
mod worker;

pub use files::check;
pub use findings::{CheckedFile, Surroundings};
