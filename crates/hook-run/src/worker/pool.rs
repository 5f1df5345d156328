//! The workers of an engine. Equal entries share one, also across reloads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::FutureExt;

use super::process;
use super::state::{TrustGrants, Worker, WorkerSpec};
use crate::command::CommandContext;

/// The live workers, by their spec and project.
#[derive(Debug, Default)]
struct State {
    workers: HashMap<(WorkerSpec, PathBuf), Weak<Worker>>,
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
        spec: WorkerSpec,
        granted: TrustGrants,
        context: &Arc<CommandContext>,
    ) -> Arc<Worker> {
        let key = (spec, context.environment.project.clone());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_closed = state.is_closed;
        let workers = &mut state.workers;
        if let Some(worker) = workers.get(&key).and_then(Weak::upgrade) {
            // A broken worker gets another chance when settings are read again.
            if !worker.status().is_broken() {
                return worker;
            }
        }
        workers.retain(|_, worker| worker.strong_count() > 0);
        let worker = Arc::new(Worker::new(
            key.0.clone(),
            granted,
            Arc::clone(context),
            |shared, generation, not_before| {
                process::run_generation(shared, generation, not_before).boxed()
            },
        ));
        workers.insert(key, Arc::downgrade(&worker));
        if is_closed {
            worker.close();
        }
        worker
    }

    /// Closes all workers, and prevents new starts.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed = true;
        state.workers.values().filter_map(Weak::upgrade).for_each(|worker| worker.close());
    }
}
