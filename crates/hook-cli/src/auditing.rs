//! An audit log that is written in the background while a command runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::HookSystem;
use hook_bus::audit::AuditLog;
use hook_settings::AuditLevel;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::output::Printer;

/// The time limit for writing the last entries, so that a hung disk does not block the command.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of unprinted problems; further ones appear only in the log.
const MAX_PROBLEMS: usize = 16;

/// A running audit log, written by its own task.
pub(crate) struct Auditing {
    stop: CancellationToken,
    reopen: Arc<Notify>,
    problems: mpsc::Receiver<String>,
    task: JoinHandle<()>,
}

impl Auditing {
    pub(crate) fn start(
        path: &Path,
        system: &HookSystem,
        level: Option<AuditLevel>,
    ) -> Result<Self, CommandError> {
        let log = AuditLog::open(path, system, level)?;
        let (stop, reopen) = (CancellationToken::new(), Arc::new(Notify::new()));
        let (sender, problems) = mpsc::channel(MAX_PROBLEMS);
        let (stopped, reopened) = (stop.clone(), Arc::clone(&reopen));
        let task = tokio::spawn(async move {
            let problem = |error: hook_bus::audit::AuditLogError| {
                // A problem that is no longer printed is still in the log.
                let _ = sender.try_send(error.to_string());
            };
            log.run(&stopped, &reopened, problem).await;
        });
        Ok(Self { stop, reopen, problems, task })
    }

    /// Reopens the file, for log rotation.
    pub(crate) fn reopen(&self) {
        self.reopen.notify_one();
    }

    /// Stops the task once all entries are written.
    pub(crate) async fn end(mut self, printer: &mut Printer) {
        self.stop.cancel();
        match tokio::time::timeout(FLUSH_TIMEOUT, &mut self.task).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => printer.problem(&format!("the audit ended: {error}")),
            Err(_) => {
                self.task.abort();
                printer.problem("the end of the audit could not be written in time");
            }
        }
        while let Ok(problem) = self.problems.try_recv() {
            printer.problem(&problem);
        }
    }
}

impl Drop for Auditing {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Waits for the next problem of the audit. Never completes without a problem or an audit.
pub(crate) async fn next_problem(auditing: &mut Option<Auditing>) -> String {
    let Some(running) = auditing else { return std::future::pending().await };
    match running.problems.recv().await {
        Some(problem) => problem,
        None => {
            *auditing = None;
            "the audit has ended".to_owned()
        }
    }
}
