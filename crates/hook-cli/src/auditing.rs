//! An audit that is written while a command does its work.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::HookSystem;
use hook_bus::audit::AuditLog;
use hook_core::settings::AuditLevel;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::output::Printer;

/// How long the last entries may take: a disk that hangs must not keep the command.
const LAST_ENTRIES: Duration = Duration::from_secs(5);

/// How many problems may wait to be printed; the log has them all.
const WAITING_PROBLEMS: usize = 16;

/// An audit's file, written on a task of its own.
pub(crate) struct Auditing {
    stop: CancellationToken,
    reopen: Arc<Notify>,
    problems: mpsc::Receiver<String>,
    task: JoinHandle<()>,
}

impl Auditing {
    pub(crate) fn begin(
        path: &Path,
        system: &HookSystem,
        level: Option<AuditLevel>,
    ) -> Result<Self, CommandError> {
        let log = AuditLog::open(path, system, level)?;
        let (stop, reopen) = (CancellationToken::new(), Arc::new(Notify::new()));
        let (sender, problems) = mpsc::channel(WAITING_PROBLEMS);
        let (stopped, reopened) = (stop.clone(), Arc::clone(&reopen));
        let task = tokio::spawn(async move {
            let problem = |error: hook_bus::audit::AuditLogError| {
                // Where nothing prints them any more, they are in the log.
                let _ = sender.try_send(error.to_string());
            };
            log.run(&stopped, &reopened, problem).await;
        });
        Ok(Self { stop, reopen, problems, task })
    }

    /// Opens the file again, which may have been moved.
    pub(crate) fn reopen(&self) {
        self.reopen.notify_one();
    }

    /// Ends it once everything is written.
    pub(crate) async fn end(mut self, printer: &mut Printer) {
        self.stop.cancel();
        match tokio::time::timeout(LAST_ENTRIES, &mut self.task).await {
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

/// Waits until there is something wrong with the audit, and says what; never done while nothing is, or
/// there is none.
pub(crate) async fn problem(auditing: &mut Option<Auditing>) -> String {
    let Some(running) = auditing else { return std::future::pending().await };
    match running.problems.recv().await {
        Some(problem) => problem,
        None => {
            *auditing = None;
            "the audit has ended".to_owned()
        }
    }
}
