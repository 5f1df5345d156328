//! The command line's definition.

use std::ffi::OsString;

use clap::{Args, FromArgMatches, Parser, Subcommand};

use crate::deferred::Deferred;
use crate::installation::VERSION;
use crate::options::{Common, SESSION};
use crate::{commands, exit_code};

/// Hooks for AI agents: try them, test them, serve them.
#[derive(Debug, Parser)]
#[command(
    name = "hook",
    version = VERSION,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = after_help()
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the command line.
    ///
    /// # Errors
    /// Returns the parser's error for an invalid command line or a request for help.
    pub(crate) fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        // Errors come from a parser that knows all commands.
        Self::read_subcommand(arguments).map_or_else(|| Self::try_parse_from(arguments), Ok)
    }

    /// Parses with only the subcommand that seems to be called. With all of them, the parser would
    /// copy the common options into each at every start.
    fn read_subcommand(arguments: &[OsString]) -> Option<Self> {
        let all = Command::augment_subcommands(clap::Command::new("hook"));
        let called =
            arguments.iter().skip(1).find_map(|argument| all.find_subcommand(argument))?.clone();
        let hook = clap::Command::new("hook").disable_help_subcommand(true).subcommand(called);
        let hook = Common::augment_args(hook);
        Self::from_arg_matches(&hook.try_get_matches_from(arguments).ok()?).ok()
    }
}

fn after_help() -> String {
    let codes = exit_code::summary();
    format!("{codes}\n\n`hook help protocol` says what a hook reads and writes.")
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fire one event and show what its hooks answer
    Fire(Deferred<commands::fire::Arguments>),
    /// Be the hook of another agent: read what it says, run hooks, answer in its language
    Bridge(Deferred<commands::bridge::Arguments>),
    /// Have an agent call `hook bridge`: write its settings
    Connect(Deferred<commands::connect::Arguments>),
    /// Take the entries of `hook connect` out again
    #[command(after_help = commands::connect::DISCONNECT_HELP)]
    Disconnect(Deferred<commands::connect::DisconnectArguments>),
    /// List the known agents, or check a file that defines one
    Agents(Deferred<commands::agents::Arguments>),
    /// Copy an agent's own hooks into settings of `hook`, in its language
    Import(Deferred<commands::import::Arguments>),
    /// Say which hooks an event runs, and why each other one does not run
    Explain(Deferred<commands::explain::Arguments>),
    /// List every hook that is found
    List(Deferred<commands::list::Arguments>),
    /// List the commands that modules have, or run one
    #[command(name = "command")]
    Module(Deferred<commands::command::Arguments>),
    /// Check settings: every problem of every file, and how to fix it
    Check(Deferred<commands::check::Arguments>),
    /// Play scenarios and compare the responses with what is expected
    Test(Deferred<commands::test::Arguments>),
    /// Play a script of request messages and print the responses
    Run(Deferred<commands::run::Arguments>),
    /// Serve hooks to agents: requests in, responses out, one JSON object a line
    Serve(Deferred<commands::serve::Arguments>),
    /// Watch the engines of a fleet
    Fleet(Deferred<commands::watch::Arguments>),
    /// Look whether the files of an audit are as they were written
    Audit(Deferred<commands::audit::Arguments>),
    /// Show what agents asked, and what they were answered
    Log(Deferred<commands::log::Arguments>),
    /// Follow what happens in a running `hook serve`
    Tail(Deferred<commands::tail::Arguments>),
    /// Fire a recording's requests again and show what changed
    Replay(Deferred<commands::replay::Arguments>),
    /// Show a recording as a timeline: in the terminal, or as a page
    Trace(Deferred<commands::trace::Arguments>),
    /// Write a first guard: rules, or a hook in a language
    Init(Deferred<commands::init::Arguments>),
    /// Try rules on a command, or play their tests
    Rules(Deferred<commands::rules::Arguments>),
    /// List packs: those that are part of `hook`, and those that were added
    Packs(Deferred<commands::packs::ListArguments>),
    /// Add packs of rules and hooks
    #[command(after_help = commands::packs::ADD_HELP)]
    Add(Deferred<commands::packs::AddArguments>),
    /// Update packs, showing what changed
    #[command(after_help = commands::packs::UPDATE_HELP)]
    Update(Deferred<commands::packs::UpdateArguments>),
    /// Remove packs
    #[command(after_help = commands::packs::REMOVE_HELP)]
    Remove(Deferred<commands::packs::RemoveArguments>),
    /// Write a pack of your own, or check one
    Pack(Deferred<commands::packs::AuthorArguments>),
    /// Switch a hook on, in the settings
    #[command(after_help = commands::switching::ENABLE_HELP)]
    Enable(Deferred<commands::switching::Arguments>),
    /// Switch a hook off, in the settings
    #[command(after_help = commands::switching::DISABLE_HELP)]
    Disable(Deferred<commands::switching::Arguments>),
    /// Review the project's hooks and trust them
    Trust(Deferred<commands::trust::Arguments>),
    /// Take `hook` out of every agent, and say what remains
    Uninstall(Deferred<commands::uninstall::Arguments>),
    /// Look whether everything that hooks need is there
    Doctor(Deferred<commands::doctor::Arguments>),
    /// Print the JSON Schema of settings, messages, or what hooks read and write
    Schema(Deferred<commands::schema::Arguments>),
    /// Print a script by which a shell completes the command
    Completions(Deferred<commands::completions::Arguments>),
    /// Print manual pages
    Man(Deferred<commands::man::Arguments>),
    /// Print the help of a command, or a page about a topic
    Help(Deferred<commands::help::Arguments>),
}

