//! Guards that are trusted, and gone from the settings of their project.

use std::path::PathBuf;

use hook_json::text::shortened;
use hook_settings::guarded_directories;
use hook_trust::{Grant, TrustStore, TrustStoreError};

use super::reviewed::ProjectHooks;
use crate::context::Context;
use crate::error::CommandError;
use crate::output::Printer;
use crate::render;

/// A trusted guard that is gone, with its project.
pub(super) struct RemovedGuard {
    pub(super) project: PathBuf,
    pub(super) grant: Grant,
}

impl RemovedGuard {
    fn question(&self) -> String {
        format!(
            "The guard `{}` that you trusted is gone from the settings: agree to its removal? [y]es, [N]o, \
             [q]uit: ",
            shortened(self.grant.display_name())
        )
    }
}

/// Returns the guards that are gone from these projects, and from directories around without settings. Where
/// settings have errors, these may hide a guard.
pub(super) fn find(
    store: &TrustStore,
    projects: &[ProjectHooks],
    context: &Context,
) -> Vec<RemovedGuard> {
    let sources = context.sources();
    let is_read =
        |agent: &str| sources.iter().any(|source| source.agents.iter().any(|it| it == agent));
    let around = guarded_directories(context.project()).into_iter();
    let around = around.filter(|folder| projects.iter().all(|known| known.directory != *folder));
    let around: Vec<PathBuf> = around.collect();
    let known = projects.iter().filter(|project| !project.has_errors);
    let known = known.map(|project| (&project.directory, &*project.hooks));
    let searched = known.chain(around.iter().map(|folder| (folder, [].as_slice())));
    let found = searched.flat_map(|(project, hooks)| {
        // A store that is damaged was reported with the reviews.
        let removed = store.removed_guards(project, hooks).unwrap_or_default();
        removed.into_iter().map(|grant| RemovedGuard { project: project.clone(), grant })
    });
    found.filter(|removed| removed.grant.is_in_settings_of(is_read)).collect()
}

/// Shows guards that are gone.
pub(super) async fn show(
    removed: &[RemovedGuard],
    printer: &mut Printer,
) -> Result<(), CommandError> {
    for guard in removed {
        let text = render::removed_guard(&guard.grant, &guard.project, printer);
        printer.text(&text).await?;
    }
    Ok(())
}

/// Shows each guard that is gone and asks; no answer means no. Returns those whose removal is agreed to, and
/// the number of the others.
pub(super) async fn ask_for_each(
    removed: Vec<RemovedGuard>,
    answers: &mut super::Answers,
    printer: &mut Printer,
) -> Result<(Vec<RemovedGuard>, usize), CommandError> {
    let count = removed.len();
    let mut agreed = Vec::new();
    for guard in removed {
        show(std::slice::from_ref(&guard), printer).await?;
        match super::answer(&guard.question(), answers, printer).await?.as_str() {
            "y" | "yes" => agreed.push(guard),
            "q" | "quit" => break,
            _ => {}
        }
    }
    let rejected = count - agreed.len();
    Ok((agreed, rejected))
}

/// Forgets guards whose removal is agreed to.
pub(super) fn forget(store: &TrustStore, agreed: &[RemovedGuard]) -> Result<(), TrustStoreError> {
    let mut projects: Vec<&PathBuf> = agreed.iter().map(|guard| &guard.project).collect();
    projects.dedup();
    for project in projects {
        let of_project = agreed.iter().filter(|guard| guard.project == *project);
        let grants: Vec<Grant> = of_project.map(|guard| guard.grant.clone()).collect();
        store.forget_removed(project, &grants)?;
    }
    Ok(())
}
