//! Rules of a project that its user agreed to: one that is taken out or loosened holds until the user
//! agrees to that.

use std::fs;
use std::path::Path;

use hook_json::text::one_line;
use hook_rules::RuleFile;
use hook_settings::{
    HookSource, IN_PROJECT, PROJECT_RULES, Pack, SettingsFile, SettingsSource, load,
};
use hook_trust::{PackStore, TrustStore, verify_pack};

use crate::commands::confirms;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::render::plural;

/// Keeps the rules of a project, and asks about those that are gone or weaker. Returns `false` if
/// they could not be kept, or the user did not agree.
pub(crate) async fn keep_rules(
    store: &TrustStore,
    project: &Path,
    yes: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let Some(packs) = PackStore::of_user() else { return Ok(true) };
    let settings = project.join(IN_PROJECT);
    let folder = settings.with_file_name("rules");
    let is_there = fs::symlink_metadata(&folder).is_ok();
    let agreed = store.agreed_packs(project).unwrap_or_default().remove(PROJECT_RULES);
    if agreed.is_none() && !is_there {
        return Ok(true);
    }
    let before = agreed.as_ref().map(|agreed| Pack::new(PROJECT_RULES, agreed, Some(project)));
    let is_known = before.as_ref().is_none_or(|before| verify_pack(before).is_ok());
    let before = before.and_then(|before| load(&SettingsSource::of_pack(before)));
    let now = load(&SettingsSource::optional(HookSource::Project, settings));
    let now: Vec<&RuleFile> = rules_of(now.as_ref()).collect();
    let mut lost: Vec<String> =
        rules_of(before.as_ref()).flat_map(|file| file.lost_rules(&now)).collect();
    if !is_known {
        lost.push("all that you agreed to, whose copy is gone or changed".to_owned());
    }
    if !lost.is_empty() && !agrees(&lost, yes, context, printer).await? {
        return Ok(false);
    }
    let kept = match is_there {
        false => None,
        true => match packs.keep_rules(project) {
            Ok(kept) => Some(kept),
            // Hooks can be trusted all the same, and what was agreed to holds.
            Err(error) => {
                printer.problem(&CommandError::write("a copy of", &folder)(error).to_string());
                return Ok(false);
            }
        },
    };
    if kept.as_ref().map(|kept| &kept.digest) == agreed.as_ref().map(|agreed| &agreed.digest) {
        return Ok(true);
    }
    store.agree_to_packs(project, |packs| {
        match &kept {
            Some(kept) => packs.insert(PROJECT_RULES.to_owned(), kept.clone()),
            None => packs.remove(PROJECT_RULES),
        };
    })?;
    Ok(true)
}

fn rules_of(file: Option<&SettingsFile>) -> impl Iterator<Item = &RuleFile> {
    file.into_iter().flat_map(|file| &file.rules).map(|set| &*set.file)
}

async fn agrees(
    lost: &[String],
    yes: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let rules = plural(lost.len(), "rule", "rules");
    let names: Vec<_> = lost.iter().take(10).map(|name| one_line(name)).collect();
    let hold = if lost.len() == 1 { "holds" } else { "hold" };
    let message = format!(
        "{rules} of the project, gone or weaker since you agreed, {hold} until you agree to that: {}",
        names.join(", ")
    );
    printer.warning(&message);
    if yes || confirms("Agree to that?", context, printer).await? {
        return Ok(true);
    }
    printer.problem("`hook trust --yes` agrees to that");
    Ok(false)
}
