//! One file for each command: what can be said to it, and how it takes that, calls a library and
//! renders.

pub(crate) mod completions;
pub(crate) mod fire;
pub(crate) mod help;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod test;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;

/// Runs the command that was asked for.
pub(crate) async fn dispatch(cli: Cli, printer: &mut Printer) -> Result<Status, CommandError> {
    // What is said of the command itself needs no project.
    let json = cli.common.json;
    match &cli.command {
        Command::Completions(arguments) => return completions::run(arguments, printer).await,
        Command::Man(arguments) => return man::run(arguments, json, printer).await,
        Command::Help(arguments) => return help::run(arguments, json, printer).await,
        _ => {}
    }
    let context = &Context::new(cli.common)?;
    match &cli.command {
        Command::Fire(arguments) => fire::run(arguments, context, printer).await,
        Command::Run(arguments) => run::run(arguments, context, printer).await,
        Command::Serve(arguments) => serve::run(arguments, context, printer).await,
        Command::Test(arguments) => test::run(arguments, context, printer).await,
        Command::List(arguments) => list::run(arguments, context, printer).await,
        Command::Completions(_) | Command::Man(_) | Command::Help(_) => Ok(exit_code::PROCEED),
    }
}
