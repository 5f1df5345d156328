//! `hook help`: prints the help of a command, or a page about a topic.

use clap::{Args, Command};
use clap_complete::engine::ArgValueCompleter;
use hook_json::text::{nearest, shortened};

use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::render::TOPICS;
use crate::{complete, exit_code};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook help fire
  hook help protocol
  hook help settings

Topics:
  events      what there is to listen to, and what a block means
  exit-codes  how the command ends, and what that means
  protocol    what a hook reads and writes
  settings    which keys settings have, and what they mean")]
pub(crate) struct Arguments {
    /// The command or topic; hook itself by default
    #[arg(value_name = "COMMAND", add = ArgValueCompleter::new(complete::topics))]
    topic: Option<String>,
}

pub(crate) async fn run(
    arguments: &Arguments,
    json: bool,
    hook: fn() -> Command,
    printer: &mut Printer,
) -> Result {
    let name = arguments.topic.as_deref();
    let topic = TOPICS.iter().find(|topic| Some(topic.name) == name);
    if let (Some(topic), true) = (topic, json) {
        printer.object(&(topic.json)()).await?;
        return Ok(exit_code::PROCEED);
    }
    let text = match (topic, name) {
        (Some(topic), _) => (topic.text)(printer),
        (None, None) => own_help(hook(), &["hook", "--help"]),
        (None, Some(name)) => {
            let known = command(hook(), name).ok_or_else(|| unknown(&hook(), name, true))?;
            own_help(hook(), &["hook", known.get_name(), "--help"])
        }
    };
    printer.text(&text).await?;
    Ok(exit_code::PROCEED)
}

/// Returns the help that a command line requests.
fn own_help(hook: Command, arguments: &[&str]) -> String {
    let result = hook.try_get_matches_from(arguments);
    result.err().map_or_else(String::new, |help| help.render().to_string())
}

/// Returns a command as it is run, with the options that all commands have.
pub(crate) fn built(mut command: Command) -> Command {
    command.build();
    command
}

/// Returns the command with this name, built.
pub(crate) fn command(hook: Command, name: &str) -> Option<Command> {
    let hook = built(hook);
    subcommands(&hook).find(|command| command.get_name() == name).cloned()
}

/// Returns the commands that the help lists.
pub(crate) fn subcommands(hook: &Command) -> impl Iterator<Item = &Command> {
    hook.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Returns the error for an unknown command or, with `or_topic`, an unknown topic.
pub(crate) fn unknown(hook: &Command, name: &str, or_topic: bool) -> CommandError {
    let mut names: Vec<&str> = subcommands(hook).map(Command::get_name).collect();
    if or_topic {
        names.extend(TOPICS.iter().map(|topic| topic.name));
    }
    let what = if or_topic { "command or topic" } else { "command" };
    let hint = match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("there are {}", names.join(", ")),
    };
    CommandError::Usage(format!("there is no {what} {:?}; {hint}", shortened(name)))
}
