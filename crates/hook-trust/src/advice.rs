//! The commands that messages name, for people to run as they are.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use super::changes::Summary;
use super::grant::Grant;
use hook_json::text::{PathText, shortened};
use hook_settings::HookEntry;

/// Returns the command that shows hooks and asks: with `--agent` for hooks that were found in files of these
/// agents, which it does not read by itself.
pub fn review_command<'a>(agents: impl IntoIterator<Item = &'a str>) -> String {
    let mut command = "hook trust".to_owned();
    for agent in agents.into_iter().collect::<BTreeSet<_>>() {
        let _ = write!(command, " --agent {agent}");
    }
    command
}

/// Returns the agent in whose own file a hook was found, and which commands have to name to find it there.
pub fn agent_of(entry: &HookEntry) -> Option<&'static str> {
    let foreign = entry.foreign.as_ref().filter(|foreign| foreign.is_discovered)?;
    Some(foreign.language.name())
}

/// Returns the reason why a trusted hook does not run any more: what changed, and what to do.
pub(super) fn changed_reason(entry: &HookEntry, change: Option<&Summary>) -> String {
    let what = change.map(|change| format!(" ({change})")).unwrap_or_default();
    let command = review_command(agent_of(entry));
    let mut reason = format!(
        "it changed since it was trusted{what}, so it does not run; the user can review that with `{command}`"
    );
    if let Some(folder) = change.and_then(|change| change.written_folder.as_deref()) {
        let folder = folder.shown();
        let _ = match entry.foreign {
            Some(_) => write!(reason, "; what the hook itself writes belongs outside of {folder}"),
            None => write!(
                reason,
                "; what the hook itself writes belongs outside of {folder}, or into its `data`"
            ),
        };
    }
    reason
}

impl Grant {
    /// Returns the command that shows that this guard is gone from its project and asks, from any directory.
    pub fn removal_command(&self, project: &Path) -> String {
        let agent = self.foreign_event().map(|(language, _)| language);
        let project = hook_shell::quote(&project.shown().to_string());
        format!("{} --project {project}", review_command(agent))
    }

    /// Returns the command that takes back the trust in this hook, and in nothing else, from any directory.
    /// If no command line can name the hook, the command asks about each.
    pub fn revoke_command(&self, project: &Path) -> String {
        let name = self.display_name();
        let project = hook_shell::quote(&project.shown().to_string());
        // What a message shortens or escapes is no argument.
        match shortened(name) == name {
            false => format!("hook trust --revoke --project {project}"),
            true if name.starts_with('-') => {
                format!("hook trust --revoke --project {project} -- {}", hook_shell::quote(name))
            }
            true => format!("hook trust --revoke {} --project {project}", hook_shell::quote(name)),
        }
    }
}
