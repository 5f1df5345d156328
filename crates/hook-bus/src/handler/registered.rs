//! Hooks that are registered while a system runs (protocol.md §1, "Registration at run time").

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hook_core::settings::RegistrationLimits;
use hook_core::{HandlerHook, HookEventName, HookRegistry, JsonObject, RawJson, Runner};

use crate::handler::registrations::Registrations;
use crate::message::{ChangedWith, RegistrationChange};
use crate::token::is_same_token;

/// How many guards of clients that are gone are remembered by their names.
const MAX_LOST: usize = 256;

/// What stands for the others.
const MORE: &str = "(others)";

/// Why a hook cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// There is one of that id.
    #[error("cannot register the hook: there is one with the id `{id}` already")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// Its event was not declared.
    #[error("cannot register the hook `{hook}`: the event {event} was not declared")]
    UnknownEvent {
        /// The hook.
        hook: String,
        /// The event.
        event: HookEventName,
    },
    /// Its matcher cannot be used.
    #[error("cannot register the hook `{hook}`: {problem}")]
    InvalidMatcher {
        /// The hook.
        hook: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There are as many hooks of clients as there may be.
    #[error(
        "cannot register the hook `{hook}`: clients may register {limit} hooks{of}; \
         `hooksConfig.registration` of the user's settings sets the limit"
    )]
    LimitExceeded {
        /// The hook.
        hook: String,
        /// How many there may be.
        limit: usize,
        /// Of what.
        of: String,
    },
}

impl RegisterError {
    /// The word in messages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DuplicateId { .. } => "duplicate_id",
            Self::UnknownEvent { .. } => "unsupported_event",
            Self::InvalidMatcher { .. } => "invalid_request",
            Self::LimitExceeded { .. } => "limit_exceeded",
        }
    }

    /// More about it, for programs: the field, or the limit.
    pub fn details(&self) -> JsonObject {
        let mut details = JsonObject::new();
        let mut field = |name: &str| details.insert("field", RawJson::from_text(name));
        match self {
            Self::DuplicateId { .. } => field("hookId"),
            Self::UnknownEvent { .. } => field("eventName"),
            Self::InvalidMatcher { .. } => field("matcher"),
            Self::LimitExceeded { limit, .. } => {
                details.insert("limit", RawJson::from_integer(*limit as u64));
            }
        }
        details
    }
}

/// On whose behalf a hook is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registrant {
    /// The host itself: there are no limits.
    Host,
    /// A client, over a wire: so many as the settings allow.
    Client,
}

/// A hook that was registered. It is unregistered when this is dropped: requests in flight keep it,
/// later ones do not see it.
#[derive(Debug)]
#[must_use = "the hook is unregistered when this is dropped"]
pub struct Registration {
    id: Arc<str>,
    number: u64,
    hooks: Weak<RegisteredHooks>,
}

impl Registration {
    /// What it is known by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Leaves the hook registered for as long as the system lives.
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

/// A registered hook, as it is listed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegisteredHook {
    /// What it is known by.
    pub id: Arc<str>,
    /// The hook.
    pub hook: HandlerHook,
    /// On whose behalf it is there.
    pub registrant: Registrant,
}

/// The engine that registered hooks are given to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) registry: Arc<HookRegistry>,
    pub(crate) runner: Arc<Runner>,
    /// How many hooks clients may register.
    pub(crate) limits: RegistrationLimits,
}

/// The hooks of one system that were registered at run time, and the engine that has them.
#[derive(Debug)]
pub(crate) struct RegisteredHooks {
    state: Mutex<State>,
    registrations: Registrations,
}

#[derive(Debug, Default)]
struct State {
    /// The engine that is in force, or is about to be.
    target: Option<Target>,
    last: u64,
    /// How many came and went that somebody was told of.
    changes: u64,
    hooks: BTreeMap<u64, RegisteredHook>,
    /// Their ids.
    ids: HashSet<Arc<str>>,
    /// Guards of clients that are gone, by what those called them, and the tokens of these clients.
    lost: BTreeMap<(HookEventName, Box<str>), BTreeSet<Box<str>>>,
}

impl RegisteredHooks {
    pub(crate) fn telling(registrations: Registrations) -> Self {
        Self { state: Mutex::default(), registrations }
    }

    /// Who is told which hooks come and go.
    pub(crate) fn registrations(&self) -> &Registrations {
        &self.registrations
    }

