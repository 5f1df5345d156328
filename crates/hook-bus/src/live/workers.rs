//! Hooks that workers declare which stand under `*` in settings.

use std::sync::Arc;

use hook_core::plan::OnEvery;
use hook_core::run::{CallTarget, WorkerHook};
use hook_core::text::{OneLine, shortened};
use hook_core::{Events, HandlerHook, Pipeline};

use super::register::HookRegister;

/// Whether a worker has hooks that are not in force, or has not said yet which it has.
pub(crate) fn are_due(pipeline: &Pipeline) -> bool {
    !pipeline.registry().on_every().is_empty() && !pipeline.registry().due().is_empty()
}

/// Puts into force what workers declare; those that have not yet are started, and waited for. What one
/// cannot say, or says wrong, is a warning to everybody, and a guard of that worker blocks.
pub(crate) async fn declare(pipeline: &Pipeline, events: &Events) {
    let due = pipeline.registry().due();
    let due = due.iter().map(|on_every| async move {
        let Some(worker) = on_every.worker() else { return };
        match worker.declared().await {
            Ok((number, hooks)) => put_into_force(pipeline, on_every, number, &hooks, events),
            // Its status says so, and what stands for its hooks.
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

fn put_into_force(
    pipeline: &Pipeline,
    on_every: &Arc<OnEvery>,
    number: u64,
    declared: &[WorkerHook],
    events: &Events,
) {
    let Some(worker) = on_every.worker() else { return };
    let mut problems = Vec::new();
    let mut has_guard = on_every.is_guard();
    let mut hooks: Vec<HandlerHook> = Vec::new();
    for hook in declared {
        let target = CallTarget::Worker(Arc::clone(worker));
        match HookRegister::of_worker(hook).to_hook(events, target) {
            Ok(read) => {
                let says = hook.config.get("failBehavior").is_some_and(|it| !it.is_null());
                hooks.push(on_every.complete(read, says));
            }
            Err(error) => {
                has_guard |= may_guard(hook);
                problems.push(format!("its hook `{}`: {error}", shortened(&hook.hook)));
            }
        }
    }
    let is_wrong = !problems.is_empty();
    if !is_wrong {
        let missing = on_every.keep_guards(&mut hooks);
        problems.extend(missing.iter().map(|name| {
            let name = shortened(name);
            format!("it does not have its guard `{name}` any more, which is asked all the same")
        }));
    }
    let has_problems = !problems.is_empty();
    on_every.set_problem(has_problems.then(|| shortened(&problems.join("; "))));
    // What a guard meant that is not understood is not known, so all is blocked.
    match is_wrong && has_guard {
        true => pipeline.registry().block_for(on_every, events),
        false => pipeline.registry().declare(on_every, number, &hooks, pipeline.runner()),
    }
}

/// Whether a hook that cannot be understood may be a guard: it says of its failure, or something that may
/// be meant so, anything but `continue`.
fn may_guard(hook: &WorkerHook) -> bool {
    const KNOWN: [&str; 3] = ["priority", "timeout", "async"];
    let mut says =
        hook.config.iter().filter(|(name, value)| !KNOWN.contains(name) && !value.is_null());
    says.any(|(_, value)| value.to_text().as_deref() != Some("continue"))
}
