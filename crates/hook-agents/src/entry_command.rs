//! The commands of entries: what `hook connect` writes, and how it is recognised.

use std::borrow::Cow;

use hook_json::{JsonObject, RawJson};

use super::table::Agent;

/// The start of a project entry's command, which searches for the binary.
pub const PROJECT_SEARCH: &str = "_r=$(pwd -P); _d=$_r; ";

/// The start of a user's entry's command that refuses if the binary is gone.
pub const USER_START: &str = "_h=";

/// The start of an entry's command, up to the shell's text, where the agent starts no shell.
const SHELL: &str = "/bin/sh -c '";

impl Agent {
    /// Returns a command of an entry as it is written: for a shell, which some agents do not start.
    pub(super) fn in_shell<'c>(&self, command: &'c str) -> Cow<'c, str> {
        match self.shell.is_empty() {
            true => Cow::Owned(format!("{SHELL}{}'", command.replace('\'', r"'\''"))),
            false => Cow::Borrowed(command),
        }
    }

    /// Returns the command of an entry from how it is written.
    pub(super) fn out_of_shell(&self, written: String) -> String {
        let inner = written.strip_prefix(SHELL).and_then(|rest| rest.strip_suffix('\''));
        match inner.filter(|_| self.shell.is_empty()) {
            Some(inner) => inner.replace(r"'\''", "'"),
            None => written,
        }
    }
}

/// Returns the agent and the event of a command that calls any `hook bridge` binary. Such a command
/// is an entry of `hook connect`, and never run as a hook.
pub(super) fn bridge_call(command: &str) -> Option<(&'static Agent, &str)> {
    let command = command.trim();
    let in_shell = command.strip_prefix(SHELL).and_then(|rest| rest.strip_suffix('\''));
    let (rest, event) = in_shell.unwrap_or(command).rsplit_once(' ')?;
    let (rest, agent) = rest.rsplit_once(' ')?;
    let agent = super::agent(agent).filter(|agent| agent.event(event).is_some())?;
    let command = rest.strip_suffix(" bridge")?;
    // So PowerShell starts a program whose path is quoted.
    let command = command.strip_prefix("& ").unwrap_or(command);
    // A hook that runs anything else first is the user's, except for the search in projects.
    let guarded =
        command.strip_prefix("[ -x ").and_then(|guard| guard.split_once(" ] || exit 0; exec "));
    let is_alone = match guarded {
        Some((test_path, exec_path)) => is_single_word(test_path) && is_single_word(exec_path),
        None => is_single_word(command),
    };
    let is_script = [PROJECT_SEARCH, USER_START].iter().any(|start| command.starts_with(start));
    if !is_alone && !is_script {
        return None;
    }
    let binary = command.trim_end_matches(['\'', '"']);
    let name = binary.rsplit([' ', '/', '\\', '\'', '"']).next()?;
    matches!(name, "hook" | "hook.exe").then_some((agent, event))
}

/// Checks whether a text is a single shell word, quoted or not.
fn is_single_word(text: &str) -> bool {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let is_quoted = |quote: char| {
        within(quote).is_some_and(|inner| !inner.replace(r"'\''", "").contains(quote))
    };
    let is_plain =
        |character: char| !character.is_whitespace() && !";&|()<>$`\"'".contains(character);
    is_quoted('\'') || is_quoted('"') || text.chars().all(is_plain)
}

/// Checks whether a hook of a file is such an entry.
pub(super) fn is_entry(hook: &RawJson) -> bool {
    let command = hook.to_object().ok().and_then(|hook| command_of(&hook));
    command.is_some_and(|command| bridge_call(&command).is_some())
}

pub(super) fn command_of(hook: &JsonObject) -> Option<String> {
    let keys = ["command", "bash", "powershell"].iter();
    let command = keys.filter_map(|key| hook.get(key)).find_map(RawJson::to_text)?;
    let Some(arguments) = hook.get("args").and_then(RawJson::to_items) else {
        return Some(command);
    };
    let arguments: Option<Vec<String>> = arguments.iter().map(RawJson::to_text).collect();
    Some(format!("{} {}", windows_word(&command), arguments?.join(" ")))
}

/// Returns a path of Windows, which has no quotes, as a word of its shells.
pub fn windows_word(path: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || r"\/:._-".contains(character);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("\"{path}\""),
    }
}