    /// Gives an engine the hooks that are registered. From now on it is the one that is told of others;
    /// `install` puts it into its place before anybody registers another.
    pub(crate) fn adopted_by<T>(&self, target: Option<Target>, install: impl FnOnce() -> T) -> T {
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

    /// Looks at what is in force while none of them comes or goes; `look` is told the number of the last
    /// change.
    pub(crate) fn at_rest<T>(&self, look: impl FnOnce(u64) -> T) -> T {
        let state = self.lock();
        look(state.changes)
    }

    /// Whether one of them is a guard of that event.
    pub(crate) fn has_guard_of(&self, event: HookEventName) -> bool {
        self.lock().hooks.values().any(|known| known.hook.is_guard_of(event))
    }

    pub(crate) fn list(&self) -> Vec<RegisteredHook> {
        self.lock().hooks.values().cloned().collect()
    }

    /// A hook of a client's, with what settings say where it says nothing itself.
    pub(crate) fn completed(&self, hook: HandlerHook) -> HandlerHook {
        completed(hook, &self.lock().limits())
    }

    /// Registers a hook of an event that there is, under that id or one that is made.
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
        let mut number = state.last + 1;
        let id: Arc<str> = match id {
            Some(id) => id.into(),
            // The numbers that somebody else's ids have are left out.
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
            hook = completed(hook, &limits);
        }
        state.last = number;
        if let Some(target) = &state.target {
            let registered = target.registry.register(number, &hook, &target.runner);
            let change = RegistrationChange::Registered;
            let with = ChangedWith::Nothing(state.changes + 1);
            self.registrations.tell(change, &registered, with);
            state.changes += 1;
        }
        state.ids.insert(Arc::clone(&id));
        state.hooks.insert(number, RegisteredHook { id: Arc::clone(&id), hook, registrant });
        Ok(Registration { id, number, hooks: Arc::downgrade(self) })
    }

    /// Notes that a guard is gone with the client of that token, which had it.
    pub(crate) fn lost_guard(&self, event: HookEventName, id: &str, token: &str) {
        let mut state = self.lock();
        // Of more than that those of an event are one, which nobody brings back.
        let (id, token) = if state.lost.len() < MAX_LOST { (id, token) } else { (MORE, MORE) };
        let tokens = state.lost.entry((event, id.into())).or_default();
        let token = if tokens.len() < MAX_LOST { token } else { MORE };
        tokens.insert(token.into());
        if let Some(target) = &state.target {
            target.registry.set_lost_registrations(state.lost.keys());
        }
    }

    /// Whether a client that is gone had this token, and guards that are missed.
    pub(crate) fn has_lost_guards(&self, token: &str) -> bool {
        let state = self.lock();
        let mut tokens = state.lost.values().flatten();
        token != MORE && tokens.any(|known| is_same_token(known, token))
    }

    /// Notes that a guard is there again: the client that had this token has brought it back.
    pub(crate) fn found_guard(&self, event: HookEventName, id: &str, token: &str) {
        let mut state = self.lock();
        let key = (event, id.into());
        let Some(tokens) = state.lost.get_mut(&key) else { return };
        if token == MORE || !tokens.remove(token) || !tokens.is_empty() {
            return;
        }
        state.lost.remove(&key);
        if let Some(target) = &state.target {
            target.registry.set_lost_registrations(state.lost.keys());
        }
    }

    fn unregister(&self, number: u64) {
        let mut state = self.lock();
        let gone = state.hooks.remove(&number);
        if let Some(gone) = &gone {
            state.ids.remove(&gone.id);
        }
        let target = state.target.as_ref();
        let hook = target.and_then(|target| target.registry.unregister(number));
        if let Some(hook) = &hook {
            state.changes += 1;
            let with = ChangedWith::Nothing(state.changes);
            self.registrations.tell(RegistrationChange::Unregistered, hook, with);
        }
        // A function may hold the registration of another hook, which goes with it.
        drop(state);
        drop((gone, hook));
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

fn completed(mut hook: HandlerHook, limits: &RegistrationLimits) -> HandlerHook {
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
    let of_clients = || state.hooks.values().filter(|known| known.registrant == Registrant::Client);
    let exceeded = |limit: usize, of: String| RegisterError::LimitExceeded {
        hook: hook.name().to_owned(),
        limit,
        of,
    };
    if of_clients().count() >= limits.max_total {
        return Err(exceeded(limits.max_total, String::new()));
    }
    let event = hook.event();
    if of_clients().filter(|known| known.hook.event() == event).count() >= limits.max_per_event {
        return Err(exceeded(limits.max_per_event, format!(" of {event}")));
    }
    Ok(())
}
