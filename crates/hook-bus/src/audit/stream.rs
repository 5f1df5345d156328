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

use super::asked::{Asked, Asking};
use super::entry::{self, AuditEntry, AuditKind};
use crate::bus::MessageBus;
use crate::bus::{Audited, Lagged, Subscription};
use crate::handler::EngineSlot;
use crate::handler::in_force;
use crate::message::{
    ChangedWith, CorrelationId, HookExecutionResponse, HookFinished, HookProgress,
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
    told: Option<Told>,
    /// The messages read from both subscriptions; the earlier one is handled first.
    next: Next,
    /// The entries ready to be read.
    ready: VecDeque<AuditEntry>,
    /// The contexts of requests.
    asking: Asking,
    _audited: Audited,
}

/// The state of the hooks when an audit began.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// The engine's generation.
    generation: u64,
    /// The last change at run time.
    change: u64,
}

#[derive(Debug, Default)]
struct Next {
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
            told: None,
            next: Next::default(),
            ready: VecDeque::new(),
            asking: Asking::default(),
            _audited: Audited::count(bus.core().topics()),
        };
        let look = |change| {
            let built = engine.get()?.ok()?;
            Some((
                Told { generation: built.generation, change },
                in_force(built.pipeline.registry()),
            ))
        };
        if let Some((told, hooks)) = engine.registered().at_rest(look) {
            audit.told = Some(told);
            let (now, redaction) = (Instant::now(), audit.redaction.now());
            for hook in hooks {
                let entry = of_hook(now, AuditKind::Registered, &hook.identity, &redaction);
                audit.push(entry, &redaction);
            }
        }
        audit
    }

    /// Sets the level; `None` for the settings' level.
    pub fn set_level(&mut self, level: impl Into<Option<AuditLevel>>) {
        self.level = level.into();
    }

    /// Returns the present level.
    pub fn level(&self) -> AuditLevel {
        let by_settings = || match self.engine.upgrade().and_then(|engine| engine.get()) {
            Some(Ok(engine)) => engine.audit_level,
            _ => AuditLevel::default(),
        };
        self.level.unwrap_or_else(by_settings)
    }

    fn push(&mut self, mut entry: AuditEntry, redaction: &Redaction) {
        if self.level() >= entry.kind.level() && self.level() > AuditLevel::Off {
            entry.withheld = redaction.withheld().map(|why| why.to_owned());
            self.ready.push_back(entry);
        }
    }

    fn lagged(&mut self, lagged: Lagged) {
        let mut entry = AuditEntry::new(timestamp_of(Instant::now()), AuditKind::Lagged);
        entry.missed = lagged.missed();
        entry.reason = Some(lagged.to_string());
        self.push(entry, &Redaction::default());
    }

    /// Handles the earlier of the messages read.
    fn take_earlier(&mut self) {
        let is_registration = match (&self.next.journal, &self.next.registration) {
            (Some(entry), Some(registration)) => registration.at <= entry.at,
            (None, Some(_)) => true,
            _ => false,
        };
        match is_registration {
            true => {
                if let Some(registration) = self.next.registration.take() {
                    self.registration(&registration);
                }
            }
            false => {
                if let Some(entry) = self.next.journal.take() {
                    self.entry(&entry);
                }
            }
        }
    }

    fn registration(&mut self, registration: &HookRegistration) {
        let is_known = |told: Told| match registration.with {
            ChangedWith::Engine(generation) => generation <= told.generation,
            ChangedWith::Nothing(change) => change <= told.change,
        };
        if self.told.is_some_and(is_known) {
            return;
        }
        let kind = match registration.change {
            RegistrationChange::Registered => AuditKind::Registered,
            RegistrationChange::Unregistered => AuditKind::Unregistered,
        };
        let redaction = self.redaction.now();
        self.push(of_hook(registration.at, kind, &registration.hook, &redaction), &redaction);
    }

    fn entry(&mut self, entry: &JournalEntry) {
        let redaction = self.redaction.now();
        match &entry.message {
            JournalMessage::Request(request) => {
                self.asking.begin(entry.request, request, &redaction);
            }
            JournalMessage::Progress(progress) => match &**progress {
                HookProgress::Started(started) => {
                    if self.level() == AuditLevel::Verbose {
                        let asked = self.asking.of(entry.request);
                        let told = of_hook(entry.at, AuditKind::Started, &started.hook, &redaction);
                        let told = of_request(told, &started.correlation_id, &asked, &redaction);
                        self.push(told, &redaction);
                    }
                }
                HookProgress::Finished(finished) => self.finished(entry, finished, &redaction),
            },
            JournalMessage::Response(response) => {
                self.response(entry, response, &redaction);
                self.asking.end(entry.request);
            }
        }
    }

    fn finished(&mut self, journal: &JournalEntry, finished: &HookFinished, redaction: &Redaction) {
        let result = &finished.result;
        let asked = self.asking.of(journal.request);
        let told = |kind| {
            let told = of_hook(journal.at, kind, &result.hook, redaction);
            of_request(told, &finished.correlation_id, &asked, redaction)
        };
        // A hook that denies by its exit code did not fail.
        let has_denied = result.failure.is_none() && decided(result) > PolicyDecision::Proceed;
        match result.success || has_denied {
            true => self.push(told(AuditKind::Completed), redaction),
            false => {
                let failure = result.failure.as_ref().map(ToString::to_string);
                let why = failure.or_else(|| exit_code(result)).unwrap_or_default();
                let reason = entry::reason(&why, redaction);
                self.push(AuditEntry { reason, ..told(AuditKind::Failed) }, redaction);
            }
        }
        // A hook that ran again changes nothing.
        let Some(input) = finished.told.as_ref().filter(|_| !result.asked_again) else { return };
        if self.level() < AuditLevel::Verbose {
            return;
        }
        let patch = changes(result, input);
        if !patch.operations.is_empty() {
            let (changes, reason) = entry::changes(&patch, redaction);
            let changes = Some(changes);
            self.push(AuditEntry { changes, reason, ..told(AuditKind::Modified) }, redaction);
        }
    }

    fn response(
        &mut self,
        journal: &JournalEntry,
        response: &HookExecutionResponse,
        redaction: &Redaction,
    ) {
        let asked = self.asking.of(journal.request);
        let told = |kind, reason: &str| {
            let told = AuditEntry {
                event: response.event,
                reason: entry::reason(reason, redaction),
                ..AuditEntry::new(timestamp_of(journal.at), kind)
            };
            of_request(told, &response.correlation_id, &asked, redaction)
        };
        if let Some(failure) = response.error() {
            self.push(told(AuditKind::Failed, &failure.message), redaction);
        }
        let Some(kind) = kind_of(response.processed.decision) else {
            return self.push(told(AuditKind::Allowed, ""), redaction);
        };
        let mut is_explained = false;
        for result in &response.hooks {
            let Some(of_hook) = kind_of(decided(result)) else { continue };
            is_explained |= of_hook == kind;
            let said = result.output.as_ref().zip(result.hook.event());
            let why = said.map(|(output, event)| output.policy_reason(event));
            let hook = Some(entry::name(result.hook.display_name(), redaction));
            let told = told(of_hook, &why.unwrap_or_default());
            self.push(AuditEntry { hook, ..told }, redaction);
        }
        if !is_explained {
            let reason = response.processed.reason.as_deref().unwrap_or_default();
            self.push(told(kind, reason), redaction);
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
            if audit.next.journal.is_none() {
                match Pin::new(&mut audit.journal).poll_next(context) {
                    Poll::Ready(Some(Ok(entry))) => audit.next.journal = Some(entry),
                    Poll::Ready(Some(Err(lagged))) => {
                        audit.lagged(lagged);
                        continue;
                    }
                    Poll::Ready(None) => has_ended = true,
                    Poll::Pending => {}
                }
            }
            if audit.next.registration.is_none() {
                match Pin::new(&mut audit.registrations).poll_next(context) {
                    Poll::Ready(Some(Ok(registration))) => {
                        audit.next.registration = Some(registration);
                    }
                    Poll::Ready(Some(Err(lagged))) => {
                        audit.lagged(lagged);
                        continue;
                    }
                    Poll::Ready(None) | Poll::Pending => {}
                }
            }
            match (&audit.next.journal, &audit.next.registration) {
                (None, None) if has_ended => return Poll::Ready(None),
                (None, None) => return Poll::Pending,
                _ => audit.take_earlier(),
            }
        }
    }
}

