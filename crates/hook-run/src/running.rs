//! The running command hooks, which identify requests from inside a hook. A hook waits for its
//! request's answer while it holds its slot, so the request must not wait for that slot.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

/// The running command hooks, each from its start until its slot is free again.
#[derive(Debug, Default)]
pub struct RunningHooks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The depth of each hook, by the last part of its token.
    tokens: HashMap<Uuid, u32>,
    /// The depth of each hook, by process group.
    groups: HashMap<u32, u32>,
}

/// The separator of tokens. A token also names the outer hooks, also those of other engines,
/// outermost first: another engine may be between a hook and the server that it calls.
const SEPARATOR: char = '.';

impl RunningHooks {
    /// Returns the depth of a request with this token: one more than the depth of the hook that got
    /// the token. Returns `None` if no such hook runs now.
    pub fn depth_inside(&self, token: &str) -> Option<u32> {
        let state = self.lock();
        let parts = token.split(SEPARATOR).filter_map(|part| Uuid::try_parse(part).ok());
        parts.filter_map(|part| state.tokens.get(&part)).max().map(|depth| depth.saturating_add(1))
    }

    /// Returns the same as [`depth_inside`](Self::depth_inside), for a process of this group.
    pub fn depth_inside_group(&self, group: u32) -> Option<u32> {
        self.lock().groups.get(&group).map(|depth| depth.saturating_add(1))
    }

    /// Registers a hook that is about to start, at this depth in hooks of this engine and inside
    /// the hook of another engine that has the token `outer`.
    pub(super) fn enter(self: &Arc<Self>, outer: Option<&str>, depth: u32) -> RunningHook {
        let id = Uuid::new_v4();
        self.lock().tokens.insert(id, depth);
        let mut token = outer.map_or_else(String::new, |outer| format!("{outer}{SEPARATOR}"));
        let _ = write!(token, "{}", id.simple());
        RunningHook { hooks: Arc::clone(self), id, depth, token, group: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running hook, removed from the registry when dropped.
#[derive(Debug)]
pub(crate) struct RunningHook {
    hooks: Arc<RunningHooks>,
    id: Uuid,
    depth: u32,
    token: String,
    group: Option<u32>,
}

impl RunningHook {
    /// Returns the token that is set in the hook's environment.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Records the process group of the hook, once it has started.
    pub(super) fn record_group(&mut self, group: Option<u32>) {
        self.group = group;
        if let Some(group) = group {
            self.hooks.lock().groups.insert(group, self.depth);
        }
    }
}

impl Drop for RunningHook {
    fn drop(&mut self) {
        let mut state = self.hooks.lock();
        state.tokens.remove(&self.id);
        if let Some(group) = self.group {
            state.groups.remove(&group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_known_by_its_token_and_group_while_it_runs() {
        let hooks = Arc::new(RunningHooks::default());
        let mut outer = hooks.enter(None, 0);
        outer.record_group(Some(7));
        let inner = hooks.enter(Some(outer.token()), 3);
        assert_eq!(hooks.depth_inside(outer.token()), Some(1));
        assert_eq!(hooks.depth_inside(inner.token()), Some(4));
        assert_eq!((hooks.depth_inside_group(7), hooks.depth_inside_group(8)), (Some(1), None));
        let token = inner.token().to_owned();
        drop(inner);
        assert_eq!(hooks.depth_inside(&token), Some(1), "the outer one still runs");
        drop(outer);
        assert_eq!((hooks.depth_inside(&token), hooks.depth_inside_group(7)), (None, None));
        for token in ["", ".", "0", "\u{0}", &".".repeat(1_000_000)] {
            assert_eq!(hooks.depth_inside(token), None);
        }
    }
}
