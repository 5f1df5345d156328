//! Hooks registered while a system runs (reference/settings.md, "Registration at run time").

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hook_core::HookRegistry;
use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName;
use hook_run::{HandlerHook, Runner};
use hook_settings::RegistrationLimits;

use crate::handler::registrations::Registrations;
use crate::message::{ChangeCause, RegistrationChange};
use crate::token::is_same_token;

/// The maximum number of lost guards that are kept by name.
const MAX_LOST: usize = 256;

/// The name that represents all further ones.
const OVERFLOW: &str = "(others)";

/// The error of registering a hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The id is taken.
    #[error("cannot register the hook: there is one with the id `{id}` already")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// The event is not declared.
    #[error("cannot register the hook `{hook}`: the event {event} was not declared")]
    UnknownEvent {
        /// The hook.
        hook: String,
        /// The event.
        event: HookEventName,
    },
    /// The matcher is invalid.
    #[error("cannot register the hook `{hook}`: {problem}")]
    InvalidMatcher {
        /// The hook.
        hook: String,
        /// The error in the matcher.
        problem: String,
    },
    /// The limit on hooks of clients is reached.
    #[error(
        "cannot register the hook `{hook}`: clients may register {limit} hooks{of}; \
         `hooksConfig.registration` of the user's settings sets the limit"
    )]
    LimitExceeded {
        /// The hook.
        hook: String,
        /// The limit.
        limit: usize,
        /// The event that the limit is for, as a suffix of the message; empty for the total.
        of: String,
    },
}

impl RegisterError {
    /// Returns the error code used in messages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DuplicateId { .. } => "duplicate_id",
            Self::UnknownEvent { .. } => "unsupported_event",
            Self::InvalidMatcher { .. } => "invalid_request",
            Self::LimitExceeded { .. } => "limit_exceeded",
        }
    }

    /// Returns details for programs: the field, or the limit.
    pub(crate) fn details(&self) -> JsonObject {
        let mut details = JsonObject::new();
        let mut field = |name: &str| details.insert("field", RawJson::from_text(name));
        match self {
            Self::DuplicateId { .. } => field("hookId"),
            Self::UnknownEvent { .. } => field("eventName"),
            Self::InvalidMatcher { .. } => field("matcher"),
            Self::LimitExceeded { limit, .. } => {
                details.insert("limit", RawJson::from_u64(*limit as u64));
            }
        }
        details
    }
}

/// The party that registers a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registrant {
    /// The host itself: without limits.
    Host,
    /// A client over a connection: limited by the settings.
    Client,
}

/// A registered hook. Dropping this unregisters it: requests in flight keep it, later ones do not
/// see it.
#[derive(Debug)]
#[must_use = "the hook is unregistered when this is dropped"]
pub struct Registration {
    id: Arc<str>,
    number: u64,
    hooks: Weak<RegisteredHooks>,
}

impl Registration {
    /// Returns the hook's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Keeps the hook registered until the system is dropped.
    pub fn keep(mut self) {
        self.hooks = Weak::new();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(hooks) = self.hooks.upgrade() {
            hooks.unregister(self.number);
        }
    }
}

/// A registered hook, as listed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegisteredHook {
    /// The hook's id.
    pub id: Arc<str>,
    /// The hook.
    pub hook: HandlerHook,
    /// The party that registered it.
    pub registrant: Registrant,
}

/// The engine that gets the registered hooks.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) registry: Arc<HookRegistry>,
    pub(crate) runner: Arc<Runner>,
    /// The limits on hooks registered by clients.
    pub(crate) limits: RegistrationLimits,
}

/// The hooks of one system registered at run time, and its current engine.
#[derive(Debug)]
pub(crate) struct RegisteredHooks {
    state: Mutex<State>,
    registrations: Registrations,
}

#[derive(Debug, Default)]
struct State {
    /// The current engine, or the next one.
    target: Option<Target>,
    last_number: u64,
    /// The number of published changes.
    changes: u64,
    hooks: BTreeMap<u64, RegisteredHook>,
    /// The ids of the hooks.
    ids: HashSet<Arc<str>>,
    /// Guards of disconnected clients by event and id, with the tokens of these clients.
    lost: BTreeMap<(HookEventName, Box<str>), BTreeSet<Box<str>>>,
}

impl RegisteredHooks {
    pub(crate) fn new(registrations: Registrations) -> Self {
        Self { state: Mutex::default(), registrations }
    }

    /// Returns the publisher of changes.
    pub(crate) fn registrations(&self) -> &Registrations {
        &self.registrations
    }

    /// Passes the registered hooks to a new engine, which gets all later ones too. `install` makes
    /// it current before another hook can be registered.
    pub(crate) fn set_target<T>(&self, target: Option<Target>, install: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        state.target = target;
        if let Some(target) = &state.target {
            target.registry.set_lost_registrations(state.lost.keys());
            for (number, registered) in &state.hooks {
                target.registry.register(*number, &registered.hook, &target.runner);
            }
        }
        install()
    }

    /// Calls a function with the number of the last change while no hook can be added or removed.
    pub(crate) fn with_last_change<T>(&self, read: impl FnOnce(u64) -> T) -> T {
        let state = self.lock();
        read(state.changes)
    }

    /// Checks whether one of the hooks is a guard of this event.
    pub(crate) fn has_guard_of(&self, event: HookEventName) -> bool {
        self.lock().hooks.values().any(|known| known.hook.is_guard_of(event))
    }