impl Cli {
    /// Returns the event whose response `--json` prints, even on failure.
    pub(crate) fn event_to_answer(&self) -> Option<String> {
        match &self.command {
            Command::Fire(arguments) if self.common.json => Some(arguments.event().to_owned()),
            _ => None,
        }
    }

    /// Returns a given common option that the command does not use, with its purpose.
    pub(crate) fn meaningless_option(&self) -> Option<(&'static str, &'static str)> {
        use Command::{
            Audit, Bridge, Completions, Doctor, Explain, Fire, Fleet, Help, Init, List, Log, Man,
            Replay, Run, Serve, Tail, Test, Trace, Trust,
        };

        let (common, command) = (&self.common, &self.command);
        let fires =
            matches!(command, Fire(_) | Bridge(_) | Run(_) | Test(_) | Serve(_) | Replay(_))
                || matches!(command, Command::Module(_));
        let starts = fires || matches!(command, Doctor(_) | Explain(_) | List(_));
        let has_project = !matches!(
            command,
            Audit(_) | Completions(_) | Fleet(_) | Help(_) | Log(_) | Man(_) | Tail(_) | Trace(_)
        );
        let has_user = has_project && !matches!(command, Init(_) | Trust(_));
        const FIRING: &str =
            "commands that fire events: fire, bridge, run, test, serve, replay, command";
        const WITH_USER: &str = "commands that read the user's settings too";
        const STARTING: &str = "commands that load hooks: fire, bridge, run, test, serve, replay, command, doctor, explain, list";
        const IN_PROJECT: &str = "commands that read a project's settings";
        [
            (common.timeout.is_some() && !fires, "--timeout", FIRING),
            (common.session_id != SESSION && !fires, "--session-id", FIRING),
            (common.project.is_some() && !has_project, "--project", IN_PROJECT),
            (!common.settings.is_empty() && !has_project, "--settings", IN_PROJECT),
            (!common.agents.is_empty() && !has_project, "--agent", IN_PROJECT),
            (!common.modules.is_empty() && !starts, "--module", STARTING),
            (common.no_user && !has_user, "--no-user", WITH_USER),
            (common.strict && !starts && !matches!(command, Trust(_)), "--strict", STARTING),
            (common.json && matches!(command, Completions(_)), "--json", "all other commands"),
        ]
        .into_iter()
        .find(|(is_meaningless, ..)| *is_meaningless)
        .map(|(_, option, purpose)| (option, purpose))
    }
}

impl Command {
    /// Returns `true` if the exit code reports the hooks' decision.
    pub(crate) fn gives_verdict(&self) -> bool {
        matches!(self, Self::Fire(_) | Self::Bridge(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_called_command_alone_reads_what_all_commands_read() {
        for line in [
            "hook fire BeforeTool --tool t --json",
            "hook --json --settings a fire BeforeTool --settings b -vv",
            "hook --project fire list",
            "hook --session-id list fire SessionEnd",
            "hook list --event fire",
            "hook test --filter list a.toml -j 2",
            "hook help exit-codes",
            "hook fire",
            "hook fire --no-such-flag X",
            "hook fier X",
            "hook --version",
            "hook",
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let said = |read: Result<Cli, clap::Error>| match read {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => error.render().to_string(),
            };
            let expected = said(Cli::try_parse_from(&arguments));
            assert_eq!(said(Cli::read(&arguments)), expected, "{line}");
        }
        let called: Vec<OsString> = ["hook", "list"].map(OsString::from).to_vec();
        assert!(Cli::read_subcommand(&called).is_some());
    }

    #[test]
    fn only_the_command_that_is_called_has_its_arguments_defined() {
        let mut hook = Cli::command();
        let is_defined = |command: &clap::Command| command.get_arguments().next().is_some();
        let defined: Vec<&str> = hook
            .get_subcommands()
            .filter(|it| is_defined(it))
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(defined, [""; 0], "each variant of `Command` holds `Deferred<Arguments>`");
        hook.build();
        assert!(hook.get_subcommands().all(is_defined));
        hook.debug_assert();
    }
}
