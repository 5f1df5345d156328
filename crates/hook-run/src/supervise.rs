//! One hook that does not run inline, from its queue to its result.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::FutureExt;

use super::answer::Answer;
use super::executor::{HookCall, Permits, Slots};
use super::finish::{RunInput, Timing, finish};
use super::handler::BlockingHandlers;
use super::live::MAX_CALLS;
use super::result::HookExecutionResult;
use super::scope::RunScope;
use super::slots::SlotQueue;
use super::spec::HookSpec;
use super::threads::Threads;
use super::{per_file, trust_check};
use hook_json::text::shortened;
use hook_protocol::event::input::HookInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::failure::{HookFailure, panic_message};
use hook_protocol::tool::unreadable_patch;
use hook_settings::FailBehavior;
use hook_settings::language::{Calls, calls};

/// Runs one hook from queue to result. `queued_at` is earlier than the future's first poll.
pub(super) async fn supervise(
    hook: Arc<HookSpec>,
    input: HookInput,
    scope: RunScope,
    slots: Arc<SlotQueue>,
    blocking: Arc<BlockingHandlers>,
    threads: Arc<Threads>,
    queued_at: Instant,
) -> HookExecutionResult {
    // `true` while its session has the maximum number of calls.
    let is_waiting_for_session = AtomicBool::new(false);
    let permits = async {
        match hook.executor.permits() {
            Permits::None => return Ok(Slots::default()),
            Permits::Blocking => {
                return blocking.acquire(scope.fairness_key, scope.nesting, scope.depth).await;
            }
            Permits::Session(calls) => {
                hook.executor.check_depth(scope.depth)?;
                is_waiting_for_session.store(true, Ordering::Relaxed);
                let session = calls.acquire(scope.fairness_key, scope.depth).await.map(Arc::new);
                is_waiting_for_session.store(false, Ordering::Relaxed);
                return Ok(Slots { session, ..Slots::default() });
            }
            // A request takes a slot like a process, because both need a bound.
            Permits::Process => {}
        }
        hook.executor.check_depth(scope.depth)?;
        // The narrower queue comes first, so that a source at its limit does not fill the engine's.
        let source = match &hook.slots {
            Some(own) => own.acquire(scope.fairness_key, scope.depth).await.map(Arc::new),
            None => None,
        };
        // A source that may raise limits has only its own; other sources share the engine's.
        let engine = match source.is_some() && hook.may_raise_limits {
            true => None,
            false => slots.acquire(scope.fairness_key, scope.depth).await.map(Arc::new),
        };
        Ok(Slots { source, engine, ..Slots::default() })
    };
    let trusted_permits = async {
        let slots = permits.await?;
        let acquired_at = Instant::now();
        // Checked only now, because the files may have changed while the hook waited.
        let (slots, later_warnings) = match hook.granted()? {
            Some(granted) => {
                let confirmed = trust_check::confirm(Arc::clone(granted), &input, slots, &threads);
                let (slots, warnings) = confirmed.await?;
                (slots, Some(warnings))
            }
            None => (slots, None),
        };
        Ok((slots, acquired_at, later_warnings))
    };
    let slots = tokio::select! {
        biased;
        () = scope.cancel.cancelled() => Err(match is_waiting_for_session.load(Ordering::Relaxed) {
            true => HookFailure::NotCalled { limit: MAX_CALLS },
            false => HookFailure::Cancelled,
        }),
        slots = trusted_permits => slots,
    };
    // From its permit on, all time counts as the hook's, including the reading of its script.
    let (slots, started_at, later_warnings) = match slots {
        Ok(slots) => slots,
        Err(failure) => {
            let timing = Timing { queued: queued_at.elapsed(), ..Timing::default() };
            let run_input = RunInput { input, was_started: false };
            return finish(&hook, Answer::failed(failure).into(), timing, &run_input, &scope);
        }
    };
    if let Some(observer) = &scope.observer {
        observer.hook_started(&hook.identity, hook.timeout);
    }
    let run_input = RunInput { input: input.clone(), was_started: true };
    let calls = match hook.executor.foreign() {
        Some(foreign) => calls(foreign, &input),
        None => Calls::Unchanged,
    };
    if let Some(reason) = unchecked_reason(&hook, &input, &calls) {
        let timing = Timing { queued: started_at - queued_at, ..Timing::default() };
        let denied = Answer { output: Some(HookOutput::deny(reason)), ..Answer::default() };
        return finish(&hook, denied.into(), timing, &run_input, &scope);
    }
    let (timeout, trust_rank) = (hook.timeout, hook.trust_rank);
    let call = HookCall { input, timeout, slots, scope: scope.clone(), trust_rank };
    let executor = Arc::clone(&hook.executor);
    let running = AssertUnwindSafe(async move {
        match calls {
            Calls::Each { parts, total: of } => per_file::run(&*executor, &call, &parts, of).await,
            Calls::None | Calls::Unchanged | Calls::Unreadable(_) => {
                executor.execute(call).finished().await
            }
        }
    });
    let mut run = running.catch_unwind().await.unwrap_or_else(|panic| {
        let message = panic_message(panic.as_ref());
        Answer::failed(HookFailure::Panicked { message }).into()
    });
    if let Some(warnings) = later_warnings {
        run.answer.warnings.extend(warnings.await.into_iter().flatten());
    }
    let timing = Timing { duration: started_at.elapsed(), queued: started_at - queued_at };
    finish(&hook, run, timing, &run_input, &scope)
}

/// Returns the reason for denying a tool call that a guard cannot check. Either two arguments
/// become one in its agent's format, so that the tool could use the one that the guard does not
/// see; or the files of the call cannot be read.
fn unchecked_reason(hook: &HookSpec, input: &HookInput, calls: &Calls) -> Option<String> {
    // A call that has happened cannot be prevented.
    if !hook.event.is_before_tool() {
        return None;
    }
    let reason = match (hook.executor.foreign(), calls) {
        (Some(_), Calls::Unreadable(why)) => Some(why.clone()),
        (Some(foreign), Calls::Unchanged) => return foreign.language.contradiction(foreign, input),
        (Some(foreign), Calls::Each { parts, .. }) => {
            return parts
                .iter()
                .find_map(|part| foreign.language.contradiction(foreign, &part.input));
        }
        (Some(_), Calls::None) => None,
        (None, _) if hook.fail_behavior == FailBehavior::Continue => None,
        (None, _) => unreadable_patch(&input.tool_call()?),
    }?;
    let tool = shortened(input.payload.match_subject().unwrap_or_default());
    Some(format!(
        "`{tool}` cannot be checked by the hook {}: {}; make the change in another way",
        hook.display_name(),
        shortened(&reason)
    ))
}
