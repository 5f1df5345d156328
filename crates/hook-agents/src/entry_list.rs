//! The entries of `hook connect` in TOML files, each a table of the list `hooks`. They are appended
//! to the file; every other byte stays.

use hook_json::{JsonObject, RawJson};

use super::edit_error::ForeignEditError;
use super::entry_command::bridge_call;
use super::syntax::toml_to_json;
use super::table::Agent;

/// The first line of an entry.
const HEADER: &str = "[[hooks]] # hook connect\n";

/// The first line of an entry before which a newline was added.
const HEADER_AFTER_NEWLINE: &str = "[[hooks]]  # hook connect\n";

fn error(message: String) -> ForeignEditError {
    ForeignEditError { at: 0..0, message }
}

/// Returns the entries of a text, each as its event and its command.
pub(super) fn connections(
    agent: &Agent,
    text: &str,
) -> Result<Vec<(String, String)>, ForeignEditError> {
    let root = toml_to_json(text).map_err(|ForeignEditError { at, message }| {
        let message = format!("it is not TOML, and is left as it is: {message}");
        ForeignEditError { at, message }
    })?;
    let root = RawJson::parse(root).ok().and_then(|root| root.to_object().ok());
    let hooks = root.unwrap_or_default().get("hooks").and_then(RawJson::to_items);
    let entries = hooks.unwrap_or_default().into_iter().filter_map(|hook| {
        let fields = hook.to_object().ok()?;
        let text = |name: &str| fields.get(name)?.to_text();
        let event = text(agent.layout.event_key?)?;
        let command = agent.out_of_shell(text("command")?);
        let (caller, called) = bridge_call(&command)?;
        ((caller.name, called) == (agent.name, event.as_str())).then(|| (event, command.clone()))
    });
    Ok(entries.collect())
}

/// Returns the text with an entry for each event, or unchanged if all are present.
pub(super) fn connected(
    agent: &Agent,
    text: &str,
    events: &[&str],
    command: &dyn Fn(&str) -> String,
) -> Result<String, ForeignEditError> {
    let wanted: Vec<_> = events.iter().map(|event| ((*event).to_owned(), command(event))).collect();
    let found = connections(agent, text)?;
    if found.len() == wanted.len() && wanted.iter().all(|entry| found.contains(entry)) {
        return Ok(text.to_owned());
    }
    let mut text = disconnected(agent, text)?;
    for (index, (event, command)) in wanted.iter().enumerate() {
        let needs_newline = index == 0 && !text.is_empty() && !text.ends_with('\n');
        text.push_str(if needs_newline { "\n" } else { "" });
        text.push_str(if needs_newline { HEADER_AFTER_NEWLINE } else { HEADER });
        text.push_str(&body(agent, event, command));
    }
    match connections(agent, &text) {
        Ok(found) if found == wanted => Ok(text),
        _ => Err(error(
            "it has `hooks` that are no list of tables, so no entry can be added; write them as \
             `[[hooks]]`"
                .to_owned(),
        )),
    }
}

/// Returns the text without entries.
pub(super) fn disconnected(agent: &Agent, text: &str) -> Result<String, ForeignEditError> {
    let mut text = text.to_owned();
    for (event, command) in connections(agent, &text)? {
        let body = body(agent, &event, &command);
        let after_newline = format!("\n{HEADER_AFTER_NEWLINE}{body}");
        let plain = format!("{HEADER}{body}");
        let found = [after_newline, plain]
            .into_iter()
            .find_map(|entry| Some((text.find(&entry)?, entry.len())));
        let Some((start, len)) = found else {
            return Err(error(format!(
                "the entry for {event} is not as `hook connect` writes it; remove it by hand"
            )));
        };
        text.replace_range(start..start + len, "");
    }
    Ok(text)
}

/// Returns the lines of an entry after the first one. JSON texts, numbers and switches are TOML,
/// too.
fn body(agent: &Agent, event: &str, command: &str) -> String {
    let hook = agent.event(event).map(|event| agent.entry_hook(event, command));
    let fields: JsonObject = hook.unwrap_or_default();
    fields.iter().map(|(name, value)| format!("{name} = {}\n", value.as_str())).collect()
}
