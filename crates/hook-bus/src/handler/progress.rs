//! Publishing the progress of hooks.

use std::sync::Arc;
use std::time::Duration;

use hook_protocol::HookInput;
use hook_run::{HookExecutionResult, HookIdentity, RunObserver};

use crate::bus::BusCore;
use crate::message::{
    CorrelationId, HookFinished, HookProgress, HookStarted, JournalEntry, JournalMessage,
    RequestKey,
};

/// An observer that publishes the starts and finishes of one request's hooks.
pub(crate) struct Progress {
    bus: Arc<BusCore>,
    request: RequestKey,
    correlation_id: CorrelationId,
}

impl Progress {
    /// Returns an observer if there are subscribers to progress or to the journal.
    pub(crate) fn observe(
        bus: &Arc<BusCore>,
        request: RequestKey,
        correlation_id: &CorrelationId,
    ) -> Option<Arc<dyn RunObserver>> {
        if !bus.has_subscribers::<HookProgress>() && !bus.has_subscribers::<JournalEntry>() {
            return None;
        }
        Some(Arc::new(Self {
            bus: Arc::clone(bus),
            request,
            correlation_id: correlation_id.clone(),
        }))
    }

    fn publish(&self, progress: HookProgress) {
        let progress = Arc::new(progress);
        self.bus.publish_message(&progress);
        self.bus.record(self.request, || JournalMessage::Progress(progress));
    }
}

impl RunObserver for Progress {
    fn hook_started(&self, hook: &HookIdentity, timeout: Duration) {
        self.publish(HookProgress::Started(HookStarted {
            request: Some(self.request),
            correlation_id: self.correlation_id.clone(),
            hook: hook.clone(),
            timeout,
        }));
    }

    fn hook_finished(&self, result: &HookExecutionResult, input: Option<&HookInput>) {
        let input = input.filter(|_| self.bus.topics().has_audits()).cloned();
        self.publish(HookProgress::Finished(Box::new(HookFinished {
            request: Some(self.request),
            correlation_id: self.correlation_id.clone(),
            result: result.clone(),
            input,
        })));
    }
}
