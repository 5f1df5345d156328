//! `hook enable`: switch a hook on, in the settings.

use clap::Args;

use super::switching::{self, Target};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::Status;
use crate::output::Printer;

#[derive(Debug, Args)]
#[command(after_help = "\
Removes the name from every `disabled` list that switches the hook off: that of
its own file, and those of files that are trusted more. A project's file is
shared: the change counts for everyone who works on the project.

Examples:
  hook enable guard
  hook enable guard --dry-run
  hook enable guard --user   only in your own settings

Exit code: 1 if no hook has that name, or it is still off; else 0.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    switching::run(&arguments.target, true, context, printer).await
}
