//! One file for each command: it takes what was parsed, calls a library and renders.

mod fire;
mod list;
mod run;
mod serve;
mod test;

use crate::args::{Cli, Command};
use crate::context;
use crate::error::CommandError;
use crate::exit_code::Status;
use crate::output::Printer;
use crate::signals::until_signalled;

/// Runs the command that was asked for.
pub(crate) async fn dispatch(cli: Cli, printer: &mut Printer) -> Result<Status, CommandError> {
    let common = &cli.common;
    let system = context::hook_system(common, printer).await?;
    match &cli.command {
        Command::Fire(fire) => {
            until_signalled(&system, fire::fire(fire, common, &system, printer)).await
        }
        Command::Run(run) => {
            until_signalled(&system, run::run(run, common, &system, printer)).await
        }
        Command::Serve(_) => until_signalled(&system, serve::serve(&system)).await,
        Command::Test(test) => {
            until_signalled(&system, test::test(test, common, &system, printer)).await
        }
        Command::List(list) => list::list(list, common, &system, printer),
    }
}
