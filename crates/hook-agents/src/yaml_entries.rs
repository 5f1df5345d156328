//! The entries of `hook connect` in YAML files: a block `hooks` at the end, with a line of JSON, which is YAML, for each
//! event. Every other byte stays.

use hook_json::RawJson;

use super::edit_error::ForeignEditError;
use super::entry_command::bridge_call;
use super::table::Agent;

/// The first line of the block, and that of one before which a newline was added.
const HEADERS: [&str; 2] = ["hooks: # hook connect\n", "hooks:  # hook connect\n"];

fn error(message: String) -> ForeignEditError {
    ForeignEditError { at: 0..0, message }
}

/// A text around the block.
struct Parts<'t> {
    before: &'t str,
    /// The lines of the block, each with its newline.
    entries: Vec<&'t str>,
    after: &'t str,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Self {
        let starts_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
        let found = HEADERS.iter().find_map(|header| {
            let at = text.find(header).filter(starts_line)?;
            Some((at, at + header.len()))
        });
        let Some((start, end)) = found else {
            return Self { before: text, entries: Vec::new(), after: "" };
        };
        let (before, block) = (&text[..start], &text[end..]);
        let entries: Vec<&str> =
            block.split_inclusive('\n').take_while(|line| line.starts_with("  ")).collect();
        let after = &block[entries.iter().map(|line| line.len()).sum()..];
        let is_after_newline = text[start..].starts_with(HEADERS[1]);
        let before = if is_after_newline { before.trim_end_matches('\n') } else { before };
        Self { before, entries, after }
    }
}

/// Returns the entries of a text, each as its event and its command.
pub(super) fn connections(agent: &Agent, text: &str) -> Vec<(String, String)> {
    let entry = |line: &&str| {
        let (event, list) = line.trim().split_once(": ")?;
        let hook = RawJson::parse(list).ok()?.to_items()?.first()?.to_object().ok()?;
        let command = agent.out_of_shell(hook.get("command").and_then(RawJson::to_text)?);
        let (caller, called) = bridge_call(&command)?;
        ((caller.name, called) == (agent.name, event)).then(|| (event.to_owned(), command.clone()))
    };
    Parts::of(text).entries.iter().filter_map(entry).collect()
}

/// Returns the text with an entry for each event, or unchanged if all are present.
pub(super) fn connected(
    agent: &Agent,
    text: &str,
    events: &[&str],
    command: &dyn Fn(&str) -> String,
) -> Result<String, ForeignEditError> {
    let wanted: Vec<_> = events.iter().map(|event| ((*event).to_owned(), command(event))).collect();
    if connections(agent, text) == wanted {
        return Ok(text.to_owned());
    }
    let mut text = disconnected(agent, text)?;
    let lines: String = wanted.iter().map(|(event, command)| line(agent, event, command)).collect();
    if let Some(obstacle) = obstacle(&text) {
        return Err(error(format!("{obstacle}; add these lines to its `hooks` by hand:\n{lines}")));
    }
    let needs_newline = !text.is_empty() && !text.ends_with('\n');
    text.push_str(if needs_newline { "\n" } else { "" });
    text.push_str(HEADERS[usize::from(needs_newline)]);
    text.push_str(&lines);
    Ok(text)
}

/// Returns the text without entries.
pub(super) fn disconnected(agent: &Agent, text: &str) -> Result<String, ForeignEditError> {
    let Parts { before, entries, after } = Parts::of(text);
    if entries.len() != connections(agent, text).len() {
        return Err(error(
            "its `hooks` are not as `hook connect` writes them; remove its lines by hand"
                .to_owned(),
        ));
    }
    Ok(format!("{before}{after}"))
}

/// Returns the reason why a block cannot be added at the end of a text, if there is one.
fn obstacle(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(str::trim_end);
    let is_key = |line: &str| {
        ["hooks", "\"hooks\"", "'hooks'"].iter().any(|key| {
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    };
    let is_end = |line: &str| {
        line == "..." || line.starts_with("--- ") || line.starts_with(['{', '[', '\t'])
    };
    lines.find_map(|line| match () {
        () if is_key(line) => Some("it has `hooks` of its own"),
        () if is_end(line) => Some("it is no plain list of keys"),
        () => None,
    })
}

fn line(agent: &Agent, event: &str, command: &str) -> String {
    let hook = agent.event(event).map(|event| agent.entry_hook(event, command)).unwrap_or_default();
    format!("  {event}: [{}]\n", hook.to_raw().as_str())
}
