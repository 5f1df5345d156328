//! Checks settings: problems found while reading, and problems with the files and programs that
//! they name. Nothing is run.
//!
//! | module | checks |
//! | --- | --- |
//! | `hooks` | hooks that cannot do what they are for |
//! | `matcher` | matchers that do not have their apparent effect |
//! | `names` | names in `disabled`, and duplicate hooks |
//! | `rules` | rules that do not have their apparent effect |
//! | `script` | scripts and programs that commands start |
//! | `timeout` | timeouts that look like seconds |

mod files;
mod findings;
mod hooks;
mod matcher;
mod names;
mod rules;
mod script;
mod timeout;

pub use files::check;
pub use findings::{CheckContext, CheckedFile};
