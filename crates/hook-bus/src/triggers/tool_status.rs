//! The status of a tool call, for a display (seed 000 §5.1, "Scheduler status mapping").

use std::sync::Arc;

use hook_json::{RawObject, opaque_debug};

use super::tool_call::{ToolCall, ToolResult};

/// The status of a tool call. Every call ends with exactly one of the last two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ToolStatus<'r> {
    /// Hooks decide whether the tool may run.
    Asking,
    /// The tool runs with the input as changed by hooks.
    Running {
        /// The tool's input.
        input: &'r RawObject,
    },
    /// The call is over and its slot is idle, whether the tool ran, failed, was blocked or stopped:
    /// a block is a completed call, not an error, and nothing is retried. The result is published:
    /// the model gets it, and the display shows it unless `suppress_display`.
    Idle {
        /// The result.
        result: &'r ToolResult,
    },
    /// The caller dropped the call.
    Cancelled,
}

/// The host's observer of tool calls.
pub(crate) type ToolObserver = Arc<dyn Fn(&ToolCall, ToolStatus<'_>) + Send + Sync>;

/// Reports the status of one call to the host's observer, even if the call is dropped half-way.
pub(super) struct StatusReporter<'c> {
    observer: Option<&'c ToolObserver>,
    call: &'c ToolCall,
}

impl<'c> StatusReporter<'c> {
    pub(super) fn begin(observer: Option<&'c ToolObserver>, call: &'c ToolCall) -> Self {
        let reporter = Self { observer, call };
        reporter.report(ToolStatus::Asking);
        reporter
    }

    pub(super) fn running(&self, input: &RawObject) {
        self.report(ToolStatus::Running { input });
    }

    pub(super) fn idle(mut self, result: &ToolResult) {
        self.report(ToolStatus::Idle { result });
        self.observer = None;
    }

    fn report(&self, status: ToolStatus<'_>) {
        if let Some(observer) = self.observer {
            observer(self.call, status);
        }
    }
}

impl Drop for StatusReporter<'_> {
    fn drop(&mut self) {
        self.report(ToolStatus::Cancelled);
    }
}

opaque_debug!(StatusReporter<'_> { call });
