//! Writing to standard output. It may block, and the command must still react to signals.

use std::io::{self, Write};
use std::sync::mpsc;

use tokio::sync::oneshot;

/// What is to be written, and where to say that it is.
type Order = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// Writes to standard output: at once where there is room, else on a thread of its own, which is
/// started when it is first needed and ends with the writer.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    thread: Option<mpsc::Sender<Order>>,
}

impl Writer {
    /// Writes all of it, flushed, in the order of the calls.
    ///
    /// Where the system gives no thread, the caller blocks instead, and does not react to signals until it is done.
    ///
    /// # Errors
    /// When it cannot be written.
    ///
    /// # Cancellation
    /// Dropping the future does not take back what it began to write.
    pub(crate) async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        // What waits in the thread comes first.
        if self.thread.is_none() && (takes_at_once(&bytes) || !self.start()) {
            return write_and_wait(&bytes);
        }
        let (written, answer) = oneshot::channel();
        let gone = || io::Error::other("the thread that writes has ended");
        let thread = self.thread.as_ref().ok_or_else(gone)?;
        thread.send((bytes, written)).map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Starts the thread; whether there is one.
    fn start(&mut self) -> bool {
        let (orders, to_write) = mpsc::channel::<Order>();
        let thread = std::thread::Builder::new().name("stdout".to_owned());
        let started = thread.spawn(move || {
            for (bytes, written) in to_write {
                // A signal may have ended the wait for this.
                let _ = written.send(write_and_wait(&bytes));
            }
        });
        self.thread = started.is_ok().then_some(orders);
        self.thread.is_some()
    }
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
