//! The workers of an engine: entries that run the same share one, also over a reload.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::FutureExt;

use super::process;
use super::state::{Consents, Worker, WorkerTerms};
use crate::run::command::CommandContext;

/// Those there are, by all that makes two of them one.
#[derive(Debug, Default)]
struct State {
    known: HashMap<(WorkerTerms, PathBuf), Weak<Worker>>,
    /// None is started any more.
    is_closed: bool,
}

/// The workers of an engine.
#[derive(Debug, Default)]
pub(in crate::run) struct Workers {
    state: Mutex<State>,
}

impl Workers {
    /// The worker that runs this for a project, whether it runs already or not.
    pub(in crate::run) fn get(
        &self,
        terms: WorkerTerms,
        granted: Consents,
        context: &Arc<CommandContext>,
    ) -> Arc<Worker> {
        let key = (terms, context.environment.project.clone());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_closed = state.is_closed;
        let known = &mut state.known;
        if let Some(worker) = known.get(&key).and_then(Weak::upgrade) {
            // One that is broken has another chance when the settings are read again.
            if !worker.status().is_broken() {
                return worker;
            }
        }
        known.retain(|_, worker| worker.strong_count() > 0);
        let worker = Arc::new(Worker::new(
            key.0.clone(),
            granted,
            Arc::clone(context),
            |shared, life, at| process::live(shared, life, at).boxed(),
        ));
        known.insert(key, Arc::downgrade(&worker));
        if is_closed {
            worker.close();
        }
        worker
    }

    /// Ends all of them; none is started any more.
    pub(in crate::run) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed = true;
        state.known.values().filter_map(Weak::upgrade).for_each(|worker| worker.close());
    }
}
