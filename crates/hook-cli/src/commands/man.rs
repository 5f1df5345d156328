//! `hook man`: prints or writes manual pages.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::engine::ArgValueCompleter;
use hook_json::text::{PathText, escaped_lines};
use serde_json::json;

use crate::commands::help;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::{complete, exit_code, render};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook man | man -l -
  hook man fire > hook-fire.1
  hook man --output ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The command to print the page of; that of hook itself by default
    #[arg(add = ArgValueCompleter::new(complete::command_names))]
    command: Option<String>,
    /// Write the page, or without COMMAND all of them, into this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
}

pub(crate) async fn run(
    arguments: &Arguments,
    hook: fn() -> Command,
    printer: &mut Printer,
) -> Result {
    let command = match &arguments.command {
        Some(name) => {
            help::command(hook(), name).ok_or_else(|| help::unknown(&hook(), name, false))?
        }
        None => help::built(hook()),
    };
    let Some(folder) = &arguments.output else {
        printer.raw(&render::man_page(&command).map_err(CommandError::Output)?).await?;
        return Ok(exit_code::PROCEED);
    };
    let mut commands = vec![command];
    if arguments.command.is_none() {
        let all = commands.first().map(|command| help::subcommands(command).cloned().collect());
        commands.extend(all.unwrap_or_else(Vec::new));
    }
    for command in &commands {
        let path = folder.join(render::man_file_name(command));
        write(&path, command).map_err(CommandError::write("the page", &path))?;
        let text = |_: &Printer| format!("{}\n", escaped_lines(&path.shown().to_string()));
        printer.show(&(json!({"file": path.to_string_lossy()}), text)).await?;
    }
    Ok(exit_code::PROCEED)
}

fn write(path: &Path, command: &clap::Command) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, render::man_page(command)?)
}
