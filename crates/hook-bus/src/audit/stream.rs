//! The audit as a stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use hook_core::engine::changes;
use hook_protocol::{PolicyDecision, timestamp_before};
use hook_run::{HookExecutionResult, HookIdentity};
use hook_settings::AuditLevel;
use hook_settings::redact::Redaction;
use tokio_stream::Stream;

use super::entry::{self, AuditEntry, AuditKind};
use super::request_context::{RequestContext, RequestContexts};
use crate::bus::{AuditGuard, Lagged, MessageBus, Subscription};
use crate::handler::{EngineSlot, effective_hooks};
use crate::message::{
    ChangeCause, CorrelationId, HookExecutionResponse, HookFinished, HookProgress,
    HookRegistration, JournalEntry, JournalMessage, RegistrationChange,
};
use crate::redaction::CurrentRedaction;

/// The audit of a system's hooks: a stream of [`AuditEntry`] that ends when the bus is gone.
/// ```
/// use hook_bus::HookSystem;
/// use hook_bus::audit::AuditKind;
/// use hook_settings::AuditLevel;
/// use hook_protocol::{BeforeAgentInput, HookEventName, HookOutput};
/// use hook_run::HandlerHook;
/// use tokio_stream::StreamExt;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
///
/// let guard = HandlerHook::inline(HookEventName::BeforeAgent, "no", |_input| {
///     Ok(Some(HookOutput::deny("not today")))
/// });
/// let system = HookSystem::builder(".").handler(guard).build()?;
/// let mut audit = system.audit(AuditLevel::Info);
///
/// system.fire_before_agent(BeforeAgentInput::new("Hi")).await;
///
/// assert_eq!(audit.next().await.unwrap().kind, AuditKind::Registered);
/// let blocked = audit.next().await.unwrap();
/// assert_eq!(blocked.kind, AuditKind::Blocked);
/// assert_eq!((blocked.hook.as_deref(), blocked.reason.as_deref()), (Some("no"), Some("not today")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Audit {
    journal: Subscription<JournalEntry>,
    registrations: Subscription<HookRegistration>,
    engine: Weak<EngineSlot>,
    redaction: CurrentRedaction,
    /// The level; `None` for the settings' level.
    level: Option<AuditLevel>,
    /// The hooks reported at the beginning: changes up to that engine and that change are known.
    baseline: Option<Baseline>,
    /// The messages read from both subscriptions; the earlier one is handled first.
    pending: PendingMessages,
    /// The entries ready to be read.
    ready: VecDeque<AuditEntry>,
    /// The contexts of requests.
    requests: RequestContexts,
    _audited: AuditGuard,
}

/// The state of the hooks when an audit began.
#[derive(Debug, Clone, Copy)]
struct Baseline {
    /// The engine's generation.
    generation: u64,
    /// The last change at run time.
    change: u64,
}

#[derive(Debug, Default)]
struct PendingMessages {
    journal: Option<Arc<JournalEntry>>,
    registration: Option<Arc<HookRegistration>>,
}

impl Audit {
    pub(crate) fn begin(
        bus: &MessageBus,
        engine: &Arc<EngineSlot>,
        level: Option<AuditLevel>,
    ) -> Self {
        // Subscribe before listing the present hooks, so that no change is missed.
        let (journal, registrations) = (bus.subscribe(), bus.subscribe());
        let mut audit = Self {
            journal,
            registrations,
            engine: Arc::downgrade(engine),
            redaction: CurrentRedaction::of(engine),
            level,
            baseline: None,
            pending: PendingMessages::default(),
            ready: VecDeque::new(),
            requests: RequestContexts::default(),
            _audited: AuditGuard::count(bus.core().topics()),
        };
        let snapshot = |change| {
            let built = engine.get()?.ok()?;
            Some((
                Baseline { generation: built.generation, change },
                effective_hooks(built.pipeline.registry()),
            ))
        };
        if let Some((baseline, hooks)) = engine.registered().with_last_change(snapshot) {
            audit.baseline = Some(baseline);
            let (current_time, redaction) = (Instant::now(), audit.redaction.current());
            for hook in hooks {
                let entry =
                    hook_entry(current_time, AuditKind::Registered, &hook.identity, &redaction);
                audit.push(entry, &redaction);
            }
        }
        audit
    }

    /// Sets the level; `None` for the settings' level.
    pub(crate) fn set_level(&mut self, level: impl Into<Option<AuditLevel>>) {
        self.level = level.into();
    }

