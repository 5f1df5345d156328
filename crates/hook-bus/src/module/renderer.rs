//! What shows the messages of modules.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hook_core::RawObject;
use hook_core::text::OneLine;

use super::styled::StyledLine;

/// How a message is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// Whether all of it is to be seen.
    pub expanded: bool,
    /// How many columns there are.
    pub width: usize,
}

impl RenderOptions {
    /// In so many columns, perhaps all of it.
    pub fn new(width: usize, expanded: bool) -> Self {
        Self { expanded, width }
    }
}

type Render = dyn Fn(&RawObject, RenderOptions) -> Vec<StyledLine> + Send + Sync;

/// Shows messages of one kind.
#[derive(Clone)]
pub struct MessageRenderer(pub(super) Arc<Render>);

impl MessageRenderer {
    /// The lines of a message.
    pub fn render(&self, message: &RawObject, options: RenderOptions) -> Vec<StyledLine> {
        (self.0)(message, options)
    }

    /// The same; `None` where it panics, which is said in the log.
    pub(crate) fn render_caught(
        &self,
        custom_type: &str,
        message: &RawObject,
        options: RenderOptions,
    ) -> Option<Vec<StyledLine>> {
        let rendered = catch_unwind(AssertUnwindSafe(|| self.render(message, options)));
        if rendered.is_err() {
            let custom_type = OneLine(custom_type);
            tracing::warn!(target: "hook::module", "the renderer of {custom_type} panicked");
        }
        rendered.ok()
    }
}

impl fmt::Debug for MessageRenderer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MessageRenderer").finish_non_exhaustive()
    }
}
