//! Whether an engine may decide for its fleet: it has hooks, all of them are trusted, and its settings are those
//! that it is started for. It is looked at before each request, since settings are read again while it serves.

use std::sync::{Arc, Mutex, PoisonError};

use hook_bus::HookSystem;
use hook_core::HookRegistry;
use hook_core::text::shortened;

/// What an engine must be to serve.
#[derive(Debug)]
pub(super) struct Fitness {
    system: Arc<HookSystem>,
    /// Whether it may be without hooks, or have untrusted ones.
    may_be_empty: bool,
    expected: Option<Arc<str>>,
    /// What was found of the hooks that it has now.
    found: Mutex<Option<Found>>,
}

#[derive(Debug)]
struct Found {
    registry: Arc<HookRegistry>,
    hooks: usize,
    wrong: Option<Arc<str>>,
}

impl Fitness {
    pub(super) fn new(
        system: &Arc<HookSystem>,
        may_be_empty: bool,
        expected: Option<Arc<str>>,
    ) -> Self {
        Self { system: Arc::clone(system), may_be_empty, expected, found: Mutex::default() }
    }

    /// Why it must not serve, if it must not.
    pub(super) fn wrong(&self) -> Option<Arc<str>> {
        if let Some(expected) = self.expected.as_deref() {
            let hash = self.system.settings_hash();
            if hash.as_deref() != Some(expected) {
                let hash = hash.as_deref().map_or("not known".to_owned(), shortened);
                let why = format!("the settings here are {hash}, and {expected} was expected");
                return Some(why.into());
            }
        }
        match self.may_be_empty {
            true => None,
            false => self.wrong_hooks(),
        }
    }

    fn wrong_hooks(&self) -> Option<Arc<str>> {
        // Without a registry it answers each request with a failure, which blocks.
        let registry = self.system.registry().ok()?;
        let hooks = registry.len();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*found
            && found.hooks == hooks
            && Arc::ptr_eq(&found.registry, &registry)
        {
            return found.wrong.clone();
        }
        let wrong = wrong_among(&registry).map(Arc::from);
        *found = Some(Found { registry, hooks, wrong: wrong.clone() });
        wrong
    }
}

fn wrong_among(registry: &HookRegistry) -> Option<String> {
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