    /// Returns the present level.
    pub(crate) fn level(&self) -> AuditLevel {
        let by_settings = || match self.engine.upgrade().and_then(|engine| engine.get()) {
            Some(Ok(engine)) => engine.audit_level,
            _ => AuditLevel::default(),
        };
        self.level.unwrap_or_else(by_settings)
    }

    fn push(&mut self, mut entry: AuditEntry, redaction: &Redaction) {
        if self.level() >= entry.kind.level() && self.level() > AuditLevel::Off {
            entry.withheld = redaction.withheld().map(|reason| reason.to_owned());
            self.ready.push_back(entry);
        }
    }

    fn push_lagged(&mut self, lagged: Lagged) {
        let mut entry = AuditEntry::new(timestamp_of(Instant::now()), AuditKind::Lagged);
        entry.missed = lagged.missed();
        entry.reason = Some(lagged.to_string());
        self.push(entry, &Redaction::default());
    }

    /// Handles the earlier of the messages read.
    fn handle_earlier(&mut self) {
        let is_registration = match (&self.pending.journal, &self.pending.registration) {
            (Some(entry), Some(registration)) => registration.at <= entry.at,
            (None, Some(_)) => true,
            _ => false,
        };
        match is_registration {
            true => {
                if let Some(registration) = self.pending.registration.take() {
                    self.handle_registration(&registration);
                }
            }
            false => {
                if let Some(entry) = self.pending.journal.take() {
                    self.handle_entry(&entry);
                }
            }
        }
    }

    fn handle_registration(&mut self, registration: &HookRegistration) {
        let is_known = |baseline: Baseline| match registration.cause {
            ChangeCause::Engine(generation) => generation <= baseline.generation,
            ChangeCause::Runtime(change) => change <= baseline.change,
        };
        if self.baseline.is_some_and(is_known) {
            return;
        }
        let kind = match registration.change {
            RegistrationChange::Registered => AuditKind::Registered,
            RegistrationChange::Unregistered => AuditKind::Unregistered,
        };
        let redaction = self.redaction.current();
        self.push(hook_entry(registration.at, kind, &registration.hook, &redaction), &redaction);
    }

    fn handle_entry(&mut self, entry: &JournalEntry) {
        let redaction = self.redaction.current();
        match &entry.message {
            JournalMessage::Request(request) => {
                self.requests.insert(entry.request, request, &redaction);
            }
            JournalMessage::Progress(progress) => match &**progress {
                HookProgress::Started(started) => {
                    if self.level() == AuditLevel::Verbose {
                        let context = self.requests.get(entry.request);
                        let started_entry =
                            hook_entry(entry.at, AuditKind::Started, &started.hook, &redaction);
                        let audit_entry = with_request_context(
                            started_entry,
                            &started.correlation_id,
                            &context,
                            &redaction,
                        );
                        self.push(audit_entry, &redaction);
                    }
                }
                HookProgress::Finished(finished) => {
                    self.handle_finished(entry, finished, &redaction)
                }
            },
            JournalMessage::Response(response) => {
                self.handle_response(entry, response, &redaction);
                self.requests.mark_answered(entry.request);
            }
        }
    }

    fn handle_finished(
        &mut self,
        journal: &JournalEntry,
        finished: &HookFinished,
        redaction: &Redaction,
    ) {
        let result = &finished.result;
        let context = self.requests.get(journal.request);
        let entry_of_kind = |kind| {
            let hook_entry = hook_entry(journal.at, kind, &result.hook, redaction);
            with_request_context(hook_entry, &finished.correlation_id, &context, redaction)
        };
        // A hook that denies by its exit code did not fail.
        let has_denied = result.failure.is_none() && decision_of(result) > PolicyDecision::Proceed;
        match result.success || has_denied {
            true => self.push(entry_of_kind(AuditKind::Completed), redaction),
            false => {
                let failure = result.failure.as_ref().map(ToString::to_string);
                let message = failure.or_else(|| exit_code_reason(result)).unwrap_or_default();
                let reason = entry::reason(&message, redaction);
                self.push(AuditEntry { reason, ..entry_of_kind(AuditKind::Failed) }, redaction);
            }
        }
        // A hook that ran again changes nothing.
        let Some(input) = finished.input.as_ref().filter(|_| !result.rechecked) else { return };
        if self.level() < AuditLevel::Verbose {
            return;
        }
        let patch = changes(result, input);
        if !patch.operations.is_empty() {
            let (changes, reason) = entry::changes(&patch, redaction);
            let changes = Some(changes);
            self.push(
                AuditEntry { changes, reason, ..entry_of_kind(AuditKind::Modified) },
                redaction,
            );
        }
    }

