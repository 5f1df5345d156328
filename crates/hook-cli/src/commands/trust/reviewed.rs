//! Hooks of projects, and their reviews.

use std::path::PathBuf;

use hook_settings::HookEntry;
use hook_trust::Review;

/// A project around the working directory.
pub(super) struct ProjectHooks {
    pub(super) directory: PathBuf,
    pub(super) hooks: Vec<HookEntry>,
    /// `true` if its settings have errors, which may hide hooks.
    pub(super) has_errors: bool,
}

/// A reviewed hook, with its project.
pub(super) struct Reviewed {
    pub(super) project: PathBuf,
    pub(super) review: Review,
}

impl Reviewed {
    pub(super) fn is_trusted(&self) -> bool {
        self.review.is_decided()
    }

    pub(super) fn is_opaque(&self) -> bool {
        !self.review.opaque.is_empty()
    }
}
