//! Lines that the user types.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{Mode, OFlags};
use rustix::termios::{QueueSelector, tcflush, ttyname};
use tokio::net::unix::pipe::Receiver;

/// The maximum length of a line, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// The keyboard during one question. The terminal itself returns whole lines.
pub(super) struct Keyboard {
    terminal: Receiver,
}

impl Keyboard {
    /// Opens the keyboard. Input typed earlier is discarded, since it cannot answer this question.
    ///
    /// # Errors
    /// Returns an error if the terminal of standard input cannot be opened.
    pub(super) fn take() -> io::Result<Self> {
        let stdin = io::stdin();
        let name = OsString::from_vec(ttyname(&stdin, Vec::new())?.into_bytes());
        // A separate descriptor, so that other readers of standard input stay in blocking mode.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = File::from(rustix::fs::open(name, flags, Mode::empty())?);
        tcflush(&stdin, QueueSelector::IFlush)?;
        Ok(Self { terminal: Receiver::from_file_unchecked(terminal)? })
    }

    /// Reads the next line, without its end. Returns `None` if the user ends the input.
    ///
    /// # Errors
    /// Returns an error if the terminal is gone.
    ///
    /// # Cancellation
    /// Dropping the future consumes no input.
    pub(super) async fn line(&mut self) -> io::Result<Option<String>> {
        let mut buffer = vec![0; MAX_LINE];
        loop {
            self.terminal.readable().await?;
            let read = match self.terminal.try_read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                read => read?,
            };
            let typed = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default());
            return Ok((read > 0).then(|| typed.trim_end_matches(['\n', '\r']).to_owned()));
        }
    }
}
