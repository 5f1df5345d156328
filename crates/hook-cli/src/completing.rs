//! Answers to completion requests of shells.

use std::ffi::OsString;

use clap::CommandFactory;
use clap_complete::CompleteEnv;

use crate::args::Cli;
use crate::complete::{HOOK, VARIABLE};
use crate::exit_code::{self, Status};

/// Answers a shell's completion request. Returns `None` if the process was started for other work.
pub(crate) fn answer() -> Option<Status> {
    std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.is_empty() {
        return None;
    }
    HOOK.get_or_init(|| Cli::command);
    let cwd = std::env::current_dir().ok();
    let completer = CompleteEnv::with_factory(Cli::command).var(VARIABLE).bin("hook");
    match completer.try_complete(arguments, cwd.as_deref()) {
        Ok(true) => Some(exit_code::PROCEED),
        Ok(false) => None,
        Err(error) => {
            let _ = error.print();
            Some(exit_code::USAGE)
        }
    }
}
