//! Hooks of projects, and what was reviewed of them.

use std::path::PathBuf;

use hook_core::settings::HookEntry;
use hook_core::trust::{Review, Standing};

/// The hooks of a project that the working directory is in, by the project's directory.
pub(super) type ProjectHooks = (PathBuf, Vec<HookEntry>);

/// A hook that was reviewed, with its project.
pub(super) struct Reviewed {
    pub(super) project: PathBuf,
    pub(super) review: Review,
}

impl Reviewed {
    pub(super) fn is_trusted(&self) -> bool {
        self.review.standing == Standing::Trusted
    }

    pub(super) fn is_opaque(&self) -> bool {
        !self.review.opaque.is_empty()
    }
}
