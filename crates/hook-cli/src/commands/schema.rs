//! `hook schema`: prints the JSON Schema of what the engine reads and writes.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use hook_bus::schema::{NAMES, named};
use hook_json::text::shortened;
use hook_protocol::Events;

use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::{complete, exit_code};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook schema > .hooks/settings.schema.json
  hook schema messages | jq '.[\"$defs\"].request'
  hook schema BeforeTool

Editors take the first one from \"$schema\": \"./settings.schema.json\" in the
settings.")]
pub(crate) struct Arguments {
    /// What to describe: settings, messages (of hook serve), payloads (what hooks read and answer),
    /// or an event, such as BeforeTool or one that the settings declare, for its payload alone
    #[arg(value_name = "NAME", default_value = "settings")]
    #[arg(add = ArgValueCompleter::new(complete::schema_names))]
    name: String,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: impl FnOnce() -> Result<Context>,
    printer: &mut Printer,
) -> Result {
    let name = &arguments.name;
    let mut events = Events::built_in();
    let mut schema = named(name, &events);
    if schema.is_none() {
        // Only names that are not built in need a project.
        (events, _) = context()?.events();
        schema = named(name, &events);
    }
    let Some(schema) = schema else {
        let hint = match events.nearest(name) {
            Some(event) => format!("did you mean {event}?"),
            None => format!("name {} or an event", NAMES.join(", ")),
        };
        let name = shortened(name);
        return Err(CommandError::Usage(format!("there is no schema {name:?}; {hint}")));
    };
    printer.raw(&format!("{schema:#}\n")).await?;
    Ok(exit_code::PROCEED)
}
