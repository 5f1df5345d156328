//! Dispatch from the command line to the command.

use clap::CommandFactory;

use crate::args::{Cli, Command};
use crate::commands::{
    agents, audit, bridge, check, command, completions, connect, doctor, explain, fire, help,
    import, init, list, log, man, packs, replay, rules, run, schema, serve, switching, tail, test,
    trace, trust, uninstall, watch,
};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{ExitPolicy, Status};
use crate::output::Printer;

/// Runs the parsed command.
pub(crate) async fn dispatch(
    cli: Cli,
    exit_policy: &ExitPolicy,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    if let Some((option, purpose)) = cli.meaningless_option() {
        let text = format!("{option} has no effect on this command; it is for {purpose}");
        return Err(CommandError::Usage(text));
    }
    let Cli { common, command } = cli;
    let json = common.json;
    // Commands about `hook` itself need no project.
    let allows_missing_project =
        matches!(&command, Command::Trust(arguments) if arguments.allows_missing_project());
    let context = || match &command {
        // The bridge later switches to the folder that its agent works in.
        Command::Bridge(_) => Context::new(common),
        _ if allows_missing_project => Context::allowing_missing_project(common)?.check_misplaced(),
        _ => Context::new(common)?.check_misplaced(),
    };
    match &command {
        Command::Fire(arguments) => fire::run(arguments, &context()?, exit_policy, printer).await,
        Command::Bridge(arguments) => {
            bridge::run(arguments, context()?, exit_policy, printer).await
        }
        Command::Connect(arguments) => connect::run(arguments, &context()?, printer).await,
        Command::Disconnect(arguments) => {
            connect::disconnect(arguments, &context()?, printer).await
        }
        Command::Agents(arguments) => agents::run(arguments, &context()?, printer).await,
        Command::Import(arguments) => import::run(arguments, &context()?, printer).await,
        Command::Explain(arguments) => explain::run(arguments, &context()?, printer).await,
        Command::Module(arguments) => command::run(arguments, &context()?, printer).await,
        Command::List(arguments) => list::run(arguments, &context()?, printer).await,
        Command::Check(arguments) => check::run(arguments, &context()?, printer).await,
        Command::Test(arguments) if arguments.user => {
            test::run(arguments, &context()?, printer).await
        }
        Command::Test(arguments) => test::run(arguments, &context()?.hermetic(), printer).await,
        Command::Run(arguments) => run::run(arguments, &context()?, printer).await,
        Command::Serve(arguments) => serve::run(arguments, &context()?, printer).await,
        Command::Audit(arguments) => audit::run(arguments, json, printer).await,
        Command::Fleet(arguments) => watch::run(arguments, &context()?, printer).await,
        Command::Log(arguments) => log::run(arguments, &context()?, printer).await,
        Command::Tail(arguments) => tail::run(arguments, &context()?, printer).await,
        Command::Replay(arguments) => replay::run(arguments, &context()?, printer).await,
        Command::Trace(arguments) => trace::run(arguments, &context()?, printer).await,
        Command::Init(arguments) => init::run(arguments, &context()?, printer).await,
        Command::Rules(arguments) => rules::run(arguments, &context()?, printer).await,
        Command::Packs(_) => packs::list(&context()?, printer).await,
        Command::Add(arguments) => packs::add(arguments, &context()?, printer).await,
        Command::Remove(arguments) => packs::remove(arguments, &context()?, printer).await,
        Command::Enable(arguments) => switching::run(arguments, true, &context()?, printer).await,
        Command::Disable(arguments) => switching::run(arguments, false, &context()?, printer).await,
        Command::Trust(arguments) => trust::run(arguments, &context()?, printer).await,
        Command::Uninstall(arguments) => uninstall::run(arguments, &context()?, printer).await,
        Command::Doctor(arguments) => doctor::run(arguments, &context()?, printer).await,
        Command::Schema(arguments) => schema::run(arguments, context, printer).await,
        Command::Completions(arguments) => completions::run(arguments, printer).await,
        Command::Man(arguments) => man::run(arguments, Cli::command, printer).await,
        Command::Help(arguments) => help::run(arguments, json, Cli::command, printer).await,
    }
}
