//! Hooks declared by workers that settings configure for every event (`*`).

use std::sync::Arc;

use hook_core::Pipeline;
use hook_core::plan::WildcardWorker;
use hook_json::text::{OneLine, shortened};
use hook_protocol::Events;
use hook_protocol::failure::HookFailure;
use hook_run::{
    CallTarget, FailureListener, HandlerHook, ModuleErrors, ModuleFault, WorkerDeclaration,
    WorkerHook,
};

use super::register::HookRegister;

/// Checks whether a worker has not declared its hooks yet, or they are not effective yet.
pub(crate) fn has_pending(pipeline: &Pipeline) -> bool {
    !pipeline.registry().wildcard_workers().is_empty()
        && !pipeline.registry().due_workers().is_empty()
}

/// Registers the hooks that workers declare; workers that have not declared any yet are started and
/// awaited. An invalid or missing declaration becomes a warning for every caller, and the guards of
/// that worker block.
pub(crate) async fn declare(pipeline: &Pipeline, events: &Events, errors: &Arc<ModuleErrors>) {
    register_pending(pipeline, events, errors, pipeline.registry().due_workers()).await;
}

/// Like [`declare`], but only for modules, which are loaded first.
pub(crate) async fn load_modules(pipeline: &Pipeline, events: &Events, errors: &Arc<ModuleErrors>) {
    let mut pending = pipeline.registry().due_workers();
    pending.retain(|wildcard_worker| wildcard_worker.hook().module().is_some());
    register_pending(pipeline, events, errors, pending).await;
}

async fn register_pending(
    pipeline: &Pipeline,
    events: &Events,
    errors: &Arc<ModuleErrors>,
    pending: Vec<Arc<WildcardWorker>>,
) {
    let registrations = pending.iter().map(|wildcard_worker| async move {
        let Some(worker) = wildcard_worker.worker() else { return };
        match worker.declaration().await {
            Ok((number, declared)) => {
                let context = RegisterContext { pipeline, events, errors };
                register_declared(context, wildcard_worker, number, &declared);
            }
            // Its status shows the failure, and the placeholders of its hooks are effective.
            Err(failure) => {
                let name = shortened(wildcard_worker.name());
                tracing::warn!(
                    target: "hook::worker",
                    "worker {}: {}", OneLine(&name), OneLine(&failure)
                );
            }
        }
    });
    futures::future::join_all(registrations).await;
}

/// The context of registering declared hooks.
struct RegisterContext<'a> {
    pipeline: &'a Pipeline,
    events: &'a Events,
    errors: &'a Arc<ModuleErrors>,
}

fn register_declared(
    RegisterContext { pipeline, events, errors }: RegisterContext<'_>,
    wildcard_worker: &Arc<WildcardWorker>,
    number: u64,
    declared: &WorkerDeclaration,
) {
    let Some(worker) = wildcard_worker.worker() else { return };
    let mut problems = Vec::new();
    let mut has_guard = wildcard_worker.is_guard();
    let mut hooks: Vec<HandlerHook> = Vec::new();
    let (declared, error) = wildcard_worker.own_hooks(declared);
    // A module that is not loaded declares no hooks, but its known guards are kept.
    problems.extend(error.map(str::to_owned));
    let is_unloaded = error.is_some();
    for hook in declared {
        let target = CallTarget::Worker(Arc::clone(worker));
        match HookRegister::from_worker(hook).to_hook(events, target) {
            Ok(parsed) => {
                let parsed = match &hook.module {
                    Some(module) => {
                        parsed.on_failure(failure_listener(errors, module, &hook.event))
                    }
                    None => parsed,
                };
                hooks.push(wildcard_worker.complete(parsed));
            }
            Err(error) => {
                has_guard |= may_guard(hook);
                problems.push(format!("its hook `{}`: {error}", shortened(&hook.hook)));
            }
        }
    }
    let is_invalid = !problems.is_empty();
    if !is_invalid || is_unloaded {
        let missing = wildcard_worker.keep_guards(&mut hooks);
        problems.extend(missing.iter().map(|name| {
            let name = shortened(name);
            format!("it does not have its guard `{name}` any more, which is asked all the same")
        }));
    }
    let has_problems = !problems.is_empty();
    wildcard_worker.set_problem(has_problems.then(|| truncate(&problems.join("; "))));
    // An invalid declaration may have been any guard, so block everything. The same holds for a
    // module that is not loaded and may have had guards.
    match is_invalid && (has_guard || is_unloaded) {
        true => pipeline.registry().block_for(wildcard_worker, events, has_guard),
        false => pipeline.registry().declare(wildcard_worker, number, &hooks, pipeline.runner()),
    }
}

/// Returns a listener that reports failures of a module's handler that block nothing.
fn failure_listener(errors: &Arc<ModuleErrors>, module: &str, event: &str) -> FailureListener {
    let (errors, module, event) = (Arc::clone(errors), module.to_owned(), event.to_owned());
    Arc::new(move |failure| {
        let error = match failure {
            HookFailure::Reported { message } => message.clone(),
            failure => failure.to_string(),
        };
        let error = shortened(&error);
        errors.report(&ModuleFault::new(&*module, &*event, error));
    })
}

/// Shortens a problem for responses: long enough to say how to fix it.
fn truncate(problems: &str) -> String {
    const MAX_CHARS: usize = 1_000;
    match problems.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", problems.get(..end).unwrap_or_default()),
        None => problems.to_owned(),
    }
}

/// Checks whether an invalid hook may be a guard: it has a `failBehavior`, or an unknown field that
/// may be meant as one, other than `continue`.
fn may_guard(hook: &WorkerHook) -> bool {
    const KNOWN: [&str; 3] = ["priority", "timeout", "async"];
    let mut other_fields =
        hook.config.iter().filter(|(name, value)| !KNOWN.contains(name) && !value.is_null());
    other_fields.any(|(_, value)| value.to_text().as_deref() != Some("continue"))
}
