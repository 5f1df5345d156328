//! `hook command`: lists and runs the commands of modules.

use clap::Args;
use hook_bus::HookExecutionRequest;
use hook_bus::module::CommandInfo;
use hook_json::text::{escaped_lines, first_and_last, nearest, one_line};
use hook_json::{ObjectWriter, RawObject};
use hook_protocol::HookEventName;

use super::with_modules;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::{Printer, Tone};
use crate::terminal::UiArguments;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook command
  hook command handoff
  hook command --json review src/main.rs

Modules that are trusted are loaded for it. What a command asks of an agent's
session is there where an agent runs it, and not here.")]
pub(crate) struct Arguments {
    /// The command; without one, all are listed
    name: Option<String>,
    #[command(flatten)]
    ui: UiArguments,
    /// What it is given, joined by blanks
    #[arg(trailing_var_arg = true)]
    arguments: Vec<String>,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let ui = arguments.ui.services(printer, false);
    with_modules(context, ui, printer, async |system, printer| {
        let all = system.commands().await?;
        match &arguments.name {
            None => list(&all, context, printer).await,
            Some(name) => {
                let Some(command) = all.iter().find(|command| command.name == *name) else {
                    return Err(CommandError::Usage(unknown_command(name, &all)));
                };
                let input = arguments.arguments.join(" ");
                run_command(command, &input, system, context, printer).await
            }
        }
    })
    .await
}

fn unknown_command(name: &str, all: &[CommandInfo]) -> String {
    let name = one_line(name);
    match nearest(&name, all.iter().map(|command| command.name.as_str())) {
        Some(suggestion) => {
            format!("no module has a command `{name}`; did you mean `{}`?", one_line(suggestion))
        }
        None => format!("no module has a command `{name}`; `hook command` lists those there are"),
    }
}

async fn list(all: &[CommandInfo], context: &Context, printer: &mut Printer) -> Result {
    if context.json() {
        for command in all {
            let line = ObjectWriter::line(|object| {
                object.text("name", &command.name);
                object.optional_text("description", command.description.as_deref());
                object.text("module", &command.module);
            });
            printer.message(&line).await?;
        }
        return Ok(exit_code::PROCEED);
    }
    if all.is_empty() {
        printer.text("No module has a command.\n").await?;
        return Ok(exit_code::PROCEED);
    }
    let mut text = String::new();
    for command in all {
        let name = printer.paint(Tone::Strong, &one_line(&command.name));
        let description = command.description.as_deref().map(one_line).unwrap_or_default();
        let module = printer.paint(Tone::Quiet, &one_line(&command.module));
        let joint = if description.is_empty() { "" } else { "  " };
        text.push_str(&format!("{name}{joint}{description}  {module}\n"));
    }
    printer.text(&text).await?;
    Ok(exit_code::PROCEED)
}

async fn run_command(
    command: &CommandInfo,
    arguments: &str,
    system: &hook_bus::HookSystem,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let input = RawObject::build(|object: &mut ObjectWriter<'_>| {
        object.text("command_name", &command.name);
        object.text("arguments", arguments);
    });
    let request = HookExecutionRequest::unchecked(HookEventName::Command.as_str(), input);
    let response = system.bus().request(request).await;
    let errors = &response.processed.aggregated.errors;
    let outcome = command.output_of(&response);
    if context.json() {
        printer.message(&response.to_json()).await?;
    } else {
        let output = response.processed.aggregated.final_output.as_deref();
        let output_field =
            |field: &str| output.and_then(|output| output.specific(field)?.to_text());
        for text in ["text", "prompt"].into_iter().filter_map(output_field) {
            printer.text(&format!("{}\n", escaped_lines(&text))).await?;
        }
        // A failure is printed as an error, so its shorter warning is left out.
        let is_reported = |warning: &str| {
            errors.iter().any(|error| warning.ends_with(&first_and_last(&error.message)))
        };
        for warning in response.processed.warnings.iter().filter(|warning| !is_reported(warning)) {
            printer.warning(warning);
        }
    }
    for error in errors {
        printer.problem(&escaped_lines(&error.message));
    }
    match outcome {
        Ok(_) if response.processed.aggregated.success => Ok(exit_code::PROCEED),
        Err(error) if errors.is_empty() => {
            printer.problem(&error.to_string());
            Ok(exit_code::FAILURE)
        }
        Ok(_) | Err(_) => Ok(exit_code::FAILURE),
    }
}
