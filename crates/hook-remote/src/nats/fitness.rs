//! Checks whether an engine may decide for its fleet: it must have hooks, all of them trusted, and
//! the expected settings. Checked before each request, since settings change while it serves.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hook_bus::{EngineCheck, HookSystem};
use hook_core::HookRegistry;
use hook_json::RawJson;
use hook_json::text::shortened;

/// The conditions under which an engine may serve.
#[derive(Debug)]
pub(super) struct Fitness {
    system: Arc<HookSystem>,
    /// `true` if it may have no hooks, or untrusted ones.
    may_be_empty: bool,
    expected: Option<Arc<str>>,
    /// The result for the present hooks.
    cached: Mutex<Option<CachedProblem>>,
}

#[derive(Debug)]
struct CachedProblem {
    registry: Arc<HookRegistry>,
    hooks: usize,
    problem: Option<Arc<str>>,
}

impl Fitness {
    pub(super) fn new(
        system: &Arc<HookSystem>,
        may_be_empty: bool,
        expected: Option<Arc<str>>,
    ) -> Self {
        Self { system: Arc::clone(system), may_be_empty, expected, cached: Mutex::default() }
    }

    /// Returns the reason why the engine must not serve, if there is one.
    pub(super) fn problem(&self) -> Option<Arc<str>> {
        // Without a registry each request is answered with a failure, which blocks.
        let registry = self.system.registry().ok()?;
        self.problem_with(&registry, self.system.settings_hash().as_deref())
    }

    /// Returns the reason why the engine must not serve with these hooks and settings.
    fn problem_with(&self, registry: &Arc<HookRegistry>, hash: Option<&str>) -> Option<Arc<str>> {
        if let Some(expected) = self.expected.as_deref()
            && hash != Some(expected)
        {
            let hash = hash.map_or("not known".to_owned(), shortened);
            return Some(
                format!("the settings here are {hash}, and {expected} was expected").into(),
            );
        }
        match self.may_be_empty {
            true => None,
            false => self.hooks_problem(registry),
        }
    }

    fn hooks_problem(&self, registry: &Arc<HookRegistry>) -> Option<Arc<str>> {
        let hooks = registry.len();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = &*cached
            && cached.hooks == hooks
            && Arc::ptr_eq(&cached.registry, registry)
        {
            return cached.problem.clone();
        }
        let problem = registry_problem(registry).map(Arc::from);
        let registry = Arc::clone(registry);
        *cached = Some(CachedProblem { registry, hooks, problem: problem.clone() });
        problem
    }
}

/// The reason why an engine does not answer a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The engine is unfit.
    Unfit,
    /// The request expects other settings.
    OtherSettings,
}

/// The check of one request, made when its hooks are about to run; it may have waited.
#[derive(Debug)]
pub(super) struct RequestCheck {
    fitness: Arc<Fitness>,
    /// The expected settings in the message.
    expected: Option<RawJson>,
    /// The result, with the settings that the engine had.
    result: OnceLock<(Option<Refusal>, Option<String>)>,
}

impl RequestCheck {
    pub(super) fn new(fitness: &Arc<Fitness>, expected: Option<RawJson>) -> Self {
        Self { fitness: Arc::clone(fitness), expected, result: OnceLock::new() }
    }

    /// Returns the reason why the engine rejected the request, if it did.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        self.result.get().and_then(|(refusal, _)| *refusal)
    }

    /// Returns the settings with which the request was checked, if it came so far.
    pub(super) fn settings(&self) -> Option<String> {
        self.result.get().and_then(|(_, settings)| settings.clone())
    }
}

impl EngineCheck for RequestCheck {
    fn may_serve(&self, registry: &Arc<HookRegistry>, settings: Option<&str>) -> bool {
        let refusal = match self.fitness.problem_with(registry, settings) {
            Some(_) => Some(Refusal::Unfit),
            None if is_expected(self.expected.as_ref(), settings) => None,
            None => Some(Refusal::OtherSettings),
        };
        let (refusal, _) = self.result.get_or_init(|| (refusal, settings.map(str::to_owned)));
        refusal.is_none()
    }
}

/// Returns `true` if settings are the expected ones. A value that is not a string matches none.
fn is_expected(expected: Option<&RawJson>, settings: Option<&str>) -> bool {
    let Some(expected) = expected.filter(|json| !json.is_null()) else { return true };
    settings.is_some() && expected.to_text().as_deref() == settings
}

fn registry_problem(registry: &HookRegistry) -> Option<String> {
    let hooks = registry.list();
    let untrusted = hooks.iter().filter(|listing| !listing.trusted).count();
    if untrusted > 0 {
        return Some(format!(
            "{untrusted} of {} hooks here are not trusted, so that they do not run; on this machine, `hook trust` \
             shows what would run and asks; or say `--allow-empty`",
            hooks.len()
        ));
    }
    let is_empty = !hooks.iter().any(|listing| listing.enabled);
    is_empty.then(|| {
        "no hook runs here, so that everything would go on; give it settings with hooks (`--settings`, or the \
         folder in which it is started), or say `--allow-empty`"
            .to_owned()
    })
}
