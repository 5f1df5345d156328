//! A recording that is written in the background while a command runs.

use std::path::Path;
use std::time::Duration;

use hook_bus::HookSystem;
use hook_record::recording::{Recorder, RecorderError, RecordingSize};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::output::Printer;

/// The time limit for writing the last lines, so that a hung disk does not block the command.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// A running recording, written by its own task.
pub(crate) struct Recording {
    stop: CancellationToken,
    task: JoinHandle<Result<RecordingSize, RecorderError>>,
}

impl Recording {
    pub(crate) fn start(path: &Path, system: &HookSystem) -> Result<Self, CommandError> {
        let recorder = Recorder::create(path, system)?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { recorder.run(&stopped).await });
        Ok(Self { stop, task })
    }

    /// Stops the recording once everything is written.
    pub(crate) async fn end(mut self, printer: &mut Printer) {
        self.stop.cancel();
        match tokio::time::timeout(FLUSH_TIMEOUT, &mut self.task).await {
            Ok(ended) => {
                if let Some(problem) = problem(ended) {
                    printer.problem(&problem);
                }
            }
            Err(_) => {
                self.task.abort();
                printer.problem("the end of the recording could not be written in time");
            }
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Waits until the recording ends, and returns the reason. Never completes without a recording.
pub(crate) async fn next_problem(recording: &mut Option<Recording>) -> String {
    let Some(running) = recording else { return std::future::pending().await };
    let ended = (&mut running.task).await;
    *recording = None;
    problem(ended).unwrap_or_else(|| "the recording has ended".to_owned())
}

fn problem(ended: Result<Result<RecordingSize, RecorderError>, JoinError>) -> Option<String> {
    match ended {
        Ok(Ok(RecordingSize { missed: 0, .. })) => None,
        Ok(Ok(RecordingSize { missed, .. })) => Some(format!(
            "the recording lacks {missed} messages: they came faster than they could be written"
        )),
        Ok(Err(error)) => Some(error.to_string()),
        Err(error) => Some(format!("the recording ended: {error}")),
    }
}
