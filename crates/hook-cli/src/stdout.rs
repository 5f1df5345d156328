//! Writing to standard output. Nobody may read it, and the command must hear signals all the same.

use std::io::{self, Write};

/// Writes all of it, flushed, in the order of the calls.
///
/// # Cancellation
/// Dropping the future does not take back what it began to write.
pub(crate) async fn write(bytes: Vec<u8>) -> io::Result<()> {
    if takes_at_once(&bytes) {
        return write_and_wait(&bytes);
    }
    let written = tokio::task::spawn_blocking(move || write_and_wait(&bytes)).await;
    written.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn write_and_wait(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Whether writing needs no waiting, so that a command with a few words to say needs no thread to
/// say them: a pipe that can be written to has room for so many bytes.
#[cfg(unix)]
fn takes_at_once(bytes: &[u8]) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::io::IsTerminal;

    const AT_ONCE: usize = 512;
    const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    let stdout = io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::OUT)];
    // A terminal may have room for less.
    bytes.len() <= AT_ONCE
        && !stdout.is_terminal()
        && poll(&mut polled, Some(&NOW)).is_ok()
        && polled[0].revents().contains(PollFlags::OUT)
}

#[cfg(not(unix))]
fn takes_at_once(_: &[u8]) -> bool {
    false
}
