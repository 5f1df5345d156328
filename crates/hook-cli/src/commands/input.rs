//! An event's input on the command line: a given one, or a sample.

use std::io::{self, IsTerminal, Read};

use clap::Args;
use hook_bus::wire::MAX_LINE;
use hook_files::regular_file;
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};
use hook_protocol::event::Matching;
use hook_protocol::{HookEventName, RequestInput};
use tokio::sync::oneshot;

use crate::error::{CommandError, Result};
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

/// The parts of a tool's name that identify it as one that runs commands.
const SHELLS: [&str; 4] = ["shell", "bash", "exec", "command"];

/// The sample's values for such a tool, for the fields that it has.
const SHELL_SAMPLE: [(&str, &str); 2] =
    [("tool_input", r#"{"command":"ls -l"}"#), ("tool_response", r#"{"llmContent":"notes.txt"}"#)];

/// The replacement for an input that is not given.
#[derive(Debug)]
pub(crate) enum DefaultInput {
    /// A sample.
    Sample(RawObject),
    /// Standard input, as for a hook.
    StandardInput,
}

/// The input for an event to fire.
#[derive(Debug)]
pub(crate) struct Input {
    /// The input, which is an object.
    pub(crate) json: RawJson,
    /// `true` if no input was given, so that this is a sample.
    pub(crate) is_sample: bool,
    /// `true` if empty arguments were added to the given fields.
    added_arguments: bool,
}

impl InputArguments {
    /// Reads the given input, else its replacement.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read or is not JSON.
    pub(crate) async fn read(&self, default: DefaultInput, printer: &mut Printer) -> Result<Input> {
        let tool = self.tool.as_deref();
        let (json, is_sample) = match (self.input.as_deref(), default) {
            (Some(given), _) => (parse(&read_input(given).await?, given)?, false),
            (None, DefaultInput::Sample(sample)) => (sample_for(sample.into(), tool), true),
            (None, DefaultInput::StandardInput) => {
                if std::io::stdin().is_terminal() {
                    printer.remark("waiting for the event's input on standard input");
                }
                let text = read_input(STANDARD_INPUT).await?;
                match text.trim().is_empty() {
                    true => (RawObject::empty().into(), false),
                    false => (parse(&text, STANDARD_INPUT)?, false),
                }
            }
        };
        let (json, added_arguments) = with_tool(json, tool);
        Ok(Input { json, is_sample, added_arguments })
    }

    /// Warns about a tool that is named for an event that does not concern one.
    fn warn_of_useless_tool(&self, event: HookEventName, printer: &mut Printer) {
        if self.tool.is_some() && event.row().matching != Matching::TOOL_NAME {
            printer.warning(&format!("{event} is not about a tool; --tool changes no matching"));
        }
    }

    /// Prints notes about likely mistakes in the input of a tool event.
    pub(crate) fn advise(&self, event: HookEventName, input: &Input, printer: &mut Printer) {
        self.warn_of_useless_tool(event, printer);
        if event.row().matching != Matching::TOOL_NAME || input.is_sample {
            return;
        }
        if input.added_arguments {
            printer.remark(
                "the input has no \"tool_input\", so {} is used; a tool's arguments go under it: \
                 --input '{\"tool_input\": {...}}'",
            );
        }
        if input.json.to_object().is_ok_and(|fields| fields.get("tool_name").is_none()) {
            printer.remark("the input names no tool; give it with --tool NAME");
        }
    }

    /// Returns `true` if the input is read from standard input.
    pub(crate) fn is_standard_input(&self) -> bool {
        self.input.as_deref() == Some(STANDARD_INPUT)
    }

    /// Returns `true` if a tool is named.
    pub(crate) fn names_tool(&self) -> bool {
        self.tool.is_some()
    }
}

impl Input {
    /// Reads the input as that of an event.
    ///
    /// # Errors
    /// Returns the reason why the input does not meet the event's requirements.
    pub(crate) fn of(&self, event: HookEventName) -> Result<RequestInput, String> {
        let fields = self.json.to_object().map_err(|error| format!("the input: {error}"))?;
        RequestInput::read(event, fields).map_err(|error| error.to_string())
    }
}

/// Returns the sample, with arguments of a command if the tool's name says that it runs some.
fn sample_for(sample: RawJson, tool: Option<&str>) -> RawJson {
    let tool = tool.unwrap_or_default().to_lowercase();
    let Ok(mut fields) = sample.to_object() else { return sample };
    if !SHELLS.iter().any(|shell| tool.contains(shell)) {
        return sample;
    }
    for (name, value) in SHELL_SAMPLE {
        if let Ok(value) = RawJson::parse(value)
            && fields.get(name).is_some()
        {
            fields.insert(name, value);
        }
    }
    fields.to_raw().into()
}

/// Adds the tool's name, and empty arguments if there are none. Also returns whether arguments were
/// added to other fields.
fn with_tool(input: RawJson, tool: Option<&str>) -> (RawJson, bool) {
    let (Some(tool), Ok(mut fields)) = (tool, input.to_object()) else { return (input, false) };
    let has_others = !fields.is_empty();
    fields.insert("tool_name", RawJson::from_text(tool));
    let lacks_arguments = fields.get("tool_input").is_none();
    if lacks_arguments {
        fields.insert("tool_input", JsonObject::new().to_raw());
    }
    (fields.to_raw().into(), lacks_arguments && has_others)
}

const STANDARD_INPUT: &str = "-";

/// Parses an input object. `given` is its value on the command line, for error messages.
fn parse(text: &str, given: &str) -> Result<RawJson> {
    let what = if given == STANDARD_INPUT { "standard input" } else { "--input" };
    let help = || match std::path::Path::new(given).is_file() {
        true => format!("did you mean @{given}?"),
        false => "give an object, @FILE, or - for standard input".to_owned(),
    };
    let json = RawJson::parse(text).map_err(|source| CommandError::NotJson {
        what,
        source,
        remedy: help(),
    })?;
    match json.kind() {
        JsonKind::Object => Ok(json),
        found => Err(CommandError::NoObject { what, found, remedy: help() }),
    }
}

/// Parses an object that was read from standard input.
pub(super) fn object_of(text: &str) -> Result<RawObject> {
    let json = parse(text.trim(), STANDARD_INPUT)?;
    Ok(RawObject::try_from(json).unwrap_or_else(|_| RawObject::empty()))
}

async fn read_input(given: &str) -> Result<String> {
    let bytes = match given.strip_prefix('@') {
        Some(path) => regular_file::read(path.as_ref(), MAX_LINE as u64)
            .map_err(CommandError::read("the input", path.as_ref()))?,
        None if given == STANDARD_INPUT => read_standard_input().await?,
        None => return Ok(given.to_owned()),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads standard input to its end, on a separate thread: the writer may never finish, and the
/// command must still react to signals.
async fn read_standard_input() -> Result<Vec<u8>> {
    let (read, answer) = oneshot::channel();
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    // The thread ends with the input, or with the process.
    thread
        .spawn(move || read.send(read_bounded(io::stdin().lock())))
        .map_err(CommandError::Thread)?;
    let ended = || io::Error::other("the thread that reads has ended");
    answer.await.unwrap_or_else(|_| Err(ended())).map_err(CommandError::Input)
}

/// Reads to the end, or fails beyond `MAX_LINE` bytes: a device may never end.
fn read_bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MAX_LINE as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > MAX_LINE {
        true => Err(io::Error::other(format!("it is longer than {MAX_LINE} bytes"))),
        false => Ok(bytes),
    }
}
