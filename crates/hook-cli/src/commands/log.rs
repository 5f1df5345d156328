//! `hook log`: shows the calls of `hook bridge` by agents, and the answers.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use clap::Args;
use hook_bus::bridge::BridgeState;
use hook_files::regular_file;
use hook_json::text::one_line;
use hook_json::{JsonObject, RawJson};

use super::bridge::agent;
use super::connect::entries::{self, Scope};
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::options::count;
use crate::output::{Printer, Tone};
use crate::render::counted;

#[derive(Debug, Args)]
#[command(after_help = "\
Each call of `hook bridge` is a line: what the agent asked about, what the hooks
decided, why, and in which project. The last 8 MiB are kept, in the user's state
directory; what `redact` of the settings names is left out.

Examples:
  hook log
  hook log -n 100 claude
  hook log --blocked --json")]
pub(crate) struct Arguments {
    /// Only calls of this agent
    agent: Option<String>,
    /// How many of the last calls are shown
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "20", value_parser = count)]
    lines: std::num::NonZeroUsize,
    /// Only calls that hooks did not let proceed
    #[arg(long)]
    blocked: bool,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let name = arguments.agent.as_deref().map(agent).transpose()?.map(|agent| agent.name());
    let mut has_calls = false;
    let mut last: VecDeque<JsonObject> = VecDeque::new();
    for_each_call(|call| {
        has_calls = true;
        let text = |name: &str| call.get(name).and_then(RawJson::to_text);
        let is_wanted = name.is_none_or(|name| text("agent").as_deref() == Some(name))
            && !(arguments.blocked && text("decision").as_deref() == Some("proceed"));
        if !is_wanted {
            return;
        }
        if last.len() == arguments.lines.get() {
            last.pop_front();
        }
        last.push_back(call);
    })?;
    for call in &last {
        printer.show(&(call, |printer: &Printer| line(call, printer))).await?;
    }
    if !context.json() {
        note_last_calls(name, context, printer);
    }
    if last.is_empty() && !context.json() {
        printer.note(match has_calls {
            true => "no such call is written down",
            false => "no agent has asked yet; `hook connect AGENT` has it call `hook bridge`",
        });
    }
    Ok(exit_code::PROCEED)
}

/// Notes when the connected agents last called, or the one of this name.
fn note_last_calls(name: Option<&str>, context: &Context, printer: &mut Printer) {
    let agents = hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    for agent in agents.filter(|agent| name.is_none_or(|name| agent.name() == name)) {
        let all = Scope::ALL.map(|scope| entries::of(agent, scope, context));
        if let Some(entries) = all.iter().find(|entries| !entries.commands.is_empty()) {
            printer.remark(&format!("{}: {}", agent.name(), entries.last_calls().describe()));
        }
    }
}

/// Runs a function on each logged call, the oldest first.
pub(super) fn for_each_call(mut look: impl FnMut(JsonObject)) -> Result<()> {
    let log = BridgeState::for_user().ok_or(CommandError::NoHome)?.log();
    for path in [log.with_extension("jsonl.1"), log] {
        read_calls(&path)?.into_iter().flatten().for_each(&mut look);
    }
    Ok(())
}

/// Reads the calls in a file, or returns `None` if it does not exist. Skips invalid lines.
pub(super) fn read_calls(path: &Path) -> Result<Option<impl Iterator<Item = JsonObject>>> {
    let file: File = match regular_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CommandError::read("the log of calls", path)(error)),
    };
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    let object =
        |line: Vec<u8>| RawJson::parse(String::from_utf8(line).ok()?).ok()?.to_object().ok();
    Ok(Some(lines.filter_map(object)))
}

/// Formats a call for people.
fn line(call: &JsonObject, printer: &Printer) -> String {
    let text = |name: &str| {
        one_line(&call.get(name).and_then(RawJson::to_text).unwrap_or_default()).into_owned()
    };
    let decision = text("decision");
    let tone = if decision == "proceed" { Tone::Good } else { Tone::Bad };
    let about = [text("tool"), text("about")].into_iter().filter(|part| !part.is_empty());
    let about = about.collect::<Vec<_>>().join(" ");
    let reason = text("reason");
    let milliseconds = call.get("milliseconds").map(RawJson::as_str).unwrap_or_default();
    let warnings = match call.get("warnings").and_then(RawJson::to_u64).unwrap_or_default() {
        0 => String::new(),
        warnings => format!(", {}", counted(warnings as usize, "warning")),
    };
    let at = printer.paint(Tone::Quiet, &text("at"));
    let decision = printer.paint(tone, &decision);
    let about = if about.is_empty() { about } else { format!("  {about}") };
    let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
    let by = format!("({milliseconds} ms, {}{warnings}) {}", text("by"), text("project"));
    let by = printer.paint(Tone::Quiet, &by);
    format!("{at} {} {} {decision}{about}{reason} {by}\n", text("agent"), text("event"))
}
