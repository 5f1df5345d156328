//! The workers of an engine. Equal entries share one, also across reloads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::FutureExt;

use super::process;
use super::state::{Consents, Worker, WorkerTerms};
use crate::command::CommandContext;

/// The live workers, by their spec and project.
#[derive(Debug, Default)]
struct State {
    known: HashMap<(WorkerTerms, PathBuf), Weak<Worker>>,
    /// `true` once no worker may be started.
    is_closed: bool,
}

/// The workers of an engine.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    state: Mutex<State>,
}

impl Workers {
    /// Returns the worker of this spec and project; creates it if needed.
    pub(crate) fn get(
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
            // A broken worker gets another chance when settings are read again.
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

    /// Closes all workers, and prevents new starts.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed = true;
        state.known.values().filter_map(Weak::upgrade).for_each(|worker| worker.close());
    }
}
