//! `hook trust --lock` and `--check`: reviewed hooks in a file that is committed with the project.

use std::path::Path;

use hook_json::text::one_line;
use hook_settings::{IN_PROJECT, LockedPack, PackLock};
use hook_trust::{LockCheck, PackStore, Review, TrustLock, TrustStatus};

use super::reviewed::{ProjectHooks, Reviewed};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

/// Writes the lock of each project that has hooks, once all of them are trusted.
pub(super) async fn write(
    projects: &[ProjectHooks],
    reviews: &[Reviewed],
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let open: Vec<&str> = reviews
        .iter()
        .filter(|reviewed| !reviewed.is_trusted())
        .map(|reviewed| reviewed.review.entry.display_name())
        .collect();
    if !open.is_empty() {
        let names: Vec<_> = open.iter().map(|name| one_line(name)).collect();
        printer.problem(&format!(
            "nothing was written: not all hooks are trusted ({}); review them first, with `hook trust`",
            names.join(", ")
        ));
        return Ok(exit_code::FAILURE);
    }
    for ProjectHooks { directory: project, hooks: entries, .. } in projects {
        let path = TrustLock::path(project);
        if entries.is_empty() && !path.exists() {
            continue;
        }
        let in_project = reviews.iter().filter(|reviewed| reviewed.project == *project);
        let lock = TrustLock::of(in_project.map(|reviewed| &reviewed.review));
        lock.write(project)?;
        if context.json() {
            let line = serde_json::json!({"lock": path.to_string_lossy(), "hooks": lock.len()});
            printer.object(&line).await?;
        } else {
            printer.text(&render::locked(&path, lock.len())).await?;
        }
    }
    Ok(exit_code::PROCEED)
}

/// Returns the number of packs that a project's lock names, and those of which there is no copy with
/// the digest in it.
fn missing_packs(project: &Path) -> Result<(usize, Vec<String>), String> {
    let lock = PackLock::read(&PackLock::path(&project.join(IN_PROJECT)))?;
    let store = PackStore::of_user();
    let is_missing = |(name, locked): &(&String, &LockedPack)| {
        store.as_ref().is_none_or(|store| !store.is_intact(name, &locked.digest))
    };
    let missing = lock.packs.iter().filter(is_missing).map(|(name, _)| name.clone()).collect();
    Ok((lock.packs.len(), missing))
}

/// Compares the hooks of each project with its lock.
pub(super) async fn check(
    projects: &[ProjectHooks],
    whole: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut failed = 0;
    let mut checked = 0;
    let mut locks = 0;
    let mut failed_packs = 0;
    let mut shown = render::ShownFiles::default();
    for ProjectHooks { directory: project, hooks: entries, .. } in projects {
        let lock = TrustLock::read(project)?;
        if lock.is_none() && !entries.is_empty() {
            printer.problem(&format!(
                "there is no lock {}; `hook trust --lock` writes it once the hooks are trusted",
                TrustLock::path(project).display()
            ));
        }
        locks += usize::from(lock.is_some());
        match missing_packs(project) {
            Ok((count, missing)) => {
                locks += usize::from(count > 0);
                for name in &missing {
                    printer.problem(&format!(
                        "the pack {} is not here as packs.lock says; `hook add` adds it",
                        one_line(name)
                    ));
                }
                failed_packs += missing.len();
            }
            Err(error) => {
                printer.problem(&format!("packs.lock cannot be read: {error}"));
                failed_packs += 1;
            }
        }
        let lock = lock.unwrap_or_else(|| TrustLock::of([]));
        let LockCheck { reviews, gone, .. } = lock.check(project, entries);
        checked += reviews.len();
        let is_open = |review: &&Review| review.status != TrustStatus::Trusted;
        failed += reviews.iter().filter(is_open).count() + gone.len();
        if context.json() {
            for review in &reviews {
                printer.object(&render::review_json(review, false)).await?;
            }
            for grant in &gone {
                printer.object(&render::grant_json(grant, ("gone", true))).await?;
            }
            continue;
        }
        for review in reviews.iter().filter(is_open) {
            printer.text(&render::unlocked(review, whole, &mut shown, printer)).await?;
        }
        if !gone.is_empty() {
            printer.text(&render::missing_hooks(&gone, printer)).await?;
        }
    }
    if failed > 0 {
        let message = match failed {
            1 => "1 hook is not as the lock says".to_owned(),
            count => format!("{count} hooks are not as the lock says"),
        };
        printer.problem(&format!(
            "{message}; review what changed with `hook trust`, then write and commit the lock with \
             `hook trust --lock`"
        ));
        return Ok(exit_code::FAILURE);
    }
    if failed_packs > 0 {
        return Ok(exit_code::FAILURE);
    }
    if locks == 0 {
        // A change that removes the hooks can remove the lock as well.
        printer.problem(
            "there is no lock and no hook to compare; if the project is to have none, leave out \
             `hook trust --check`",
        );
        return Ok(exit_code::FAILURE);
    }
    if !context.json() {
        printer.text(&render::all_locked(checked)).await?;
    }
    Ok(exit_code::PROCEED)
}