    fn handle_response(
        &mut self,
        journal: &JournalEntry,
        response: &HookExecutionResponse,
        redaction: &Redaction,
    ) {
        let context = self.requests.get(journal.request);
        let entry_of_kind = |kind, reason: &str| {
            let unattributed = AuditEntry {
                event: response.event,
                reason: entry::reason(reason, redaction),
                ..AuditEntry::new(timestamp_of(journal.at), kind)
            };
            with_request_context(unattributed, &response.correlation_id, &context, redaction)
        };
        if let Some(failure) = response.error() {
            self.push(entry_of_kind(AuditKind::Failed, &failure.message), redaction);
        }
        let Some(kind) = audit_kind(response.processed.decision) else {
            return self.push(entry_of_kind(AuditKind::Allowed, ""), redaction);
        };
        let mut is_explained = false;
        for result in &response.hooks {
            let Some(hook_kind) = audit_kind(decision_of(result)) else { continue };
            is_explained |= hook_kind == kind;
            let hook_output = result.output.as_ref().zip(result.hook.event());
            let hook_reason = hook_output.map(|(output, event)| output.policy_reason(event));
            let hook = Some(entry::name(result.hook.display_name(), redaction));
            let hook_entry = entry_of_kind(hook_kind, &hook_reason.unwrap_or_default());
            self.push(AuditEntry { hook, ..hook_entry }, redaction);
        }
        if !is_explained {
            let reason = response.processed.reason.as_deref().unwrap_or_default();
            self.push(entry_of_kind(kind, reason), redaction);
        }
    }
}

impl Stream for Audit {
    type Item = AuditEntry;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AuditEntry>> {
        let audit = &mut *self;
        loop {
            if let Some(entry) = audit.ready.pop_front() {
                return Poll::Ready(Some(entry));
            }
            let mut has_ended = false;
            if audit.pending.journal.is_none() {
                match Pin::new(&mut audit.journal).poll_next(context) {
                    Poll::Ready(Some(Ok(entry))) => audit.pending.journal = Some(entry),
                    Poll::Ready(Some(Err(lagged))) => {
                        audit.push_lagged(lagged);
                        continue;
                    }
                    Poll::Ready(None) => has_ended = true,
                    Poll::Pending => {}
                }
            }
            if audit.pending.registration.is_none() {
                match Pin::new(&mut audit.registrations).poll_next(context) {
                    Poll::Ready(Some(Ok(registration))) => {
                        audit.pending.registration = Some(registration);
                    }
                    Poll::Ready(Some(Err(lagged))) => {
                        audit.push_lagged(lagged);
                        continue;
                    }
                    Poll::Ready(None) | Poll::Pending => {}
                }
            }
            match (&audit.pending.journal, &audit.pending.registration) {
                (None, None) if has_ended => return Poll::Ready(None),
                (None, None) => return Poll::Pending,
                _ => audit.handle_earlier(),
            }
        }
    }
}

fn hook_entry(
    at: Instant,
    kind: AuditKind,
    hook: &HookIdentity,
    redaction: &Redaction,
) -> AuditEntry {
    AuditEntry {
        event: hook.event(),
        hook: Some(entry::name(hook.display_name(), redaction)),
        ..AuditEntry::new(timestamp_of(at), kind)
    }
}

/// Adds the request's context to an entry.
fn with_request_context(
    entry: AuditEntry,
    id: &CorrelationId,
    context: &RequestContext,
    redaction: &Redaction,
) -> AuditEntry {
    AuditEntry {
        correlation_id: Some(redaction.text(id.as_str()).into_owned()),
        session: context.session.clone(),
        agent: context.agent.map(str::to_owned),
        tool: context.tool.clone(),
        client_key: context.client_key.clone(),
        ..entry
    }
}

fn timestamp_of(at: Instant) -> Arc<str> {
    timestamp_before(at.elapsed())
}

/// Returns a hook's own decision.
fn decision_of(result: &HookExecutionResult) -> PolicyDecision {
    result.decision.unwrap_or_default()
}

fn audit_kind(decision: PolicyDecision) -> Option<AuditKind> {
    match decision {
        PolicyDecision::Proceed => None,
        PolicyDecision::Ask => Some(AuditKind::Asked),
        // A retry blocks for now.
        PolicyDecision::Block | PolicyDecision::Retry => Some(AuditKind::Blocked),
        PolicyDecision::Stop => Some(AuditKind::Stopped),
    }
}

fn exit_code_reason(result: &HookExecutionResult) -> Option<String> {
    let code = result.process.exit_code.filter(|code| *code != 0)?;
    Some(format!("it exited with {code}"))
}
