//! The refusal of an answer that does not come in time, whatever holds the engine up. An agent that
//! stops waiting goes on as if it had no hooks.

use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use hook_agents::{Agent, AgentResponse};

use crate::error::CommandError;

/// The maximum time that the refusal takes, and by which it comes before the agent's timeout.
const MARGIN: Duration = Duration::from_secs(1);

/// A thread that refuses the request and ends the process unless the answer comes first.
#[derive(Debug)]
pub(super) struct Watchdog {
    end: Arc<OnceLock<End>>,
    thread: Thread,
}

/// The end of the watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    Refused,
}

impl Watchdog {
    /// Starts the watch over a call of an agent that waits for `timeout` from `started`.
    pub(super) fn start(
        agent: &'static Agent,
        event: &str,
        started: Instant,
        timeout: Duration,
    ) -> Result<Self, CommandError> {
        let at = started + timeout.saturating_sub(MARGIN.min(timeout / 12));
        let end = Arc::new(OnceLock::new());
        let (event, watched) = (event.to_owned(), Arc::clone(&end));
        let watch = move || {
            while watched.get().is_none() {
                match at.saturating_duration_since(Instant::now()) {
                    Duration::ZERO if watched.set(End::Refused).is_ok() => {
                        refuse(agent, &event, started.elapsed())
                    }
                    left => thread::park_timeout(left),
                }
            }
        };
        let spawned = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
        let thread = spawned.map_err(CommandError::Thread)?.thread().clone();
        Ok(Self { end, thread })
    }

    /// Ends the watch, before an answer is written. Does not return if the refusal came first, which
    /// ends the process.
    pub(super) fn end(&self) {
        while *self.end.get_or_init(|| End::Answered) == End::Refused {
            thread::park();
        }
        self.thread.unpark();
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.end();
    }
}

/// Refuses the request as the agent understands it, and ends the process.
fn refuse(agent: &Agent, event: &str, after: Duration) -> ! {
    let reason = format!(
        "the hooks did not answer within {:.1} s, so this is refused; settings or rules of the project \
         may be too large to read in that time: `hook check` shows them",
        after.as_secs_f64()
    );
    let AgentResponse { stdout, code, .. } = agent.refuse_unreadable(Some(event), &reason);
    // If this fails, only the exit code can still deliver the refusal.
    let _ = writeln!(std::io::stderr(), "error: {reason}");
    if code == 0 {
        // The event cannot be refused.
        std::process::exit(1)
    }
    let mut output = std::io::stdout().lock();
    if !stdout.is_empty() && writeln!(output, "{stdout}").and_then(|()| output.flush()).is_err() {
        std::process::exit(2)
    }
    std::process::exit(code.into())
}
