//! Progress for people: the hooks that have been running for over a second, and for how long. Shown
//! on stderr only if it is a terminal.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::StreamExt;
use hook_bus::{HookProgress, HookSystem, RequestKey};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tokio::time::MissedTickBehavior;

use crate::output::Printer;
use hook_json::text;

/// The time that a hook runs before it is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// The interval between updates of the display.
const TICK: Duration = Duration::from_millis(100);

/// Runs `work` and shows the system's hooks that take long meanwhile.
pub(crate) async fn show_while<T>(
    system: &HookSystem,
    lines: Option<MultiProgress>,
    work: impl Future<Output = T>,
) -> T {
    let Some(lines) = lines else { return work.await };
    let mut work = pin!(work);
    let mut running = Running { lines, hooks: HashMap::new() };
    let mut progress = system.bus().subscribe::<HookProgress>();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            ended = &mut work => return ended,
            Some(message) = progress.next() => match message {
                Ok(message) => running.record(&message),
                // Messages were missed, so hooks that are shown may have finished.
                Err(_) => running.hooks.clear(),
            },
            _ = tick.tick() => running.draw(),
        }
    }
}

/// Returns the progress lines of a printer, if stderr can show them.
pub(crate) fn lines(printer: &Printer) -> Option<MultiProgress> {
    printer.shows_progress().then(|| printer.progress_lines())
}

/// The running hooks, by request and name. Hooks of one event may share a name, so each entry is a
/// list.
struct Running {
    lines: MultiProgress,
    hooks: HashMap<(Option<RequestKey>, String), Vec<Hook>>,
}

struct Hook {
    started_at: Instant,
    timeout: Duration,
    line: Option<ProgressBar>,
}

impl Drop for Hook {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

impl Running {
    fn record(&mut self, message: &HookProgress) {
        let request = message.request();
        match message {
            HookProgress::Started(started) => {
                let name = started.hook.display_name().to_owned();
                let timeout = started.timeout;
                let hook = Hook { started_at: Instant::now(), timeout, line: None };
                self.hooks.entry((request, name)).or_default().push(hook);
            }
            HookProgress::Finished(finished) => {
                let key = (request, finished.result.hook.display_name().to_owned());
                if let Some(hooks) = self.hooks.get_mut(&key) {
                    hooks.pop();
                }
                self.hooks.retain(|_, hooks| !hooks.is_empty());
            }
        }
    }

    fn draw(&mut self) {
        for ((_, name), hooks) in &mut self.hooks {
            for hook in hooks {
                let elapsed = hook.started_at.elapsed();
                if elapsed < SHOW_AFTER {
                    continue;
                }
                let line = hook.line.get_or_insert_with(|| self.lines.add(line()));
                line.set_message(format!(
                    "{} has been running for {} s of at most {} s",
                    text::escaped_lines(name).replace('\n', " "),
                    elapsed.as_secs(),
                    hook.timeout.as_secs_f64()
                ));
                line.tick();
            }
        }
    }
}

fn line() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}");
    ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
