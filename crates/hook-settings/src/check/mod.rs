//! Checks settings: problems found while reading, and problems with the files and programs that
//! they name. Nothing is run.
//!
//! | module | checks |
//! | --- | --- |
//! | `asynchronous` | async hooks, which cannot block |
//! | `command` | commands that cannot be started or parsed |
//! | `matcher` | matchers that do not have their apparent effect |
//! | `names` | names in `disabled`, and duplicate hooks |
//! | `script` | scripts and programs that commands start |
//! | `timeout` | timeouts that look like seconds |
//! | `upstream` | fleets that this host cannot query |
//! | `worker` | workers whose command is also a command hook |

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
pub use findings::{CheckContext, CheckedFile};
