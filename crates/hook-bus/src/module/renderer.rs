//! Renderers of the modules' messages.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hook_json::text::OneLine;
use hook_json::{RawObject, opaque_debug};

use super::styled::StyledLine;

/// The options for rendering a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// Shows the complete message.
    pub expanded: bool,
    /// The number of columns.
    pub width: usize,
}

impl RenderOptions {
    /// Creates options with this width.
    pub fn new(width: usize, expanded: bool) -> Self {
        Self { expanded, width }
    }
}

type Render = dyn Fn(&RawObject, RenderOptions) -> Vec<StyledLine> + Send + Sync;

/// A renderer of messages of one type.
#[derive(Clone)]
pub struct MessageRenderer(pub(super) Arc<Render>);

impl MessageRenderer {
    /// Returns the lines of a message.
    pub fn render(&self, message: &RawObject, options: RenderOptions) -> Vec<StyledLine> {
        (self.0)(message, options)
    }

    /// Like [`render`](Self::render); returns `None` if it panics, which is logged.
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

opaque_debug!(MessageRenderer);