fn of_hook(at: Instant, kind: AuditKind, hook: &HookIdentity, redaction: &Redaction) -> AuditEntry {
    AuditEntry {
        event: hook.event(),
        hook: Some(entry::name(hook.display_name(), redaction)),
        ..AuditEntry::new(timestamp_of(at), kind)
    }
}

/// Adds the request's context to an entry.
fn of_request(
    entry: AuditEntry,
    id: &CorrelationId,
    asked: &Asked,
    redaction: &Redaction,
) -> AuditEntry {
    AuditEntry {
        correlation_id: Some(redaction.text(id.as_str()).into_owned()),
        session: asked.session.clone(),
        agent: asked.agent.map(str::to_owned),
        tool: asked.tool.clone(),
        asker: asked.asker.clone(),
        ..entry
    }
}

fn timestamp_of(at: Instant) -> Arc<str> {
    timestamp_before(at.elapsed())
}

/// Returns a hook's own decision.
fn decided(result: &HookExecutionResult) -> PolicyDecision {
    result.decision.unwrap_or_default()
}

fn kind_of(decision: PolicyDecision) -> Option<AuditKind> {
    match decision {
        PolicyDecision::Proceed => None,
        PolicyDecision::Ask => Some(AuditKind::Asked),
        // A retry blocks for now.
        PolicyDecision::Block | PolicyDecision::Retry => Some(AuditKind::Blocked),
        PolicyDecision::Stop => Some(AuditKind::Stopped),
    }
}

fn exit_code(result: &HookExecutionResult) -> Option<String> {
    let code = result.process.exit_code.filter(|code| *code != 0)?;
    Some(format!("it exited with {code}"))
}
