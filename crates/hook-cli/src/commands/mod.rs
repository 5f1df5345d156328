//! One file for each command: what can be said to it, and how it takes that, calls a library and
//! renders.

pub(crate) mod check;
pub(crate) mod fire;
pub(crate) mod list;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod test;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::Status;
use crate::output::Printer;

/// Runs the command that was asked for.
pub(crate) async fn dispatch(cli: Cli, printer: &mut Printer) -> Result<Status, CommandError> {
    let context = &Context::new(cli.common)?;
    match &cli.command {
        Command::Fire(arguments) => fire::run(arguments, context, printer).await,
        Command::Run(arguments) => run::run(arguments, context, printer).await,
        Command::Serve(arguments) => serve::run(arguments, context, printer).await,
        Command::Test(arguments) => test::run(arguments, context, printer).await,
        Command::List(arguments) => list::run(arguments, context, printer).await,
        Command::Check(arguments) => check::run(arguments, context, printer).await,
        Command::Schema(arguments) => schema::run(arguments, printer).await,
    }
}
