//! Lines that the user types.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{Mode, OFlags};
use rustix::termios::{QueueSelector, tcflush, ttyname};
use tokio::net::unix::pipe::Receiver;

/// How long a line may be.
const MAX_LINE: usize = 64 * 1024;

/// The keyboard, for one question. The terminal itself gives whole lines.
pub(super) struct Keyboard {
    terminal: Receiver,
}

impl Keyboard {
    /// Takes the keyboard. What was typed before is forgotten: it was no answer to what comes now.
    ///
    /// # Errors
    /// When the terminal of standard input cannot be opened.
    pub(super) fn take() -> io::Result<Self> {
        let stdin = io::stdin();
        let name = OsString::from_vec(ttyname(&stdin, Vec::new())?.into_bytes());
        // Opened anew: that this reader does not wait is not to be so for others of standard input.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = File::from(rustix::fs::open(name, flags, Mode::empty())?);
        tcflush(&stdin, QueueSelector::IFlush)?;
        Ok(Self { terminal: Receiver::from_file_unchecked(terminal)? })
    }

    /// The next line, without its end; `None` where the user ends the input.
    ///
    /// # Errors
    /// When the terminal is gone.
    ///
    /// # Cancellation
    /// Dropping the future takes nothing.
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
