//! Hooks of projects, and their reviews.

use std::path::PathBuf;

use hook_settings::HookEntry;
use hook_trust::Review;

/// The directory of a project around the working directory, and the project's hooks.
pub(super) type ProjectHooks = (PathBuf, Vec<HookEntry>);

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
