//! `hook disable`: switch a hook off, in the settings.

use clap::Args;

use super::switching::{self, Target};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::Status;
use crate::output::Printer;

#[derive(Debug, Args)]
#[command(after_help = "\
Puts the name on the `disabled` list of the settings file that defines the hook.
A project's file is shared: the change counts for everyone who works on the
project. With --user the hook is switched off for you alone. If hooks of the
project and of the user have the same name, choose with --shared or --user.

Examples:
  hook disable guard
  hook disable guard --user
  hook disable './lint.sh --fast'   a hook without a name goes by its command
  hook disable guard --dry-run      show the change as a diff, write nothing

Exit code: 1 if no hook has that name, or it is still on; else 0.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    switching::run(&arguments.target, false, context, printer).await
}
