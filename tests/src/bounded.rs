//! Programs that may wait for ever, such as those of the SDKs.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Runs a program to its end, as `Command::output` does, but for so long at the most. What it leaves behind may hold its
/// output open, and is not waited for.
///
/// # Errors
/// `TimedOut` with what it has printed, where its time is over; then nothing of its process group runs any more. What
/// running it fails with.
pub fn output_within(limit: Duration, command: &mut Command) -> io::Result<Output> {
    let folder = tempfile::tempdir()?;
    let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
    command.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
    let mut child = command.stdin(Stdio::null()).process_group(0).spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begun.elapsed() > limit {
            // One that has just ended by itself is as good.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let (stdout, stderr) = (fs::read(stdout)?, fs::read(stderr)?);
    if let Some(status) = status {
        return Ok(Output { status, stdout, stderr });
    }
    let said = [stdout, stderr].concat();
    let (seconds, said) = (limit.as_secs(), String::from_utf8_lossy(&said));
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        format!("{command:?} was ended after {seconds} seconds: {said}"),
    ))
}
