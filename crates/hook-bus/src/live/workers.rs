//! Hooks declared by workers that settings configure for every event (`*`).

use std::sync::Arc;

use hook_core::Pipeline;
use hook_core::plan::OnEvery;
use hook_json::text::{OneLine, shortened};
use hook_protocol::Events;
use hook_protocol::failure::HookFailure;
use hook_run::HandlerHook;
use hook_run::{CallTarget, Declared, FailureListener, ModuleErrors, ModuleFault, WorkerHook};

use super::register::HookRegister;

/// Checks whether a worker has not declared its hooks yet, or they are not effective yet.
pub(crate) fn are_due(pipeline: &Pipeline) -> bool {
    !pipeline.registry().on_every().is_empty() && !pipeline.registry().due().is_empty()
}

/// Registers the hooks that workers declare; workers that have not declared any yet are started and
/// awaited. An invalid or missing declaration becomes a warning for every caller, and the guards of
/// that worker block.
pub(crate) async fn declare(pipeline: &Pipeline, events: &Events, errors: &Arc<ModuleErrors>) {
    put(pipeline, events, errors, pipeline.registry().due()).await;
}

/// Like [`declare`], but only for modules, which are loaded first.
pub(crate) async fn load_modules(pipeline: &Pipeline, events: &Events, errors: &Arc<ModuleErrors>) {
    let mut due = pipeline.registry().due();
    due.retain(|on_every| on_every.hook().module().is_some());
    put(pipeline, events, errors, due).await;
}

async fn put(
    pipeline: &Pipeline,
    events: &Events,
    errors: &Arc<ModuleErrors>,
    due: Vec<Arc<OnEvery>>,
) {
    let due = due.iter().map(|on_every| async move {
        let Some(worker) = on_every.worker() else { return };
        match worker.declared().await {
            Ok((number, declared)) => {
                let places = Places { pipeline, events, errors };
                put_into_force(places, on_every, number, &declared);
            }
            // Its status shows the failure, and the placeholders of its hooks are effective.
            Err(failure) => {
                let name = shortened(on_every.name());
                tracing::warn!(
                    target: "hook::worker",
                    "worker {}: {}", OneLine(&name), OneLine(&failure)
                );
            }
        }
    });
    futures::future::join_all(due).await;
}

/// The context of registering declared hooks.
struct Places<'a> {
    pipeline: &'a Pipeline,
    events: &'a Events,
    errors: &'a Arc<ModuleErrors>,
}

fn put_into_force(
    Places { pipeline, events, errors }: Places<'_>,
    on_every: &Arc<OnEvery>,
    number: u64,
    declared: &Declared,
) {
    let Some(worker) = on_every.worker() else { return };
    let mut problems = Vec::new();
    let mut has_guard = on_every.is_guard();
    let mut hooks: Vec<HandlerHook> = Vec::new();
    let (declared, error) = on_every.own(declared);
    // A module that is not loaded declares no hooks, but its known guards are kept.
    problems.extend(error.map(str::to_owned));
    let is_unloaded = error.is_some();
    for hook in declared {
        let target = CallTarget::Worker(Arc::clone(worker));
        match HookRegister::of_worker(hook).to_hook(events, target) {
            Ok(read) => {
                let read = match &hook.module {
                    Some(module) => read.on_failure(reports(errors, module, &hook.event)),
                    None => read,
                };
                hooks.push(on_every.complete(read));
            }
            Err(error) => {
                has_guard |= may_guard(hook);
                problems.push(format!("its hook `{}`: {error}", shortened(&hook.hook)));
            }
        }
    }
    let is_wrong = !problems.is_empty();
    if !is_wrong || is_unloaded {
        let missing = on_every.keep_guards(&mut hooks);
        problems.extend(missing.iter().map(|name| {
            let name = shortened(name);
            format!("it does not have its guard `{name}` any more, which is asked all the same")
        }));
    }
    let has_problems = !problems.is_empty();
    on_every.set_problem(has_problems.then(|| cut(&problems.join("; "))));
    // An invalid declaration may have been any guard, so block everything. The same holds for a
    // module that is not loaded and may have had guards.
    match is_wrong && (has_guard || is_unloaded) {
        true => pipeline.registry().block_for(on_every, events, has_guard),
        false => pipeline.registry().declare(on_every, number, &hooks, pipeline.runner()),
    }
}

/// Returns a listener that reports failures of a module's handler that block nothing.
fn reports(errors: &Arc<ModuleErrors>, module: &str, event: &str) -> FailureListener {
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
fn cut(problems: &str) -> String {
    const LONGEST: usize = 1_000;
    match problems.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", problems.get(..end).unwrap_or_default()),
        None => problems.to_owned(),
    }
}

/// Checks whether an invalid hook may be a guard: it has a `failBehavior`, or an unknown field that
/// may be meant as one, other than `continue`.
fn may_guard(hook: &WorkerHook) -> bool {
    const KNOWN: [&str; 3] = ["priority", "timeout", "async"];
    let mut says =
        hook.config.iter().filter(|(name, value)| !KNOWN.contains(name) && !value.is_null());
    says.any(|(_, value)| value.to_text().as_deref() != Some("continue"))
}
