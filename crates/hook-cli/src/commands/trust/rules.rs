//! Rules of a project that its user agreed to: one that is taken out or loosened holds until the user
//! agrees to that.

use std::fs;
use std::io::{BufRead, IsTerminal};

use hook_json::text::one_line;
use hook_rules::RuleFile;
use hook_settings::{
    HookSource, IN_PROJECT, PROJECT_RULES, Pack, SettingsFile, SettingsSource, load,
};
use hook_trust::{PackStore, TrustStore};

use super::reviewed::ProjectHooks;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::render::plural;

/// Keeps the rules of projects, and asks about those that are gone or weaker. Returns `false` if the
/// user did not agree.
pub(super) async fn review(
    store: &TrustStore,
    projects: &[ProjectHooks],
    yes: bool,
    printer: &mut Printer,
) -> Result<bool> {
    let Some(packs) = PackStore::of_user() else { return Ok(true) };
    let mut is_settled = true;
    for ProjectHooks { directory: project, .. } in projects {
        let settings = project.join(IN_PROJECT);
        let folder = settings.with_file_name("rules");
        let is_there = fs::symlink_metadata(&folder).is_ok();
        let agreed = store.agreed_packs(project).unwrap_or_default().remove(PROJECT_RULES);
        if agreed.is_none() && !is_there {
            continue;
        }
        let before = agreed.as_ref().and_then(|agreed| {
            load(&SettingsSource::of_pack(Pack::new(PROJECT_RULES, agreed, Some(project))))
        });
        let now = load(&SettingsSource::optional(HookSource::Project, settings));
        let now: Vec<&RuleFile> = rules_of(now.as_ref()).collect();
        let lost: Vec<String> =
            rules_of(before.as_ref()).flat_map(|file| file.lost_rules(&now)).collect();
        if !lost.is_empty() && !agrees(&lost, yes, printer).await? {
            is_settled = false;
            continue;
        }
        let kept = match is_there {
            true => {
                Some(packs.keep_rules(project).map_err(CommandError::write("a copy of", &folder))?)
            }
            false => None,
        };
        if kept.as_ref().map(|kept| &kept.digest) == agreed.as_ref().map(|agreed| &agreed.digest) {
            continue;
        }
        store.agree_to_packs(project, |packs| {
            match &kept {
                Some(kept) => packs.insert(PROJECT_RULES.to_owned(), kept.clone()),
                None => packs.remove(PROJECT_RULES),
            };
        })?;
    }
    Ok(is_settled)
}

fn rules_of(file: Option<&SettingsFile>) -> impl Iterator<Item = &RuleFile> {
    file.into_iter().flat_map(|file| &file.rules).map(|set| &*set.file)
}

async fn agrees(lost: &[String], yes: bool, printer: &mut Printer) -> Result<bool> {
    let rules = plural(lost.len(), "rule", "rules");
    let names: Vec<_> = lost.iter().take(10).map(|name| one_line(name)).collect();
    let message = format!(
        "{rules} of the project that you agreed to before are gone or do less, and hold until you agree: {}",
        names.join(", ")
    );
    printer.warning(&message);
    if yes {
        return Ok(true);
    }
    if !(std::io::stdin().is_terminal() && printer.is_interactive()) {
        printer.problem("`hook trust --yes` agrees to that");
        return Ok(false);
    }
    printer.text("Agree to that? [y]es, [N]o: ").await?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(CommandError::Input)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
