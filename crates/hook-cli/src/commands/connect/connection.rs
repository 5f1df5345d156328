//! A connection whose agent may need its user's consent.

use std::path::PathBuf;

use hook_agents::Agent;
use hook_settings::edit::FileChange;

use super::entries::Scope;
use super::show;
use crate::commands::confirms;
use crate::context::Context;
use crate::error::Result;
use crate::output::Printer;

/// One connection whose agent may need consent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connection<'c> {
    pub(super) agent: &'static Agent,
    pub(super) scope: Scope,
    pub(super) context: &'c Context,
    /// Answers every question with yes.
    pub(super) yes: bool,
}

impl Connection<'_> {
    /// Returns the project's path as agents know it.
    pub(super) fn folder(&self) -> PathBuf {
        let project = self.context.project();
        project.canonicalize().unwrap_or_else(|_| project.to_path_buf())
    }

    /// Returns `true` if the user agrees, by `--yes` or on a terminal. Otherwise asks no one.
    pub(super) async fn confirms(&self, question: &str, printer: &mut Printer) -> Result<bool> {
        Ok(self.yes || confirms(question, self.context, printer).await?)
    }

    pub(super) async fn show(
        &self,
        change: &FileChange,
        verb: &str,
        dry_run: bool,
        printer: &mut Printer,
    ) -> Result<()> {
        match change.is_change() {
            true => show(self.agent, change, verb, dry_run, printer).await,
            false => Ok(()),
        }
    }
}