    pub(crate) fn list(&self) -> Vec<RegisteredHook> {
        self.lock().hooks.values().cloned().collect()
    }

    /// Applies the settings' defaults to a hook of a client.
    pub(crate) fn with_defaults(&self, hook: HandlerHook) -> HandlerHook {
        with_defaults(hook, &self.lock().limits())
    }

    /// Registers a hook of a known event with this id or a generated one.
    pub(crate) fn register(
        self: &Arc<Self>,
        mut hook: HandlerHook,
        id: Option<&str>,
        registrant: Registrant,
    ) -> Result<Registration, RegisterError> {
        if let Some(problem) = hook.matcher_problems().into_iter().next() {
            let (hook, problem) = (hook.name().to_owned(), problem.message);
            return Err(RegisterError::InvalidMatcher { hook, problem });
        }
        let mut state = self.lock();
        let mut number = state.last_number + 1;
        let id: Arc<str> = match id {
            Some(id) => id.into(),
            // Skip numbers that are taken as ids.
            None => loop {
                let id: Arc<str> = format!("hook-{number}").into();
                if !state.ids.contains(&id) {
                    break id;
                }
                number += 1;
            },
        };
        if state.ids.contains(&id) {
            return Err(RegisterError::DuplicateId { id: id.to_string() });
        }
        if registrant == Registrant::Client {
            let limits = state.limits();
            check_limits(&state, &hook, &limits)?;
            hook = with_defaults(hook, &limits);
        }
        state.last_number = number;
        if let Some(target) = &state.target {
            let registered = target.registry.register(number, &hook, &target.runner);
            let change = RegistrationChange::Registered;
            let cause = ChangeCause::Runtime(state.changes + 1);
            self.registrations.publish(change, &registered, cause);
            state.changes += 1;
        }
        state.ids.insert(Arc::clone(&id));
        state.hooks.insert(number, RegisteredHook { id: Arc::clone(&id), hook, registrant });
        Ok(Registration { id, number, hooks: Arc::downgrade(self) })
    }

    /// Records that a guard was lost with its client, which had this token.
    pub(crate) fn record_lost_guard(&self, event: HookEventName, id: &str, token: &str) {
        let mut state = self.lock();
        // Beyond the limit, all guards of an event share one entry, which is never removed.
        let (id, token) =
            if state.lost.len() < MAX_LOST { (id, token) } else { (OVERFLOW, OVERFLOW) };
        let tokens = state.lost.entry((event, id.into())).or_default();
        let token = if tokens.len() < MAX_LOST { token } else { OVERFLOW };
        tokens.insert(token.into());
        if let Some(target) = &state.target {
            target.registry.set_lost_registrations(state.lost.keys());
        }
    }

    /// Checks whether this token belongs to a disconnected client with lost guards.
    pub(crate) fn has_lost_guards(&self, token: &str) -> bool {
        let state = self.lock();
        let mut tokens = state.lost.values().flatten();
        token != OVERFLOW && tokens.any(|known| is_same_token(known, token))
    }

    /// Records that a lost guard is back: the client with this token registered it again.
    pub(crate) fn record_found_guard(&self, event: HookEventName, id: &str, token: &str) {
        let mut state = self.lock();
        let key = (event, id.into());
        let Some(tokens) = state.lost.get_mut(&key) else { return };
        if token == OVERFLOW || !tokens.remove(token) || !tokens.is_empty() {
            return;
        }
        state.lost.remove(&key);
        if let Some(target) = &state.target {
            target.registry.set_lost_registrations(state.lost.keys());
        }
    }

    fn unregister(&self, number: u64) {
        let mut state = self.lock();
        let removed = state.hooks.remove(&number);
        if let Some(removed) = &removed {
            state.ids.remove(&removed.id);
        }
        let target = state.target.as_ref();
        let hook = target.and_then(|target| target.registry.unregister(number));
        if let Some(hook) = &hook {
            state.changes += 1;
            let cause = ChangeCause::Runtime(state.changes);
            self.registrations.publish(RegistrationChange::Unregistered, hook, cause);
        }
        // The hook's function may own another registration, whose drop takes the lock again.
        drop(state);
        drop((removed, hook));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn limits(&self) -> RegistrationLimits {
        self.target.as_ref().map(|target| target.limits).unwrap_or_default()
    }
}

fn with_defaults(mut hook: HandlerHook, limits: &RegistrationLimits) -> HandlerHook {
    if !hook.has_timeout() {
        hook = hook.timeout(limits.default_timeout);
    }
    if !hook.has_fail_behavior() {
        hook = hook.fail_behavior(limits.fail_behavior);
    }
    hook
}

fn check_limits(
    state: &State,
    hook: &HandlerHook,
    limits: &RegistrationLimits,
) -> Result<(), RegisterError> {
    let client_hooks =
        || state.hooks.values().filter(|known| known.registrant == Registrant::Client);
    let limit_error = |limit: usize, scope: String| RegisterError::LimitExceeded {
        hook: hook.name().to_owned(),
        limit,
        of: scope,
    };
    if client_hooks().count() >= limits.max_total {
        return Err(limit_error(limits.max_total, String::new()));
    }
    let event = hook.event();
    if client_hooks().filter(|known| known.hook.event() == event).count() >= limits.max_per_event {
        return Err(limit_error(limits.max_per_event, format!(" of {event}")));
    }
    Ok(())
}
