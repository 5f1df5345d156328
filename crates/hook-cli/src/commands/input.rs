//! An event's input on the command line: what was given, or a sample.

use clap::Args;
use hook_core::event::Matching;
use hook_core::{HookEventName, JsonObject, RawJson, RawObject, RequestInput};
use tokio::io::AsyncReadExt;

use crate::error::CommandError;
use crate::output::Printer;

#[derive(Debug, Args)]
pub(crate) struct InputArguments {
    /// The tool, for events about one
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The event's input as JSON, @FILE, or - for standard input; without it, a sample
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    input: Option<String>,
}

/// What an event is to be fired with.
#[derive(Debug)]
pub(crate) struct Input {
    /// The input; anything, if it was given.
    pub(crate) json: RawJson,
    /// Whether nobody gave it.
    pub(crate) is_sample: bool,
}

impl InputArguments {
    /// What was given as input, else the sample.
    ///
    /// # Errors
    /// When it cannot be read or is not JSON.
    pub(crate) async fn read(&self, sample: Option<RawObject>) -> Result<Input, CommandError> {
        let (json, is_sample) = match (self.input.as_deref(), sample) {
            (Some(given), _) => {
                (RawJson::parse(read_input(given).await?).map_err(CommandError::NotJson)?, false)
            }
            (None, Some(sample)) => (sample.into(), true),
            (None, None) => (RawObject::empty().into(), false),
        };
        Ok(Input { json: with_tool(json, self.tool.as_deref()), is_sample })
    }

    /// Says that a tool was named for an event that is not about one.
    pub(crate) fn warn_of_useless_tool(&self, event: HookEventName, printer: &mut Printer) {
        if self.tool.is_some() && event.row().matching != Matching::Pattern {
            printer.warning(&format!("{event} is not about a tool; --tool changes no matching"));
        }
    }

    /// Whether a tool was named.
    pub(crate) fn names_tool(&self) -> bool {
        self.tool.is_some()
    }
}

impl Input {
    /// What matchers of the event are compared with.
    ///
    /// # Errors
    /// When the input is not what the event requires, with the reason.
    pub(crate) fn subject(&self, event: HookEventName) -> Result<Option<String>, String> {
        let fields = self.json.to_object().map_err(|error| format!("the input: {error}"))?;
        let input = RequestInput::read(event, fields).map_err(|error| error.to_string())?;
        Ok(input.payload.match_subject().map(str::to_owned))
    }
}

/// Names the tool, with empty arguments where there are none. What is not an object stays as it
/// is, to be refused at the engine's door.
fn with_tool(input: RawJson, tool: Option<&str>) -> RawJson {
    let (Some(tool), Ok(mut fields)) = (tool, input.to_object()) else { return input };
    fields.insert("tool_name", RawJson::from_text(tool));
    if fields.get("tool_input").is_none() {
        fields.insert("tool_input", JsonObject::new().to_raw());
    }
    fields.to_raw().into()
}

async fn read_input(given: &str) -> Result<String, CommandError> {
    let bytes = match given.strip_prefix('@') {
        Some(path) => tokio::fs::read(path).await.map_err(|source| CommandError::Read {
            what: "the input",
            path: path.into(),
            source,
        })?,
        None if given == "-" => {
            let mut bytes = Vec::new();
            let read = tokio::io::stdin().read_to_end(&mut bytes).await;
            read.map_err(CommandError::Input)?;
            bytes
        }
        None => return Ok(given.to_owned()),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
