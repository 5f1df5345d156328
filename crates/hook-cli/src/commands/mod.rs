//! One file for each command: it takes what was parsed, calls a library and renders.

mod fire;
mod list;
mod run;
mod serve;
mod test;

use futures::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::args::{Cli, Command};
use crate::context;
use crate::error::CommandError;
use crate::exit_code::Status;
use crate::output::Printer;
use crate::signals::{Hangup, until_signalled};

/// Runs the command that was asked for.
pub(crate) async fn dispatch(cli: Cli, printer: &mut Printer) -> Result<Status, CommandError> {
    let common = &cli.common;
    let system = &context::hook_system(common, printer).await?;
    let stop = &CancellationToken::new();
    let (hangup, work) = match &cli.command {
        Command::Fire(fire) => {
            (Hangup::Ends, fire::fire(fire, common, system, stop, printer).boxed_local())
        }
        Command::Run(run) => {
            (Hangup::Ends, run::run(run, common, system, stop, printer).boxed_local())
        }
        Command::Serve(_) => {
            (Hangup::IsHeardElsewhere, serve::serve(system, stop, printer).boxed_local())
        }
        Command::Test(test) => {
            (Hangup::Ends, test::test(test, common, system, printer).boxed_local())
        }
        Command::List(list) => return list::list(list, common, system, printer).await,
    };
    until_signalled(system, hangup, stop, work).await
}
