//! Writing to standard output, which may block, while the command still reacts to signals.

use std::io::{self, Write};
use std::sync::mpsc;

use tokio::sync::oneshot;

/// The bytes to write, and the channel for the result.
type WriteRequest = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// A writer to standard output. It writes directly if there is room, else on its own thread, which
/// starts when first needed and ends with the writer.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    thread: Option<mpsc::Sender<WriteRequest>>,
}

impl Writer {
    /// Writes and flushes all bytes, in the order of the calls.
    ///
    /// If the system gives no thread, the call blocks instead, and no signal is handled meanwhile.
    ///
    /// # Errors
    /// Returns the error of the write.
    ///
    /// # Cancellation
    /// Dropping the future does not undo a write that has begun.
    pub(crate) async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        // Bytes that the thread has not written yet come first.
        if self.thread.is_none() && (takes_at_once(&bytes) || !self.start()) {
            return write_and_wait(&bytes);
        }
        let (written, answer) = oneshot::channel();
        let ended = || io::Error::other("the thread that writes has ended");
        let thread = self.thread.as_ref().ok_or_else(ended)?;
        thread.send((bytes, written)).map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Starts the thread. Returns `true` if it runs.
    fn start(&mut self) -> bool {
        let (requests, to_write) = mpsc::channel::<WriteRequest>();
        let thread = std::thread::Builder::new().name("stdout".to_owned());
        let started = thread.spawn(move || {
            for (bytes, written) in to_write {
                // A signal may have ended the wait for this result.
                let _ = written.send(write_and_wait(&bytes));
            }
        });
        self.thread = started.is_ok().then_some(requests);
        self.thread.is_some()
    }
}

fn write_and_wait(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Returns `true` unless nobody can read what is written: the standard library opens `/dev/null` in place of a closed
/// standard output, and takes one that is not open for writing for one that was written to.
#[cfg(unix)]
pub(crate) fn is_read() -> bool {
    use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};

    let stdout = io::stdout();
    let is_null = || Some(fstat(&stdout).ok()?.st_rdev == stat("/dev/null").ok()?.st_rdev);
    let mode = fcntl_getfl(&stdout).map(|flags| flags & OFlags::ACCMODE);
    mode.is_ok_and(|mode| mode != OFlags::RDONLY) && is_null() != Some(true)
}

#[cfg(not(unix))]
pub(crate) fn is_read() -> bool {
    true
}

/// Returns `true` if the write cannot block, so that short output needs no thread: a writable pipe
/// has room for this many bytes.
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
